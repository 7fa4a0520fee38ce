// SPDX-License-Identifier: Apache-2.0
//
// What commands share that run channels of events in the foreground, of whichever service.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/events/service_limits.h"
#include "tools/kairos/service.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kairos::tools {

struct ChannelArguments {
    std::vector<std::string> channels;
    std::vector<std::string> files; // of the channels, in their order, as the next
    std::vector<std::string> names;
    std::string endpoint;
    double timeout_s = 0;
    double poll_s = 0;
};

/// What the command says of itself.
struct ChannelTexts {
    const char* first;   ///< the name of the channel that there is where the user names none
    const char* factory; ///< by which clients make others: the key of its corbaloc
};

/// Adds the options that say which channels there are and where; `arguments` must live as long as
/// the parser.
void add_channel_places(CLI::App& command, ChannelArguments& arguments,
                        const std::string& channels);
/// Adds those, and the options of `limits`, which must live as long, too.
void add_channel_options(CLI::App& command, ChannelArguments& arguments,
                         events::ServiceLimits& limits, const ChannelTexts& texts);
/// Throws std::runtime_error where there are more files or names than channels.
void require_channels(const ChannelArguments& arguments);
/// Sets what of the limits has other units on the command line; throws std::runtime_error where
/// there are more files or names than channels.
void complete_limits(const ChannelArguments& arguments, events::ServiceLimits& limits);
/// Writes, binds and prints a channel's reference.
void publish_channel(CORBA::ORB_ptr orb, const ChannelArguments& arguments, std::size_t index,
                     CORBA::Object_ptr channel);

/// Serves channels until a signal ends that.
template <typename Service, typename Limits>
void serve_channels(const char* id, const ChannelArguments& arguments, Limits limits,
                    const std::vector<std::string>& orb_options)
{
    complete_limits(arguments, limits);
    // Nothing waits for answers at the end, but for connections that are being made.
    const auto connecting =
        std::min<std::chrono::milliseconds>(limits.call_timeout, end_within / 2);
    const EndSignals signals;
    const CORBA::ORB_var orb =
        make_service_orb(id, arguments.endpoint,
                         {"-ORBClientTimeout", std::to_string(limits.call_timeout.count()),
                          "-ORBConnectTimeout", std::to_string(connecting.count())},
                         orb_options);
    std::optional<Service> service;
    ServiceRun run(signals, orb.in(), [&service] { service->begin_to_end(); });
    service.emplace(orb.in(), limits);
    for (std::size_t i = 0; i < arguments.channels.size(); ++i) {
        const CORBA::Object_var channel = service->create_channel(arguments.channels[i]);
        publish_channel(orb.in(), arguments, i, channel.in());
    }
    if constexpr (requires { service->publish_others(orb.in()); })
        service->publish_others(orb.in());
    std::fflush(stdout);
    run.run();
    service.reset(); // before the run, which watches how long that takes
}

} // namespace kairos::tools
