// SPDX-License-Identifier: Apache-2.0
//
// Another way for the bytes of a Socket than its own descriptor: shared memory (ring_channel.h),
// what is put in between (system.h), or the descriptor itself (descriptor_channel.h),
// looked at for a while before it is waited for (spinning_channel.h), or polled (polled_channel.h).
// A Socket that has one asks it for everything below; the words mean there what they mean of
// Socket.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/export.h"
#include "kairos/net/socket.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace kairos::net {

class KAIROS_API Channel {
  public:
    Channel() = default;
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    virtual ~Channel() = default;

    virtual IoResult read(MutableBytes buffer, ReadFlags flags) noexcept = 0;
    virtual IoResult write(std::span<const iovec> segments, WriteFlags flags) noexcept = 0;
    virtual IoResult wait_readable(Deadline deadline) noexcept = 0;
    virtual IoResult wait_writable(Deadline deadline) noexcept = 0;
    /// From here on a read of the descriptor that has blocked for `time` ends with would_block;
    /// zero: none does.
    virtual void limit_reading(std::chrono::nanoseconds time) noexcept { (void)time; }
    /// From here on a write of which the peer takes nothing for `time` ends with would_block; zero:
    /// none does.
    virtual void limit_writing(std::chrono::nanoseconds time) noexcept { (void)time; }
    /// Any thread. False: the descriptor must be shut down as well.
    virtual bool shut_reading() noexcept = 0;
    /// Any thread. The descriptor is shut down as well.
    virtual void shut_writing() noexcept = 0;
    /// Any thread.
    [[nodiscard]] virtual std::optional<std::uint64_t> stuck_at() const noexcept = 0;
    /// Does what Socket::prepare_poll says. Called by the thread that reads, or the one that
    /// writes, but not by two at the same time.
    [[nodiscard]] virtual Interest prepare_poll(Interest wish) noexcept = 0;
    /// Whether the bytes go through the descriptor all the same.
    [[nodiscard]] virtual bool uses_descriptor() const noexcept { return false; }
};

} // namespace kairos::net
