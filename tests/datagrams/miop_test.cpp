// SPDX-License-Identifier: Apache-2.0
//
// Groups of objects, in a network of the test's own: several servers in this process and one in
// another, over IPv4 and IPv6, messages of one packet and of many; what comes that is no packet;
// and what callers get where a group cannot do what they want.
#include "tests/access/rules.h"
#include "tests/calls/process.h"
#include "tests/datagrams/fixture.h"
#include "tests/datagrams/namespace.h"

#include "kairos/corba/Messaging.h"
#include "kairos/datagrams/PortableGroup.h"
#include "kairos/datagrams/group.h"
#include "kairos/datagrams/packet.h"

#include <arpa/inet.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <net/if.h>

namespace kairos::orb_testing {
namespace {

/// Why there is no network for the test; empty if there is one.
std::string no_network; // NOLINT(cert-err58-cpp): set before the first test

class OwnNetwork : public ::testing::Environment {
  public:
    void SetUp() override
    {
        // A member in another process is in the network of the one that has started it.
        if (std::getenv("KAIROS_TEST_GROUP") == nullptr) no_network = enter_own_network();
    }
};
[[maybe_unused]] const auto* const own_network =
    ::testing::AddGlobalTestEnvironment(new OwnNetwork);

constexpr const char* ipv4_group = "corbaloc:miop:1.0@1.0-Sensors-1/239.192.7.1:5007";
constexpr const char* ipv6_group = "corbaloc:miop:1.0@1.0-Sensors-1/[ff15::7:1]:5007";

std::vector<std::string> options_of(const std::string& multicast = "interface=kairos0")
{
    return {"-ORBListenEndpoints", "iiop://127.0.0.1:0", "-ORBMulticast", multicast};
}

template <typename Call>
std::string told(Call call)
{
    try {
        call();
        return "ok";
    } catch (const CORBA::SystemException& exception) {
        return std::string(exception._rep_id()) + " " + std::to_string(exception.minor() & 0xfff) +
               ": " + exception.what();
    }
}

/// A server with an object that is in a group.
class MemberServer {
  public:
    explicit MemberServer(const char* group, const std::string& architecture = "worker-pool",
                          std::vector<std::string> options = options_of())
        : server_(architecture, std::move(options)),
          goa_(PortableGroup::GOA::_narrow(server_.poa())),
          group_(server_.orb()->string_to_object(group))
    {
        goa_->associate_reference_with_id(group_, server_.id());
    }
    [[nodiscard]] PortableGroup::GOA_ptr goa() { return goa_; }
    [[nodiscard]] CORBA::Object_ptr group() { return group_; }
    [[nodiscard]] ListenerServer& server() { return server_; }
    [[nodiscard]] ListenerServant& servant() { return server_.servant(); }

  private:
    ListenerServer server_;
    PortableGroup::GOA_var goa_;
    CORBA::Object_var group_;
};

class Groups : public ::testing::Test {
  protected:
    void SetUp() override
    {
        if (!no_network.empty()) GTEST_SKIP() << no_network;
    }
};
class GroupsByFamily : public Groups, public ::testing::WithParamInterface<const char*> {};

/// Serves until its input ends, and writes what it has heard of, a line each.
TEST(Roles, DISABLED_Member)
{
    const char* const group = std::getenv("KAIROS_TEST_GROUP");
    ASSERT_NE(group, nullptr);
    MemberServer member(group);
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);)
        std::cout << (member.servant().wait_for(line) ? member.servant().count(line) : 0)
                  << std::endl;
}

/// A member in another process.
class OtherProcess {
  public:
    explicit OtherProcess(const char* group) : process_(start(group))
    {
        while (true) {
            const std::string line = process_.read_line();
            EXPECT_FALSE(line.empty()) << "the other process has ended";
            if (line == "ready" || line.empty()) break;
        }
    }
    /// How often it has heard that, after waiting until it has.
    [[nodiscard]] std::string count(const std::string& line)
    {
        process_.write_line(line);
        return process_.read_line();
    }
    ~OtherProcess()
    {
        process_.end_input();
        (void)process_.read_all();
        EXPECT_EQ(process_.wait(), 0);
    }
    OtherProcess(const OtherProcess&) = delete;
    OtherProcess& operator=(const OtherProcess&) = delete;

