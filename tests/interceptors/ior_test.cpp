// SPDX-License-Identifier: Apache-2.0
//
// IOR interceptors (CORBA 3.3 part 1, 16.5): what references say, what may be asked for when, and
// which states are told of.
#include "tests/interceptors/ior_fixture.h"

#include <thread>

namespace kairos::orb_testing {
namespace {

// --- components ----------------------------------------------------------------------------------

TEST(IorInterceptors, AddComponentsToEveryReferenceOfThePoa)
{
    Record record;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        add_ior<OldProbe>(info, "A", &record,
                          {{"establish", [](PI::IORInfo_ptr ior) {
                                ior->add_ior_component(component_of(mine, "A"));
                                ior->add_ior_component(component_of(mine, "again"));
                            }}});
        add_ior<NewProbe>(info, "B", &record,
                          {{"establish", [](PI::IORInfo_ptr ior) {
                                ior->add_ior_component_to_profile(component_of(mine, "B"),
                                                                  IOP::TAG_INTERNET_IOP);
                            }}});
    });
    const Server server({"-ORBPublish", "host=one,host=two", "-ORBPublishAs", "profiles"});
    const PortableServer::POA_var root = server.root();
    EXPECT_EQ(record.take(), (Lines{"A establish", "B establish", "B established"}));

    const std::string all = "A,again,B|A,again,B";
    const PortableServer::Servant_var<Servant> servant = new Servant;
    const PortableServer::ObjectId_var id = root->activate_object(servant);
    EXPECT_EQ(said(CORBA::Object_var(root->id_to_reference(id.in())).in()), all);
    EXPECT_EQ(said(CORBA::Object_var(root->servant_to_reference(servant)).in()), all);
    EXPECT_EQ(said(CORBA::Object_var(root->create_reference(target_id)).in()), all);
    EXPECT_EQ(said(CORBA::Object_var(servant->_this()).in()), all);

    const PortableServer::POA_var child = child_of(root.in(), "child", user_ids(root.in()));
    EXPECT_EQ(record.take(), (Lines{"A establish", "B establish", "B established"}));
    const PortableServer::ObjectId_var name = PortableServer::string_to_ObjectId("name");
    const CORBA::Object_var named = child->create_reference_with_id(name.in(), target_id);
    EXPECT_EQ(said(named.in()), all);
    EXPECT_TRUE(record.take().empty()); // once a POA
}

TEST(IorInterceptors, GiveWhatTheyAddToThePoaOnly)
{
    Record record;
    int made = 0;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        add_ior<OldProbe>(info, "A", &record,
                          {{"establish", [&](PI::IORInfo_ptr ior) {
                                ior->add_ior_component(component_of(mine, std::to_string(++made)));
                            }}});
    });
    const Server server;
    const PortableServer::POA_var root = server.root();
    const PortableServer::POA_var child = child_of(root.in(), "child");
    EXPECT_EQ(said(CORBA::Object_var(root->create_reference(target_id)).in()), "1");
    EXPECT_EQ(said(CORBA::Object_var(child->create_reference(target_id)).in()), "2");
}

TEST(IorInterceptors, CannotAddToOtherProfiles)
{
    Record record;
    Lines outcomes;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        add_ior<OldProbe>(info, "A", &record,
                          {{"establish", [&](PI::IORInfo_ptr ior) {
                                for (const IOP::ProfileId profile :
                                     {IOP::TAG_INTERNET_IOP, IOP::TAG_MULTIPLE_COMPONENTS,
                                      IOP::TAG_UIPMC, IOP::ProfileId{0x4B52}})
                                    outcomes.push_back(standard_outcome([&] {
                                        ior->add_ior_component_to_profile(component_of(mine, "A"),
                                                                          profile);
                                    }));
                                ior->add_ior_component(component_of(mine, "all"));
                            }}});
    });
    {
        const Server server;
        const PortableServer::POA_var root = server.root();
        EXPECT_EQ(outcomes, (Lines{"ok", "BAD_PARAM 29", "BAD_PARAM 29", "BAD_PARAM 29"}));
        EXPECT_EQ(said(CORBA::Object_var(root->create_reference(target_id)).in()), "A,all");
    }
    outcomes.clear();
    const Server old({"-ORBGIOPVersion", "1.0"}); // whose profiles have no components
    const PortableServer::POA_var root = old.root();
    EXPECT_EQ(outcomes.front(), "BAD_PARAM 29");
    EXPECT_EQ(said(CORBA::Object_var(root->create_reference(target_id)).in()), "");
}

