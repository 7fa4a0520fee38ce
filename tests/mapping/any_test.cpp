// SPDX-License-Identifier: Apache-2.0
//
// Generated operators of Any, and Any as a type of generated stubs and skeletons: calls within the
// process.
#include "any_skel.h"

#include "kairos/corba/CORBA.h"

#include <gtest/gtest.h>

namespace {

using CORBA::Any;
namespace mapping = kairos::mapping;
namespace cdr = kairos::cdr;

/// An ORB with a servant.
class Service : public POA_AnyTest::Service {
  public:
    Any* state() override { return new Any(state_); }
    void state(const Any& value) override { state_ = value; }
    Any* alias() override { return new Any(state_); }
    Any* echo(const Any& a, Any& b, CORBA::Any_out c) override
    {
        c = new Any(b);
        b = a;
        return new Any(a);
    }
    AnyTest::Bag* pass(const AnyTest::Bag& a, AnyTest::Bag& b, AnyTest::Bag_out c) override
    {
        c = new AnyTest::Bag(b);
        b = a;
        return new AnyTest::Bag(a);
    }
    AnyTest::Things* both(const AnyTest::Things& a, AnyTest::Pair b, AnyTest::Pair_out c) override
    {
        c = AnyTest::Pair_dup(b);
        std::swap(b[0], b[1]);
        return new AnyTest::Things(a);
    }
    void fail(const Any& why) override { throw AnyTest::Derived::Refused(why); }

  private:
    Any state_;
};

class AnyMapping : public ::testing::Test {
  protected:
    void SetUp() override
    {
        int argc = 0;
        orb_ = CORBA::ORB_init(argc, nullptr, "AnyMapping");
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        servant_ = new Service;
        service_ = servant_->_this();
    }
    void TearDown() override
    {
        service_ = AnyTest::Service::_nil();
        orb_->destroy();
    }
    /// What comes back from a call.
    Any sent(const Any& any)
    {
        Any_var_pair pair;
        const CORBA::Any_var result = service_->echo(any, pair.b, pair.c.out());
        return result.in();
    }
    struct Any_var_pair {
        Any b;
        CORBA::Any_var c;
    };

