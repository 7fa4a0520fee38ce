// SPDX-License-Identifier: Apache-2.0
//
// Upcalls of adapters with the main thread's policy: whoever has such a request gives it to the
// thread that is in ORB::run or perform_work, and waits. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace kairos::orb {

class KAIROS_API MainThread {
  public:
    /// The calling thread serves from now on, for as long as the object lives, unless another does
    /// already. Until somebody serves, work waits.
    class Serving {
      public:
        explicit Serving(MainThread& main);
        ~Serving();
        Serving(const Serving&) = delete;
        Serving& operator=(const Serving&) = delete;

      private:
        MainThread& main_;
        bool serves_;
    };

    /// Whether the calling thread is the one that serves, or the last that did.
    [[nodiscard]] bool is_current() const;
    /// Has `work` done, and throws what it throws. False if it was closed first: nothing was done.
    /// `wake` makes a main thread that waits elsewhere look for work.
    [[nodiscard]] bool run(const std::function<void()>& work, const std::function<void()>& wake);

    [[nodiscard]] bool pending() const;
    /// Can be polled: readable while there is something to do, and when it was closed. The same
    /// every time.
    [[nodiscard]] Result<int> descriptor();
    /// Does what there is to do, if the calling thread is the one that serves.
    void serve_pending();
    /// The same again and again until it is closed.
    void serve_until_closed();
    /// Nothing is begun any more.
    void close() noexcept;

    MainThread() = default;
    ~MainThread();
    MainThread(const MainThread&) = delete;
    MainThread& operator=(const MainThread&) = delete;

  private:
    struct Work {
        const std::function<void()>* call;
        std::exception_ptr exception{};
        enum class State { waiting, done, refused } state = State::waiting;
    };
    void serve_one(std::unique_lock<std::mutex>& lock);
    void signal() noexcept;
    void take_signal() noexcept;

    mutable std::mutex mutex_; // guards what follows; not held while working
    std::condition_variable changed_;
    std::deque<Work*> waiting_;
    std::thread::id thread_; // of the thread that serves, or the last that did
    bool serving_ = false;
    bool closed_ = false;
    int event_ = -1; // an eventfd, once somebody polls
};

} // namespace kairos::orb
