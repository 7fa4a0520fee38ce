// SPDX-License-Identifier: Apache-2.0
//
// Real-time event channels in a multicast group, in a network of the test's own: what goes through
// and how often, what stays where it is, what others than channels send, what is counted, and the
// tool's processes.
#include "kairos/datagrams/PortableGroup.h"
#include "kairos/events/channel_testing.h"
#include "kairos/rtevents/RtecEventChannelAdmin_skel.h"
#include "kairos/rtevents/channel.h"
#include "kairos/rtevents/event_types.h"
#include "kairos/rtevents/multicast.h"
#include "tests/datagrams/namespace.h"
#ifdef KAIROS_TOOL
#include "tools/kairos/daemon_testing.h"
#endif

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kairos::rtevents {
namespace {

using namespace RtecEventChannelAdmin;
using events::LogLines;
using events::Notes;
using events::TestOrb;
using PortableServer::Servant_var;
using RtecEventComm::EventSet;
using Lines = std::vector<std::string>;

/// Why there is no network for the test; empty if there is one.
std::string no_network; // NOLINT(cert-err58-cpp): set before the first test

class EventsNetwork : public ::testing::Environment {
  public:
    void SetUp() override { no_network = orb_testing::enter_own_network(); }
};
[[maybe_unused]] const auto* const events_network =
    ::testing::AddGlobalTestEnvironment(new EventsNetwork);

constexpr CORBA::Long plot = own_types_begin;
constexpr CORBA::Long track = plot + 1;
constexpr CORBA::Long last = 1'000'000; // the source of what a test waits for
constexpr const char* ipv4_group = "corbaloc:miop:1.0@1.0-Radar-7/239.192.7.7:5017";
constexpr const char* ipv6_group = "corbaloc:miop:1.0@1.0-Radar-7/[ff15::7:7]:5017";

/// Remembers what it is pushed, as "type/source ttl".
class Hearing final : public POA_RtecEventComm::PushConsumer {
  public:
    void push(const EventSet& events) override
    {
        notes_.change([&] {
            for (CORBA::ULong i = 0; i < events.length(); ++i) {
                const RtecEventComm::EventHeader& header = events[i].header;
                heard_.push_back(std::to_string(header.type) + "/" + std::to_string(header.source) +
                                 " " + std::to_string(header.ttl));
                headers_.push_back(header);
                const char* text = nullptr;
                if (events[i].data.any_value >>= text) heard_.back() += std::string(" ") + text;
            }
        });
    }
    void disconnect_push_consumer() override {}
    /// These, each as often as it is here, in whatever order datagrams come.
    [[nodiscard]] bool hears(Lines all)
    {
        Lines heard;
        (void)notes_.wait([&] {
            heard = heard_;
            return heard_.size() >= all.size();
        });
        std::ranges::sort(all);
        std::ranges::sort(heard);
        return heard == all;
    }
    [[nodiscard]] bool hears_of(const std::string& line)
    {
        return notes_.wait([&] { return std::ranges::count(heard_, line) != 0; });
    }
    [[nodiscard]] std::size_t count()
    {
        std::size_t count = 0;
        notes_.change([&] { count = heard_.size(); });
        return count;
    }
    [[nodiscard]] std::vector<RtecEventComm::EventHeader> headers()
    {
        std::vector<RtecEventComm::EventHeader> all;
        notes_.change([&] { all = headers_; });
        return all;
    }

  private:
    Notes notes_; // guards what follows
    Lines heard_;
    std::vector<RtecEventComm::EventHeader> headers_;
};

class Supplying final : public POA_RtecEventComm::PushSupplier {
  public:
    void disconnect_push_supplier() override {}
};

std::vector<std::string> by_interface(const std::string& name = "kairos0")
{
    return {"-ORBMulticast", "interface=" + name};
}

RtecEventComm::Event event_of(CORBA::Long type, CORBA::Long source, CORBA::Long ttl,
                              CORBA::ULong octets = 8)
{
    RtecEventComm::Event event{};
    event.header.type = type;
    event.header.source = source;
    event.header.ttl = ttl;
    event.data.payload.length(octets);
    return event;
}

EventSet set_of(const std::vector<RtecEventComm::Event>& events)
{
    EventSet set;
    set.length(static_cast<CORBA::ULong>(events.size()));
    for (CORBA::ULong i = 0; i < set.length(); ++i)
        set[i] = events[i];
    return set;
}

/// A channel of an ORB of its own, with a consumer of everything and a supplier.
class Site {
  public:
    explicit Site(ChannelOptions options, std::vector<std::string> more = by_interface())
        : orb_(std::move(more)), channel_(orb_.in(), options, "Site")
    {
        const EventChannel_var channel = channel_.reference();
        const ConsumerAdmin_var consumers = channel->for_consumers();
        const ProxyPushSupplier_var out = consumers->obtain_push_supplier();
        ConsumerQOS wishes;
        wishes.is_gateway = false;
        wishes.dependencies.length(1);
        wishes.dependencies[0] = {};
        wishes.dependencies[0].event.header.type = everything;
        const auto consumer = orb_.activate<RtecEventComm::PushConsumer>(hearing_.in());
        out->connect_push_consumer(consumer.in(), wishes);
        const SupplierAdmin_var suppliers = channel->for_suppliers();
        const ProxyPushConsumer_var in = suppliers->obtain_push_consumer();
        in_ = client_.here<ProxyPushConsumer>(in.in(), orb_.in());
        SupplierQOS publications;
        publications.is_gateway = false;
        const auto supplier = client_.activate<RtecEventComm::PushSupplier>(supplying_.in());
        in_->connect_push_supplier(supplier.in(), publications);
    }
    void push(const std::vector<RtecEventComm::Event>& events) { in_->push(set_of(events)); }
    void push(const RtecEventComm::Event& event) { push(std::vector{event}); }
    [[nodiscard]] Hearing& hearing() { return *hearing_.in(); }
    [[nodiscard]] MulticastFigures figures() const { return channel_.figures().multicast; }
    /// Waits for what is counted a little later than others hear of it.
    template <typename Figure>
    [[nodiscard]] bool counts(Figure figure, std::uint64_t count) const
    {
        while (figures().*figure < count)
            std::this_thread::yield();
        return figures().*figure == count;
    }
    [[nodiscard]] const TestOrb& orb() const { return orb_; }

  private:
    Servant_var<Hearing> hearing_{new Hearing};
    Servant_var<Supplying> supplying_{new Supplying};
    const TestOrb orb_;
    const RealTimeEventChannel channel_;
    const TestOrb client_; // of the supplier
    ProxyPushConsumer_var in_;
};

/// A program that has no channel: it is in the group by itself, and sends there.
class Outsider {
  public:
    explicit Outsider(const char* group = ipv4_group) : orb_(by_interface())
    {
        const CORBA::Object_var object = orb_->string_to_object(group);
        group_ = RtecEventComm::PushConsumer::_unchecked_narrow(object.in());
        const PortableGroup::GOA_var goa = PortableGroup::GOA::_narrow(orb_.poa());
        const PortableServer::ObjectId_var id = goa->create_id_for_reference(object.in());
        goa->activate_object_with_id(id.in(), hearing_.in());
    }
    void push(const std::vector<RtecEventComm::Event>& events) { group_->push(set_of(events)); }
    [[nodiscard]] Hearing& hearing() { return *hearing_.in(); }

  private:
    Servant_var<Hearing> hearing_{new Hearing};
    const TestOrb orb_;
    RtecEventComm::PushConsumer_var group_;
};

class RtMulticast : public ::testing::Test {
  protected:
    void SetUp() override
    {
        if (!no_network.empty()) GTEST_SKIP() << no_network;
    }
    [[nodiscard]] static ChannelOptions options_of(Dispatching dispatching = Dispatching::reactive,
                                                   const char* group = ipv4_group)
    {
        ChannelOptions options;
        options.dispatching = dispatching;
        options.multicast = group;
        return options;
    }
};

using Way = std::pair<Dispatching, const char*>;
class RtMulticastWays : public RtMulticast, public ::testing::WithParamInterface<Way> {};

TEST_P(RtMulticastWays, EachEventComesToEachChannelOnce)
{
    const auto [dispatching, group] = GetParam();
    Site one(options_of(dispatching, group));
    Site other(options_of(dispatching, group));
    Site third(options_of(dispatching, group));
    one.push({event_of(plot, 1, 1), event_of(plot, 2, 0), event_of(plot, 3, 5)});
    RtecEventComm::Event with_value = event_of(track, 4, 1);
    with_value.data.any_value <<= "an Any";
    one.push({with_value, event_of(track, 5, 1)});
    one.push(event_of(plot, last, 1));
    const Lines there{"16/1 0", "16/3 4", "17/4 0 an Any", "17/5 0", "16/1000000 0"};
    EXPECT_TRUE(other.hearing().hears(there));
    EXPECT_TRUE(third.hearing().hears(there));
    EXPECT_TRUE(one.hearing().hears(
        {"16/1 1", "16/2 0", "16/3 5", "17/4 1 an Any", "17/5 1", "16/1000000 1"}));
    // Back the other way, behind all that could have come twice.
    other.push(event_of(plot, last, 1));
    EXPECT_TRUE(third.hearing().hears_of("16/1000000 0"));
    EXPECT_TRUE(one.hearing().hears_of("16/1000000 0"));
    EXPECT_EQ(one.hearing().count(), 7u);
    EXPECT_TRUE(third.counts(&MulticastFigures::received, 6));
    EXPECT_TRUE(one.counts(&MulticastFigures::sent, 5));
    EXPECT_TRUE(one.counts(&MulticastFigures::own, 4)) << "the Any goes alone";
    EXPECT_TRUE(other.counts(&MulticastFigures::sent, 1)) << "what has come is not sent again";
    for (const Site* site : {&one, &other, &third}) {
        EXPECT_EQ(site->figures().lost, 0u);
        EXPECT_EQ(site->figures().repeated, 0u);
        EXPECT_EQ(site->figures().not_sent, 0u);
    }
}
INSTANTIATE_TEST_SUITE_P(, RtMulticastWays,
                         ::testing::Values(Way{Dispatching::reactive, ipv4_group},
                                           Way{Dispatching::priorities, ipv4_group},
                                           Way{Dispatching::reactive, ipv6_group}),
                         [](const auto& info) {
                             return std::string(info.param.first == Dispatching::reactive
                                                    ? "reactive"
                                                    : "priorities") +
                                    (info.param.second == ipv4_group ? "_ipv4" : "_ipv6");
                         });

TEST_F(RtMulticast, OnlyTheTypesThatAreSaidGoToTheGroup)
{
    ChannelOptions options = options_of();
    options.multicast_types = {track, track + 1};
    Site one(options);
    Site other(options_of());
    one.push({event_of(plot, 1, 1), event_of(track, 2, 1)});
    one.push(event_of(plot, 3, 1));
    one.push(event_of(track + 1, 4, 1));
    EXPECT_TRUE(other.hearing().hears({"17/2 0", "18/4 0"}));
    EXPECT_TRUE(one.counts(&MulticastFigures::sent, 2));
    EXPECT_TRUE(one.counts(&MulticastFigures::own, 2));
    other.push(event_of(plot, 5, 1));
    EXPECT_TRUE(one.hearing().hears_of("16/5 0")) << "whatever comes is taken";
}

/// Sets are cut, for a message of fewer packets is likelier to arrive.
TEST_F(RtMulticast, LargeSetsGoInSeveralMessages)
{
    LogLines log;
    Site one(options_of());
    Site other(options_of());
    std::vector<RtecEventComm::Event> all;
    Lines there;
    for (CORBA::Long i = 0; i < 50; ++i) {
        all.push_back(event_of(plot, i, 1, 1000));
        there.push_back("16/" + std::to_string(i) + " 0");
    }
    one.push(all);
    EXPECT_TRUE(other.hearing().hears(there));
    EXPECT_TRUE(one.counts(&MulticastFigures::own, 2));
    // What is too large leaves the others alone.
    one.push({event_of(plot, 200, 1), event_of(plot, 201, 1, 5 << 20), event_of(plot, 202, 1)});
    there.insert(there.end(), {"16/200 0", "16/202 0"});
    EXPECT_TRUE(other.hearing().hears(there));
    RtecEventComm::Event with_value = event_of(plot, 203, 1);
    with_value.data.any_value <<= std::string(5 << 20, 'x').c_str();
    one.push(with_value);
    one.push(event_of(plot, last, 1));
    EXPECT_TRUE(other.hearing().hears_of("16/1000000 0"));
    EXPECT_EQ(other.hearing().count(), 53u);
    EXPECT_TRUE(one.counts(&MulticastFigures::not_sent, 2));
    EXPECT_TRUE(log.wait_for("octets are more than 4190208, which a group takes of an event"));
    EXPECT_EQ(other.figures().lost, 1u) << "it had a number already";
}

/// Whoever has no channel hears the events, and is heard.
TEST_F(RtMulticast, OthersSendAndHear)
{
    Site site(options_of());
    Outsider outsider;
    outsider.push({event_of(plot, 1, 1'000'000), event_of(plot, 2, -7)});
    EXPECT_TRUE(site.hearing().hears({"16/1 16", "16/2 -7"}));
    site.push(event_of(track, 3, 1));
    EXPECT_TRUE(outsider.hearing().hears_of("17/3 0"));
    const auto headers = outsider.hearing().headers();
    ASSERT_EQ(headers.size(), 4u) << "two of its own, and one in front of the event";
    const auto mark = mark_of(headers[2]);
    ASSERT_TRUE(mark.has_value());
    EXPECT_EQ(mark->number, 1u);

    // What it says of who sends: twice the same, one missing, as the channel itself.
    const auto say = [&](const Mark& as, CORBA::Long source) {
        RtecEventComm::Event front = event_of(0, 0, 0);
        front.header = header_of(as);
        outsider.push({front, event_of(plot, source, 1)});
    };
    LogLines log;
    const std::uint64_t received = site.figures().received;
    // One after the other: datagrams may pass each other.
    say({.sender = 7, .number = 10}, 10);
    EXPECT_TRUE(site.hearing().hears_of("16/10 1"));
    say({.sender = 7, .number = 10}, 11);
    EXPECT_TRUE(site.counts(&MulticastFigures::repeated, 1));
    say({.sender = 7, .number = 12}, 12);
    EXPECT_TRUE(site.hearing().hears_of("16/12 1"));
    say(*mark, 13);
    EXPECT_TRUE(site.counts(&MulticastFigures::own, 2));
    outsider.push({}); // as short as can be
    outsider.push({event_of(plot, last, 1)});
    EXPECT_TRUE(site.hearing().hears_of("16/1000000 1"));
    EXPECT_TRUE(site.hearing().hears(
        {"16/1 16", "16/2 -7", "17/3 1", "16/10 1", "16/12 1", "16/1000000 1"}));
    EXPECT_EQ(site.figures().received - received, 3u);
    EXPECT_EQ(site.figures().lost, 1u);
    EXPECT_TRUE(log.has("were lost, or are late: 1 so far"));
    say({.sender = 7, .number = 11}, 14);
    EXPECT_TRUE(site.hearing().hears_of("16/14 1"));
    EXPECT_EQ(site.figures().lost, 0u) << "it was late only";
}

/// What stands for the channel in the group is nobody's who has a connection.
TEST_F(RtMulticast, ConnectionsLeadToProxiesOnly)
{
    Site site(options_of());
    const PortableServer::POA_var named =
        site.orb().poa()->find_POA("RealTimeEventChannel/Site", false);
    const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("group");
    const CORBA::Object_var object = named->id_to_reference(id.in());
    const TestOrb client;
    const auto member = client.here<RtecEventComm::PushConsumer>(object.in(), site.orb().in());
    EXPECT_THROW(member->disconnect_push_consumer(), CORBA::NO_PERMISSION);
}

TEST_F(RtMulticast, GroupsThatCannotBeJoinedAreErrors)
{
    const TestOrb orb(by_interface());
    const auto told = [&](const TestOrb& of, const std::string& group) -> std::string {
        ChannelOptions options;
        options.multicast = group;
        try {
            const RealTimeEventChannel channel(of.in(), options, "Told");
            return "";
        } catch (const CORBA::SystemException& exception) {
            return std::string(exception._name()) + ": " + exception.what();
        }
    };
    EXPECT_TRUE(told(orb, "corbaloc:miop:nonsense").starts_with("BAD_PARAM"));
    EXPECT_TRUE(told(orb, "corbaloc:miop:1.0@1.0-Radar-7/192.0.2.1:5017").starts_with("BAD_PARAM"));
    const std::string single = told(orb, "corbaloc::127.0.0.1:1/Radar");
    EXPECT_TRUE(single.starts_with("BAD_PARAM")) << single;
    EXPECT_NE(single.find("that is no multicast group"), std::string::npos) << single;
    const TestOrb one_thread({"-ORBConcurrency", "reactor"});
    const std::string refused = told(one_thread, ipv4_group);
    EXPECT_TRUE(refused.starts_with("NO_RESOURCES")) << refused;
    EXPECT_EQ(told(orb, ipv4_group), "") << "nothing is left of the others";
    EXPECT_EQ(told(orb, ipv4_group), "") << "nor of this";
    {
        Site site(options_of()); // it ends before its ORB
    }
    ChannelOptions options = options_of();
    const RealTimeEventChannel channel(orb.in(), options);
    const EventChannel_var reference = channel.reference();
    reference->destroy();
    Site site(options_of());
    site.push(event_of(plot, last, 1));
    EXPECT_TRUE(site.counts(&MulticastFigures::own, 1));
    EXPECT_EQ(channel.figures().multicast.received, 0u) << "it has left";
}

/// Of itself, without a network.
TEST(RtSenders, KnowWhatHasComeAndWhatHasNot)
{
    Senders senders;
    EXPECT_TRUE(senders.note({1, 5}));
    EXPECT_FALSE(senders.note({1, 5}));
    EXPECT_TRUE(senders.note({2, 5})) << "another's";
    EXPECT_TRUE(senders.note({1, 4})) << "nobody knew that it was missing";
    EXPECT_EQ(senders.lost(), 0u);
    EXPECT_TRUE(senders.note({1, 9}));
    EXPECT_EQ(senders.lost(), 3u);
    EXPECT_TRUE(senders.note({1, 7}));
    EXPECT_FALSE(senders.note({1, 7}));
    EXPECT_FALSE(senders.note({1, 4}));
    EXPECT_EQ(senders.lost(), 2u);
    EXPECT_TRUE(senders.note({1, 9 + Senders::known_max}));
    EXPECT_EQ(senders.lost(), 2 + Senders::known_max - 1);
    EXPECT_TRUE(senders.note({1, 9})) << "too old to be known";
}

TEST(RtSenders, KeepNobodyOutWhoBeginsAnew)
{
    Senders senders;
    EXPECT_TRUE(senders.note({1, 1}));
    EXPECT_TRUE(senders.note({1, ~std::uint64_t{0}}));
    EXPECT_EQ(senders.lost(), 0u);
    for (std::uint64_t number = 2; number < 200; ++number)
        EXPECT_TRUE(senders.note({1, number})) << number;
    EXPECT_FALSE(senders.note({1, ~std::uint64_t{0}}));
    EXPECT_EQ(senders.lost(), 0u);
}

TEST(RtSenders, AreForgottenWhereThereAreMany)
{
    Senders senders;
    for (std::uint64_t sender = 1; sender <= Senders::senders_max; ++sender)
        EXPECT_TRUE(senders.note({sender, 1}));
    EXPECT_FALSE(senders.note({1, 1}));
    EXPECT_TRUE(senders.note({Senders::senders_max + 1, 1}));
    EXPECT_EQ(senders.size(), Senders::senders_max);
    EXPECT_FALSE(senders.note({1, 1})) << "it has been heard of since";
    EXPECT_TRUE(senders.note({2, 1})) << "it has not";
}

TEST(RtSenders, AreSaidByAnEventThatIsNobodyElses)
{
    const Mark mark{.sender = 0x8000000180000002, .number = 0xFFFFFFFF00000001};
    EXPECT_EQ(mark_of(header_of(mark)), mark);
    EXPECT_LT(header_of(mark).type, own_types_begin);
    RtecEventComm::EventHeader other = header_of(mark);
    other.source = 0;
    EXPECT_EQ(mark_of(other), std::nullopt);
    EXPECT_EQ(mark_of(event_of(plot, 1, 1).header), std::nullopt);
}

#ifdef KAIROS_TOOL
/// Two processes, and whoever watches and pushes by connections.
TEST_F(RtMulticast, ChannelsOfTheToolAreInGroups)
{
    using namespace kairos::tools;
    const auto serve = [] {
        return Daemon({"rtevents", "serve", "--multicast",
                       "corbaloc:miop:1.0@1.0-Tool-1/239.192.7.8:5018", "--multicast-type", "16",
                       "-ORBMulticast", "interface=kairos0"});
    };
    Daemon one = serve();
    Daemon other = serve();
    bench::ChildProcess watcher = start({"rtevents", "watch", other.reference});
    // The watcher is there when the first event comes through.
    std::string line;
    for (int i = 1; line.empty() && i < 1000; ++i) {
        for (const char* type : {"17", "16"}) {
            bench::ChildProcess pushing = start({"rtevents", "push", one.reference, "--type", type,
                                                 "--source", "7", "--payload", "plot"});
            EXPECT_EQ(pushing.finish(start_patience).exit_status, 0);
        }
        if (const auto said = watcher.read_line(std::chrono::seconds(1))) line = *said;
    }
    EXPECT_EQ(line, "type 16 source 7 \"plot\"");
    ::kill(watcher.pid(), SIGTERM);
    EXPECT_EQ(watcher.finish(start_patience).exit_status, 0);
    EXPECT_EQ(one.end(), "0");
    EXPECT_EQ(other.end(), "0");
    const std::string complaint =
        complaint_of({"rtevents", "serve", "--multicast", ipv4_group, "--channel", "A", "--channel",
                      "B", "-ORBMulticast", "interface=kairos0"});
    EXPECT_NE(complaint.find("--multicast is for one channel"), std::string::npos) << complaint;
    const std::string wrong =
        complaint_of({"rtevents", "serve", "--multicast", "corbaloc::localhost:1/Radar"});
    EXPECT_NE(wrong.find("that is no multicast group"), std::string::npos) << wrong;
}
#endif

} // namespace
} // namespace kairos::rtevents
