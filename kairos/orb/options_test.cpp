// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/options.h"

#include "kairos/ior/component.h"
#include "kairos/orb/option_values.h"
#include "kairos/orb/transport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace kairos::orb {
namespace {

Result<Options> parse(std::vector<std::string> arguments) { return parse_options(arguments); }

TEST(Options, OrbOptionsAreTakenOutAndOthersKept)
{
    std::vector<std::string> arguments{"-v", "-ORBDebug", "2", "file", "-ORBMaxMessageSize=1000"};
    const auto options = parse_options(arguments);
    ASSERT_TRUE(options);
    EXPECT_EQ(options->log_level, 2);
    EXPECT_EQ(options->message_size_max, 1000u);
    EXPECT_EQ(options->profile_types, "");
    EXPECT_FALSE(options->counters);
    EXPECT_TRUE(parse({"-ORBCounters", "1"})->counters);
    EXPECT_EQ(arguments, (std::vector<std::string>{"-v", "file"}));
}

TEST(Options, ErrorsNameTheOption)
{
    const auto reason = [](std::vector<std::string> arguments) {
        const auto options = parse(std::move(arguments));
        return options ? "accepted" : options.error().reason;
    };
    EXPECT_EQ(reason({"-ORBNoSuchThing", "1"}), "unknown option -ORBNoSuchThing");
    EXPECT_EQ(reason({"-ORBDebug"}), "-ORBDebug needs a value");
    EXPECT_EQ(reason({"-ORBDebug", "loud"}), "-ORBDebug: 'loud' is not a level of 0 to 3");
    EXPECT_EQ(reason({"-ORBConcurrency", "magic"}),
              "-ORBConcurrency: 'magic' is not thread-per-connection, reactor, "
              "reactor-per-priority, leader-followers, worker-pool, thread-per-request, "
              "thread-per-object, filter-chain or custom");
    for (const char* lanes : {"", "x", "-1", "32768", "1,1", "2,1", "1:0", "1:", "1:all", ",1",
                              "1,", "1@", "1@x", "1@-1", "1@0:2"})
        EXPECT_EQ(reason({"-ORBConcurrency", "reactor-per-priority", "-ORBLanes", lanes}),
                  std::string("-ORBLanes: '") + lanes +
                      "' is not priority[:threads|:each][@cpu],… with priorities of 0 to 32767, "
                      "ascending");
    EXPECT_EQ(reason({"-ORBThreads", "0"}), "-ORBThreads: '0' is not a number of 1 to 100000");
    EXPECT_EQ(reason({"-ORBLateCalls", "no"}), "-ORBLateCalls: 'no' is not results or timeout");
    EXPECT_EQ(reason({"-ORBLockMemory", "yes"}), "-ORBLockMemory: 'yes' is not 0 or 1");
    EXPECT_EQ(reason({"-ORBStackSize", "4096"}),
              "-ORBStackSize: '4096' is not 0 or a size of 64 KiB to 1 GiB, in bytes");
    EXPECT_EQ(reason({"-ORBReceiveTimeout", "1s"}),
              "-ORBReceiveTimeout: '1s' is not a number of milliseconds");
    EXPECT_EQ(reason({"-ORBNetworkPriority", "2"}), "-ORBNetworkPriority: '2' is not 0 or 1");
    EXPECT_EQ(reason({"-ORBStreamPause", "1001"}),
              "-ORBStreamPause: '1001' is not a number of microseconds, at most 1000");
    EXPECT_EQ(reason({"-ORBRoomSpin", "long"}),
              "-ORBRoomSpin: 'long' is not a number of microseconds, at most 1000");
    EXPECT_EQ(reason({"-ORBBusyPoll", "-1"}), "-ORBBusyPoll: '-1' is not a number of microseconds");
    EXPECT_EQ(reason({"-ORBQueueFull", "wait"}), "-ORBQueueFull: 'wait' is not block or refuse");
    EXPECT_EQ(reason({"-ORBRealTime", "1"}), "-ORBRealTime: '1' is not wanted or required");
    EXPECT_EQ(reason({"-ORBPriorityMapping", "native"}),
              "-ORBPriorityMapping: 'native' is not linear or direct");
    EXPECT_EQ(reason({"-ORBSchedulingPolicy", "other"}),
              "-ORBSchedulingPolicy: 'other' is not fifo or rr");
    EXPECT_EQ(reason({"-ORBDemux", "magic"}),
              "-ORBDemux: 'magic' is not linear, hash, active or delayered");
    EXPECT_EQ(reason({"-ORBCollocation", "yes"}),
              "-ORBCollocation: 'yes' is not direct, through-poa or no");
    EXPECT_EQ(reason({"-ORBHoldLimit", "-1"}),
              "-ORBHoldLimit: '-1' is not a number of zero or more");
    EXPECT_EQ(reason({"-ORBMaxMessageSize", "4294967296"}),
              "-ORBMaxMessageSize: '4294967296' is not a size of 64 to 4294967295 bytes");
    EXPECT_EQ(reason({"-ORBProfileTypes", ""}), "-ORBProfileTypes: '' is not the name of a file");
    EXPECT_EQ(reason({"-ORBCounters", "yes"}), "-ORBCounters: 'yes' is not 0 or 1");
    EXPECT_EQ(reason({"-ORBInitRef", "=x"}), "-ORBInitRef: '=x' is not of the form name=url");
    EXPECT_EQ(reason({"-ORBListenEndpoints", "iiop://h:99999"}),
              "-ORBListenEndpoints: endpoint 'iiop://h:99999': the port is not a number of 0 to "
              "65535");
}

TEST(Options, HalfAMessageIsNotWaitedForForEver)
{
    EXPECT_EQ(parse({})->receive_timeout, std::chrono::minutes(1));
    EXPECT_EQ(parse({"-ORBReceiveTimeout", "250"})->receive_timeout,
              std::chrono::milliseconds(250));
    EXPECT_EQ(parse({"-ORBReceiveTimeout", "0"})->receive_timeout.count(), 0);
}

TEST(Options, ThatMeanNothingTogetherAreRefused)
{
    const auto accepted = [](std::vector<std::string> arguments) {
        const auto options = parse(std::move(arguments));
        return options ? "accepted" : options.error().reason;
    };
    EXPECT_EQ(accepted({"-ORBThreads", "4"}),
              "-ORBThreads contradicts -ORBConcurrency thread-per-connection");
    EXPECT_EQ(accepted({"-ORBLanes", "0,1", "-ORBConcurrency", "worker-pool"}),
              "-ORBLanes contradicts -ORBConcurrency worker-pool");
    EXPECT_EQ(accepted({"-ORBConcurrency", "worker-pool", "-ORBStreamPause", "20"}),
              "-ORBStreamPause contradicts -ORBConcurrency worker-pool");
    EXPECT_EQ(accepted({"-ORBConcurrency", "leader-followers", "-ORBQueue", "4"}),
              "-ORBQueue contradicts -ORBConcurrency leader-followers");
    for (const char* const architecture : {"thread-per-connection", "reactor", "leader-followers",
                                           "thread-per-request", "thread-per-object", "custom"})
        EXPECT_EQ(accepted({"-ORBConcurrency", architecture, "-ORBDispatching", "edf"}),
                  std::string("-ORBDispatching contradicts -ORBConcurrency ") + architecture);
    for (const char* const policy : {"fifo", "rms", "edf", "llf", "muf"})
        EXPECT_EQ(accepted({"-ORBDispatching", policy, "-ORBConcurrency", "worker-pool"}),
                  "accepted");
    EXPECT_EQ(accepted({"-ORBConcurrency", "reactor-per-priority", "-ORBDispatching", "edf"}),
              "accepted"); // there may be thread pools yet
    EXPECT_EQ(accepted({"-ORBDispatching", "fastest", "-ORBConcurrency", "worker-pool"}),
              "-ORBDispatching: 'fastest' is not fifo, rms, edf, llf or muf");
    EXPECT_EQ(accepted({"-ORBConcurrency", "reactor", "-ORBRealTime", "required"}),
              "accepted"); // Real-Time CORBA has priorities with every architecture
    EXPECT_EQ(accepted({"-ORBThreads", "4", "-ORBConcurrency", "worker-pool", "-ORBQueue", "1",
                        "-ORBQueueFull", "refuse"}),
              "accepted");
    EXPECT_EQ(accepted({"-ORBConcurrency", "filter-chain", "-ORBPools", "2", "-ORBThreads", "1"}),
              "accepted");
    EXPECT_EQ(accepted({"-ORBConcurrency", "reactor-per-priority", "-ORBLanes",
                        "0,9:3@1,10@0,11:each@1"}),
              "accepted");
}

TEST(Options, OfQuirks)
{
    EXPECT_EQ(parse({})->quirks, orb::Quirks{});
    EXPECT_TRUE(parse({"-ORBQuirks", "tao-chunks"})->quirks.tao_chunks);
    EXPECT_TRUE(parse({"-ORBQuirks", "tao-chunks,tao-chunks"})->quirks.tao_chunks);
    for (const std::string names : {"tao", ",tao-chunks", "tao-chunks,others"}) {
        const auto options = parse({"-ORBQuirks", names});
        ASSERT_FALSE(options) << names;
        EXPECT_EQ(options.error().reason,
                  "-ORBQuirks: '" + names + "' is not a list of tao-chunks");
    }
}

/// By the references of TAO, and of nobody else.
TEST(Quirks, AreOfTheOrbThatAReferenceNames)
{
    using Components = std::vector<ior::TaggedComponent>;
    EXPECT_TRUE(orb::quirks_of(Components{ior::make_orb_type(ior::orb_type::tao)}).tao_chunks);
    EXPECT_EQ(orb::quirks_of({}), orb::Quirks{});
    for (const std::uint32_t other :
         {ior::orb_type::kairos, ior::orb_type::omniorb, ior::orb_type::jacorb, 0U, 0x54414F01U})
        EXPECT_EQ(orb::quirks_of(Components{ior::make_orb_type(other)}), orb::Quirks{});
    Components malformed{ior::make_orb_type(ior::orb_type::tao)};
    malformed.front().data.pop_back();
    EXPECT_EQ(orb::quirks_of(malformed), orb::Quirks{});
}

TEST(Options, OfPriorities)
{
    const auto by_default = parse({});
    EXPECT_EQ(by_default->priority_mapping, InitialMapping::linear);
    EXPECT_EQ(by_default->scheduling_policy, net::SchedulingPolicy::fifo);
    const auto others = parse({"-ORBPriorityMapping", "direct", "-ORBSchedulingPolicy", "rr"});
    ASSERT_TRUE(others);
    EXPECT_EQ(others->priority_mapping, InitialMapping::direct);
    EXPECT_EQ(others->scheduling_policy, net::SchedulingPolicy::round_robin);
    const auto same = parse({"-ORBPriorityMapping=linear", "-ORBSchedulingPolicy=fifo"});
    ASSERT_TRUE(same);
    EXPECT_EQ(same->priority_mapping, InitialMapping::linear);
    EXPECT_EQ(same->scheduling_policy, net::SchedulingPolicy::fifo);
}

TEST(Options, OfConnections)
{
    EXPECT_FALSE(parse({})->call_policies.connection);
    EXPECT_FALSE(parse({"-ORBConnection", "non-multiplexed"})->call_policies.connection);
    EXPECT_EQ(parse({"-ORBConnection", "leader-followers"})->call_policies.connection,
              ConnectionArchitecture::leader_followers);
    EXPECT_EQ(parse({"-ORBConnection", "shared"}).error().reason,
              "-ORBConnection: 'shared' is not non-multiplexed, leader-followers or active");
}

TEST(Options, OfIdleConnections)
{
    EXPECT_FALSE(parse({})->closes_idle_connections);
    const auto options = parse({"-ORBMaxClientConnections", "3", "-ORBClientIdle", "1500"});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->client_connections_max, 3u);
    EXPECT_EQ(options->client_idle, std::chrono::milliseconds(1500));
    EXPECT_TRUE(options->closes_idle_connections);
    EXPECT_FALSE(parse({"-ORBClientIdle", "0"})->closes_idle_connections);
    EXPECT_FALSE(parse({"-ORBMaxClientConnections", "0"}));
    EXPECT_FALSE(parse({"-ORBClientIdle", "-1"}));
    EXPECT_EQ(parse({})->client_unused, std::chrono::minutes(2));
    EXPECT_EQ(parse({"-ORBClientUnused", "30"})->client_unused, std::chrono::milliseconds(30));
    EXPECT_FALSE(parse({"-ORBClientUnused", "30"})->closes_idle_connections);
    EXPECT_FALSE(parse({"-ORBClientUnused", "soon"}));
}

