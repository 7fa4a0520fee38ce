// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/spin.h"

#include <sched.h>

namespace kairos::net {

bool may_spin() noexcept
{
    cpu_set_t usable;
    return ::sched_getaffinity(0, sizeof usable, &usable) == 0 && CPU_COUNT(&usable) > 1;
}

namespace {

bool is_of_real_time() noexcept
{
    const int policy = ::sched_getscheduler(0);
    return policy == SCHED_FIFO || policy == SCHED_RR;
}

} // namespace

bool may_spin(const SpinRule& rule) noexcept
{
    if (rule.most.count() == 0 || !may_spin()) return false;
    // It would keep threads of lower priority from what they do for it.
    return !rule.learns || !is_of_real_time();
}

void leave_processor() noexcept { (void)::sched_yield(); }

void move_to_another_processor() noexcept
{
    cpu_set_t usable;
    const int here = ::sched_getcpu();
    if (here < 0 || is_of_real_time()) return;
    if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return;
    cpu_set_t others = usable;
    CPU_CLR(static_cast<std::size_t>(here), &others);
    if (CPU_COUNT(&others) == 0) return;
    if (::sched_setaffinity(0, sizeof others, &others) == 0)
        (void)::sched_setaffinity(0, sizeof usable, &usable);
}

std::chrono::steady_clock::time_point Spin::leave() noexcept
{
    const auto now = std::chrono::steady_clock::now();
    leave_processor();
    const auto back = std::chrono::steady_clock::now();
    was_taken_ = move_ != nullptr && back - now >= taken_by_others;
    return back + leave_after;
}

void Spin::note_shared() noexcept
{
    const auto now = std::chrono::steady_clock::now();
    if (now < moves_after_ || ++shared_ < shared_most) return;
    shared_ = 0;
    moves_after_ = now + between_moves_;
    between_moves_ = std::min<std::chrono::milliseconds>(between_moves_ * 2, between_moves_most);
    move_();
}

} // namespace kairos::net
