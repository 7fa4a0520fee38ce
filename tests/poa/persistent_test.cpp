// SPDX-License-Identifier: Apache-2.0
//
// References to persistent objects, which outlive the server that made them (CORBA 3.3 part 1,
// 15.3.8.2), and LOCATION_FORWARD between servers.
#include "tests/calls/process.h"
#include "tests/poa/fixture.h"

#include "kairos/ior/profile.h"

namespace kairos::poa_testing {
namespace {

using namespace PortableServer;
using orb_testing::Servant;

/// A process of persistent_server.cpp.
class Server {
  public:
    explicit Server(std::uint16_t port, bool lazy = false, const char* plain_keys = "0")
        : process_({PERSISTENT_SERVER, lazy ? "--lazy" : "--eager", "-ORBDebug", "0",
                    "-ORBPlainKeys", plain_keys, "-ORBListenEndpoints",
                    "iiop://127.0.0.1:" + std::to_string(port)})
    {
        reference = process_.read_line();
    }
    ~Server() { EXPECT_EQ(process_.stop(), 0); }

    std::string reference;

  private:
    calls::Process process_;
};

TEST(Persistent, ReferencesAreValidInTheNextRun)
{
    Client client({"-ORBDebug", "0"});
    const orb_testing::HeldPorts held(1);
    const std::uint16_t port = held.port();
    std::string reference;
    {
        Server first(port);
        ASSERT_FALSE(first.reference.empty());
        reference = first.reference;
        const Probe::Target_var target = client.target(reference);
        EXPECT_EQ(target->add(1, 2), 3);
    }
    const Probe::Target_var target = client.target(reference);
    EXPECT_EQ(outcome([&] { target->ping(); }).substr(0, 9), "TRANSIENT") << "nobody is there";
    {
        Server second(port);
        ASSERT_FALSE(second.reference.empty());
        EXPECT_EQ(second.reference, reference);
        EXPECT_EQ(target->add(3, 4), 7);
    }
    {
        Server third(port, true); // its POAs are made by the request
        ASSERT_FALSE(third.reference.empty());
        Client other({"-ORBDebug", "0"});
        const Probe::Target_var located = other.target(reference);
        EXPECT_TRUE(located->_validate_connection());
        EXPECT_EQ(target->add(5, 6), 11);
    }
}

TEST(Persistent, PlainKeysAreValidInTheNextRun)
{
    Client client({"-ORBDebug", "0"});
    const orb_testing::HeldPorts held(1);
    const std::uint16_t port = held.port();
    {
        Server first(port, false, "1");
        ASSERT_FALSE(first.reference.empty());
    }
    Server second(port, true, "1");
    ASSERT_FALSE(second.reference.empty());
    const Probe::Target_var target =
        client.target("corbaloc::127.0.0.1:" + std::to_string(port) + "/outer/inner/object");
    EXPECT_EQ(target->add(1, 2), 3);
}

TEST(Persistent, TransientReferencesAreNot)
{
    Client client({"-ORBDebug", "0"});
    const orb_testing::HeldPorts held(1);
    const std::uint16_t port = held.port();
    std::string reference;
    {
        Server first(port, true);
        reference = first.reference;
    }
    Server second(port, true);
    const Probe::Target_var target = client.target(reference);
    EXPECT_EQ(outcome([&] { target->ping(); }), no_object);
    EXPECT_NE(second.reference, reference);
}

TEST(Persistent, KeysSayNothingElse)
{
    for (const auto from : everywhere) {
        World world(from);
        const POA_var a = world.poa("a", Policies(world.root()) << PERSISTENT << USER_ID);
        Servant_var<Servant> servant = new Servant;
        a->activate_object_with_id(id_of("x"), servant);
        const auto key = [](std::vector<std::string> names, const std::string& id) {
            std::vector<std::byte> path;
            for (const std::string& name : names)
                path = ior::PersistentKey::path_of(path, name);
            if (names.empty()) path.resize(2);
            return ior::PersistentKey{path, as_bytes(id)}.encode();
        };
        const CORBA::Object_var object = a->id_to_reference(id_of("x"));
        const auto& core = *object->_kairos_reference();
        EXPECT_EQ(as_text(core.object_key()), as_text(key({"a"}, "x")));
        const auto ping = [&](const std::vector<std::byte>& octets) {
            ior::Ior ior{.type_id = target_id, .profiles = {}};
            ior::IiopProfile profile{.version = {1, 2},
                                     .host = "127.0.0.1",
                                     .port = core.targets().front().endpoint->port(),
                                     .object_key = {octets.begin(), octets.end()},
                                     .components = {}};
            ior.profiles.push_back(ior::encode_iiop(profile));
            const CORBA::Object_var made =
                world.orb()->string_to_object(ior::to_string(ior).c_str());
            return world.ping(made);
        };
        EXPECT_EQ(ping(key({"a"}, "x")), "ok");
        EXPECT_EQ(ping(key({"a"}, "y")), no_object);
        EXPECT_EQ(ping(key({"a", "b"}, "x")), no_adapter);
        EXPECT_EQ(ping(key({"b"}, "x")), no_adapter);
        EXPECT_EQ(ping(key({}, "x")), no_adapter) << "the RootPOA has no persistent objects";
        auto shortened = key({"a"}, "");
        shortened.pop_back();
        EXPECT_EQ(ping(shortened), no_object) << "not a key at all";
        const POA_var transient = world.poa("t", Policies(world.root()) << USER_ID);
        transient->activate_object_with_id(id_of("x"), servant);
        EXPECT_EQ(ping(key({"t"}, "x")), no_adapter);
        EXPECT_EQ(servant->calls, 1u);
    }
}

/// A locator that sends everybody elsewhere.
class Forwarder final : public virtual ServantLocator {
  public:
    PortableServer::Servant preinvoke(const ObjectId&, POA_ptr, const char*, Cookie&) override
    {
        ++asked;
        throw ForwardRequest(target);
    }
    void postinvoke(const ObjectId&, POA_ptr, const char*, Cookie, PortableServer::Servant) override
    {
    }
    CORBA::Object_var target;
    std::atomic<int> asked{0};
};

TEST(Forwards, LeadToAnotherServerAndBackWhenItIsGone)
{
    World world(From::other_orb);
    const POA_var poa =
        world.poa("poa", Policies(world.root()) << NON_RETAIN << USER_ID << USE_SERVANT_MANAGER);
    auto* forwarder = new Forwarder;
    const ServantLocator_var kept = forwarder;
    poa->set_servant_manager(forwarder);
    const CORBA::Object_var object = poa->create_reference_with_id(id_of("x"), target_id);
    const Probe::Target_var target = world.seen(object);
    {
        Server elsewhere(0);
        forwarder->target = world.orb()->string_to_object(elsewhere.reference.c_str());
        EXPECT_EQ(target->add(1, 2), 3);
        EXPECT_EQ(target->add(3, 4), 7);
        EXPECT_EQ(forwarder->asked, 1);
    }
    // The client asks again where it came from, which knows of another place by now.
    Servant_var<Servant> here = new Servant;
    forwarder->target = world.root()->servant_to_reference(here);
    EXPECT_EQ(target->add(5, 6), 11);
    EXPECT_EQ(here->calls, 1u);
    EXPECT_EQ(forwarder->asked, 2);
}

TEST(Forwards, ToAndFroEndAtSomeTime)
{
    World world(From::other_orb);
    const POA_var poa =
        world.poa("poa", Policies(world.root()) << NON_RETAIN << USER_ID << USE_SERVANT_MANAGER);
    auto* forwarder = new Forwarder;
    const ServantLocator_var kept = forwarder;
    poa->set_servant_manager(forwarder);
    forwarder->target = poa->create_reference_with_id(id_of("x"), target_id);
    EXPECT_EQ(world.ping(forwarder->target), "TRANSIENT 0x4b520006 NO");
    forwarder->target = CORBA::Object::_nil(); // it had an owner of the POA's ORB
}

} // namespace
} // namespace kairos::poa_testing
