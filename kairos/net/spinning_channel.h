// SPDX-License-Identifier: Apache-2.0
//
// A socket whose reader asks again and again for a while before it waits (-ORBSpin): the wake-up of
// a thread, which takes longer than many an answer, is saved.
#pragma once

#include "kairos/net/descriptor_channel.h"
#include "kairos/net/spin.h"

namespace kairos::net {

class SpinningChannel final : public DescriptorChannel {
  public:
    /// `descriptor` is the socket's, which owns this.
    SpinningChannel(int descriptor, std::chrono::microseconds spin) noexcept
        : DescriptorChannel(descriptor), spin_(spin)
    {
    }

    IoResult read(MutableBytes buffer, ReadFlags flags) noexcept override;
    IoResult wait_readable(Deadline deadline) noexcept override;

  private:
    Spin spin_; // of who reads
};

} // namespace kairos::net
