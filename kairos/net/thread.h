// SPDX-License-Identifier: Apache-2.0
//
// Threads with what a real-time process must decide about them: name, stack, CPU, scheduling. All
// of it holds from the thread's first instruction on; if the system refuses any of it, there is no
// thread but an Error that names the setting.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/net/forks.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <pthread.h>
#include <string>

namespace kairos::net {

enum class SchedulingPolicy {
    other,       ///< SCHED_OTHER, the system's ordinary one; priority 0
    fifo,        ///< SCHED_FIFO, priority 1 to 99; needs CAP_SYS_NICE or a limit (ulimit -r)
    round_robin, ///< SCHED_RR, priority 1 to 99; needs CAP_SYS_NICE or a limit (ulimit -r)
};

struct Scheduling {
    SchedulingPolicy policy = SchedulingPolicy::other;
    int priority = 0;
};

/// Told of threads that begin and end, in these threads. Must outlive them.
class ThreadObserver {
  public:
    /// Called before anything else is done in the thread. `name` is that of the options, whole.
    virtual void on_thread_start(const std::string& name) noexcept = 0;
    /// Called when the thread is about to end.
    virtual void on_thread_end(const std::string& name) noexcept = 0;

  protected:
    ~ThreadObserver() = default;
};

struct ThreadOptions {
    std::string name{};          ///< as ps and gdb show it; the system keeps 15 characters
    std::size_t stack_bytes = 0; ///< rounded up to what the system can do; 0 is its default
    std::optional<int> cpu{};    ///< the only CPU it may run on
    std::optional<Scheduling> scheduling{}; ///< else inherited from the thread that starts it
    ThreadObserver* observer = nullptr;
};

/// While it exists, the calling thread is not cancelled; pthread_cancel takes effect later. What an
/// ORB does is noexcept, and a thread that were cancelled within would take the process along. It
/// also spares the C library two atomic operations around each system call that may block: being
/// cancelled at any time, which means nothing here, leaves it nothing to switch (pthreads(7),
/// "Cancellation points"). Whoever wants to be cancelled in an upcall nevertheless must ask for
/// both, state and type.
class NotCancelled {
  public:
    NotCancelled() noexcept
    {
        ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_);
        ::pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type_);
    }
    ~NotCancelled()
    {
        ::pthread_setcanceltype(type_, nullptr);
        ::pthread_setcancelstate(state_, nullptr);
    }
    NotCancelled(const NotCancelled&) = delete;
    NotCancelled& operator=(const NotCancelled&) = delete;

  private:
    int state_ = 0;
    int type_ = 0;
};

/// A running thread, joined on destruction: whoever owns it must first make its function return.
class KAIROS_API Thread {
  public:
    /// `body` must not throw. It is not cancelled.
    [[nodiscard]] static Result<Thread> start(const ThreadOptions& options,
                                              std::function<void()> body);

    Thread() = default;
    Thread(Thread&& other) noexcept;
    Thread& operator=(Thread&& other) noexcept;
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;
    ~Thread() { join(); }

    [[nodiscard]] bool joinable() const noexcept { return handle_.has_value(); }
    /// Waits for the thread's end; not in a child of the process that started it, which has no such
    /// thread. Not to be called from within the thread itself.
    void join() noexcept;
    [[nodiscard]] pthread_t native_handle() const { return handle_.value(); }

  private:
    [[nodiscard]] static Result<Thread> start_or_throw(const ThreadOptions& options,
                                                       std::function<void()> body);
    std::optional<pthread_t> handle_;
    MadeHere started_;
};

/// Binds the calling thread, whoever started it, to this CPU. An error says why not: there is no
/// such CPU, or the system refused.
[[nodiscard]] Result<void> pin_this_thread(int cpu);
/// Gives the calling thread, whoever started it, this policy and priority. An error says why not:
/// the priority is not one of the policy's, or the system refused.
[[nodiscard]] Result<void> schedule_this_thread(Scheduling scheduling);

/// How far the stack of whoever locks memory is made to reach below what is in use.
inline constexpr std::size_t stack_touched_bytes = 256 * 1024;

/// Keeps all memory of the process in RAM, what it has and what it will get: pages, stacks of new
/// threads too, are there before they are touched, and what was freed is kept. For the life of the
/// process. The main thread's stack is the exception, for it grows only when it is touched: so that
/// of the caller is, `stack_touched_bytes` of it, if it is twice as large. An error says why the
/// system refused; nothing else has changed then.
[[nodiscard]] Result<void> lock_memory();

} // namespace kairos::net
