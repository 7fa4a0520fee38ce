// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/main_thread.h"

#include "kairos/base/assert_held.h"

#include <cerrno>
#include <sys/eventfd.h>
#include <unistd.h>

namespace kairos::orb {

MainThread::Serving::Serving(MainThread& main) : main_(main)
{
    const std::lock_guard lock(main.mutex_);
    serves_ = !main.serving_;
    if (!serves_) return; // another thread, or this one further up
    main.serving_ = true;
    main.thread_ = std::this_thread::get_id();
}

MainThread::Serving::~Serving()
{
    if (!serves_) return;
    const std::lock_guard lock(main_.mutex_);
    main_.serving_ = false;
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
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (Work* work : waiting_)
        work->state = Work::State::refused;
    waiting_.clear();
    changed_.notify_all();
    signal();
}

} // namespace kairos::orb
