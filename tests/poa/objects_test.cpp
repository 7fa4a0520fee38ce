// SPDX-License-Identifier: Apache-2.0
//
// Objects of a POA: ids, references and servants, and how servants are counted (CORBA 3.3 part 1,
// 15.3.9; C++ mapping 5.37).
#include "tests/poa/fixture.h"

namespace kairos::poa_testing {
namespace {

using namespace PortableServer;

class Objects : public Everywhere {
  protected:
    World world_{GetParam()};
    POA_ptr root_ = world_.root();
    std::atomic<int> alive_{0};
};

TEST_P(Objects, SystemIdsAreRecognized)
{
    const POA_var other = world_.poa("other", {});
    const POA_var lasting = world_.poa("lasting", Policies(root_) << PERSISTENT);
    Servant_var<Servant> servant = new Servant;
    for (const POA_var& poa : {POA_var(POA::_duplicate(root_)), other, lasting}) {
        const CORBA::Object_var object = poa->create_reference(target_id);
        EXPECT_EQ(world_.ping(object), no_object);
        const ObjectId_var id = poa->reference_to_id(object);
        poa->activate_object_with_id(id, servant);
        EXPECT_EQ(world_.ping(object), "ok");
        EXPECT_EQ(outcome([&] { poa->activate_object_with_id(id, servant); }),
                  "ObjectAlreadyActive");
        poa->deactivate_object(id);
        EXPECT_EQ(world_.ping(object), no_object);
        EXPECT_EQ(outcome([&] { poa->deactivate_object(id); }), "ObjectNotActive");
    }
    const CORBA::Object_var object = other->create_reference(target_id);
    const ObjectId_var id = other->reference_to_id(object);
    for (const ObjectId& bad : {ObjectId(id.in()), id_of(""), id_of("x"), id_of("123456789012"),
                                id_of(std::string(16, '\xff')), id_of(std::string(100, 'x'))}) {
        EXPECT_EQ(outcome([&] { root_->activate_object_with_id(bad, servant); }), bad_id);
        EXPECT_EQ(outcome([&] {
                      const CORBA::Object_var x = root_->create_reference_with_id(bad, target_id);
                  }),
                  bad_id);
        EXPECT_EQ(outcome([&] { root_->deactivate_object(bad); }), "ObjectNotActive");
        EXPECT_EQ(outcome([&] { const Servant_var<ServantBase> x = root_->id_to_servant(bad); }),
                  "ObjectNotActive");
    }
}

/// A servant on the stack, behind the ORB: destroyed while it is active, however it is so.
TEST_P(Objects, ServantsMayGoWhileTheyAreActive)
{
    const POA_var multiple = world_.poa("multiple", Policies(root_) << MULTIPLE_ID);
    const POA_var lasting = world_.poa("lasting", Policies(root_) << PERSISTENT << USER_ID);
    const POA_var by_default = world_.poa(
        "default", Policies(root_) << USE_DEFAULT_SERVANT << MULTIPLE_ID << NO_IMPLICIT_ACTIVATION);
    CORBA::Object_var objects[5];
    {
        Servant servant;
        const ObjectId_var id = root_->activate_object(&servant);
        objects[0] = root_->id_to_reference(id);
        for (int i = 1; i < 3; ++i) {
            const ObjectId_var each = multiple->activate_object(&servant);
            objects[i] = multiple->id_to_reference(each);
        }
        lasting->activate_object_with_id(id_of("lasting"), &servant);
        objects[3] = lasting->id_to_reference(id_of("lasting"));
        by_default->set_servant(&servant);
        objects[4] = by_default->create_reference(target_id);
        for (const CORBA::Object_var& object : objects)
            EXPECT_EQ(world_.ping(object), "ok");
    }
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(world_.ping(objects[i]), no_object);
    EXPECT_EQ(world_.ping(objects[4]), no_default_servant);
    // What they were can be active again, and the adapters can end.
    Servant_var<Servant> next = new Servant;
    lasting->activate_object_with_id(id_of("lasting"), next);
    EXPECT_EQ(world_.ping(objects[3]), "ok");
    by_default->set_servant(next);
    EXPECT_EQ(world_.ping(objects[4]), "ok");
    multiple->destroy(true, true);
    EXPECT_EQ(world_.ping(objects[1]), no_adapter);
}

/// One that its program deletes, which the adapter was to have the last count of.
TEST_P(Objects, ServantsMayBeDeletedWhileTheyAreActive)
{
    auto* servant = new Servant;
    const ObjectId_var id = root_->activate_object(servant);
    const CORBA::Object_var object = root_->id_to_reference(id);
    servant->_remove_ref();
    EXPECT_EQ(world_.ping(object), "ok");
    delete servant;
    EXPECT_EQ(world_.ping(object), no_object);
    EXPECT_EQ(outcome([&] { root_->deactivate_object(id); }), "ObjectNotActive");
}

TEST_P(Objects, AnIdCanBeActiveAgain)
{
    for (const bool user_ids : {false, true}) {
        const POA_var poa =
            world_.poa("poa", user_ids ? Policies(root_) << USER_ID : Policies(root_) << SYSTEM_ID);
        Servant_var<Servant> first = new Servant;
        ObjectId_var id = new ObjectId(id_of("object"));
        if (user_ids)
            poa->activate_object_with_id(id, first);
        else
            id = poa->activate_object(first);
        const CORBA::Object_var object = poa->id_to_reference(id);
        poa->deactivate_object(id);
        Servant_var<Servant> second = new Servant;
        poa->activate_object_with_id(id, second);
        EXPECT_EQ(world_.ping(object), "ok") << "the same object, by the old reference";
        EXPECT_EQ(second->calls, 1u);
        const ObjectId_var same = poa->servant_to_id(second);
        EXPECT_EQ(text_of(same), text_of(id));
        const CORBA::Object_var again = poa->id_to_reference(id);
        EXPECT_TRUE(again->_is_equivalent(object));
        EXPECT_EQ(outcome([&] { const ObjectId_var x = poa->servant_to_id(first); }),
                  "ServantNotActive");
        poa->destroy(true, true);
    }
}

TEST_P(Objects, ImplicitActivation)
{
    const POA_var multiple =
        world_.poa("multiple", Policies(root_) << IMPLICIT_ACTIVATION << MULTIPLE_ID);
    Servant_var<Servant> servant = new Servant;
    const ObjectId_var one = multiple->servant_to_id(servant);
    const ObjectId_var two = multiple->servant_to_id(servant);
    EXPECT_NE(text_of(one), text_of(two));
    const ObjectId_var first = root_->servant_to_id(servant);
    const ObjectId_var same = root_->servant_to_id(servant);
    EXPECT_EQ(text_of(first), text_of(same));
    EXPECT_EQ(servant->_refcount_value(), 4u);
    const Probe::Target_var self = servant->_this();
    const ObjectId_var of_this = root_->reference_to_id(self);
    EXPECT_EQ(text_of(of_this), text_of(first));
}

TEST_P(Objects, ServantsAreCounted)
{
    const POA_var poa = world_.poa("poa", Policies(root_) << MULTIPLE_ID);
    auto* servant = new Mortal(alive_);
    const ObjectId_var one = poa->activate_object(servant);
    const ObjectId_var two = poa->activate_object(servant);
    EXPECT_EQ(servant->_refcount_value(), 3u);
    servant->_remove_ref();
    {
        const Servant_var<ServantBase> found = poa->id_to_servant(one);
        EXPECT_EQ(servant->_refcount_value(), 3u);
    }
    poa->deactivate_object(one);
    EXPECT_EQ(alive_, 1);
    poa->deactivate_object(two);
    EXPECT_EQ(alive_, 0);
}

TEST_P(Objects, DeactivationWaitsForRequestsInside)
{
    auto* servant = new Mortal(alive_);
    const ObjectId_var id = root_->activate_object(servant);
    const CORBA::Object_var object = root_->id_to_reference(id);
    servant->_remove_ref();
    const POA_var users = world_.poa("users", Policies(root_) << USER_ID);
    servant->action = [&] {
        root_->deactivate_object(id);
        EXPECT_EQ(alive_, 1);
        EXPECT_EQ(outcome([&] { root_->deactivate_object(id); }), "ObjectNotActive");
    };
    const Probe::Target_var target = world_.seen(object);
    EXPECT_EQ(outcome([&] { target->act(); }), "ok");
    EXPECT_EQ(world_.ping(object), no_object);
    // The reply is sent before the servant is given up.
    world_.root()->destroy(true, true);
    EXPECT_EQ(alive_, 0);
}

TEST_P(Objects, WhatIsNotThePoas)
{
    const POA_var other = world_.poa("other", {});
    const POA_var users = world_.poa("users", Policies(root_) << USER_ID << PERSISTENT);
    Servant_var<Servant> servant = new Servant;
    const CORBA::Object_var object = root_->servant_to_reference(servant);
    const CORBA::Object_var lasting = users->create_reference_with_id(id_of("x"), target_id);
    const auto id_in = [&](POA_ptr poa, CORBA::Object_ptr reference) {
        return outcome([&] { const ObjectId_var id = poa->reference_to_id(reference); });
    };
    EXPECT_EQ(id_in(root_, object), "ok");
    EXPECT_EQ(id_in(other, object), "WrongAdapter");
    EXPECT_EQ(id_in(users, object), "WrongAdapter");
    EXPECT_EQ(id_in(users, lasting), "ok");
    EXPECT_EQ(id_in(root_, lasting), "WrongAdapter");
    EXPECT_EQ(id_in(root_, root_), "WrongAdapter") << "a local object";
    EXPECT_EQ(
        outcome([&] { const Servant_var<ServantBase> x = other->reference_to_servant(object); }),
        "WrongAdapter");
    const CORBA::Object_var foreign = world_.orb()->string_to_object("corbaloc::127.0.0.1:1/x");
    EXPECT_EQ(id_in(root_, foreign), "WrongAdapter");
}

TEST_P(Objects, NullsAreRefused)
{
    const POA_var poa = world_.poa("poa", Policies(root_) << USER_ID);
    const auto is_refused = [](auto call) { EXPECT_EQ(outcome(call).substr(0, 9), "BAD_PARAM"); };
    is_refused([&] { const ObjectId_var x = root_->activate_object(nullptr); });
    is_refused([&] { poa->activate_object_with_id(id_of("x"), nullptr); });
    is_refused([&] { const ObjectId_var x = root_->servant_to_id(nullptr); });
    is_refused([&] { const CORBA::Object_var x = root_->servant_to_reference(nullptr); });
    is_refused([&] { const ObjectId_var x = root_->reference_to_id(nullptr); });
    is_refused([&] { const CORBA::Object_var x = root_->create_reference(nullptr); });
    is_refused([&] { const POA_var x = root_->find_POA(nullptr, true); });
    is_refused([&] { const POA_var x = root_->create_POA(nullptr, nullptr, {}); });
}

TEST_P(Objects, AnEmptyIdIsAnId)
{
    for (const auto lifespan : {TRANSIENT, PERSISTENT}) {
        const POA_var poa = world_.poa("poa", Policies(root_) << USER_ID << lifespan);
        Servant_var<Servant> servant = new Servant;
        const CORBA::Object_var object = poa->create_reference_with_id(id_of(""), target_id);
        EXPECT_EQ(world_.ping(object), no_object);
        poa->activate_object_with_id(id_of(""), servant);
        EXPECT_EQ(world_.ping(object), "ok");
        poa->destroy(true, true);
    }
}

KAIROS_EVERYWHERE(Objects);

} // namespace
} // namespace kairos::poa_testing
