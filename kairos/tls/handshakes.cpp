// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/handshakes.h"

#include "kairos/tls/limits.h"

namespace kairos::tls {

Result<Handshakes::Place> Handshakes::begin(std::uint64_t host)
{
    const std::lock_guard lock(mutex_);
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

void Handshakes::end(std::uint64_t host) noexcept
{
    const std::lock_guard lock(mutex_);
    --count_;
    const auto found = by_host_.find(host);
    if (found != by_host_.end() && --found->second == 0) by_host_.erase(found);
}

} // namespace kairos::tls
