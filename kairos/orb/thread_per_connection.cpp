// SPDX-License-Identifier: Apache-2.0
//
// The thread-per-connection architecture: an acceptor thread a listener, and for each connection a
// thread that reads a request, serves it, sends the reply and reads again. Two system calls a
// request, no hand-over, no lock. Requests of different clients run side by side.
#include "kairos/base/log.h"
#include "kairos/net/thread.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/server.h"
#include "kairos/orb/server_connection.h"
#include "kairos/orb/transmit.h"

#include <atomic>
#include <list>
#include <mutex>
#include <thread>

namespace kairos::orb {
namespace {

/// A connection and the thread that serves it. Only that thread uses it, but for `interrupt`.
class ConnectionThread final : public ServerConnection {
  public:
    using ServerConnection::ServerConnection;

    void run()
    {
        try {
            while (serve_once()) {
            }
        } catch (const std::bad_alloc&) {
            log::error("out of memory for a message from " + peer_.to_text() +
                       "; connection closed");
            return;
        }
        if (protocol_.ended() || broken_)
            drain();
        else
            send_close_connection(); // told to stop, or the peer is gone and does not mind
        socket_.shutdown_both();
    }

    /// Any thread: no more requests are read; the one in progress is answered.
    void interrupt() noexcept { socket_.shutdown_read(); }

    void send(Bytes header, const cdr::Writer& body) noexcept override
    {
        if (!broken_ && !transmit(socket_, header, body, orb_.options().fragment_size).ok())
            broken_ = true;
    }

  private:
    /// Reads and serves what came. False: the connection ends.
    bool serve_once()
    {
        const net::IoResult got = socket_.read(protocol_.space());
        if (!got.ok()) [[unlikely]]
            return false;
        protocol_.received(got.bytes);
        Next next = serve_received(memory_);
        while (next == Next::hold) [[unlikely]] {
            orb_.adapter()->wait_while_holding();
            next = serve_received(memory_);
        }
        refused_ = next == Next::close;
        return next == Next::read;
    }

    void send_control(Bytes message) noexcept override { (void)socket_.write_all(message); }

    /// What the peer had still sent must be read before closing, or the kernel resets the
    /// connection and the peer never sees the MessageError.
    void drain() noexcept
    {
        socket_.shutdown_write();
        std::array<std::byte, 4096> dropped;
        for (int i = 0; i < 64; ++i)
            if (!socket_.read(dropped, net::ReadFlags::do_not_wait).ok()) return;
    }

    UpcallMemory memory_;
    bool refused_ = false; ///< the peer was told MessageError, or said that it closes
};

class ThreadPerConnection final : public Server {
  public:
    using Server::Server;
    ThreadPerConnection(Orb& orb, std::vector<Listener> listeners)
        : Server(orb, std::move(listeners))
    {
    }
    ~ThreadPerConnection() override
    {
        stop();
        join();
    }

    void start() override
    {
        for (Listener& listener : listeners_) {
            auto thread = net::Thread::start({.name = "kairos-accept", .cpu = {}, .scheduling = {}},
                                             [this, &listener] { accept(listener.acceptor); });
            if (thread)
                acceptor_threads_.push_back(std::move(thread).value());
            else
                log::error("cannot serve: " + thread.error().reason);
        }
    }
    bool run() override { return false; }
    bool work_pending() override { return false; }
    void perform_work() override {}
    void resume() noexcept override {} // the threads wait in the adapter

    void stop() noexcept override
    {
        stopping_ = true;
        for (Listener& listener : listeners_)
            listener.acceptor.shut_down();
        const std::lock_guard lock(mutex_);
        for (Served& served : connections_)
            served.connection->interrupt();
    }

    void join() noexcept override
    {
        acceptor_threads_.clear(); // joins; from here on no connection is added
        std::list<Served> connections;
        {
            const std::lock_guard lock(mutex_);
            connections.swap(connections_);
        }
        connections.clear(); // joins
    }

  private:
    struct Served {
        std::unique_ptr<ConnectionThread> connection;
        bool ended = false;
        net::Thread thread; // last: joined before the connection is destroyed
    };

    void accept(net::Acceptor& acceptor)
    {
        while (!stopping_) {
            auto accepted = acceptor.accept();
            reap();
            switch (accepted.status) {
            case net::Acceptor::Status::accepted:
                serve(std::move(accepted));
                break;
            case net::Acceptor::Status::turned_away:
                log_refusal(accepted);
                break;
            case net::Acceptor::Status::exhausted: {
                log_refusal(accepted);
                std::this_thread::sleep_for(std::chrono::milliseconds(50)); // let some be closed
                break;
            }
            case net::Acceptor::Status::would_block:
                break;
            case net::Acceptor::Status::closed:
                return;
            case net::Acceptor::Status::failed:
                log::error(std::string("listening ended: ") + std::strerror(accepted.error));
                return;
            }
        }
    }

    void serve(net::Acceptor::Accepted accepted)
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        if (connections_.size() >= orb_.options().connections_max) {
            log::warning("connection from " + accepted.peer.to_text() +
                         " refused: -ORBMaxConnections reached");
            return;
        }
        Served& served = connections_.emplace_back();
        served.connection =
            std::make_unique<ConnectionThread>(orb_, std::move(accepted.socket), accepted.peer);
        auto thread = net::Thread::start({.name = "kairos-serve", .cpu = {}, .scheduling = {}},
                                         [this, &served] {
                                             served.connection->run();
                                             served.ended = true;
                                         });
        if (thread) {
            served.thread = std::move(thread).value();
            return;
        }
        log::error("connection from " + accepted.peer.to_text() +
                   " refused: " + thread.error().reason);
        connections_.pop_back();
    }

    /// Forgets connections whose threads have ended; they need the lock for that no more.
    void reap()
    {
        std::list<Served> ended;
        const std::lock_guard lock(mutex_);
        for (auto next = connections_.begin(); next != connections_.end();) {
            const auto served = next++;
            if (served->ended) ended.splice(ended.end(), connections_, served);
        }
    }

    std::atomic<bool> stopping_{false};
    std::mutex mutex_; // guards connections_; not taken while a request is served
    std::list<Served> connections_;
    std::vector<net::Thread> acceptor_threads_;
};

} // namespace

std::unique_ptr<Server> make_thread_per_connection(Orb& orb, std::vector<Listener> listeners)
{
    return std::make_unique<ThreadPerConnection>(orb, std::move(listeners));
}

} // namespace kairos::orb
