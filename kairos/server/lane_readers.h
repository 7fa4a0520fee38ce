// SPDX-License-Identifier: Apache-2.0
//
// The connections that the threads of one lane of a thread pool read themselves, in turns: who has
// read a request serves it, and another reads meanwhile. All idle threads of the lane wait here, in
// one epoll set of which each readiness wakes one. A connection belongs to a server, whose thread
// reads all others and lends this one; it comes back when anything but a request for the lane comes
// on it, when requests wait for room, and at the end. While the lane has no idle thread, the server
// is told of what can be read, and reads it. Guarded by the pool's mutex, but for what says
// otherwise.
#pragma once

#include "kairos/net/shared_poller.h"
#include "kairos/net/waker.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

namespace kairos::orb {

class HandoverConnection;

class LaneReaders {
  public:
    /// A place for a connection; memory that stays, for a thread may have been told of it just
    /// before the connection came back.
    struct Place {
        enum class State : std::uint8_t {
            free,
            watched, ///< nobody reads it
            read,    ///< a thread of the lane has it
            again,   ///< … and is to read again: more has come
            recalled ///< … and is to give it back
        };
        /// Belongs to the lane or, while it is read, to that thread; the server keeps it.
        HandoverConnection* connection = nullptr;
        State state = State::free;
    };

    [[nodiscard]] static Result<std::unique_ptr<LaneReaders>> create();

    // --- any thread, without the mutex ---
    /// Waits until a connection can be read, or somebody called: then null.
    [[nodiscard]] Place* wait() noexcept { return static_cast<Place*>(poller_->wait().token); }
    /// Has one thread return from wait(), now or when one comes.
    void call_one() noexcept { waker_.wake(); }
    /// Has all threads return from wait(), from now on.
    void call_all() noexcept { poller_->wake_all(); }
    /// Can be read when the server is to read what the lane does not.
    [[nodiscard]] int unread_descriptor() const noexcept { return unread_->descriptor(); }

    // --- with the mutex ---
    /// Takes a connection that its server watches no more; returns false if the system does not
    /// watch it here.
    [[nodiscard]] bool lend(HandoverConnection& connection) noexcept;
    /// Gives a connection to the calling thread to be read; returns false if another has it, who
    /// then reads again.
    [[nodiscard]] bool begin_to_read(Place& place) noexcept;
    /// Takes a connection back that the calling thread has read, and sends it to its server unless
    /// it `stays`. Returns false if the thread is to read it again.
    [[nodiscard]] bool end_reading(Place& place, bool stays) noexcept;
    /// Sends a connection that was lent back to its server, now or when it has been read.
    void recall(HandoverConnection& connection) noexcept;
    void recall_all() noexcept;
    /// Sends those back that can be read; for when nobody of the lane would.
    void recall_unread() noexcept;
    /// Notes whether the lane has threads that wait here. If not, the server is told what can be
    /// read.
    void note_idle(bool any) noexcept
    {
        any_idle_ = any;
        if (lent_ != 0 || tells_) tell_server(!any && lent_ != 0);
    }
    [[nodiscard]] bool is_any_read() const noexcept { return read_ != 0; }

  private:
    LaneReaders(std::unique_ptr<net::SharedPoller> poller,
                std::unique_ptr<net::SharedPoller> unread, net::Waker waker)
        : poller_(std::move(poller)), unread_(std::move(unread)), waker_(std::move(waker))
    {
    }
    void tell_server(bool tells) noexcept;
    void send_back(Place& place) noexcept;

    const std::unique_ptr<net::SharedPoller> poller_; // the connections and the waker
    const std::unique_ptr<net::SharedPoller> unread_; // the poller, while the server is to be told
    net::Waker waker_;                                // never cleared: each wake-up is told once
    std::deque<Place> places_;
    std::size_t lent_ = 0; // not free
    std::size_t read_ = 0; // of these, those that a thread has
    bool any_idle_ = false;
    bool tells_ = false;
};

} // namespace kairos::orb
