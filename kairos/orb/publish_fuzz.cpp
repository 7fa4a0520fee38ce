// SPDX-License-Identifier: Apache-2.0
//
// Drives the parser of -ORBPublish with arbitrary text. What is accepted publishes addresses that a
// client could connect to, none twice; what is not says so in one line that can be printed.
#include "kairos/base/bytes.h"
#include "kairos/base/check.h"
#include "kairos/orb/publish.h"

#include <algorithm>

using namespace kairos;
using namespace kairos::orb;

namespace {

const Machine& machine()
{
    const auto at = [](const char* interface, const char* address) {
        return net::InterfaceAddress{interface, net::Address::parse(address, 0).value()};
    };
    static const Machine machine{.host_name = "station",
                                 .addresses = {at("lo", "127.0.0.1"), at("docker0", "172.17.0.1"),
                                               at("eth0", "192.0.2.1"), at("eth0", "2001:db8::1"),
                                               at("eth0", "fe80::1")}};
    return machine;
}

void expect_reason(const Error& error)
{
    KAIROS_CHECK(!error.reason.empty());
    KAIROS_CHECK(std::ranges::all_of(error.reason, [](char c) { return c >= ' ' && c <= '~'; }));
}

void expect_reachable(const std::vector<ior::Address>& published)
{
    for (auto one = published.begin(); one != published.end(); ++one) {
        KAIROS_CHECK(check_published_host(one->host).ok() && one->port != 0);
        const auto address = net::Address::parse(one->host, one->port);
        KAIROS_CHECK(!address || !address->unmapped().is_any());
        KAIROS_CHECK(std::find(published.begin(), one, *one) == one);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto items = parse_publish(as_text(std::as_bytes(std::span(data, size))));
    if (!items) {
        expect_reason(items.error());
        return 0;
    }
    KAIROS_CHECK(!items->empty());
    for (const char* listening : {"0.0.0.0", "::", "192.0.2.1", "::1"}) {
        const auto address = net::Address::parse(listening, 2809).value();
        const auto published = published_addresses(*items, address, machine());
        if (published)
            expect_reachable(*published);
        else
            expect_reason(published.error());
    }
    return 0;
}
