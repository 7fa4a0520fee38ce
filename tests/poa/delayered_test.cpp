// SPDX-License-Identifier: Apache-2.0
//
// De-layered demultiplexing: whatever the adapter looks into by itself, and whatever it does not,
// clients see the same as with layers.
#include "kairos/corba/invocation.h"
#include "layered_skel.h"
#include "tests/poa/fixture.h"

namespace kairos::poa_testing {
namespace {

using namespace PortableServer;

constexpr const char* no_operation = "BAD_OPERATION 0x4f4d0002 NO";

/// Each function that several interfaces have, once; the members make wrong addresses show.
template <typename Skeleton>
class Member : public virtual Skeleton {
  public:
    void value(CORBA::Long value) override { value_ = value; }
    CORBA::Long value() override { return value_; }
    char* name() override { return CORBA::string_dup(this->_kairos_id()); }

  private:
    CORBA::Long value_ = 7;
};

class LeftServant : public Member<POA_Delayered::Left> {
  public:
    CORBA::Long one() override { return 1 + offset_; }

  private:
    CORBA::Long offset_ = 10;
};

template <typename Skeleton>
class BothServant : public Member<Skeleton> {
  public:
    CORBA::Long one() override { return 1 + offset_; }
    CORBA::Long two() override { return 2 + offset_; }
    CORBA::Long three() override { return 3 + offset_; }

  private:
    CORBA::Long offset_ = 20;
};

/// The implementation is inherited as well: by way of the skeleton of the base.
class InheritingServant : public virtual POA_Delayered::Nothing, public LeftServant {
  public:
    CORBA::Long two() override { return 2; }
    void value(CORBA::Long value) override { LeftServant::value(value); }
    CORBA::Long value() override { return LeftServant::value(); }
    char* name() override { return CORBA::string_dup("inheriting"); }
};

/// A class of its own, for the TIE.
class Tied {
  public:
    void value(CORBA::Long value) { value_ = value; }
    CORBA::Long value() { return value_; }
    char* name() { return CORBA::string_dup("tied"); }
    CORBA::Long one() { return 31; }
    CORBA::Long two() { return 32; }
    CORBA::Long three() { return 33; }

  private:
    CORBA::Long value_ = 7;
};

/// Says whether a request came through the servant's layers.
class Watched : public POA_Delayered::Single {
  public:
    void _kairos_dispatch(orb::Upcall& upcall) override
    {
        ++dispatched;
        POA_Delayered::Single::_kairos_dispatch(upcall);
    }
    CORBA::Long only() override { return ++calls; }

    std::atomic<int> dispatched{0};
    std::atomic<CORBA::Long> calls{0};
};

class LayeredSingle : public POA_Layered::Single {
  public:
    CORBA::Long only() override { return 1; }
    CORBA::Long other() override { return 2; }
};

class EmptyServant : public POA_Delayered::Empty {};

/// How an object is found, and how its operation.
struct Way {
    const char* demux;
    const char* collocation; ///< null: the client is elsewhere
};

class DelayeredTest : public ::testing::TestWithParam<Way> {
  protected:
    World world{GetParam().collocation == nullptr                  ? From::other_orb
                : std::string_view(GetParam().collocation) == "no" ? From::same_orb_marshalled
                                                                   : From::same_orb,
                {"-ORBDemux", GetParam().demux}};

