// SPDX-License-Identifier: Apache-2.0
#include "kairos/ior/object_url.h"

#include "kairos/base/limits.h"
#include "kairos/ior/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace kairos::ior {

namespace {

constexpr std::string_view default_service = "NameService";

/// Protocols that other ORBs write into corbaloc lists beside iiop. Such an address is passed over
/// when another one can be used; any other token is taken for a mistake, such as a missing ':'.
constexpr std::array<std::string_view, 8> foreign_protocols = {
    "diop", "miop", "uiop", "shmiop", "htiop", "sciop", "omniunix", "unix"};

/// RFC 2396 without what an object URL itself gives a meaning to.
bool is_unescaped(char c) noexcept
{
    return is_letter(c) || is_digit(c) ||
           (c != '\0' && std::string_view(";/:?@&=+$,-_.!~*'()").find(c) != std::string_view::npos);
}

/// A host name, an IPv4 address, or an IPv6 address without its brackets.
bool is_host(std::string_view host) noexcept
{
    const bool is_ipv6 = host.find(':') != std::string_view::npos;
    return !host.empty() && std::all_of(host.begin(), host.end(), [&](char c) {
        return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' ||
               (is_ipv6 && (c == ':' || c == '%')); // % begins the zone of a link-local address
    });
}

Error invalid_url(std::size_t position, const std::string& reason)
{
    return {ErrorCode::invalid_argument, reason + " at character " + std::to_string(position + 1)};
}

std::string in_quotes(std::string_view text) { return "'" + printable(text.substr(0, 80)) + "'"; }

/// Reads the part of a corbaloc URL that lists addresses and the key. Every view it handles is a
/// part of `text_`, so that errors can say where they are.
class LocationParser {
  public:
    LocationParser(std::string_view text, ObjectUrl& url) : text_(text), url_(url) {}

    /// `location` is "<addresses>[/<key>]".
    [[nodiscard]] Result<void> parse(std::string_view location)
    {
        const std::size_t slash = std::min(location.find('/'), location.size());
        const std::string_view key = location.substr(std::min(slash + 1, location.size()));
        if (auto result = parse_addresses(location.substr(0, slash)); !result) {
            Error error = result.error();
            if (error.code == ErrorCode::invalid_argument) error.code = ErrorCode::unreachable;
            return error;
        }
        auto octets = unescape_key(key, position(key));
        if (!octets) return octets.error();
        if (octets->empty() && (url_.initial || url_.scheme == ObjectUrl::Scheme::corbaname)) {
            const Bytes service = as_bytes(default_service);
            octets->assign(service.begin(), service.end());
        }
        if (octets->size() > limits::object_key_max)
            return Error{ErrorCode::limit_exceeded,
                         "object key of " + std::to_string(octets->size()) + " octets"};
        if (url_.initial) {
            url_.service = as_text(*octets);
        } else {
            for (IiopProfile& profile : profiles_) {
                profile.object_key = *octets;
                url_.reference.profiles.push_back(encode_iiop(profile));
            }
        }
        return {};
    }

  private:
    Result<void> parse_addresses(std::string_view list)
    {
        std::string_view foreign;
        for (std::size_t begin = 0, count = 1; begin <= list.size(); ++count) {
            const std::size_t end = std::min(list.find(',', begin), list.size());
            const std::string_view address = list.substr(begin, end - begin);
            if (count > limits::profiles_max)
                return Error{ErrorCode::limit_exceeded,
                             "more than " + std::to_string(limits::profiles_max) + " addresses"};
            if (auto result = parse_address(address, foreign); !result) return result;
            if (url_.initial && (begin != 0 || end != list.size()))
                return invalid_url(position(address), "'rir:' cannot stand beside other addresses");
            begin = end + 1;
        }
        if (!url_.initial && profiles_.empty())
            return invalid_url(position(foreign), "no address can be used: protocol of " +
                                                      in_quotes(foreign) + " is not supported");
        return {};
    }

    /// `foreign` becomes the address if it is one that is passed over.
    Result<void> parse_address(std::string_view address, std::string_view& foreign)
    {
        if (address.empty()) return invalid_url(position(address), "address is empty");
        const std::size_t colon = address.find(':');
        if (colon == std::string_view::npos)
            return invalid_url(position(address),
                               "address " + in_quotes(address) +
                                   " has no protocol: write ':' or 'iiop:' before it");
        const std::string_view protocol = address.substr(0, colon);
        const std::string_view rest = address.substr(colon + 1);
        if (protocol.empty() || is_named(protocol, "iiop")) return parse_iiop(rest);
        if (is_named(protocol, "ssliop")) return parse_ssliop(rest);
        if (is_named(protocol, "rir")) {
            if (!rest.empty())
                return invalid_url(position(rest),
                                   "'rir:' takes no address but has " + in_quotes(rest));
            url_.initial = true;
            return {};
        }
        for (const std::string_view other : foreign_protocols) {
            if (!is_named(protocol, other)) continue;
            foreign = address;
            return {};
        }
        return invalid_url(position(address),
                           "protocol " + in_quotes(protocol) +
                               " is not known: an IIOP address begins with ':' or "
                               "'iiop:'");
    }

