// SPDX-License-Identifier: Apache-2.0
//
// The transports as one ORB has them: most are the same object for the whole process, and some,
// whose settings are the ORB's, make one for each (Transport::of_orb). Looked at when an ORB
// listens and when references are made; does not change. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/orb/transport.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace kairos::orb {

struct Options;

class KAIROS_API OrbTransports {
  public:
    /// Makes what transports make for an ORB with these options. Throws BAD_PARAM if one of them
    /// cannot: the options contradict each other, or name a file that is none.
    explicit OrbTransports(const Options& options);

    /// Returns what this ORB uses of this transport, which may be that itself.
    [[nodiscard]] const Transport& of(const Transport& transport) const noexcept;
    /// Returns the transport that reads components of this tag; null if there is none.
    [[nodiscard]] const Transport* reading(std::uint32_t tag) const;
    /// Returns whether a transport protects what is sent (Transport::protects).
    [[nodiscard]] bool has_protection() const noexcept { return has_protection_; }

  private:
    using Own = std::pair<const Transport*, std::shared_ptr<const Transport>>;

    std::vector<Own> own_; // the process's, and this ORB's in place of it
    bool has_protection_ = false;
};

} // namespace kairos::orb