TEST(IorInterceptors, MayAddAsManyAsPeersTake)
{
    Record record;
    int added = 0;
    std::string last;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        add_ior<OldProbe>(info, "A", &record,
                          {{"establish", [&](PI::IORInfo_ptr ior) {
                                do
                                    last = standard_outcome(
                                        [&] { ior->add_ior_component(component_of(mine, "")); });
                                while (last == "ok" && ++added < 5000);
                            }}});
    });
    const Server server;
    const PortableServer::POA_var root = server.root();
    EXPECT_EQ(last, "IMP_LIMIT 0");
    EXPECT_EQ(added, 512);
    const CORBA::Object_var object = root->create_reference(target_id);
    const CORBA::String_var text = server.orb()->object_to_string(object.in());
    const CORBA::Object_var again = server.orb()->string_to_object(text.in());
    EXPECT_FALSE(CORBA::is_nil(again.in()));
}

TEST(IorInterceptors, ComponentsAreSeenByClientInterceptors)
{
    Record record;
    Lines seen;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        add_ior<OldProbe>(info, "A", &record,
                          {{"establish", [](PI::IORInfo_ptr ior) {
                                ior->add_ior_component(component_of(mine, "one"));
                                ior->add_ior_component(component_of(mine, "two"));
                            }}});
        add_client(info, "C", &record,
                   {{"send_request", [&](PI::ClientRequestInfo_ptr ri) {
                         const IOP::TaggedComponentSeq_var all = ri->get_effective_components(mine);
                         for (CORBA::ULong i = 0; i < all->length(); ++i)
                             seen.emplace_back(
                                 reinterpret_cast<const char*>(all[i].component_data.get_buffer()),
                                 all[i].component_data.length());
                     }}});
    });
    RunningServer server("reactor");
    const CORBA::Object_var object = server.poa()->id_to_reference(server.id());
    const Probe::Target_var target = Probe::Target::_unchecked_narrow(object);
    target->ping();
    EXPECT_EQ(seen, (Lines{"one", "two"}));
}

// --- what may be asked for -----------------------------------------------------------------------

TEST(IorInterceptors, WhatMayBeAskedForWhen)
{
    struct Row {
        const char* item;
        const char* points; ///< establish_components, components_established, afterwards: y, n
        std::function<void(PI::IORInfo_ptr)> ask;
    };
    const std::vector<Row> table{
        {"manager_id", "yyn",
         [](PI::IORInfo_ptr ior) { const CORBA::String_var id = ior->manager_id(); }},
        {"state", "yyn", [](PI::IORInfo_ptr ior) { (void)ior->state(); }},
        {"adapter_template", "nyn",
         [](PI::IORInfo_ptr ior) {
             const PI::ObjectReferenceTemplate_var made = ior->adapter_template();
             EXPECT_NE(made.in(), nullptr);
         }},
        {"current_factory", "nyn",
         [](PI::IORInfo_ptr ior) {
             const PI::ObjectReferenceFactory_var made = ior->current_factory();
             EXPECT_NE(made.in(), nullptr);
             ior->current_factory(made.in());
         }},
        {"current_factory =", "nnn", // of null, which is BAD_PARAM 0 where it is valid
         [](PI::IORInfo_ptr ior) { ior->current_factory(nullptr); }},
        {"get_effective_policy", "yyn",
         [](PI::IORInfo_ptr ior) {
             const CORBA::Policy_var policy =
                 ior->get_effective_policy(PortableServer::THREAD_POLICY_ID);
         }},
        {"add_ior_component", "ynn",
         [](PI::IORInfo_ptr ior) { ior->add_ior_component(component_of(mine, "")); }},
        {"add_ior_component_to_profile", "ynn",
         [](PI::IORInfo_ptr ior) {
             ior->add_ior_component_to_profile(component_of(mine, ""), IOP::TAG_INTERNET_IOP);
         }},
    };
    std::map<std::string, std::string> points;
    const auto ask_all = [&](PI::IORInfo_ptr ior) {
        for (const Row& row : table) {
            const std::string outcome = standard_outcome([&] { row.ask(ior); });
            points[row.item] += outcome == "ok" ? 'y' : outcome == "BAD_INV_ORDER 14" ? 'n' : '?';
        }
    };
    Record record;
    PI::IORInfo_var kept;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        add_ior<NewProbe>(info, "A", &record,
                          {{"establish", ask_all}, {"established", [&](PI::IORInfo_ptr ior) {
                                                        ask_all(ior);
                                                        kept = PI::IORInfo::_duplicate(ior);
                                                    }}});
    });
    const Server server;
    const PortableServer::POA_var root = server.root();
    ask_all(kept.in());
    for (const Row& row : table) {
        SCOPED_TRACE(row.item);
        const bool is_null = std::string(row.item) == "current_factory =";
        EXPECT_EQ(points[row.item], is_null ? "n?n" : row.points);
    }
}