  private:
    static std::vector<std::string> start(const char* group)
    {
        ::setenv("KAIROS_TEST_GROUP", group, 1);
        return {"/proc/self/exe", "--gtest_also_run_disabled_tests",
                "--gtest_filter=Roles.DISABLED_Member"};
    }
    calls::Process process_;
};

TEST_P(GroupsByFamily, OneMessageReachesEveryMemberOnce)
{
    MemberServer one(GetParam());
    MemberServer other(GetParam(), "thread-per-connection");
    OtherProcess elsewhere(GetParam());

    // A second object of the first server, and one of a POA whose ids the program makes.
    PortableServer::Servant_var<ListenerServant> second = new ListenerServant;
    const PortableServer::ObjectId_var second_id = one.goa()->create_id_for_reference(one.group());
    one.goa()->activate_object_with_id(second_id, second);
    CORBA::PolicyList policies(1);
    policies.length(1);
    policies[0] = one.goa()->create_id_assignment_policy(PortableServer::USER_ID);
    const PortableServer::POAManager_var manager = one.goa()->the_POAManager();
    const PortableServer::POA_var child = one.goa()->create_POA("child", manager, policies);
    const PortableGroup::GOA_var child_goa = PortableGroup::GOA::_narrow(child);
    PortableServer::Servant_var<ListenerServant> third = new ListenerServant;
    const PortableServer::ObjectId_var third_id = child_goa->create_id_for_reference(one.group());
    child_goa->activate_object_with_id(third_id, third);
    const PortableGroup::IDs_var ids = one.goa()->reference_to_ids(one.group());
    EXPECT_EQ(ids->length(), 2u) << "of this POA";

    for (const char* connection : {"non-multiplexed", "leader-followers", "active"}) {
        ListenerClient client(
            {"-ORBConnection", connection, "-ORBMulticast", "interface=kairos0,packet=1024"});
        const Sensors::Listener_var there = client.target(GetParam());
        const std::string word = "by " + std::string(connection);
        there->said(word.c_str());
        const auto size = static_cast<CORBA::ULong>(20'000 + word.size()); // of many packets
        Sensors::Samples samples(size);
        samples.length(size);
        for (CORBA::ULong i = 0; i < size; ++i)
            samples[i] = static_cast<CORBA::Octet>(i % 251);
        there->measured(7, samples);
        const std::string after = word + ", after it";
        there->said(after.c_str());
        const std::string measured = "measured 7 of " + std::to_string(size);
        for (const std::string& line : {"said " + word, measured, "said " + after}) {
            for (ListenerServant* servant :
                 {&one.servant(), &other.servant(), second.in(), third.in()}) {
                ASSERT_TRUE(servant->wait_for(line)) << line;
                EXPECT_EQ(servant->count(line), 1u) << line;
            }
            EXPECT_EQ(elsewhere.count(line), "1") << line;
        }
    }
}
INSTANTIATE_TEST_SUITE_P(Families, GroupsByFamily, ::testing::Values(ipv4_group, ipv6_group),
                         [](const auto& info) {
                             return info.param == ipv4_group ? "ipv4" : "ipv6";
                         });

TEST_F(Groups, AreLeftAndJoinedAgain)
{
    MemberServer leaves(ipv4_group);
    MemberServer stays(ipv4_group);
    ListenerClient client({"-ORBMulticast", "interface=kairos0"});
    const Sensors::Listener_var there = client.target(ipv4_group);
    there->said("first");
    EXPECT_TRUE(leaves.servant().wait_for("said first"));
    leaves.goa()->disassociate_reference_with_id(leaves.group(), leaves.server().id());
    leaves.goa()->disassociate_reference_with_id(leaves.group(), leaves.server().id());
    EXPECT_EQ(PortableGroup::IDs_var(leaves.goa()->reference_to_ids(leaves.group()))->length(), 0u);
    there->said("second");
    EXPECT_TRUE(stays.servant().wait_for("said second"));
    leaves.goa()->associate_reference_with_id(leaves.group(), leaves.server().id());
    leaves.goa()->associate_reference_with_id(leaves.group(), leaves.server().id());
    const PortableGroup::IDs_var ids = leaves.goa()->reference_to_ids(leaves.group());
    ASSERT_EQ(ids->length(), 1u);
    EXPECT_TRUE(std::ranges::equal(
        std::span(ids[0u].get_buffer(), ids[0u].length()),
        std::span(leaves.server().id().get_buffer(), leaves.server().id().length())));
    there->said("third");
    EXPECT_TRUE(leaves.servant().wait_for("said third"));
    EXPECT_EQ(leaves.servant().count("said third"), 1u);
    EXPECT_EQ(leaves.servant().count("said second"), 0u);
}

/// Two groups may share an address.
TEST_F(Groups, OthersAtTheSameAddressAreOthers)
{
    MemberServer first(ipv4_group);
    MemberServer second("corbaloc:miop:1.0-Sensors-2/239.192.7.1:5007");
    const LogLines log;
    ListenerClient client({"-ORBMulticast", "interface=kairos0"});
    const Sensors::Listener_var to_first = client.target(ipv4_group);
    const Sensors::Listener_var to_second =
        client.target("corbaloc:miop:1.0-Sensors-2-9/239.192.7.1:5007"); // a later reference
    to_first->said("to the first");
    to_second->said("to the second");
    EXPECT_TRUE(second.servant().wait_for("said to the second"));
    EXPECT_TRUE(first.servant().wait_for("said to the first"));
    EXPECT_TRUE(LogLines::wait_for("was dropped: nobody here is in its group"));
    to_first->said("the end");
    EXPECT_TRUE(first.servant().wait_for("said the end"));
    EXPECT_EQ(first.servant().count("said to the second"), 0u);
    EXPECT_EQ(second.servant().count("said to the first"), 0u);
}

TEST_F(Groups, AnswerNothing)
{
    MemberServer member(ipv4_group);
    ListenerClient client({"-ORBMulticast", "interface=kairos0"});
    const Sensors::Listener_var there = client.target(ipv4_group);
    const std::string refused = "IDL:omg.org/CORBA/NO_IMPLEMENT:1.0 34";
    EXPECT_EQ(told([&] { (void)there->heard(); }).rfind(refused, 0), 0u);
    EXPECT_EQ(told([&] { (void)there->_non_existent(); }).rfind(refused, 0), 0u);
    EXPECT_EQ(told([&] { (void)there->_is_a("IDL:Other:1.0"); }).rfind(refused, 0), 0u);
    there->said("still there");
    EXPECT_TRUE(member.servant().wait_for("said still there"));
    EXPECT_EQ(PortableGroup::IDs_var(member.goa()->reference_to_ids(member.group()))->length(), 1u);
}

/// A call of the server's own process goes to the whole group, by the network.
TEST_F(Groups, MembersCallTheirOwnGroup)
{
    MemberServer one(ipv4_group);
    MemberServer other(ipv4_group);
    const Sensors::Listener_var group = Sensors::Listener::_unchecked_narrow(one.group());
    group->said("to all of us");
    EXPECT_TRUE(one.servant().wait_for("said to all of us"));
    EXPECT_TRUE(other.servant().wait_for("said to all of us"));
    EXPECT_EQ(one.servant().count("said to all of us"), 1u);
}

TEST_F(Groups, OfReferencesThatAreOfNone)
{
    MemberServer member(ipv4_group);
    const CORBA::Object_var single =
        member.server().orb()->string_to_object(member.server().reference().c_str());
    for (CORBA::Object_ptr object : {single.in(), CORBA::Object::_nil()}) {
        EXPECT_THROW((void)member.goa()->create_id_for_reference(object),
                     PortableGroup::NotAGroupObject);
        EXPECT_THROW((void)member.goa()->reference_to_ids(object), PortableGroup::NotAGroupObject);
        EXPECT_THROW(member.goa()->associate_reference_with_id(object, member.server().id()),
                     PortableGroup::NotAGroupObject);
        EXPECT_THROW(member.goa()->disassociate_reference_with_id(object, member.server().id()),
                     PortableGroup::NotAGroupObject);
    }
    EXPECT_TRUE(CORBA::is_nil(PortableGroup::GOA::_narrow(single)));
    PortableServer::ObjectId foreign(3);
    foreign.length(3);
    EXPECT_EQ(told([&] {
                  member.goa()->associate_reference_with_id(member.group(), foreign);
              }).rfind("IDL:omg.org/CORBA/BAD_PARAM:1.0 14", 0),
              0u);
}

TEST_F(Groups, AreKeptInReferencesAsTheyCame)
{
    ListenerClient client;
    datagrams::GroupProfile profile{.name = {"Sensors", 4},
                                    .reference_version = 3,
                                    .address = {"239.192.7.9", 5009},
                                    .components = {{0x12345, ior::OctetVector(5, std::byte{6})}}};
    const std::string text = ior::to_string(
        {.type_id = "IDL:X:1.0", .profiles = {datagrams::make_group_profile(profile)}});
    const CORBA::Object_var object = client.orb()->string_to_object(text.c_str());
    EXPECT_EQ(std::string(CORBA::String_var(client.orb()->object_to_string(object)).in()), text);
    const CORBA::Object_var same = client.orb()->string_to_object(text.c_str());
    EXPECT_TRUE(object->_is_equivalent(same));
    const CORBA::Object_var url = client.orb()->string_to_object(ipv4_group);
    EXPECT_FALSE(object->_is_equivalent(url));
    EXPECT_EQ(told([&] {
                  (void)client.orb()->string_to_object("corbaloc:miop:1.0-d-1/10.0.0.1:9");
              }).rfind("IDL:omg.org/CORBA/BAD_PARAM:1.0 9", 0),
              0u);
}

TEST_F(Groups, AreRefusedByArchitecturesThatPromiseOtherwise)
{
    const std::string why = told([] { MemberServer member(ipv4_group, "reactor"); });
    EXPECT_EQ(why.rfind("IDL:omg.org/CORBA/NO_RESOURCES:1.0", 0), 0u) << why;
    EXPECT_NE(why.find("promises that servants need no locks"), std::string::npos) << why;
}

TEST_F(Groups, SettingsAreChecked)
{
    for (const char* bad : {"interface=no-such-0", "ttl=400", "nonsense"})
        EXPECT_NE(told([&] {
                      ListenerClient client({"-ORBMulticast", bad});
                  }).find("-ORBMulticast"),
                  std::string::npos)
            << bad;
}

/// The socket of this process that sends to this address.
int socket_to(const net::Address& where)
{
    for (int descriptor = 3; descriptor < 1024; ++descriptor) {
        sockaddr_storage native{};
        socklen_t size = sizeof native;
        if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&native), &size) != 0) continue;
        if (net::Address::from_native(reinterpret_cast<sockaddr*>(&native), size) == where)
            return descriptor;
    }
    return -1;
}

