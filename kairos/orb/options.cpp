// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/options.h"

#include "kairos/orb/configuration.h"
#include "kairos/orb/option_values.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kairos::orb {
namespace {

/// An option: who understands its value, and with which architectures it means something.
struct Known {
    std::string_view name;
    Setter set;
    bool Architecture::*needs = nullptr; ///< else it contradicts -ORBConcurrency; null: any will do
};

constexpr Known known_options[] = {
    {"-ORBConfigFile", set_configuration_file},
    {"-ORBid", set_orb_id},
    {"-ORBInitRef", add_initial_reference},
    {"-ORBDefaultInitRef", set_default_initial_reference},
    {"-ORBListenEndpoints", add_listen_endpoints},
    {"-ORBEndpoint", add_listen_endpoints},
    {"-ORBPublish", set_publish},
    {"-ORBPublishAs", set_publish_as},
    {"-ORBConcurrency", set_concurrency},
    {"-ORBConnection", set_connection},
    {"-ORBMaxClientConnections", set_client_connections},
    {"-ORBClientIdle", set_client_idle},
    {"-ORBClientUnused", set_milliseconds<&Options::client_unused>},
    {"-ORBBindEarly", set_flag<&Options::binds_early>},
    {"-ORBThreads", set_count<&Options::threads>, &Architecture::has_threads},
    {"-ORBLanes", set_lanes, &Architecture::has_lanes},
    {"-ORBRealTime", set_real_time},
    {"-ORBPriorityMapping", set_priority_mapping},
    {"-ORBSchedulingPolicy", set_scheduling_policy},
    {"-ORBLateCalls", set_late_calls},
    {"-ORBDispatching", set_dispatching, &Architecture::has_order},
    {"-ORBLockMemory", set_flag<&Options::lock_memory>},
    {"-ORBStackSize", set_stack_size},
    {"-ORBNetworkPriority", set_flag<&Options::network_priority>},
    {"-ORBBusyPoll", set_busy_poll},
    {"-ORBPools", set_count<&Options::pools>, &Architecture::has_pools},
    {"-ORBQueue", set_count<&Options::requests_queued_max>, &Architecture::has_queue},
    {"-ORBQueueFull", set_when_queue_full, &Architecture::is_bounded},
    {"-ORBOnewayQueue", set_size<&Options::oneways_unsent_max>},
    {"-ORBMaxMessageSize", set_max_message_size},
    {"-ORBMemory", set_memory},
    {"-ORBMaxConnections", set_size<&Options::connections_max>},
    {"-ORBReceiveTimeout", set_milliseconds<&Options::receive_timeout>},
    {"-ORBPreferLocal", set_flag<&Options::prefer_local>},
    {"-ORBClientTimeout", set_time<&CallPolicies::round_trip_max>},
    {"-ORBConnectTimeout", set_time<&CallPolicies::connect_max>},
    {"-ORBDemux", set_demultiplexing},
    {"-ORBCollocation", set_collocation},
    {"-ORBHoldLimit", set_size<&Options::held_requests_max>},
    {"-ORBFragmentSize", set_fragment_size},
    {"-ORBGIOPVersion", set_giop_version},
    {"-ORBSendQueue", set_queue<&net::SocketOptions::send_queue_bytes>},
    {"-ORBReceiveQueue", set_queue<&net::SocketOptions::receive_queue_bytes>},
    {"-ORBNoDelay", set_no_delay},
    {"-ORBSpin", set_spin},
    {"-ORBRoomSpin", set_room_spin},
    {"-ORBStreamPause", set_stream_pause, &Architecture::pauses_in_streams},
    {"-ORBExceptionIdInAny", set_flag<&Options::exception_id_in_any>},
    {"-ORBPlainKeys", set_flag<&Options::plain_keys>},
    {"-ORBNativeCharCodeSet", set_native_code_set},
    {"-ORBnativeCharCodeSet", set_native_code_set}, // as omniORB spells it
    {"-ORBNativeWCharCodeSet", set_native_wide_code_set},
    {"-ORBnativeWCharCodeSet", set_native_wide_code_set},
    {"-ORBQuirks", set_quirks},
    {"-ORBProfileTypes", set_profile_types},
    {"-ORBCounters", set_flag<&Options::counters>},
    {"-ORBDebug", set_debug},
};

const Known* find_option(std::string_view name)
{
    for (const Known& known : known_options)
        if (known.name == name) return &known;
    return nullptr;
}

/// An option that was given, with its value.
struct Given {
    const Known* known;
    std::string value;
    std::string where; ///< in which file and line, for messages; empty on the command line
};

Error bad_setting(const Given& given, std::string_view reason)
{
    return Error{ErrorCode::invalid_argument, given.where + std::string(reason)};
}

/// Takes them out of `arguments`, and leaves the others in their order.
Result<std::vector<Given>> take_options(std::vector<std::string>& arguments)
{
    std::vector<Given> given;
    std::vector<std::string> others;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view argument = arguments[i];
        if (!argument.starts_with("-ORB")) {
            others.push_back(std::move(arguments[i]));
            continue;
        }
        // Only a name may be followed by '=' without a blank: -ORBInitRef's value has one of its
        // own.
        const std::size_t equals = argument.find('=');
        const std::string_view name = argument.substr(0, equals);
        const Known* known = find_option(name);
        if (known == nullptr)
            return Error{ErrorCode::invalid_argument, "unknown option " + std::string(name)};
        if (equals == std::string_view::npos && i + 1 == arguments.size())
            return Error{ErrorCode::invalid_argument, std::string(name) + " needs a value"};
        given.push_back(
            {known,
             std::string(equals == std::string_view::npos ? std::string_view(arguments[++i])
                                                          : argument.substr(equals + 1)),
             {}});
    }
    arguments = std::move(others);
    return given;
}

