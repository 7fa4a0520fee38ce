// SPDX-License-Identifier: Apache-2.0
//
// The addresses of a reference that lead to its server within this very host: what its component of
// local addresses says, if that is about this host and the ORB is to use it. Looked at when a
// reference is made; cold path only.
#pragma once

#include "kairos/ior/profile.h"
#include "kairos/net/address.h"
#include "kairos/orb/priority.h"

#include <utility>
#include <vector>

namespace kairos::orb {

class LocalWays {
  public:
    /// `preferred`: also where the target has an address that leads there from anywhere. What is
    /// malformed, of another host or of a transport not known here is passed over.
    LocalWays(const ior::Target& target, bool preferred);

    /// Of the lowest priority, which is where calls without one go; Family::none if there is none.
    [[nodiscard]] net::Address lowest() const;
    /// Of this priority or for all of them; Family::none if there is none.
    [[nodiscard]] net::Address at(Priority priority) const;
    /// Those for one priority each, ascending.
    [[nodiscard]] const std::vector<std::pair<Priority, net::Address>>& by_priority() const noexcept
    {
        return by_priority_;
    }

  private:
    net::Address any_priority_;
    std::vector<std::pair<Priority, net::Address>> by_priority_;
};

} // namespace kairos::orb
