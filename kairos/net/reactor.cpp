// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/reactor.h"

#include "kairos/net/system.h"
#include "kairos/net/system_error.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace kairos::net {
namespace {

/// Events taken from the kernel in one turn; the others come in the next one. Bounds the time
/// between looking at timers, and the stack that nested turns need.
constexpr int events_per_turn = 64;

constexpr std::uint32_t no_slot = UINT32_MAX;
/// What epoll hands back for the eventfd: generation 0, which no registration has.
constexpr std::uint64_t wake_key = 0;
constexpr std::uint64_t alarm_key = 1;

std::uint64_t key_of(std::uint32_t slot, std::uint32_t generation) noexcept
{
    return std::uint64_t{generation} << 32 | slot;
}

std::uint32_t epoll_events(Interest interest) noexcept
{
    switch (interest) {
    case Interest::readable:
        return EPOLLIN;
    case Interest::writable:
        return EPOLLOUT;
    case Interest::readable_and_writable:
        return EPOLLIN | EPOLLOUT;
    case Interest::none:
        break;
    }
    return 0;
}

/// A broken descriptor counts as ready for all that was asked: the next read or write says why.
Readiness readiness_of(std::uint32_t events, Interest interest) noexcept
{
    const bool hung_up = (events & (EPOLLHUP | EPOLLERR)) != 0;
    const std::uint32_t ready = hung_up ? epoll_events(interest) : events;
    return {.readable = (ready & EPOLLIN) != 0,
            .writable = (ready & EPOLLOUT) != 0,
            .hung_up = hung_up};
}

} // namespace

Timer::~Timer()
{
    if (reactor_ != nullptr) reactor_->cancel(*this);
}

Result<std::unique_ptr<Reactor>> Reactor::create(std::size_t handlers_expected,
                                                 std::size_t timers_expected)
{
    std::unique_ptr<Reactor> reactor(new Reactor);
    if (auto opened = reactor->open(); !opened) return opened.error();
    reactor->slots_.reserve(handlers_expected);
    reactor->timers_.reserve(timers_expected);
    return reactor;
}

Result<void> Reactor::open()
{
    epoll_ = system().epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0) return system_error("cannot make an epoll instance", errno);
    wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_ < 0) return system_error("cannot make an eventfd", errno);
    epoll_event event{.events = EPOLLIN, .data = {.u64 = wake_key}};
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0)
        return system_error("cannot register an eventfd", errno);
    return {};
}

Reactor::~Reactor()
{
    for (const Scheduled& scheduled : timers_)
        scheduled.timer->reactor_ = nullptr;
    if (alarm_ >= 0) ::close(alarm_);
    if (wake_ >= 0) ::close(wake_);
    if (epoll_ >= 0) ::close(epoll_);
}

Result<Reactor::Registration> Reactor::add(int descriptor, Interest interest, EventHandler& handler)
{
    assert_owner();
    if (first_free_ == no_slot) {
        slots_.push_back({.next_free = no_slot});
        first_free_ = static_cast<std::uint32_t>(slots_.size() - 1);
    }
    Registration registration;
    registration.slot_ = first_free_;
    Slot& slot = slots_[registration.slot_];
    registration.generation_ = slot.generation;
    slot.descriptor = descriptor;
    slot.interest = Interest::none;
    const std::uint64_t key = key_of(registration.slot_, registration.generation_);
    if (const int error = update(slot, key, interest); error != 0)
        return system_error("cannot watch descriptor " + std::to_string(descriptor), error);
    first_free_ = slot.next_free;
    slot.interest = interest;
    slot.handler = &handler;
    return registration;
}

Result<void> Reactor::set_interest(Registration registration, Interest interest)
{
    assert_owner();
    Slot* slot = find(registration);
    if (slot == nullptr)
        return Error{ErrorCode::not_found, "the descriptor is not registered any more"};
    const std::uint64_t key = key_of(registration.slot_, registration.generation_);
    if (const int error = update(*slot, key, interest); error != 0)
        return system_error("cannot watch descriptor " + std::to_string(slot->descriptor), error);
    slot->interest = interest;
    return {};
}

bool Reactor::remove(Registration registration) noexcept
{
    assert_owner();
    Slot* slot = find(registration);
    if (slot == nullptr) return false;
    (void)update(*slot, 0, Interest::none); // a closed descriptor has left the set by itself
    free_slot(registration.slot_);
    return true;
}

Reactor::Slot* Reactor::find(Registration registration) noexcept
{
    if (registration.slot_ >= slots_.size()) return nullptr;
    Slot& slot = slots_[registration.slot_];
    return slot.generation == registration.generation_ && slot.handler != nullptr ? &slot : nullptr;
}

