// SPDX-License-Identifier: Apache-2.0
//
// The thread-per-connection architecture: an acceptor thread a listener, and for each connection a
// thread that reads a request, serves it, sends the reply and reads again. Two system calls a
// request, no hand-over, no lock. Requests of different clients run side by side. Transports that
// prefer threads, as shared memory, are served by such ones beside others that serve in place.
#include "kairos/base/log.h"
#include "kairos/net/arrivals.h"
#include "kairos/net/thread.h"
#include "kairos/orb/lane.h"
#include "kairos/orb/nested_wait.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/orb/transmit.h"
#include "kairos/server/architectures.h"
#include "kairos/server/listening.h"
#include "kairos/server/server_connection.h"
#include "kairos/server/stream_pause.h"

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

namespace kairos::orb {
namespace {

/// A connection and the thread that serves it. Only that thread uses it, but for `interrupt`.
class ConnectionThread final : public ServerConnection, public ServingThread {
  public:
    ConnectionThread(Orb& orb, net::Socket socket, const net::Address& peer,
                     const Transport& transport, std::optional<Priority> priority)
        : ServerConnection(orb, std::move(socket), peer), is_local_(transport.local() != nullptr),
          priority_(priority),
          stream_pause_(!is_local_ && !priority ? StreamPause::of(orb.options())
                                                : StreamPause(std::chrono::microseconds(0)))
    {
        socket_.spin(orb.options().socket.spin);
        if (is_local_) socket_.poll_before_reading();
    }

    void run()
    {
        socket_.limit_writing(orb_.options().receive_timeout);
        memory_.reply_kept_max = Account::free_octets;
        try {
            Lane::current().serving_thread = this;
            if (priority_) Lane::current().priority = priority_;
            if (socket_.is_agreeing() && !agree_with_peer()) return;
            while (serve_once()) {
            }
        } catch (const std::bad_alloc&) {
            end_out_of_memory();
            return;
        }
        send_unsent();
        // Unless the peer has said that it closes, or was told why we do.
        if (!ended_ && !broken_) send_close_connection();
        drain(socket_);
    }

    /// In place of run().
    [[nodiscard]] net::Socket take_socket() noexcept { return std::move(socket_); }

    /// Any thread: no more requests are read; the one in progress is answered.
    void interrupt() noexcept
    {
        interrupted_ = true;
        looks_twice_ = true; // what comes meanwhile can be read all the same
        socket_.shutdown_read();
    }

    /// Any thread, after that, when the peer was given time enough: also what is there of requests
    /// is not served any more.
    void cut_off() noexcept
    {
        broken_ = true;
        congested_ = true;
        socket_.shutdown_both();
    }

    /// Any thread, every so often: ends a connection whose peer has not taken anything of what it
    /// was sent in the last `stall_looks`. Nothing else can end a thread that waits for such a
    /// peer.
    void end_if_stalled() noexcept
    {
        const auto at = socket_.stuck_at();
        looks_alike_ = at && at == stuck_at_ ? looks_alike_ + 1 : 0;
        stuck_at_ = at;
        if (looks_alike_ == stall_looks) socket_.shutdown_both();
    }
    static constexpr int stall_looks = 16; ///< within stall_max

    void send(Bytes header, const cdr::Writer& body) noexcept override
    {
        stream_pause_.note_reply();
        if (is_behind_) [[unlikely]]
            return send_behind(header, body);
        // Nobody but the peer itself waits for this thread.
        if (header.size() + body.size() > in_one_piece_max_) [[unlikely]]
            return send_large(header, body);
        note_sent(transmit(socket_, header, body, 0));
    }

    void wait(const Awaited& awaited, Deadline deadline) noexcept override
    {
        ++waits_;
        is_behind_ = true;
        note_unsent();
        wait_and_serve(awaited, deadline);
        if (--waits_ != 0) return;
        is_behind_ = broken_ || !unsent_.empty();
        if (congested_) congested_ = false; // from here on who sends waits
    }

  private:
    void note_sent(const net::IoResult& sent) noexcept
    {
        if (sent.ok()) [[likely]]
            return;
        is_behind_ = broken_ = true;
        if (sent.status == net::IoResult::Status::would_block) log_late_taking();
    }

    /// The peer may leave it here for some time.
    [[gnu::cold, gnu::noinline]] void send_large(Bytes header, const cdr::Writer& body) noexcept
    {
        if (!share_.hold_replies(memory_.reply.capacity() + body.size())) {
            is_behind_ = broken_ = true;
            return;
        }
        note_sent(transmit(socket_, header, body, orb_.options().fragment_size));
        (void)share_.hold_replies(memory_.reply.capacity());
    }

