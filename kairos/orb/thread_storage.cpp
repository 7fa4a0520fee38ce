// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/thread_storage.h"

#include "kairos/base/thread_owned.h"
#include "kairos/orb/orb.h"

#include <chrono>
#include <thread>

namespace kairos::orb {

ThreadStorage& ThreadStorage::current() { return ThreadOwned<ThreadStorage>::get(); }

ThreadStorage& ThreadStorage::await_current() noexcept
{
    for (;;) {
        try {
            return current();
        } catch (const std::bad_alloc&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
}

const CallPolicies* ThreadStorage::call_policies(const Orb& orb) const noexcept
{
    for (const auto& [incarnation, policies] : call_policies_)
        if (incarnation == orb.incarnation()) return &policies;
    return nullptr;
}

void ThreadStorage::set_call_policies(const Orb& orb, const CallPolicies& policies)
{
    std::erase_if(call_policies_,
                  [&](const auto& entry) { return entry.first == orb.incarnation(); });
    if (!policies.is_empty()) call_policies_.emplace_back(orb.incarnation(), policies);
}

} // namespace kairos::orb
