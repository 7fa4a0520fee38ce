// SPDX-License-Identifier: Apache-2.0
//
// Any octets as each of the forms of CSIv2: what is taken is written again, and is the same then.
#include "fuzz/bounds.h"
#include "kairos/base/check.h"
#include "kairos/csi/context.h"
#include "kairos/csi/mechanisms.h"

#include <cstddef>
#include <cstdint>

using namespace kairos;

// A list of mechanisms has several vectors for some thirty octets each.
kairos::fuzz::Bounds kairos::fuzz::bounds() { return {.octets_each = 64}; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const Bytes octets = std::as_bytes(std::span(data, size)).subspan(1);
    switch (data[0] % 4) {
    case 0: {
        const auto message = csi::decode_message(octets);
        if (!message) return 0;
        const auto* const context = std::get_if<csi::EstablishContext>(&*message);
        if (context != nullptr && context->authorizations != 0) return 0; // never written
        KAIROS_CHECK(csi::decode_message(csi::encode(*message)) == message);
        return 0;
    }
    case 1: {
        const csi::DecodedToken token = csi::decode_token(octets);
        KAIROS_CHECK(token.is_gssup || !token.evidence);
        if (token.evidence)
            KAIROS_CHECK(csi::decode_token(csi::encode(*token.evidence)).evidence ==
                         token.evidence);
        return 0;
    }
    case 2: {
        const auto name = csi::decode_exported_name(octets);
        if (name) KAIROS_CHECK(csi::decode_exported_name(csi::exported_name(*name)) == name);
        if (csi::is_name(as_text(octets))) KAIROS_CHECK(!octets.empty());
        return 0;
    }
    default: {
        const ior::TaggedComponent component{ior::tag_csi_sec_mech_list,
                                             {octets.begin(), octets.end()}};
        const auto list = csi::decode_component(component);
        KAIROS_CHECK(list.has_value() || csi::describe(component, 2).empty());
        if (!list) return 0;
        if (!list->all.empty()) KAIROS_CHECK(!csi::describe(component, 2).empty());
        // Transports of other kinds and authorities are passed over.
        const auto again = csi::decode_component(csi::make_component(*list));
        KAIROS_CHECK(again == list);
        return 0;
    }
    }
}
