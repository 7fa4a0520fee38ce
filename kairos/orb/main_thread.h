// SPDX-License-Identifier: Apache-2.0
//
// Upcalls of adapters with the main thread's policy: whoever has such a request gives it to the
// thread that is in ORB::run or perform_work, and waits. And the ends of asynchronous calls, for
// which nobody waits. Any thread.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/export.h"
#include "kairos/base/intrusive_list.h"
#include "kairos/base/result.h"
#include "kairos/orb/upcall_note.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
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

    /// Work that nobody waits for. It belongs to whoever posts it: the queue knows it from post()
    /// until one of its functions is called, which may destroy it.
    class Posted {
      public:
        Posted() = default;
        Posted(const Posted&) = delete;
        Posted& operator=(const Posted&) = delete;

        /// Called by the main thread: does the work.
        virtual void work() noexcept = 0;
        /// Called where close() came first, by who closes.
        virtual void refused() noexcept = 0;

      protected:
        virtual ~Posted() = default;

      private:
        friend class MainThread;
        ListLinks<Posted> links_;
    };

    /// Returns whether the calling thread is the one that serves, or the last that did.
    [[nodiscard]] bool is_current() const;
    /// Has the main thread do `work`, waits for that, and throws what `work` throws. Returns false,
    /// with nothing done, if close() came first. `wake` makes a main thread that waits elsewhere
    /// look for work.
    [[nodiscard]] bool run(const std::function<void()>& work, const std::function<void()>& wake);

    /// What becomes of posted work.
    enum class Accepted : std::uint8_t {
        no,    ///< close() came first: it is still the caller's
        first, ///< a main thread that waits elsewhere must be made to look for work
        more,  ///< behind other work, for which that was done
    };
    /// Has the main thread do this work, and does not wait.
    [[nodiscard]] Accepted post(Posted& work) noexcept;

    /// Blocks until this descriptor can be read, or the deadline has passed; returns now and then
    /// for no reason. Does work meanwhile as it comes if the calling thread is the one that serves,
    /// or none does: then it is the calling one until this returns. Returns whether work is left
    /// of which a thread that waits elsewhere may not know.
    [[nodiscard]] bool serve_until_ready(int descriptor, Deadline deadline);

    /// Returns whether work waits for the main thread.
    [[nodiscard]] bool pending() const;
    /// Returns a descriptor to poll: it is readable while there is work to do, and after close().
    /// It is the same every time and belongs to this object; an error where none can be made.
    [[nodiscard]] Result<int> descriptor();
    /// Does the work that waits, if the calling thread is the one that serves, or the last that
    /// did, and no more than there is now. Returns whether there is more by then.
    bool serve_pending();
    /// Blocks until close(), and meanwhile does work as it comes if the calling thread is the one
    /// that serves, or none does.
    void serve_until_closed();
    /// Refuses the work that waits and all that still comes; serve_until_closed() returns.
    void close() noexcept;

    /// Takes the lock before fork(); unlock_after_fork() follows in parent and child.
    void lock_for_fork() noexcept { mutex_.lock(); }
    void unlock_after_fork() noexcept { mutex_.unlock(); }
    /// Leaves to the parent, in the child of a fork(), who serves and waits there, and the
    /// descriptors: descriptor() makes another.
    void start_over() noexcept;

    MainThread() = default;
    ~MainThread();
    MainThread(const MainThread&) = delete;
    MainThread& operator=(const MainThread&) = delete;

  private:
    struct Work {
        const std::function<void()>* call;
        UpcallNote::Noted noted; // what it is part of
        std::exception_ptr exception{};
        enum class State { waiting, done, refused } state = State::waiting;
    };
    [[nodiscard]] bool has_work() const noexcept;
    void serve_one(std::unique_lock<std::mutex>& lock);
    void serve_posted(std::unique_lock<std::mutex>& lock) noexcept;
    bool serve_queue(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] bool begin_serving() noexcept;
    void end_serving() noexcept;
    void signal() noexcept;
    void take_signal() noexcept;
    [[nodiscard]] int free_descriptor();
    void note_free() noexcept;

    // guards what follows; not held while working, held while the process forks; inside those of
    // shared connections
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Work*> waiting_;
    IntrusiveList<Posted, &Posted::links_> posted_;
    std::size_t posted_count_ = 0;
    std::thread::id thread_; // of the thread that serves, or the last that did
    bool serving_ = false;
    bool closed_ = false;
    int event_ = -1; // an eventfd, once somebody polls
    int free_ = -1;  // likewise: readable while nobody serves
};

} // namespace kairos::orb
