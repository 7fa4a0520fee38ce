// SPDX-License-Identifier: Apache-2.0
//
// How the clients of one ORB resume sessions with servers that they know: by the ticket that a
// server gave last, which is used once. Any thread.
#pragma once

#include "kairos/tls/openssl.h"

#include <map>
#include <mutex>
#include <string>

namespace kairos::tls {

class Sessions {
  public:
    /// Remembers a session with this server, which is named by its host and port.
    void keep(const std::string& server, SessionPointer session);
    /// Returns the session to resume, and forgets it; null if there is none.
    [[nodiscard]] SessionPointer take(const std::string& server);

  private:
    std::mutex mutex_; // guards the table; never held while calling out
    std::map<std::string, SessionPointer, std::less<>> table_;
};

} // namespace kairos::tls