    void keep_reply_memory(UpcallMemory& memory) noexcept override
    {
        if (&memory != &memory_ || memory.reply.capacity() > limits::receive_buffer_kept ||
            !share_.may_keep())
            return ServerConnection::keep_reply_memory(memory);
        if (share_.hold_replies(memory.reply.capacity()))
            memory.reply_kept_max = memory.reply.capacity();
    }

    [[nodiscard, gnu::cold]] bool agree_with_peer()
    {
        const auto limit = orb_.options().receive_timeout;
        const Deadline deadline = limit.count() == 0 ? Deadline() : Deadline::after(limit);
        const auto agreed = socket_.agree(deadline);
        if (!agreed && deadline.has_passed())
            log_late_rest();
        else if (!agreed && !interrupted_)
            log_no_agreement(agreed.error().reason);
        return agreed.ok();
    }
    void wait_and_serve(const Awaited& awaited, Deadline deadline) noexcept
    {
        bool listens = serve_rest_nested();
        while (!interrupted_) {
            const Ready ready = wait_nested(awaited, listens, deadline);
            if (ready.first || !ready.second || deadline.has_passed()) return;
            listens = go_on_nested();
        }
        wait_and_refuse(awaited, deadline);
    }

    /// Waits until `awaited` is ready, go_on_nested() has something to do, or the deadline has
    /// passed.
    [[nodiscard]] Ready wait_nested(const Awaited& awaited, bool listens,
                                    Deadline deadline) noexcept
    {
        const int held = descriptor_held_nested();
        if (held >= 0) return wait_either(awaited, held, deadline);
        const Awaited own{.socket = socket_, .interest = interest_nested(listens)};
        return wait_either(awaited, &own, deadline);
    }

    /// Waits, when the server ends, until `awaited` is ready or the deadline has passed. Requests
    /// that still come on the connection are not served then but answered, for the servant may be
    /// waiting for one who waits for the answer. That reading was shut down must not wake this
    /// thread again and again.
    [[gnu::cold]] void wait_and_refuse(const Awaited& awaited, Deadline deadline) noexcept
    {
        auto arrivals = net::Arrivals::at(socket_.descriptor());
        for (bool listens = arrivals.ok();;) {
            listens = listens && serve_arrived();
            const bool looks = listens && !congested_ && descriptor_held_nested() < 0;
            const Ready ready = looks ? wait_either(awaited, arrivals->descriptor(), deadline)
                                      : wait_nested(awaited, false, deadline);
            if (ready.first || !ready.second || deadline.has_passed()) return;
            if (looks)
                arrivals->forget();
            else
                (void)go_on_nested();
        }
    }

    /// Reads and answers all that can be read. Returns false if no more will come.
    [[gnu::cold]] bool serve_arrived() noexcept
    {
        if (socket_.bypasses_descriptor()) { // where the peer is to say when there is more
            while (!congested_ &&
                   socket_.prepare_poll(net::Interest::readable) == net::Interest::none)
                if (!go_on_nested()) return descriptor_held_nested() >= 0;
        } else {
            while (!congested_ && go_on_nested()) {
            }
        }
        return !protocol_.ended() && !broken_;
    }

    /// Nested replies do not wait for the peer: the request that these are served within goes on,
    /// and it sends what is kept (wait_and_serve).
    [[gnu::cold]] void send_behind(Bytes header, const cdr::Writer& body) noexcept
    {
        if (broken_) return;
        if (waits_ == 0) {
            send_unsent();
            if (!broken_) send(header, body);
            return;
        }
        unsent_.put_message(socket_, header, body, orb_.options().fragment_size);
        note_unsent();
    }

    /// Sends what is left of nested replies, and waits until the peer has taken it. Not within a
    /// request.
    [[gnu::cold]] void send_unsent() noexcept
    {
        while (!unsent_.empty() && !unsent_.broken() && socket_.wait_writable(std::nullopt).ok())
            unsent_.flush(socket_);
        if (unsent_.broken() || !unsent_.empty()) broken_ = true;
        is_behind_ = broken_;
    }

