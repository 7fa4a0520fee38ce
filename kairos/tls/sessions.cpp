// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/sessions.h"

#include "kairos/tls/limits.h"

#include <utility>

namespace kairos::tls {

void Sessions::keep(const std::string& server, SessionPointer session)
{
    const std::lock_guard lock(mutex_);
    SessionPointer& kept = table_[server];
    kept.swap(session);
    if (table_.size() <= limits::sessions_max) return;
    const auto first = table_.begin();
    table_.erase(first->second == kept ? std::next(first) : first);
}

SessionPointer Sessions::take(const std::string& server)
{
    const std::lock_guard lock(mutex_);
    const auto found = table_.find(server);
    if (found == table_.end()) return {};
    SessionPointer session = std::move(found->second);
    table_.erase(found);
    return session;
}

} // namespace kairos::tls
