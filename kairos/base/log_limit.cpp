// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/log_limit.h"

#include "kairos/base/log.h"

#include <algorithm>
#include <utility>

namespace kairos::log {

namespace {

constexpr std::uint64_t mixed(std::uint64_t number) noexcept
{
    number *= 0x9e3779b97f4a7c15;
    return number ^ number >> 32;
}

} // namespace

void Limiter::Account::pay_back(Clock::time_point now) noexcept
{
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - since);
    if (spent == 0 || seconds.count() < 0) {
        since = now;
        return;
    }
    const auto paid = std::min<std::chrono::seconds::rep>(seconds.count(), spent);
    spent -= static_cast<unsigned>(paid);
    since += std::chrono::seconds(seconds);
}

Limiter::Verdict Limiter::ask(std::uint64_t kind, std::uint64_t peer,
                              Clock::time_point now) noexcept
{
    const std::lock_guard lock(mutex_);
    Account& of_kind = kinds_[mixed(kind) % kinds_max];
    Account& of_peer = peers_[mixed(mixed(kind) + peer) % peers_max];
    of_kind.pay_back(now);
    of_peer.pay_back(now);
    if (of_peer.spent >= limited_at_once_for_peer || of_kind.spent >= limited_at_once) {
        ++of_kind.left_out;
        return {};
    }
    ++of_kind.spent;
    ++of_peer.spent;
    return {.may_be_written = true, .left_out = std::exchange(of_kind.left_out, 0)};
}

void Limiter::forget() noexcept
{
    const std::lock_guard lock(mutex_);
    kinds_.fill({});
    peers_.fill({});
}

namespace {

constinit Limiter of_process; // has nothing to destroy: lines are written to the very end

} // namespace

Limiter& Limiter::process() noexcept { return of_process; }

} // namespace kairos::log
