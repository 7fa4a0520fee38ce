// SPDX-License-Identifier: Apache-2.0
//
// What -ORBListenEndpoints says: addresses to listen at, of each transport.
#include "kairos/orb/options.h"
#include "kairos/orb/transport.h"

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
    constexpr std::string_view separator = "://";
    const auto end = text.find(separator);
    const Transport* const transport = find_transport(text.substr(0, end));
    if (transport == nullptr && text.starts_with("ssliop://"))
        return bad("the program is not linked with libkairos-tls");
    if (end == std::string_view::npos || transport == nullptr)
        return bad("expected " + transport_usages());
    ListenEndpoint endpoint{
        .transport = transport, .text = std::string(text), .host = {}, .published_host = {}};
    const auto parsed = transport->parse(text.substr(end + separator.size()), endpoint);
    if (!parsed) return bad(parsed.error().reason);
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