TEST(Options, InitialReferencesMayHoldEqualsSigns)
{
    const auto options = parse({"-ORBInitRef", "Name=corbaloc::h/k=1"});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->initial_references.at("Name"), "corbaloc::h/k=1");
}

TEST(ListenEndpoints, HostPortAndPublishedName)
{
    const auto endpoints = parse_listen_endpoints(
        "iiop://:7000;iiop://1.2@[::1]:7001;iiop://10.0.0.1/hostname_in_ior=gate.example");
    ASSERT_TRUE(endpoints);
    ASSERT_EQ(endpoints->size(), 3u);
    EXPECT_EQ((*endpoints)[0].host, "");
    EXPECT_EQ((*endpoints)[0].port, 7000);
    EXPECT_EQ((*endpoints)[1].host, "::1");
    EXPECT_EQ((*endpoints)[1].port, 7001);
    EXPECT_EQ((*endpoints)[2].host, "10.0.0.1");
    EXPECT_EQ((*endpoints)[2].port, 0);
    EXPECT_EQ((*endpoints)[2].published_host, "gate.example");
}

TEST(ListenEndpoints, UnixSocketsAreFilesOrAbstractNames)
{
    const auto endpoints =
        parse_listen_endpoints("uiop://;iiop://:7000;uiop:///run/demo socket;uiop://@demo");
    ASSERT_TRUE(endpoints);
    ASSERT_EQ(endpoints->size(), 4u);
    EXPECT_EQ((*endpoints)[0].transport, find_transport("uiop"));
    EXPECT_EQ((*endpoints)[0].path, "");
    EXPECT_EQ((*endpoints)[1].transport, find_transport("iiop"));
    EXPECT_EQ((*endpoints)[1].port, 7000);
    EXPECT_EQ((*endpoints)[2].path, "/run/demo socket");
    EXPECT_EQ((*endpoints)[3].path, "@demo");
    const auto memory = parse_listen_endpoints("shmiop://;shmiop:///run/demo");
    ASSERT_TRUE(memory);
    EXPECT_EQ((*memory)[0].transport, find_transport("shmiop"));
    EXPECT_EQ((*memory)[1].path, "/run/demo");
    for (const std::string& text :
         {std::string("uiop://relative"), std::string("shmiop://relative"), std::string("uiop:///"),
          std::string("uiop://@"), "uiop:///" + std::string(107, 'p'),
          std::string("uiop:/run/demo")})
        EXPECT_FALSE(parse_listen_endpoints(text)) << text;
}

