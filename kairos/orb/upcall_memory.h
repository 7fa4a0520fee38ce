// SPDX-License-Identifier: Apache-2.0
//
// The memory that one request is served with, kept from request to request by the thread that
// serves (ThreadStorage::upcall_memory). Used by one thread.
#pragma once

#include "kairos/base/arena.h"
#include "kairos/base/limits.h"
#include "kairos/cdr/buffer.h"
#include "kairos/orb/context_list.h"

#include <cstddef>
#include <new>

namespace kairos {
class Deadline;
} // namespace kairos

namespace kairos::orb {

class UpcallObservation;

struct UpcallMemory {
    UpcallMemory() = default;
    UpcallMemory(const UpcallMemory&) = delete;
    UpcallMemory& operator=(const UpcallMemory&) = delete;
    ~UpcallMemory() { ::operator delete(spare_observation); }

    cdr::Buffer reply;
    /// A reply buffer that has grown beyond this many octets is given back after the request, or
    /// kept only if the account agrees (ServerConnection::keep_reply_memory).
    std::size_t reply_kept_max = limits::receive_buffer_kept;
    Arena arena;
    /// Service contexts of the reply; what earlier requests left there means nothing
    /// (Upcall::reply_contexts).
    ContextList contexts;
    /// Who observes the upcall; null for most.
    UpcallObservation* observation = nullptr;
    /// Until when a caller who is the calling thread waits for an answer that comes later; null: as
    /// long as it takes.
    const Deadline* answer_due = nullptr;
    /// Memory for the observation of a later request; null until one has ended.
    void* spare_observation = nullptr;
};

} // namespace kairos::orb
