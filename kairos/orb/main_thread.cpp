// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/main_thread.h"

#include "kairos/base/assert_held.h"
#include "kairos/orb/nested_wait.h"

#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace kairos::orb {

MainThread::Serving::Serving(MainThread& main) : main_(main)
{
    const std::lock_guard lock(main.mutex_);
    serves_ = !main.serving_;
    if (!serves_) return; // another thread, or this one further up
    main.serving_ = true;
    main.note_free();
    main.thread_ = std::this_thread::get_id();
}

MainThread::Serving::~Serving()
{
    if (!serves_) return;
    const std::lock_guard lock(main_.mutex_);
    main_.serving_ = false;
    main_.note_free();
}

bool MainThread::is_current() const
{
    const std::lock_guard lock(mutex_);
    return thread_ == std::this_thread::get_id();
}

bool MainThread::run(const std::function<void()>& work, const std::function<void()>& wake)
{
    Work mine{.call = &work};
    {
        const std::lock_guard lock(mutex_);
        if (closed_) return false;
        waiting_.push_back(&mine);
        changed_.notify_all();
        signal();
    }
    wake();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&mine] { return mine.state != Work::State::waiting; });
    if (mine.exception) std::rethrow_exception(mine.exception);
    return mine.state == Work::State::done;
}

MainThread::~MainThread()
{
    if (event_ >= 0) ::close(event_);
    if (free_ >= 0) ::close(free_);
}

Result<int> MainThread::descriptor()
{
    const std::lock_guard lock(mutex_);
    if (event_ >= 0) return event_;
    event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event_ < 0) return Error{ErrorCode::system, "cannot make an eventfd", errno};
    if (closed_ || !waiting_.empty()) signal();
    return event_;
}

/// Must hold mutex_.
void MainThread::signal() noexcept
{
    assert_held(mutex_);
    const std::uint64_t one = 1;
    if (event_ >= 0) (void)!::write(event_, &one, sizeof one); // cannot fail: it is taken back
}

/// Must hold mutex_, with nothing left to do.
void MainThread::take_signal() noexcept
{
    assert_held(mutex_);
    std::uint64_t count = 0;
    if (event_ >= 0 && !closed_) (void)!::read(event_, &count, sizeof count);
}

bool MainThread::pending() const
{
    const std::lock_guard lock(mutex_);
    return !waiting_.empty();
}

void MainThread::serve_one(std::unique_lock<std::mutex>& lock)
{
    assert_held(mutex_);
    Work& work = *waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    if (work.task) {
        const std::unique_ptr<Work> owned(&work);
        owned->task->work();
        lock.lock();
        return;
    }
    std::exception_ptr exception;
    try {
        (*work.call)();
    } catch (...) {
        exception = std::current_exception();
    }
    lock.lock();
    work.exception = std::move(exception);
    work.state = Work::State::done;
    changed_.notify_all();
}

void MainThread::serve_pending()
{
    std::unique_lock lock(mutex_);
    if (thread_ != std::this_thread::get_id()) return;
    while (!waiting_.empty())
        serve_one(lock);
    take_signal();
}

void MainThread::serve_until_closed()
{
    std::unique_lock lock(mutex_);
    for (;;) {
        const bool serves = thread_ == std::this_thread::get_id();
        changed_.wait(lock, [&] { return closed_ || (serves && !waiting_.empty()); });
        if (closed_) return;
        serve_one(lock);
    }
}

void MainThread::close() noexcept
{
    std::deque<std::unique_ptr<Work>> tasks; // refused without the lock
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        for (Work* work : waiting_) {
            work->state = Work::State::refused;
            if (work->task) tasks.emplace_back(work);
        }
        waiting_.clear();
        changed_.notify_all();
        signal();
    }
    for (const auto& work : tasks)
        work->task->refuse();
}

void MainThread::post(std::unique_ptr<Task>& task, const std::function<void()>& wake)
{
    auto work = std::make_unique<Work>();
    bool refused = false;
    {
        const std::lock_guard lock(mutex_);
        refused = closed_;
        if (!refused) {
            waiting_.push_back(work.get());
            work->task = std::move(task);
            (void)work.release();
            changed_.notify_all();
            signal();
        }
    }
    if (!refused) return wake();
    task->refuse();
    task.reset();
}

/// Returns a descriptor that can be read while nobody serves. Must hold mutex_.
int MainThread::free_descriptor()
{
    assert_held(mutex_);
    if (free_ < 0) {
        free_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        note_free();
    }
    return free_;
}

/// Must hold mutex_.
void MainThread::note_free() noexcept
{
    assert_held(mutex_);
    if (free_ < 0) return;
    std::uint64_t count = 1;
    if (serving_)
        (void)!::read(free_, &count, sizeof count);
    else
        (void)!::write(free_, &count, sizeof count);
}

void MainThread::serve_until_ready(int descriptor, Deadline deadline)
{
    const Serving serving(*this);
    const auto event = this->descriptor();
    for (;;) {
        int other = -1;
        {
            const std::lock_guard lock(mutex_);
            const bool serves = thread_ == std::this_thread::get_id();
            // Where another thread serves, until it no longer does: then this one may.
            if (!closed_) other = serves ? (event ? *event : -1) : free_descriptor();
        }
        std::array<pollfd, 2> polled{pollfd{.fd = descriptor, .events = POLLIN, .revents = 0},
                                     pollfd{.fd = other, .events = POLLIN, .revents = 0}};
        poll_until(polled, deadline);
        if (polled[0].revents != 0 || deadline.has_passed()) return;
        if (!is_current()) return; // perhaps this thread may serve now
        serve_pending();
    }
}

} // namespace kairos::orb
