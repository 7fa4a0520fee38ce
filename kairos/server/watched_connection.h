// SPDX-License-Identifier: Apache-2.0
//
// What threads of leader-followers find ready, and the connections among that. The server owns
// them; what is in one belongs to the thread that found it, until it is watched again.
#pragma once

#include "kairos/net/shared_poller.h"
#include "kairos/server/server_connection.h"

#include <atomic>
#include <list>
#include <memory>

namespace kairos::orb {

class LeaderFollowers;
class WatchedConnection;

/// Something in the server's poller: at any time nobody's, some thread's or, at the end, closed.
class Watched {
  public:
    virtual void on_ready(net::Readiness readiness, UpcallMemory& memory) noexcept = 0;
    /// Returns this as a connection; null if it is none.
    [[nodiscard]] virtual WatchedConnection* connection() noexcept { return nullptr; }

    /// Gives it up before it is watched again, so that what was done with it is seen by the thread
    /// that finds it ready. (The system keeps that order, but the language does not know.)
    void pass_on() noexcept { state_.store(State::nobodys, std::memory_order_release); }
    /// Takes it over for the thread that has found it ready; returns false if the server, which
    /// ends, was faster.
    [[nodiscard]] bool take_over() noexcept { return take(State::taken); }
    /// Takes it for ever for the server, which ends; returns false if some thread has it.
    [[nodiscard]] bool take_for_ever() noexcept { return take(State::closed); }
    /// Returns whether no thread has it at the moment.
    [[nodiscard]] bool is_nobodys() const noexcept
    {
        return state_.load(std::memory_order_relaxed) == State::nobodys;
    }

  protected:
    ~Watched() = default;

  private:
    enum class State : std::uint8_t { nobodys, taken, closed };

    bool take(State next) noexcept
    {
        State expected = State::nobodys;
        return state_.compare_exchange_strong(expected, next, std::memory_order_acquire);
    }

    std::atomic<State> state_{State::nobodys};
};

class WatchedConnection final : public ServerConnection, public Watched {
  public:
    WatchedConnection(LeaderFollowers& server, Orb& orb, net::Socket socket,
                      const net::Address& peer)
        : ServerConnection(orb, std::move(socket), peer), server_(server)
    {
    }
    [[nodiscard]] Result<void> open();
    void on_ready(net::Readiness readiness, UpcallMemory& memory) noexcept override;
    [[nodiscard]] WatchedConnection* connection() noexcept override { return this; }
    void send(Bytes header, const cdr::Writer& body) noexcept override;
    // While a request of this connection waits for a call, by the thread that serves it:
    using ServerConnection::descriptor_held_nested;
    using ServerConnection::go_on_nested;
    using ServerConnection::interest_nested;
    using ServerConnection::serve_rest_nested;
    using ServerConnection::served_alone_max;
    [[nodiscard]] const net::Socket& socket() const noexcept { return socket_; }
    /// Returns whether the request that the connection holds may go on. Guarded by the server.
    [[nodiscard]] bool may_go_on() const noexcept { return hold.may_go_on(); }
    /// Has some thread go on with what was held.
    void go_on() noexcept;
    /// Sends CloseConnection behind what is queued for the peer.
    void say_close() noexcept;
    /// Ends the connection when everything was sent, or never will be.
    void end() noexcept { drain(socket_); }
    /// Returns whether a message is unfinished. If its rest is late, whoever finds the connection
    /// ready next ends it. Guarded by the server, called by any of its threads.
    [[nodiscard]] bool look_at_rest(ReceiveLimit::Clock::time_point now) noexcept;

    std::list<std::unique_ptr<WatchedConnection>>::iterator position;

  private:
    [[nodiscard]] bool receive();
    void receive_end();
    void serve(UpcallMemory& memory) noexcept;
    [[gnu::cold]] void note_rest() noexcept;
    void stop_waiting_for_rest() noexcept;
    void end_late();
    void after(Next next) noexcept;
    [[nodiscard]] bool watch(net::Interest interest) noexcept;
    [[nodiscard]] net::Interest prepared(net::Interest interest) const noexcept;
    [[nodiscard]] bool is_at_descriptor(net::Interest interest) const noexcept;
    void stop_watching() noexcept override;
    void send_control(Bytes message) noexcept override
    {
        output_.put(socket_, message);
        note_unsent();
    }

    LeaderFollowers& server_;
    bool held_ = false;
    bool has_more_ = false; // than it may serve at a time
    bool closing_ = false;  // when nothing is unsent any more
    // When the rest of a message is late. Written by the thread that has the connection, read by
    // the one that looks.
    using Due = ReceiveLimit::Clock::time_point;
    static constexpr Due never = Due::max();
    std::atomic<Due> rest_due_{never};
    std::atomic<bool> is_late_{false}; // by the one that looks
};

} // namespace kairos::orb