int option_of(int descriptor, int level, int name)
{
    int value = -1;
    socklen_t size = sizeof value;
    EXPECT_EQ(::getsockopt(descriptor, level, name, &value, &size), 0);
    return value;
}

TEST_F(Groups, SettingsHoldForWhatIsSent)
{
    for (const char* group : {ipv4_group, ipv6_group}) {
        MemberServer member(group);
        ListenerClient client({"-ORBMulticast", "interface=kairos0,ttl=9,loopback=0"});
        const Sensors::Listener_var there = client.target(group);
        there->said("to others");
        const auto url = datagrams::parse_group_url(group);
        const auto where = datagrams::multicast_address(datagrams::group_of(**url)->address);
        const int socket = socket_to(*where);
        ASSERT_GE(socket, 0) << group;
        if (group == ipv4_group) {
            EXPECT_EQ(option_of(socket, IPPROTO_IP, IP_MULTICAST_TTL), 9);
            EXPECT_EQ(option_of(socket, IPPROTO_IP, IP_MULTICAST_LOOP), 0);
        } else {
            EXPECT_EQ(option_of(socket, IPPROTO_IPV6, IPV6_MULTICAST_HOPS), 9);
            EXPECT_EQ(option_of(socket, IPPROTO_IPV6, IPV6_MULTICAST_LOOP), 0);
            EXPECT_EQ(option_of(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF),
                      static_cast<int>(::if_nametoindex("kairos0")));
        }
        const Sensors::Listener_var by_others =
            Sensors::Listener::_unchecked_narrow(member.group());
        by_others->said("to us");
        EXPECT_TRUE(member.servant().wait_for("said to us"));
        EXPECT_EQ(member.servant().count("said to others"), 0u);
    }
}

