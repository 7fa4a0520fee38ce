// SPDX-License-Identifier: Apache-2.0
//
// A server's connection that has a thread to itself: it reads a request, serves it, sends the reply
// and reads again. Two system calls a request, no hand-over, no lock. Only that thread uses it, but
// for what says otherwise.
#pragma once

#include "kairos/orb/orb.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/orb/transport.h"
#include "kairos/orb/upcall_memory.h"
#include "kairos/server/answer_box.h"
#include "kairos/server/server_connection.h"
#include "kairos/server/stream_pause.h"

#include <algorithm>
#include <atomic>
#include <optional>

namespace kairos::orb {

class ThreadedConnection final : public ServerConnection, public ServingThread {
  public:
    ThreadedConnection(Orb& orb, net::Socket socket, const net::Address& peer,
                       const Transport& transport, std::optional<Priority> priority);
    ~ThreadedConnection()
    {
        if (mail_) mail_->close();
    }

    /// Serves the connection until it ends.
    void run();
    /// Gives the socket to the caller, in place of run().
    [[nodiscard]] net::Socket take_socket() noexcept { return std::move(socket_); }

    /// Any thread: no more requests are read; the one in progress is answered.
    void interrupt() noexcept;

    /// Any thread, after that, when the peer was given time enough: also what is there of requests
    /// is not served any more. Not where nothing but answers are waited for that are owed: then
    /// the same as end_if_stalled(), and to be called again.
    void cut_off() noexcept;

    /// Any thread, every so often: ends a connection whose peer has not taken anything of what it
    /// was sent in the last `stall_looks`. Nothing else can end a thread that waits for such a
    /// peer.
    void end_if_stalled() noexcept;
    static constexpr int stall_looks = 16; ///< within stall_max

    void send(Bytes header, const cdr::Writer& body) noexcept override;
    [[nodiscard]] IntrusivePtr<OwedChannel> owe() override;

    void wait(const Awaited& awaited, Deadline deadline) noexcept override;

  private:
    class MailedAnswer;

    [[nodiscard]] bool owes() const noexcept override { return owed_ != 0; }
    /// Waits until there is something to read, and sends answers meanwhile that others have given.
    [[gnu::cold]] void await_request() noexcept;
    /// Waits, when the server ends, until no answer is owed.
    [[gnu::cold]] void await_owed() noexcept;
    /// Waits as wait_nested does, but for `instead`, a descriptor, if that is not -1, in place of
    /// the connection; and sends answers meanwhile that others have given.
    [[nodiscard, gnu::cold]] Ready wait_and_send(const Awaited& awaited, bool listens, int instead,
                                                 Deadline deadline) noexcept;
    /// Sends the answers that others have given.
    [[gnu::cold]] void send_given() noexcept;

    /// Notes that a reply could not be sent: no others are.
    [[gnu::cold]] void note_unsendable(const net::IoResult& sent) noexcept;

    /// The peer may leave it here for some time.
    [[gnu::cold, gnu::noinline]] void send_large(Bytes header, const cdr::Writer& body) noexcept;

    void keep_reply_memory(UpcallMemory& memory) noexcept override;

    [[nodiscard, gnu::cold]] bool agree_with_peer();
    void wait_and_serve(const Awaited& awaited, Deadline deadline) noexcept;

    /// Waits until `awaited` is ready, go_on_nested() has something to do, or the deadline has
    /// passed.
    [[nodiscard]] Ready wait_nested(const Awaited& awaited, bool listens,
                                    Deadline deadline) noexcept;

    /// Waits, when the server ends, until `awaited` is ready or the deadline has passed. Requests
    /// that still come on the connection are not served then but answered, for the servant may be
    /// waiting for one who waits for the answer. That reading was shut down must not wake this
    /// thread again and again.
    [[gnu::cold]] void wait_and_refuse(const Awaited& awaited, Deadline deadline) noexcept;

    /// Reads and answers all that can be read. Returns false if no more will come.
    [[gnu::cold]] bool serve_arrived() noexcept;

    /// Nested replies do not wait for the peer: the request that these are served within goes on,
    /// and it sends what is kept (wait_and_serve).
    [[gnu::cold]] void send_behind(Bytes header, const cdr::Writer& body) noexcept;

    /// Sends what is left of nested replies, and waits until the peer has taken it. Not within a
    /// request.
    [[gnu::cold]] void send_unsent() noexcept;

    /// Reads and serves what came. False: the connection ends.
    [[gnu::always_inline]] bool serve_once();

    /// Within a message: from here on reading gives up now and then. False: the rest is late.
    [[gnu::cold]] bool await_rest();

    /// Nothing came in that time. A connection that nobody uses is not looked at again.
    [[gnu::cold]] bool look_again() noexcept;

    [[gnu::cold]] void stop_limiting() noexcept;

    void send_control(Bytes message) noexcept override;

    /// Larger replies are counted, or cut into fragments.
    static constexpr std::size_t counted_min = std::size_t{64} << 10;
    const std::size_t in_one_piece_max_ = orb_.options().fragment_size == 0
                                              ? counted_min
                                              : std::min(orb_.options().fragment_size, counted_min);
    bool ended_ = false; ///< the peer was told MessageError, or said that it closes
    std::atomic<bool> looks_twice_{
        false};                   ///< before it reads: limits_reading_, interrupted_, owes()
    bool limits_reading_ = false; ///< a read may end with would_block
    bool is_late_ = false;        ///< the rest of a message
    bool is_behind_ = false;      ///< broken, or replies must not be sent at once, by send()
    int waits_ = 0;               ///< requests of this thread that wait for calls, nested
    std::atomic<bool> interrupted_{false};
    UpcallMemory memory_;
    const bool is_local_;                    ///< it leads no further than this host
    const std::optional<Priority> priority_; ///< of its thread, if that is known
    StreamPause stream_pause_;
    std::size_t owed_ = 0;                 ///< answers that others give
    IntrusivePtr<AnswerMail> mail_;        ///< where they are; null until one is owed
    std::atomic<bool> awaits_owed_{false}; ///< and nothing else, when the server ends
    // At the last end_if_stalled, whose callers hold the server's lock.
    std::optional<std::uint64_t> stuck_at_;
    int looks_alike_ = 0;
};

} // namespace kairos::orb
