// SPDX-License-Identifier: Apache-2.0
//
// Replies say the priority that the client propagated (Real-Time CORBA 1.2, 5.7.3): as TAO's do,
// and for who stands between the two.
#include "tests/rtcorba/fixture.h"

namespace kairos::rtcorba_testing {
namespace {

/// A peer that says priorities, or none, in each version of GIOP.
class Replies : public testing::TestWithParam<giop::Version> {
  protected:
    World world_;
    Servant& servant_ = world_.make_servant();

    void serve(
        CORBA::Policy_ptr model, std::function<void()> action = [] {})
    {
        servant_.action = std::move(action);
        const RTPortableServer::POA_var poa = world_.make_poa("rt", {model});
        const PortableServer::ObjectId_var id = poa->activate_object(&servant_);
        world_.activate();
        object_ = poa->id_to_reference(id);
    }
    /// What becomes of a request that says this, and the priority that the reply says.
    struct Answer {
        std::string text;
        std::optional<orb::Priority> priority;
        friend bool operator==(const Answer&, const Answer&) = default;
    };
    [[nodiscard]] Answer answer(std::optional<orb::Priority> said, std::string_view operation,
                                std::uint8_t flags = giop::response_flags::sync_target,
                                std::size_t argument_bytes = 0)
    {
        const orb::Reference& reference = *object_->_kairos_reference();
        const giop::RequestTemplate header(GetParam(), reference.object_key());
        orb::ContextList list;
        if (said) orb::append_priority(list, *said);
        const Bytes contexts = list.bytes();
        alignas(8) std::array<std::byte, 512> message{};
        const std::size_t headroom = message.size() - 8;
        const giop::Body body{message.data() + headroom, headroom, argument_bytes};
        const auto head = header.prepend(body, 7, flags, operation, contexts);
        auto peer = orb_testing::RawPeer::connect(reference.targets().front().endpoint->port());
        peer.send({head.data(), head.size() + argument_bytes});
        const orb_testing::ParsedReply reply(peer.read_message());
        EXPECT_EQ(reply.reply.request_id, 7u);
        EXPECT_LE(reply.reply.contexts.count(), 2u); // one may be filler
        return {reply.text(), orb::priority_in(reply.reply.contexts)};
    }

    CORBA::Object_var object_;
};

TEST_P(Replies, SayThePriorityThatTheClientPropagated)
{
    serve(world_.client_propagated(12));
    EXPECT_EQ(answer(77, "act"), (Answer{"NO_EXCEPTION", 77}));
    EXPECT_EQ(answer(0, "act"), (Answer{"NO_EXCEPTION", 0}));
    EXPECT_EQ(answer(32767, "ping"), (Answer{"NO_EXCEPTION", 32767}));
}

/// Exceptions have bodies, which begin behind what says the priority.
TEST_P(Replies, SayItOfExceptionsToo)
{
    std::atomic<bool> of_user{false};
    serve(world_.client_propagated(12), [&] {
        if (of_user) throw Probe::Refused("no");
        throw CORBA::NO_MEMORY(7, CORBA::COMPLETED_YES);
    });
    EXPECT_EQ(answer(77, "act"), (Answer{"NO_MEMORY 0x7 YES", 77}));
    of_user = true;
    EXPECT_EQ(answer(78, "act"), (Answer{"USER_EXCEPTION", 78}));
    EXPECT_EQ(answer(79, "no_such_operation"), (Answer{"BAD_OPERATION 0x4f4d0002 NO", 79}));
}

TEST_P(Replies, SayNothingToWhoSaidNothing)
{
    serve(world_.client_propagated(12));
    EXPECT_EQ(answer({}, "act"), (Answer{"NO_EXCEPTION", {}}));
}

TEST_P(Replies, SayNothingWhereTheServerDeclares)
{
    serve(world_.server_declared(12));
    EXPECT_EQ(answer(77, "act"), (Answer{"NO_EXCEPTION", {}}));
}

/// What a transform makes of it is the servant's affair.
TEST_P(Replies, SayThePriorityAsItCame)
{
    class Doubling final : public RTCORBA::PriorityTransform {
      public:
        CORBA::Boolean inbound(RTCORBA::Priority& priority,
                               const PortableServer::ObjectId&) override
        {
            priority = static_cast<RTCORBA::Priority>(priority * 2);
            return true;
        }
        CORBA::Boolean outbound(RTCORBA::Priority&, const PortableServer::ObjectId&) override
        {
            return true;
        }
    };
    const RTCORBA::PriorityTransformManager_var manager =
        initial<RTCORBA::PriorityTransformManager>(world_.orb(), "PriorityTransformManager");
    manager->transform(new Doubling);
    std::atomic<RTCORBA::Priority> served_at{-1};
    serve(world_.client_propagated(12), [&] { served_at = world_.current()->the_priority(); });
    EXPECT_EQ(answer(77, "act"), (Answer{"NO_EXCEPTION", 77}));
    EXPECT_EQ(served_at, 154);
}

INSTANTIATE_TEST_SUITE_P(Versions, Replies,
                         testing::Values(giop::version_1_0, giop::version_1_1, giop::version_1_2),
                         [](const auto& tested) {
                             return "giop_1_" + std::to_string(tested.param.minor);
                         });

/// A oneway call whose caller is told that it has come (SYNC_WITH_SERVER).
class Confirmations : public Replies {};

TEST_P(Confirmations, SayIt)
{
    serve(world_.client_propagated(12));
    EXPECT_EQ(answer(77, "note", giop::response_flags::sync_server, 4),
              (Answer{"NO_EXCEPTION", 77}));
}

INSTANTIATE_TEST_SUITE_P(Versions, Confirmations, testing::Values(giop::version_1_2),
                         [](const auto&) { return "giop_1_2"; });

/// Results of every size reach Kairos's own clients, whichever way they share connections.
class Results : public testing::TestWithParam<const char*> {};

TEST_P(Results, ReachTheirCallers)
{
    for (const char* version : {"1.1", "1.2"}) {
        World world({"-ORBGIOPVersion", version});
        Servant& servant = world.make_servant();
        const RTPortableServer::POA_var poa = world.make_poa("rt", {world.client_propagated(12)});
        const PortableServer::ObjectId_var id = poa->activate_object(&servant);
        world.activate();
        const CORBA::Object_var object = poa->id_to_reference(id);
        const CORBA::String_var text = world.orb()->object_to_string(object);
        Client client({"-ORBDebug", "0", "-ORBConnection", GetParam()});
        const Probe::Target_var target = client.target(text.in());
        in_thread([&] {
            orb::ThreadStorage::current().priority = orb::Priority{77};
            EXPECT_EQ(target->add(40, 2), 42);
            const CORBA::String_var echoed = target->echo("as it was");
            EXPECT_STREQ(echoed.in(), "as it was");
            for (const CORBA::ULong size : {0u, 1u, 3'000'000u}) {
                const Probe::Octets_var octets = target->produce(size);
                EXPECT_EQ(octets->length(), size);
            }
        });
    }
}

INSTANTIATE_TEST_SUITE_P(All, Results,
                         testing::Values("non-multiplexed", "leader-followers", "active"),
                         orb_testing::architecture_name);

} // namespace
} // namespace kairos::rtcorba_testing
