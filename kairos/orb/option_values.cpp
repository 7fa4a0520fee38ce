// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/option_values.h"

#include "kairos/ior/object_url.h"

#include <algorithm>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kairos::orb {
namespace {

template <typename T>
using Named = std::pair<std::string_view, T>;

/// "a, b or c".
template <typename T>
std::string list_of(std::span<const Named<T>> names)
{
    std::string list(names.front().first);
    for (const auto& [name, meaning] : names.subspan(1))
        list.append(name == names.back().first ? " or " : ", ").append(name);
    return list;
}

/// Sets `chosen` to what the value names.
template <typename T>
Result<void> choose_of(std::span<const Named<std::type_identity_t<T>>> names, T& chosen,
                       std::string_view option, std::string_view value)
{
    for (const auto& [name, meaning] : names) {
        if (value != name) continue;
        chosen = meaning;
        return {};
    }
    return bad_option(option, value, list_of<T>(names));
}

template <typename T, std::size_t count>
Result<void> choose(T& chosen, std::string_view option, std::string_view value,
                    const Named<std::type_identity_t<T>> (&names)[count])
{
    return choose_of(names, chosen, option, value);
}

/// "priority[:threads|:each][@cpu]".
std::optional<LaneOption> parse_lane(std::string_view text)
{
    LaneOption lane;
    if (const auto at = text.find('@'); at != std::string_view::npos) {
        lane.cpu = parse_number<int>(text.substr(at + 1));
        if (!lane.cpu || *lane.cpu < 0) return std::nullopt;
        text = text.substr(0, at);
    }
    if (const auto colon = text.find(':'); colon != std::string_view::npos) {
        const std::string_view threads = text.substr(colon + 1);
        const bool each = threads == "each";
        lane.threads = each ? 0 : parse_number<std::size_t>(threads).value_or(0);
        if ((lane.threads == 0 && !each) || lane.threads > 1000) return std::nullopt;
        text = text.substr(0, colon);
    }
    lane.priority = parse_number<std::int16_t>(text).value_or(-1);
    return lane.priority < 0 ? std::nullopt : std::optional(lane);
}

/// The name is in the URL's key or, in a corbaname with one, behind its name: escaped for either.
std::string appended_name(std::string_view url, std::string_view name)
{
    return std::string(url) + '/' + ior::escape_key(as_bytes(name));
}

/// -ORBRoomSpin, -ORBStreamPause.
Result<void> set_brief_time(std::chrono::microseconds& time, std::string_view option,
                            std::string_view value)
{
    const auto number = parse_number<std::uint32_t>(value);
    if (!number || *number > 1000)
        return bad_option(option, value, "a number of microseconds, at most 1000");
    time = std::chrono::microseconds(*number);
    return {};
}

} // namespace

Error bad_option(std::string_view option, std::string_view value, std::string_view expected)
{
    std::string reason(option);
    reason.append(": '").append(value).append("' is not ").append(expected);
    return Error{ErrorCode::invalid_argument, std::move(reason)};
}

Result<void> set_configuration_file(Options&, std::string_view option, std::string_view value)
{
    if (value.empty()) return bad_option(option, value, "the name of a file");
    return {};
}

Result<void> set_orb_id(Options& options, std::string_view, std::string_view value)
{
    options.orb_id = value;
    return {};
}

Result<void> add_initial_reference(Options& options, std::string_view option,
                                   std::string_view value)
{
    const std::size_t equals = value.find('=');
    if (equals == 0 || equals == std::string_view::npos)
        return bad_option(option, value, "of the form name=url");
    options.initial_references[std::string(value.substr(0, equals))] = value.substr(equals + 1);
    return {};
}

Result<void> set_default_initial_reference(Options& options, std::string_view option,
                                           std::string_view value)
{
    using Scheme = ior::ObjectUrl::Scheme;
    const auto url = ior::parse_object_url(appended_name(value, "NameService"));
    if (!url) return bad_option(option, value, "the beginning of a URL: " + url.error().reason);
    // "rir:" would ask this very option again.
    if (url->initial || (url->scheme != Scheme::corbaloc && url->scheme != Scheme::corbaname))
        return bad_option(option, value, "a corbaloc or corbaname with an address");
    options.default_initial_reference = value;
    return {};
}