void Reactor::free_slot(std::uint32_t index) noexcept
{
    Slot& slot = slots_[index];
    slot.handler = nullptr;
    slot.descriptor = -1;
    // A new generation: events of the turn in progress that name the old one are dropped.
    if (++slot.generation == 0) slot.generation = 1;
    slot.next_free = std::exchange(first_free_, index);
}

/// Tells the kernel the difference between the slot's interest and the next. 0 or an errno.
/// Without interest a descriptor is not in the set at all, since epoll reports a broken one always.
int Reactor::update(const Slot& slot, std::uint64_t key, Interest next) noexcept
{
    if (slot.interest == next) return 0;
    const int operation = slot.interest == Interest::none ? EPOLL_CTL_ADD
                          : next == Interest::none        ? EPOLL_CTL_DEL
                                                          : EPOLL_CTL_MOD;
    epoll_event event{.events = epoll_events(next), .data = {.u64 = key}};
    return ::epoll_ctl(epoll_, operation, slot.descriptor, &event) == 0 ? 0 : errno;
}

std::size_t Reactor::run_once(std::optional<std::chrono::nanoseconds> max_wait) noexcept
{
    assert_owner();
    if (!timers_.empty()) {
        const auto left =
            std::max(timers_.front().deadline - Clock::now(), Clock::duration::zero());
        max_wait = max_wait ? std::min(*max_wait, std::chrono::nanoseconds(left)) : left;
    }
    // On the stack, not in the reactor: a handler may run a nested turn.
    epoll_event events[events_per_turn];
    const int count = wait(events, max_wait);
    std::size_t handled = 0;
    for (int i = 0; i < count; ++i)
        handled += dispatch(events[i]) ? 1 : 0;
    if (!timers_.empty()) handled += fire_timers();
    if (alarm_ >= 0) arm_alarm();
    return handled;
}

/// The number of events, 0 when the time is over or a signal came.
int Reactor::wait(epoll_event* events, std::optional<std::chrono::nanoseconds> limit) noexcept
{
    using namespace std::chrono;
    int count = -1;
    const bool is_simple = !limit || *limit <= nanoseconds::zero();
    if (!is_simple && has_precise_wait_) {
        const auto whole = duration_cast<seconds>(*limit);
        const timespec time{.tv_sec = static_cast<std::time_t>(whole.count()),
                            .tv_nsec = static_cast<long>((*limit - whole).count())};
        count = ::epoll_pwait2(epoll_, events, events_per_turn, &time, nullptr);
        // Before Linux 5.11, or forbidden by a sandbox that does not know it.
        has_precise_wait_ = count >= 0 || (errno != ENOSYS && errno != EPERM);
    }
    if (is_simple || !has_precise_wait_) {
        int limit_ms = limit ? 0 : -1;
        if (!is_simple) // upwards, else it would spin through the last millisecond
            limit_ms = static_cast<int>(std::min<std::int64_t>(ceil<milliseconds>(*limit).count(),
                                                               std::numeric_limits<int>::max()));
        count = ::epoll_wait(epoll_, events, events_per_turn, limit_ms);
    }
    KAIROS_CHECK(count >= 0 || errno == EINTR);
    return std::max(count, 0);
}

/// False when nobody was called.
bool Reactor::dispatch(const epoll_event& event) noexcept
{
    const std::uint64_t key = event.data.u64;
    if (key == wake_key) [[unlikely]] {
        take_wake();
        return true;
    }
    if (key == alarm_key) [[unlikely]]
        return false; // timers are looked at after every turn
    // Copied: the handler may make the table grow or give the slot to another.
    const Slot slot = slots_[static_cast<std::uint32_t>(key)];
    if (slot.generation != static_cast<std::uint32_t>(key >> 32) || slot.handler == nullptr)
        return false; // removed by a handler earlier in this turn
    const Readiness readiness = readiness_of(event.events, slot.interest);
    if (!readiness.readable && !readiness.writable) return false; // interest changed likewise
    slot.handler->on_ready(readiness);
    return true;
}

void Reactor::take_wake() noexcept
{
    std::uint64_t count = 0;
    (void)!::read(wake_, &count, sizeof count);
    // After the read: were it before, a wake() in between would write, be read here, and leave the
    // flag set, so that no later wake() would ever write again. Acquires what its callers wrote.
    is_woken_.exchange(false, std::memory_order_acq_rel);
    if (wake_handler_ != nullptr) wake_handler_->on_ready({.readable = true});
}

