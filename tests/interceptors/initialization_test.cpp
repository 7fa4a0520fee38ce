// SPDX-License-Identifier: Apache-2.0
//
// ORB initializers: when they run, what they are given, what they may do then and no longer.
#include "tests/interceptors/fixture.h"

namespace kairos::orb_testing {
namespace {

using InitInfo = PI::ORBInitInfo_ptr;

TEST(Initialization, RunsBeforeAndAfterInTheOrderOfRegistration)
{
    class Second final : public PI::ORBInitializer {
      public:
        explicit Second(Record& record) : record_(record) {}
        void pre_init(InitInfo) override { record_.add("second pre_init"); }
        void post_init(InitInfo) override { record_.add("second post_init"); }

      private:
        Record& record_;
    };
    static Record& record = *new Record; // the second initializer stays as long as the process
    const Plan plan([](InitInfo) { record.add("first pre_init"); },
                    [](InitInfo) { record.add("first post_init"); });
    const PI::ORBInitializer_var second = new Second(record);
    PI::register_orb_initializer(second.in());
    const Client client;
    EXPECT_EQ(record.take(),
              (Lines{"first pre_init", "second pre_init", "first post_init", "second post_init"}));
    EXPECT_EQ(standard_outcome([] { PI::register_orb_initializer(nullptr); }), "BAD_PARAM 0");
}

TEST(Initialization, TellsOfTheOrb)
{
    CORBA::String_var id;
    CORBA::StringSeq_var arguments;
    IOP::CodecFactory_var codecs;
    const Plan plan([&](InitInfo info) {
        id = info->orb_id();
        arguments = info->arguments();
        codecs = info->codec_factory();
    });
    Client client({"-ORBConcurrency", "reactor"});
    const CORBA::String_var expected = client.orb()->id();
    EXPECT_STREQ(id.in(), expected.in());
    ASSERT_EQ(arguments->length(), 3u);
    EXPECT_STREQ(arguments[2], "reactor");
    const IOP::Codec_var codec = codecs->create_codec({IOP::ENCODING_CDR_ENCAPS, 1, 2});
    EXPECT_FALSE(CORBA::is_nil(codec.in()));
}

TEST(Initialization, InitialReferences)
{
    std::string early;
    std::string late;
    std::string unknown;
    std::string twice;
    std::string nil;
    const CORBA::Object_var object = new ClientProbe("any local object", nullptr);
    const Plan plan(
        [&](InitInfo info) {
            info->register_initial_reference("Mine", object.in());
            early = standard_outcome([&] { info->resolve_initial_references("Mine"); });
            twice =
                standard_outcome([&] { info->register_initial_reference("Mine", object.in()); });
            nil = standard_outcome([&] { info->register_initial_reference("Nil", nullptr); });
        },
        [&](InitInfo info) {
            late = standard_outcome([&] {
                const CORBA::Object_var found = info->resolve_initial_references("Mine");
                EXPECT_EQ(found.in(), object.in());
            });
            unknown = standard_outcome([&] { info->resolve_initial_references("Nobody's"); });
        });
    Client client;
    EXPECT_EQ(early, "BAD_INV_ORDER 14");
    EXPECT_EQ(late, "ok");
    EXPECT_EQ(unknown, "InvalidName");
    EXPECT_EQ(twice, "InvalidName");
    EXPECT_EQ(nil, "BAD_PARAM 27");
    const CORBA::Object_var found = client.orb()->resolve_initial_references("Mine");
    EXPECT_EQ(found.in(), object.in());
}

TEST(Initialization, NamesAreUniqueUnlessEmpty)
{
    std::string name;
    Lines outcomes;
    const Plan plan([&](InitInfo info) {
        for (const char* each : {"A", "", "", "A"}) {
            outcomes.push_back(standard_outcome([&] { add_client(info, each, nullptr); }));
            outcomes.push_back(standard_outcome([&] { add_server(info, each, nullptr); }));
        }
        try {
            add_client(info, "A", nullptr);
        } catch (const PI::ORBInitInfo::DuplicateName& duplicate) {
            name = duplicate.name.in();
        }
        outcomes.push_back(
            standard_outcome([&] { info->add_client_request_interceptor(nullptr); }));
        outcomes.push_back(
            standard_outcome([&] { info->add_server_request_interceptor(nullptr); }));
    });
    const Client client;
    EXPECT_EQ(outcomes, (Lines{"ok", "ok", "ok", "ok", "ok", "ok", "DuplicateName", "DuplicateName",
                               "BAD_PARAM 0", "BAD_PARAM 0"}));
    EXPECT_EQ(name, "A");
}

/// Of a type that nobody has; its value is what the program says.
class Colour final : public CORBA::Policy {
  public:
    static constexpr CORBA::PolicyType type = 0x7E570001;

    explicit Colour(CORBA::Long number) : value(number) {}
    CORBA::PolicyType policy_type() override { return type; }
    CORBA::Policy_ptr copy() override { return new Colour(value); }
    void destroy() override {}

