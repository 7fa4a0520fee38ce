// SPDX-License-Identifier: Apache-2.0
//
// A client's connection to one endpoint that all threads use at the same time: replies come in any
// order and go to whose they are. Stations 4 and 5 of the request walk (docs/TOUR.md) for the
// architectures leader-followers and active (paper 003).
//
// There are two roles, and one thread at most has each: who writes and who reads. With
// leader-followers the threads whose calls are under way take them in turn. One that has sent its
// request reads if nobody does; it hands the replies of others to them until its own is there, and
// then calls one of those who wait. Nobody waits with a part of a message in its hands: what the
// peer does not take at once is copied, and whoever writes goes on with it and, if nobody reads,
// reads, so that a peer which waits for us to read goes on too. With active both roles are always
// those of a thread of the ORB (connection_thread.h).
//
// A call is known to the connection from `exchange` until that returns, or from `begin` until its
// completion hears of the end (shared_connection_begin.cpp). `mutex_` guards which calls
// there are, where they have got to, and who has the roles; the socket's two directions, `output_`
// and `session_` belong to the roles.
#pragma once

#include "kairos/base/assert_held.h"
#include "kairos/base/intrusive_list.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/client/client_connection.h"
#include "kairos/client/reply_memory.h"
#include "kairos/giop/client_session.h"
#include "kairos/net/parking.h"
#include "kairos/net/socket.h"
#include "kairos/net/waker.h"
#include "kairos/orb/output_queue.h"

#include <atomic>
#include <mutex>
#include <optional>

namespace kairos::orb {

class ConnectionThread;

/// Who hears of the end of a call that no thread waits for.
class Completion {
  public:
    Completion() = default;
    Completion(const Completion&) = delete;
    Completion& operator=(const Completion&) = delete;

    /// Called once, under the connection's lock, when that knows the call no longer. Must not call
    /// the connection, nor release it.
    virtual void completed() noexcept = 0;

  protected:
    ~Completion() = default;
};

/// One message to be sent and the wait for what answers it: on the stack of the thread that waits.
/// Set up by that thread, then the connection's until its `exchange` returns. Of a call that no
/// thread waits for it lies with its Completion, and is the connection's until that hears.
struct SharedCall : giop::PendingRequest {
    using PendingRequest::PendingRequest;

    Bytes header;                      ///< or the whole message…
    const cdr::Writer* body = nullptr; ///< …if there is no body
    bool has_contexts = false;         ///< the endpoint's, for the first request
    ReplyMemory* reply = nullptr;      ///< where the answer goes
    Deadline send_by;
    Deadline answer_by;
    Completion* completion = nullptr; ///< who hears of the end; null: a thread waits

    /// Returns, after the end, what became of the call.
    [[nodiscard]] giop::Outcome result() const noexcept { return *outcome; }

  private:
    friend class SharedConnection;
    using Outcome = giop::Outcome;
    using Sent = giop::Sent;

    [[nodiscard]] bool is_over() const noexcept
    {
        return outcome.has_value() && !being_sent && !being_answered;
    }
    [[nodiscard]] Deadline deadline() const noexcept
    {
        return sent == Sent::wholly ? answer_by : send_by;
    }

    // Guarded by the connection's mutex, and so is `sent`.
    bool being_sent = false;     ///< who writes is reading `header` and `body`
    bool being_answered = false; ///< who reads is filling `reply`
    bool is_impatient = false;   ///< its time is over: it waits for the end of these two
    bool writes = false;         ///< its thread has this role
    bool reads = false;
    bool parked = false;
    std::uint64_t posted_before = 0;  ///< what was posted before it goes out before it
    std::uint64_t heard_before = 0;   ///< of the peer
    std::uint64_t in_vain_before = 0; ///< calls that had heard nothing
    std::optional<Outcome> outcome;
    ListLinks<SharedCall> to_send_links;
    ListLinks<SharedCall> follower_links;
    ListLinks<SharedCall> timed_links; ///< of a call with a completion…
    Deadline looked_at;                ///< …when its deadline is looked at
    net::Parking parking;
};

class SharedConnection final : public RefCounted {
  public:
    using Outcome = giop::Outcome;

    /// Connects by the deadline. `orb` and `thread` must outlive the connection. `thread` writes
    /// and reads it; with null the threads that call over it do.
    [[nodiscard]] static Result<IntrusivePtr<SharedConnection>>
    open(Orb& orb, Endpoint& endpoint, ConnectionThread* thread, Deadline deadline);

