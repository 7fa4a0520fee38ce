// SPDX-License-Identifier: Apache-2.0
//
// The architectures in which one thread reads and others serve: a request leaves its connection
// with a copy of its bytes, waits in a queue and is answered from whichever thread served it. What
// differs between them is the dispatcher.
#pragma once

#include "kairos/orb/bidirectional.h"
#include "kairos/server/architectures.h"
#include "kairos/server/bidirectional_connections.h"
#include "kairos/server/dispatcher.h"
#include "kairos/server/listening.h"
#include "kairos/server/reactor_loop.h"
#include "kairos/server/thread_set.h"

#include <memory>
#include <mutex>
#include <vector>

namespace kairos::orb {

class HandoverServer;
struct PoolLevel;
class ThreadPool;

/// A connection that a reactor reads and any thread answers on.
class HandoverConnection final : public ReactorConnection, public BidirectionalOutput {
  public:
    HandoverConnection(HandoverServer& server, ReactorLoop& loop, Orb& orb, net::Socket socket,
                       const net::Address& peer)
        : ReactorConnection(loop, orb, std::move(socket), peer), server_(server)
    {
    }

    [[nodiscard]] Orb& orb() const noexcept { return orb_; }
    [[nodiscard]] const net::Address& peer() const noexcept { return peer_; }
    [[nodiscard]] RequestSource& source() const noexcept;
    /// Sends a reply, or queues what the peer does not take now. Any thread.
    void send(Bytes header, const cdr::Writer& body) noexcept override;
    /// Takes the memory over that the connection's last message is in. The loop's thread.
    [[nodiscard]] giop::Connection::Kept keep_messages() { return protocol_.keep_messages(); }
    /// Notes that arguments of a request could not be understood. Any thread.
    void note_malformed() { note_malformed_arguments(); }
    /// Ends the connection, for this reason: a request could not be answered at all. Any thread.
    void fail(std::string_view why) noexcept;
    /// Notes that a request waits for a thread, if less than so many of the peer's do. Any thread.
    [[nodiscard]] bool begin_waiting(std::size_t most) noexcept
    {
        return share_.begin_waiting(most, peer_);
    }
    /// Notes that one of them waits no more. Any thread, without a lock.
    [[gnu::cold]] void end_waiting() noexcept;
    /// Notes that one request less is under way. Any thread.
    void request_done() noexcept;
    /// Returns how many answers are owed that their servants give later. Any thread.
    [[nodiscard]] std::size_t owed() const noexcept
    {
        return static_cast<std::size_t>(owed_.load(std::memory_order_relaxed));
    }
    /// Notes that there are so many more. Any thread.
    void note_owed(int change) noexcept { owed_.fetch_add(change, std::memory_order_relaxed); }
    /// Notes, when the server ends, that so many more of the requests under way are being
    /// discarded. Any thread.
    void note_discarded(int change) noexcept { discarded_ += change; }
    /// Returns whether requests are under way that are not being discarded. Any thread.
    [[nodiscard]] bool serves_others() const noexcept { return under_way_ > discarded_; }
    /// Looks at what became of replies that other threads have sent, and at who is to read. The
    /// loop's thread.
    void after_sending() noexcept;
    /// Returns whether the peer does not take its replies, so that no more of them are to be made.
    /// Any thread.
    [[nodiscard]] bool is_congested() const noexcept { return congested_ && !broken_; }

    // --- where it is bidirectional ---
    [[nodiscard]] giop::Outcome send_message(Bytes header,
                                             const cdr::Writer* body) noexcept override;
    /// Goes on with a connection that came from elsewhere; to be called before anybody else has it.
    /// Throws std::bad_alloc.
    [[gnu::cold]] void go_on_with(const Adopted& adopted);
    /// Makes the connection one that carries requests in both directions, of which this is that
    /// end; returns how to call over it. By the thread that reads, or before there is one. Throws
    /// std::bad_alloc.
    [[gnu::cold]] BidirectionalLinkPtr become_bidirectional(End end);

    // --- by the lane of a pool that reads it (lane_readers.h) ---
    [[nodiscard]] int descriptor() const noexcept { return socket_.descriptor(); }
    /// Reads once and hands over what came, to the calling thread's own lane first of all. Returns
    /// whether the lane is to go on reading the connection. By the thread that has it.
    [[nodiscard]] bool read_in_lane(UpcallMemory& memory) noexcept;
    /// Gives the connection back to its server's thread. Any thread; the lane's mutex may be held.
    void come_back() noexcept;

  private:
    friend class HandoverServer;
    /// So many requests in a row for one lane, and its threads may read the connection.
    static constexpr unsigned lent_after = 8;

    ~HandoverConnection() override = default;
    [[gnu::cold]] void look_for_offer(const giop::Request& request);
    [[nodiscard, gnu::cold]] Next take_answer(const giop::Message& message);
    void end_link() noexcept;
    void note_lane() noexcept;
    /// Lends the connection to the lane of its last requests if that is no lower than who reads it
    /// now: then nobody waits for a lower thread. The loop's thread.
    void lend() noexcept;
    [[nodiscard]] Next take_received(UpcallMemory& memory) override;
    [[nodiscard]] Next hand_over(const giop::Message& message, UpcallMemory& memory);
    [[nodiscard]] Next offer(UpcallMemory& memory);
    [[nodiscard]] bool gives_way() noexcept;
    [[nodiscard]] const void* place_awaited() const noexcept override;
    void ask_adapter(UpcallMemory& memory);
    [[nodiscard]] bool become_quiet() noexcept override;
    void abandon() noexcept override;
    void flush() noexcept override;
    void send_control(Bytes message) noexcept override;