    const CORBA::Long value;
};

class Colours final : public PI::PolicyFactory {
  public:
    CORBA::Policy_ptr create_policy(CORBA::PolicyType type, const CORBA::Any& value) override
    {
        CORBA::Long number = 0;
        EXPECT_EQ(type, Colour::type);
        if (!(value >>= number)) throw CORBA::PolicyError(CORBA::BAD_POLICY_VALUE);
        return new Colour(number);
    }
};

TEST(Initialization, PolicyFactories)
{
    Lines outcomes;
    const PI::PolicyFactory_var colours = new Colours;
    const Plan plan([&](InitInfo info) {
        for (const CORBA::PolicyType type :
             {Colour::type, Colour::type, PortableServer::LIFESPAN_POLICY_ID,
              Messaging::SYNC_SCOPE_POLICY_TYPE})
            outcomes.push_back(
                standard_outcome([&] { info->register_policy_factory(type, colours.in()); }));
    });
    Client client;
    EXPECT_EQ(outcomes, (Lines{"ok", "BAD_INV_ORDER 16", "BAD_INV_ORDER 16", "BAD_INV_ORDER 16"}));
    CORBA::Any value;
    value <<= CORBA::Long{7};
    const CORBA::Policy_var policy = client.orb()->create_policy(Colour::type, value);
    ASSERT_NE(dynamic_cast<Colour*>(policy.in()), nullptr);
    EXPECT_EQ(dynamic_cast<Colour*>(policy.in())->value, 7);
    EXPECT_THROW((void)client.orb()->create_policy(Colour::type, CORBA::Any()), CORBA::PolicyError);
}

TEST(Initialization, EndsWithOrbInit)
{
    PI::ORBInitInfo_var kept;
    const Plan plan([&](InitInfo info) { kept = PI::ORBInitInfo::_duplicate(info); });
    const Client client;
    const auto gone = [](auto&& call) { return standard_outcome(call) == "OBJECT_NOT_EXIST 0"; };
    EXPECT_TRUE(gone([&] { (void)kept->allocate_slot_id(); }));
    EXPECT_TRUE(gone([&] { (void)kept->orb_id(); }));
    EXPECT_TRUE(gone([&] { (void)kept->arguments(); }));
    EXPECT_TRUE(gone([&] { (void)kept->codec_factory(); }));
    EXPECT_TRUE(gone([&] { (void)kept->resolve_initial_references("RootPOA"); }));
    EXPECT_TRUE(gone([&] { kept->register_initial_reference("Late", kept.in()); }));
    EXPECT_TRUE(gone([&] { add_client(kept.in(), "late", nullptr); }));
    EXPECT_TRUE(gone([&] { add_server(kept.in(), "late", nullptr); }));
    const PI::PolicyFactory_var colours = new Colours;
    EXPECT_TRUE(gone([&] { kept->register_policy_factory(Colour::type, colours.in()); }));
}

TEST(Initialization, WhatItThrowsComesOutOfOrbInit)
{
    int argc = 1;
    char name[] = "test";
    char* argv[] = {name, nullptr};
    {
        const Plan plan([](InitInfo) { throw CORBA::NO_PERMISSION(7, CORBA::COMPLETED_NO); });
        EXPECT_THROW((void)CORBA::ORB_init(argc, argv, "refused"), CORBA::NO_PERMISSION);
    }
    bool again = false;
    const Plan plan([&](InitInfo) { again = true; });
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "refused");
    EXPECT_TRUE(again); // it is another one
    orb->destroy();
}

TEST(Initialization, OthersWaitForAnOrbThatIsBeingMade)
{
    Event begun;
    Event may_end;
    bool ended = false;
    const auto make = [] {
        int argc = 1;
        char name[] = "test";
        char* argv[] = {name, nullptr};
        return CORBA::ORB_init(argc, argv, "shared");
    };
    const Plan plan([&](InitInfo) {
        const CORBA::ORB_var within = make(); // this thread need not wait
        EXPECT_FALSE(CORBA::is_nil(within.in()));
        begun.set();
        EXPECT_TRUE(may_end.wait());
        ended = true;
    });
    CORBA::ORB_var first;
    std::thread maker([&] { first = make(); });
    ASSERT_TRUE(begun.wait());
    CORBA::ORB_var second;
    bool had_ended = false;
    std::thread other([&] {
        second = make();
        had_ended = ended;
    });
    may_end.set();
    maker.join();
    other.join();
    EXPECT_TRUE(had_ended);
    EXPECT_EQ(first.in(), second.in());
    first->destroy();
}

TEST(Initialization, MayResolveTheRootPoaAndAddInterceptorsAfterwards)
{
    Record record;
    const Plan plan({}, [&](InitInfo info) {
        const CORBA::Object_var root = info->resolve_initial_references("RootPOA");
        EXPECT_FALSE(CORBA::is_nil(root.in()));
        add_client(info, "A", &record);
        add_server(info, "X", &record);
    });
    RunningServer server("reactor");
    const CORBA::Object_var object = server.poa()->id_to_reference(server.id());
    const Probe::Target_var target = Probe::Target::_unchecked_narrow(object);
    target->ping();
    EXPECT_EQ(record.take(), (Lines{"A send_request", "X arrival", "X receive_request",
                                    "X send_reply", "A receive_reply"}));
}

TEST(Initialization, InterceptorsAreToldOfTheEndOfTheOrb)
{
    Record record;
    const Plan plan([&](InitInfo info) {
        add_client(info, "A", &record);
        add_server(info, "X", &record);
    });
    {
        const Client client;
        EXPECT_TRUE(record.take().empty());
    }
    EXPECT_EQ(record.take(), (Lines{"A destroy", "X destroy"}));
}

} // namespace
} // namespace kairos::orb_testing
