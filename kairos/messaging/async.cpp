// SPDX-License-Identifier: Apache-2.0
#include "kairos/messaging/async.h"

#include "kairos/base/assert_held.h"
#include "kairos/client/asynchronous.h"

#include <mutex>

namespace kairos::messaging {

using orb::AsynchronousCall;
using orb::CallListener;

/// What a call that is under way and the coroutine that awaits it know of each other. Shared by
/// count: by the awaiting object, and by the listener of the call. Any thread.
class AwaitedState final : public RefCounted {
  public:
    AwaitedState(AsynchronousCall& call, std::coroutine_handle<> coroutine,
                 Executor* executor) noexcept
        : call_(call), coroutine_(coroutine), executor_(executor)
    {
    }

    /// Sends the call. Returns true if it is over; else the coroutine is resumed at its end,
    /// perhaps before this returns.
    [[nodiscard]] bool send() noexcept
    {
        add_ref(); // the listener's, until the call is over; it is never dropped
        call_.send({.posted = &posted, .ready = &ready, .object = this});
        Lock lock(mutex_);
        if (!work(lock)) return false;
        lock.unlock();
        release();
        return true;
    }
    /// Nobody awaits the call any more. Returns true if it is over: then it is the caller's to give
    /// back.
    [[nodiscard]] bool give_up() noexcept
    {
        const Lock lock(mutex_);
        is_given_up_ = true;
        return is_over_;
    }

  private:
    using Lock = std::unique_lock<std::mutex>;
    ~AwaitedState() override = default;

    static AwaitedState& of(const CallListener& listener) noexcept
    {
        return *static_cast<AwaitedState*>(listener.object);
    }

    /// Under the lock of a connection, perhaps. Who works looks again. A call that was given up
    /// ends in the same way: its memory is for others then.
    static orb::MainThread::Accepted posted(const CallListener& listener) noexcept
    {
        AwaitedState& self = of(listener);
        const Lock lock(self.mutex_);
        self.is_posted_ = true;
        if (!self.is_worked_) self.call_.leave_to_thread();
        return orb::MainThread::Accepted::more;
    }

    /// By the thread of a connection.
    static void ready(const CallListener& listener) noexcept
    {
        AwaitedState& self = of(listener);
        Lock lock(self.mutex_);
        self.is_worked_ = true;
        if (!self.is_given_up_ && !self.work(lock)) return;
        const auto mine = IntrusivePtr<AwaitedState>::adopt(&self);
        if (self.is_given_up_) {
            lock.unlock();
            return self.call_.abandon();
        }
        const std::coroutine_handle<> coroutine = self.coroutine_;
        Executor* const executor = self.executor_;
        lock.unlock();
        if (executor != nullptr)
            executor->resume_later(coroutine);
        else
            coroutine.resume();
    }

    /// Does what there is to do, until the call is over, which it returns, or nothing is left:
    /// is_worked_ must be true, and is false then. Where the call was given up meanwhile, is_over_
    /// says otherwise: it is the caller's to give back.
    [[nodiscard]] bool work(Lock& lock) noexcept
    {
        assert_held(mutex_);
        while (is_posted_) {
            is_posted_ = false;
            lock.unlock();
            const bool is_over = call_.proceed();
            lock.lock();
            if (is_over && !is_given_up_) is_over_ = true;
            if (is_over) return true;
        }
        is_worked_ = false;
        return false;
    }

    std::mutex mutex_; // guards what follows; inside those of shared connections
    AsynchronousCall& call_;
    const std::coroutine_handle<> coroutine_;
    Executor* const executor_;
    bool is_posted_ = false;
    bool is_worked_ = true; // by who sends, at first
    bool is_over_ = false;  // and the awaiting object's to give back
    bool is_given_up_ = false;
};

AwaitedCall::AwaitedCall(const AsyncTarget& target, const orb::Operation& operation)
    : call_(&AsynchronousCall::make(corba::reference_of(*target.target_), operation)),
      stop_(target.options_.stop_), executor_(target.options_.executor_)
{
    if (target.options_.within_) call_->limit(Deadline::after(*target.options_.within_));
    if (stop_.stop_possible()) call_->permit_cancelling();
}

AwaitedCall::AwaitedCall(AwaitedCall&& from) noexcept
    : call_(std::exchange(from.call_, nullptr)), stop_(std::move(from.stop_)),
      executor_(from.executor_)
{
}

cdr::Writer& AwaitedCall::out() noexcept { return call_->out(); }

void AwaitedCall::Stop::operator()() const noexcept { call->cancel(); }

AwaitedCall::~AwaitedCall() { abandon(); }

void AwaitedCall::abandon() noexcept
{
    stop_callback_.reset(); // waits for who is cancelling
    AsynchronousCall* const call = std::exchange(call_, nullptr);
    if (call != nullptr && (!state_ || state_->give_up())) call->abandon();
}

bool AwaitedCall::await_suspend(std::coroutine_handle<> coroutine)
{
    const auto state =
        IntrusivePtr<AwaitedState>::adopt(new AwaitedState(*call_, coroutine, executor_));
    // Before it is sent: afterwards this object may be gone. What is cancelled by then is not sent.
    if (stop_.stop_possible()) stop_callback_.emplace(std::move(stop_), Stop{call_});
    state_ = state;
    return !state->send();
}

AwaitedCall::Results::Results(AwaitedCall& call) : call_(call)
{
    const std::exception_ptr failure = call.call_->failure();
    if (failure) {
        call_.abandon();
        std::rethrow_exception(failure);
    }
    reply_.emplace(*call.call_);
}

AwaitedCall::Results::~Results()
{
    reply_.reset();
    call_.abandon();
}

} // namespace kairos::messaging