TEST(ListenEndpoints, BadOnesAreRefused)
{
    for (const char* text : {"", "tcp://h:1", "iiop://h:", "iiop://h:x", "iiop://[::1",
                             "iiop://::1", "iiop://h:1/colour=red", "iiop://h:-1", "iiop://h:65536",
                             "iiop://h/hostname_in_ior=", "iiop://h/hostname_in_ior=0.0.0.0",
                             "iiop://h/hostname_in_ior=a b"})
        EXPECT_FALSE(parse_listen_endpoints(text)) << text;
}

TEST(Options, TimesAreInMilliseconds)
{
    std::vector<std::string> arguments{"-ORBClientTimeout", "1500", "-ORBConnectTimeout", "0"};
    const auto options = parse_options(arguments);
    ASSERT_TRUE(options.ok());
    EXPECT_EQ(options->call_policies.round_trip_max, std::chrono::milliseconds(1500));
    EXPECT_EQ(options->call_policies.connect_max, std::chrono::milliseconds(0));
    for (const char* bad : {"", "x", "-1", "1.5", "4294967296"}) {
        std::vector<std::string> wrong{"-ORBClientTimeout", bad};
        EXPECT_FALSE(parse_options(wrong).ok()) << bad;
    }
}

// --- What is in the list -------------------------------------------------------------------------

