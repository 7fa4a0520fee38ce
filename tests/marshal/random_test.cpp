// SPDX-License-Identifier: Apache-2.0
//
// Random types with random values: compiled, interpreted and mixed code write what the reference
// encoder writes, at every start phase; each reads what the others wrote, in either byte order; and
// all of them see the same in input that was cut off or damaged.
#include "compiled_values.h"
#include "interpreted_values.h"
#include "mixed_values.h"
#include "random_types.h"
#include "values.h"

#include <gtest/gtest.h>

namespace marshal_test {
namespace {

using kairos::native_little_endian;
using kairos::cdr::Buffer;
using kairos::cdr::Fault;
using kairos::cdr::Reader;
using kairos::cdr::Writer;
using Octets = std::vector<std::byte>;

constexpr int rounds = 6;

template <typename T>
Octets encoded(const T& value, std::size_t phase)
{
    Buffer buffer;
    Writer out(buffer);
    for (std::size_t i = 0; i < phase; ++i)
        out.write(std::uint8_t{0});
    kairos::mapping::encode(out, value);
    Octets bytes(out.contiguous().begin(), out.contiguous().end());
    EXPECT_TRUE(out.externals().empty()); // nothing here is that large
    return bytes;
}

/// What decoding came to: the fault, or the value as it is encoded again and where it ended.
struct Outcome {
    Fault fault = Fault::none;
    std::size_t end = 0;
    Octets again{};
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

template <typename T>
Outcome decoded(const Octets& bytes, bool little_endian, std::size_t phase)
{
    Reader in(bytes, little_endian, phase);
    T value;
    kairos::mapping::decode(in, value);
    if (!in.ok()) return {in.fault()};
    return {Fault::none, in.offset(), encoded(value, phase)};
}

/// Bytes as a message: starting at a multiple of eight in memory, and views may write into them.
class Message {
  public:
    explicit Message(const Octets& bytes) : copy_(bytes.size() + 1), size_(bytes.size())
    {
        std::ranges::copy(bytes, copy_.data());
    }
    [[nodiscard]] kairos::Bytes bytes() const { return {copy_.data(), size_}; }

  private:
    Buffer copy_;
    std::size_t size_;
};

/// A value in memory whose destructor does not run.
template <typename T>
union Kept {
    Kept() : value() {}
    ~Kept() {}
    T value;
};

/// What compiled and interpreted skeletons make of an `in` parameter.
enum class Skeleton { compiled, interpreted };

template <typename T>
Outcome viewed(Skeleton skeleton, const Octets& bytes, bool little_endian, std::size_t phase)
{
    if constexpr (!kairos::mapping::Viewable<T>) {
        return decoded<T>(bytes, little_endian, phase);
    } else {
        T copy; // owns what it holds: the message and the arena may end
        Outcome outcome;
        {
            const Message message(bytes);
            kairos::Arena arena;
            Reader in(message.bytes(), little_endian, phase);
            Kept<T> kept;
            if (skeleton == Skeleton::compiled) {
                kairos::mapping::decode(in, kept.value, &arena);
            } else {
                kairos::types::decode(in, kairos::types::TableOf<T>::table, &kept.value, &arena);
            }
            if (!in.ok()) return {in.fault()};
            outcome = {Fault::none, in.offset(), encoded(kept.value, phase)};
            kairos::mapping::assign(copy, std::as_const(kept.value));
        }
        EXPECT_EQ(encoded(copy, phase), outcome.again);
        return outcome;
    }
}

template <typename C, typename I, typename M>
void expect_same_outcome(const Octets& bytes, bool little_endian, std::size_t phase)
{
    const Outcome expected = decoded<C>(bytes, little_endian, phase);
    EXPECT_EQ(expected, decoded<I>(bytes, little_endian, phase));
    EXPECT_EQ(expected, decoded<M>(bytes, little_endian, phase));
    for (const Skeleton skeleton : {Skeleton::compiled, Skeleton::interpreted}) {
        EXPECT_EQ(expected, viewed<C>(skeleton, bytes, little_endian, phase));
        EXPECT_EQ(expected, viewed<I>(skeleton, bytes, little_endian, phase));
        EXPECT_EQ(expected, viewed<M>(skeleton, bytes, little_endian, phase));
    }
}

template <typename C, typename I, typename M>
void check_values(std::uint64_t seed, std::size_t phase)
{
    Random random_c(seed), random_i(seed), random_m(seed);
    C compiled;
    I interpreted;
    M mixed;
    fill(random_c, compiled);
    fill(random_i, interpreted);
    fill(random_m, mixed);
    Plain native(phase, false), foreign(phase, true);
    put(native, compiled);
    put(foreign, compiled);
    ASSERT_EQ(encoded(compiled, phase), native.bytes());
    ASSERT_EQ(encoded(interpreted, phase), native.bytes());
    ASSERT_EQ(encoded(mixed, phase), native.bytes());

    const Outcome whole{Fault::none, native.bytes().size(), native.bytes()};
    const bool order = native_little_endian;
    EXPECT_EQ((decoded<C>(native.bytes(), order, phase)), whole);
    EXPECT_EQ((decoded<C>(foreign.bytes(), !order, phase)), whole);
    expect_same_outcome<C, I, M>(native.bytes(), order, phase);
    expect_same_outcome<C, I, M>(foreign.bytes(), !order, phase);

    Random damage(seed + 1);
    const std::size_t size = native.bytes().size();
    for (int i = 0; i < 8 && size > phase; ++i) {
        const auto at = phase + damage.below(static_cast<std::uint32_t>(size - phase));
        const Octets cut(native.bytes().begin(), native.bytes().begin() + static_cast<long>(at));
        expect_same_outcome<C, I, M>(cut, order, phase);
        Octets damaged = native.bytes();
        damaged[at] = static_cast<std::byte>(damage.below(256));
        expect_same_outcome<C, I, M>(damaged, order, phase);
        expect_same_outcome<C, I, M>(damaged, !order, phase);
    }
}

template <typename C, typename I, typename M>
void check(const char* name)
{
    SCOPED_TRACE(name);
    for (std::size_t phase = 0; phase < 8; ++phase)
        for (std::uint64_t seed = 0; seed < rounds && !::testing::Test::HasFailure(); ++seed)
            check_values<C, I, M>(seed * 8 + phase, phase);
}

#define RANDOM_TEST(T)                                                                             \
    TEST(RandomTypes, T) { check<Compiled::T, Interpreted::T, Mixed::T>(#T); }
RANDOM_TYPES(RANDOM_TEST)
#undef RANDOM_TEST

} // namespace
} // namespace marshal_test
