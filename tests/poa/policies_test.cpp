// SPDX-License-Identifier: Apache-2.0
//
// Every combination of policies: whether it is one, what operations it has and what becomes of a
// request for an object that is not active (CORBA 3.3 part 1, 15.3.8 and 15.3.9). What is expected
// is worked out here again, from the text of the specification.
#include "tests/poa/fixture.h"

#include "kairos/corba/poa_policies.h"

namespace kairos::poa_testing {
namespace {

using namespace PortableServer;

struct Combination {
    LifespanPolicyValue lifespan;
    IdUniquenessPolicyValue uniqueness;
    IdAssignmentPolicyValue assignment;
    ImplicitActivationPolicyValue activation;
    ServantRetentionPolicyValue retention;
    RequestProcessingPolicyValue processing;

    [[nodiscard]] bool retains() const { return retention == RETAIN; }
    [[nodiscard]] bool system_ids() const { return assignment == SYSTEM_ID; }
    [[nodiscard]] bool implicit() const { return activation == IMPLICIT_ACTIVATION; }
    [[nodiscard]] bool unique() const { return uniqueness == UNIQUE_ID; }

    /// The index of the first policy that is in the way, in the order of `list`; -1 for none.
    [[nodiscard]] int offending() const
    {
        constexpr int uniqueness_at = 1;
        constexpr int assignment_at = 2;
        constexpr int activation_at = 3;
        constexpr int retention_at = 4;
        if (!retains() && processing == USE_ACTIVE_OBJECT_MAP_ONLY) return retention_at;
        if (unique() && processing == USE_DEFAULT_SERVANT) return uniqueness_at;
        if (implicit() && !system_ids()) return assignment_at;
        if (implicit() && !retains()) return activation_at;
        return -1;
    }
    [[nodiscard]] Policies list(POA_ptr poa) const
    {
        Policies policies(poa);
        policies << lifespan << uniqueness << assignment << activation << retention << processing;
        return policies;
    }
};

std::vector<Combination> combinations()
{
    std::vector<Combination> all;
    for (const auto lifespan : {TRANSIENT, PERSISTENT})
        for (const auto uniqueness : {UNIQUE_ID, MULTIPLE_ID})
            for (const auto assignment : {USER_ID, SYSTEM_ID})
                for (const auto activation : {IMPLICIT_ACTIVATION, NO_IMPLICIT_ACTIVATION})
                    for (const auto retention : {RETAIN, NON_RETAIN})
                        for (const auto processing :
                             {USE_ACTIVE_OBJECT_MAP_ONLY, USE_DEFAULT_SERVANT, USE_SERVANT_MANAGER})
                            all.push_back({lifespan, uniqueness, assignment, activation, retention,
                                           processing});
    return all;
}

std::string describe(const Combination& c)
{
    const char* const processing[] = {"map", "default", "manager"};
    return std::string(c.lifespan == PERSISTENT ? "persistent " : "transient ") +
           (c.unique() ? "unique " : "multiple ") + (c.system_ids() ? "system " : "user ") +
           (c.implicit() ? "implicit " : "explicit ") + (c.retains() ? "retain " : "non-retain ") +
           processing[c.processing];
}

/// What is thrown, or "ok".
template <typename Call>
std::string name_of(Call call)
{
    try {
        call();
    } catch (const CORBA::UserException& exception) {
        return exception._name();
    }
    return "ok";
}

constexpr const char* wrong_policy = "WrongPolicy";

class Combinations : public Everywhere {
  protected:
    World world_{GetParam()};

