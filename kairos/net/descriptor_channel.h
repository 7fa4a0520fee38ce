// SPDX-License-Identifier: Apache-2.0
//
// What channels share whose bytes go through the socket's own descriptor: they only read, or wait
// to read, in another way.
#pragma once

#include "kairos/base/export.h"
#include "kairos/net/channel.h"

namespace kairos::net {

class KAIROS_API DescriptorChannel : public Channel {
  public:
    ~DescriptorChannel() override { (void)plain_.release(); }

    IoResult write(std::span<const iovec> segments, WriteFlags flags) noexcept override
    {
        if (segments.size() != 1) return plain_.write(segments, flags);
        const auto* const data = static_cast<const std::byte*>(segments.front().iov_base);
        return plain_.write(Bytes(data, segments.front().iov_len), flags); // the cheaper call
    }
    IoResult wait_readable(Deadline deadline) noexcept override
    {
        return plain_.wait_readable(deadline.left());
    }
    IoResult wait_writable(Deadline deadline) noexcept final
    {
        return plain_.wait_writable(deadline.left());
    }
    bool shut_reading() noexcept final { return false; }
    void shut_writing() noexcept final {}
    [[nodiscard]] Interest prepare_poll(Interest wish) noexcept final { return wish; }
    [[nodiscard]] std::optional<std::uint64_t> stuck_at() const noexcept final
    {
        return plain_.stuck_at();
    }
    [[nodiscard]] bool uses_descriptor() const noexcept final { return true; }

  protected:
    /// `descriptor` is the socket's, which owns this.
    explicit DescriptorChannel(int descriptor) noexcept : plain_(descriptor) {}

    Socket plain_; // the same descriptor, not owned
};

} // namespace kairos::net
