// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/browse_guard.h"
#include "tools/kairos/failure.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace kairos::tools {
namespace {

std::string lower(std::string_view text)
{
    std::string result(text);
    std::ranges::transform(result, result.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

/// Lines of which a second one would leave it to the reader which of them counts.
constexpr std::array single{"host",           "origin",         "content-type",
                            "content-length", "x-kairos-token", "sec-fetch-site"};
/// What the page never sends: other forms of a body, parts of an answer, other protocols.
constexpr std::array refused{"transfer-encoding", "content-encoding", "range", "upgrade", "expect"};

template <std::size_t Size>
bool is_one_of(const std::array<const char*, Size>& names, const std::string& name)
{
    return std::ranges::find(names, name) != names.end();
}

bool is_token_character(unsigned char c)
{
    constexpr std::string_view others = "!#$%&'*+-.^_`|~";
    return std::isalnum(c) != 0 || others.find(static_cast<char>(c)) != std::string_view::npos;
}

constexpr std::size_t path_octets_max = 64;

/// Takes as long wherever the first difference is.
bool is_same(std::string_view left, std::string_view right)
{
    if (left.size() != right.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < left.size(); ++i)
        difference |= static_cast<unsigned char>(left[i]) ^ static_cast<unsigned char>(right[i]);
    return difference == 0;
}

Refusal judge_line(std::string_view line, std::set<std::string>& seen)
{
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0 ||
        !std::ranges::all_of(line.substr(0, colon), is_token_character))
        return {400, "a line of the head has no name"};
    if (std::ranges::any_of(line, [](unsigned char c) { return c < ' ' && c != '\t'; }))
        return {400, "a line of the head has control characters"};
    const std::string name = lower(line.substr(0, colon));
    if (is_one_of(refused, name)) return {400, "the page sends no " + name};
    if (is_one_of(single, name) && !seen.insert(name).second)
        return {400, "there are two lines " + name};
    if (name != "content-length") return {};
    std::string_view digits = line.substr(colon + 1);
    digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
    constexpr std::size_t digits_max = 9;
    if (digits.empty() ||
        !std::ranges::all_of(digits, [](unsigned char c) { return std::isdigit(c) != 0; }))
        return {400, "content-length is no number"};
    if (digits.size() > digits_max || std::stoul(std::string(digits)) > browse_body_octets_max)
        return {413, fmt::format("a body has at most {} octets", browse_body_octets_max)};
    return {};
}

// --- Calls ---------------------------------------------------------------------------------------

const std::string& text_in(const Json& json, const char* name, std::size_t octets_max)
{
    const auto found = json.find(name);
    if (found == json.end() || !found->is_string()) fail(fmt::format("'{}' must be a text", name));
    const auto& text = found->get_ref<const std::string&>();
    if (text.size() > octets_max) fail(fmt::format("'{}' is too long", name));
    return text;
}

std::optional<BrowseCall::Kind> kind_of(std::string_view path)
{
    using Kind = BrowseCall::Kind;
    constexpr std::array<std::pair<std::string_view, Kind>, 5> kinds{{{"/api/roots", Kind::roots},
                                                                      {"/api/names", Kind::names},
                                                                      {"/api/open", Kind::open},
                                                                      {"/api/call", Kind::call},
                                                                      {"/api/read", Kind::read}}};
    const auto* const found = std::ranges::find(kinds, path, &decltype(kinds)::value_type::first);
    if (found == kinds.end()) return std::nullopt;
    return found->second;
}

const std::string& object_in(const Json& json)
{
    const std::string& object = text_in(json, "object", browse_reference_octets_max);
    must_be_reference_of_page(object);
    return object;
}

std::vector<std::string> attributes_in(const Json& json)
{
    const auto found = json.find("attributes");
    if (found == json.end() || !found->is_array()) fail("'attributes' must be an array");
    if (found->size() > browse_attributes_max)
        fail(fmt::format("at most {} attributes are read at once", browse_attributes_max));
    std::vector<std::string> names;
    for (const Json& name : *found) {
        if (!name.is_string()) fail("'attributes' must be an array of names");
        names.push_back(name.get<std::string>());
    }
    return names;
}

} // namespace

Refusal judge_head(std::string_view head)
{
    constexpr std::string_view end = "\r\n";
    std::set<std::string> seen;
    std::size_t lines = 0;
    while (!head.empty()) {
        const std::size_t length = head.find(end);
        if (length == std::string_view::npos) return {400, "a line of the head has no end"};
        const std::string_view line = head.substr(0, length);
        head.remove_prefix(length + end.size());
        if (line.empty()) break;
        if (++lines > browse_head_lines_max) return {431, "the head has too many lines"};
        if (lines == 1) {
            if (std::ranges::any_of(line, [](unsigned char c) { return c < ' ' || c > '~'; }))
                return {400, "the first line is none of HTTP"};
            continue;
        }
        if (Refusal refusal = judge_line(line, seen)) return refusal;
    }
    if (!seen.contains("host")) return {400, "there is no line host"};
    return {};
}

std::string host_with_port(std::string_view host, std::uint16_t port)
{
    const std::size_t bracket = host.rfind(']');
    const std::size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
    if (colon == std::string_view::npos) return fmt::format("{}:{}", lower(host), port);
    const std::string_view digits = host.substr(colon + 1);
    std::uint16_t own = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, own);
    if (read.ec != std::errc() || read.ptr != end || own == 0 || colon == 0)
        fail(fmt::format("{}: a host is NAME or NAME:PORT, an IPv6 address is in brackets", host));
    return fmt::format("{}:{}", lower(host.substr(0, colon)), own);
}

