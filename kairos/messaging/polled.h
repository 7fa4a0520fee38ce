// SPDX-License-Identifier: Apache-2.0
//
// An asynchronous call that is polled: between its poller, the connection that it is under way on,
// the threads that wait for it, and the main thread where the poller has a handler. Shared by
// count. Any thread.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/client/asynchronous.h"
#include "kairos/messaging/callback.h"
#include "kairos/orb/main_thread.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace kairos::messaging {

/// What all polled calls of the process share: few threads poll, and a set polls several calls.
struct PollingLock {
    std::mutex mutex; // guards every Polled; inside those of shared connections
    std::condition_variable changed;
    // Guarded by mutex.
    std::uint64_t changes = 0;
    std::vector<int> watchers; ///< eventfds of sets that wait for sockets, too

    /// Has all who wait look again. To be called with the mutex held.
    void note_change() noexcept;
};
[[nodiscard]] PollingLock& polling_lock() noexcept;

/// Tells the handler of this kind how the call has ended. Throws only where memory is short.
void tell_end(const CallbackKind& kind, void* handler, orb::AsynchronousCall& call);

class Polled final : public RefCounted, private orb::MainThread::Posted {
  public:
    enum class Fetch : std::uint8_t { fetched, not_there, fetched_before };
    enum class Wait : std::uint8_t { over, not_yet, fetched_before };

    Polled(orb::AsynchronousCall& call, const orb::Operation& operation, orb::Orb& orb) noexcept
        : operation_(operation), orb_(&orb), call_(&call)
    {
    }

    [[nodiscard]] const orb::Operation& operation() const noexcept { return operation_; }
    /// Sends the call.
    void send() noexcept;
    /// Waits for the end of the call, until the deadline. A call whose reply is for a handler ends
    /// for who waits when the handler has it.
    [[nodiscard]] Wait wait(Deadline deadline);
    /// Takes the call if it is over: the caller gives it back.
    [[nodiscard]] Fetch fetch(orb::AsynchronousCall*& call);
    /// Gives the call up, if nobody has fetched it, and no handler is told of it.
    void give_up() noexcept;

    /// Has the main thread tell this handler, of the class of `kind`, in place of who polls; none
    /// if it is nil. Throws BAD_PARAM for one of another class, OBJECT_NOT_EXIST if the reply was
    /// fetched.
    void associate(const CallbackKind& kind, Messaging::ReplyHandler_ptr handler);
    /// Returns that handler, owned by the caller.
    [[nodiscard]] Messaging::ReplyHandler_ptr associated() const;

    /// Notes whether the poller itself has failed, or the call.
    void note_own_failure(bool is_own) noexcept;
    [[nodiscard]] bool has_own_failure() const noexcept;

  private:
    ~Polled() override = default;
    static orb::MainThread::Accepted posted(const orb::CallListener& listener) noexcept;
    static void dropped(const orb::CallListener& listener) noexcept;
    void work() noexcept override;
    void refused() noexcept override;

    /// A handler and the class that it has; null where there is none.
    struct Told {
        const CallbackKind* kind = nullptr;
        void* handler = nullptr; // of the class; the count is its own
        Messaging::ReplyHandler_var base;

        Told() = default;
        Told(const Told&) = delete;
        Told& operator=(const Told&) = delete;
        ~Told()
        {
            if (handler != nullptr) kind->release(handler);
        }
        void swap(Told& other) noexcept;
    };

    using Lock = std::unique_lock<std::mutex>;
    enum class State : std::uint8_t { under_way, over, gone };

    [[nodiscard]] bool is_for_handler() const noexcept { return told_.handler != nullptr; }
    [[nodiscard]] bool has_work() const noexcept { return is_posted_ && !is_worked_; }
    void proceed(Lock& lock) noexcept;
    [[nodiscard]] orb::MainThread::Accepted leave_to_main_thread() noexcept;
    void announce(orb::MainThread::Accepted accepted, Lock& lock) noexcept;

    const orb::Operation& operation_;
    orb::Orb* const orb_; // lives as long as the call does
    // Guarded by the lock of all.
    orb::AsynchronousCall* call_; // null once it is gone
    State state_ = State::under_way;
    bool is_posted_ = false;   // there is something to do for it
    bool is_worked_ = false;   // which somebody does
    bool is_given_up_ = false; // the poller has gone
    bool is_queued_ = false;   // for the main thread, with a count of its own
    bool has_own_failure_ = false;
    Told told_;
};

} // namespace kairos::messaging