    template <typename Check>
    void for_each_legal(Check check)
    {
        int number = 0;
        for (const Combination& combination : combinations()) {
            if (combination.offending() >= 0) continue;
            SCOPED_TRACE(describe(combination));
            const std::string name = "poa " + std::to_string(++number);
            const POA_var poa = world_.poa(name.c_str(), combination.list(world_.root()));
            check(combination, poa.in());
            poa->destroy(true, true);
        }
        EXPECT_EQ(number, 42);
    }
};

TEST_P(Combinations, IllegalOnesAreRefusedWithTheIndexOfThePolicy)
{
    for (const Combination& combination : combinations()) {
        SCOPED_TRACE(describe(combination));
        int refused = -1;
        try {
            const POA_var poa = world_.poa("poa", combination.list(world_.root()));
            poa->destroy(false, true);
        } catch (const POA::InvalidPolicy& exception) {
            refused = exception.index;
        }
        EXPECT_EQ(refused, combination.offending());
    }
}

TEST_P(Combinations, OperationsThatTheyHave)
{
    for_each_legal([&](const Combination& c, POA_ptr poa) {
        Servant_var<Servant> servant = new Servant;
        Servant_var<Servant> other = new Servant;
        const bool has_default = c.processing == USE_DEFAULT_SERVANT;
        const bool finds = c.retains() && (c.unique() || c.implicit());

        EXPECT_EQ(name_of([&] { ObjectId_var id = poa->activate_object(servant); }),
                  c.retains() && c.system_ids() ? "ok" : wrong_policy);
        if (!c.system_ids()) {
            EXPECT_EQ(name_of([&] { poa->activate_object_with_id(id_of("a"), servant); }),
                      c.retains() ? "ok" : wrong_policy);
        }
        EXPECT_EQ(name_of([&] { CORBA::Object_var made = poa->create_reference(target_id); }),
                  c.system_ids() ? "ok" : wrong_policy);
        if (!c.retains()) {
            EXPECT_EQ(name_of([&] { poa->deactivate_object(id_of("a")); }), wrong_policy);
            EXPECT_EQ(name_of([&] { CORBA::Object_var r = poa->id_to_reference(id_of("a")); }),
                      wrong_policy);
        }
        // The servant is active where anything can be.
        EXPECT_EQ(name_of([&] { ObjectId_var id = poa->servant_to_id(servant); }),
                  finds         ? "ok"
                  : has_default ? "ServantNotActive"
                                : wrong_policy);
        EXPECT_EQ(name_of([&] { ObjectId_var id = poa->servant_to_id(other); }),
                  c.implicit()             ? "ok"
                  : (finds || has_default) ? "ServantNotActive"
                                           : wrong_policy);
        EXPECT_EQ(name_of([&] { CORBA::Object_var r = poa->servant_to_reference(servant); }),
                  finds ? "ok" : wrong_policy);
        EXPECT_EQ(name_of([&] { Servant_var<ServantBase> s = poa->get_servant(); }),
                  has_default ? "NoServant" : wrong_policy);
        EXPECT_EQ(name_of([&] { ServantManager_var m = poa->get_servant_manager(); }),
                  c.processing == USE_SERVANT_MANAGER ? "ok" : wrong_policy);
        if (!c.retains() && !has_default) {
            EXPECT_EQ(name_of([&] { Servant_var<ServantBase> s = poa->id_to_servant(id_of("a")); }),
                      wrong_policy);
        }
    });
}

TEST_P(Combinations, ServantsMayBeSeveralObjectsUnlessTheyAreUnique)
{
    for_each_legal([&](const Combination& c, POA_ptr poa) {
        if (!c.retains()) return;
        Servant_var<Servant> servant = new Servant;
        const auto activate = [&](const char* id) {
            return name_of([&] {
                if (c.system_ids())
                    ObjectId_var given = poa->activate_object(servant);
                else
                    poa->activate_object_with_id(id_of(id), servant);
            });
        };
        EXPECT_EQ(activate("a"), "ok");
        EXPECT_EQ(activate("b"), c.unique() ? "ServantAlreadyActive" : "ok");
        if (c.system_ids()) return;
        EXPECT_EQ(activate("a"), "ObjectAlreadyActive");
    });
}

TEST_P(Combinations, RequestsForActiveObjectsReachThem)
{
    for_each_legal([&](const Combination& c, POA_ptr poa) {
        if (!c.retains()) return;
        Servant_var<Servant> servant = new Servant;
        ObjectId_var id;
        if (c.system_ids()) {
            id = poa->activate_object(servant);
        } else {
            id = new ObjectId(id_of("active"));
            poa->activate_object_with_id(id.in(), servant);
        }
        const CORBA::Object_var object = poa->id_to_reference(id);
        EXPECT_EQ(world_.ping(object), "ok");
        EXPECT_EQ(servant->calls, 1u);
        const ObjectId_var same = poa->reference_to_id(object);
        EXPECT_EQ(text_of(same), text_of(id));
        const Servant_var<ServantBase> found = poa->reference_to_servant(object);
        EXPECT_EQ(found.in(), servant.in());
        // The same object, by whatever reference.
        const CORBA::Object_var created = poa->create_reference_with_id(id, target_id);
        EXPECT_TRUE(created->_is_equivalent(object));
        EXPECT_EQ(created->_hash(1000), object->_hash(1000));
        EXPECT_EQ(world_.ping(created), "ok");
        EXPECT_EQ(servant->calls, 2u);
    });
}

/// A manager of either kind, with one servant.
class Manager final : public virtual ServantActivator, public virtual ServantLocator {
  public:
    PortableServer::Servant incarnate(const ObjectId&, POA_ptr) override
    {
        servant.in()->_add_ref();
        return servant.in();
    }
    void etherealize(const ObjectId&, POA_ptr, PortableServer::Servant gone, bool, bool) override
    {
        gone->_remove_ref();
    }
    PortableServer::Servant preinvoke(const ObjectId&, POA_ptr, const char*, Cookie&) override
    {
        return servant.in();
    }
    void postinvoke(const ObjectId&, POA_ptr, const char*, Cookie, PortableServer::Servant) override
    {
    }
    bool _kairos_supports(std::string_view id) const override
    {
        return ServantActivator::_kairos_supports(id) || ServantLocator::_kairos_supports(id);
    }

