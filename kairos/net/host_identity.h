// SPDX-License-Identifier: Apache-2.0
//
// Which machine this is, as far as the names of sockets go: the running system and the namespaces
// of files and of the network, in which paths and abstract names mean something.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace kairos::net {

/// 128 bits that processes share if and only if a path, or a name in the abstract namespace, is the
/// same socket for both. A digest of the boot id, which nobody outside can know, and of the
/// namespaces; new after each boot. Nothing if the system does not tell (/proc is not there).
using HostIdentity = std::array<std::uint64_t, 2>;
[[nodiscard]] const std::optional<HostIdentity>& this_host();

} // namespace kairos::net