    /// The servant's object as the client knows it.
    template <typename Interface>
    [[nodiscard]] Interface* activate(ServantBase* servant)
    {
        const Servant_var<ServantBase> owner = servant;
        const CORBA::Object_var object = world.root()->servant_to_reference(servant);
        const Probe::Target_var seen = world.seen(object);
        return Interface::_unchecked_narrow(seen.in());
    }
    template <typename Interface>
    void expect_base(Interface* object, const char* name)
    {
        EXPECT_EQ(object->value(), 7);
        object->value(8);
        EXPECT_EQ(object->value(), 8);
        EXPECT_STREQ(CORBA::String_var(object->name()), name);
    }
};

TEST_P(DelayeredTest, OperationsOfAllBasesAreCalled)
{
    const ::Delayered::Left_var left = activate<::Delayered::Left>(new LeftServant);
    expect_base(left.in(), "IDL:Delayered/Left:1.0");
    EXPECT_EQ(left->one(), 11);
    const ::Delayered::Both_var both =
        activate<::Delayered::Both>(new BothServant<POA_Delayered::Both>);
    expect_base(both.in(), "IDL:Delayered/Both:1.0");
    EXPECT_EQ(both->one(), 21);
    EXPECT_EQ(both->two(), 22);
    EXPECT_EQ(both->three(), 23);
    const ::Delayered::Nothing_var inheriting =
        activate<::Delayered::Nothing>(new InheritingServant);
    expect_base(inheriting.in(), "inheriting");
    EXPECT_EQ(inheriting->one(), 11);
    EXPECT_EQ(inheriting->two(), 2);
}

TEST_P(DelayeredTest, Ties)
{
    const ::Delayered::Both_var both =
        activate<::Delayered::Both>(new POA_Delayered::Both_tie<Tied>(new Tied));
    expect_base(both.in(), "tied");
    EXPECT_EQ(both->one(), 31);
    EXPECT_EQ(both->two(), 32);
    EXPECT_EQ(both->three(), 33);
}

TEST_P(DelayeredTest, SkeletonsOfTheOtherKindWithBasesOfThis)
{
    const Layered::Single_var single = activate<Layered::Single>(new LayeredSingle);
    EXPECT_EQ(single->only(), 1);
    EXPECT_EQ(single->other(), 2);
    const Layered::Both_var both = activate<Layered::Both>(new BothServant<POA_Layered::Both>);
    expect_base(both.in(), "IDL:Layered/Both:1.0");
    EXPECT_EQ(both->one(), 21);
    EXPECT_EQ(both->three(), 23);
}

TEST_P(DelayeredTest, WhatEveryObjectHas)
{
    const ::Delayered::Both_var both =
        activate<::Delayered::Both>(new BothServant<POA_Delayered::Both>);
    EXPECT_TRUE(both->_is_a("IDL:Delayered/Both:1.0"));
    EXPECT_TRUE(both->_is_a("IDL:Delayered/Base:1.0"));
    EXPECT_FALSE(both->_is_a("IDL:Delayered/Single:1.0"));
    EXPECT_FALSE(both->_non_existent());
    const CORBA::Object_var component = both->_get_component();
    EXPECT_TRUE(CORBA::is_nil(component));
    const CORBA::Object_var empty = activate<::Delayered::Empty>(new EmptyServant);
    EXPECT_TRUE(empty->_is_a("IDL:Delayered/Empty:1.0"));
    EXPECT_FALSE(empty->_non_existent());
}

TEST_P(DelayeredTest, UnknownOperationsAreRefused)
{
    const auto call = [](CORBA::Object_ptr object, const char* name) {
        const orb::Operation operation{name};
        return outcome([&] {
            corba::Invocation invocation(*object, operation);
            invocation.invoke();
            invocation.finish();
        });
    };
    const CORBA::Object_var both =
        activate<::Delayered::Both>(new BothServant<POA_Delayered::Both>);
    const CORBA::Object_var single = activate<::Delayered::Single>(new Watched);
    const CORBA::Object_var empty = activate<::Delayered::Empty>(new EmptyServant);
    for (const auto& object : {both, single, empty})
        for (const char* name : {"", "o", "onl", "onlyy", "twoo", "thre", "_get_valu", "none"})
            EXPECT_EQ(call(object, name), no_operation) << '\'' << name << '\'';
    EXPECT_EQ(call(single, "two"), no_operation) << "another interface's";
    EXPECT_EQ(call(empty, "only"), no_operation);
}

/// Only where the adapter finds the operation are the layers left out.
TEST_P(DelayeredTest, TheServantIsAskedOnlyInLayers)
{
    auto* watched = new Watched;
    const ::Delayered::Single_var single = activate<::Delayered::Single>(watched);
    EXPECT_EQ(single->only(), 1);
    EXPECT_EQ(single->only(), 2);
    const bool layers = std::string_view(GetParam().demux) != "delayered";
    const bool messages =
        GetParam().collocation == nullptr || std::string_view(GetParam().collocation) == "no";
    EXPECT_EQ(watched->dispatched, layers && messages ? 2 : 0);
    world.root()->deactivate_object(ObjectId_var(world.root()->servant_to_id(watched)));
}

/// What asks for more than the object leaves the layers in.
TEST(DelayeredPolicy, IsForPlainRequests)
{
    World world(From::other_orb);
    const auto asked = [&](const Policies& policies) {
        auto* watched = new Watched;
        const Servant_var<Watched> owner = watched;
        const POA_var poa = world.poa("poa", policies);
        const ObjectId_var id = poa->activate_object(watched);
        const CORBA::Object_var object = poa->id_to_reference(id);
        const Probe::Target_var seen = world.seen(object);
        const auto single = ::Delayered::Single::_unchecked_narrow(seen.in());
        EXPECT_EQ(::Delayered::Single_var(single)->only(), 1);
        poa->destroy(true, true);
        return watched->dispatched.load();
    };
    const auto policies = [&] {
        return Policies(world.root())
            .add(corba::create_demultiplexing_policy(poa::IdStrategy::delayered));
    };
    EXPECT_EQ(asked(policies()), 0);
    EXPECT_EQ(asked(policies() << MULTIPLE_ID), 0);
    EXPECT_EQ(asked(policies() << USE_SERVANT_MANAGER), 0);
    EXPECT_EQ(asked(policies() << SINGLE_THREAD_MODEL), 1);
    EXPECT_EQ(asked(policies() << PERSISTENT), 1);
    EXPECT_EQ(asked(Policies(world.root())), 1) << "the same adapter in another life";
}

/// The POAManager comes first, and a default servant has no slot.
TEST(DelayeredPolicy, RequestsAreHeldAndDefaultServantsCalled)
{
    World world(From::other_orb);
    Policies policies(world.root());
    policies << USE_DEFAULT_SERVANT << MULTIPLE_ID << USER_ID;
    policies.add(corba::create_demultiplexing_policy(poa::IdStrategy::delayered));
    const POAManager_var manager = POAManager::_nil();
    const POA_var poa = world.root()->create_POA("poa", manager, policies);
    const Servant_var<Watched> active = new Watched;
    const Servant_var<Watched> standing_in = new Watched;
    poa->activate_object_with_id(id_of("active"), active);
    poa->set_servant(standing_in);
    const auto call = [&](const char* id) {
        const CORBA::Object_var object =
            poa->create_reference_with_id(id_of(id), "IDL:Delayered/Single:1.0");
        const Probe::Target_var seen = world.seen(object);
        const ::Delayered::Single_var single = ::Delayered::Single::_unchecked_narrow(seen.in());
        return outcome([&] { single->only(); });
    };
    const POAManager_var own = poa->the_POAManager();
    own->discard_requests(true);
    EXPECT_EQ(call("active"), discarded);
    own->activate();
    EXPECT_EQ(call("active"), "ok");
    EXPECT_EQ(call("other"), "ok");
    EXPECT_EQ(active->calls, 1);
    EXPECT_EQ(standing_in->calls, 1);
    poa->deactivate_object(id_of("active"));
    EXPECT_EQ(call("active"), "ok") << "the default servant's now";
    EXPECT_EQ(standing_in->calls, 2);
}

INSTANTIATE_TEST_SUITE_P(Ways, DelayeredTest,
                         ::testing::Values(Way{"active", nullptr}, Way{"delayered", nullptr},
                                           Way{"hash", nullptr}, Way{"delayered", "no"},
                                           Way{"delayered", "through-poa"}),
                         [](const auto& way) {
                             std::string name = way.param.demux;
                             if (way.param.collocation != nullptr)
                                 name += std::string_view(way.param.collocation) == "no"
                                             ? "Marshalled"
                                             : "Collocated";
                             return name;
                         });

} // namespace
} // namespace kairos::poa_testing