BrowseGuard::BrowseGuard(const std::vector<std::string>& hosts, std::uint16_t port,
                         std::string token)
    : token_(std::move(token))
{
    constexpr std::string_view http_port = ":80"; // which browsers leave out
    for (const std::string& host : hosts) {
        const std::string& known = hosts_.emplace_back(host_with_port(host, port));
        if (known.ends_with(http_port))
            hosts_.push_back(known.substr(0, known.size() - http_port.size()));
    }
}

Refusal BrowseGuard::judge(const AskedOfPage& asked) const
{
    const std::string host = lower(asked.host);
    if (std::ranges::find(hosts_, host) == hosts_.end())
        return {421, "this is not the page of that host"};
    if (asked.path.size() > path_octets_max) return {404, "there is no such path"};
    const bool is_from_elsewhere = !asked.fetch_site.empty() && asked.fetch_site != "same-origin" &&
                                   asked.fetch_site != "none";
    if (!is_call(asked.path)) {
        if (asked.method != "GET" && asked.method != "HEAD") return {405, "files are only read"};
        return {};
    }
    if (asked.method != "POST") return {405, "calls are made by POST"};
    if (is_from_elsewhere || (!asked.origin.empty() && lower(asked.origin) != "http://" + host))
        return {403, "another page's calls are not taken"};
    if (!is_same(asked.token, token_))
        return {403, "the call has no token of this session: open the address that `kairos browse` "
                     "has printed"};
    if (asked.content_type != "application/json") return {415, "calls are JSON"};
    return {};
}

void must_be_reference_of_page(std::string_view text)
{
    constexpr std::array schemes{"ior:", "corbaloc:", "corbaname:", "name:"};
    const std::string begin = lower(text.substr(0, 10));
    if (std::ranges::none_of(schemes,
                             [&](const char* scheme) { return begin.starts_with(scheme); }))
        fail("an object is IOR:…, corbaloc:…, corbaname:… or name:…");
}

BrowseCall browse_call_of(std::string_view path, const std::string& body)
{
    const auto kind = kind_of(path);
    if (!kind) fail("there is no such call");
    const Json json = parse_json(body);
    if (!json.is_object()) fail("a call is an object of JSON");
    using Kind = BrowseCall::Kind;
    BrowseCall call;
    call.kind = *kind;
    if (call.kind == Kind::names) call.path = text_in(json, "path", browse_reference_octets_max);
    if (call.kind == Kind::open || call.kind == Kind::call || call.kind == Kind::read)
        call.object = object_in(json);
    if (call.kind == Kind::call) {
        call.operation = text_in(json, "operation", browse_reference_octets_max);
        if (const auto found = json.find("arguments"); found != json.end()) call.arguments = *found;
        if (!call.arguments.is_array() && !call.arguments.is_object())
            fail("'arguments' must be an array or an object");
    }
    if (call.kind == Kind::read) call.attributes = attributes_in(json);
    return call;
}

} // namespace kairos::tools
