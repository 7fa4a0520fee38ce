// SPDX-License-Identifier: Apache-2.0
//
// What a client holds: an IOR, made ready for calling. Station 2 of the request walk
// (docs/TOUR.md). Immutable and shared between threads, but for the forward that a server may set,
// the form of text that a call may choose and the servants that calls of this process have found.
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/cdr/codeset.h"
#include "kairos/giop/request.h"
#include "kairos/ior/ior.h"
#include "kairos/ior/object_key.h"
#include "kairos/ior/policies.h"
#include "kairos/ior/profile.h"
#include "kairos/orb/endpoint.h"
#include "kairos/orb/policies.h"
#include "kairos/orb/priority.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace kairos::orb {

class Orb;
class Ways;
struct WayChoice;

/// One way to reach the object: an address, and the requests' header for it.
struct Target {
    EndpointUse endpoint;
    const cdr::TextForm* text = nullptr; ///< how text travels there; the ORB's
    giop::RequestTemplate by_key;
    std::size_t profile_index = 0;
};

/// A servant of this process that calls may go to for as long as the masked state is as expected.
/// Neither is freed while the ORB lives.
struct DirectLink {
    const void* interface; ///< which of its functions (DirectCall::interface)
    void* servant;
    const std::atomic<std::uint64_t>* state;
    std::uint64_t mask;
    std::uint64_t expected;
    const DirectLink* next = nullptr;

    [[nodiscard]] bool holds() const noexcept
    {
        return (state->load(std::memory_order_acquire) & mask) == expected;
    }
};

class alignas(64) Reference final : public RefCounted {
  public:
    /// Makes a reference from an IOR; keeps `orb` alive. Profiles that cannot be used are kept in
    /// the IOR and passed over.
    Reference(IntrusivePtr<Orb> orb, ior::Ior ior, PolicyOverridesPtr overrides = {});
    /// Returns a new reference to the same object whose calls heed `overrides` instead of this
    /// reference's.
    [[nodiscard]] IntrusivePtr<Reference> with(PolicyOverridesPtr overrides) const;

    [[nodiscard]] Orb& orb() const noexcept { return *orb_; }
    [[nodiscard]] const ior::Ior& ior() const noexcept { return ior_; }
    /// Returns the policies that this reference's calls heed before those of the thread and the
    /// ORB; null if there are none.
    [[nodiscard]] const PolicyOverridesPtr& overrides() const noexcept { return overrides_; }
    /// Returns the ways to reach the object, in the order in which they are to be tried.
    [[nodiscard]] const std::vector<Target>& targets() const noexcept { return targets_; }
    /// Returns the ways to reach the object for a thread of this priority, in the order in which
    /// they are to be tried. Where the server has addresses by priority: those of the highest
    /// priority that is not above the thread's, or else of the lowest. With bands of priorities:
    /// those of the thread's band, empty if it is in none. A priority that the server has declared
    /// for the object counts instead of the thread's.
    [[nodiscard]] const std::vector<Target>& targets_at(Priority priority) const noexcept;
    [[nodiscard]] bool has_priorities() const noexcept { return !by_priority_.empty(); }
    /// Returns who determines the priority at which the object's calls are served (Real-Time
    /// CORBA's priority model); nothing if the server did not say.
    [[nodiscard]] const std::optional<ior::PriorityModel>& priority_model() const noexcept
    {
        return policies_.priority_model;
    }
    /// Returns what the reference's first usable profile says of the object's policies.
    [[nodiscard]] const ior::ExposedPolicies& exposed_policies() const noexcept
    {
        return policies_;
    }
    /// Returns whether each request is to say the priority of its thread.
    [[nodiscard]] bool propagates_priority() const noexcept
    {
        return policies_.priority_model && policies_.priority_model->client_propagated;
    }
    /// Returns whether the object is in this process, served by the reference's own ORB.
    [[nodiscard]] bool is_local() const noexcept { return is_local_; }
    /// Returns whether stubs are to try call_directly first.
    [[nodiscard]] bool calls_directly() const noexcept { return calls_directly_; }
    /// Returns the link to the servant that an earlier call found, if the object still has it; or
    /// null. `interface` is what the servant is asked for (DirectCall::interface).
    [[nodiscard]] const DirectLink* linked(const void* interface) const noexcept
    {
        const DirectLink* link = links_.load(std::memory_order_acquire);
        while (link != nullptr && (link->interface != interface || !link->holds()))
            link = link->next;
        return link;
    }
    /// Returns whether calls that have found a servant are to `link` it.
    [[nodiscard]] bool links_servants() const noexcept
    {
        return links_servants_.load(std::memory_order_relaxed);
    }
    /// Has later calls go to this servant without asking the adapter, for as long as the link
    /// holds. Does nothing where there is no memory for it.
    void link(const DirectLink& servant) noexcept;

