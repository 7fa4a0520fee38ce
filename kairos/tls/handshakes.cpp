// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/handshakes.h"

#include "kairos/base/assert_held.h"
#include "kairos/tls/limits.h"

namespace kairos::tls {

Result<Handshakes::Place> Handshakes::begin(std::uint64_t host, Clock::time_point now)
{
    const std::lock_guard lock(mutex_);
    if (rate_ != 0 && is_too_fast(host, now))
        return Error{ErrorCode::limit_exceeded,
                     "its host begins more than -ORBTlsHandshakes a second"};
    if (count_ >= limits::handshakes_max)
        return Error{ErrorCode::limit_exceeded, "too many TLS handshakes are under way"};
    std::size_t& of_host = by_host_[host];
    if (of_host >= limits::handshakes_of_host_max)
        return Error{ErrorCode::limit_exceeded,
                     "too many TLS handshakes with its host are under way"};
    ++of_host;
    ++count_;
    return Place(shared_from_this(), host);
}

/// Must hold mutex_. Each handshake that begins puts off by its share of a second when all are made
/// up for; who is refused puts off nothing.
bool Handshakes::is_too_fast(std::uint64_t host, Clock::time_point now) noexcept
{
    assert_held(mutex_);
    const Clock::duration share = Clock::duration{std::chrono::seconds{1}} / rate_;
    Clock::time_point& made_up = paces_[host * 0x9e3779b97f4a7c15 >> 54];
    if (made_up < now) made_up = now;
    if (made_up - now + share > std::chrono::seconds{1} * limits::handshakes_burst) return true;
    made_up += share;
    return false;
}

void Handshakes::end(std::uint64_t host) noexcept
{
    const std::lock_guard lock(mutex_);
    --count_;
    const auto found = by_host_.find(host);
    if (found != by_host_.end() && --found->second == 0) by_host_.erase(found);
}

} // namespace kairos::tls