    [[nodiscard]] Endpoint& endpoint() const noexcept { return *endpoint_; }
    /// Returns a new request id. Any thread, like everything public here.
    [[nodiscard]] std::uint32_t next_request_id() noexcept
    {
        return session_.next_shared_request_id();
    }
    /// Returns the service contexts that a request is to have: the endpoint's, until a request that
    /// has them was sent. Threads that begin at the same time may each send them.
    [[nodiscard]] Bytes contexts() const noexcept
    {
        return session_.contexts(endpoint_->contexts());
    }

    /// Sends the call's message and waits until it is sent, or for its answer. Afterwards the
    /// connection knows nothing of the call. A request of which a part was sent when its time was
    /// over is `late`: the rest still goes out, for others may be using the connection.
    [[nodiscard]] Outcome exchange(SharedCall& call);
    /// Sends the call's message as `exchange` does, over a connection with a thread, but does not
    /// wait: the call's completion hears of the end, perhaps before this returns. Returns false,
    /// and knows nothing of the call, if the connection has ended.
    [[nodiscard]] bool begin(SharedCall& call);
    /// Ends a call that has begun, as if its time was over, unless it is over already: tells the
    /// peer that nobody waits for the answer. Not after the call's completion was told and has made
    /// use of that.
    void withdraw(SharedCall& call) noexcept;
    /// Copies a oneway with SYNC_NONE for the connection's thread, which it must have, to send, and
    /// does not wait. Keeps the order with what the calling thread sends before and afterwards.
    /// There is room for Options::oneways_unsent_max octets, and for one message that alone is
    /// larger.
    [[nodiscard]] Outcome post(Bytes header, const cdr::Writer& body, bool has_contexts);
    [[nodiscard]] bool has_thread() const noexcept { return thread_ != nullptr; }

    /// Returns whether the connection can carry no more calls.
    [[nodiscard]] bool has_ended() const noexcept { return ended_.load(std::memory_order_acquire); }
    /// Returns since when nobody uses the connection, by coarse_now(); nothing if somebody does, if
    /// it has ended, or if oneways are still to be sent.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> idle_since() noexcept;
    /// Closes the connection, in order, if nobody has used it since `before` and no oneway is still
    /// to be sent; returns whether it has ended, now or before.
    bool close_if_idle(std::chrono::nanoseconds before) noexcept;
    /// Ends the connection as if the peer had closed.
    void interrupt() noexcept;
    /// Leaves the connection to the parent, in a child process. Its calls and its locks are the
    /// parent's: it must not be used any more, nor destroyed.
    void leave_to_parent() noexcept { socket_.leave_to_parent(); }
    /// Returns whether calls are under way on the connection.
    [[nodiscard]] bool is_used() noexcept;

    /// Ends the connection for everybody with this outcome; calls that were not wholly sent were
    /// not executed in any case.
    void end(Outcome outcome) noexcept;

    // --- for the thread that it has, if any ---
    [[nodiscard]] const net::Socket& socket() const noexcept { return socket_; }
    /// Returns whether nothing more can come. A connection that can carry no more calls may still
    /// have answers.
    [[nodiscard]] bool is_read_out() const noexcept
    {
        return read_out_.load(std::memory_order_acquire);
    }
    /// Reads what has come, without waiting, and hands answers to the calls that they belong to.
    void receive() noexcept;
    /// Sends what waits to be sent, with all that was posted before. Returns true if there is more:
    /// what the peer does not take now, or what was posted meanwhile.
    [[nodiscard]] bool send_waiting() noexcept;
    /// Has the main thread look for the ends of calls that completions have posted. With no lock
    /// held.
    void announce() noexcept;
    /// Returns whether ends of calls are left to the thread to tell.
    [[nodiscard]] bool has_ready() const noexcept;
    /// Tells of those that there are now. With no lock held.
    void tell_ready() const noexcept;
    /// Returns whether there are calls with deadlines that no thread looks after.
    [[nodiscard]] bool has_timed() const noexcept
    {
        return has_timed_.load(std::memory_order_relaxed);
    }
    /// Ends those of them whose time is over; returns when to look again, if there are more.
    [[nodiscard]] std::optional<Deadline::Clock::time_point> end_overdue() noexcept;
    /// The connection's place in its thread's list of those to be served (ConnectionThread).
    ListLinks<SharedConnection> attention_links;

  private:
    SharedConnection(Orb& orb, Endpoint& endpoint, ConnectionThread* thread, net::Socket socket,
                     net::Waker waker, ConnectionCache::Place place);
    ~SharedConnection() override = default;

    using Lock = std::unique_lock<std::mutex>;
    enum class Wait : std::uint8_t { until_deadline, no };
    /// Wakes a parked thread when it is destroyed: made before the lock is taken, it does so after
    /// the lock was given back.
    class WakeLater {
      public:
        WakeLater() = default;
        WakeLater(const WakeLater&) = delete;
        WakeLater& operator=(const WakeLater&) = delete;
        ~WakeLater()
        {
            if (place != nullptr) net::Parking::wake(place);
        }
        const net::Parking* place = nullptr;
    };