class Colour final : public CORBA::Policy {
  public:
    static constexpr CORBA::PolicyType type = 0x7E570002;

    explicit Colour(CORBA::Long number) : value(number) {}
    CORBA::PolicyType policy_type() override { return type; }
    CORBA::Policy_ptr copy() override { return new Colour(value); }
    void destroy() override {}

    const CORBA::Long value;
};

class Colours final : public PI::PolicyFactory {
  public:
    CORBA::Policy_ptr create_policy(CORBA::PolicyType, const CORBA::Any& value) override
    {
        CORBA::Long number = 0;
        if (!(value >>= number)) throw CORBA::PolicyError(CORBA::BAD_POLICY_VALUE);
        return new Colour(number);
    }
};

TEST(IorInterceptors, SeeThePoliciesOfThePoa)
{
    Record record;
    Lines seen;
    const auto look = [&](PI::IORInfo_ptr ior) {
        seen.clear();
        const CORBA::Policy_var colour = ior->get_effective_policy(Colour::type);
        const auto* const known = dynamic_cast<Colour*>(colour.in());
        seen.push_back(known == nullptr ? "none" : std::to_string(known->value));
        const CORBA::Policy_var thread =
            ior->get_effective_policy(PortableServer::THREAD_POLICY_ID);
        auto* const threads = dynamic_cast<PortableServer::ThreadPolicy*>(thread.in());
        seen.push_back(std::to_string(threads->value()));
        const CORBA::Policy_var assignment =
            ior->get_effective_policy(PortableServer::ID_ASSIGNMENT_POLICY_ID);
        seen.push_back(std::to_string(
            dynamic_cast<PortableServer::IdAssignmentPolicy*>(assignment.in())->value()));
        const CORBA::Policy_var scope = // which is known, but no policy of POAs
            ior->get_effective_policy(Messaging::SYNC_SCOPE_POLICY_TYPE);
        seen.push_back(CORBA::is_nil(scope.in()) ? "nil" : "?");
        seen.push_back(standard_outcome(
            [&] { const CORBA::Policy_var unknown = ior->get_effective_policy(0x4B529999); }));
    };
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        const PI::PolicyFactory_var colours = new Colours;
        info->register_policy_factory(Colour::type, colours.in());
        add_ior<NewProbe>(info, "A", &record, {{"establish", look}, {"established", look}});
    });
    const Server server;
    const PortableServer::POA_var root = server.root();
    EXPECT_EQ(seen, (Lines{"none", "0", "1", "nil", "INV_POLICY 3"}));
    CORBA::Any number;
    number <<= CORBA::Long{7};
    CORBA::PolicyList policies = user_ids(root.in());
    policies.length(3);
    policies[1] = server.orb()->create_policy(Colour::type, number);
    policies[2] = root->create_thread_policy(PortableServer::SINGLE_THREAD_MODEL);
    const PortableServer::POA_var child = child_of(root.in(), "child", policies);
    EXPECT_EQ(seen, (Lines{"7", "1", "0", "nil", "INV_POLICY 3"}));
    policies[0] = new Colour(8); // twice
    EXPECT_THROW(PortableServer::POA_var(child_of(root.in(), "twice", policies)),
                 PortableServer::POA::InvalidPolicy);
}

