// SPDX-License-Identifier: Apache-2.0
//
// What references say of real servers, and that whoever believes it gets there.
#include "tests/malformed/fixture.h"

#include "kairos/ior/profile.h"

namespace kairos::orb_testing {
namespace {

using Arguments = std::vector<std::string>;

/// A server with options of its own for where it is, and one object.
class Published {
  public:
    explicit Published(Arguments options) : orb_(make_orb(std::move(options)))
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var root = PortableServer::POA::_narrow(object);
        const PortableServer::POAManager_var manager = root->the_POAManager();
        manager->activate();
        const CORBA::Object_var reference = root->servant_to_reference(servant_);
        text_ = CORBA::String_var(orb_->object_to_string(reference)).in();
        ior_ = ior::from_string(text_).value();
    }
    ~Published() { orb_->destroy(); }
    Published(const Published&) = delete;
    Published& operator=(const Published&) = delete;

    /// Hosts of its reference, in the order in which clients try them.
    [[nodiscard]] Arguments hosts() const
    {
        Arguments hosts;
        for (const ior::Target& target : ior::targets(ior_))
            hosts.push_back(target.address.host);
        return hosts;
    }
    [[nodiscard]] std::size_t profiles() const { return ior_.profiles.size(); }
    [[nodiscard]] std::uint16_t port() const { return ior::targets(ior_).back().address.port; }
    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_; }
    /// What a ping from another ORB ends with.
    [[nodiscard]] std::string ping() const
    {
        Client client({"-ORBDebug", "0"});
        const Probe::Target_var target = client.target(text_);
        return outcome([&] { target->ping(); });
    }

  private:
    CORBA::ORB_var orb_;
    PortableServer::Servant_var<Servant> servant_ = new Servant;
    std::string text_;
    ior::Ior ior_;
};

const Arguments loopback{"-ORBDebug", "0", "-ORBListenEndpoints", "iiop://127.0.0.1"};

Arguments with(Arguments options, const Arguments& others)
{
    options.insert(options.end(), others.begin(), others.end());
    return options;
}

TEST(Published, AllAddressesAreTriedOneAfterTheOther)
{
    // Nobody listens at the first: all of 127.0.0.0/8 is this machine.
    const Arguments items{"-ORBPublish", "host=127.0.0.2,addresses"};
    const Published alternates(with(loopback, items));
    EXPECT_EQ(alternates.hosts(), (Arguments{"127.0.0.2", "127.0.0.1"}));
    EXPECT_EQ(alternates.profiles(), 1u);
    EXPECT_EQ(alternates.ping(), "ok");

    const Published profiles(with(loopback, with(items, {"-ORBPublishAs", "profiles"})));
    EXPECT_EQ(profiles.hosts(), alternates.hosts());
    EXPECT_EQ(profiles.profiles(), 2u);
    EXPECT_EQ(profiles.ping(), "ok");
}

TEST(Published, OldClientsGetAProfileEach)
{
    for (const char* version : {"1.0", "1.1"}) {
        const Published server(with(
            loopback, {"-ORBPublish", "host=127.0.0.2,addresses", "-ORBGIOPVersion", version}));
        EXPECT_EQ(server.profiles(), 2u);
        EXPECT_EQ(server.hosts(), (Arguments{"127.0.0.2", "127.0.0.1"}));
        EXPECT_EQ(server.ping(), "ok");
    }
}

TEST(Published, APlaceInFrontOfTheServer)
{
    const Published server(with(loopback, {"-ORBPublish", "host=gate.example:2809"}));
    EXPECT_EQ(server.hosts(), Arguments{"gate.example"});
    EXPECT_EQ(server.port(), 2809);
}

TEST(Published, EveryListenerOnceAndTaosOptionFirst)
{
    const Published server({"-ORBDebug", "0", "-ORBListenEndpoints",
                            "iiop://127.0.0.1/hostname_in_ior=gate.example;iiop://127.0.0.1",
                            "-ORBPublish", "addresses,addresses"});
    EXPECT_EQ(server.hosts(), (Arguments{"gate.example", "127.0.0.1"}));
}

TEST(Published, OfEveryInterfaceIsReachable)
{
    const Published server({"-ORBDebug", "0"});
    for (const std::string& host : server.hosts())
        EXPECT_FALSE(net::Address::parse(host, 0).value().is_any()) << host;
    EXPECT_EQ(server.ping(), "ok");
}

TEST(Published, OwnAddressesAreCollocated)
{
    Published server(with(loopback, {"-ORBPublish", "host=gate.example:1,addresses"}));
    for (const std::string& address :
         {std::string("gate.example:1"), "127.0.0.1:" + std::to_string(server.port())}) {
        const CORBA::Object_var object =
            server.orb()->string_to_object(("corbaloc::" + address + "/x").c_str());
        EXPECT_TRUE(object->_kairos_reference()->is_local()) << address;
    }
    const CORBA::Object_var other = server.orb()->string_to_object("corbaloc::127.0.0.1:1/x");
    EXPECT_FALSE(other->_kairos_reference()->is_local());
}

TEST(Published, IsSaidToWhoAsks)
{
    const LogLines log;
    const Arguments options{"-ORBListenEndpoints", "iiop://127.0.0.1", "-ORBPublish",
                            "host=gate.example:2809,host=[::1]:7"};
    const auto lines = [&](const Arguments& debug) {
        LogLines::forget();
        const Published server(with(options, debug));
        return LogLines::count("published in references: gate.example:2809, [::1]:7");
    };
    EXPECT_EQ(lines({"-ORBDebug", "1"}), 1u);
    EXPECT_EQ(lines({"-ORBDebug", "3"}), 1u);
    EXPECT_EQ(lines({"-ORBDebug", "0"}), 0u);
    EXPECT_EQ(lines({}), 0u);
}

} // namespace
} // namespace kairos::orb_testing
