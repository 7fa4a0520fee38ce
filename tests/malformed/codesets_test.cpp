// SPDX-License-Identifier: Apache-2.0
//
// The negotiation of code sets as it is seen on the wire, and peers that get it wrong: trap 6 (a
// LocateRequest comes first), trap 10 (the context, once, and servers that say nothing) and trap 11
// (wide text where there may be none).
#include "tests/malformed/fake_server.h"

#include "codesets_skel.h"

#include "codesets_servant.h"

#include "kairos/ior/component.h"
#include "kairos/orb/code_sets.h"

namespace kairos::orb_testing {
namespace {

using namespace ior::code_set;
using orb::CodeSetContext;
using FakePeer = FakeServer::Peer;

CORBA::ORB_ptr make_orb(const char* id, std::vector<std::string> options)
{
    options.insert(options.begin(), {"test", "-ORBDebug", "0"});
    std::vector<char*> arguments;
    for (std::string& option : options)
        arguments.push_back(option.data());
    int count = static_cast<int>(arguments.size());
    return CORBA::ORB_init(count, arguments.data(), id);
}

/// A reference to a fake server that says these code sets, or nothing.
ior::Ior reference_with(std::uint16_t port, const std::optional<ior::CodeSets>& sets)
{
    constexpr std::string_view key = "fake";
    ior::IiopProfile profile{.version = {1, 2},
                             .host = "127.0.0.1",
                             .port = port,
                             .object_key = {as_bytes(key).begin(), as_bytes(key).end()},
                             .components = {}};
    if (sets) profile.components.push_back(ior::make_code_sets(*sets));
    return {.type_id = Codesets::Speaker::_kairos_id, .profiles = {ior::encode_iiop(profile)}};
}

const ior::CodeSets usual{{iso_8859_1, {utf_8}}, {utf_16, {}}};

/// What the client announced with a request.
std::optional<CodeSetContext> announced(const ReceivedRequest& received)
{
    const auto data = received.request.contexts.find(orb::code_sets_context_id);
    return data ? orb::decode_code_set_context(*data) : std::nullopt;
}

class CodeSetsOfAClient : public testing::Test {
  protected:
    ~CodeSetsOfAClient() override { orb_->destroy(); }

    Codesets::Speaker_ptr speaker(const ior::Ior& reference)
    {
        const CORBA::Object_var object = orb_->string_to_object(ior::to_string(reference).c_str());
        return Codesets::Speaker::_narrow(object.in());
    }