    /// Returns how the text of a call is encoded before a target is chosen: as its first target
    /// wants it, unless that was found to be unreachable. Null for objects of this process.
    [[nodiscard]] const cdr::TextForm* text_form() const noexcept
    {
        return text_form_.load(std::memory_order_relaxed);
    }
    void set_text_form(const cdr::TextForm* form) noexcept
    {
        text_form_.store(form, std::memory_order_relaxed);
    }

    /// Returns the registry of value factories that calls use: the one for the quirks of the
    /// server's ORB.
    [[nodiscard]] cdr::Attachment* value_factories() const noexcept { return value_factories_; }

    /// Returns the object key of the first usable profile; empty if there is none.
    [[nodiscard]] Bytes object_key() const noexcept { return object_key_; }

    /// Returns the reference that calls are to go to, the last forward; null for this reference
    /// itself. Never blocks.
    [[nodiscard]] Reference* forward() const noexcept
    {
        return forward_.load(std::memory_order_acquire);
    }
    /// Returns where calls go when another forward leads nowhere: the reference that is to replace
    /// the original address (LOCATION_FORWARD_PERM); null for this reference itself.
    [[nodiscard]] Reference* permanent_forward() const noexcept
    {
        return permanent_forward_.load(std::memory_order_acquire);
    }
    /// Sends later calls to `target`; with `permanent`, it also becomes permanent_forward().
    /// Returns the reference that is kept: an earlier one with the same IOR, if there is one. Any
    /// thread.
    IntrusivePtr<Reference> set_forward(IntrusivePtr<Reference> target, bool permanent);
    /// Forgets all forwards, the permanent one too, so that later calls go to the original address
    /// again. Any thread.
    void forget_forwards();
    /// Returns where this and later calls go after `following`, null for the original address, led
    /// nowhere: the permanent forward, unless that is what led nowhere; else null, the original
    /// address, and all forwards are forgotten.
    IntrusivePtr<Reference> fall_back(const Reference* following);

    /// Returns whether the object was found where calls go now, by a call to which
    /// Messaging::RebindPolicy means something or by _validate_connection (CORBA 3.3 part 1,
    /// 17.2.2). Any thread.
    [[nodiscard]] bool is_bound() const noexcept
    {
        return is_bound_.load(std::memory_order_relaxed);
    }
    void note_bound() noexcept { is_bound_.store(true, std::memory_order_relaxed); }

    /// Returns whether both references are to one object, as far as one can tell without asking it:
    /// the IORs are equal, or the first usable addresses and the object keys are.
    [[nodiscard]] bool is_equivalent(const Reference& other) const noexcept;
    /// Returns a hash of the object key: equal for equivalent references, and never changes.
    [[nodiscard]] std::uint32_t hash() const noexcept;

  private:
    ~Reference() override;
    [[nodiscard]] bool serves_itself(const WayList& ways) const;
    /// Returns which ways are used of all that these targets have.
    [[nodiscard]] WayChoice way_choice(std::span<const ior::Target> targets) const;
    void drop_targets() noexcept;
    /// Makes what calls go to for this target, by these ways. With a `band`, they have connections
    /// of their own.
    [[nodiscard]] Target make_target(const ior::Target& target, const WayList& ways,
                                     const ior::PriorityBand* band = nullptr) const;
    void read_policies(const ior::Target& target);
    void add_priorities(const ior::Target& target, const Ways& ways);
    void add_at(Priority priority, Target target);
    void add_bands(const ior::Target& target, std::span<const ior::PriorityBand> bands);
    /// Returns the targets of the highest entry of by_priority_ that is not above `priority`, or
    /// else of the lowest.
    [[nodiscard]] const std::vector<Target>& targets_not_above(Priority priority) const noexcept;

    struct TargetsAt {
        Priority priority;
        std::vector<Target> targets;
        Priority highest = priority_max; ///< of a band
    };

    // What calls look at comes first: two lines of the processor's cache hold it.
    const IntrusivePtr<Orb> orb_;
    std::vector<Target> targets_;
    std::atomic<const cdr::TextForm*> text_form_{nullptr};
    cdr::Attachment* value_factories_ = nullptr;
    bool is_local_ = false;
    bool calls_directly_ = false;
    bool has_bands_ = false;
    std::atomic<bool> links_servants_{false};
    std::atomic<Reference*> forward_{nullptr};
    // Every link there ever was: a call in progress may be looking at it. Newest first.
    std::atomic<const DirectLink*> links_{nullptr};
    std::vector<TargetsAt> by_priority_; // ascending

    const ior::Ior ior_;
    const PolicyOverridesPtr overrides_;
    BindingPolicies binding_;       // the ORB's at the time, overridden by these, else the IOR's
    ior::ExposedPolicies policies_; // as the IOR says them
    ior::OctetVector object_key_;
    std::atomic<Reference*> permanent_forward_{nullptr};
    std::atomic<bool> is_bound_{false};
    std::mutex mutex_; // guards what follows, and changes of links_
    std::size_t links_made_ = 0;
    // Every forward there ever was: a call in progress may still be using it. One per address.
    std::vector<IntrusivePtr<Reference>> forwards_;
};

using ReferencePtr = IntrusivePtr<Reference>;

} // namespace kairos::orb