    // --- what calls do; all must hold mutex_, and those with a Lock may give it back meanwhile ---
    [[nodiscard]] bool admit(SharedCall& call, Lock& lock) noexcept;
    void look_around(Lock& lock) noexcept;
    void call_thread(Lock& lock) noexcept;
    void take_part(SharedCall& call, Lock& lock) noexcept;
    void wait_for_peer(SharedCall& call, Lock& lock) noexcept;
    void park(SharedCall& call, Lock& lock, Deadline deadline) noexcept;
    void give_up(SharedCall& call, Lock& lock) noexcept;
    void note_unanswered(const SharedCall& call) noexcept;
    void cancel(const SharedCall& call, Lock& lock) noexcept;
    [[nodiscard]] const net::Parking* leave(SharedCall& call) noexcept;
    [[nodiscard]] const net::Parking* call_next() noexcept;

    // --- who writes; all but `put` must hold mutex_ ---
    [[nodiscard]] bool has_to_write() const noexcept
    {
        assert_held(mutex_);
        return !output_is_empty_ || !to_send_.empty() || !posted_.empty();
    }
    /// Returns how many octets of what was posted the peer has not taken.
    [[nodiscard]] std::size_t posted_size() const noexcept
    {
        assert_held(mutex_);
        return posted_.size() + posted_queued_;
    }
    void take_posted() noexcept;
    void lose_posted() noexcept;
    void write(Lock& lock, const SharedCall* own) noexcept;
    [[nodiscard]] bool write_rest(Lock& lock) noexcept;
    void put(SharedCall& call) noexcept;
    void note_sent(SharedCall& call) noexcept;
    void note_partly_sent(SharedCall& call) noexcept;
    void fail_sending() noexcept;

    // --- who reads ---
    /// Reads once and delivers what has come; returns false if nothing has.
    bool read(Wait wait, Deadline deadline) noexcept;
    void take_received();
    void deliver(const giop::Answer& answer);
    [[nodiscard]] SharedCall* claim(const giop::Answer& answer) noexcept;

    void refuse() noexcept;

    // All must hold mutex_.
    void finish(SharedCall& call, Outcome outcome) noexcept;
    void wake_locked(SharedCall& call) noexcept;
    void complete(SharedCall& call) noexcept;
    void note_timed(SharedCall& call) noexcept;
    void end_late(SharedCall& call, Lock& lock) noexcept;

    Orb& orb_;
    const IntrusivePtr<Endpoint> endpoint_;
    ConnectionThread* const thread_;    // has both roles, if there is one
    std::atomic<bool> ended_{false};    // set under mutex_
    std::atomic<bool> read_out_{false}; // likewise

    net::Socket socket_;
    OutputQueue output_;                  // of who writes
    giop::ClientSession session_;         // of who reads
    std::atomic<std::uint64_t> heard_{0}; // how often something has come; counted by who reads
    net::Waker waker_;                    // woken for who writes and waits for the peer

    std::mutex mutex_;            // guards what follows; inside SharedConnections'
    giop::PendingRequests calls_; // SharedCalls
    std::size_t users_ = 0;       // calls under way
    giop::Version peer_version_ = giop::version_1_0; // of its last answer to a call
    IntrusiveList<SharedCall, &SharedCall::to_send_links> to_send_;
    // Parked, with nothing left to do but to wait for the answer: any of them may read.
    IntrusiveList<SharedCall, &SharedCall::follower_links> followers_;
    // With deadlines that no thread looks after, the earliest first.
    IntrusiveList<SharedCall, &SharedCall::timed_links> timed_;
    std::atomic<bool> has_timed_{false}; // set under mutex_
    SharedCall* partly_sent_ = nullptr;  // its rest is in output_
    bool output_is_empty_ = true;
    OutputQueue posted_;             // waits for who writes
    std::size_t posted_queued_ = 0;  // octets of it that are in output_, which then has no others
    std::uint64_t posted_count_ = 0; // messages ever posted
    std::uint64_t posted_taken_ = 0; // … and of these moved to output_
    bool somebody_writes_;
    bool somebody_reads_;
    bool thread_knows_ = false; // that there is something to write
    bool writer_waits_ = false; // for the peer: the waker wakes it
    std::chrono::nanoseconds last_use_;
    // Calls, one after the other, in whose time nothing has come; and heard_ in theirs.
    static constexpr unsigned unanswered_max = 3;
    unsigned unanswered_ = 0;
    std::uint64_t heard_in_vain_ = 0;
    std::uint64_t in_vain_ = 0; // such calls, ever
    ConnectionCache::Place place_;
};

} // namespace kairos::orb
