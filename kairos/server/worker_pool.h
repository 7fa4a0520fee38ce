// SPDX-License-Identifier: Apache-2.0
//
// A bounded queue of requests and the threads that serve it. A thread that waits for a call of its
// own does not count: while it waits, another may take its place, so a pool of one thread can be
// called back. Where the system has no more threads, those that wait serve. Any thread.
#pragma once

#include "kairos/base/assert_held.h"
#include "kairos/net/waker.h"
#include "kairos/orb/priority.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/server/request_queue.h"
#include "kairos/server/thread_set.h"

#include <condition_variable>
#include <mutex>
#include <optional>

namespace kairos::orb {

class WorkerPool final : public Dispatcher, public ServingThread {
  public:
    struct Size {
        std::size_t threads = 1;                     ///< that serve at the same time
        std::size_t queued_max = 1;                  ///< requests that wait
        bool each_has_place = false;                 ///< of connections, though it is full
        Dispatching dispatching = Dispatching::fifo; ///< who of these is served first
        net::ThreadOptions thread{};                 ///< what each of them is
        std::optional<Priority> priority{};          ///< that they are known to have
    };
    WorkerPool(RequestSource& source, Size size)
        : source_(source), size_(std::move(size)), queue_(size_.dispatching)
    {
    }
    ~WorkerPool() override { end(); }

    [[nodiscard]] Result<void> start() override;
    void take(QueuedRequestPtr& request, UpcallMemory& memory) override;
    void resume() noexcept override;
    void begin_to_end() noexcept override;
    void end() noexcept override;

    void wait(const Awaited& awaited, Deadline deadline) noexcept override;

  private:
    using Lock = std::unique_lock<std::mutex>;

    void serve() noexcept;
    /// Serves one request within the one for which the calling thread waits, if there is one to
    /// serve.
    void serve_nested(UpcallMemory& memory) noexcept;
    // All of these must hold mutex_.
    void serve_next(Lock& lock, UpcallMemory& memory) noexcept;
    [[nodiscard]] bool has_work() const noexcept
    {
        assert_held(mutex_);
        return !queue_.empty() && serving_ < size_.threads;
    }
    /// Has some thread look at the queue.
    void call_worker() noexcept;
    [[nodiscard]] Result<void> add_thread() noexcept;

    RequestSource& source_;
    const Size size_;
    std::optional<net::Waker> no_thread_; // woken: those that wait for calls are to serve
    std::mutex mutex_;                    // guards what follows; not held while a request is served
    std::condition_variable changed_;
    RequestQueue queue_;
    HeldRequests held_;
    std::size_t idle_ = 0;     // threads that wait for requests
    std::size_t starting_ = 0; // threads that are about to
    std::size_t serving_ = 0;  // those that serve and do not wait for calls of their own
    bool source_waits_ = false;
    bool short_of_threads_ = false; // as the log says
    bool ended_ = false;
    ThreadSet threads_;
};

} // namespace kairos::orb
