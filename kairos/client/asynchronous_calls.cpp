// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/asynchronous_calls.h"

#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"

namespace kairos::orb {

AsynchronousCalls::~AsynchronousCalls()
{
    for (AsynchronousCall* const spare : spares_)
        delete spare;
}

AsynchronousCall& AsynchronousCalls::take()
{
    if (has_dropped_.load(std::memory_order_relaxed)) refuse_dropped();
    const std::lock_guard lock(mutex_);
    if (count_ >= orb_.options().asynchronous_calls_max)
        raise<CORBA::TRANSIENT>(minor_code::too_many_calls, CORBA::COMPLETED_NO,
                                "as many asynchronous calls are under way as may be");
    if (spares_.empty()) {
        auto* const made = new AsynchronousCall(orb_);
        ++count_;
        return *made;
    }
    AsynchronousCall& spare = *spares_.back();
    spares_.pop_back();
    ++count_;
    return spare;
}

void AsynchronousCalls::give_back(AsynchronousCall& call) noexcept
{
    {
        const std::lock_guard lock(mutex_);
        --count_;
        try {
            if (spares_.size() < spares_max) return spares_.push_back(&call);
        } catch (const std::bad_alloc&) { // then it is not kept
        }
    }
    delete &call;
}

void AsynchronousCalls::post(AsynchronousCall& call) noexcept
{
    const CallListener& listener = call.listener_;
    switch (listener.posted != nullptr ? listener.posted(listener)
                                       : orb_.main_thread().post(call)) {
    case MainThread::Accepted::no:
        return drop(call);
    case MainThread::Accepted::first:
        return is_unannounced_.store(true, std::memory_order_release);
    case MainThread::Accepted::more:
        return;
    }
}

/// Later: not under this lock.
void AsynchronousCalls::drop(AsynchronousCall& call) noexcept
{
    const std::lock_guard lock(mutex_);
    dropped_.push_back(call);
    has_dropped_.store(true, std::memory_order_relaxed);
}

void AsynchronousCalls::announce() noexcept
{
    if (!is_unannounced_.load(std::memory_order_relaxed)) return;
    if (is_unannounced_.exchange(false, std::memory_order_acquire)) orb_.resume_held_requests();
}

void AsynchronousCalls::make_ready(AsynchronousCall& call) noexcept
{
    const std::lock_guard lock(mutex_);
    ready_.push_back(call);
    has_ready_.store(true, std::memory_order_relaxed);
}

/// One by one: what hears of it may send more, for which others are not to wait.
void AsynchronousCalls::tell_ready() noexcept
{
    const AsynchronousCall* last = nullptr;
    {
        const std::lock_guard lock(mutex_);
        last = ready_.back();
    }
    for (bool goes_on = last != nullptr; goes_on;) {
        AsynchronousCall* call = nullptr;
        {
            const std::lock_guard lock(mutex_);
            call = ready_.front();
            if (call != nullptr) ready_.remove(*call);
            if (ready_.empty()) has_ready_.store(false, std::memory_order_relaxed);
        }
        if (call == nullptr) return;
        goes_on = call != last;
        const CallListener listener = call->listener_;
        listener.ready(listener);
    }
}

void AsynchronousCalls::end() noexcept
{
    while (has_ready())
        tell_ready();
    refuse_dropped();
}

void AsynchronousCalls::refuse_dropped() noexcept
{
    for (;;) {
        AsynchronousCall* call = nullptr;
        {
            const std::lock_guard lock(mutex_);
            call = dropped_.front();
            if (call == nullptr) return has_dropped_.store(false, std::memory_order_relaxed);
            dropped_.remove(*call);
        }
        call->refused();
    }
}

} // namespace kairos::orb
