// SPDX-License-Identifier: Apache-2.0
//
// What commands share that serve in the foreground until they are told to end.
#pragma once

#include "kairos/corba/CORBA.h"

#include <csignal>
#include <string>
#include <vector>

namespace kairos::tools {

/// Blocks the signals that end the server: made before there is another thread to get them.
class EndSignals {
  public:
    EndSignals();
    /// Returns when one has come.
    void wait() const;

  private:
    sigset_t signals_{};
};

/// An ORB that listens at `endpoint`, unless the user's options say where. These win over
/// `defaults`.
[[nodiscard]] CORBA::ORB_ptr make_service_orb(const char* id, const std::string& endpoint,
                                              const std::vector<std::string>& defaults,
                                              const std::vector<std::string>& orb_options);

/// Serves until a signal ends it.
void run_until(const EndSignals& signals, CORBA::ORB_ptr orb);

} // namespace kairos::tools
