// SPDX-License-Identifier: Apache-2.0
//
// A thread of a dispatcher that waits for a call of its own, and serves what nobody else would
// meanwhile: whoever it waits for may be waiting for that.
#pragma once

#include "kairos/net/waker.h"
#include "kairos/orb/nested_wait.h"
#include "kairos/orb/thread_storage.h"

#include <utility>

namespace kairos::orb {

/// Waits until `awaited` is ready or the deadline has passed. Each time that the waker is woken
/// first, calls `serve` with memory for one request within the one that waits; that clears the
/// waker when there is no more to serve.
template <typename Serve>
void serve_waiting(const Awaited& awaited, const net::Waker& waker, Deadline deadline,
                   Serve&& serve) noexcept
{
    for (;;) {
        const Ready ready = wait_either(awaited, waker, deadline);
        if (ready.first || !ready.second || deadline.has_passed()) return;
        auto& spare = ThreadStorage::current().upcall_memory;
        auto memory = spare.try_take();
        if (memory == nullptr) continue; // until there is some
        serve(*memory);
        spare.give_back(std::move(memory));
    }
}

} // namespace kairos::orb
