// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/options.h"

#include "kairos/ior/object_url.h"
#include "kairos/orb/configuration.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

namespace kairos::orb {
namespace {

Error bad_option(std::string_view option, std::string_view value, std::string_view expected)
{
    std::string reason(option);
    reason.append(": '").append(value).append("' is not ").append(expected);
    return Error{ErrorCode::invalid_argument, std::move(reason)};
}

template <typename T>
std::optional<T> parse_number(std::string_view text)
{
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// Sets one option from its value; an empty Result is success.
using Setter = Result<void> (*)(Options&, std::string_view option, std::string_view value);

template <auto Member>
Result<void> set_size(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::size_t>(value);
    if (!number) return bad_option(option, value, "a number of zero or more");
    options.*Member = *number;
    return {};
}

Result<void> set_max_message_size(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::uint32_t>(value);
    if (!number || *number < 64)
        return bad_option(option, value, "a size of 64 to 4294967295 bytes");
    options.message_size_max = *number;
    return {};
}

Result<void> set_fragment_size(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::uint32_t>(value);
    if (!number || (*number != 0 && *number < 256))
        return bad_option(option, value, "0 or a size of at least 256 bytes");
    options.fragment_size = *number;
    return {};
}

constexpr std::pair<std::string_view, Concurrency> architecture_names[] = {
    {"thread-per-connection", Concurrency::thread_per_connection},
    {"reactor", Concurrency::reactor},
    {"reactor-per-priority", Concurrency::reactor_per_priority},
    {"leader-followers", Concurrency::leader_followers},
    {"worker-pool", Concurrency::worker_pool},
    {"thread-per-request", Concurrency::thread_per_request},
    {"thread-per-object", Concurrency::thread_per_object},
    {"filter-chain", Concurrency::filter_chain},
    {"custom", Concurrency::custom},
};

Result<void> set_concurrency(Options& options, std::string_view option, std::string_view value)
{
    for (const auto& [name, architecture] : architecture_names) {
        if (value != name) continue;
        options.concurrency = architecture;
        options.concurrency_given = true;
        return {};
    }
    return bad_option(option, value,
                      "thread-per-connection, reactor, reactor-per-priority, leader-followers, "
                      "worker-pool, thread-per-request, thread-per-object, filter-chain or custom");
}

constexpr std::pair<std::string_view, ConnectionArchitecture> connection_names[] = {
    {"non-multiplexed", ConnectionArchitecture::non_multiplexed},
    {"leader-followers", ConnectionArchitecture::leader_followers},
    {"active", ConnectionArchitecture::active},
};

Result<void> set_connection(Options& options, std::string_view option, std::string_view value)
{
    for (const auto& [name, architecture] : connection_names) {
        if (value != name) continue;
        options.call_policies.connection = architecture;
        // The default says nothing, so that calls remain plain ones.
        if (architecture == ConnectionArchitecture::non_multiplexed)
            options.call_policies.connection.reset();
        return {};
    }
    return bad_option(option, value, "non-multiplexed, leader-followers or active");
}

Result<void> set_client_idle(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::uint32_t>(value);
    if (!number) return bad_option(option, value, "a number of milliseconds");
    options.client_idle = std::chrono::milliseconds(*number);
    if (*number != 0) options.closes_idle_connections = true;
    return {};
}

template <auto Member>
Result<void> set_count(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::size_t>(value);
    if (!number || *number == 0 || *number > 100'000)
        return bad_option(option, value, "a number of 1 to 100000");
    options.*Member = *number;
    return {};
}

/// "priority[:threads][@cpu]".
std::optional<LaneOption> parse_lane(std::string_view text)
{
    LaneOption lane;
    if (const auto at = text.find('@'); at != std::string_view::npos) {
        lane.cpu = parse_number<int>(text.substr(at + 1));
        if (!lane.cpu || *lane.cpu < 0) return std::nullopt;
        text = text.substr(0, at);
    }
    if (const auto colon = text.find(':'); colon != std::string_view::npos) {
        lane.threads = parse_number<std::size_t>(text.substr(colon + 1)).value_or(0);
        if (lane.threads == 0 || lane.threads > 1000) return std::nullopt;
        text = text.substr(0, colon);
    }
    lane.priority = parse_number<std::int16_t>(text).value_or(-1);
    return lane.priority < 0 ? std::nullopt : std::optional(lane);
}

Result<void> set_client_connections(Options& options, std::string_view option,
                                    std::string_view value)
{
    options.closes_idle_connections = true;
    return set_count<&Options::client_connections_max>(options, option, value);
}

Result<void> set_lanes(Options& options, std::string_view option, std::string_view value)
{
    const Error bad = bad_option(
        option, value, "priority[:threads][@cpu],… with priorities of 0 to 32767, ascending");
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
    if (value != "wanted" && value != "required")
        return bad_option(option, value, "wanted or required");
    options.real_time_required = value == "required";
    return {};
}

Result<void> set_when_queue_full(Options& options, std::string_view option, std::string_view value)
{
    if (value != "block" && value != "refuse") return bad_option(option, value, "block or refuse");
    options.when_queue_full = value == "block" ? WhenQueueFull::block : WhenQueueFull::refuse;
    return {};
}

Result<void> set_late_calls(Options& options, std::string_view option, std::string_view value)
{
    if (value != "results" && value != "timeout")
        return bad_option(option, value, "results or timeout");
    options.late_calls = value == "timeout" ? WhenLate::timeout : WhenLate::results;
    return {};
}

constexpr std::pair<std::string_view, Dispatching> dispatching_names[] = {
    {"fifo", Dispatching::fifo}, {"rms", Dispatching::rms}, {"edf", Dispatching::edf},
    {"llf", Dispatching::llf},   {"muf", Dispatching::muf},
};

Result<void> set_dispatching(Options& options, std::string_view option, std::string_view value)
{
    for (const auto& [name, dispatching] : dispatching_names) {
        if (value != name) continue;
        options.dispatching = dispatching;
        return {};
    }
    return bad_option(option, value, "fifo, rms, edf, llf or muf");
}

template <auto Member>
Result<void> set_queue(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<int>(value);
    if (!number || *number < 0) return bad_option(option, value, "a number of bytes");
    options.socket.*Member = *number;
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

Result<void> set_stack_size(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::size_t>(value);
    if (!number || (*number != 0 && *number < limits::stack_least) || *number > limits::stack_most)
        return bad_option(option, value, "0 or a size of 64 KiB to 1 GiB, in bytes");
    options.stack_bytes = *number;
    return {};
}

template <auto Member>
Result<void> set_time(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::uint32_t>(value);
    if (!number) return bad_option(option, value, "a number of milliseconds");
    options.call_policies.*Member = std::chrono::milliseconds(*number);
    return {};
}

Result<void> set_demultiplexing(Options& options, std::string_view option, std::string_view value)
{
    if (value == "linear")
        options.demultiplexing = Demultiplexing::linear;
    else if (value == "hash")
        options.demultiplexing = Demultiplexing::hash;
    else if (value == "active")
        options.demultiplexing = Demultiplexing::active;
    else if (value == "delayered")
        options.demultiplexing = Demultiplexing::delayered;
    else
        return bad_option(option, value, "linear, hash, active or delayered");
    return {};
}

Result<void> set_collocation(Options& options, std::string_view option, std::string_view value)
{
    if (value == "direct")
        options.collocation = Collocation::direct;
    else if (value == "through-poa")
        options.collocation = Collocation::through_poa;
    else if (value == "no")
        options.collocation = Collocation::no;
    else
        return bad_option(option, value, "direct, through-poa or no");
    return {};
}

Result<void> set_spin(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::uint32_t>(value);
    if (!number || *number > 1'000'000)
        return bad_option(option, value, "a number of microseconds, at most 1000000");
    options.socket.spin = std::chrono::microseconds(*number);
    return {};
}

Result<void> set_stream_pause(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::uint32_t>(value);
    if (!number || *number > 1000)
        return bad_option(option, value, "a number of microseconds, at most 1000");
    options.stream_pause = std::chrono::microseconds(*number);
    return {};
}

Result<void> set_no_delay(Options& options, std::string_view option, std::string_view value)
{
    if (value != "0" && value != "1") return bad_option(option, value, "0 or 1");
    options.socket.no_delay = value == "1";
    return {};
}

template <auto Member>
Result<void> set_flag(Options& options, std::string_view option, std::string_view value)
{
    if (value != "0" && value != "1") return bad_option(option, value, "0 or 1");
    options.*Member = value == "1";
    return {};
}

Result<void> set_giop_version(Options& options, std::string_view option, std::string_view value)
{
    if (value != "1.0" && value != "1.1" && value != "1.2")
        return bad_option(option, value, "1.0, 1.1 or 1.2");
    options.giop_version = {1, static_cast<std::uint8_t>(value[2] - '0')};
    return {};
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

Result<void> set_debug(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<int>(value);
    if (!number || *number < 0 || *number > 3)
        return bad_option(option, value, "a level of 0 to 3");
    options.log_level = *number;
    options.announces_addresses = *number >= 1;
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
    if (value == "alternates")
        options.publish_as = PublishAs::alternates;
    else if (value == "profiles")
        options.publish_as = PublishAs::profiles;
    else
        return bad_option(option, value, "alternates or profiles");
    return {};
}

Result<void> set_orb_id(Options& options, std::string_view, std::string_view value)
{
    options.orb_id = value;
    return {};
}

Result<void> set_profile_types(Options& options, std::string_view option, std::string_view value)
{
    if (value.empty()) return bad_option(option, value, "the name of a file");
    options.profile_types = value;
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

/// The name is in the URL's key or, in a corbaname with one, behind its name: escaped for either.
std::string appended_name(std::string_view url, std::string_view name)
{
    return std::string(url) + '/' + ior::escape_key(as_bytes(name));
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

Result<void> add_listen_endpoints(Options& options, std::string_view option, std::string_view value)
{
    auto endpoints = parse_listen_endpoints(value);
    if (!endpoints)
        return Error{endpoints.error().code, std::string(option) + ": " + endpoints.error().reason};
    for (auto& endpoint : *endpoints)
        options.listen_endpoints.push_back(std::move(endpoint));
    return {};
}

/// Read before the others are set.
Result<void> set_configuration_file(Options&, std::string_view option, std::string_view value)
{
    if (value.empty()) return bad_option(option, value, "the name of a file");
    return {};
}

struct Known {
    std::string_view name;
    Setter set;
};

/// Options that only some architectures know what to do with.
struct Meaning {
    std::string_view option;
    std::initializer_list<Concurrency> architectures;
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
    {"-ORBBindEarly", set_flag<&Options::binds_early>},
    {"-ORBThreads", set_count<&Options::threads>},
    {"-ORBLanes", set_lanes},
    {"-ORBRealTime", set_real_time},
    {"-ORBLateCalls", set_late_calls},
    {"-ORBDispatching", set_dispatching},
    {"-ORBLockMemory", set_flag<&Options::lock_memory>},
    {"-ORBStackSize", set_stack_size},
    {"-ORBNetworkPriority", set_flag<&Options::network_priority>},
    {"-ORBBusyPoll", set_busy_poll},
    {"-ORBPools", set_count<&Options::pools>},
    {"-ORBQueue", set_count<&Options::requests_queued_max>},
    {"-ORBQueueFull", set_when_queue_full},
    {"-ORBOnewayQueue", set_size<&Options::oneways_unsent_max>},
    {"-ORBMaxMessageSize", set_max_message_size},
    {"-ORBMaxConnections", set_size<&Options::connections_max>},
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
    {"-ORBStreamPause", set_stream_pause},
    {"-ORBExceptionIdInAny", set_flag<&Options::exception_id_in_any>},
    {"-ORBPlainKeys", set_flag<&Options::plain_keys>},
    {"-ORBNativeCharCodeSet", set_native_code_set},
    {"-ORBnativeCharCodeSet", set_native_code_set}, // as omniORB spells it
    {"-ORBNativeWCharCodeSet", set_native_wide_code_set},
    {"-ORBnativeWCharCodeSet", set_native_wide_code_set},
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

/// Whether an option that was given has a meaning with the architecture that was chosen.
Result<void> check_meaning(std::string_view option, Concurrency chosen)
{
    using enum Concurrency;
    static constexpr auto pools = {leader_followers, worker_pool, thread_per_request,
                                   thread_per_object, filter_chain};
    static constexpr auto queues = {worker_pool, thread_per_object, filter_chain, custom};
    static constexpr auto bounds = {worker_pool, thread_per_request, thread_per_object,
                                    filter_chain, custom};
    static constexpr auto orders = {worker_pool, filter_chain, reactor_per_priority};
    static constexpr auto filters = {filter_chain};
    static constexpr auto priorities = {reactor_per_priority};
    static constexpr auto pauses = {thread_per_connection, reactor};
    static constexpr Meaning meanings[] = {
        {"-ORBThreads", pools},      {"-ORBQueue", queues},     {"-ORBQueueFull", bounds},
        {"-ORBPools", filters},      {"-ORBLanes", priorities}, {"-ORBDispatching", orders},
        {"-ORBStreamPause", pauses},
    };
    for (const Meaning& meaning : meanings) {
        if (meaning.option != option) continue;
        if (std::ranges::find(meaning.architectures, chosen) != meaning.architectures.end()) break;
        const auto* const name = std::ranges::find(
            architecture_names, chosen, &std::pair<std::string_view, Concurrency>::second);
        return Error{ErrorCode::invalid_argument, std::string(option) +
                                                      " contradicts -ORBConcurrency " +
                                                      std::string(name->first)};
    }
    return {};
}

Result<ListenEndpoint> parse_listen_endpoint(std::string_view text)
{
    const auto bad = [text](std::string_view why) {
        return Error{ErrorCode::invalid_argument,
                     "endpoint '" + std::string(text) + "': " + std::string(why)};
    };
    ListenEndpoint endpoint{.text = std::string(text), .host = {}, .published_host = {}};
    constexpr std::pair<std::string_view, Transport> local_schemes[] = {
        {"uiop://", Transport::unix_socket}, {"shmiop://", Transport::shared_memory}};
    for (const auto& [local_scheme, transport] : local_schemes) {
        if (!text.starts_with(local_scheme)) continue;
        endpoint.transport = transport;
        endpoint.path = text.substr(local_scheme.size());
        if (endpoint.path.empty()) return endpoint;
        if (endpoint.path.size() < 2 || (endpoint.path[0] != '/' && endpoint.path[0] != '@'))
            return bad("expected an absolute path, or '@' and a name");
        if (const auto address = net::Address::unix_path(endpoint.path); !address)
            return bad(address.error().reason);
        return endpoint;
    }
    constexpr std::string_view scheme = "iiop://";
    if (!text.starts_with(scheme))
        return bad(
            "expected iiop://[host][:port][/option=value], uiop://[path] or shmiop://[path]");
    std::string_view rest = text.substr(scheme.size());
    std::string_view address = rest.substr(0, rest.find('/'));
    std::string_view option = address.size() < rest.size() ? rest.substr(address.size() + 1) : "";
    if (const auto at = address.find('@'); at != std::string_view::npos)
        address.remove_prefix(at + 1); // TAO's "1.2@": the version is -ORBGIOPVersion's here
    auto parsed = parse_host_and_port(address);
    if (!parsed) return bad(parsed.error().reason);
    endpoint.host = std::move(parsed->host);
    endpoint.port = parsed->port.value_or(0);
    constexpr std::string_view published = "hostname_in_ior=";
    if (option.starts_with(published)) {
        endpoint.published_host = option.substr(published.size());
        if (const auto host = check_published_host(endpoint.published_host); !host)
            return bad(std::string(option) + ": " + host.error().reason);
    } else if (!option.empty()) {
        return bad("unknown endpoint option '" + std::string(option) + "'");
    }
    return endpoint;
}

} // namespace

std::string default_reference(const Options& options, std::string_view name)
{
    return appended_name(options.default_initial_reference, name);
}

Result<std::vector<ListenEndpoint>> parse_listen_endpoints(std::string_view text)
{
    std::vector<ListenEndpoint> endpoints;
    while (!text.empty()) {
        const std::string_view one = text.substr(0, text.find(';'));
        text.remove_prefix(std::min(text.size(), one.size() + 1));
        auto endpoint = parse_listen_endpoint(one);
        if (!endpoint) return endpoint.error();
        endpoints.push_back(std::move(endpoint).value());
    }
    if (endpoints.empty()) return Error{ErrorCode::invalid_argument, "no endpoint given"};
    return endpoints;
}

namespace {

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
        if (auto check = check_meaning(each.known->name, options.concurrency); !check)
            return check.error();
    arguments = std::move(others);
    return options;
}

} // namespace kairos::orb
