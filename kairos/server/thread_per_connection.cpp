// SPDX-License-Identifier: Apache-2.0
//
// The thread-per-connection architecture: an acceptor thread a listener, and a thread for each
// connection (threaded_connection.h). Requests of different clients run side by side. Transports
// that prefer threads, as shared memory, are served by such ones beside others that serve in place.
#include "kairos/base/log.h"
#include "kairos/net/thread.h"
#include "kairos/orb/orb.h"
#include "kairos/server/architectures.h"
#include "kairos/server/listening.h"
#include "kairos/server/threaded_connection.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>

namespace kairos::orb {
namespace {

class ThreadPerConnection final : public Server {
  public:
    ThreadPerConnection(Orb& orb, std::vector<Listener> listeners, ThreadSettings threads)
        : Server(orb, std::move(listeners)), threads_(std::move(threads))
    {
    }
    ~ThreadPerConnection() override
    {
        stop();
        join();
    }

    Result<void> start() override
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

    void stop() noexcept override
    {
        stopping_ = true;
        const std::lock_guard lock(mutex_);
        for (Listener& listener : listeners_)
            listener.acceptor.shut_down();
        for (Served& served : connections_)
            served.connection->interrupt();
    }

    void join() noexcept override
    {
        const std::lock_guard joining(join_mutex_);
        acceptor_threads_.clear(); // joins; from here on no connection is added
        std::list<Served> ended;
        std::unique_lock lock(mutex_);
        // Whoever waits where nobody could be accepted waits no longer.
        for (Listener& listener : listeners_)
            const net::Acceptor closed = std::move(listener.acceptor);
        const Deadline end = Deadline::after(end_max);
        while (!all_ended_.wait_for(lock, stall_max / ThreadedConnection::stall_looks,
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
        std::unique_ptr<ThreadedConnection> connection;
        net::Thread thread;
    };

    /// Until the listener is shut down and nobody waits any more: a Unix socket keeps those who do,
    /// and they would wait for as long as the server takes to end.
    void accept(Listener& listener)
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

    void serve(net::Acceptor::Accepted accepted, const Transport& transport)
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
            served->connection = std::make_unique<ThreadedConnection>(
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
    void forget(std::list<Served>::iterator served) noexcept
    {
        std::list<Served> earlier; // joined without the lock
        const std::lock_guard lock(mutex_);
        earlier.swap(ended_);
        served->connection.reset();
        ended_.splice(ended_.end(), connections_, served);
        if (connections_.empty()) all_ended_.notify_all();
    }

    const ThreadSettings threads_;
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
                                                   ThreadSettings threads)
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
