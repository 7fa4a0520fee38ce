// SPDX-License-Identifier: Apache-2.0
//
// What programs use of omniORB's message streams: a listing of octets in the log.
#pragma once

#include "omniORB4/internal/giopStrand.h"

#include <cstddef>

namespace omni {

class KAIROS_API giopStream {
  public:
    /// Logs the octets, sixteen on a line, by numbers and as text.
    static void dumpbuf(unsigned char* octets, std::size_t size);
};

} // namespace omni
