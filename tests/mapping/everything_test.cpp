// SPDX-License-Identifier: Apache-2.0
//
// The types that kairos-idl generates from everything.idl: their C++ mapping, and every one of them
// through CDR with random values, in both byte orders, against a plain encoder of this file's own.
#include "everything.h"

#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace Everything;
using kairos::native_little_endian;

// --- What the structs consist of, once for everything below ------------------------------------

template <typename T, typename... Ts>
constexpr bool is_any_of = (std::is_same_v<std::remove_const_t<T>, Ts> || ...);

template <typename V, typename T>
bool visit_members(V& v, T& value)
{
    const auto each = [&v](auto&... members) { return (v(members), ..., true); };
    if constexpr (is_any_of<T, Numbers>) {
        return each(value.b, value.c, value.o, value.s, value.us, value.l, value.ul, value.ll,
                    value.ull, value.f, value.d, value.color);
    } else if constexpr (is_any_of<T, Quad>) {
        return each(value.o, value.number);
    } else if constexpr (is_any_of<T, BinStruct>) {
        return each(value.s, value.c, value.l, value.o, value.d);
    } else if constexpr (is_any_of<T, Shape>) {
        return each(value.bin, value.vector, value.matrix, value.raw, value.numbers, value.form);
    } else if constexpr (is_any_of<T, Included::Point>) {
        return each(value.x, value.y);
    } else if constexpr (is_any_of<T, Person>) {
        return each(value.name, value.nickname, value.age, value.marks, value.position, value.lines,
                    value.origin, value.visited);
    } else if constexpr (is_any_of<T, Node>) {
        return each(value.value, value.children);
    } else if constexpr (is_any_of<T, Tree>) {
        return each(value.name, value.branches);
    } else if constexpr (is_any_of<T, Overflow>) {
        return each(value.by, value.text, value.vector, value.people);
    } else {
        static_assert(is_any_of<T, Empty>);
        return true;
    }
}

template <typename T>
concept Sequence = requires { typename T::kairos_storage; };
template <typename T>
concept Text = std::is_base_of_v<kairos::mapping::StringMember, std::remove_const_t<T>>;

class Randomise {
  public:
    template <typename T>
    void operator()(T& value)
    {
        if constexpr (std::is_same_v<T, bool>) {
            value = engine_() % 2 == 1;
        } else if constexpr (std::is_enum_v<T>) {
            value = static_cast<T>(engine_() % 2);
        } else if constexpr (std::is_arithmetic_v<T>) {
            value = static_cast<T>(engine_() % 100'000);
        } else if constexpr (std::is_array_v<T>) {
            for (auto& element : value)
                (*this)(element);
        } else if constexpr (Text<T>) {
            value = text().c_str();
        } else if constexpr (Sequence<T>) {
            // Recursive types come to an end.
            constexpr CORBA::ULong most = T::kairos_bound != 0 ? T::kairos_bound : 3;
            value.length(++depth_ > 3 ? 0 : static_cast<CORBA::ULong>(engine_() % (most + 1)));
            for (CORBA::ULong i = 0; i < value.length(); ++i) {
                if constexpr (requires { value[i] = std::string(); }) {
                    value[i] = text();
                } else {
                    (*this)(value[i]);
                }
            }
            --depth_;
        } else {
            visit_members(*this, value);
        }
    }

  private:
    std::string text()
    {
        return std::string(engine_() % 9, static_cast<char>('a' + engine_() % 26));
    }

    std::mt19937 engine_{20'261'121};
    int depth_ = 0;
};

/// CDR, written the plain way in either byte order.
class Plain {
  public:
    explicit Plain(bool swap) : swap_(swap) {}

    template <typename T>
    void operator()(const T& value)
    {
        if constexpr (std::is_same_v<T, long double>) {
            align(8);
            __extension__ const __float128 quad = value;
            append(&quad, sizeof quad);
        } else if constexpr (std::is_enum_v<T>) {
            (*this)(static_cast<CORBA::ULong>(value));
        } else if constexpr (std::is_arithmetic_v<T>) {
            align(sizeof value);
            append(&value, sizeof value);
        } else if constexpr (std::is_array_v<T>) {
            for (const auto& element : value)
                (*this)(element);
        } else if constexpr (Text<T>) {
            text(value.in());
        } else if constexpr (Sequence<T>) {
            (*this)(value.length());
            for (CORBA::ULong i = 0; i < value.length(); ++i) {
                using Element = std::remove_cvref_t<decltype(value[i])>;
                if constexpr (kairos::mapping::HoldsText<Element, char>) {
                    text(value[i].in());
                } else {
                    (*this)(value[i]);
                }
            }
        } else {
            visit_members(*this, value);
        }
    }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

