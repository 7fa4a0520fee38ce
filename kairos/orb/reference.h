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
#include "kairos/orb/local_ways.h"
#include "kairos/orb/policies.h"
#include "kairos/orb/priority.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace kairos::orb {

class Orb;

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
    /// Keeps `orb` alive. Profiles that cannot be used are kept in the IOR and passed over.
    Reference(IntrusivePtr<Orb> orb, ior::Ior ior, PolicyOverridesPtr overrides = {});
    /// The same object, called as these policies want it.
    [[nodiscard]] IntrusivePtr<Reference> with(PolicyOverridesPtr overrides) const;

    [[nodiscard]] Orb& orb() const noexcept { return *orb_; }
    [[nodiscard]] const ior::Ior& ior() const noexcept { return ior_; }
    /// Null if there are none.
    [[nodiscard]] const PolicyOverridesPtr& overrides() const noexcept { return overrides_; }
    /// In the order in which they are to be tried.
    [[nodiscard]] const std::vector<Target>& targets() const noexcept { return targets_; }
    /// The same for a thread of this priority: where the server has addresses by priority, that of
    /// the highest which is not above the thread's, or else the lowest. With bands of priorities,
    /// those of its band: empty if it is in none. What the server has declared for the object
    /// counts instead of the thread's.
    [[nodiscard]] const std::vector<Target>& targets_at(Priority priority) const noexcept;
    [[nodiscard]] bool has_priorities() const noexcept { return !by_priority_.empty(); }
    /// Who says at which priority its calls are served; nothing if the server did not say.
    [[nodiscard]] const std::optional<ior::PriorityModel>& priority_model() const noexcept
    {
        return policies_.priority_model;
    }
    /// What its first usable profile says of the object's policies.
    [[nodiscard]] const ior::ExposedPolicies& exposed_policies() const noexcept
    {
        return policies_;
    }
    /// Whether each request is to say the priority of its thread.
    [[nodiscard]] bool propagates_priority() const noexcept
    {
        return policies_.priority_model && policies_.priority_model->client_propagated;
    }
    /// Whether the object is in this process, served by the reference's own ORB.
    [[nodiscard]] bool is_local() const noexcept { return is_local_; }
    /// Whether stubs are to try call_directly first.
    [[nodiscard]] bool calls_directly() const noexcept { return calls_directly_; }
    /// The servant of an object that was called before, if it still is; or null.
    [[nodiscard]] const DirectLink* linked(const void* interface) const noexcept
    {
        const DirectLink* link = links_.load(std::memory_order_acquire);
        while (link != nullptr && (link->interface != interface || !link->holds()))
            link = link->next;
        return link;
    }
    /// Whether calls that have found a servant are to `link` it.
    [[nodiscard]] bool links_servants() const noexcept
    {
        return links_servants_.load(std::memory_order_relaxed);
    }
    void link(const DirectLink& servant) noexcept;

    /// How the text of a call is encoded, before a target is chosen: as its first target wants it,
    /// unless that was found to be unreachable. Null for objects of this process.
    [[nodiscard]] const cdr::TextForm* text_form() const noexcept
    {
        return text_form_.load(std::memory_order_relaxed);
    }
    void set_text_form(const cdr::TextForm* form) noexcept
    {
        text_form_.store(form, std::memory_order_relaxed);
    }

    /// What values in a call are made by, with what is done otherwise with its server's ORB.
    [[nodiscard]] cdr::Attachment* value_factories() const noexcept { return value_factories_; }

    /// The object key of the first usable profile; empty if there is none.
    [[nodiscard]] Bytes object_key() const noexcept { return object_key_; }

    /// Where calls go: the last forward, or null for the reference itself. Never blocks.
    [[nodiscard]] Reference* forward() const noexcept
    {
        return forward_.load(std::memory_order_acquire);
    }
    /// Where calls go when another forward leads nowhere: to what the original address said is to
    /// replace it (LOCATION_FORWARD_PERM), or null for the reference itself.
    [[nodiscard]] Reference* permanent_forward() const noexcept
    {
        return permanent_forward_.load(std::memory_order_acquire);
    }
    /// Sends later calls to `target`, which is perhaps the one to stay. What is returned is the
    /// reference that is kept for this place. Any thread, as the next.
    IntrusivePtr<Reference> set_forward(IntrusivePtr<Reference> target, bool permanent);
    /// Sends later calls to the original address again.
    void forget_forwards();
    /// Where calls go when `following`, null for the original address, leads nowhere: see
    /// permanent_forward. Later ones go there, too.
    IntrusivePtr<Reference> fall_back(const Reference* following);

    /// Whether its object was found where calls go now, by a call to which Messaging::RebindPolicy
    /// means something or by _validate_connection (CORBA 3.3 part 1, 17.2.2). Any thread.
    [[nodiscard]] bool is_bound() const noexcept
    {
        return is_bound_.load(std::memory_order_relaxed);
    }
    void note_bound() noexcept { is_bound_.store(true, std::memory_order_relaxed); }

    /// Same type id and profiles' addresses and keys: the same object as far as one can tell
    /// without asking it.
    [[nodiscard]] bool is_equivalent(const Reference& other) const noexcept;
    /// Equal for equivalent references; never changes.
    [[nodiscard]] std::uint32_t hash() const noexcept;

  private:
    ~Reference() override;
    [[nodiscard]] bool serves_itself(const ior::Target& target,
                                     const std::vector<LocalWay>& local) const;
    /// `band` has connections of its own, if there is one.
    [[nodiscard]] Target make_target(const ior::Target& target, const ior::Address& address,
                                     const std::vector<LocalWay>& local,
                                     const ior::PriorityBand* band = nullptr) const;
    void read_policies(const ior::Target& target);
    void add_priorities(const ior::Target& target, const LocalWays& ways);
    void add_at(Priority priority, Target target);
    void add_bands(const ior::Target& target, std::span<const ior::PriorityBand> bands);
    /// The targets of the highest of by_priority_ that is not above this, or else the lowest.
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
