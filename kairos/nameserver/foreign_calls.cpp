// SPDX-License-Identifier: Apache-2.0
#include "kairos/nameserver/foreign_calls.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/ior/profile.h"
#include "kairos/net/socket.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/orb/thread_storage.h"

#include <algorithm>
#include <exception>
#include <sys/eventfd.h>
#include <system_error>
#include <utility>

namespace kairos::nameserver {
namespace {

/// Where calls on the reference go first.
std::string address_of(const ior::Ior& reference)
{
    const std::vector<ior::Target> targets = ior::targets_by_any_way(reference);
    if (targets.empty()) return {};
    const ior::Address& address = targets.front().address;
    return address.host + ":" + std::to_string(address.port);
}

/// By when the outermost of the waits that lie on the calling thread's stack is over. Those within
/// it must not be longer: as long as there is one, those around it cannot return.
thread_local Deadline outermost;

class OutermostScope {
  public:
    explicit OutermostScope(Deadline deadline)
        : before_(std::exchange(outermost, earlier(outermost, deadline)))
    {
    }
    OutermostScope(const OutermostScope&) = delete;
    OutermostScope& operator=(const OutermostScope&) = delete;
    ~OutermostScope() { outermost = before_; }

  private:
    const Deadline before_;
};

} // namespace

/// Of its thread, and of who waits for it, under the mutex.
struct ForeignCalls::Call {
    std::function<void()> work;
    std::string address;
    net::Socket woken; // an eventfd, for who serves while it waits
    std::exception_ptr exception;
    bool done = false;
};

ForeignCalls::ForeignCalls(orb::Orb& orb, const ForeignCallLimits& limits)
    : orb_(orb), limits_(limits)
{
    threads_.reserve(limits_.calls_max);
}

ForeignCalls::~ForeignCalls()
{
    end();
    for (std::thread& thread : threads_)
        thread.join();
}

bool ForeignCalls::run(const ior::Ior& whose, std::function<void()> call)
{
    const OutermostScope scope(Deadline::after(limits_.timeout));
    const CallPtr made = begin(address_of(whose), std::move(call));
    if (!made) return false;
    Lock lock(mutex_);
    wait(lock, *made, outermost);
    if (!made->done) return false;
    if (made->exception) std::rethrow_exception(std::exchange(made->exception, nullptr));
    return true;
}

ForeignCalls::CallPtr ForeignCalls::begin(const std::string& address, std::function<void()> work)
{
    auto call = std::make_shared<Call>();
    call->work = std::move(work);
    call->address = address;
    if (orb::ThreadStorage::current().serving_thread != nullptr) {
        call->woken = net::Socket(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!call->woken.is_open()) return nullptr;
    }
    const std::lock_guard lock(mutex_);
    if (ended_ || waiting_.size() + running_.size() >= limits_.calls_max) return nullptr;
    const auto in_progress_there = [&](const CallPtr& other) { return other->address == address; };
    if (std::ranges::count_if(waiting_, in_progress_there) +
            std::ranges::count_if(running_, in_progress_there) >=
        static_cast<std::ptrdiff_t>(limits_.calls_per_address_max))
        return nullptr;
    if (idle_ <= waiting_.size() && !start_thread()) return nullptr;
    waiting_.push_back(call);
    changed_.notify_all();
    return call;
}

/// Must hold mutex_. A thread that begins is idle.
bool ForeignCalls::start_thread()
{
    assert_held(mutex_);
    orb_.note_call_policies(); // those of the threads
    try {
        threads_.emplace_back([this] { make_calls(); }); // room was made for it
    } catch (const std::system_error& failure) {
        log::warning("another server is not asked: " + std::string(failure.what()));
        return false;
    }
    ++idle_;
    return true;
}

void ForeignCalls::wait(Lock& lock, Call& call, Deadline deadline)
{
    assert_held(mutex_);
    const auto is_over = [&] { return call.done || ended_ || deadline.has_passed(); };
    orb::ServingThread* const serving = orb::ThreadStorage::current().serving_thread;
    if (serving == nullptr) {
        changed_.wait_until(lock, deadline.at(), is_over);
        return;
    }
    while (!is_over()) {
        lock.unlock();
        serving->wait({call.woken}, deadline);
        lock.lock();
    }
}

void ForeignCalls::end() noexcept
{
    const std::lock_guard lock(mutex_);
    ended_ = true;
    for (const auto* calls : {&waiting_, &running_})
        for (const CallPtr& call : *calls)
            if (call->woken.is_open()) (void)::eventfd_write(call->woken.descriptor(), 1);
    changed_.notify_all();
}

void ForeignCalls::make_calls() noexcept
{
    Lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
        if (ended_) return;
        const auto call = waiting_.begin();
        running_.splice(running_.end(), waiting_, call);
        --idle_;
        make_one(lock, **call);
        running_.erase(call);
        ++idle_;
    }
}

/// Of this thread.
void ForeignCalls::limit_calls()
{
    auto limit = std::chrono::nanoseconds(limits_.timeout);
    const auto& everybodys = orb_.options().call_policies.round_trip_max;
    if (everybodys && everybodys->count() != 0) limit = std::min(limit, *everybodys);
    orb::CallPolicies policies;
    policies.round_trip_max = limit;
    orb::ThreadStorage::current().set_call_policies(orb_, policies);
}

void ForeignCalls::make_one(Lock& lock, Call& call) noexcept
{
    assert_held(mutex_);
    lock.unlock();
    std::exception_ptr exception;
    try {
        limit_calls();
        call.work();
    } catch (...) {
        exception = std::current_exception();
    }
    call.work = nullptr; // what it owned goes without the lock
    lock.lock();
    call.exception = std::move(exception);
    call.done = true;
    if (call.woken.is_open()) (void)::eventfd_write(call.woken.descriptor(), 1);
    changed_.notify_all();
}

} // namespace kairos::nameserver