  private:
    void text(const char* text)
    {
        const std::string_view view(text);
        (*this)(static_cast<CORBA::ULong>(view.size() + 1));
        const auto* begin = reinterpret_cast<const std::byte*>(text);
        bytes_.insert(bytes_.end(), begin, begin + view.size() + 1);
    }
    void align(std::size_t alignment) { bytes_.resize(kairos::align_up(bytes_.size(), alignment)); }
    void append(const void* number, std::size_t size)
    {
        const auto* begin = static_cast<const std::byte*>(number);
        bytes_.insert(bytes_.end(), begin, begin + size);
        if (swap_) std::reverse(bytes_.end() - static_cast<std::ptrdiff_t>(size), bytes_.end());
    }

    bool swap_;
    std::vector<std::byte> bytes_;
};

template <typename T>
std::vector<std::byte> plain(const T& value, bool swap)
{
    Plain out(swap);
    out(value);
    return out.bytes();
}

template <typename T>
class Types : public testing::Test {};
using All =
    testing::Types<Color, Numbers, Quad, BinStruct, Shape, Vector, Matrix, Booleans, Chars, Octets,
                   Shorts, Longs, LongLongs, Floats, Doubles, Quads, Colors, BinStructs, Shapes,
                   Names, FewNames, FewLongs, Rows, Table, Vectors, Person, People, NamePair,
                   NamePairs, Node, Nodes, Tree, Empty, Overflow, Included::Points>;
TYPED_TEST_SUITE(Types, All);

TYPED_TEST(Types, RoundTripInBothByteOrders)
{
    Randomise randomise;
    for (int round = 0; round < 20; ++round) {
        const auto value = std::make_unique<TypeParam[]>(1);
        randomise(value[0]);
        kairos::cdr::Buffer buffer;
        kairos::cdr::Writer out(buffer);
        kairos::mapping::encode(out, value[0]);
        const auto expected = plain(value[0], false);
        ASSERT_TRUE(std::ranges::equal(out.contiguous(), expected));
        for (const bool swap : {false, true}) {
            const auto bytes = plain(value[0], swap);
            kairos::cdr::Reader in(bytes, native_little_endian != swap);
            const auto decoded = std::make_unique<TypeParam[]>(1);
            kairos::mapping::decode(in, decoded[0]);
            ASSERT_TRUE(in.ok());
            EXPECT_EQ(in.left(), 0u);
            EXPECT_EQ(plain(decoded[0], false), expected);
        }
    }
}

TYPED_TEST(Types, EveryTruncationIsRefused)
{
    Randomise randomise;
    const auto value = std::make_unique<TypeParam[]>(1);
    randomise(value[0]);
    const auto bytes = plain(value[0], false);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        // Copied, so that AddressSanitizer knows where the input ends.
        const std::vector<std::byte> input(bytes.begin(), bytes.begin() + static_cast<long>(size));
        kairos::cdr::Reader in(input, native_little_endian);
        const auto decoded = std::make_unique<TypeParam[]>(1);
        kairos::mapping::decode(in, decoded[0]);
        EXPECT_FALSE(in.ok()) << size;
    }
}

TYPED_TEST(Types, DamagedBytesNeverHarm)
{
    Randomise randomise;
    std::mt19937 engine(1);
    const auto value = std::make_unique<TypeParam[]>(1);
    randomise(value[0]);
    const auto bytes = plain(value[0], false);
    for (int round = 0; round < 200 && !bytes.empty(); ++round) {
        auto damaged = bytes;
        damaged[engine() % damaged.size()] = static_cast<std::byte>(engine());
        kairos::cdr::Reader in(damaged, native_little_endian);
        const auto decoded = std::make_unique<TypeParam[]>(1);
        kairos::mapping::decode(in, decoded[0]);
        if (!in.ok()) continue;
        // Less if a string that was damaged now has a NUL within.
        EXPECT_LE(plain(decoded[0], false).size(), damaged.size() - in.left());
    }
}