TEST(ServerInterceptors, SeeThePoliciesOfTheObjectsPoa)
{
    Record record;
    Lines seen;
    const auto look = [&](PI::ServerRequestInfo_ptr ri) {
        const CORBA::Policy_var policy = ri->get_server_policy(Colour::type);
        const auto* const colour = dynamic_cast<Colour*>(policy.in());
        seen.push_back(colour == nullptr ? "none" : std::to_string(colour->value));
        seen.push_back(standard_outcome([&] {
            const CORBA::Policy_var own = ri->get_server_policy(PortableServer::THREAD_POLICY_ID);
        }));
    };
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        const PI::PolicyFactory_var colours = new Colours;
        info->register_policy_factory(Colour::type, colours.in());
        add_server(info, "X", &record, {{"receive_request", look}, {"send_reply", look}});
    });
    const Server server;
    const PortableServer::POA_var root = server.root();
    const PortableServer::POAManager_var manager = root->the_POAManager();
    manager->activate();
    CORBA::PolicyList policies;
    policies.length(1);
    policies[0] = new Colour(7);
    const PortableServer::POA_var child = child_of(root.in(), "child", policies);
    for (const PortableServer::POA_var& poa : {root, child}) {
        const PortableServer::Servant_var<Servant> servant = new Servant;
        const PortableServer::ObjectId_var id = poa->activate_object(servant);
        const CORBA::Object_var object = poa->id_to_reference(id.in());
        const Probe::Target_var target = Probe::Target::_unchecked_narrow(object.in());
        EXPECT_EQ(target->add(1, 2), 3);
    }
    EXPECT_EQ(seen, (Lines{"none", "INV_POLICY 3", "none", "INV_POLICY 3", "7", "INV_POLICY 3", "7",
                           "INV_POLICY 3"}));
}

TEST(IorInterceptors, AreToldOnceOfEachName)
{
    Record record;
    Lines outcomes;
    PI::ORBInitInfo_var kept;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        kept = PI::ORBInitInfo::_duplicate(info);
        for (const char* name : {"A", "A", "", ""})
            outcomes.push_back(standard_outcome([&] { add_ior<OldProbe>(info, name, &record); }));
        outcomes.push_back(standard_outcome([&] { info->add_ior_interceptor(nullptr); }));
    });
    {
        const Server server;
    }
    EXPECT_EQ(outcomes, (Lines{"ok", "DuplicateName", "ok", "ok", "BAD_PARAM 0"}));
    EXPECT_EQ(record.take(), (Lines{"A destroy", " destroy", " destroy"}));
    EXPECT_EQ(standard_outcome([&] { add_ior<OldProbe>(kept.in(), "late", &record); }),
              "OBJECT_NOT_EXIST 0");
}

// --- what they throw -----------------------------------------------------------------------------

TEST(IorInterceptors, WhatEstablishComponentsThrowsIsIgnored)
{
    Record record;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        add_ior<NewProbe>(info, "A", &record, {{"establish", [](PI::IORInfo_ptr ior) {
                                                    ior->add_ior_component(component_of(mine, "A"));
                                                    throw CORBA::NO_PERMISSION();
                                                }}});
        add_ior<NewProbe>(info, "B", &record, {{"establish", [](PI::IORInfo_ptr ior) {
                                                    ior->add_ior_component(component_of(mine, "B"));
                                                }}});
    });
    const Server server;
    const PortableServer::POA_var root = server.root();
    EXPECT_EQ(record.take(),
              (Lines{"A establish", "B establish", "A established", "B established"}));
    EXPECT_EQ(said(CORBA::Object_var(root->create_reference(target_id)).in()), "A,B");
}

TEST(IorInterceptors, WhatComponentsEstablishedThrowsEndsThePoa)
{
    Record record;
    bool throws = false;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        add_ior<NewProbe>(info, "A", &record, {{"established", [&](PI::IORInfo_ptr) {
                                                    if (throws) throw CORBA::NO_PERMISSION();
                                                }}});
        add_ior<NewProbe>(info, "B", &record);
    });
    {
        const Server server;
        throws = true;
        EXPECT_EQ(standard_outcome([&] { const PortableServer::POA_var root = server.root(); }),
                  "OBJ_ADAPTER 6");
        throws = false;
        const PortableServer::POA_var root = server.root(); // is made again
        (void)record.take();
        throws = true;
        EXPECT_EQ(standard_outcome(
                      [&] { const PortableServer::POA_var child = child_of(root.in(), "child"); }),
                  "OBJ_ADAPTER 6");
        EXPECT_EQ(record.take(), (Lines{"A establish", "B establish", "A established"}));
        EXPECT_THROW(PortableServer::POA_var(root->find_POA("child", false)),
                     PortableServer::POA::AdapterNonExistent);
        const PortableServer::POAList_var children = root->the_children();
        EXPECT_EQ(children->length(), 0U);
        throws = false;
        const PortableServer::POA_var child = child_of(root.in(), "child");
        (void)record.take();
    }
    // Those that never were are told of to nobody.
    EXPECT_EQ(record.take(), (Lines{"A RootPOAManager INACTIVE", "B RootPOAManager INACTIVE",
                                    "A RootPOA/child NON_EXISTENT", "B RootPOA/child NON_EXISTENT",
                                    "A RootPOA NON_EXISTENT", "B RootPOA NON_EXISTENT", "A destroy",
                                    "B destroy"}));
}

