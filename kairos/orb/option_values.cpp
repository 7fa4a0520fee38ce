// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/option_values.h"

#include "kairos/ior/object_url.h"

#include <string>
#include <utility>
#include <vector>

namespace kairos::orb {
namespace {

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

/// What -ORBPublish calls it, with the '=' of those that have a name.
std::string_view source_of(const PublishItem& item)
{
    switch (item.source) {
    case PublishItem::Source::addresses:
        return "addresses";
    case PublishItem::Source::ipv4:
        return "ipv4";
    case PublishItem::Source::ipv6:
        return "ipv6";
    case PublishItem::Source::interface:
        return "interface=";
    case PublishItem::Source::hostname:
        return "hostname";
    case PublishItem::Source::host:
        return "host=";
    }
    return {};
}

} // namespace

Error bad_option(std::string_view option, std::string_view value, std::string_view expected)
{
    std::string reason(option);
    reason.append(": '").append(value).append("' is not ").append(expected);
    return Error{ErrorCode::invalid_argument, std::move(reason)};
}

Result<void> read_number(std::uint64_t& number, const Range& range, std::string_view option,
                         std::string_view value)
{
    const auto read = parse_number<std::uint64_t>(value);
    const bool is_in = read && *read >= range.least && *read <= range.most;
    if (!is_in && !(read && *read == 0 && range.or_zero))
        return bad_option(option, value, range.expected);
    number = *read;
    return {};
}

void add_alternative(std::string& list, std::string_view name, bool is_last)
{
    if (!list.empty()) list.append(is_last ? " or " : ", ");
    list.append(name);
}

Result<void> choose(std::size_t& index, std::span<const std::string_view> names,
                    std::string_view option, std::string_view value)
{
    std::string list;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (value == names[i]) {
            index = i;
            return {};
        }
        add_alternative(list, names[i], i + 1 == names.size());
    }
    return bad_option(option, value, list);
}

Result<void> check_file_name(std::string_view option, std::string_view value)
{
    if (value.empty()) return bad_option(option, value, "the name of a file");
    return {};
}

Result<void> set_file_name(std::string& name, std::string_view option, std::string_view value)
{
    auto check = check_file_name(option, value);
    if (check) name = value;
    return check;
}

Result<void> ProfileTypes::set(Options& options, std::string_view option, std::string_view value)
{
    options.profile_types = value;
    return check_file_name(option, value);
}

Result<void> OrbId::set(Options& options, std::string_view, std::string_view value)
{
    options.orb_id = value;
    return {};
}

Result<void> ServerId::set(Options& options, std::string_view, std::string_view value)
{
    options.server_id = value;
    return {};
}

Result<void> InitialReferences::set(Options& options, std::string_view option,
                                    std::string_view value)
{
    const std::size_t equals = value.find('=');
    if (equals == 0 || equals == std::string_view::npos)
        return bad_option(option, value, "of the form name=url");
    options.initial_references[std::string(value.substr(0, equals))] = value.substr(equals + 1);
    return {};
}

std::string InitialReferences::show(const Options& options)
{
    std::string list;
    for (const auto& [name, url] : options.initial_references)
        list.append(list.empty() ? "" : " -ORBInitRef ").append(name).append("=").append(url);
    return list;
}

