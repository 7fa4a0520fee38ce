// SPDX-License-Identifier: Apache-2.0
//
// Values on the wire: golden bytes in both byte orders, chunked and not; what other senders may
// write and we do not; and input that nobody should send.
#include "kairos/base/limits.h"
#include "kairos/values/marshal.h"
#include "kairos/values/registry.h"
#include "kairos/values/values_testing.h"

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <pthread.h>
#include <string>
#include <vector>

namespace {

using kairos::Bytes;
using kairos::cdr::Buffer;
using kairos::cdr::Environment;
using kairos::cdr::Reader;
using kairos::cdr::Writer;
using kairos::values::Registry;
using kairos::values::Var;
using namespace kairos::values::testing;
namespace mapping = kairos::mapping;

/// The bytes of a test: numbers of four bytes in the order wanted, text as it is.
class Message {
  public:
    explicit Message(bool little = true) : little_(little) {}
    Message& number(std::uint32_t value)
    {
        for (int i = 0; i < 4; ++i)
            bytes_.push_back(static_cast<std::byte>(value >> 8 * (little_ ? i : 3 - i)));
        return *this;
    }
    Message& octet(unsigned value)
    {
        bytes_.push_back(static_cast<std::byte>(value));
        return *this;
    }
    /// Length, characters, terminator, padding to four.
    Message& text(const std::string& value)
    {
        number(static_cast<std::uint32_t>(value.size() + 1)).raw(value);
        do
            octet(0);
        while (bytes_.size() % 4 != 0);
        return *this;
    }
    Message& raw(const std::string& value)
    {
        for (const char c : value)
            octet(static_cast<unsigned char>(c));
        return *this;
    }
    Message& align(std::size_t to)
    {
        while (bytes_.size() % to != 0)
            octet(0);
        return *this;
    }
    [[nodiscard]] Bytes bytes() const { return bytes_; }
    [[nodiscard]] bool little() const { return little_; }

  private:
    std::vector<std::byte> bytes_;
    bool little_;
};

class Values : public testing::Test {
  protected:
    Values()
    {
        add<Link>();
        add<Base>();
        living = 0;
    }
    template <typename V>
    void add()
    {
        const CORBA::ValueFactoryBase_var factory = new Factory<V>;
        const CORBA::ValueFactoryBase_var former =
            registry_.put(V::_kairos_value_type.id, factory.in());
    }
    template <typename V>
    Var<V> read(const Message& message)
    {
        bytes_.assign(message.bytes().begin(), message.bytes().end());
        environment_ = std::make_unique<Environment>();
        environment_->value_factories = used_;
        in_ = Reader(bytes_, message.little());
        in_.set_environment(environment_.get());
        Var<V> value;
        mapping::decode(in_, value);
        return value;
    }
    /// The message is right to its end.
    template <typename V>
    Var<V> read_all(const Message& message)
    {
        Var<V> value = read<V>(message);
        EXPECT_TRUE(in_.ok()) << describe(in_.fault());
        EXPECT_EQ(in_.left(), 0u);
        environment_->accept_values();
        return value;
    }
    template <typename V>
    void expect_refused(const Message& message)
    {
        {
            const Var<V> value = read<V>(message);
            EXPECT_FALSE(in_.ok());
            EXPECT_EQ(value.in(), nullptr);
        }
        environment_.reset();
        EXPECT_EQ(living, 0) << "leaked";
    }
    template <typename V>
    void expect_written(const Message& expected, std::initializer_list<V*> values)
    {
        Environment environment;
        environment.value_factories = used_;
        Buffer buffer;
        Writer out(buffer);
        out.set_environment(&environment);
        for (V* value : values)
            kairos::values::ValueTraits<V>::encode(out, value);
        const std::vector<std::byte> written(out.contiguous().begin(), out.contiguous().end());
        const std::vector<std::byte> bytes(expected.bytes().begin(), expected.bytes().end());
        EXPECT_EQ(written, bytes);
    }

