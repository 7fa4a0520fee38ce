// SPDX-License-Identifier: Apache-2.0
//
// Tables 16-1 and 16-2 of CORBA 3.3 part 1, as the specification prints them: what may be asked for
// at which point; and what the answers are.
#include "tests/interceptors/fixture.h"

#include "kairos/corba/request.h"
#include "kairos/interceptors/peer.h"

namespace kairos::orb_testing {
namespace {

constexpr CORBA::ULong mine = 0x4B520100; // a service context

template <typename Info>
struct Row {
    const char* item;
    const char* points; ///< y, n; - where the ORB does not have it (NO_RESOURCES 1)
    std::function<void(Info*)> ask;
};

/// What both tables say, each for its own points.
template <typename Info>
std::function<void(Info*)> common(const std::string& item)
{
    using Ask = std::function<void(Info*)>;
    static const std::map<std::string, Ask> all{
        {"request_id", [](Info* ri) { (void)ri->request_id(); }},
        {"operation", [](Info* ri) { const CORBA::String_var text = ri->operation(); }},
        {"arguments", [](Info* ri) { (void)ri->arguments(); }},
        {"exceptions", [](Info* ri) { (void)ri->exceptions(); }},
        {"contexts", [](Info* ri) { (void)ri->contexts(); }},
        {"operation_context", [](Info* ri) { (void)ri->operation_context(); }},
        {"result", [](Info* ri) { (void)ri->result(); }},
        {"response_expected", [](Info* ri) { (void)ri->response_expected(); }},
        {"sync_scope", [](Info* ri) { (void)ri->sync_scope(); }},
        {"reply_status", [](Info* ri) { (void)ri->reply_status(); }},
        {"forward_reference",
         [](Info* ri) { const CORBA::Object_var object = ri->forward_reference(); }},
        {"get_slot", [](Info* ri) { const CORBA::Any_var any = ri->get_slot(0); }},
        {"get_request_service_context",
         [](Info* ri) {
             const IOP::ServiceContext_var found = ri->get_request_service_context(mine);
         }},
        {"get_reply_service_context",
         [](Info* ri) {
             const IOP::ServiceContext_var found = ri->get_reply_service_context(mine);
         }},
    };
    return all.at(item);
}

using Client_ = PI::ClientRequestInfo;
using Server_ = PI::ServerRequestInfo;

/// Table 16-1. send_poll is for Messaging's polling, which no call of Kairos makes.
const std::vector<Row<Client_>>& client_table()
{
    constexpr CORBA::PolicyType scope = Messaging::SYNC_SCOPE_POLICY_TYPE;
    const auto of = common<Client_>;
    static const std::vector<Row<Client_>> table{
        // send_request, receive_reply, receive_exception, receive_other of a forward
        {"request_id", "yyyy", of("request_id")},
        {"operation", "yyyy", of("operation")},
        {"arguments", "--nn", of("arguments")},
        {"exceptions", "----", of("exceptions")},
        {"contexts", "----", of("contexts")},
        {"operation_context", "----", of("operation_context")},
        {"result", "n-nn", of("result")},
        {"response_expected", "yyyy", of("response_expected")},
        {"sync_scope", "yyyy", of("sync_scope")},
        {"reply_status", "nyyy", of("reply_status")},
        {"forward_reference", "nnny", of("forward_reference")},
        {"get_slot", "yyyy", of("get_slot")},
        {"get_request_service_context", "yyyy", of("get_request_service_context")},
        {"get_reply_service_context", "nyyy", of("get_reply_service_context")},
        {"target", "yyyy", [](Client_* ri) { const CORBA::Object_var o = ri->target(); }},
        {"effective_target", "yyyy",
         [](Client_* ri) { const CORBA::Object_var o = ri->effective_target(); }},
        {"effective_profile", "yyyy",
         [](Client_* ri) { const IOP::TaggedProfile_var p = ri->effective_profile(); }},
        {"received_exception", "nnyn",
         [](Client_* ri) { const CORBA::Any_var any = ri->received_exception(); }},
        {"received_exception_id", "nnyn",
         [](Client_* ri) { const CORBA::String_var id = ri->received_exception_id(); }},
        {"get_effective_component", "yyyy",
         [](Client_* ri) {
             const IOP::TaggedComponent_var c = ri->get_effective_component(IOP::TAG_CODE_SETS);
         }},
        {"get_effective_components", "yyyy",
         [](Client_* ri) {
             const IOP::TaggedComponentSeq_var c = ri->get_effective_components(IOP::TAG_CODE_SETS);
         }},
        {"get_request_policy", "yyyy",
         [](Client_* ri) { const CORBA::Policy_var p = ri->get_request_policy(scope); }},
        {"add_request_service_context", "ynnn",
         [](Client_* ri) { ri->add_request_service_context(context_of(mine, "again"), true); }},
    };
    return table;
}

/// Of a type with a factory of the program's.
constexpr CORBA::PolicyType registered_type = 0x7E570002;
class NoPolicies final : public PI::PolicyFactory {
  public:
    CORBA::Policy_ptr create_policy(CORBA::PolicyType, const CORBA::Any&) override
    {
        throw CORBA::PolicyError(CORBA::UNSUPPORTED_POLICY);
    }
};

/// Table 16-2.
const std::vector<Row<Server_>>& server_table()
{
    const auto of = common<Server_>;
    static const std::vector<Row<Server_>> table{
        // receive_request_service_contexts, receive_request, send_reply, send_exception
        {"request_id", "yyyyy", of("request_id")},
        {"operation", "yyyyy", of("operation")},
        {"arguments", "n--nn", of("arguments")},
        {"exceptions", "n----", of("exceptions")},
        {"contexts", "n----", of("contexts")},
        {"operation_context", "n--nn", of("operation_context")},
        {"result", "nn-nn", of("result")},
        {"response_expected", "yyyyy", of("response_expected")},
        {"sync_scope", "yyyyy", of("sync_scope")},
        {"reply_status", "nnyyy", of("reply_status")},
        {"forward_reference", "nnnny", of("forward_reference")},
        {"get_slot", "yyyyy", of("get_slot")},
        {"get_request_service_context", "yyyyy", of("get_request_service_context")},
        {"get_reply_service_context", "nnyyy", of("get_reply_service_context")},
        {"sending_exception", "nnnyn",
         [](Server_* ri) { const CORBA::Any_var any = ri->sending_exception(); }},
        {"server_id", "nyyyy", [](Server_* ri) { const CORBA::String_var id = ri->server_id(); }},
        {"orb_id", "nyyyy", [](Server_* ri) { const CORBA::String_var id = ri->orb_id(); }},
        {"adapter_name", "nyyyy",
         [](Server_* ri) { const CORBA::StringSeq_var name = ri->adapter_name(); }},
        {"object_id", "nyyyy", [](Server_* ri) { const CORBA::OctetSeq_var id = ri->object_id(); }},
        {"adapter_id", "nyyyy",
         [](Server_* ri) { const CORBA::OctetSeq_var id = ri->adapter_id(); }},
        {"target_most_derived_interface", "nynnn",
         [](Server_* ri) { const CORBA::String_var id = ri->target_most_derived_interface(); }},
        {"get_server_policy", "yyyyy",
         [](Server_* ri) { const CORBA::Policy_var p = ri->get_server_policy(registered_type); }},
        {"set_slot", "yyyyy", [](Server_* ri) { ri->set_slot(0, CORBA::Any()); }},
        {"target_is_a", "nynnn",
         [](Server_* ri) { EXPECT_TRUE(ri->target_is_a("IDL:Probe/Target:1.0")); }},
        {"add_reply_service_context", "yyyyy",
         [](Server_* ri) { ri->add_reply_service_context(context_of(mine, "again"), true); }},
    };
    return table;
}

/// What the ORB says to each question at one point, in the table's order.
template <typename Info>
void ask_all(const std::vector<Row<Info>>& table, Info* ri, std::size_t point,
             const std::string& name)
{
    for (const Row<Info>& row : table) {
        const std::string said = standard_outcome([&] { row.ask(ri); });
        const char expected = row.points[point];
        EXPECT_EQ(said, expected == 'y'   ? "ok"
                        : expected == 'n' ? "BAD_INV_ORDER 14"
                                          : "NO_RESOURCES 1")
            << row.item << " at " << name;
    }
}

class Points : public ::testing::Test {
  protected:
    /// Makes a server and a client with these acts, which begin with adding a context.
    void start(ClientActs client_acts, ServerActs server_acts)
    {
        const auto send = client_acts["send_request"];
        client_acts["send_request"] = [send](Client_* ri) {
            ri->add_request_service_context(context_of(mine, "asked"), false);
            if (send) send(ri);
        };
        const auto arrival = server_acts["arrival"];
        server_acts["arrival"] = [arrival](Server_* ri) {
            ri->add_reply_service_context(context_of(mine, "answered"), false);
            if (arrival) arrival(ri);
        };
        {
            const Plan plan([&](PI::ORBInitInfo_ptr info) {
                (void)info->allocate_slot_id();
                add_server(info, "X", nullptr, server_acts);
                const PI::PolicyFactory_var factory = new NoPolicies;
                info->register_policy_factory(registered_type, factory.in());
            });
            server_.emplace("thread-per-connection");
        }
        {
            const Plan plan([&](PI::ORBInitInfo_ptr info) {
                (void)info->allocate_slot_id();
                add_client(info, "A", nullptr, client_acts);
            });
            client_.emplace();
        }
        CORBA::Any scope;
        scope <<= Messaging::SYNC_WITH_TARGET;
        CORBA::PolicyList policies;
        policies.length(1);
        policies[0] = client_->orb()->create_policy(Messaging::SYNC_SCOPE_POLICY_TYPE, scope);
        const Probe::Target_var plain = client_->target(server_->reference());
        const CORBA::Object_var object =
            plain->_set_policy_overrides(policies, CORBA::SET_OVERRIDE);
        target_ = Probe::Target::_unchecked_narrow(object);
        server_->servant().action = [] { throw Probe::Refused("no"); };
    }
    ~Points() override
    {
        if (server_) server_->end(); // while interceptors can still look at it
    }

