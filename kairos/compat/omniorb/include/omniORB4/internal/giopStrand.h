// SPDX-License-Identifier: Apache-2.0
//
// What interceptors ask omniORB's connections for: who is at the other end.
#pragma once

#include "omniORB4/omniORB.h"

#include <string>
#include <utility>

namespace omni {

/// The connection of one request or call; lasts as long as the interceptor's function runs.
class KAIROS_API giopConnection {
  public:
    explicit giopConnection(std::string peer) : peer_(std::move(peer)) {}
    /// Returns "giop:tcp:10.0.0.7:40312", "giop:unix:process 17, user 1000"; of calls, the address
    /// that the reference has; empty if it has none.
    [[nodiscard]] const char* peeraddress() const { return peer_.c_str(); }
    /// Raises NO_IMPLEMENT: the address at this end is not told.
    [[noreturn]] const char* myaddress() const;
    /// Returns null: SSLIOP::Current says who is at the other end.
    [[nodiscard]] const char* peeridentity() const { return nullptr; }
    [[nodiscard]] void* peerdetails() const { return nullptr; }

  private:
    const std::string peer_;
};

class giopStrand {
  public:
    explicit giopStrand(giopConnection* at) : connection(at) {}
    giopConnection* connection;
};

} // namespace omni
