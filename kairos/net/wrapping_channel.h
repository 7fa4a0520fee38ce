// SPDX-License-Identifier: Apache-2.0
//
// What channels share whose bytes go through the socket changed, and that may shake hands with the
// peer before any of them goes: ciphers, and whoever wants to know first who is there. An heir says
// what is done without waiting; waiting, and being driven by a thread that blocks, a reactor or
// threads that share a connection, is done here.
//
//   who drives the connection ── read, write, agree ──► WrappingChannel ── shake_hands, take, put
//   ──► heir ── receive, send ──► the descriptor
#pragma once

#include "kairos/base/export.h"
#include "kairos/net/channel.h"

#include <atomic>

namespace kairos::net {

class KAIROS_API WrappingChannel : public Channel {
  public:
    ~WrappingChannel() override { (void)plain_.release(); }

    IoResult read(MutableBytes buffer, ReadFlags flags) noexcept final;
    IoResult write(std::span<const iovec> segments, WriteFlags flags) noexcept final;
    IoResult wait_readable(Deadline deadline) noexcept final;
    IoResult wait_writable(Deadline deadline) noexcept final;
    void set_blocking(bool blocks) noexcept final { blocks_ = blocks; }
    void limit_reading(std::chrono::nanoseconds time) noexcept final { read_limit_ = time; }
    void limit_writing(std::chrono::nanoseconds time) noexcept final { write_limit_ = time; }
    bool shut_reading() noexcept final { return false; }
    /// Does nothing; an heir may tell the peer that nothing more comes. Any thread.
    void shut_writing() noexcept override {}
    [[nodiscard]] std::optional<std::uint64_t> stuck_at() const noexcept final
    {
        return plain_.stuck_at();
    }
    [[nodiscard]] Interest prepare_poll(Interest wish) noexcept final;
    [[nodiscard]] bool is_agreeing() const noexcept final
    {
        return is_agreeing_.load(std::memory_order_acquire);
    }
    IoResult agree() noexcept final;
    [[nodiscard]] std::string_view refusal() const noexcept final { return refusal_; }

  protected:
    /// `descriptor` is the socket's, which owns this, and blocks or not as it does now. What the
    /// ends agree on begins with what the peer says if it `awaits_peer`, else with us.
    WrappingChannel(int descriptor, bool awaits_peer) noexcept;

    // --- what an heir does, none of which waits ---
    /// Goes on to shake hands. ok: that is over. would_block: has to wait for wants(), readable
    /// unless want() said something else since it was called. refuse(): the two do not agree.
    [[nodiscard]] virtual IoResult shake_hands() noexcept = 0;
    /// Reads what was sent, after shaking hands. A `peek` leaves the bytes to be read again.
    /// would_block as from shake_hands(). Called by the thread that reads.
    [[nodiscard]] virtual IoResult take(MutableBytes buffer, bool peek) noexcept = 0;
    /// Writes as many bytes as can be written, after shaking hands; the rest is offered again,
    /// perhaps from another place in memory. Called by the thread that writes, maybe while another
    /// is in take().
    [[nodiscard]] virtual IoResult put(std::span<const iovec> segments) noexcept = 0;
    /// Returns whether take() has bytes without looking at the descriptor. Called by the thread
    /// that reads.
    [[nodiscard]] virtual bool has_at_hand() const noexcept = 0;

    /// Called where the caller of read() may wait without a limit, in front of take(): an heir that
    /// has nothing at hand may wait by receive_waiting() instead of being told to poll.
    virtual void await_octets() noexcept {}

    /// Has shake_hands() called again when this can be done at the descriptor.
    void want(Interest interest) noexcept { wants_ = interest; }
    /// Ends shaking hands: the log says why. `why` lives as long as the process.
    [[nodiscard]] IoResult refuse(std::string_view why) noexcept
    {
        refusal_ = why;
        return {.error = EPROTO, .status = IoResult::Status::failed};
    }
    /// Reads from the descriptor, without waiting.
    [[nodiscard]] IoResult receive(MutableBytes buffer, bool peek = false) noexcept
    {
        const ReadFlags also = peek ? ReadFlags::peek : ReadFlags::none;
        return plain_.read(buffer, ReadFlags::do_not_wait | also);
    }
    /// Reads from the descriptor, and waits if that blocks.
    [[nodiscard]] IoResult receive_waiting(MutableBytes buffer) noexcept
    {
        return plain_.read(buffer, ReadFlags::none);
    }
    /// Writes to the descriptor, without waiting.
    [[nodiscard]] IoResult send(Bytes bytes) noexcept
    {
        return plain_.write(bytes, WriteFlags::do_not_wait);
    }
    [[nodiscard]] IoResult send(std::span<const iovec> segments) noexcept
    {
        return plain_.write(segments, WriteFlags::do_not_wait);
    }
    [[nodiscard]] int descriptor() const noexcept { return plain_.descriptor(); }

  private:
    template <typename Step>
    [[nodiscard]] IoResult until_done(bool waits, Interest wish, std::chrono::nanoseconds limit,
                                      Step step) noexcept;

    Socket plain_; // the same descriptor, not owned
    bool blocks_;
    std::atomic<bool> is_agreeing_{true};
    bool has_failed_ = false; // to agree
    Interest wants_;          // while it is agreeing
    std::string_view refusal_;
    std::chrono::nanoseconds read_limit_{0};
    std::chrono::nanoseconds write_limit_{0};
};

} // namespace kairos::net
