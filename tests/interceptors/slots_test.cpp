// SPDX-License-Identifier: Apache-2.0
//
// PICurrent: slots of threads and of requests, and when the one becomes the other (CORBA 3.3 part
// 1, 16.4).
#include "tests/interceptors/fixture.h"

namespace kairos::orb_testing {
namespace {

[[nodiscard]] CORBA::Any any_of(CORBA::Long number)
{
    CORBA::Any any;
    any <<= number;
    return any;
}
/// -1 for a slot that is empty.
[[nodiscard]] CORBA::Long number_in(CORBA::Any* owned)
{
    const CORBA::Any_var any = owned;
    CORBA::Long number = -1;
    (void)(any.in() >>= number);
    return number;
}
[[nodiscard]] PI::Current_var current_of(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var object = orb->resolve_initial_references("PICurrent");
    return PI::Current::_narrow(object.in());
}

TEST(Slots, BelongToTheThread)
{
    PI::SlotId first = 9;
    PI::SlotId second = 9;
    std::string within;
    const Plan plan(
        [&](PI::ORBInitInfo_ptr info) {
            first = info->allocate_slot_id();
            second = info->allocate_slot_id();
        },
        [&](PI::ORBInitInfo_ptr info) {
            const CORBA::Object_var object = info->resolve_initial_references("PICurrent");
            const PI::Current_var current = PI::Current::_narrow(object.in());
            within = standard_outcome([&] { current->set_slot(first, CORBA::Any()); });
        });
    Client client;
    EXPECT_EQ(within, "BAD_INV_ORDER 14");
    EXPECT_NE(first, second);
    const PI::Current_var current = current_of(client.orb());
    current->set_slot(second, any_of(7));
    EXPECT_EQ(number_in(current->get_slot(second)), 7);
    EXPECT_EQ(number_in(current->get_slot(first)), -1);
    const CORBA::Any_var empty = current->get_slot(first);
    const CORBA::TypeCode_var type = empty->type();
    EXPECT_EQ(type->kind(), CORBA::tk_null);
    std::thread other([&] { EXPECT_EQ(number_in(current->get_slot(second)), -1); });
    other.join();
    EXPECT_EQ(standard_outcome([&] { (void)current->get_slot(2); }), "InvalidSlot");
    EXPECT_EQ(standard_outcome([&] { current->set_slot(2, CORBA::Any()); }), "InvalidSlot");
}

TEST(Slots, AreNoneWithoutInitializers)
{
    const Plan plan({});
    Client client;
    const PI::Current_var current = current_of(client.orb());
    EXPECT_EQ(standard_outcome([&] { (void)current->get_slot(0); }), "InvalidSlot");
}

/// A chain: program → server's servant → the same program's second object.
TEST(Slots, TravelWithRequests)
{
    constexpr CORBA::ULong mine = 0x4B520300;
    Lines said;
    std::mutex mutex;
    const auto note = [&](const std::string& where, CORBA::Long number) {
        const std::lock_guard lock(mutex);
        said.push_back(where + " " + std::to_string(number));
    };
    PI::Current_var at_client;
    PI::Current_var at_server;
    const auto add = [&](PI::ORBInitInfo_ptr info) {
        EXPECT_EQ(info->allocate_slot_id(), 0u);
        add_client(info, "A", nullptr,
                   {{"send_request",
                     [&](PI::ClientRequestInfo* ri) {
                         const CORBA::Long number = number_in(ri->get_slot(0));
                         note("send_request", number);
                         // The point has slots of its own.
                         note("point", number_in(at_client->get_slot(0)));
                         at_client->set_slot(0, any_of(99));
                         ri->add_request_service_context(context_of(mine, std::to_string(number)),
                                                         false);
                     }},
                    {"receive_reply", [&](PI::ClientRequestInfo* ri) {
                         note("receive_reply", number_in(ri->get_slot(0)));
                     }}});
        add_server(info, "X", nullptr,
                   {{"arrival",
                     [&](PI::ServerRequestInfo* ri) {
                         const IOP::ServiceContext_var context =
                             ri->get_request_service_context(mine);
                         ri->set_slot(0, any_of(std::stoi(text_of(context.in()))));
                     }},
                    {"receive_request",
                     [&](PI::ServerRequestInfo* ri) {
                         note("receive_request", number_in(ri->get_slot(0)));
                         note("its thread", number_in(at_server->get_slot(0)));
                     }},
                    {"send_reply", [&](PI::ServerRequestInfo* ri) {
                         note("send_reply", number_in(ri->get_slot(0)));
                     }}});
    };
    const Plan plan(add);
    RunningServer server("reactor");
    Client client;
    at_client = current_of(client.orb());
    at_server = current_of(server.orb());
    server.servant().action = [&] {
        note("servant", number_in(at_server->get_slot(0)));
        at_server->set_slot(0, any_of(2));
    };
    const Probe::Target_var target = client.target(server.reference());
    at_client->set_slot(0, any_of(1));
    target->act();
    EXPECT_EQ(number_in(at_client->get_slot(0)), 1); // whatever happened
    EXPECT_EQ(said, (Lines{"send_request 1", "point -1", "receive_request 1", "its thread 1",
                           "servant 1", "send_reply 2", "receive_reply 1"}));
    // The server's thread has its own again.
    said.clear();
    at_client->set_slot(0, any_of(5));
    server.servant().action = [&] { note("servant", number_in(at_server->get_slot(0))); };
    target->act();
    EXPECT_EQ(said[4], "servant 5");
    server.end();
}

} // namespace
} // namespace kairos::orb_testing
