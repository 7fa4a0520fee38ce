// SPDX-License-Identifier: Apache-2.0
//
// Between who reads a stream and who makes messages of it: octets of the stream that need not be
// copied, for they lie in memory that the peer has written and lends.
#pragma once

#include "kairos/base/bytes.h"

#include <memory>

namespace kairos {

/// Whoever can do with octets of a stream where they lie. Used by the thread that reads the stream.
class BlockTaker {
  public:
    /// Takes these octets as the next of the stream, in place of a read of as many: they are there
    /// for as long as `lease` lives, but the peer may change them all the time. Returns false where
    /// they are to be read as any others.
    [[nodiscard]] virtual bool take(Bytes block, std::shared_ptr<const void> lease) noexcept = 0;

  protected:
    ~BlockTaker() = default;
};

} // namespace kairos