TEST(Constants, HaveTheirValues)
{
    static_assert(global_number == -2147483647 - 1);
    EXPECT_STREQ(global_text, "quote \" backslash \\ bell \a question ?\?= caf\xe9");
    static_assert(truth && small == 255 && letter == '\'' && wide_letter == L'x');
    EXPECT_EQ(std::wstring_view(wide_text), std::wstring_view(L"wide \u20ac1"));
    static_assert(minus == -1 && large == 0xFFFF'FFFF && lowest == INT64_MIN);
    static_assert(highest == UINT64_MAX && half == 0.5F && tenth == 0.1 && whole == 2.0);
    static_assert(dozen == 12 && favourite == blue && Basics::limit == 7);
    EXPECT_NEAR(static_cast<double>(third), 1.0 / 3, 1e-15);
}

TEST(Names, KeywordsAreEscaped)
{
    _cxx_class::_cxx_while value{};
    value._cxx_int = 1;
    value._cxx_delete = "text";
    const _cxx_class::_cxx_for values{value};
    EXPECT_EQ(values[0]._cxx_int, 1);
    EXPECT_STREQ(_cxx_class::_cxx_throw::_kairos_id.data(), "IDL:kairos.test/class/throw:1.0");
    const _cxx_class::_cxx_bool enumerator = _cxx_class::_cxx_default;
    EXPECT_EQ(static_cast<int>(enumerator), 1);
}

TEST(Exceptions, CarryTheirMembers)
{
    const Vector vector = {1, 2, 3};
    People people;
    people.length(1);
    people[0].name = "Ada";
    const Overflow overflow(7, "too far", vector, people);
    people[0].name = "changed";
    EXPECT_STREQ(overflow._name(), "Overflow");
    EXPECT_STREQ(overflow._rep_id(), "IDL:kairos.test/Everything/Overflow:1.0");
    EXPECT_STREQ(overflow.what(), overflow._rep_id());
    EXPECT_EQ(overflow.vector[2], 3);
    EXPECT_STREQ(overflow.people[0].name, "Ada");
    const std::unique_ptr<CORBA::Exception> copy(overflow._duplicate());
    ASSERT_NE(Overflow::_downcast(copy.get()), nullptr);
    EXPECT_EQ(Empty::_downcast(copy.get()), nullptr);
    try {
        copy->_raise();
    } catch (const Overflow& caught) {
        EXPECT_EQ(caught.by, 7);
        EXPECT_STREQ(caught.text, "too far");
    }
}

TEST(Exceptions, MarshalTheirIdAndMembers)
{
    const Included::Refused refused("no");
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    refused._marshal(out);
    kairos::cdr::Reader in(out.contiguous(), native_little_endian);
    EXPECT_EQ(in.read_string(), "IDL:kairos.test/Included/Refused:1.0");
    EXPECT_EQ(in.read_string(), "no");
    EXPECT_TRUE(in.ok());
}

TEST(Typedefs, OfTheSameSequenceAreDifferentTypes)
{
    static_assert(!std::is_same_v<Shorts, Names>);
    static_assert(std::is_same_v<LongsAgain, Longs>);
    static_assert(!std::is_same_v<Longs, Basics::Bounded>);
    static_assert(std::is_same_v<PersonAgain_var, Person_var>);
    static_assert(std::is_same_v<Vector_out, Vector> && std::is_same_v<Color_out, Color&>);
}

TEST(Arrays, HaveTheirFunctions)
{
    Vector_var vector = Vector_alloc();
    vector[0] = 1, vector[1] = 2, vector[2] = 3;
    Vector_slice* copy = Vector_dup(vector);
    Vector other;
    Vector_copy(other, copy);
    Vector_free(copy);
    EXPECT_EQ(other[2], 3);
    NamePair_var names = NamePair_alloc();
    names[1] = "second";
    VectorAgain_var again = VectorAgain_dup(other);
    EXPECT_EQ(again[1], 2);
    Vector_forany any(other);
    EXPECT_EQ(any[0], 1);
}

/// Depth bomb: a tree whose every node has one child.
std::vector<std::byte> chain(std::size_t depth)
{
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    for (std::size_t i = 0; i < depth; ++i) {
        out.write(CORBA::Long{1});
        out.write(CORBA::ULong{i + 1 < depth ? 1u : 0u});
    }
    return {out.contiguous().begin(), out.contiguous().end()};
}

TEST(Trap14_RecursiveTypes, AreDecodedToABoundedDepth)
{
    for (const auto& [depth, fault] :
         {std::pair(kairos::limits::nesting_max, kairos::cdr::Fault::none),
          std::pair(kairos::limits::nesting_max + 1, kairos::cdr::Fault::nesting_too_deep),
          std::pair(std::size_t{1'000'000}, kairos::cdr::Fault::nesting_too_deep)}) {
        const auto bytes = chain(depth);
        kairos::cdr::Reader in(bytes, native_little_endian);
        Node node;
        kairos::mapping::decode(in, node);
        EXPECT_EQ(in.fault(), fault);
    }
}

} // namespace