    HandoverServer& server_;
    QueuedRequestPtr waiting_;  // what there was no place for
    BidirectionalLinkPtr link_; // null: not bidirectional
    // What the last requests in a row were for, if that is a pool. Like waiting_ and all that is
    // for reading, these belong to the thread that reads: the loop's, or that of a lane.
    ThreadPool* pool_ = nullptr;
    PoolLevel* lane_ = nullptr;
    unsigned in_row_ = 0;
    // The lane that reads, or null; written by the loop's thread while nobody else reads.
    ThreadPool* pool_of_reader_ = nullptr;
    PoolLevel* reader_ = nullptr;
    Returned returned_ = Returned::unread;    // by the thread that gives it back
    HandoverConnection* next_back_ = nullptr; // guarded by the server
    std::mutex send_mutex_;             // guards writing, what is queued for the peer, last_words_
    std::vector<std::byte> last_words_; // behind the replies to what is under way
    bool said_last_words_ = false;
    std::atomic<int> under_way_{0};      // requests that the dispatcher has
    std::atomic<int> owed_{0};           // of those: answered later
    std::atomic<int> discarded_{0};      // those of them that are never served
    std::atomic<bool> is_to_end_{false}; // when there are none
};

class HandoverServer final : public Server, public ReactorLoop::Maker, public RequestSource {
  public:
    /// Makes a server of these listeners, which `reader`, one thread, reads.
    HandoverServer(Orb& orb, std::vector<Listener> listeners, ThreadSettings reader);
    ~HandoverServer() override;
    [[nodiscard, gnu::cold]] Result<void> open(std::unique_ptr<Dispatcher> dispatcher);

    [[nodiscard, gnu::cold]] Result<void> start() override;
    bool run() override { return false; }
    bool work_pending() override { return false; }
    void perform_work() override {}
    void resume() noexcept override;
    void stop() noexcept override { loop_->stop(); }
    [[gnu::cold]] void join() noexcept override;

    [[nodiscard]] HandoverServer* handover() noexcept override { return this; }
    /// Reads this connection from now on. Returns how to call over one that was made here; null for
    /// one that was accepted, and an error if the server has ended. Any thread.
    [[nodiscard, gnu::cold]] Result<BidirectionalLinkPtr> adopt(Adopted adopted);

    // RequestSource, any thread:
    void on_space() noexcept override { loop_->resume(); }

    [[nodiscard]] IntrusivePtr<ReactorConnection> make(ReactorLoop& loop, net::Socket socket,
                                                       const net::Address& peer) override;
    void on_wake() noexcept override;
    [[nodiscard]] Dispatcher& dispatcher() noexcept { return *dispatcher_; }
    [[nodiscard]] RequestStore& requests() noexcept { return requests_; }
    /// Has the loop look at what became of sending on this connection. Any thread.
    void attend(HandoverConnection& connection) noexcept;
    /// Has the loop read this connection again. Any thread.
    void take_back(HandoverConnection& connection) noexcept;
    /// Sees to it that the loop reads what the lane has no thread for; returns false where it
    /// cannot. The loop's thread.
    [[nodiscard]] bool watch_unread(ThreadPool& pool, PoolLevel& lane) noexcept;
    [[nodiscard]] Priority reader_priority() const noexcept { return reader_.priority.value_or(0); }

  private:
    /// Can be read when connections that were lent to a lane can, and the lane has no thread idle.
    struct Unread final : net::EventHandler {
        Unread(ThreadPool& unread_pool, PoolLevel& unread_lane)
            : pool(unread_pool), lane(unread_lane)
        {
        }
        void on_ready(net::Readiness) noexcept override;
        ThreadPool& pool;
        PoolLevel& lane;
    };
    void serve() noexcept;

    const ThreadSettings reader_;
    RequestStore requests_;
    std::unique_ptr<ReactorLoop> loop_;
    std::unique_ptr<Dispatcher> dispatcher_;
    // guards attention_, adopted_ and back_; inside those of thread pools
    std::mutex attention_mutex_;
    std::vector<IntrusivePtr<HandoverConnection>> attention_;
    std::vector<IntrusivePtr<HandoverConnection>> adopted_;
    HandoverConnection* back_ = nullptr;          // a list of those that lanes have given back
    std::vector<std::unique_ptr<Unread>> unread_; // the loop's; as long as the loop
    std::atomic<bool> has_started_{false};
    std::mutex join_mutex_; // guards that one thread ends the server
    net::Thread thread_;
};

/// Makes the dispatcher of a server that hands requests over, which come from `source`.
using MakeDispatcher = std::unique_ptr<Dispatcher> (*)(Orb& orb, RequestSource& source);
/// Makes a server of these listeners that hands requests over to the dispatcher that `make` makes.
[[nodiscard]] Result<std::unique_ptr<Server>>
make_handover(Orb& orb, std::vector<Listener> listeners, MakeDispatcher make);

/// Opens a server of an architecture that hands requests over (Opening::open).
template <MakeDispatcher make>
[[nodiscard]] Result<std::unique_ptr<Server>> open_handover(Orb& orb)
{
    return open_handing_over(orb, [](Orb& of, std::vector<Listener> listeners) {
        return make_handover(of, std::move(listeners), make);
    });
}

/// Makes the pool that requests are handed over to where neither the options nor thread pools say
/// more.
[[nodiscard]] std::unique_ptr<Dispatcher> make_worker_pool(Orb& orb, RequestSource& source);

} // namespace kairos::orb