std::string default_reference(const Options& options, std::string_view name)
{
    return appended_name(options.default_initial_reference, name);
}

Result<void> add_listen_endpoints(Options& options, std::string_view option, std::string_view value)
{
    auto endpoints = parse_listen_endpoints(value);
    if (!endpoints)
        return Error{endpoints.error().code, std::string(option) + ": " + endpoints.error().reason};
    for (auto& endpoint : *endpoints)
        options.listen_endpoints.push_back(std::move(endpoint));
    return {};
}

Result<void> set_publish(Options& options, std::string_view option, std::string_view value)
{
    auto items = parse_publish(value);
    if (!items) return Error{items.error().code, std::string(option) + ": " + items.error().reason};
    options.publish = std::move(items).value();
    return {};
}

Result<void> set_publish_as(Options& options, std::string_view option, std::string_view value)
{
    using enum PublishAs;
    return choose(options.publish_as, option, value,
                  {{"alternates", alternates}, {"profiles", profiles}});
}

Result<void> set_concurrency(Options& options, std::string_view option, std::string_view value)
{
    options.concurrency_given = true;
    std::vector<Named<const Architecture*>> names;
    for (const Architecture* each : architectures())
        names.emplace_back(each->name, each);
    return choose_of(names, options.concurrency, option, value);
}

Result<void> set_connection(Options& options, std::string_view option, std::string_view value)
{
    using enum ConnectionArchitecture;
    auto chosen = non_multiplexed;
    auto set = choose(chosen, option, value,
                      {{"non-multiplexed", non_multiplexed},
                       {"leader-followers", leader_followers},
                       {"active", active}});
    // The default says nothing, so that calls remain plain ones.
    options.call_policies.connection =
        chosen == non_multiplexed ? std::nullopt : std::optional(chosen);
    return set;
}

Result<void> set_client_connections(Options& options, std::string_view option,
                                    std::string_view value)
{
    options.closes_idle_connections = true;
    return set_count<&Options::client_connections_max>(options, option, value);
}

Result<void> set_client_idle(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::uint32_t>(value);
    if (!number) return bad_option(option, value, "a number of milliseconds");
    options.client_idle = std::chrono::milliseconds(*number);
    if (*number != 0) options.closes_idle_connections = true;
    return {};
}