/// Sends octets to the group, and hears what others send to it.
class RawMember {
  public:
    RawMember()
    {
        const int yes = 1;
        address_.sin_family = AF_INET;
        address_.sin_port = htons(5007);
        ::inet_pton(AF_INET, "239.192.7.1", &address_.sin_addr);
        ip_mreqn membership{};
        membership.imr_multiaddr = address_.sin_addr;
        membership.imr_ifindex = static_cast<int>(::if_nametoindex("kairos0"));
        const int descriptor = socket_.descriptor();
        EXPECT_EQ(::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), 0);
        EXPECT_EQ(::bind(descriptor, native(), sizeof address_), 0);
        EXPECT_EQ(
            ::setsockopt(descriptor, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership),
            0);
        EXPECT_EQ(
            ::setsockopt(descriptor, IPPROTO_IP, IP_MULTICAST_IF, &membership, sizeof membership),
            0);
    }
    void send(Bytes octets)
    {
        EXPECT_EQ(::sendto(socket_.descriptor(), octets.data(), octets.size(), 0, native(),
                           sizeof address_),
                  static_cast<ssize_t>(octets.size()));
    }
    [[nodiscard]] Octets receive()
    {
        Octets octets(65'536);
        EXPECT_TRUE(socket_.wait_readable(patience).ok());
        const ssize_t size =
            ::recv(socket_.descriptor(), octets.data(), octets.size(), MSG_DONTWAIT);
        octets.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
        return octets;
    }

  private:
    [[nodiscard]] const sockaddr* native() const
    {
        return reinterpret_cast<const sockaddr*>(&address_);
    }
    net::Socket socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    sockaddr_in address_{};
};

