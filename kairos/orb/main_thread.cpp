// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/main_thread.h"

#include "kairos/base/assert_held.h"
#include "kairos/net/inherited.h"
#include "kairos/orb/nested_wait.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/orb/upcall_note.h"

#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace kairos::orb {

MainThread::Serving::Serving(MainThread& main) : main_(main)
{
    const std::lock_guard lock(main.mutex_);
    serves_ = main.begin_serving();
}

MainThread::Serving::~Serving()
{
    if (!serves_) return;
    const std::lock_guard lock(main_.mutex_);
    main_.end_serving();
}

/// Must hold mutex_. Returns false where one serves: another thread, or this one further up.
bool MainThread::begin_serving() noexcept
{
    assert_held(mutex_);
    if (serving_) return false;
    serving_ = true;
    thread_ = std::this_thread::get_id();
    note_free();
    return true;
}

/// Must hold mutex_. Those in serve_until_closed() are told of what is left.
void MainThread::end_serving() noexcept
{
    assert_held(mutex_);
    serving_ = false;
    note_free();
    if (has_work()) changed_.notify_all();
}

bool MainThread::is_current() const
{
    const std::lock_guard lock(mutex_);
    return thread_ == std::this_thread::get_id();
}

bool MainThread::run(const std::function<void()>& work, const std::function<void()>& wake)
{
    Work mine{.call = &work, .noted = UpcallNote::noted()};
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
    if (closed_ || has_work()) signal();
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

MainThread::Accepted MainThread::post(Posted& work) noexcept
{
    const std::lock_guard lock(mutex_);
    if (closed_) return Accepted::no;
    const bool first = posted_.empty();
    posted_.push_back(work);
    ++posted_count_;
    if (!first) return Accepted::more;
    changed_.notify_all();
    signal();
    return Accepted::first;
}

/// Must hold mutex_.
bool MainThread::has_work() const noexcept
{
    assert_held(mutex_);
    return !waiting_.empty() || !posted_.empty();
}

bool MainThread::pending() const
{
    const std::lock_guard lock(mutex_);
    return has_work();
}

/// Must hold mutex_, with posted work.
void MainThread::serve_posted(std::unique_lock<std::mutex>& lock) noexcept
{
    assert_held(mutex_);
    Posted& work = *posted_.front();
    posted_.remove(work);
    --posted_count_;
    lock.unlock();
    {
        const UpcallNote note(nullptr);
        work.work();
    }
    lock.lock();
}

void MainThread::serve_one(std::unique_lock<std::mutex>& lock)
{
    assert_held(mutex_);
    Work& work = *waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    std::exception_ptr exception;
    try {
        const UpcallNote note(work.noted);
        (*work.call)();
    } catch (...) {
        exception = std::current_exception();
    }
    lock.lock();
    work.exception = std::move(exception);
    work.state = Work::State::done;
    changed_.notify_all();
}

/// Must hold mutex_. Returns whether there is more by then.
bool MainThread::serve_queue(std::unique_lock<std::mutex>& lock)
{
    assert_held(mutex_);
    // What comes as it is done does not keep the thread from what else it has to do.
    for (std::size_t left = waiting_.size() + posted_count_; left != 0 && has_work(); --left) {
        if (!waiting_.empty())
            serve_one(lock);
        else
            serve_posted(lock);
    }
    if (has_work()) return true;
    take_signal();
    return false;
}

bool MainThread::serve_pending()
{
    std::unique_lock lock(mutex_);
    // One that came to ORB::run while another served as long as it waited serves when that is over.
    const bool takes_over = thread_ != std::this_thread::get_id();
    if (takes_over && !begin_serving()) return false;
    const bool more = serve_queue(lock);
    if (takes_over) end_serving();
    return more;
}

void MainThread::serve_until_closed()
{
    std::unique_lock lock(mutex_);
    const auto self = std::this_thread::get_id();
    for (;;) {
        changed_.wait(lock,
                      [&] { return closed_ || (has_work() && (!serving_ || thread_ == self)); });
        if (closed_) return;
        const bool takes_over = begin_serving(); // came while one served as long as it waited
        (void)serve_queue(lock);
        if (takes_over) end_serving();
    }
}

void MainThread::close() noexcept
{
    std::unique_lock lock(mutex_);
    closed_ = true;
    for (Work* work : waiting_)
        work->state = Work::State::refused;
    waiting_.clear();
    changed_.notify_all();
    signal();
    while (Posted* const work = posted_.front()) {
        posted_.remove(*work);
        --posted_count_;
        lock.unlock();
        work->refused();
        lock.lock();
    }
}

void MainThread::start_over() noexcept
{
    const std::lock_guard lock(mutex_);
    net::forget_waiters(changed_);
    waiting_.clear();
    thread_ = {};
    serving_ = false;
    for (int* const descriptor : {&event_, &free_})
        if (*descriptor >= 0) ::close(std::exchange(*descriptor, -1));
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

namespace {

/// A thread that serves because it waits: what it serves waits in the same way.
class Waiting final : public ServingThread {
  public:
    explicit Waiting(MainThread& main) noexcept : main_(main) {}

    void wait(const Awaited& awaited, Deadline deadline) noexcept override
    {
        pollfd wanted{};
        if (!prepare(awaited, wanted)) return;
        if (wanted.events == POLLIN) return (void)main_.serve_until_ready(wanted.fd, deadline);
        // An epoll set can be read when something in it is ready.
        const net::Socket set(::epoll_create1(EPOLL_CLOEXEC));
        epoll_event event{};
        event.events = static_cast<std::uint32_t>(wanted.events);
        if (::epoll_ctl(set.descriptor(), EPOLL_CTL_ADD, wanted.fd, &event) != 0)
            return (void)wait_either(awaited, nullptr, deadline);
        (void)main_.serve_until_ready(set.descriptor(), deadline);
    }

  private:
    MainThread& main_;
};

} // namespace

bool MainThread::serve_until_ready(int descriptor, Deadline deadline)
{
    const auto event = this->descriptor();
    Waiting waiting(*this);
    ThreadStorage& storage = ThreadStorage::current();
    ServingThread* const before = storage.serving_thread;
    if (before == nullptr) storage.serving_thread = &waiting;
    const Serving serving(*this);
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
        if (polled[0].revents != 0 || deadline.has_passed()) break;
        if (!is_current()) break; // perhaps this thread may serve now
        (void)serve_pending();
    }
    if (!deadline.has_passed()) (void)serve_pending(); // what came before the descriptor was ready
    storage.serving_thread = before;
    return pending();
}

} // namespace kairos::orb
