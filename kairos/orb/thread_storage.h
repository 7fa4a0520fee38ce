// SPDX-License-Identifier: Apache-2.0
//
// What one thread keeps from call to call so that the next one needs neither a lock nor the heap:
// message buffers and, for the client, idle connections. Each thread has its own and only that
// thread uses it.
#pragma once

#include "kairos/base/export.h"
#include "kairos/cdr/buffer.h"
#include "kairos/orb/call_policies.h"
#include "kairos/orb/context_list.h"
#include "kairos/orb/priority.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/orb/upcall_memory.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace kairos::orb {

class Orb;

/// Objects that are used one inside the other: a stack of those not in use. Most often there is
/// one, which has a place of its own.
template <typename T>
class Spares {
  public:
    /// Returns a spare, or a new object if there is none. Throws std::bad_alloc.
    [[nodiscard]] std::unique_ptr<T> take()
    {
        if (top_) [[likely]]
            return std::move(top_);
        if (spares_.empty()) return std::make_unique<T>();
        auto spare = std::move(spares_.back());
        spares_.pop_back();
        return spare;
    }
    /// Returns a spare, or a new object if there is none; null where there is no memory for one.
    [[nodiscard]] std::unique_ptr<T> try_take() noexcept
    {
        try {
            return take();
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }
    /// Keeps an object for the next to take; destroys it where there is no memory to keep it.
    void give_back(std::unique_ptr<T> spare) noexcept
    {
        if (!top_) [[likely]]
            top_ = std::move(spare);
        else
            put_below(std::move(spare));
    }

  private:
    [[gnu::cold]] void put_below(std::unique_ptr<T> spare) noexcept
    {
        try {
            spares_.push_back(std::move(spare));
        } catch (const std::bad_alloc&) { // then it is not kept
        }
    }

    std::unique_ptr<T> top_;
    std::vector<std::unique_ptr<T>> spares_;
};

/// What one half of the ORB keeps with a thread.
class ThreadStoragePart {
  public:
    ThreadStoragePart() = default;
    ThreadStoragePart(const ThreadStoragePart&) = delete;
    ThreadStoragePart& operator=(const ThreadStoragePart&) = delete;
    virtual ~ThreadStoragePart() = default;
};

class KAIROS_API ThreadStorage {
  public:
    /// Returns the calling thread's storage. Throws std::bad_alloc where there is no memory to make
    /// it.
    [[nodiscard]] static ThreadStorage& current();
    /// Returns the calling thread's storage, for a thread that begins to serve: waits until there
    /// is memory to make it.
    [[nodiscard]] static ThreadStorage& await_current() noexcept;

    ThreadStorage() = default;
    ThreadStorage(const ThreadStorage&) = delete;
    ThreadStorage& operator=(const ThreadStorage&) = delete;

    /// Set while the thread serves requests: waits for replies go through it. Null elsewhere.
    ServingThread* serving_thread = nullptr;

    /// The thread's CORBA priority, once it was set or asked for (thread_priority).
    std::optional<Priority> priority;

    Spares<cdr::Buffer> buffers;
    /// Service contexts of the call that is about to be sent, until its header is written.
    ContextList contexts;
    /// Lists that the observers of calls under way add to.
    Spares<ContextList> context_lists;
    Spares<UpcallMemory> upcall_memory;

    /// Policies of this thread for calls on the references of one ORB; null for none.
    [[nodiscard]] const CallPolicies* call_policies(const Orb& orb) const noexcept;
    void set_call_policies(const Orb& orb, const CallPolicies& policies);

    /// The thread's connections (client/thread_connections.h); null until it has called.
    std::unique_ptr<ThreadStoragePart> connections;

  private:
    std::vector<std::pair<std::uint64_t, CallPolicies>> call_policies_; // by the ORBs' incarnations
};

} // namespace kairos::orb
