// SPDX-License-Identifier: Apache-2.0
//
// The addresses of a reference that lead to its server within this very host: what its component of
// local addresses says, if that is about this host and the ORB is to use it. Looked at when a
// reference is made; cold path only.
#pragma once

#include "kairos/ior/profile.h"
#include "kairos/net/address.h"
#include "kairos/orb/priority.h"

#include <compare>
#include <map>
#include <vector>

namespace kairos::orb {

class LocalTransport;

/// One address that leads to a reference's server within this host.
struct LocalWay {
    const LocalTransport* transport = nullptr; ///< never null
    net::Address address;
    friend auto operator<=>(const LocalWay&, const LocalWay&) = default;
};

class LocalWays {
  public:
    /// Reads a target's component of local addresses. `preferred` has them used also where the
    /// target has an address that leads there from anywhere. What is malformed, of another host or
    /// of a transport not known here is passed over.
    LocalWays(const ior::Target& target, bool preferred);

    using List = std::vector<LocalWay>; ///< best first

    /// Returns the ways for the lowest priority, which is where calls without one go.
    [[nodiscard]] const List& lowest() const;
    /// Returns the ways for this priority, or else those for all priorities.
    [[nodiscard]] const List& at(Priority priority) const;
    /// Returns the ways that are for one priority each.
    [[nodiscard]] const std::map<Priority, List>& by_priority() const noexcept
    {
        return by_priority_;
    }

  private:
    List any_priority_;
    std::map<Priority, List> by_priority_;
};

} // namespace kairos::orb