void Reactor::wake() noexcept
{
    if (is_woken_.exchange(true, std::memory_order_acq_rel)) return;
    const int saved_errno = errno; // for callers in signal handlers
    const std::uint64_t one = 1;
    (void)!::write(wake_, &one, sizeof one); // cannot fail: the counter is 0 or 1
    errno = saved_errno;
}

Result<int> Reactor::descriptor_with_timers()
{
    assert_owner();
    if (alarm_ >= 0) return epoll_;
    const int alarm = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (alarm < 0) return system_error("cannot make a timerfd", errno);
    epoll_event event{.events = EPOLLIN, .data = {.u64 = alarm_key}};
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, alarm, &event) != 0) {
        const int error = errno;
        ::close(alarm);
        return system_error("cannot register a timerfd", error);
    }
    alarm_ = alarm;
    arm_alarm();
    return epoll_;
}

/// Readable from the first deadline on; setting it anew takes that back.
void Reactor::arm_alarm() noexcept
{
    itimerspec when{}; // all zero: never
    if (!timers_.empty()) {
        using namespace std::chrono;
        const auto due =
            std::max(timers_.front().deadline.time_since_epoch(), Clock::duration(nanoseconds(1)));
        const auto whole = duration_cast<seconds>(due);
        when.it_value = {.tv_sec = static_cast<std::time_t>(whole.count()),
                         .tv_nsec = static_cast<long>((due - whole).count())};
    }
    KAIROS_CHECK(::timerfd_settime(alarm_, TFD_TIMER_ABSTIME, &when, nullptr) == 0);
}

void Reactor::set_wake_handler(EventHandler* handler) noexcept
{
    assert_owner();
    wake_handler_ = handler;
}

void Reactor::run() noexcept
{
    assert_owner();
    KAIROS_CHECK(!running_);
    running_ = true;
    while (!stop_requested_.exchange(false, std::memory_order_acquire))
        run_once();
    running_ = false;
}

void Reactor::stop() noexcept
{
    stop_requested_.store(true, std::memory_order_release);
    wake();
}

void Reactor::schedule(Timer& timer, Clock::time_point deadline)
{
    assert_owner();
    KAIROS_CHECK(timer.reactor_ == nullptr || timer.reactor_ == this);
    const Scheduled entry{.deadline = deadline, .sequence = next_sequence_++, .timer = &timer};
    if (timer.reactor_ == nullptr) {
        timers_.push_back(entry);
        timer.position_ = timers_.size() - 1;
        timer.reactor_ = this;
    } else {
        timers_[timer.position_] = entry;
    }
    sift(timer.position_);
    if (alarm_ >= 0) arm_alarm();
}

bool Reactor::cancel(Timer& timer) noexcept
{
    assert_owner();
    if (timer.reactor_ != this) return false;
    const std::size_t position = timer.position_;
    timer.reactor_ = nullptr;
    const Scheduled last = timers_.back();
    timers_.pop_back();
    if (position < timers_.size()) {
        place(position, last);
        sift(position);
    }
    return true;
}

std::optional<Reactor::Clock::time_point> Reactor::next_deadline() const noexcept
{
    assert_owner();
    if (timers_.empty()) return std::nullopt;
    return timers_.front().deadline;
}

std::size_t Reactor::fire_timers() noexcept
{
    const auto now = Clock::now();
    // Timers that are scheduled meanwhile wait for the next turn, or one that schedules itself for
    // "now" would keep the descriptors from being served.
    const std::uint64_t first_new = next_sequence_;
    std::size_t fired = 0;
    while (!timers_.empty()) {
        const Scheduled next = timers_.front();
        if (next.deadline > now || next.sequence >= first_new) break;
        cancel(*next.timer);
        next.timer->on_timeout();
        ++fired;
    }
    return fired;
}

void Reactor::place(std::size_t position, const Scheduled& entry) noexcept
{
    timers_[position] = entry;
    entry.timer->position_ = position;
}

/// Moves the entry at `position` up or down to where the heap wants it.
void Reactor::sift(std::size_t position) noexcept
{
    const Scheduled entry = timers_[position];
    while (position > 0) {
        const std::size_t parent = (position - 1) / 2;
        if (!entry.before(timers_[parent])) break;
        place(position, timers_[parent]);
        position = parent;
    }
    for (;;) {
        std::size_t child = 2 * position + 1;
        if (child >= timers_.size()) break;
        if (child + 1 < timers_.size() && timers_[child + 1].before(timers_[child])) ++child;
        if (!timers_[child].before(entry)) break;
        place(position, timers_[child]);
        position = child;
    }
    place(position, entry);
}

} // namespace kairos::net