    Result<void> parse_iiop(std::string_view address)
    {
        IiopProfile profile;
        profile.version = {1, 0}; // 7.6.10.3: the defaults
        profile.port = corbaloc_port;
        return parse_host(address, std::move(profile));
    }

    /// The address becomes a component, which profiles before 1.1 have no place for.
    Result<void> parse_ssliop(std::string_view address)
    {
        IiopProfile profile;
        profile.port = ssliop_port;
        if (auto parsed = parse_host(address, std::move(profile)); !parsed) return parsed;
        IiopProfile& parsed = profiles_.back();
        if (parsed.version.minor == 0)
            return invalid_url(position(address),
                               "version 1.0 has no TLS: write 1.1, 1.2 or no version");
        using namespace association;
        parsed.components.push_back(
            make_secure_address({integrity | confidentiality | trust_in_target,
                                 integrity | confidentiality, std::exchange(parsed.port, 0)}));
        return {};
    }

    /// "[<version>@]<host>[:<port>]"; `profile` has the defaults.
    Result<void> parse_host(std::string_view address, IiopProfile profile)
    {
        std::string_view host = address;
        if (const std::size_t at = address.find('@'); at != std::string_view::npos) {
            const auto version = parse_version(address.substr(0, at));
            if (!version)
                return invalid_url(position(address), "version " +
                                                          in_quotes(address.substr(0, at)) +
                                                          " is not 1.0, 1.1, 1.2 or a later 1.x");
            profile.version = *version;
            host = address.substr(at + 1);
        }
        if (host.empty()) return invalid_url(position(host), "host is missing");

        std::size_t host_end = std::min(host.find(':'), host.size());
        if (host.front() == '[') {
            const std::size_t bracket = host.find(']');
            if (bracket == std::string_view::npos)
                return invalid_url(position(host), "']' is missing after the IPv6 address");
            host_end = bracket + 1;
        } else if (host.rfind(':') != host_end && host_end != host.size()) {
            return invalid_url(position(host),
                               in_quotes(host) +
                                   " has several ':': an IPv6 address stands in brackets");
        }
        const std::string_view rest = host.substr(host_end);
        host = host.substr(0, host_end);
        if (host.empty()) return invalid_url(position(host), "host is missing");
        profile.host = without_brackets(host);
        if (!is_host(profile.host))
            return invalid_url(position(host), in_quotes(host) + " is not a host name or address");

        if (!rest.empty()) {
            const auto port = parse_port(rest);
            if (!port)
                return invalid_url(position(rest),
                                   in_quotes(rest) + " is not ':' and a port from 1 to 65535");
            profile.port = *port;
        }
        profiles_.push_back(std::move(profile));
        return {};
    }

    static std::optional<IiopVersion> parse_version(std::string_view text)
    {
        if (text.size() < 3 || text.substr(0, 2) != "1.") return std::nullopt;
        std::uint8_t minor = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data() + 2, end, minor);
        if (error != std::errc{} || stop != end) return std::nullopt;
        return IiopVersion{1, std::min<std::uint8_t>(minor, 2)};
    }

    static std::optional<std::uint16_t> parse_port(std::string_view text)
    {
        if (text.size() < 2 || text.front() != ':') return std::nullopt;
        std::uint16_t port = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data() + 1, end, port);
        if (error != std::errc{} || stop != end || port == 0) return std::nullopt;
        return port;
    }

    static bool is_named(std::string_view text, std::string_view name) noexcept
    {
        return text.size() == name.size() && begins_with(text, name);
    }

    [[nodiscard]] std::size_t position(std::string_view part) const noexcept
    {
        return static_cast<std::size_t>(part.data() - text_.data());
    }

    std::string_view text_;
    ObjectUrl& url_;
    std::vector<IiopProfile> profiles_; // their keys come last
};

Result<ObjectUrl> parse_corbaloc(std::string_view text, std::string_view location)
{
    ObjectUrl url;
    url.scheme = ObjectUrl::Scheme::corbaloc;
    if (auto result = LocationParser(text, url).parse(location); !result) return result.error();
    return url;
}