/// A row of option_list.h.
struct Row {
    std::string name;
    std::string meaning;
    Result<void> (*set)(Options&, std::string_view option, std::string_view value);
    std::string (*show)(const Options&);
    const Range* range = nullptr;
    std::vector<std::string> choices{};
};

template <typename Kind>
Row row_of(const char* name, const char* meaning)
{
    Row row{.name = name, .meaning = meaning, .set = &Kind::set, .show = &Kind::show};
    if constexpr (requires { Kind::range; }) row.range = &Kind::range;
    if constexpr (requires { Kind::names; })
        for (const std::string_view each : Kind::names)
            row.choices.emplace_back(each);
    return row;
}

std::vector<Row> all_rows()
{
    return {
#define KAIROS_OPTION_TOPIC(title, note)
#define KAIROS_OPTION(name, needs, pages, meaning, ...) row_of<__VA_ARGS__>(name, meaning),
#define KAIROS_OPTION_SPELLING(name, option)
#include "kairos/orb/option_list.h"
    };
}

TEST(OptionList, EveryOptionIsThereOnceAndSaysWhatItMeans)
{
    std::set<std::string> names;
    for (const Row& row : all_rows()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name << " is there twice";
        EXPECT_TRUE(row.meaning.ends_with('.') && !std::islower(row.meaning.front())) << row.name;
        EXPECT_EQ(row.meaning.find("  "), std::string::npos) << row.name;
    }
    EXPECT_GT(names.size(), 50u);
    const std::pair<const char*, const char*> spellings[] = {
#define KAIROS_OPTION_TOPIC(title, note)
#define KAIROS_OPTION(name, needs, pages, meaning, ...)
#define KAIROS_OPTION_SPELLING(name, option) {name, option},
#include "kairos/orb/option_list.h"
    };
    for (const auto& [name, option] : spellings) {
        EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
        EXPECT_TRUE(names.contains(option)) << option;
    }
}

