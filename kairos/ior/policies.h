// SPDX-License-Identifier: Apache-2.0
//
// What a reference says of its object's policies: TAG_POLICIES (CORBA 3.3 part 1, 17.3.2), as far
// as Kairos understands it, which is Real-Time CORBA's part (Real-Time CORBA 1.2, 5.7, 5.14, 5.15).
// Values; cold path only.
#pragma once

#include "kairos/base/export.h"
#include "kairos/ior/component.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kairos::ior {

/// Types of policies, as in RTCORBA.
inline constexpr std::uint32_t priority_model_policy = 40;
inline constexpr std::uint32_t client_protocol_policy = 43;
inline constexpr std::uint32_t priority_banded_connection_policy = 45;

/// Who says at which priority requests are served. Priorities are CORBA's, 0 to 32767.
struct PriorityModel {
    bool client_propagated = false;   ///< each request says it; else the server has decided
    std::int16_t server_priority = 0; ///< of the object, or of requests that say none
    friend bool operator==(const PriorityModel&, const PriorityModel&) = default;
};

/// Priorities, both included, whose calls share a connection.
struct PriorityBand {
    std::int16_t low = 0;
    std::int16_t high = 0;
    [[nodiscard]] bool contains(std::int16_t priority) const noexcept
    {
        return low <= priority && priority <= high;
    }
    friend bool operator==(const PriorityBand&, const PriorityBand&) = default;
};

/// What a program wants of TCP connections.
struct TcpProperties {
    std::int32_t send_queue_bytes = 0; ///< 0 is the system's choice; never negative
    std::int32_t receive_queue_bytes = 0;
    bool keep_alive = false;
    bool dont_route = false; ///< only to hosts of the same network
    bool no_delay = true;
    bool network_priority = false; ///< packets say the priority of the connection
    friend bool operator==(const TcpProperties&, const TcpProperties&) = default;
};

struct ExposedPolicies {
    std::optional<PriorityModel> priority_model;
    std::vector<PriorityBand> bands;       ///< none: calls share connections as they like
    std::optional<TcpProperties> tcp = {}; ///< of clients' connections by IIOP
    [[nodiscard]] bool is_empty() const noexcept
    {
        return !priority_model && bands.empty() && !tcp;
    }
    friend bool operator==(const ExposedPolicies&, const ExposedPolicies&) = default;
};

/// Whether bands can be a policy: each goes upwards from 0 to 32767, and no two overlap.
[[nodiscard]] KAIROS_API bool are_bands(std::span<const PriorityBand> bands) noexcept;

[[nodiscard]] TaggedComponent make_policies(const ExposedPolicies& policies);
/// Reads the policies that a component says. Policies of other types are passed over. Nothing if
/// the component, or what it says of one of these, is malformed: a client treats it as absent.
[[nodiscard]] std::optional<ExposedPolicies> decode_policies(const TaggedComponent& component);

} // namespace kairos::ior