    CORBA::ORB_var orb_;
    PortableServer::Servant_var<Service> servant_;
    AnyTest::Service_var service_;
};

template <typename T>
const T* extracted(const Any& any)
{
    const T* value = nullptr;
    EXPECT_TRUE(any >>= value);
    return value;
}

TEST_F(AnyMapping, ClassesOfEveryKind)
{
    Any any;
    any <<= AnyTest::Point{3, 2.5};
    EXPECT_EQ(extracted<AnyTest::Point>(sent(any))->y, 2.5);
    Outside outside{7};
    any <<= outside;
    EXPECT_EQ(extracted<Outside>(sent(any))->a, 7);

    AnyTest::Numbers_var numbers = new AnyTest::Numbers{1, 2, 3};
    any <<= numbers.in();
    EXPECT_EQ((*extracted<AnyTest::OtherNumbers>(sent(any)))[2], 3);
    const AnyTest::Numbers* kept = numbers.ptr();
    any <<= numbers._retn();
    EXPECT_EQ(extracted<AnyTest::SameNumbers>(any), kept);
    AnyTest::Numbers* deprecated = nullptr;
    EXPECT_TRUE(any >>= deprecated);
    EXPECT_EQ(deprecated, kept);

    AnyTest::Names names{"a", "bc"};
    any <<= names;
    EXPECT_STREQ((*extracted<AnyTest::Names>(sent(any)))[1], "bc");

    any <<= AnyTest::blue;
    AnyTest::Color color = AnyTest::red;
    EXPECT_TRUE(sent(any) >>= color);
    EXPECT_EQ(color, AnyTest::blue);

    AnyTest::Tree tree;
    tree.label = "root";
    tree.children.length(2);
    tree.children[1].label = "leaf";
    any <<= tree;
    const Any received = sent(any);
    EXPECT_STREQ(extracted<AnyTest::Tree>(received)->children[1].label.in(), "leaf");
}

TEST_F(AnyMapping, Arrays)
{
    AnyTest::Words_var words = AnyTest::Words_alloc();
    words[0] = "one";
    words[1] = "two";
    Any any;
    any <<= AnyTest::Words_forany(words.inout());
    AnyTest::Words_forany back;
    const Any received = sent(any);
    ASSERT_TRUE(received >>= back);
    EXPECT_STREQ(back[1], "two");
    AnyTest::Grid_forany grid;
    EXPECT_FALSE(received >>= grid);
    any <<= AnyTest::Words_forany(words._retn(), true);
    ASSERT_TRUE(any >>= back);
    EXPECT_STREQ(back[0], "one");
    const AnyTest::Grid cells = {{1, 2, 3}, {4, 5, 6}};
    any <<= AnyTest::SameGrid_forany(AnyTest::Grid_dup(cells), true);
    const Any other = sent(any);
    ASSERT_TRUE(other >>= grid);
    EXPECT_EQ(grid[1][0], 4);
}

TEST_F(AnyMapping, Exceptions)
{
    AnyTest::Overflow overflow(5, "full");
    Any any;
    any <<= overflow;
    Any received = sent(any);
    EXPECT_STREQ(extracted<AnyTest::Overflow>(received)->why.in(), "full");
    auto* own = new AnyTest::Overflow(6, "fuller");
    any <<= own;
    EXPECT_EQ(extracted<AnyTest::Overflow>(any), own);
    any <<= AnyTest::Empty();
    received = sent(any);
    EXPECT_STREQ(extracted<AnyTest::Empty>(received)->_rep_id(), "IDL:AnyTest/Empty:1.0");
}

TEST_F(AnyMapping, Trap15_ObjectReferences)
{
    Any any;
    any <<= service_.in();
    AnyTest::Service_ptr borrowed = nullptr;
    ASSERT_TRUE(any >>= borrowed);
    EXPECT_EQ(borrowed, service_.in());
    any <<= AnyTest::Service::_duplicate(service_.in()); // copies: the count is ours to release
    CORBA::release(borrowed);
    AnyTest::Service_ptr given = AnyTest::Service::_duplicate(service_.in());
    any <<= &given;
    ASSERT_TRUE(any >>= borrowed);
    EXPECT_EQ(borrowed, given);

    Any received = sent(any);
    ASSERT_TRUE(received >>= borrowed);
    EXPECT_TRUE(borrowed->_is_equivalent(service_.in()));
    AnyTest::Service_ptr again = nullptr;
    ASSERT_TRUE(received >>= again);
    EXPECT_EQ(again, borrowed);
    AnyTest::Base_ptr base = nullptr;
    EXPECT_FALSE(received >>= base);
    CORBA::Object_var object;
    ASSERT_TRUE(received >>= Any::to_object(object.out()));
    EXPECT_TRUE(object->_is_equivalent(service_.in()));

    any <<= AnyTest::Base::_nil();
    received = sent(any);
    base = reinterpret_cast<AnyTest::Base_ptr>(1);
    ASSERT_TRUE(received >>= base);
    EXPECT_EQ(base, nullptr);
    ASSERT_TRUE(received >>= Any::to_object(object.out()));
    EXPECT_TRUE(CORBA::is_nil(object.in()));

    any <<= object.in();
    any <<= CORBA::Long{1};
    EXPECT_FALSE(any >>= Any::to_object(object.out()));
}

TEST_F(AnyMapping, ReferencesOutliveTheMessageAndTheOrb)
{
    AnyTest::Derived::Nested nested;
    nested.which = AnyTest::Derived::two;
    Any any;
    any <<= nested;
    const Any received = sent(any);
    const auto* back = extracted<AnyTest::Derived::Nested>(received);
    EXPECT_EQ(back->which, AnyTest::Derived::two);
    EXPECT_TRUE(CORBA::is_nil(back->target.in()));

    any <<= service_.in();
    const Any kept = sent(any);
    service_ = AnyTest::Service::_nil();
    orb_->destroy();
    orb_ = CORBA::ORB::_nil();
    AnyTest::Service_ptr late = nullptr;
    ASSERT_TRUE(kept >>= late);
    EXPECT_FALSE(CORBA::is_nil(late));
    int argc = 0;
    orb_ = CORBA::ORB_init(argc, nullptr, "AnyMapping2"); // for TearDown
}

TEST_F(AnyMapping, IsAParameterAndAMember)
{
    AnyTest::Bag bag;
    bag.value <<= "text";
    bag.list.length(2);
    bag.list[1] <<= AnyTest::Point{1, 4.5};
    bag.color = AnyTest::green;
    mapping::assign(bag.grid, AnyTest::Grid{{1, 2, 3}, {4, 5, 6}});
    bag.words[0] = "w";
    AnyTest::Bag other = bag;
    other.value <<= CORBA::Short{9};
    AnyTest::Bag_var out;
    const AnyTest::Bag_var result = service_->pass(bag, other, out.out());
    const char* text = nullptr;
    ASSERT_TRUE(result->value >>= text);
    EXPECT_STREQ(text, "text");
    CORBA::Short number = 0;
    ASSERT_TRUE(out->value >>= number);
    EXPECT_EQ(number, 9);
    const CORBA::Any& element = other.list[1];
    EXPECT_EQ(extracted<AnyTest::Point>(element)->y, 4.5);

    AnyTest::Things things;
    things.length(1);
    things[0] <<= CORBA::Long{5};
    AnyTest::Pair pair;
    pair[0] <<= "zero";
    AnyTest::Pair_var pair_out;
    const AnyTest::Things_var list = service_->both(things, pair, pair_out.out());
    CORBA::Long five = 0;
    EXPECT_TRUE(list[0] >>= five);
    EXPECT_TRUE(pair[1] >>= text);
    EXPECT_TRUE(pair_out[0] >>= text);
    EXPECT_STREQ(text, "zero");

    service_->state(pair[1]);
    const CORBA::Any_var state = service_->state();
    EXPECT_TRUE(state.in() >>= text);
    AnyTest::Thing_var alias = service_->alias();
    EXPECT_TRUE(alias.in() >>= text);

    Any why;
    why <<= things;
    try {
        service_->fail(why);
        FAIL() << "nothing was thrown";
    } catch (const AnyTest::Derived::Refused& refused) {
        const auto* back = extracted<AnyTest::Things>(refused.why);
        EXPECT_TRUE((*back)[0] >>= five);
    }
}

} // namespace
