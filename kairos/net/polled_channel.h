// SPDX-License-Identifier: Apache-2.0
//
// A unix-domain socket that one thread writes and reads, which polls before it reads answers. There
// the system wakes whoever blocks in a read also when the peer has read what it was sent, since
// there is room for more: in each call both ends are woken once in vain. Who polls for reading
// sleeps on, which saves more than the system call costs. TCP acknowledges in other ways, and needs
// none of this.
#pragma once

#include "kairos/net/channel.h"

namespace kairos::net {

class PolledChannel final : public Channel {
  public:
    /// `descriptor` is the socket's, which owns this.
    explicit PolledChannel(int descriptor) noexcept : plain_(descriptor) {}
    ~PolledChannel() override { (void)plain_.release(); }
    PolledChannel(const PolledChannel&) = delete;
    PolledChannel& operator=(const PolledChannel&) = delete;

    IoResult read(MutableBytes buffer, ReadFlags flags) noexcept override;
    IoResult write(std::span<const iovec> segments, WriteFlags flags) noexcept override
    {
        has_written_ = true;
        if (segments.size() != 1) return plain_.write(segments, flags);
        const iovec& all = segments.front();
        return plain_.write(Bytes(static_cast<const std::byte*>(all.iov_base), all.iov_len), flags);
    }
    IoResult wait_readable(Deadline deadline) noexcept override
    {
        return plain_.wait_readable(deadline.left());
    }
    IoResult wait_writable(Deadline deadline) noexcept override
    {
        return plain_.wait_writable(deadline.left());
    }
    void limit_reading(std::chrono::nanoseconds time) noexcept override
    {
        limited_ = time.count() != 0;
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
    Socket plain_;             // the same descriptor, not owned
    bool has_written_ = false; // since it was read last: only that wakes it in vain
    bool limited_ = false; // the descriptor's reads end by themselves; a poll would need a timer
};

/// For a socket that blocks and is not read yet: from here on it is read so, if it is a unix-domain
/// one without a channel.
void poll_before_reading(Socket& socket);

} // namespace kairos::net
