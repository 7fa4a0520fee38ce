// SPDX-License-Identifier: Apache-2.0
//
// The ways to the server of a reference that one of its profiles says. The profile's own address is
// TCP's; each component is read by the transport that has its tag, which passes over what is not
// for this host, or malformed. Looked at when a reference is made; cold path only.
#pragma once

#include "kairos/base/export.h"
#include "kairos/ior/profile.h"
#include "kairos/orb/priority.h"
#include "kairos/orb/way.h"

#include <map>

namespace kairos::orb {

class OrbTransports;

/// Which of the ways that a reference has are used.
struct WayChoice {
    /// Those within the host, also where a target has an address that leads there from anywhere.
    bool prefers_local = true;
    bool takes_protected = true;   ///< those that are protected (Transport::protects)
    bool takes_unprotected = true; ///< others, beyond the host
    bool takes_local = true;       ///< others, within it
};

class KAIROS_API Ways {
  public:
    /// Reads what the profile of this target says beside addresses of TCP.
    Ways(const ior::Target& target, const OrbTransports& transports, const WayChoice& choice);

    // --- for transports that read a component ---
    /// Returns whether ways within the host are to be used.
    [[nodiscard]] bool takes_local() const noexcept { return takes_local_; }
    /// Adds a way for requests of this priority, or of all (Transport::any_priority).
    void add(Way way, Priority priority = -1);

    // --- for references ---
    /// Returns the ways for the lowest priority, which is where calls without one go, with
    /// `address` of TCP among them, unless its port is 0 or unprotected ways are not taken.
    [[nodiscard]] WayList lowest(const ior::Address& address) const;
    /// Returns the ways for this priority, or else those for all priorities, with `address` of TCP
    /// among them as above.
    [[nodiscard]] WayList at(Priority priority, const ior::Address& address) const;
    /// Returns the way to a further address of TCP, as above.
    [[nodiscard]] WayList further(const ior::Address& address) const;
    /// Returns the priorities that have ways of their own.
    [[nodiscard]] std::vector<Priority> priorities() const;

  private:
    [[nodiscard]] WayList joined(const WayList& unordered, const ior::Address& address) const;

    const WayChoice choice_;
    const bool takes_local_;
    WayList any_priority_;
    std::map<Priority, WayList> by_priority_;
};

} // namespace kairos::orb
