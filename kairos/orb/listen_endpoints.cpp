// SPDX-License-Identifier: Apache-2.0
//
// What -ORBListenEndpoints says: addresses to listen at, of each transport.
#include "kairos/net/address.h"
#include "kairos/orb/options.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kairos::orb {
namespace {

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

} // namespace kairos::orb