    /// Reads and serves what came. False: the connection ends.
    bool serve_once()
    {
        if (no_request_in_progress()) [[unlikely]]
            send_unsent();
        const MutableBytes space = protocol_.space();
        if (!protocol_.between_messages()) [[unlikely]] {
            if (!await_rest()) return false;
        } else if (looks_twice_.load(std::memory_order_relaxed)) [[unlikely]] {
            if (interrupted_) return false;
            // Where reads that are limited cost more than this.
            if (is_local_) stop_limiting();
        }
        const net::IoResult got = socket_.read(space);
        if (!got.ok()) [[unlikely]] {
            if (got.status == net::IoResult::Status::would_block) return look_again();
            ended_ = !interrupted_ && end_received();
            return false;
        }
        protocol_.received(got.bytes);
        Next next = serve_received(memory_);
        while (next == Next::hold) [[unlikely]] {
            hold.wait();
            next = serve_received(memory_);
        }
        ended_ = next == Next::close;
        if (got.bytes >= StreamPause::read_min) [[unlikely]]
            stream_pause_.pause_after_read({.bytes = got.bytes,
                                            .all = got.bytes < space.size(),
                                            .queue_max = queue_max_,
                                            .in_part = message_in_part()});
        return next == Next::read;
    }

    /// Within a message: from here on reading gives up now and then. False: the rest is late.
    [[gnu::cold]] bool await_rest()
    {
        if (interrupted_) return false;
        const auto limit = orb_.options().receive_timeout;
        if (limit.count() == 0) return true;
        const auto look = ReceiveLimit::between_looks(limit);
        if (!std::exchange(limits_reading_, true)) {
            looks_twice_ = true;
            socket_.limit_reading(look);
        }
        is_late_ = rest_was_due(ReceiveLimit::Clock::now());
        if (is_late_) log_late_rest();
        return !is_late_;
    }

    /// Nothing came in that time. A connection that nobody uses is not looked at again.
    [[gnu::cold]] bool look_again() noexcept
    {
        if (protocol_.between_messages()) stop_limiting();
        return true;
    }

    [[gnu::cold]] void stop_limiting() noexcept
    {
        limits_reading_ = false;
        looks_twice_ = false;
        if (interrupted_) looks_twice_ = true;
        socket_.limit_reading(std::chrono::nanoseconds(0));
    }

    void send_control(Bytes message) noexcept override
    {
        if (waits_ != 0) {
            unsent_.put(socket_, message);
            return note_unsent();
        }
        send_unsent();
        if (is_late_) // it may not read either
            (void)socket_.write(message, net::WriteFlags::do_not_wait);
        else if (!broken_)
            (void)socket_.write_all(message);
    }

    /// Larger replies are counted, or cut into fragments.
    static constexpr std::size_t counted_min = std::size_t{64} << 10;
    const std::size_t in_one_piece_max_ = orb_.options().fragment_size == 0
                                              ? counted_min
                                              : std::min(orb_.options().fragment_size, counted_min);
    bool ended_ = false; ///< the peer was told MessageError, or said that it closes
    std::atomic<bool> looks_twice_{false}; ///< before it reads: limits_reading_ or interrupted_
    bool limits_reading_ = false;          ///< a read may end with would_block
    bool is_late_ = false;                 ///< the rest of a message
    bool is_behind_ = false; ///< broken, or replies must not be sent at once, by send()
    int waits_ = 0;          ///< requests of this thread that wait for calls, nested
    std::atomic<bool> interrupted_{false};
    UpcallMemory memory_;
    const bool is_local_;                    ///< it leads no further than this host
    const std::optional<Priority> priority_; ///< of its thread, if that is known
    StreamPause stream_pause_;
    // At the last end_if_stalled, whose callers hold the server's lock.
    std::optional<std::uint64_t> stuck_at_;
    int looks_alike_ = 0;
};

// Nothing of this is done for a request, and what is cold is compiled for size.
class ThreadPerConnection final : public Server {
  public:
    ThreadPerConnection(Orb& orb, std::vector<Listener> listeners, ServingThreads threads)
        : Server(orb, std::move(listeners)), threads_(std::move(threads))
    {
    }
    [[gnu::cold]] ~ThreadPerConnection() override
    {
        stop();
        join();
    }

    [[gnu::cold]] Result<void> start() override
    {
        net::ThreadOptions accepting = threads_.options;
        accepting.name = "kairos-accept";
        for (Listener& listener : listeners_) {
            auto thread = net::Thread::start(accepting, [this, &listener] { accept(listener); });
            if (!thread) return thread.error();
            acceptor_threads_.push_back(std::move(thread).value());
        }
        return {};
    }
    bool run() override { return false; }
    bool work_pending() override { return false; }
    void perform_work() override {}
    void resume() noexcept override {} // the threads wait in the adapter

    [[gnu::cold]] void stop() noexcept override
    {
        stopping_ = true;
        const std::lock_guard lock(mutex_);
        for (Listener& listener : listeners_)
            listener.acceptor.shut_down();
        for (Served& served : connections_)
            served.connection->interrupt();
    }

