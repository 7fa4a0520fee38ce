// SPDX-License-Identifier: Apache-2.0
//
// The policies of an object adapter (CORBA 3.3 part 1, 15.3.8) as values, and which of them go
// together. Values of the enumerations are as in PortableServer.
#pragma once

#include "kairos/ior/policies.h"
#include "kairos/poa/guard.h"
#include "kairos/poa/id_index.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace kairos::orb {
class ThreadPool;
}

namespace kairos::poa {

enum class Threads { orb_controlled, single, main };
enum class Lifespan { transient, persistent };
enum class IdUniqueness { unique, multiple };
enum class IdAssignment { user, system };
enum class ImplicitActivation { implicit, none };
enum class Retention { retain, none };
enum class Processing { map_only, default_servant, servant_manager };

/// The kinds of policies, in the order of their numbers from THREAD_POLICY_ID on; then Kairos's
/// own and Real-Time CORBA's.
enum class PolicyKind {
    threads,
    lifespan,
    id_uniqueness,
    id_assignment,
    implicit_activation,
    retention,
    processing,
    demultiplexing,
    priority_model,
    thread_pool,
    priority_bands,
};

/// The policies of Real-Time CORBA (1.2, 5.7, 5.12, 5.14 and 5.15).
struct RealTimePolicies {
    std::optional<ior::PriorityModel> priority_model;
    orb::ThreadPool* pool = nullptr; ///< whose threads serve; the ORB's
    std::vector<ior::PriorityBand> bands;
    std::optional<ior::TcpProperties> client_tcp; ///< for the connections of clients

    [[nodiscard]] bool is_set() const noexcept { return priority_model || pool != nullptr; }
    /// Returns whether objects may have priorities of their own, which their keys say.
    [[nodiscard]] bool declares() const noexcept
    {
        return priority_model && !priority_model->client_propagated;
    }
    /// Returns whether an object may have this priority: the lanes of the pool and the bands have
    /// it, if there are any.
    [[nodiscard]] bool allows(std::int16_t priority) const noexcept;
};

struct Policies {
    Threads threads = Threads::orb_controlled;
    Lifespan lifespan = Lifespan::transient;
    IdUniqueness id_uniqueness = IdUniqueness::unique;
    IdAssignment id_assignment = IdAssignment::system;
    ImplicitActivation implicit_activation = ImplicitActivation::none;
    Retention retention = Retention::retain;
    Processing processing = Processing::map_only;
    IdStrategy strategy = IdStrategy::active;
    /// For IdStrategy::perfect: all ids that there will ever be.
    std::vector<std::vector<std::byte>> known_ids;
    RealTimePolicies real_time;
    bool bidirectional = false;      ///< BiDirPolicy::BOTH
    IntrusivePtr<const Guard> guard; ///< null: whoever connects may call

    [[nodiscard]] bool retains() const noexcept { return retention == Retention::retain; }
    [[nodiscard]] bool unique() const noexcept { return id_uniqueness == IdUniqueness::unique; }
    [[nodiscard]] bool system_ids() const noexcept { return id_assignment == IdAssignment::system; }
    [[nodiscard]] bool implicit() const noexcept
    {
        return implicit_activation == ImplicitActivation::implicit;
    }
    [[nodiscard]] bool persistent() const noexcept { return lifespan == Lifespan::persistent; }
    /// Returns whether keys say the objects' slots where they can.
    [[nodiscard]] bool keys_say_places() const noexcept
    {
        return strategy == IdStrategy::active || strategy == IdStrategy::delayered;
    }
    /// Returns whether a request that says a slot needs nothing but the object there. The keys of
    /// persistent objects say none; one that does is forged.
    [[nodiscard]] bool plain() const noexcept
    {
        return retains() && threads == Threads::orb_controlled && !persistent() &&
               !real_time.is_set() && !guard;
    }
    /// Returns whether requests are plain, and find the operation in one step with the object.
    [[nodiscard]] bool delayered() const noexcept
    {
        return plain() && strategy == IdStrategy::delayered;
    }
    /// Returns whether objects are slots and nothing else: their keys and ids are places.
    [[nodiscard]] bool places_are_ids() const noexcept
    {
        return retains() && system_ids() && !persistent() && processing == Processing::map_only &&
               keys_say_places() && !real_time.declares();
    }
};

/// Returns two policies that do not go together; nothing if all do.
[[nodiscard]] std::optional<std::array<PolicyKind, 2>> conflict_of(const Policies& policies);

} // namespace kairos::poa
