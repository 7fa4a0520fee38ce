// SPDX-License-Identifier: Apache-2.0
//
// The leader/followers architecture: a pool of threads shares all connections. The one whose turn
// it is waits for them; it serves what it finds itself, without hand-over, while the next one
// waits. The line of followers is the system's: they all wait in one epoll set, of which each
// readiness wakes one. A thread whose servant makes a call does not count meanwhile: another takes
// its place. If there is none, it stays in line, and serves what it finds within the call.
//
// This is the server: it owns the poller, the line of threads (follower_line.h), the listeners and
// the connections (watched_connection.h). What one thread serves is in follower.h.
#pragma once

#include "kairos/net/alarm.h"
#include "kairos/net/shared_poller.h"
#include "kairos/server/architectures.h"
#include "kairos/server/follower_line.h"
#include "kairos/server/watched_connection.h"

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace kairos::orb {

class LeaderFollowers final : public Server {
  public:
    LeaderFollowers(Orb& orb, std::vector<Listener> listeners,
                    std::unique_ptr<net::SharedPoller> poller, ThreadSettings threads);
    ~LeaderFollowers() override;

    Result<void> start() override;
    bool run() override { return false; }
    bool work_pending() override { return false; }
    void perform_work() override {}
    void resume() noexcept override;
    void stop() noexcept override;
    void join() noexcept override;

    // --- by its threads ---
    [[nodiscard]] net::SharedPoller& poller() noexcept { return *poller_; }
    [[nodiscard]] FollowerLine& line() noexcept { return line_; }
    /// Ends, after stop(), the connections that nobody serves.
    void close_idle() noexcept;

    // --- by its connections ---
    /// Returns how many requests a connection may have served before others have their turn.
    [[nodiscard]] unsigned requests_a_turn() const noexcept;
    void forget(WatchedConnection& connection) noexcept;
    /// Keeps a connection that holds a request, so that some thread goes on with it when it may.
    /// Returns false if that is now.
    [[nodiscard]] bool keep_held(WatchedConnection& connection);
    /// Notes that some connection has a message that is not whole: connections are looked at from
    /// here on, while there is one.
    void note_unfinished() noexcept;

  private:
    struct Accepting final : Watched {
        Accepting(LeaderFollowers& owner, Listener& listening) : server(owner), listener(listening)
        {
        }
        void on_ready(net::Readiness, UpcallMemory&) noexcept override { server.accept(*this); }
        LeaderFollowers& server;
        Listener& listener;
    };

    /// Whoever finds it ready looks which connections owe the rest of a message.
    struct Looking final : Watched {
        Looking(LeaderFollowers& owner, net::Alarm set_by_owner)
            : server(owner), alarm(std::move(set_by_owner))
        {
        }
        void on_ready(net::Readiness, UpcallMemory&) noexcept override { server.look_for_late(); }
        LeaderFollowers& server;
        net::Alarm alarm;
    };

    [[nodiscard]] Result<void> limit_receiving();
    void look_for_late() noexcept;
    void serve() noexcept;
    using Server::accept;
    void accept(Accepting& accepting) noexcept;
    [[nodiscard]] bool accept_one(Listener& listener) noexcept;
    void add(net::Socket socket, const net::Address& peer) noexcept;
    void close_all() noexcept;

    const std::unique_ptr<net::SharedPoller> poller_;
    std::vector<std::unique_ptr<Accepting>> accepting_; // as the listeners; made by start()
    std::unique_ptr<Looking> looking_; // none without -ORBReceiveTimeout; made by start()
    std::atomic<bool> will_look_{false};
    std::atomic<std::size_t> connection_count_{0};
    std::mutex join_mutex_; // guards that one thread ends the server; outside mutex_
    std::mutex mutex_;      // guards what follows; not taken while serving; inside join_mutex_
    std::list<std::unique_ptr<WatchedConnection>> connections_;
    std::vector<WatchedConnection*> held_;
    FollowerLine line_; // has a mutex of its own; last, so that its threads end first
};

} // namespace kairos::orb
