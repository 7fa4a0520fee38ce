// SPDX-License-Identifier: Apache-2.0
//
// TAG_CSI_SEC_MECH_LIST: what a reference says of how its server wants to be called, layer by
// layer: the transport, who the client is, for whom it speaks (CORBA 3.3 part 2, 10.5.2, module
// CSIIOP). Cold path only.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/ior/component.h"
#include "kairos/ior/ior.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kairos::csi {

using ior::OctetVector;

/// Association options that SSLIOP does not know (ior::association has the others).
namespace association {
using ior::association::confidentiality;
using ior::association::detect_misordering;
using ior::association::detect_replay;
using ior::association::integrity;
using ior::association::no_protection;
using ior::association::trust_in_client;
using ior::association::trust_in_target;
inline constexpr std::uint16_t no_delegation = 128;
inline constexpr std::uint16_t simple_delegation = 256;
inline constexpr std::uint16_t composite_delegation = 512;
inline constexpr std::uint16_t identity_assertion = 1024;
inline constexpr std::uint16_t delegation_by_client = 2048;
} // namespace association

/// A transport mechanism of none.
inline constexpr std::uint32_t tag_null = 34;

namespace limits {
/// Real lists have one mechanism or two, with a handful of addresses and names.
inline constexpr std::size_t mechanisms_max = 16;
inline constexpr std::size_t addresses_max = 64;
inline constexpr std::size_t names_max = 64;
} // namespace limits

/// TAG_TLS_SEC_TRANS: where the server speaks TLS.
struct TlsTransport {
    std::uint16_t supports = 0; ///< association options
    std::uint16_t requires_ = 0;
    std::vector<ior::Address> addresses;
    friend bool operator==(const TlsTransport&, const TlsTransport&) = default;
};

/// One way in which the server may be called, all layers of it together.
struct Mechanism {
    std::uint16_t requires_ = 0;        ///< association options, of all layers
    std::uint32_t transport = tag_null; ///< the tag of the transport mechanism
    std::optional<TlsTransport> tls{};  ///< where that is TAG_TLS_SEC_TRANS
    std::uint16_t client_supports = 0;  ///< of clients that say who they are
    std::uint16_t client_requires = 0;
    OctetVector client_mechanism{};      ///< an object identifier, in DER; empty: none
    OctetVector target_name{};           ///< a GSS exported name
    std::uint16_t identity_supports = 0; ///< of clients that speak for others
    std::uint16_t identity_requires = 0;
    std::vector<OctetVector> namings{}; ///< object identifiers of the kinds of names, in DER
    std::uint32_t identity_types = 0;   ///< bits of context.h's IdentityType
    friend bool operator==(const Mechanism&, const Mechanism&) = default;
};

struct MechanismList {
    bool is_stateful = false;
    std::vector<Mechanism> all; ///< the one that the server likes best comes first
    friend bool operator==(const MechanismList&, const MechanismList&) = default;
};

[[nodiscard]] ior::TaggedComponent make_component(const MechanismList& list);
/// Returns what a component of this tag says; nothing if it is malformed.
[[nodiscard]] std::optional<MechanismList> decode_component(const ior::TaggedComponent& component);

/// Returns what a component says, for people: lines that each end with a newline, indented by this
/// many spaces; empty if it is malformed. What does not print stands as "\xNN".
[[nodiscard]] std::string describe(const ior::TaggedComponent& component, std::size_t indent);

} // namespace kairos::csi