TEST(IorInterceptors, ThatThrowWhenToldOfStatesStopNobody)
{
    class Thrower final : public PI::IORInterceptor_3_0 {
      public:
        char* name() override { return CORBA::string_dup("thrower"); }
        void destroy() override { throw CORBA::INTERNAL(); }
        void establish_components(PI::IORInfo_ptr) override {}
        void components_established(PI::IORInfo_ptr) override {}
        void adapter_manager_state_changed(const char*, PI::AdapterState) override
        {
            throw CORBA::INTERNAL();
        }
        void adapter_state_changed(const PI::ObjectReferenceTemplateSeq&, PI::AdapterState) override
        {
            throw 7;
        }
    };
    Record record;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        const PI::IORInterceptor_var thrower = new Thrower;
        info->add_ior_interceptor(thrower.in());
        add_ior<NewProbe>(info, "B", &record);
    });
    const Server server;
    const PortableServer::POA_var root = server.root();
    const PortableServer::POA_var child = child_of(root.in(), "child");
    const PortableServer::POAManager_var manager = root->the_POAManager();
    (void)record.take();
    manager->discard_requests(false);
    child->destroy(true, true);
    EXPECT_EQ(record.take(),
              (Lines{"B RootPOAManager DISCARDING", "B RootPOA/child NON_EXISTENT"}));
}

// --- states --------------------------------------------------------------------------------------

TEST(IorInterceptors, AreToldOnceOfEachState)
{
    Record record;
    Lines seen;
    const auto look = [&](PI::IORInfo_ptr ior) {
        const CORBA::String_var id = ior->manager_id();
        seen.push_back(id.in() + (" " + state_text(ior->state())));
    };
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        add_ior<NewProbe>(info, "A", &record, {{"establish", look}, {"established", look}});
    });
    const Server server;
    const PortableServer::POA_var root = server.root();
    const PortableServer::POAManager_var manager = root->the_POAManager();
    manager->hold_requests(false); // as it is
    manager->activate();
    manager->activate();
    const PortableServer::POA_var child = child_of(root.in(), "child");
    const PortableServer::POAManagerFactory_var factory = root->the_POAManagerFactory();
    const PortableServer::POAManager_var other = factory->create_POAManager("other", {});
    const PortableServer::POA_var alone = root->create_POA("alone", other.in(), {});
    EXPECT_EQ(seen,
              (Lines{"RootPOAManager HOLDING", "RootPOAManager HOLDING", "RootPOAManager ACTIVE",
                     "RootPOAManager ACTIVE", "other HOLDING", "other HOLDING"}));
    manager->discard_requests(false);
    manager->hold_requests(false);
    manager->activate();
    other->deactivate(false, false);
    EXPECT_THROW(other->deactivate(false, false), PortableServer::POAManager::AdapterInactive);
    const Lines lines = record.take();
    Lines states;
    std::ranges::copy_if(lines, std::back_inserter(states), [](const std::string& line) {
        return line.find("establish") == std::string::npos;
    });
    EXPECT_EQ(states,
              (Lines{"A RootPOAManager ACTIVE", "A RootPOAManager DISCARDING",
                     "A RootPOAManager HOLDING", "A RootPOAManager ACTIVE", "A other INACTIVE"}));
    child->destroy(false, false);
    EXPECT_EQ(record.take(), Lines{"A RootPOA/child NON_EXISTENT"});
    server.orb()->shutdown(true);
    EXPECT_EQ(record.take(), (Lines{"A RootPOAManager INACTIVE", // the other is so already
                                    "A RootPOA/alone NON_EXISTENT", "A RootPOA NON_EXISTENT"}));
}