    const CORBA::ORB_var orb_ = make_orb("code sets client", {});
};

TEST_F(CodeSetsOfAClient, Trap06_AreAnnouncedWithTheFirstRequestAlsoAfterALocateRequest)
{
    FakeServer fake([](FakeServer& server) {
        FakePeer peer = server.accept();
        Octets locate = peer.read_message();
        giop::Message message;
        ASSERT_EQ(giop::message_of(locate, message), giop::Fault::none);
        ASSERT_EQ(message.type, giop::MessageType::locate_request);
        cdr::Reader reader = message.reader();
        peer.send(WireMessage(giop::MessageType::locate_reply)
                      .u32(reader.read<std::uint32_t>())
                      .u32(1) // OBJECT_HERE
                      .finish());
        for (int i = 0; i < 3; ++i) {
            const ReceivedRequest request = peer.read_request();
            if (i == 0) {
                EXPECT_EQ(announced(request), (CodeSetContext{iso_8859_1, utf_16}));
            } else {
                EXPECT_TRUE(request.request.contexts.empty()) << i;
            }
            peer.send(reply(request.id(), 0).u32(7).finish());
        }
    });
    const Codesets::Speaker_var target = speaker(reference_with(fake.port(), usual));
    EXPECT_TRUE(target->_validate_connection());
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(target->sum(3, 4), 7);
    fake.end();
    EXPECT_EQ(fake.connections(), 1);
}

TEST_F(CodeSetsOfAClient, Trap10_AreNotAnnouncedToAServerThatSaysNothing)
{
    FakeServer fake([](FakeServer& server) {
        FakePeer peer = server.accept();
        for (int i = 0; i < 2; ++i) {
            ReceivedRequest request = peer.read_request();
            EXPECT_TRUE(request.request.contexts.empty()) << i;
            EXPECT_EQ(request.request.body.read_string(), "caf\xE9");
            peer.send(reply(request.id(), 0).u32(0).finish());
        }
    });
    const Codesets::Speaker_var target = speaker(reference_with(fake.port(), std::nullopt));
    for (int i = 0; i < 2; ++i) { // and that twice
        const Codesets::Octets_var octets = target->octets_of("caf\xE9");
        EXPECT_EQ(octets->length(), 0u);
        EXPECT_EQ(outcome([&] { target->word(L"wide"); }), "INV_OBJREF 0x4f4d0001 NO");
    }
    fake.end();
    EXPECT_EQ(fake.requests(), 2);
}

TEST_F(CodeSetsOfAClient, Trap10_AreThoseOfEachProfile)
{
    const auto serve = [](CodeSetContext expected) {
        return [expected](FakeServer& server) {
            FakePeer peer = server.accept();
            const ReceivedRequest request = peer.read_request();
            EXPECT_EQ(announced(request), expected);
            peer.send(reply(request.id(), 0).u32(7).finish());
        };
    };
    FakeServer latin(serve({iso_8859_1, utf_16}));
    FakeServer utf(serve({utf_8, ucs_4}));
    const Codesets::Speaker_var one = speaker(reference_with(latin.port(), usual));
    const Codesets::Speaker_var other =
        speaker(reference_with(utf.port(), ior::CodeSets{{utf_8, {}}, {ucs_4, {}}}));
    EXPECT_EQ(one->sum(3, 4), 7);
    EXPECT_EQ(other->sum(3, 4), 7);
}

TEST_F(CodeSetsOfAClient, WithNothingInCommonRefuseTextAlone)
{
    FakeServer fake([](FakeServer& server) {
        FakePeer peer = server.accept();
        peer.send(reply(peer.read_request().id(), 0).u32(7).finish());
    });
    const Codesets::Speaker_var target =
        speaker(reference_with(fake.port(), ior::CodeSets{{0x00010005, {}}, {0x00030001, {}}}));
    EXPECT_EQ(outcome([&] { target->text("text"); }), "CODESET_INCOMPATIBLE 0x4f4d0001 NO");
    EXPECT_EQ(outcome([&] { target->word(L"word"); }), "CODESET_INCOMPATIBLE 0x4f4d0001 NO");
    EXPECT_EQ(target->sum(3, 4), 7);
}

TEST_F(CodeSetsOfAClient, Trap07_OfAForwardAreThoseOfTheNextCall)
{
    FakeServer real([](FakeServer& server) {
        FakePeer peer = server.accept();
        ReceivedRequest sum = peer.read_request();
        EXPECT_EQ(announced(sum), (CodeSetContext{utf_8, utf_16}));
        peer.send(reply(sum.id(), 0).u32(7).finish());
        ReceivedRequest request = peer.read_request();
        EXPECT_EQ(request.request.body.read_string(), "caf\xC3\xA9");
        peer.send(reply(request.id(), 0).u32(0).finish());
    });
    FakeServer agent([&](FakeServer& server) {
        FakePeer peer = server.accept();
        peer.send(forward(peer.read_request().id(),
                          reference_with(real.port(), ior::CodeSets{{utf_8, {}}, {utf_16, {}}})));
    });
    const Codesets::Speaker_var target = speaker(reference_with(agent.port(), usual));
    // Encoded for the agent, and not to be understood where it sends us.
    EXPECT_EQ(outcome([&] { (void)target->octets_of("caf\xE9"); }), "TRANSIENT 0x4b52000d NO");
    EXPECT_EQ(target->sum(3, 4), 7);
    EXPECT_EQ(Codesets::Octets_var(target->octets_of("caf\xE9"))->length(), 0u);
}

/// A22: each call asks the original reference again, and is refused only if that sends it to such a
/// server once more.
TEST_F(CodeSetsOfAClient, OfAForwardThatDoNotFitHaveTheOriginalAskedAgain)
{
    const ior::CodeSets foreign{{0x00010005, {}}, {0x00030001, {}}};
    FakeServer incompatible([](FakeServer& server) {
        FakePeer peer = server.accept();
        peer.send(reply(peer.read_request().id(), 0).u32(7).finish());
    });
    FakeServer agent([&](FakeServer& server) {
        FakePeer peer = server.accept();
        for (int i = 0; i < 2; ++i)
            peer.send(
                forward(peer.read_request().id(), reference_with(incompatible.port(), foreign)));
        ReceivedRequest request = peer.read_request();
        EXPECT_EQ(request.request.body.read_string(), "caf\xE9");
        peer.send(reply(request.id(), 0).u32(0).finish());
    });
    const Codesets::Speaker_var target = speaker(reference_with(agent.port(), usual));
    EXPECT_EQ(target->sum(3, 4), 7); // at the forward
    EXPECT_EQ(outcome([&] { (void)target->octets_of("caf\xE9"); }),
              "CODESET_INCOMPATIBLE 0x4f4d0001 NO");
    EXPECT_EQ(Codesets::Octets_var(target->octets_of("caf\xE9"))->length(), 0u);
    incompatible.end();
    agent.end();
    EXPECT_EQ(agent.requests(), 3);
    EXPECT_EQ(incompatible.requests(), 1);
}

TEST_F(CodeSetsOfAClient, OfAForwardDoNotMatterToWhatIsAscii)
{
    FakeServer real([](FakeServer& server) {
        FakePeer peer = server.accept();
        ReceivedRequest request = peer.read_request();
        EXPECT_EQ(request.request.body.read_string(), "cafe");
        peer.send(reply(request.id(), 0).u32(0).finish());
    });
    FakeServer agent([&](FakeServer& server) {
        FakePeer peer = server.accept();
        peer.send(forward(peer.read_request().id(),
                          reference_with(real.port(), ior::CodeSets{{utf_8, {}}, {utf_16, {}}})));
    });
    const Codesets::Speaker_var target = speaker(reference_with(agent.port(), usual));
    EXPECT_EQ(Codesets::Octets_var(target->octets_of("cafe"))->length(), 0u);
}

// --- Servers
// ---------------------------------------------------------------------------------------

/// A request with a CodeSets context, up to its arguments.
WireMessage request_with(Bytes key, std::string_view operation, const CodeSetContext& context,
                         std::uint32_t request_id = 1)
{
    const auto contexts = orb::encode_contexts(context);
    WireMessage message(giop::MessageType::request);
    message.u32(request_id).u8(3).raw(std::string_view("\0\0\0", 3));
    message.u16(0).octets(key).string(operation);
    return message.align(4).raw(contexts).align(8);
}

class CodeSetsOfAServer : public testing::Test {
  protected:
    CodeSetsOfAServer()
    {
        const CORBA::Object_var root = orb_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(root.in());
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        const Codesets::Speaker_var speaker = servant_->_this();
        const CORBA::String_var text = orb_->object_to_string(speaker.in());
        const auto ior = ior::from_string(text.in()).value();
        profile_ = ior::decode_iiop(ior.profiles.at(0).data).value();
        peer_.emplace(RawPeer::connect(profile_.port));
    }
    ~CodeSetsOfAServer() override
    {
        peer_.reset();
        orb_->destroy();
    }