    [[gnu::cold]] void join() noexcept override
    {
        const std::lock_guard joining(join_mutex_);
        acceptor_threads_.clear(); // joins; from here on no connection is added
        std::list<Served> ended;
        std::unique_lock lock(mutex_);
        // Whoever waits where nobody could be accepted waits no longer.
        for (Listener& listener : listeners_)
            const net::Acceptor closed = std::move(listener.acceptor);
        const Deadline end = Deadline::after(end_max);
        while (!all_ended_.wait_for(lock, stall_max / ConnectionThread::stall_looks,
                                    [this] { return connections_.empty(); }))
            for (Served& served : connections_)
                end.has_passed() ? served.connection->cut_off()
                                 : served.connection->end_if_stalled();
        ended.swap(ended_);
        lock.unlock();
        ended.clear(); // joins
    }

  private:
    struct Served {
        std::unique_ptr<ConnectionThread> connection;
        net::Thread thread;
    };

    /// Until the listener is shut down and nobody waits any more: a Unix socket keeps those who do,
    /// and they would wait for as long as the server takes to end.
    [[gnu::cold]] void accept(Listener& listener)
    {
        for (;;) {
            auto accepted = Server::accept(listener, orb_);
            switch (accepted.status) {
            case net::Acceptor::Status::accepted:
                serve(std::move(accepted), *listener.transport);
                break;
            case net::Acceptor::Status::turned_away:
                log_refusal(accepted);
                break;
            case net::Acceptor::Status::exhausted: {
                log_refusal(accepted);
                if (stopping_) return;
                std::this_thread::sleep_for(std::chrono::milliseconds(50)); // let some be closed
                break;
            }
            case net::Acceptor::Status::would_block:
                break;
            case net::Acceptor::Status::closed:
                return;
            case net::Acceptor::Status::failed:
                log::error(log::Line() << "listening ended: " << std::strerror(accepted.error));
                return;
            }
        }
    }

    [[gnu::cold]] void serve(net::Acceptor::Accepted accepted, const Transport& transport)
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) return turn_away(std::move(accepted.socket));
        if (connections_.size() >= orb_.options().connections_max) {
            log_too_many(accepted.peer);
            return turn_away(std::move(accepted.socket));
        }
        auto served = connections_.end();
        try {
            served = connections_.emplace(connections_.end());
            served->connection = std::make_unique<ConnectionThread>(
                orb_, std::move(accepted.socket), accepted.peer, transport, threads_.priority);
        } catch (const std::bad_alloc&) { // the connection is closed
            if (served != connections_.end()) connections_.erase(served);
            return log_out_of_memory(accepted.peer);
        }
        auto thread = net::Thread::start(threads_.options, [this, served] {
            served->connection->run();
            forget(served);
        });
        if (thread) {
            served->thread = std::move(thread).value();
            return;
        }
        log_refusal(accepted.peer, thread.error());
        // Told so in order, the client knows that nothing was executed.
        turn_away(served->connection->take_socket());
        connections_.erase(served);
    }

    /// Gives everything of a connection back in its own thread; but a thread cannot join itself, so
    /// the next one to end does.
    [[gnu::cold]] void forget(std::list<Served>::iterator served) noexcept
    {
        std::list<Served> earlier; // joined without the lock
        const std::lock_guard lock(mutex_);
        earlier.swap(ended_);
        served->connection.reset();
        ended_.splice(ended_.end(), connections_, served);
        if (connections_.empty()) all_ended_.notify_all();
    }

    const ServingThreads threads_;
    std::atomic<bool> stopping_{false};
    std::mutex join_mutex_; // guards that one thread ends the server; outside mutex_
    // guards what follows; not taken while a request is served; inside join_mutex_
    std::mutex mutex_;
    std::list<Served> connections_;
    std::list<Served> ended_; // their threads are about to end, their connections are gone
    std::condition_variable all_ended_;
    std::vector<net::Thread> acceptor_threads_;
};

} // namespace

std::unique_ptr<Server> make_thread_per_connection(Orb& orb, std::vector<Listener> listeners,
                                                   ServingThreads threads)
{
    return std::make_unique<ThreadPerConnection>(orb, std::move(listeners), std::move(threads));
}

constinit const Opening opening::thread_per_connection{
    architecture::thread_per_connection, [](Orb& orb) {
        const auto make = [](Orb& of, std::vector<Listener> listeners) {
            return Result(make_thread_per_connection(
                of, std::move(listeners), {.options = of.thread_options("kairos-serve")}));
        };
        return open_server(orb, make, {.connections_have_threads = true});
    }};

} // namespace kairos::orb
