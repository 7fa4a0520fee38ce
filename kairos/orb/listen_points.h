// SPDX-License-Identifier: Apache-2.0
//
// The service context by which a client offers a connection for requests in both directions: the
// addresses, called listen points, at which references say its own objects are (CORBA 3.3 part 2,
// 9.8.1). Values.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"
#include "kairos/ior/component.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::orb {

class ContextList;

/// IOP::BI_DIR_IIOP: an encapsulation of one IIOP::BiDirIIOPServiceContext.
inline constexpr std::uint32_t listen_points_context_id = 5;
/// How many listen points one context may have, and one connection: a client has as many as its
/// server has addresses.
inline constexpr std::size_t listen_points_max = 64;
/// How many listen points an ORB keeps for all of its connections.
inline constexpr std::size_t listen_points_in_all_max = 65'536;

/// Adds the context that offers the connection for calls to these addresses.
void append_listen_points(ContextList& list, std::span<const ior::Address> points);

/// Returns the addresses that such a context says; nothing if it is malformed or says more than
/// listen_points_max, and then it counts as one that is not there.
[[nodiscard]] KAIROS_API std::optional<std::vector<ior::Address>>
decode_listen_points(Bytes context);

/// Returns the address that references of an ORB say which listens nowhere, so that nobody can
/// connect to it: a host of the domain .invalid, which no name server knows (RFC 6761, 6.4), and
/// which `incarnation`, the ORB's random number, makes its alone.
[[nodiscard]] ior::Address unreachable_listen_point(std::uint64_t incarnation);
/// Returns whether the host is one of the domain .invalid.
[[nodiscard]] bool is_unreachable(std::string_view host) noexcept;

} // namespace kairos::orb
