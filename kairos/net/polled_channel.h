// SPDX-License-Identifier: Apache-2.0
//
// A unix-domain socket that one thread writes and reads, which polls before it reads answers. There
// the system wakes whoever blocks in a read also when the peer has read what it was sent, since
// there is room for more: in each call both ends are woken once in vain. Who polls for reading
// sleeps on, which saves more than the system call costs. TCP acknowledges in other ways, and needs
// none of this.
#pragma once

#include "kairos/net/descriptor_channel.h"

namespace kairos::net {

class PolledChannel final : public DescriptorChannel {
  public:
    /// `descriptor` is the socket's, which owns this.
    explicit PolledChannel(int descriptor) noexcept : DescriptorChannel(descriptor) {}

    IoResult read(MutableBytes buffer, ReadFlags flags) noexcept override;
    IoResult write(std::span<const iovec> segments, WriteFlags flags) noexcept override
    {
        has_written_ = true;
        return DescriptorChannel::write(segments, flags);
    }
    void limit_reading(std::chrono::nanoseconds time) noexcept override
    {
        limited_ = time.count() != 0;
    }

  private:
    bool has_written_ = false; // since it was read last: only that wakes it in vain
    bool limited_ = false; // the descriptor's reads end by themselves; a poll would need a timer
};

} // namespace kairos::net
