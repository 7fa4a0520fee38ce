// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/wrapping_channel.h"

#include <fcntl.h>

namespace kairos::net {

namespace {

bool blocks(int descriptor) noexcept { return (::fcntl(descriptor, F_GETFL) & O_NONBLOCK) == 0; }

} // namespace

WrappingChannel::WrappingChannel(int descriptor, bool awaits_peer) noexcept
    : plain_(descriptor), blocks_(blocks(descriptor)),
      wants_(awaits_peer ? Interest::readable : Interest::writable)
{
}

IoResult WrappingChannel::agree() noexcept
{
    if (!is_agreeing()) return {};
    if (has_failed_) return {.status = IoResult::Status::closed};
    wants_ = Interest::readable;
    const IoResult result = shake_hands();
    if (result.ok())
        is_agreeing_.store(false, std::memory_order_release);
    else if (result.status != IoResult::Status::would_block)
        has_failed_ = true;
    return result;
}

Interest WrappingChannel::prepare_poll(Interest wish) noexcept
{
    if (is_agreeing()) return has_failed_ ? Interest::none : wants_;
    const bool reads = wish == Interest::readable || wish == Interest::readable_and_writable;
    return reads && has_at_hand() ? Interest::none : wish;
}

/// Does `step` until it need not wait; where nobody may wait, once.
template <typename Step>
IoResult WrappingChannel::until_done(bool waits, Interest wish, std::chrono::nanoseconds limit,
                                     Step step) noexcept
{
    for (;;) {
        IoResult result = agree();
        if (result.ok()) result = step();
        if (result.status != IoResult::Status::would_block || !waits) return result;
        const Interest awaited = prepare_poll(wish);
        if (awaited == Interest::none) continue;
        const IoResult waited = wait_at(plain_.descriptor(), poll_events(awaited),
                                        limit.count() != 0 ? std::optional(limit) : std::nullopt);
        if (!waited.ok()) return waited;
    }
}

IoResult WrappingChannel::read(MutableBytes buffer, ReadFlags flags) noexcept
{
    const auto has = [flags](ReadFlags flag) {
        return (static_cast<int>(flags) & static_cast<int>(flag)) != 0;
    };
    const bool waits = blocks_ && !has(ReadFlags::do_not_wait);
    if (waits && read_limit_.count() == 0 && !is_agreeing()) await_octets();
    return until_done(waits, Interest::readable, read_limit_,
                      [&] { return take(buffer, has(ReadFlags::peek)); });
}

IoResult WrappingChannel::write(std::span<const iovec> segments, WriteFlags flags) noexcept
{
    const bool may_wait =
        (static_cast<int>(flags) & static_cast<int>(WriteFlags::do_not_wait)) == 0;
    return until_done(blocks_ && may_wait, Interest::writable, write_limit_,
                      [&] { return put(segments); });
}

IoResult WrappingChannel::wait_readable(Deadline deadline) noexcept
{
    for (;;) {
        const IoResult agreed = agree();
        if (!agreed.ok() && agreed.status != IoResult::Status::would_block)
            return {}; // a read tells
        const Interest awaited = prepare_poll(Interest::readable);
        if (awaited == Interest::none) return {};
        const IoResult waited = wait_at(plain_.descriptor(), poll_events(awaited), deadline.left());
        if (!waited.ok() || agreed.ok()) return waited;
    }
}

IoResult WrappingChannel::wait_writable(Deadline deadline) noexcept
{
    const Interest awaited = prepare_poll(Interest::writable);
    if (awaited == Interest::none) return {}; // a write tells
    return wait_at(plain_.descriptor(), poll_events(awaited), deadline.left());
}

} // namespace kairos::net
