// SPDX-License-Identifier: Apache-2.0
//
// A call that an interceptor of omniORB is told of.
#pragma once

#include "omniORB4/internal/GIOP_S.h"

namespace omni {

/// Lasts as long as the interceptor's function runs.
class KAIROS_API GIOP_C {
  public:
    GIOP_C(std::string operation, std::string peer)
        : operation_(std::move(operation)), connection_(std::move(peer)), strand_(&connection_)
    {
    }
    GIOP_C(const GIOP_C&) = delete;
    GIOP_C& operator=(const GIOP_C&) = delete;

    [[nodiscard]] giopStrand& strand() { return strand_; }
    [[nodiscard]] const char* operation() const { return operation_.op(); }
    [[nodiscard]] omniCallDescriptor* calldescriptor() { return &operation_; }

  private:
    omniCallDescriptor operation_;
    giopConnection connection_;
    giopStrand strand_;
};

} // namespace omni
