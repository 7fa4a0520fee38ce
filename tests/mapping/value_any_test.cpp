// SPDX-License-Identifier: Apache-2.0
//
// Valuetypes in Anys: counting, graphs, truncation, and Anys that are passed on by a program that
// does not look inside, at every alignment and from the other byte order.
#include "value_skel.h"

#include "kairos/corba/CORBA.h"
#include "kairos/orb/orb.h"
#include "kairos/types/copy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace Values;
using CORBA::Any;
namespace cdr = kairos::cdr;

class ValuesInAny : public ::testing::Test {
  protected:
    void SetUp() override
    {
        int argc = 0;
        orb_ = CORBA::ORB_init(argc, nullptr, "ValuesInAny");
        known<Plain_init>("IDL:Values/Plain:1.0");
        known<Node_init>("IDL:Values/Node:1.0");
        known<Base_init>("IDL:Values/Base:1.0");
        known<Derived_init>("IDL:Values/Derived:1.0");
    }
    void TearDown() override { orb_->destroy(); }

    template <typename Factory>
    void known(const char* id)
    {
        CORBA::ValueFactory_var factory = new Factory;
        const CORBA::ValueFactory_var before = orb_->register_value_factory(id, factory.in());
    }

    /// The Any after a journey on which it starts at `phase` modulo eight.
    Any sent(const Any& any, std::size_t phase)
    {
        kairos::orb::Orb& core = orb_->_kairos_core();
        const cdr::Environment environment{
            .orb = &core, .value_factories = core.value_factories(), .orb_owner = &core};
        cdr::Buffer buffer;
        cdr::Writer out(buffer);
        out.set_environment(&environment);
        std::memset(out.claim(phase, 1), 0, phase);
        kairos::mapping::encode(out, any);
        cdr::Reader in(out.contiguous(), kairos::native_little_endian, phase);
        in.set_environment(&environment);
        Any received;
        kairos::mapping::decode(in, received);
        EXPECT_TRUE(in.ok()) << cdr::describe(in.fault());
        EXPECT_EQ(in.left(), 0u);
        environment.accept_values();
        return received;
    }

    CORBA::ORB_var orb_;
};

TEST_F(ValuesInAny, AreCountedAndNotCopied)
{
    Plain_var plain = new OBV_Values::Plain(4, "four", 0.5);
    Any any;
    any <<= plain.in();
    EXPECT_EQ(plain->_refcount_value(), 2u);
    Plain* back = nullptr;
    ASSERT_TRUE(any >>= back);
    EXPECT_EQ(back, plain.in());
    EXPECT_EQ(plain->_refcount_value(), 2u); // it stays the Any's
    CORBA::ValueBase* base = nullptr;
    ASSERT_TRUE(any >>= Any::to_value(base));
    EXPECT_EQ(base, static_cast<CORBA::ValueBase*>(plain.in()));
    base->_remove_ref();
    Plain* given = plain._retn();
    any <<= &given;
    ASSERT_TRUE(any >>= back);
    EXPECT_EQ(back->_refcount_value(), 1u);
    Base* other = nullptr;
    EXPECT_FALSE(any >>= other);
    any <<= static_cast<Plain*>(nullptr);
    back = given;
    ASSERT_TRUE(sent(any, 0) >>= back);
    EXPECT_EQ(back, nullptr);
}

/// A sequence stays CDR until it is extracted, so what is passed on here nobody has made.
class SquareImpl final : public OBV_Values::Square, public CORBA::DefaultValueRefCountBase {
  public:
    double area() override { return side() * side(); }
    char* kind() override { return CORBA::string_dup("square"); }

  private:
    ~SquareImpl() override = default;
};

class SquareFactory final : public CORBA::ValueFactoryBase {
    CORBA::ValueBase* create_for_unmarshal() override { return new SquareImpl; }
};

TEST_F(ValuesInAny, OfAnAbstractTypeAreOfTheTypeThatTheySay)
{
    const Square_var square = new SquareImpl;
    square->side(3);
    Any any;
    any <<= static_cast<Shape*>(square.in());
    EXPECT_THROW((void)sent(any, 0), CORBA::MARSHAL); // nobody makes squares
    known<SquareFactory>("IDL:Values/Square:1.0");
    for (std::size_t phase = 0; phase < 8; phase += 4) {
        const Any received = sent(any, phase);
        Shape* shape = nullptr;
        ASSERT_TRUE(received >>= shape);
        EXPECT_EQ(shape->area(), 9);
        Square* exact = nullptr;
        EXPECT_FALSE(received >>= exact); // the Any's type is the abstract one
    }
    any <<= static_cast<Shape*>(nullptr);
    const Any received = sent(any, 0);
    Shape* shape = square.in();
    ASSERT_TRUE(received >>= shape);
    EXPECT_EQ(shape, nullptr);
}