Result<void> DefaultInitialReference::set(Options& options, std::string_view option,
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

Result<void> ListenEndpoints::set(Options& options, std::string_view option, std::string_view value)
{
    if (value == "none") {
        if (!options.listen_endpoints.empty())
            return Error{ErrorCode::invalid_argument,
                         std::string(option) + ": none contradicts other endpoints"};
        options.listens = false;
        return {};
    }
    if (!options.listens)
        return Error{ErrorCode::invalid_argument,
                     std::string(option) + ": none contradicts other endpoints"};
    auto endpoints = parse_listen_endpoints(value);
    if (!endpoints)
        return Error{endpoints.error().code, std::string(option) + ": " + endpoints.error().reason};
    for (auto& endpoint : *endpoints)
        options.listen_endpoints.push_back(std::move(endpoint));
    return {};
}

std::string ListenEndpoints::show(const Options& options)
{
    if (!options.listens) return "none";
    if (options.listen_endpoints.empty()) return "iiop://";
    std::string list;
    for (const ListenEndpoint& endpoint : options.listen_endpoints)
        list.append(list.empty() ? "" : ";").append(endpoint.text);
    return list;
}

Result<void> Publish::set(Options& options, std::string_view option, std::string_view value)
{
    auto items = parse_publish(value);
    if (!items) return Error{items.error().code, std::string(option) + ": " + items.error().reason};
    options.publish = std::move(items).value();
    return {};
}

std::string Publish::show(const Options& options)
{
    std::string list;
    for (const PublishItem& item : options.publish) {
        list.append(list.empty() ? "" : ",").append(source_of(item));
        // The colons of an IPv6 address are not that of the port.
        const bool brackets = item.name.find(':') != std::string::npos;
        list.append(brackets ? "[" : "").append(item.name).append(brackets ? "]" : "");
        if (item.port != 0) list.append(":").append(std::to_string(item.port));
    }
    return list;
}

Result<void> Concurrency::set(Options& options, std::string_view option, std::string_view value)
{
    options.concurrency_given = true;
    std::vector<std::string_view> names;
    for (const Architecture* each : architectures())
        names.push_back(each->name);
    std::size_t index = 0;
    auto chosen = choose(index, names, option, value);
    if (chosen) options.concurrency = architectures()[index];
    return chosen;
}

std::string Concurrency::show(const Options& options)
{
    return std::string(options.concurrency->name);
}

std::string Concurrency::form()
{
    std::string list;
    for (const Architecture* each : architectures())
        list.append(list.empty() ? "" : "|").append(each->name);
    return list;
}

Result<void> ClientConnections::set(Options& options, std::string_view option,
                                    std::string_view value)
{
    options.closes_idle_connections = true;
    return Number::set(options, option, value);
}

Result<void> ClientIdle::set(Options& options, std::string_view option, std::string_view value)
{
    auto set = Number::set(options, option, value);
    if (options.client_idle.count() != 0) options.closes_idle_connections = true;
    return set;
}

Result<void> Lanes::set(Options& options, std::string_view option, std::string_view value)
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

std::string Lanes::show(const Options& options)
{
    std::string list;
    for (const LaneOption& lane : options.lanes) {
        list.append(list.empty() ? "" : ",").append(std::to_string(lane.priority));
        if (lane.threads != 1)
            list.append(":").append(lane.threads == 0 ? "each" : std::to_string(lane.threads));
        if (lane.cpu) list.append("@").append(std::to_string(*lane.cpu));
    }
    return list;
}

std::string Memory::show(const Options& options) { return std::to_string(options.memory_max()); }

Result<void> NativeCodeSet::set(Options& options, std::string_view option, std::string_view value)
{
    const cdr::CodeSet* set = cdr::find_code_set(value);
    if (set == nullptr || !set->carries_characters || !is_convertible(*set))
        return bad_option(option, value, "a code set for char, by name or number");
    options.native_code_set = set;
    return {};
}

std::string NativeCodeSet::show(const Options& options)
{
    return std::string(options.native_code_set->name);
}

Result<void> NativeWideCodeSet::set(Options& options, std::string_view option,
                                    std::string_view value)
{
    const cdr::CodeSet* set = cdr::find_code_set(value);
    if (set == nullptr || !set->carries_wide || set->encoding == cdr::Encoding::utf_8)
        return bad_option(option, value, "UTF-16, UCS-4 or UCS-2, by name or number");
    options.native_wide_code_set = set;
    return {};
}

std::string NativeWideCodeSet::show(const Options& options)
{
    return std::string(options.native_wide_code_set->name);
}

Result<void> QuirkNames::set(Options& options, std::string_view option, std::string_view value)
{
    const auto quirks = quirks_named(value);
    if (!quirks) return bad_option(option, value, quirks.error().reason);
    options.quirks = *quirks;
    return {};
}

Result<void> DebugLevel::set(Options& options, std::string_view option, std::string_view value)
{
    auto set = Number::set(options, option, value);
    options.announces_addresses = options.log_level >= 1;
    return set;
}

} // namespace kairos::orb
