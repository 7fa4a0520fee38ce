// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/handshakes.h"

#include "kairos/base/assert_held.h"
#include "kairos/tls/limits.h"

#include <algorithm>

namespace kairos::tls {

/// Each handshake that begins puts off by its share of a second when all are made up for; who is
/// refused puts off nothing.
Result<Handshakes::Place> Handshakes::begin(std::uint64_t host, Clock::time_point now)
{
    const std::lock_guard lock(mutex_);
    if (count_ >= limits::handshakes_max)
        return Error{ErrorCode::limit_exceeded, "too many TLS handshakes are under way"};
    forget_some(now);
    Host& found = by_host_[host];
    if (found.under_way >= limits::handshakes_of_host_max)
        return Error{ErrorCode::limit_exceeded,
                     "too many TLS handshakes with its host are under way"};
    if (rate_ != 0) {
        const Clock::duration share = Clock::duration{std::chrono::seconds{1}} / rate_;
        const Clock::time_point made_up = std::max(found.made_up, now) + share;
        if (made_up - now > std::chrono::seconds{1} * limits::handshakes_burst)
            return Error{ErrorCode::limit_exceeded,
                         "its host begins more than -ORBTlsHandshakes a second"};
        found.made_up = made_up;
    }
    ++found.under_way;
    ++count_;
    return Place(shared_from_this(), host);
}

/// Must hold mutex_. Looks at two for each that begins, so that those that are made up for do not
/// stay. Where there are too many nevertheless, one goes that is not.
void Handshakes::forget_some(Clock::time_point now) noexcept
{
    assert_held(mutex_);
    const bool is_full = by_host_.size() >= limits::handshake_hosts_max;
    // As many as can be under way may be passed over.
    const std::size_t looks = is_full ? limits::handshakes_max + 1 : 2;
    for (std::size_t i = 0; i < looks && !by_host_.empty(); ++i) {
        auto next = by_host_.upper_bound(looked_at_);
        if (next == by_host_.end()) next = by_host_.begin();
        looked_at_ = next->first;
        if (next->second.under_way != 0) continue;
        if (!is_full && next->second.made_up > now) continue;
        by_host_.erase(next);
        if (is_full) return;
    }
}

void Handshakes::end(std::uint64_t host) noexcept
{
    const std::lock_guard lock(mutex_);
    --count_;
    const auto found = by_host_.find(host);
    if (--found->second.under_way == 0 && rate_ == 0) by_host_.erase(found);
}

} // namespace kairos::tls