Result<std::vector<Given>> options_of_file(const std::string& file)
{
    const auto text = read_configuration(file);
    if (!text) return text.error();
    const auto settings = parse_configuration(*text);
    if (!settings) return Error{settings.error().code, file + ": " + settings.error().reason};
    std::vector<Given> given;
    for (const Setting& setting : *settings) {
        Given each{find_option(setting.option), setting.value,
                   file + ": line " + std::to_string(setting.line) + ": "};
        if (each.known == nullptr) return bad_setting(each, "unknown option " + setting.option);
        if (each.known->set == set_configuration_file)
            return bad_setting(each, setting.option + " belongs on the command line");
        given.push_back(std::move(each));
    }
    return given;
}

/// Puts in front of what the command line says what the file that it names says, unless the command
/// line says the same otherwise.
Result<void> add_file(std::vector<Given>& given)
{
    const auto is_file = [](const Given& each) {
        return each.known->set == set_configuration_file;
    };
    const auto file = std::ranges::find_if(given, is_file);
    if (file == given.end()) return {};
    if (std::ranges::count_if(given, is_file) > 1)
        return bad_setting(*file, std::string(file->known->name) + " is given twice");
    auto of_file = options_of_file(file->value);
    if (!of_file) return of_file.error();
    std::erase_if(*of_file, [&](const Given& each) {
        const Setter set = each.known->set;
        return set != add_initial_reference && // which are apart by their names
               std::ranges::any_of(given,
                                   [&](const Given& other) { return other.known->set == set; });
    });
    given.insert(given.begin(), of_file->begin(), of_file->end());
    return {};
}

Result<void> check_meaning(const Known& known, const Architecture& chosen)
{
    if (known.needs == nullptr || chosen.*known.needs) return {};
    return Error{ErrorCode::invalid_argument, std::string(known.name) +
                                                  " contradicts -ORBConcurrency " +
                                                  std::string(chosen.name)};
}

} // namespace

Result<Options> parse_options(std::vector<std::string>& arguments)
{
    std::vector<std::string> others = arguments;
    auto given = take_options(others);
    if (!given) return given.error();
    if (const auto added = add_file(*given); !added) return added.error();
    Options options;
    for (const Given& each : *given)
        if (const auto set = each.known->set(options, each.known->name, each.value); !set)
            return bad_setting(each, set.error().reason);
    for (const Given& each : *given)
        if (auto check = check_meaning(*each.known, *options.concurrency); !check)
            return check.error();
    arguments = std::move(others);
    return options;
}

} // namespace kairos::orb