TEST_F(Groups, DropAndCountWhatIsNoMessage)
{
    const LogLines log;
    MemberServer member(ipv4_group);
    ListenerClient client({"-ORBMulticast", "interface=kairos0"});
    const Sensors::Listener_var there = client.target(ipv4_group);
    RawMember raw;
    there->said("as it is");
    const Octets good = raw.receive();
    ASSERT_GT(good.size(), datagrams::own_header_size + 24);
    EXPECT_TRUE(member.servant().wait_for("said as it is"));

    const auto before = datagrams::figures();
    const auto changed = [&](std::size_t at, unsigned value, std::uint8_t id) {
        Octets octets = good;
        octets[at] = static_cast<std::byte>(value);
        octets[20] ^= static_cast<std::byte>(id); // another message
        return octets;
    };
    constexpr std::size_t giop = datagrams::own_header_size;
    std::vector<Octets> bad{
        Octets(3),                               // too short
        changed(0, 'm', 1),                      // no packet
        changed(giop, 'g', 2),                   // no GIOP
        changed(giop + 16, 3, 3),                // expects an answer
        changed(giop + 20, 0, 4),                // names its target by a key, which is none
        changed(giop + 7, 1, 5),                 // a Reply
        changed(giop + 24, 0, 6),                // another profile
        changed(giop + 7, 7, 7),                 // a Fragment
        Octets(good.begin() + giop, good.end()), // no packet around it
    };
    for (const Octets& each : bad)
        raw.send(each);
    raw.send(good); // from another sender, so it is another message
    raw.send(good);
    there->said("the end");
    EXPECT_TRUE(member.servant().wait_for("said the end"));
    EXPECT_EQ(datagrams::figures().dropped - before.dropped, bad.size());
    EXPECT_EQ(datagrams::figures().repeated - before.repeated, 1u);
    EXPECT_EQ(member.servant().count("said as it is"), 2u);
    EXPECT_TRUE(LogLines::wait_for("was dropped: it does not begin with MIOP"));
    EXPECT_TRUE(LogLines::wait_for("was dropped: it expects an answer"));
    EXPECT_TRUE(LogLines::wait_for("was dropped: its target is no group"));
}