Result<void> set_lanes(Options& options, std::string_view option, std::string_view value)
{
    const Error bad = bad_option(
        option, value, "priority[:threads|:each][@cpu],… with priorities of 0 to 32767, ascending");
    options.lanes.clear();
    for (std::string_view rest = value;;) {
        const std::size_t comma = rest.find(',');
        const std::string_view lane = rest.substr(0, comma);
        const auto parsed = parse_lane(lane);
        if (!parsed) return bad;
        if (!options.lanes.empty() && options.lanes.back().priority >= parsed->priority) return bad;
        options.lanes.push_back(*parsed);
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    if (options.lanes.size() > limits::lanes_max) return bad;
    return {};
}

Result<void> set_real_time(Options& options, std::string_view option, std::string_view value)
{
    return choose(options.real_time_required, option, value,
                  {{"wanted", false}, {"required", true}});
}

Result<void> set_priority_mapping(Options& options, std::string_view option, std::string_view value)
{
    using enum InitialMapping;
    return choose(options.priority_mapping, option, value,
                  {{"linear", linear}, {"direct", direct}});
}

Result<void> set_scheduling_policy(Options& options, std::string_view option,
                                   std::string_view value)
{
    using enum net::SchedulingPolicy;
    return choose(options.scheduling_policy, option, value, {{"fifo", fifo}, {"rr", round_robin}});
}

Result<void> set_late_calls(Options& options, std::string_view option, std::string_view value)
{
    return choose(options.late_calls, option, value,
                  {{"results", WhenLate::results}, {"timeout", WhenLate::timeout}});
}

Result<void> set_dispatching(Options& options, std::string_view option, std::string_view value)
{
    using enum Dispatching;
    return choose(options.dispatching, option, value,
                  {{"fifo", fifo}, {"rms", rms}, {"edf", edf}, {"llf", llf}, {"muf", muf}});
}

Result<void> set_stack_size(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::size_t>(value);
    if (!number || (*number != 0 && *number < limits::stack_least) || *number > limits::stack_most)
        return bad_option(option, value, "0 or a size of 64 KiB to 1 GiB, in bytes");
    options.stack_bytes = *number;
    return {};
}

Result<void> set_busy_poll(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<int>(value);
    if (!number || *number < 0 || *number > 1'000'000)
        return bad_option(option, value, "a number of microseconds");
    options.socket.busy_poll_us = *number;
    return {};
}

Result<void> set_when_queue_full(Options& options, std::string_view option, std::string_view value)
{
    return choose(options.when_queue_full, option, value,
                  {{"block", WhenQueueFull::block}, {"refuse", WhenQueueFull::refuse}});
}

Result<void> set_max_message_size(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::uint32_t>(value);
    if (!number || *number < 64)
        return bad_option(option, value, "a size of 64 to 4294967295 bytes");
    options.message_size_max = *number;
    return {};
}

Result<void> set_memory(Options& options, std::string_view option, std::string_view value)
{
    constexpr std::size_t least = std::size_t{1} << 20;
    const auto number = parse_number<std::size_t>(value);
    if (!number || *number < least)
        return bad_option(option, value, "a number of bytes, at least 1048576");
    options.memory = *number;
    return {};
}

Result<void> set_demultiplexing(Options& options, std::string_view option, std::string_view value)
{
    using enum Demultiplexing;
    return choose(
        options.demultiplexing, option, value,
        {{"linear", linear}, {"hash", hash}, {"active", active}, {"delayered", delayered}});
}

Result<void> set_collocation(Options& options, std::string_view option, std::string_view value)
{
    using enum Collocation;
    return choose(options.collocation, option, value,
                  {{"direct", direct}, {"through-poa", through_poa}, {"no", no}});
}

Result<void> set_fragment_size(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::uint32_t>(value);
    if (!number || (*number != 0 && *number < 256))
        return bad_option(option, value, "0 or a size of at least 256 bytes");
    options.fragment_size = *number;
    return {};
}

Result<void> set_giop_version(Options& options, std::string_view option, std::string_view value)
{
    return choose(options.giop_version.minor, option, value, {{"1.0", 0}, {"1.1", 1}, {"1.2", 2}});
}

Result<void> set_no_delay(Options& options, std::string_view option, std::string_view value)
{
    return choose(options.socket.no_delay, option, value, {{"0", false}, {"1", true}});
}

Result<void> set_spin(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::uint32_t>(value);
    if (!number || *number > 1'000'000)
        return bad_option(option, value, "a number of microseconds, at most 1000000");
    options.socket.spin = std::chrono::microseconds(*number);
    return {};
}

Result<void> set_room_spin(Options& options, std::string_view option, std::string_view value)
{
    return set_brief_time(options.room_spin, option, value);
}

Result<void> set_stream_pause(Options& options, std::string_view option, std::string_view value)
{
    return set_brief_time(options.stream_pause, option, value);
}

Result<void> set_native_code_set(Options& options, std::string_view option, std::string_view value)
{
    const cdr::CodeSet* set = cdr::find_code_set(value);
    if (set == nullptr || !set->carries_characters || !is_convertible(*set))
        return bad_option(option, value, "a code set for char, by name or number");
    options.native_code_set = set;
    return {};
}

Result<void> set_native_wide_code_set(Options& options, std::string_view option,
                                      std::string_view value)
{
    const cdr::CodeSet* set = cdr::find_code_set(value);
    if (set == nullptr || !set->carries_wide || set->encoding == cdr::Encoding::utf_8)
        return bad_option(option, value, "UTF-16, UCS-4 or UCS-2, by name or number");
    options.native_wide_code_set = set;
    return {};
}

Result<void> set_quirks(Options& options, std::string_view option, std::string_view value)
{
    const auto quirks = quirks_named(value);
    if (!quirks) return bad_option(option, value, quirks.error().reason);
    options.quirks = *quirks;
    return {};
}

Result<void> set_profile_types(Options& options, std::string_view option, std::string_view value)
{
    if (value.empty()) return bad_option(option, value, "the name of a file");
    options.profile_types = value;
    return {};
}

Result<void> set_debug(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<int>(value);
    if (!number || *number < 0 || *number > 3)
        return bad_option(option, value, "a level of 0 to 3");
    options.log_level = *number;
    options.announces_addresses = *number >= 1;
    return {};
}

} // namespace kairos::orb