    Registry registry_;
    Registry* used_ = &registry_;
    std::unique_ptr<Environment> environment_ = std::make_unique<Environment>();
    std::vector<std::byte> bytes_;
    Reader in_;
};

constexpr std::uint32_t value_tag = 0x7FFFFF00;
constexpr std::uint32_t indirection = 0xFFFFFFFF;

std::uint32_t minus(std::uint32_t number) { return 0U - number; }

/// Two links that are the same, then null: as one message.
Message links(bool little)
{
    return Message(little)
        .number(value_tag)   //  0 no type information: it is what IDL says
        .text("one")         //  4
        .number(value_tag)   // 12 next
        .text("two")         // 16
        .number(0)           // 24 next: null
        .number(indirection) // 28 the second argument
        .number(minus(32));  // 32 → 0
}

Message chunked_derived(bool little)
{
    return Message(little)
        .number(value_tag | 8 | 6) //  0 chunked, list of ids
        .number(2)                 //  4
        .text("IDL:D:1.0")         //  8
        .text("IDL:B:1.0")         // 24
        .number(4)                 // 40 a chunk
        .number(7)                 // 44 number
        .number(value_tag | 8)     // 48 inner
        .number(4)                 // 52 a chunk
        .number(8)                 // 56 number
        .number(minus(2))          // 60 end of level 2
        .number(1)                 // 64 a chunk
        .octet(9)                  // 68 last
        .align(4)
        .number(minus(1)); // 72 end of level 1
}

TEST_F(Values, write_what_the_specification_says)
{
    const Var<Link> one = new Link("one");
    one->next = new Link("two");
    expect_written<Link>(links(kairos::native_little_endian), {one.in(), one.in()});
    const Var<Derived> derived = new Derived(7);
    derived->inner = new Base(8);
    derived->last = 9;
    expect_written<Base>(chunked_derived(kairos::native_little_endian), {derived.in()});
    EXPECT_EQ(one->_refcount_value(), 1u) << "counted as long as the message only";
}

TEST_F(Values, read_both_byte_orders)
{
    add<Derived>();
    for (const bool little : {true, false}) {
        const Var<Link> one = read<Link>(links(little));
        Var<Link> again;
        mapping::decode(in_, again);
        ASSERT_TRUE(in_.ok());
        environment_->accept_values();
        EXPECT_EQ(again.in(), one.in());
        EXPECT_EQ(one->_refcount_value(), 2u);
        EXPECT_STREQ(one->name, "one");
        EXPECT_STREQ(one->next->name, "two");
        EXPECT_EQ(one->next->next.in(), nullptr);

        const Var<Base> base = read_all<Base>(chunked_derived(little));
        const auto* derived = dynamic_cast<Derived*>(base.in());
        ASSERT_NE(derived, nullptr);
        EXPECT_EQ(derived->number, 7);
        EXPECT_EQ(derived->inner->number, 8);
        EXPECT_EQ(derived->last, 9);
    }
    EXPECT_EQ(living, 0);
}

TEST_F(Values, write_repository_ids_once)
{
    const Var<Derived> first = new Derived(1);
    const Var<Derived> second = new Derived(2);
    expect_written<Base>(Message(kairos::native_little_endian)
                             .number(value_tag | 8 | 6) //  0
                             .number(2)                 //  4
                             .text("IDL:D:1.0")         //  8
                             .text("IDL:B:1.0")         // 24
                             .number(9)                 // 40
                             .number(1)                 // 44
                             .number(0)                 // 48 null within the chunk
                             .octet(0)                  // 52
                             .align(4)
                             .number(minus(1))          // 56
                             .number(value_tag | 8 | 6) // 60
                             .number(2)                 // 64 and no indirection to the list
                             .number(indirection)       // 68
                             .number(minus(64))         // 72 → 8
                             .number(indirection)       // 76
                             .number(minus(56))         // 80 → 24
                             .number(9)                 // 84
                             .number(2)
                             .number(0)
                             .octet(0)
                             .align(4)
                             .number(minus(1)),
                         {first.in(), second.in()});
}

TEST_F(Values, are_truncated_to_what_is_known)
{
    for (const bool little : {true, false}) {
        const Var<Base> base = read_all<Base>(chunked_derived(little));
        EXPECT_EQ(base->number, 7);
        EXPECT_EQ(dynamic_cast<Derived*>(base.in()), nullptr);
    }
    EXPECT_EQ(living, 0);
}

TEST_F(Values, may_end_several_levels_at_once)
{
    add<Derived>();
    // Derived { 1, Derived { 2, null, 3 } } would have to go on: so Base-like ends only.
    const Message message = Message()
                                .number(value_tag | 8 | 2)
                                .text("IDL:D:1.0")
                                .number(4)
                                .number(1)
                                .number(value_tag | 8)
                                .number(4)
                                .number(2)
                                .number(minus(1)); // both, but `last` is missing
    expect_refused<Base>(message);

    // A list of one chunked link in another may: its last member is the link.
    const Message nested = Message()
                               .number(value_tag | 8)
                               .number(8)
                               .text("a")
                               .number(value_tag | 8)
                               .number(12)
                               .text("b")
                               .number(0)
                               .number(minus(1));
    const Var<Link> link = read_all<Link>(nested);
    EXPECT_STREQ(link->next->name, "b");
}

TEST_F(Values, take_null_and_indirections_outside_chunks)
{
    const Message null =
        Message().number(value_tag | 8).number(8).text("a").number(0).number(minus(1));
    EXPECT_EQ(read_all<Link>(null)->next.in(), nullptr);
    const Message self = Message()
                             .number(value_tag | 8) // 0
                             .number(8)             // 4
                             .text("a")             // 8
                             .number(indirection)   // 16
                             .number(minus(20))     // 20 → 0
                             .number(minus(1));
    const Var<Link> link = read_all<Link>(self);
    EXPECT_EQ(link->next.in(), link.in());
    link->next = static_cast<Link*>(nullptr);
}

TEST_F(Values, take_chunks_wherever_they_are_cut)
{
    add<Bulk>();
    const auto start = [] {
        return Message()
            .number(value_tag | 8 | 2)     //  0
            .text("IDL:K:1.0")             //  4
            .number(4)                     // 20
            .number(1)                     // 24 number
            .number(6)                     // 28
            .number(7)                     // 32 length of "chunks"
            .raw("ch")                     // 36
            .align(4)                      //    not part of the chunk
            .number(5)                     // 40
            .raw(std::string("unks\0", 5)) // 44
            .align(4)
            .number(4) // 52
            .number(2) // 56 length
            .number(8) // 60
            .number(0) // 64 1.5, aligned already
            .number(0x3FF80000);
    };
    const Message right =
        start().number(12).number(0).number(0).number(0xC0000000).number(minus(1)); // -2.0 at 80
    Var<Base> base = read_all<Base>(right);
    const auto* bulk = dynamic_cast<Bulk*>(base.in());
    ASSERT_NE(bulk, nullptr);
    EXPECT_STREQ(bulk->text, "chunks");
    ASSERT_EQ(bulk->numbers.length(), 2u);
    EXPECT_EQ(bulk->numbers[0], 1.5);
    EXPECT_EQ(bulk->numbers[1], -2.0);
    base = static_cast<Base*>(nullptr);

    expect_refused<Base>(start() // a newer version's, for one that knows the type
                             .number(16)
                             .number(0)
                             .number(0)
                             .number(0xC0000000)
                             .number(5)
                             .number(minus(1)));
    expect_refused<Base>(start() // cuts a double
                             .number(8)
                             .number(0)
                             .number(0)
                             .number(4)
                             .number(0xC0000000)
                             .number(minus(1)));
    expect_refused<Base>(start().number(minus(1))); // one double is missing
}

TEST_F(Values, take_codebases_and_indirect_ids)
{
    const Message message = Message()
                                .number(value_tag | 1 | 2) //  0 codebase and id
                                .text("http://a")          //  4
                                .text("IDL:L:1.0")         // 20
                                .text("x")                 // 36
                                .number(value_tag | 1 | 2) // 44
                                .number(indirection)       // 48
                                .number(minus(48))         // 52 → 4
                                .number(indirection)       // 56
                                .number(minus(40))         // 60 → 20
                                .text("y")                 // 64
                                .number(0);
    const Var<Link> link = read_all<Link>(message);
    EXPECT_STREQ(link->next->name, "y");
}

TEST_F(Values, boxes_need_no_factory)
{
    const Var<Box> box = read_all<Box>(Message().number(value_tag).number(5));
    EXPECT_EQ(box->boxed, 5);
    const Var<Box> typed =
        read_all<Box>(Message().number(value_tag | 2).text("IDL:X:1.0").number(6));
    EXPECT_EQ(typed->boxed, 6);
    EXPECT_THROW((void)read<Box>(Message().number(value_tag | 2).text("IDL:Y:1.0").number(6)),
                 CORBA::MARSHAL);
}

TEST_F(Values, raise_MARSHAL_1_without_a_factory)
{
    try {
        const Var<CORBA::ValueBase> value = read<CORBA::ValueBase>(
            Message().number(value_tag | 2).text("IDL:Unknown:1.0").number(6));
        FAIL() << "a value of an unknown type";
    } catch (const CORBA::MARSHAL& refused) {
        EXPECT_EQ(refused.minor(), mapping::omg_minor(1));
        EXPECT_NE(refused.reason().find("IDL:Unknown:1.0"), std::string_view::npos);
    }
}

TEST_F(Values, need_a_message)
{
    Buffer buffer;
    Writer out(buffer);
    const Var<Base> base = new Base(1);
    EXPECT_THROW(mapping::encode(out, base), CORBA::MARSHAL);
}

TEST_F(Values, that_arrived_in_vain_are_freed_with_their_cycles)
{
    const Message message = Message()
                                .number(value_tag)
                                .text("a")
                                .number(value_tag) // 12
                                .text("b")
                                .number(indirection)
                                .number(minus(28)); // → 0
    {
        const Var<Link> link = read<Link>(message);
        ASSERT_TRUE(in_.ok());
        EXPECT_EQ(living, 2);
        (void)in_.read<std::uint32_t>(); // the next argument is not there
        EXPECT_FALSE(in_.ok());
    }
    environment_.reset(); // nobody accepted the message
    EXPECT_EQ(living, 0);
}

TEST_F(Values, refuse_what_is_not_a_value)
{
    const Message link = links(true);
    for (std::size_t size = 0; size < 28; ++size) { // every truncation
        Message cut;
        cut.raw(std::string(reinterpret_cast<const char*>(link.bytes().data()), size));
        expect_refused<Link>(cut);
    }
    expect_refused<Link>(Message().number(1).text("a").number(0));
    expect_refused<Link>(Message().number(0x7FFFFEFF).text("a").number(0));
    expect_refused<Link>(Message().number(value_tag | 0x10).text("a").number(0));
    expect_refused<Link>(Message().number(value_tag | 4).text("a").number(0));
    expect_refused<Link>(Message().number(0x80000000).text("a").number(0));
    // Of another type than IDL wants: here, and through an indirection.
    expect_refused<Link>(Message().number(value_tag | 2).text("IDL:B:1.0").number(4));
    // Without a type where IDL names none.
    expect_refused<CORBA::ValueBase>(Message().number(value_tag).number(4));
    // No ids, too many, more than there can be.
    expect_refused<Base>(Message().number(value_tag | 6).number(0).number(4));
    expect_refused<Base>(Message().number(value_tag | 6).number(1'000'000).number(4));
    expect_refused<Base>(Message().number(value_tag | 6).number(200).number(4));
}

TEST_F(Values, refuse_indirections_to_nothing)
{
    for (const std::uint32_t offset :
         {minus(4), minus(8), minus(12), minus(20), minus(24), minus(1000), 0x80000000U, 0U, 4U,
          0x7FFFFFFFU, minus(1), minus(2)})
        expect_refused<Link>(
            Message().number(value_tag).text("a").number(indirection).number(offset));
    // An id is not a value, nor a value an id.
    expect_refused<Link>(Message()
                             .number(value_tag | 2) // 0
                             .text("IDL:L:1.0")     // 4
                             .text("a")             // 20
                             .number(indirection)   // 28
                             .number(minus(28)));   // 32 → 4
    expect_refused<Link>(Message()
                             .number(value_tag)     // 0
                             .text("a")             // 4
                             .number(value_tag | 2) // 12
                             .number(indirection)   // 16
                             .number(minus(20))     // 20 → 0
                             .text("b")
                             .number(0));
}

TEST_F(Values, refuse_chunks_that_do_not_fit)
{
    const auto chunked = [] { return Message().number(value_tag | 8); };
    expect_refused<Base>(chunked().number(0).number(7).number(minus(1)));
    expect_refused<Base>(chunked().number(3).number(7).number(minus(1)));
    expect_refused<Base>(chunked().number(2).number(7).number(2).number(7).number(minus(1)));
    expect_refused<Base>(chunked().number(1000).number(7).number(minus(1)));
    expect_refused<Base>(chunked().number(0x7FFFFEFF).number(7).number(minus(1)));
    expect_refused<Base>(chunked().number(4).number(7).number(minus(2))); // not open
    expect_refused<Base>(chunked().number(4).number(7).number(0x80000000));
    expect_refused<Base>(chunked().number(4).number(7));                            // no end
    expect_refused<Base>(chunked().number(8).number(7).number(7).number(minus(1))); // too much
    expect_refused<Base>(chunked().number(minus(1)));
    // A value within a chunked one that is not chunked, and one within a chunk.
    expect_refused<Link>(chunked().number(8).text("a").number(value_tag).text("b").number(0));
    expect_refused<Link>(
        chunked().number(64).text("a").number(value_tag | 8).text("b").number(0).number(0));
}

/// Sanitizers' frames are larger.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t stack_factor = 4;
#else
constexpr std::size_t stack_factor = 1;
#endif

void on_a_stack_of(std::size_t size, std::function<void()> run)
{
    pthread_attr_t attributes;
    ASSERT_EQ(::pthread_attr_init(&attributes), 0);
    ASSERT_EQ(::pthread_attr_setstacksize(&attributes, size), 0);
    pthread_t thread{};
    const auto start = [](void* what) -> void* {
        (*static_cast<std::function<void()>*>(what))();
        return nullptr;
    };
    ASSERT_EQ(::pthread_create(&thread, &attributes, start, &run), 0);
    ::pthread_join(thread, nullptr);
    ::pthread_attr_destroy(&attributes);
}

TEST_F(Values, refuse_to_nest_for_ever)
{
    Message deep;
    for (std::size_t i = 0; i <= kairos::limits::values_nesting_max; ++i)
        deep.number(value_tag).text("x");
    deep.number(0);
    expect_refused<Link>(deep);
    // Where the stack is small it is refused earlier, and not an error of the process (A05).
    for (const std::size_t size : {64 << 10, 128 << 10, 256 << 10})
        on_a_stack_of(static_cast<std::size_t>(size) * stack_factor,
                      [&] { expect_refused<Link>(deep); });
    // Skipping is a loop, whatever the depth.
    Message skipped = Message().number(value_tag | 8 | 6).number(2).text("IDL:?:1.0");
    skipped.text("IDL:B:1.0").number(4).number(7);
    for (int i = 0; i < 100'000; ++i)
        skipped.number(value_tag | 8);
    skipped.number(minus(1));
    EXPECT_EQ(read_all<Base>(skipped)->number, 7);
}

// --- TAO's form ----------------------------------------------------------------------------------

/// valuetype Third : truncatable Derived { public long more; };
class Third : public Derived {
  public:
    static constexpr kairos::values::Type _kairos_value_type{
        .id = "IDL:T:1.0", .truncated = &Derived::_kairos_value_type};
    using Derived::Derived;
    const kairos::values::Type& _kairos_type() const override { return _kairos_value_type; }
    void _kairos_encode(Writer& out) const override
    {
        Derived::_kairos_encode(out);
        mapping::encode(out, more);
    }
    void _kairos_decode(Reader& in) override
    {
        Derived::_kairos_decode(in);
        mapping::decode(in, more);
    }

    CORBA::Long more = 0;
};

class TaoValues : public Values {
  protected:
    TaoValues()
    {
        add<Derived>();
        used_ = &tao_;
    }
    /// D { 7, B { 9 }, 1 }: each class has its chunk, and an end as if it were a value within.
    static Message& derived(Message& message)
    {
        return message.number(value_tag | 8 | 6)
            .number(2)
            .text("IDL:D:1.0")
            .text("IDL:B:1.0")
            .number(4)
            .number(7)
            .number(minus(2))
            .number(25)
            .number(value_tag | 2) // within the chunk, and not chunked
            .text("IDL:B:1.0")
            .number(9)
            .octet(1)
            .align(4)
            .number(minus(2))
            .number(minus(1));
    }
    static void expect_derived(Base* base)
    {
        auto* value = dynamic_cast<Derived*>(base);
        ASSERT_NE(value, nullptr);
        EXPECT_EQ(value->number, 7);
        ASSERT_NE(value->inner.in(), nullptr);
        EXPECT_EQ(value->inner->number, 9);
        EXPECT_EQ(value->last, 1);
    }
    /// What comes behind the value is where it should be.
    void expect_next(std::uint32_t number)
    {
        EXPECT_EQ(in_.read<std::uint32_t>(), number);
        EXPECT_TRUE(in_.ok());
        EXPECT_EQ(in_.left(), 0u);
    }

    Registry tao_{Registry::TaoChunks{&registry_}};
};

TEST_F(TaoValues, AreRead)
{
    for (const bool little : {true, false}) {
        Message message(little);
        const Var<Base> base = read<Base>(derived(message).number(4711));
        expect_derived(base.in());
        expect_next(4711);
    }
}

TEST_F(TaoValues, AreReadOctetByOctet)
{
    // A size, the base, fe ff ff ff, a size, a tag …: the shape that its messages were seen to
    // have.
    const Message message = Message()
                                .raw(std::string("\x0e\xff\xff\x7f\x02\0\0\0", 8))
                                .text("IDL:D:1.0")
                                .text("IDL:B:1.0")
                                .raw(std::string("\x04\0\0\0\x07\0\0\0\xfe\xff\xff\xff", 12))
                                .raw(std::string("\x19\0\0\0\x02\xff\xff\x7f", 8))
                                .text("IDL:B:1.0")
                                .raw(std::string("\x09\0\0\0\x01\0\0\0", 8))
                                .raw("\xfe\xff\xff\xff\xff\xff\xff\xff");
    expect_derived(read_all<Base>(message).in());
}

TEST_F(TaoValues, AreTruncatedToWhatIsKnown)
{
    registry_.remove("IDL:D:1.0");
    Message message;
    const Var<Base> base = read<Base>(derived(message).number(4711));
    EXPECT_EQ(base->number, 7);
    EXPECT_EQ(dynamic_cast<Derived*>(base.in()), nullptr);
    expect_next(4711);
}

TEST_F(TaoValues, HaveClassesInALine)
{
    // T { D { B { 7 }, null, 1 }, 5 }
    const auto third = [] {
        return Message()
            .number(value_tag | 8 | 6)
            .number(3)
            .text("IDL:T:1.0")
            .text("IDL:D:1.0")
            .text("IDL:B:1.0")
            .number(4)
            .number(7)
            .number(minus(3))
            .number(5)
            .number(0)
            .octet(1)
            .align(4)
            .number(minus(3))
            .number(minus(2))
            .number(4)
            .number(5)
            .number(minus(2))
            .number(minus(1))
            .number(4711);
    };
    const Var<Base> truncated = read<Base>(third());
    auto* derived = dynamic_cast<Derived*>(truncated.in());
    ASSERT_NE(derived, nullptr);
    EXPECT_EQ(derived->number, 7);
    EXPECT_EQ(derived->last, 1);
    expect_next(4711);

    add<Third>();
    const Var<Base> whole = read<Base>(third());
    auto* value = dynamic_cast<Third*>(whole.in());
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(value->more, 5);
    EXPECT_EQ(value->last, 1);
    expect_next(4711);
}

TEST_F(TaoValues, HaveChunkedOnesWithinTheChunk)
{
    // D { 1, D { 7, B { 9 }, 1 }, 2 }: the inner one's levels begin at 1 again.
    Message inner;
    const std::size_t size = derived(inner).bytes().size() + 1;
    Message message;
    message.number(value_tag | 8 | 6).number(2).text("IDL:D:1.0").text("IDL:B:1.0");
    message.number(4).number(1).number(minus(2)).number(static_cast<std::uint32_t>(size));
    derived(message).octet(2).align(4).number(minus(2)).number(minus(1)).number(4711);
    {
        const Var<Base> base = read<Base>(message);
        auto* value = dynamic_cast<Derived*>(base.in());
        ASSERT_NE(value, nullptr);
        EXPECT_EQ(value->number, 1);
        expect_derived(value->inner.in());
        EXPECT_EQ(value->last, 2);
        expect_next(4711);
    }
    registry_.remove("IDL:D:1.0"); // both are truncated
    const Var<Base> base = read<Base>(message);
    EXPECT_EQ(base->number, 1);
    expect_next(4711);
}

TEST_F(TaoValues, AreWrittenSoThatItReadsThem)
{
    // One chunk for all classes, with the value within in it.
    const Var<Derived> value = new Derived(7);
    value->inner = new Base(9);
    value->last = 1;
    expect_written<Base>(Message()
                             .number(value_tag | 8 | 6)
                             .number(2)
                             .text("IDL:D:1.0")
                             .text("IDL:B:1.0")
                             .number(13)
                             .number(7)
                             .number(value_tag)
                             .number(9)
                             .octet(1)
                             .align(4)
                             .number(minus(1)),
                         {value.in()});
    // … and if that is chunked, its levels begin at 1 again.
    const Var<Derived> outer = new Derived(2);
    outer->inner = new Derived(3);
    const Message written = Message()
                                .number(value_tag | 8 | 6)
                                .number(2)
                                .text("IDL:D:1.0")
                                .text("IDL:B:1.0")
                                .number(49)
                                .number(2)
                                .number(value_tag | 8 | 6)
                                .number(2)
                                .number(indirection)
                                .number(minus(52))
                                .number(indirection)
                                .number(minus(44))
                                .number(9)
                                .number(3)
                                .number(0)
                                .octet(0)
                                .align(4)
                                .number(minus(1))
                                .octet(0)
                                .align(4)
                                .number(minus(1));
    expect_written<Base>(written, {outer.in()});
    const Var<Base> again = read_all<Base>(written);
    EXPECT_EQ(dynamic_cast<Derived*>(again.in())->inner->number, 3);
}

TEST_F(TaoValues, AreReadBesideThoseOfTheSpecification)
{
    for (const bool little : {true, false}) {
        const Var<Base> base = read_all<Base>(chunked_derived(little));
        auto* value = dynamic_cast<Derived*>(base.in());
        ASSERT_NE(value, nullptr);
        EXPECT_EQ(value->number, 7);
        EXPECT_EQ(value->inner->number, 8);
        EXPECT_EQ(value->last, 9);
    }
}

TEST_F(TaoValues, AreRefusedFromEverybodyElse)
{
    used_ = &registry_;
    Message message;
    expect_refused<Base>(derived(message));
}

TEST_F(TaoValues, MayNotLeaveTheChunkAround)
{
    Message message;
    message.number(value_tag | 8 | 6).number(2).text("IDL:D:1.0").text("IDL:B:1.0");
    message.number(4).number(1).number(minus(2)).number(80); // too small for what is in it
    derived(message).octet(2).align(4).number(minus(2)).number(minus(1));
    expect_refused<Base>(message);
    // Nor end without its last end.
    for (std::size_t cut = 4; cut <= 60; cut += 4) {
        Message whole;
        derived(whole);
        Message part;
        for (const std::byte each : whole.bytes().first(whole.bytes().size() - cut))
            part.octet(std::to_integer<unsigned>(each));
        expect_refused<Base>(part);
    }
}

} // namespace