TEST(IorInterceptors, HearOfStatesInTheirOrder)
{
    constexpr int rounds = 200;
    Record record;
    PortableServer::POAManager_var manager;
    const Plan plan([&](PI::ORBInitInfo_ptr info) { add_ior<NewProbe>(info, "A", &record); });
    const Server server;
    const PortableServer::POA_var root = server.root();
    manager = root->the_POAManager();
    (void)record.take();
    const auto change = [&](bool holds) {
        for (int i = 0; i < rounds; ++i)
            if (holds)
                manager->hold_requests(false);
            else
                manager->discard_requests(false);
    };
    std::thread other(change, true);
    change(false);
    other.join();
    manager->activate();
    const Lines lines = record.take();
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.back(), "A RootPOAManager ACTIVE");
    // A state that is there already is no change.
    EXPECT_EQ(std::ranges::adjacent_find(lines), lines.end());
}

// --- other threads -------------------------------------------------------------------------------

TEST(IorInterceptors, OthersWaitForAPoaWhoseReferencesAreNotEstablished)
{
    Event begun;
    Event may_end;
    Record record;
    bool waits = false;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        add_ior<NewProbe>(info, "A", &record, {{"establish", [&](PI::IORInfo_ptr ior) {
                                                    if (!waits) return;
                                                    begun.set();
                                                    EXPECT_TRUE(may_end.wait());
                                                    ior->add_ior_component(component_of(mine, "A"));
                                                }}});
    });
    const Server server;
    const PortableServer::POA_var root = server.root();
    waits = true;
    std::thread maker([&] { const PortableServer::POA_var made = child_of(root.in(), "child"); });
    ASSERT_TRUE(begun.wait());
    const PortableServer::POAList_var children = root->the_children();
    EXPECT_EQ(children->length(), 0U);
    std::string found;
    std::thread other([&] {
        const PortableServer::POA_var child = root->find_POA("child", false);
        found = said(CORBA::Object_var(child->create_reference(target_id)).in());
    });
    may_end.set();
    maker.join();
    other.join();
    EXPECT_EQ(found, "A");
}

TEST(IorInterceptors, MayDestroyWhatIsBeingMade)
{
    Record record;
    PortableServer::POA_var root;
    Lines outcomes;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        const auto destroy = [&](PI::IORInfo_ptr) {
            if (CORBA::is_nil(root.in())) return;
            outcomes.push_back(standard_outcome([&] { root->destroy(false, true); }));
            outcomes.push_back(standard_outcome([&] { root->destroy(false, false); }));
        };
        add_ior<NewProbe>(info, "A", &record, {{"established", destroy}});
    });
    const Server server;
    root = server.root();
    (void)record.take();
    const PortableServer::POA_var before = root;
    EXPECT_THROW(PortableServer::POA_var(child_of(before.in(), "child")), CORBA::OBJECT_NOT_EXIST);
    EXPECT_EQ(outcomes, (Lines{"BAD_INV_ORDER 3", "ok"})); // to wait for that would be for ever
    EXPECT_EQ(record.take(), (Lines{"A establish", "A established", "A RootPOA NON_EXISTENT",
                                    "A RootPOA/child NON_EXISTENT"}));
    root = nullptr;
    root = server.root(); // is made anew
    EXPECT_EQ(record.take(), (Lines{"A establish", "A established"}));
}

TEST(IorInterceptors, MayMakePoasThemselves)
{
    Record record;
    PortableServer::POA_var root;
    PortableServer::POA_var within;
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        add_ior<NewProbe>(info, "A", &record,
                          {{"established", [&](PI::IORInfo_ptr) {
                                if (CORBA::is_nil(root.in()) || !CORBA::is_nil(within.in())) return;
                                within = PortableServer::POA::_duplicate(root.in());
                                within = child_of(root.in(), "within");
                            }}});
    });
    const Server server;
    root = server.root();
    const PortableServer::POA_var child = child_of(root.in(), "child");
    const PortableServer::POA_var found = root->find_POA("within", false);
    EXPECT_EQ(found.in(), within.in());
    EXPECT_EQ(record.take(), (Lines{"A establish", "A established", "A establish", "A established",
                                    "A establish", "A established"}));
}

} // namespace
} // namespace kairos::orb_testing