Result<ObjectUrl> parse_corbaname(std::string_view text, std::string_view rest)
{
    ObjectUrl url;
    url.scheme = ObjectUrl::Scheme::corbaname;
    const std::size_t hash = std::min(rest.find('#'), rest.size());
    if (auto result = LocationParser(text, url).parse(rest.substr(0, hash)); !result)
        return result.error();
    if (hash == rest.size()) return url;

    const std::string_view name = rest.substr(hash + 1);
    const auto offset = static_cast<std::size_t>(name.data() - text.data());
    const auto octets = unescape_key(name, offset);
    if (!octets) return octets.error();
    url.name = as_text(*octets);
    if (url.name.find('\0') != std::string::npos) return invalid_url(offset, "NUL in the name");
    return url;
}

Result<ObjectUrl> parse_file(std::string_view text, std::string_view rest)
{
    std::string_view path = rest;
    if (begins_with(rest, "//localhost/"))
        path = rest.substr(std::string_view("//localhost").size());
    else if (begins_with(rest, "//"))
        path = rest.substr(2);
    if (path.empty())
        return invalid_url(static_cast<std::size_t>(path.data() - text.data()), "path is missing");
    if (path.find('\0') != std::string_view::npos)
        return invalid_url(static_cast<std::size_t>(path.data() - text.data()) + path.find('\0'),
                           "NUL in the path");
    ObjectUrl url;
    url.scheme = ObjectUrl::Scheme::file;
    url.path = path;
    return url;
}

} // namespace

Result<ObjectUrl> parse_object_url(std::string_view text)
{
    const std::string_view url = trimmed(text);
    const auto after = [&](std::string_view scheme) { return url.substr(scheme.size()); };
    if (begins_with(url, "ior:")) {
        auto reference = from_string(text);
        if (!reference) return reference.error();
        ObjectUrl result;
        result.reference = std::move(reference).value();
        return result;
    }
    if (begins_with(url, "corbaloc:")) return parse_corbaloc(text, after("corbaloc:"));
    if (begins_with(url, "corbaname:")) return parse_corbaname(text, after("corbaname:"));
    if (begins_with(url, "file:")) return parse_file(text, after("file:"));
    if (url.empty()) return Error{ErrorCode::invalid_argument, "object URL is empty"};
    return Error{ErrorCode::not_found,
                 in_quotes(url.substr(0, url.find(':'))) +
                     " is not a scheme of object URLs: expected IOR:, corbaloc:, corbaname: or "
                     "file:"};
}

Result<std::string> to_corbaloc(const Ior& reference)
{
    std::string addresses;
    std::size_t count = 0;
    const Target* first = nullptr;
    const auto add = [&](const Target& target, std::string_view protocol, const Address& address) {
        if (first == nullptr) first = &target;
        if (target.profile->object_key != first->profile->object_key) return;
        addresses += count++ == 0 ? "" : ",";
        addresses.append(protocol).append(":1.");
        addresses += std::to_string(target.version().minor) + "@" + to_string(address);
    };
    const std::vector<Target> all = targets_by_any_way(reference);
    for (const Target& target : all) {
        // A reference can name hosts that the syntax cannot.
        if (!is_host(target.address.host) || count >= limits::profiles_max - 1) continue;
        const auto* component = find(target.profile->components, tag_ssl_sec_trans);
        const auto secure = component != nullptr ? decode_secure_address(*component) : std::nullopt;
        if (secure && target.address.host == target.profile->host)
            add(target, "ssliop", {target.address.host, secure->port});
        if (target.address.port != 0) add(target, "iiop", target.address);
    }
    if (first == nullptr)
        return Error{ErrorCode::invalid_argument, "the reference has no IIOP address"};
    return "corbaloc:" + addresses + "/" + escape_key(first->object_key());
}

std::string escape_key(Bytes octets)
{
    std::string text;
    text.reserve(octets.size());
    for (const char& c : as_text(octets)) {
        if (is_unescaped(c)) {
            text += c;
        } else {
            text += '%';
            append_hex(text, as_bytes({&c, 1}));
        }
    }
    return text;
}

Result<OctetVector> unescape_key(std::string_view text, std::size_t offset)
{
    OctetVector octets;
    octets.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '%') {
            const auto high = i + 1 < text.size() ? hex_digit_value(text[i + 1]) : std::nullopt;
            const auto low = i + 2 < text.size() ? hex_digit_value(text[i + 2]) : std::nullopt;
            if (!high || !low)
                return invalid_url(offset + i, "'%' is not followed by two hexadecimal digits");
            octets.push_back(static_cast<std::byte>(*high << 4 | *low));
            i += 2;
        } else if (is_printable(c) && c != ' ' && c != '#') {
            octets.push_back(static_cast<std::byte>(c));
        } else {
            return invalid_url(offset + i, in_quotes(text.substr(i, 1)) + " must be written as %" +
                                               hex(as_bytes(text.substr(i, 1))));
        }
    }
    return octets;
}

} // namespace kairos::ior