TEST(OptionList, DefaultsAreSaidAsUsersWriteThem)
{
    for (const Row& row : all_rows()) {
        Options options;
        const std::string by_default = row.show(options);
        if (by_default.empty()) continue; // there is nothing to write
        EXPECT_TRUE(row.set(options, row.name, by_default)) << row.name << " " << by_default;
        EXPECT_EQ(row.show(options), by_default) << row.name;
    }
}

/// Sets an option to a value in otherwise unchanged options and says what is in force then; what is
/// wrong with the value, if it is refused.
std::string set_and_shown(const Row& row, const std::string& value)
{
    Options options;
    const auto set = row.set(options, row.name, value);
    return set ? row.show(options) : set.error().reason;
}

TEST(OptionList, NumbersHaveTheirRange)
{
    std::size_t numbers = 0;
    for (const Row& row : all_rows()) {
        if (row.range == nullptr) continue;
        ++numbers;
        const Range& range = *row.range;
        for (const std::uint64_t good : {range.least, range.most})
            EXPECT_EQ(set_and_shown(row, std::to_string(good)), std::to_string(good)) << row.name;
        std::vector<std::string> bad{"", "x", "-1", "1.5", "18446744073709551616"};
        if (range.most < most_64) bad.push_back(std::to_string(range.most + 1));
        if (range.least > 0) bad.push_back(std::to_string(range.least - 1));
        if (range.least > 0 && !range.or_zero) bad.emplace_back("0");
        for (const std::string& value : bad)
            EXPECT_EQ(set_and_shown(row, value),
                      row.name + ": '" + value + "' is not " + std::string(range.expected));
        if (range.or_zero) {
            EXPECT_EQ(set_and_shown(row, "0"), "0") << row.name;
        }
    }
    EXPECT_GT(numbers, 20u);
}

