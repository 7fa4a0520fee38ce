// SPDX-License-Identifier: Apache-2.0
//
// What a client holds: an IOR, made ready for calling. Station 2 of the request walk
// (docs/TOUR.md). Immutable and shared between threads, but for the forward that a server may set.
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/giop/request.h"
#include "kairos/ior/ior.h"
#include "kairos/ior/object_key.h"
#include "kairos/orb/endpoint.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

namespace kairos::orb {

class Orb;

/// One way to reach the object: an address, and the requests' header for it.
struct Target {
    IntrusivePtr<Endpoint> endpoint;
    giop::RequestTemplate by_key;
    std::size_t profile_index = 0;
};

class Reference final : public RefCounted {
  public:
    /// Keeps `orb` alive. Profiles that cannot be used are kept in the IOR and passed over.
    Reference(IntrusivePtr<Orb> orb, ior::Ior ior);

    [[nodiscard]] Orb& orb() const noexcept { return *orb_; }
    [[nodiscard]] const ior::Ior& ior() const noexcept { return ior_; }
    /// In the order in which they are to be tried.
    [[nodiscard]] const std::vector<Target>& targets() const noexcept { return targets_; }
    /// The key if the object is in this process, served by the reference's own ORB.
    [[nodiscard]] const std::optional<ior::ObjectKey>& local_key() const noexcept
    {
        return local_key_;
    }
    /// The object key of the first usable profile; empty if there is none.
    [[nodiscard]] Bytes object_key() const noexcept { return object_key_; }

    /// Where calls go: the last forward, or null for the reference itself. Never blocks.
    [[nodiscard]] Reference* forward() const noexcept
    {
        return forward_.load(std::memory_order_acquire);
    }
    /// Sends later calls to `target`, or for null to the original address again. Any thread.
    void set_forward(IntrusivePtr<Reference> target);

    /// Same type id and profiles' addresses and keys: the same object as far as one can tell
    /// without asking it.
    [[nodiscard]] bool is_equivalent(const Reference& other) const noexcept;
    /// Equal for equivalent references; never changes.
    [[nodiscard]] std::uint32_t hash() const noexcept;

  private:
    ~Reference() override = default;

    const IntrusivePtr<Orb> orb_;
    const ior::Ior ior_;
    std::vector<Target> targets_;
    ior::OctetVector object_key_;
    std::optional<ior::ObjectKey> local_key_;
    std::atomic<Reference*> forward_{nullptr};
    std::mutex forwards_mutex_; // guards forwards_
    // Every forward there ever was: a call in progress may still be using it. One per address.
    std::vector<IntrusivePtr<Reference>> forwards_;
};

using ReferencePtr = IntrusivePtr<Reference>;

} // namespace kairos::orb
