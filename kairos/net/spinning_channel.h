// SPDX-License-Identifier: Apache-2.0
//
// A socket whose reader asks again and again for a while before it waits (-ORBSpin): the wake-up of
// a thread, which takes longer than many an answer, is saved.
#pragma once

#include "kairos/net/polled_channel.h"
#include "kairos/net/spin.h"

#include <optional>

namespace kairos::net {

class SpinningChannel final : public DescriptorChannel {
  public:
    /// `descriptor` is the socket's, which owns this. `polls`: who does not spin polls before it
    /// reads (polled_channel.h).
    SpinningChannel(int descriptor, const SpinRule& rule, bool polls) noexcept
        : DescriptorChannel(descriptor), spin_(rule)
    {
        if (polls) polled_.emplace(descriptor);
    }

    IoResult read(MutableBytes buffer, ReadFlags flags) noexcept override;
    IoResult write(std::span<const iovec> segments, WriteFlags flags) noexcept override
    {
        return polled_ ? polled_->write(segments, flags)
                       : DescriptorChannel::write(segments, flags);
    }
    IoResult wait_readable(Deadline deadline) noexcept override;
    void limit_reading(std::chrono::nanoseconds time) noexcept override
    {
        if (polled_) polled_->limit_reading(time);
    }

  private:
    Spin spin_; // of who reads
    std::optional<PolledChannel> polled_;
};

} // namespace kairos::net