TEST(OptionList, NamedValuesAreThoseOfTheList)
{
    std::size_t values = 0;
    for (const Row& row : all_rows()) {
        for (const std::string& value : row.choices) {
            ++values;
            EXPECT_EQ(set_and_shown(row, value), value) << row.name;
            EXPECT_NE(set_and_shown(row, value + "x"), value + "x") << row.name;
        }
    }
    EXPECT_GT(values, 40u);
}

TEST(OptionsInForce, AreThoseThatAreNotAsByDefault)
{
    EXPECT_EQ(options_in_force(Options{}), "");
    EXPECT_EQ(options_in_force(
                  *parse({"-ORBThreads", "8", "-ORBConcurrency", "worker-pool", "-ORBQueue=7",
                          "-ORBDebug", "2", "-ORBClientIdle", "1500", "-ORBClientTimeout", "30"})),
              "-ORBConcurrency worker-pool -ORBQueue 7 -ORBClientIdle 1500 -ORBClientTimeout 30 "
              "-ORBDebug 2");
    // What follows from another option is in force, too.
    EXPECT_EQ(options_in_force(*parse({"-ORBMaxMessageSize", "1073741824"})),
              "-ORBMaxMessageSize 1073741824 -ORBMemory 1107296256");
}

TEST(OptionsInForce, AreWhatTheCommandLineSaid)
{
    for (const std::string given :
         {"-ORBListenEndpoints iiop://:7000;uiop://;iiop://1.2@[::1]:7001",
          "-ORBPublish ipv4,interface=eth0:99,host=gate.example,host=[::1]:7,hostname,ipv6",
          "-ORBPublishAs profiles", "-ORBGIOPVersion 1.1", "-ORBNativeCharCodeSet UTF-8",
          "-ORBNativeWCharCodeSet UCS-4", "-ORBQuirks tao-chunks", "-ORBNoDelay 0",
          "-ORBConcurrency reactor-per-priority -ORBLanes 0,9:3@1,10@0,11:each@1",
          "-ORBConnection active", "-ORBRealTime required", "-ORBSpin 30", "-ORBid telescope",
          "-ORBServerId dome", "-ORBInitRef Name=corbaloc::h/k=1 -ORBInitRef Other=corbaloc::h/o",
          "-ORBDefaultInitRef corbaloc::host", "-ORBProfileTypes file"}) {
        std::vector<std::string> arguments;
        for (std::size_t at = 0; at < given.size();) {
            const std::size_t end = std::min(given.find(' ', at), given.size());
            arguments.push_back(given.substr(at, end - at));
            at = end + 1;
        }
        const auto options = parse(arguments);
        ASSERT_TRUE(options) << options.error().reason;
        EXPECT_EQ(options_in_force(*options), given);
    }
    EXPECT_EQ(
        options_in_force(*parse({"-ORBEndpoint", "iiop://:1", "-ORBnativeCharCodeSet=UTF-8"})),
        "-ORBListenEndpoints iiop://:1 -ORBNativeCharCodeSet UTF-8");
}

TEST(Options, OtherSpellingsAreNamedAsTheyWereGiven)
{
    EXPECT_EQ(parse({"-ORBnativeCharCodeSet", "none"}).error().reason,
              "-ORBnativeCharCodeSet: 'none' is not a code set for char, by name or number");
    EXPECT_EQ(parse({"-ORBEndpoint"}).error().reason, "-ORBEndpoint needs a value");
    EXPECT_EQ(parse({"-ORBEndpoint", "iiop://:1"})->listen_endpoints.size(), 1u);
}

} // namespace
} // namespace kairos::orb