TEST_F(ValuesInAny, GraphsAreGraphsWhereverTheyGo)
{
    for (std::size_t first = 0; first < 8; ++first)
        for (std::size_t second = 0; second < 8; ++second) {
            Node_var root = new OBV_Values::Node("root", nullptr, nullptr);
            Node_var leaf = new OBV_Values::Node("leaf", root.in(), nullptr);
            root->left(leaf.in());
            root->right(leaf.in());
            Nodes nodes;
            nodes.length(2);
            nodes[0] = root;
            nodes[1] = leaf;
            Any any;
            any <<= nodes;
            const Any received = sent(sent(any, first), second);
            EXPECT_EQ(received.value(), nullptr);
            const Nodes* back = nullptr;
            ASSERT_TRUE(received >>= back);
            Node* top = (*back)[0];
            EXPECT_STREQ(top->name(), "root");
            EXPECT_EQ(top->left(), top->right());
            EXPECT_EQ(top->left()->left(), top);
            EXPECT_EQ((*back)[1], top->left());
            leaf->left(nullptr); // else the cycles own themselves
            top->left()->left(nullptr);
        }
}

TEST_F(ValuesInAny, ChunksArePassedOn)
{
    static constinit const CORBA::TypeCode list{kairos::types::sequence_type(_kairos_tc_Base, 0)};
    using Bases = kairos::mapping::UnboundedValueSequence<Base>;
    for (std::size_t first = 0; first < 8; ++first)
        for (std::size_t second = 0; second < 8; ++second) {
            Base_var inner = new OBV_Values::Base(7);
            Derived_var derived = new OBV_Values::Derived(5, "text", inner.in());
            Any any;
            any <<= derived.in();
            const Any received = sent(sent(any, first), second);
            Derived* back = nullptr;
            ASSERT_TRUE(received >>= back);
            EXPECT_STREQ(back->derived_text(), "text");
            EXPECT_EQ(back->other()->base_number(), 7);

            Bases bases; // the TypeCode does not know the rest of a Derived
            bases.length(3);
            bases[0] = Derived_var(derived)._retn();
            bases[1] = new OBV_Values::Base(8);
            bases[2] = Derived_var(derived)._retn();
            kairos::types::insert_copy(any, kairos::types::pointer(list), bases);
            const Any passed = sent(sent(any, first), second);
            const Bases* seen = nullptr;
            ASSERT_TRUE(kairos::types::extract(passed, kairos::types::pointer(list), seen));
            EXPECT_EQ((*seen)[0]->base_number(), 5);
            EXPECT_EQ((*seen)[1]->base_number(), 8);
            EXPECT_EQ((*seen)[0], (*seen)[2]);
        }
}

TEST_F(ValuesInAny, TheOtherByteOrderIsTurned)
{
    std::vector<std::byte> bytes;
    const auto number = [&](std::uint64_t value, std::size_t size) {
        bytes.resize(kairos::align_up(bytes.size(), size));
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t shift = kairos::native_little_endian ? size - 1 - i : i;
            bytes.push_back(static_cast<std::byte>(value >> (8 * shift)));
        }
    };
    const auto text = [&](const std::string& value) {
        number(value.size() + 1, 4);
        for (const char character : value)
            bytes.push_back(static_cast<std::byte>(character));
        bytes.push_back(std::byte{0});
    };
    number(0x7FFFFF02, 4);
    text("IDL:Values/Plain:1.0");
    number(12, 4);
    text("twelve");
    number(0x3FE0000000000000, 8); // 0.5
    cdr::Reader in(bytes, !kairos::native_little_endian);
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    kairos::types::copy_value(in, out, *_tc_Plain);
    ASSERT_TRUE(in.ok() && in.left() == 0);
    cdr::Reader copy(out.contiguous(), kairos::native_little_endian);
    EXPECT_EQ(copy.read<CORBA::ULong>(), 0x7FFFFF02u);
    EXPECT_EQ(copy.read_string(), "IDL:Values/Plain:1.0");
    EXPECT_EQ(copy.read<CORBA::Long>(), 12);
    EXPECT_EQ(copy.read_string(), "twelve");
    EXPECT_EQ(copy.read<CORBA::Double>(), 0.5);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        cdr::Reader part(kairos::Bytes(bytes).first(size), !kairos::native_little_endian);
        (void)kairos::types::inspect_value(part, *_tc_Plain);
        EXPECT_FALSE(part.ok()) << size;
    }
}

TEST_F(ValuesInAny, MalformedValuesAreRefused)
{
    const auto fault = [](std::initializer_list<CORBA::ULong> words) {
        std::vector<CORBA::ULong> list(words);
        cdr::Reader in(std::as_bytes(std::span(list)), kairos::native_little_endian);
        (void)kairos::types::inspect_value(in, *_tc_Base);
        return in.fault();
    };
    EXPECT_EQ(fault({0}), cdr::Fault::none);
    EXPECT_EQ(fault({0x7FFFFF00, 5}), cdr::Fault::none);
    EXPECT_EQ(fault({0x7FFFFF08, 4, 5, 0xFFFFFFFF}), cdr::Fault::none);
    EXPECT_NE(fault({0x7FFFFF08, 4, 5, 0xFFFFFFFE}), cdr::Fault::none);    // an end too deep
    EXPECT_NE(fault({0x7FFFFF08, 8, 5, 6, 0xFFFFFFFF}), cdr::Fault::none); // state too long
    EXPECT_NE(fault({0x7FFFFF04, 5}), cdr::Fault::none);
    EXPECT_NE(fault({0x7FFFFF80, 5}), cdr::Fault::none);
    EXPECT_NE(fault({0xFFFFFFFF, 0xFFFFFFFC}), cdr::Fault::none);
    EXPECT_NE(fault({0xFFFFFFFF, 0xFFFFFFF0}), cdr::Fault::none);
    EXPECT_NE(fault({5}), cdr::Fault::none);
}

} // namespace
