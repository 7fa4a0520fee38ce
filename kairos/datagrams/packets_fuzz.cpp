// SPDX-License-Identifier: Apache-2.0
//
// Drives the reader of packets, and the assembly of messages, with arbitrary packets at arbitrary
// times from a few senders. Whatever comes, no more is kept than the limits say, no message is
// larger than they say, and none is whole that has no last packet.
//
//   each packet: how many octets (2), which sender (1), milliseconds since the last one (1), octets
#include "kairos/base/check.h"
#include "kairos/datagrams/assembly.h"
#include "kairos/datagrams/group.h"

#include "fuzz/bounds.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace kairos;
using namespace kairos::datagrams;

/// What is kept is charged for more than its octets: 112 more for a packet of one.
fuzz::Bounds fuzz::bounds() { return {.octets_each = 64, .comparisons_each = 1000}; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const AssemblyLimits limits{.message_octets = 4096,
                                .octets = 8192,
                                .octets_of_host = 6144,
                                .messages = 6,
                                .messages_of_host = 4,
                                .remembered = 8,
                                .patience = std::chrono::milliseconds(100),
                                .memory = std::chrono::milliseconds(400)};
    Assembly assembly(limits);
    Assembly::Time now{};
    Bytes input = std::as_bytes(std::span(data, size));
    const auto octet = [&](std::size_t at) { return std::to_integer<unsigned>(input[at]); };
    while (input.size() > 4) {
        const std::size_t wanted = octet(0) | octet(1) << 8;
        const unsigned sender = octet(2) % 4;
        now += std::chrono::milliseconds(octet(3));
        input = input.subspan(4);
        std::vector<std::byte> octets(
            input.begin(),
            input.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, input.size())));
        input = input.subspan(octets.size());
        Packet packet;
        if (!read_packet(octets, packet).empty()) continue;
        KAIROS_CHECK(!packet.data.empty() && packet.data.size() < octets.size());
        KAIROS_CHECK(packet.id.size() <= packet_id_max && packet.number < packets_max);
        const std::string name = "sender " + std::to_string(sender);
        const auto taken = assembly.take(name, sender / 2, packet, now);
        KAIROS_CHECK(assembly.octets() <= limits.octets);
        KAIROS_CHECK(assembly.messages() <= limits.messages);
        if (taken.what != Assembly::Taken::What::message) {
            KAIROS_CHECK(taken.message.empty());
            continue;
        }
        KAIROS_CHECK(taken.message.size() <= std::max(limits.message_octets, packet.data.size()));
        if (packet.id.empty()) continue;
        // The same packet comes again, and is no message again.
        const auto again = assembly.take(name, sender / 2, packet, now);
        KAIROS_CHECK(again.what == Assembly::Taken::What::repeated);
    }
    assembly.expire(now + limits.patience);
    KAIROS_CHECK(assembly.messages() == 0 && assembly.octets() == 0);
    // The same octets as a profile and as a URL: what is read is written and read again.
    if (const auto profile = read_group_profile(std::as_bytes(std::span(data, size)))) {
        auto same = *profile;
        std::erase_if(same.components, [](const auto& each) { return each.tag == tag_group; });
        const auto again = read_group_profile(make_group_profile(same).data);
        KAIROS_CHECK(again && again->name == profile->name && again->address == profile->address);
    }
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto url = parse_group_url(text); url && url->ok())
        KAIROS_CHECK(group_of(**url).has_value());
    return 0;
}