TEST_F(Groups, WhereAPacketComesFromProvesNothing)
{
    const LogLines log;
    const access_testing::RulesFile rules(R"([[rule]]
who = ["network:10.77.0.0/16", "local"]
allow = "**"
[[rule]]
who = "anyone"
allow = "measured")");
    std::vector<std::string> options = options_of();
    std::ranges::move(rules.options(), std::back_inserter(options));
    MemberServer member(ipv4_group, "worker-pool", std::move(options));
    ListenerClient client({"-ORBMulticast", "interface=kairos0"});
    const Sensors::Listener_var there = client.target(ipv4_group);
    there->said("let me in");
    there->measured(1, Sensors::Samples());
    EXPECT_TRUE(member.servant().wait_for("measured 1 of 0"));
    EXPECT_EQ(member.servant().count("said let me in"), 0u);
    EXPECT_EQ(LogLines::count("from=\"none\""), 1u);
}

#ifdef TSHARK
/// A second opinion: Wireshark's dissector, over the packets of a message in several of them.
TEST_F(Groups, WiresharkUnderstandsThePackets)
{
    RawMember raw;
    ListenerClient client({"-ORBMulticast", "interface=kairos0,packet=512"});
    const Sensors::Listener_var there = client.target(ipv4_group);
    Sensors::Samples samples(2000);
    samples.length(2000);
    there->said("one");
    there->measured(1, samples);
    const std::string path =
        ::testing::TempDir() + "kairos-miop-" + std::to_string(::getpid()) + ".pcap";
    std::ofstream file(path, std::ios::binary);
    const auto put = [&](auto value) {
        file.write(reinterpret_cast<const char*>(&value), sizeof value);
    };
    put(std::uint32_t{0xa1b2c3d4});
    put(std::uint16_t{2});
    put(std::uint16_t{4});
    put(std::uint64_t{0});
    put(std::uint32_t{65'535});
    put(std::uint32_t{101}); // raw IP
    std::size_t packets = 0;
    for (bool is_last = false; !is_last || packets < 2; ++packets) {
        const Octets octets = raw.receive();
        ASSERT_GT(octets.size(), datagrams::own_header_size);
        is_last = (std::to_integer<unsigned>(octets[5]) & 2) != 0;
        const auto size = static_cast<std::uint32_t>(28 + octets.size());
        put(std::uint64_t{0});
        put(size);
        put(size);
        put(htons(0x4500));
        put(htons(static_cast<std::uint16_t>(size)));
        put(std::uint32_t{0});
        put(htonl(0x01110000));
        put(htonl(INADDR_LOOPBACK));
        put(htonl(0xEFC00701));
        put(htons(40'000));
        put(htons(5007));
        put(htons(static_cast<std::uint16_t>(8 + octets.size())));
        put(std::uint16_t{0});
        file.write(reinterpret_cast<const char*>(octets.data()),
                   static_cast<std::streamsize>(octets.size()));
    }
    file.close();
    EXPECT_GT(packets, 5u);
    calls::Process tshark({TSHARK, "-n", "-r", path, "-T", "fields", "-E", "separator=;", "-e",
                           "miop.packet_number", "-e", "miop.number_of_packets", "-e",
                           "miop.unique_id_len", "-e", "giop.type", "-e", "_ws.malformed"});
    const std::string said = tshark.read_all();
    EXPECT_EQ(tshark.wait(), 0);
    std::string expected = "0;1;12;0;\n";
    for (std::size_t i = 0; i + 1 < packets; ++i)
        expected += std::to_string(i) + ";" + std::to_string(packets - 1) + ";12;" +
                    (i == 0 ? "0" : "") + ";\n";
    EXPECT_EQ(said, expected);
    std::filesystem::remove(path);
}
#endif

} // namespace
} // namespace kairos::orb_testing