    Servant_var<Servant> servant = new Servant;
};

TEST_P(Combinations, RequestsForObjectsThatAreNotActive)
{
    for_each_legal([&](const Combination& c, POA_ptr poa) {
        const CORBA::Object_var object = c.system_ids()
                                             ? poa->create_reference(target_id)
                                             : poa->create_reference_with_id(id_of("x"), target_id);
        Servant_var<Servant> servant = new Servant;
        CORBA::Object_var manager_object;
        switch (c.processing) {
        case USE_ACTIVE_OBJECT_MAP_ONLY:
            EXPECT_EQ(world_.ping(object), no_object);
            return;
        case USE_DEFAULT_SERVANT:
            EXPECT_EQ(world_.ping(object), no_default_servant);
            poa->set_servant(servant);
            break;
        case USE_SERVANT_MANAGER: {
            EXPECT_EQ(world_.ping(object), no_servant_manager);
            Manager* manager = new Manager;
            manager_object = manager;
            poa->set_servant_manager(manager);
            servant = manager->servant;
            break;
        }
        }
        EXPECT_EQ(world_.ping(object), "ok");
        EXPECT_EQ(servant->calls, 1u);
    });
}

KAIROS_EVERYWHERE(Combinations);

// --- policies as objects -------------------------------------------------------------------------

TEST(PolicyObjects, SayWhatTheyAre)
{
    World world(From::same_orb);
    const ThreadPolicy_var policy = world.root()->create_thread_policy(SINGLE_THREAD_MODEL);
    EXPECT_EQ(policy->value(), SINGLE_THREAD_MODEL);
    EXPECT_EQ(policy->policy_type(), THREAD_POLICY_ID);
    const CORBA::Policy_var copy = policy->copy();
    const ThreadPolicy_var narrowed = ThreadPolicy::_narrow(copy);
    ASSERT_FALSE(CORBA::is_nil(narrowed));
    EXPECT_EQ(narrowed->value(), SINGLE_THREAD_MODEL);
    const LifespanPolicy_var other = LifespanPolicy::_narrow(copy);
    EXPECT_TRUE(CORBA::is_nil(other));
    EXPECT_TRUE(policy->_is_a("IDL:omg.org/PortableServer/ThreadPolicy:1.0"));
    EXPECT_TRUE(policy->_is_a("IDL:omg.org/CORBA/Policy:1.0"));
}

TEST(PolicyObjects, TheOrbMakesThemToo)
{
    World world(From::same_orb);
    CORBA::Any value;
    value <<= PERSISTENT;
    const CORBA::Policy_var policy = world.orb()->create_policy(LIFESPAN_POLICY_ID, value);
    const LifespanPolicy_var lifespan = LifespanPolicy::_narrow(policy);
    ASSERT_FALSE(CORBA::is_nil(lifespan));
    EXPECT_EQ(lifespan->value(), PERSISTENT);
    const auto reason = [&](CORBA::PolicyType type) -> int {
        try {
            const CORBA::Policy_var made = world.orb()->create_policy(type, value);
        } catch (const CORBA::PolicyError& error) {
            return error.reason;
        }
        return -1;
    };
    EXPECT_EQ(reason(THREAD_POLICY_ID), CORBA::BAD_POLICY_TYPE) << "a value of another policy";
    EXPECT_EQ(reason(15), CORBA::BAD_POLICY_TYPE);
    value <<= static_cast<LifespanPolicyValue>(1);
    EXPECT_EQ(reason(LIFESPAN_POLICY_ID), -1);
}

TEST(PolicyObjects, ListsThatCannotBe)
{
    World world(From::same_orb);
    POA_ptr root = world.root();
    const auto index = [&](const Policies& policies) -> int {
        try {
            const POA_var poa = world.poa("poa", policies);
            poa->destroy(false, true);
        } catch (const POA::InvalidPolicy& exception) {
            return exception.index;
        }
        return -1;
    };
    EXPECT_EQ(index(Policies(root) << PERSISTENT), -1);
    EXPECT_EQ(index(Policies(root) << PERSISTENT << TRANSIENT), 1) << "two of one type";
    EXPECT_EQ(index(Policies(root) << PERSISTENT << USER_ID << USER_ID), 2);
    EXPECT_EQ(index((Policies(root) << PERSISTENT).add(CORBA::Policy::_nil())), 1);
    // What offends against what was not said.
    EXPECT_EQ(index(Policies(root) << PERSISTENT << NON_RETAIN), 1);
    EXPECT_EQ(index(Policies(root) << USE_DEFAULT_SERVANT), 0);
    EXPECT_EQ(index(Policies(root) << USER_ID << IMPLICIT_ACTIVATION), 0);
}

// --- how objects are found -----------------------------------------------------------------------

class Strategies : public testing::TestWithParam<poa::IdStrategy> {};

TEST_P(Strategies, FindTheSameObjects)
{
    for (const auto from : everywhere) {
        for (const auto lifespan : {TRANSIENT, PERSISTENT}) {
            World world(from);
            constexpr int count = 100;
            std::vector<ObjectId> ids;
            for (int i = 0; i < count; ++i)
                ids.push_back(id_of("object " + std::to_string(i)));
            Policies policies(world.root());
            policies << USER_ID << lifespan;
            policies.add(corba::create_demultiplexing_policy(GetParam(), ids));
            const POA_var poa = world.poa("poa", policies);
            std::vector<Servant_var<Servant>> servants;
            std::vector<CORBA::Object_var> objects;
            for (const ObjectId& id : ids) {
                servants.emplace_back(new Servant);
                poa->activate_object_with_id(id, servants.back());
                objects.emplace_back(poa->id_to_reference(id));
            }
            for (int i = 0; i < count; ++i) {
                EXPECT_EQ(world.ping(objects[static_cast<std::size_t>(i)]), "ok");
                EXPECT_EQ(servants[static_cast<std::size_t>(i)]->calls, 1u);
            }
            poa->deactivate_object(ids[7]);
            EXPECT_EQ(world.ping(objects[7]), no_object);
            poa->activate_object_with_id(ids[7], servants[7]);
            EXPECT_EQ(world.ping(objects[7]), "ok") << "the same id is the same object";
            const CORBA::Object_var unknown = poa->create_reference_with_id(id_of("no"), target_id);
            EXPECT_EQ(world.ping(unknown), no_object);
            Servant_var<Servant> stranger = new Servant;
            EXPECT_EQ(outcome([&] { poa->activate_object_with_id(id_of("no"), stranger); }),
                      GetParam() == poa::IdStrategy::perfect ? bad_id : "ok");
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Strategies,
                         testing::Values(poa::IdStrategy::linear, poa::IdStrategy::hash,
                                         poa::IdStrategy::perfect, poa::IdStrategy::active,
                                         poa::IdStrategy::delayered));

TEST(Strategies, OfTheOption)
{
    for (const std::string strategy : {"linear", "hash", "active", "delayered"}) {
        World world(From::other_orb, {"-ORBDemux", strategy});
        Servant_var<Servant> servant = new Servant;
        const CORBA::Object_var object = world.root()->servant_to_reference(servant);
        EXPECT_EQ(world.ping(object), "ok") << strategy;
        const auto key = ior::ObjectKey::parse(object->_kairos_reference()->object_key());
        ASSERT_TRUE(key);
        EXPECT_EQ(key->slot != ior::ObjectKey::no_slot,
                  strategy == "active" || strategy == "delayered");
    }
}

} // namespace
} // namespace kairos::poa_testing