    int asked_ = 0;
    std::optional<Client> client_;
    std::optional<RunningServer> server_;
    Probe::Target_var target_;
};

TEST_F(Points, ClientsTable)
{
    bool forwards = false;
    const auto at = [this](std::size_t column, const char* name) {
        return [this, column, name](Client_* ri) {
            ++asked_;
            ask_all(client_table(), ri, column, name);
        };
    };
    start({{"send_request", at(0, "send_request")},
           {"receive_reply", at(1, "receive_reply")},
           {"receive_exception", at(2, "receive_exception")},
           {"receive_other", at(3, "receive_other")}},
          {{"receive_request", [&](Server_*) {
                if (!std::exchange(forwards, false)) return;
                const CORBA::Object_var to =
                    server_->orb()->string_to_object(server_->reference().c_str());
                throw PI::ForwardRequest(to.in());
            }}});
    EXPECT_EQ(target_->add(1, 2), 3);
    EXPECT_EQ(asked_, 2);
    EXPECT_EQ(outcome([&] { target_->act(); }), "Refused");
    EXPECT_EQ(asked_, 4);
    forwards = true; // to the same object
    EXPECT_EQ(target_->add(1, 2), 3);
    EXPECT_EQ(asked_, 8);
}

TEST_F(Points, ServersTable)
{
    const RunningServer other("reactor");
    bool forwards = false;
    const auto at = [this](std::size_t column, const char* name) {
        return [this, column, name](Server_* ri) {
            ++asked_;
            ask_all(server_table(), ri, column, name);
        };
    };
    start({}, {{"arrival", at(0, "receive_request_service_contexts")},
               {"receive_request",
                [&, first = at(1, "receive_request")](Server_* ri) {
                    first(ri);
                    if (!std::exchange(forwards, false)) return;
                    const CORBA::Object_var to =
                        server_->orb()->string_to_object(other.reference().c_str());
                    throw PI::ForwardRequest(to.in());
                }},
               {"send_reply", at(2, "send_reply")},
               {"send_exception", at(3, "send_exception")},
               {"send_other", at(4, "send_other")}});
    EXPECT_EQ(target_->add(1, 2), 3);
    EXPECT_EQ(asked_, 3);
    EXPECT_EQ(outcome([&] { target_->act(); }), "Refused");
    EXPECT_EQ(asked_, 6);
    forwards = true;
    EXPECT_EQ(target_->add(1, 2), 3);
    EXPECT_EQ(asked_, 9);
}

// --- What the answers are ------------------------------------------------------------------------

TEST_F(Points, TellOfTheRequest)
{
    Lines said;
    const auto text = [](char* owned) { return std::string(CORBA::String_var(owned).in()); };
    start({{"send_request",
            [&](Client_* ri) {
                said.push_back("client: " + text(ri->operation()));
                EXPECT_EQ(ri->response_expected(), text(ri->operation()) != "note");
                const CORBA::Object_var target = ri->target();
                const CORBA::Object_var effective = ri->effective_target();
                EXPECT_TRUE(target->_is_equivalent(target_.in()));
                EXPECT_TRUE(effective->_is_equivalent(target_.in()));
                const IOP::TaggedProfile_var profile = ri->effective_profile();
                EXPECT_EQ(profile->tag, IOP::TAG_INTERNET_IOP);
                EXPECT_EQ(standard_outcome([&] { (void)ri->get_effective_component(0x4B52); }),
                          "BAD_PARAM 28");
                EXPECT_EQ(standard_outcome([&] { (void)ri->get_effective_components(0x4B52); }),
                          "BAD_PARAM 28");
                EXPECT_EQ(standard_outcome([&] { (void)ri->get_request_service_context(1); }),
                          "BAD_PARAM 26");
                EXPECT_EQ(standard_outcome([&] { (void)ri->get_request_policy(0x4B52); }),
                          "INV_POLICY 2");
                EXPECT_EQ(standard_outcome([&] {
                              ri->add_request_service_context(context_of(mine, "no"), false);
                          }),
                          "BAD_INV_ORDER 15");
                EXPECT_EQ(standard_outcome([&] { (void)ri->get_slot(1); }), "InvalidSlot");
            }},
           {"receive_exception",
            [&](Client_* ri) {
                said.push_back("client: " + text(ri->received_exception_id()));
                const CORBA::Any_var any = ri->received_exception();
                const CORBA::UNKNOWN* unknown = nullptr;
                ASSERT_TRUE(any.in() >>= unknown); // user exceptions do not know their types
                EXPECT_EQ(unknown->minor(), omg(1));
            }},
           {"receive_reply",
            [&](Client_* ri) {
                const IOP::ServiceContext_var context = ri->get_reply_service_context(mine);
                said.push_back("client: " + text_of(context.in()));
            }}},
          {{"arrival",
            [&](Server_* ri) {
                const IOP::ServiceContext_var context = ri->get_request_service_context(mine);
                said.push_back("server: " + text_of(context.in()) + " by " +
                               interceptors::peer_of(ri).substr(0, 10));
                EXPECT_EQ(standard_outcome([&] { (void)ri->get_server_policy(0x4B52); }),
                          "INV_POLICY 3");
                EXPECT_EQ(standard_outcome([&] { ri->set_slot(1, CORBA::Any()); }), "InvalidSlot");
            }},
           {"receive_request",
            [&](Server_* ri) {
                said.push_back("server: " + text(ri->target_most_derived_interface()));
                EXPECT_FALSE(ri->target_is_a("IDL:Other:1.0"));
                const CORBA::String_var orb_id = server_->orb()->id();
                EXPECT_EQ(text(ri->orb_id()), orb_id.in());
            }},
           {"send_reply", [&](Server_* ri) {
                const CORBA::OctetSeq_var id = ri->object_id();
                EXPECT_EQ(id->length(), server_->id().length());
                EXPECT_TRUE(std::equal(id->get_buffer(), id->get_buffer() + id->length(),
                                       server_->id().get_buffer()));
                const CORBA::StringSeq_var name = ri->adapter_name();
                ASSERT_EQ(name->length(), 1u);
                EXPECT_STREQ(name[0], "RootPOA");
            }}});
    target_->ping();
    EXPECT_EQ(said, (Lines{"client: ping", "server: asked by 127.0.0.1:",
                           "server: IDL:Probe/Target:1.0", "client: answered"}));
    said.clear();
    EXPECT_EQ(outcome([&] { target_->act(); }), "Refused");
    EXPECT_EQ(said.back(), "client: IDL:Probe/Refused:1.0");
}

/// Whoever keeps what belongs to a point finds it empty, and nobody else's.
TEST_F(Points, AreOverWhenTheyHaveReturned)
{
    PI::ClientRequestInfo_var client;
    PI::ServerRequestInfo_var server;
    start({{"send_request", [&](Client_* ri) { client = Client_::_duplicate(ri); }}},
          {{"arrival", [&](Server_* ri) { server = Server_::_duplicate(ri); }}});
    target_->ping();
    EXPECT_EQ(standard_outcome([&] { (void)client->request_id(); }), "BAD_INV_ORDER 14");
    EXPECT_EQ(standard_outcome([&] { (void)server->operation(); }), "BAD_INV_ORDER 14");
    EXPECT_EQ(standard_outcome([&] { (void)interceptors::peer_of(server.in()); }),
              "BAD_INV_ORDER 14");
    const PI::ClientRequestInfo_var first = client;
    target_->ping();
    EXPECT_NE(first.in(), client.in()); // which was kept: it is used for no other call
}

TEST_F(Points, RequestsAreToldApart)
{
    std::vector<CORBA::ULong> ids;
    const auto note = [&](auto* ri) { ids.push_back(ri->request_id()); };
    start({{"send_request", note}, {"receive_reply", note}},
          {{"arrival", note}, {"send_reply", note}});
    target_->ping();
    target_->ping();
    ASSERT_EQ(ids.size(), 8u);
    EXPECT_EQ(ids[0], ids[3]);
    EXPECT_EQ(ids[1], ids[2]);
    EXPECT_NE(ids[0], ids[4]);
    EXPECT_NE(ids[1], ids[5]);
}

TEST_F(Points, ScopesOfOneways)
{
    std::vector<CORBA::Short> scopes;
    Event noted;
    start({{"send_request", [&](Client_* ri) { scopes.push_back(ri->sync_scope()); }}},
          {{"arrival", [&](Server_* ri) { scopes.push_back(ri->sync_scope()); }}});
    server_->servant().note_action = [&] { noted.set(); };
    target_->note(1);
    EXPECT_TRUE(noted.wait());
    EXPECT_EQ(scopes, (std::vector<CORBA::Short>{Messaging::SYNC_WITH_TARGET,
                                                 Messaging::SYNC_WITH_TARGET}));
}

} // namespace
} // namespace kairos::orb_testing