    /// The exception that answers, "ok" for none; and the connection lives on.
    std::string answer(const WireMessage& request)
    {
        peer_->send(request.finish());
        Octets bytes = peer_->read_message();
        giop::Message message;
        giop::Reply received;
        if (giop::message_of(bytes, message) != giop::Fault::none ||
            message.type != giop::MessageType::reply ||
            giop::parse(message, received) != cdr::Fault::none)
            return "no reply";
        if (received.status == giop::ReplyStatus::no_exception) return "ok";
        const auto exception = giop::SystemExceptionBody::read(received.body);
        char text[128];
        std::snprintf(text, sizeof text, "%s 0x%08x %u",
                      std::string(exception.repository_id).c_str(), exception.minor,
                      exception.completion);
        return text;
    }
    [[nodiscard]] Bytes key() const { return profile_.object_key; }

    const CORBA::ORB_var orb_ =
        make_orb("code sets server", {"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    const PortableServer::Servant_var<codesets::SpeakerServant> servant_ =
        new codesets::SpeakerServant(orb_.in());
    ior::IiopProfile profile_;
    std::optional<RawPeer> peer_;
};

constexpr std::string_view wide_a("\0a", 2);

TEST_F(CodeSetsOfAServer, AreInItsReferences)
{
    const ior::TaggedComponent* component = ior::find(profile_.components, ior::tag_code_sets);
    ASSERT_NE(component, nullptr);
    const auto sets = ior::decode_code_sets(*component);
    ASSERT_TRUE(sets);
    EXPECT_EQ(sets->characters, (ior::CodeSetComponent{iso_8859_1, {utf_8}}));
    EXPECT_EQ(sets->wide_characters.native, utf_16);
}

TEST_F(CodeSetsOfAServer, Trap11_WithoutAnAnnouncementRefuseWideText)
{
    EXPECT_EQ(answer(request(key(), "_set_word").u32(2).raw(wide_a)),
              "IDL:omg.org/CORBA/BAD_PARAM:1.0 0x4f4d0017 1");
    EXPECT_EQ(answer(request(key(), "_get_word")), "IDL:omg.org/CORBA/BAD_PARAM:1.0 0x4f4d0017 0");
    EXPECT_EQ(answer(request(key(), "_set_text").string("caf\xE9")), "ok");
    EXPECT_STREQ(CORBA::String_var(servant_->text()), "caf\xE9");
    // Announced later, it is agreed on from then on.
    EXPECT_EQ(answer(request_with(key(), "_set_word", {utf_8, utf_16}).u32(2).raw(wide_a)), "ok");
    EXPECT_EQ(answer(request(key(), "_get_word")), "ok");
    EXPECT_EQ(answer(request(key(), "_set_text").string("caf\xC3\xA9")), "ok");
    EXPECT_STREQ(CORBA::String_var(servant_->text()), "caf\xE9");
}

TEST_F(CodeSetsOfAServer, Trap11_InGiop10KnowNoWideText)
{
    EXPECT_EQ(answer(request(key(), "_set_word", 1, giop::version_1_0).u32(2).raw(wide_a)),
              "IDL:omg.org/CORBA/MARSHAL:1.0 0x4f4d0005 1");
    EXPECT_EQ(answer(request(key(), "_get_word", 2, giop::version_1_0)),
              "IDL:omg.org/CORBA/MARSHAL:1.0 0x4f4d0006 0");
}

TEST_F(CodeSetsOfAServer, Trap10_ThatItLacksAreRefusedWhereTextNeedsThem)
{
    EXPECT_EQ(answer(request_with(key(), "_set_text", {0x12345678, 0x12345679}).string("text")),
              "IDL:omg.org/CORBA/CODESET_INCOMPATIBLE:1.0 0x4f4d0002 1");
    EXPECT_EQ(answer(request(key(), "_set_word").u32(2).raw(wide_a)),
              "IDL:omg.org/CORBA/CODESET_INCOMPATIBLE:1.0 0x4f4d0002 1");
    EXPECT_EQ(answer(request(key(), "sum").u32(1).u32(2)), "ok");
}

TEST_F(CodeSetsOfAServer, Trap11_TextThatIsNotValidIsAnsweredAndTheConnectionLivesOn)
{
    EXPECT_EQ(answer(request_with(key(), "_set_word", {utf_8, utf_16})
                         .u32(2)
                         .raw(std::string_view("\xD8\x00", 2))),
              "IDL:omg.org/CORBA/DATA_CONVERSION:1.0 0x4f4d0001 1");
    EXPECT_EQ(answer(request(key(), "_set_text").string("\xC3")),
              "IDL:omg.org/CORBA/DATA_CONVERSION:1.0 0x4f4d0001 1");
    EXPECT_EQ(answer(request(key(), "_set_text").string("\xE2\x82\xAC")), // not in ISO 8859-1
              "IDL:omg.org/CORBA/DATA_CONVERSION:1.0 0x4f4d0001 1");
    EXPECT_EQ(answer(request(key(), "_set_word").u32(0x7FFFFFFF).raw(wide_a)),
              "IDL:omg.org/CORBA/MARSHAL:1.0 0x4b520005 1");
    EXPECT_EQ(answer(request(key(), "sum").u32(1).u32(2)), "ok");
}

} // namespace
} // namespace kairos::orb_testing
