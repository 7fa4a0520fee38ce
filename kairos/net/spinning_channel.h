// SPDX-License-Identifier: Apache-2.0
//
// A socket whose reader asks again and again for a while before it waits (-ORBSpin): the wake-up of
// a thread, which takes longer than many an answer, is saved.
#pragma once

#include "kairos/net/channel.h"
#include "kairos/net/spin.h"

namespace kairos::net {

class SpinningChannel final : public Channel {
  public:
    /// `descriptor` is the socket's, which owns this.
    SpinningChannel(int descriptor, std::chrono::microseconds spin) noexcept
        : plain_(descriptor), spin_(spin)
    {
    }
    ~SpinningChannel() override { (void)plain_.release(); }
    SpinningChannel(const SpinningChannel&) = delete;
    SpinningChannel& operator=(const SpinningChannel&) = delete;

    IoResult read(MutableBytes buffer, ReadFlags flags) noexcept override;
    IoResult write(std::span<const iovec> segments, WriteFlags flags) noexcept override
    {
        return plain_.write(segments, flags);
    }
    IoResult wait_readable(Deadline deadline) noexcept override;
    IoResult wait_writable(Deadline deadline) noexcept override
    {
        return plain_.wait_writable(deadline.left());
    }
    bool shut_reading() noexcept override { return false; }
    void shut_writing() noexcept override {}
    [[nodiscard]] Interest prepare_poll(Interest wish) noexcept override { return wish; }
    [[nodiscard]] std::optional<std::uint64_t> stuck_at() const noexcept override
    {
        return plain_.stuck_at();
    }
    [[nodiscard]] bool uses_descriptor() const noexcept override { return true; }

  private:
    Socket plain_; // the same descriptor, not owned
    Spin spin_;    // of who reads
};

} // namespace kairos::net
