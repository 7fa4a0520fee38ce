// SPDX-License-Identifier: Apache-2.0
//
// The ORB core: what references, connections, servers and adapters of one ORB share. It is
// composed of two halves that do not know each other (sides.h). Calls and requests look at it (what
// options, policies, adapter there are, whether it was shut down); all else happens at start-up,
// when references are made, and at the end. Any thread, unless a function says otherwise.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/base/thread_local.h"
#include "kairos/cdr/environment.h"
#include "kairos/ior/ior.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/call_policies.h"
#include "kairos/orb/code_sets.h"
#include "kairos/orb/hooks.h"
#include "kairos/orb/late_calls.h"
#include "kairos/orb/main_thread.h"
#include "kairos/orb/options.h"
#include "kairos/orb/orb_transports.h"
#include "kairos/orb/owed_answers.h"
#include "kairos/orb/priority.h"
#include "kairos/orb/reference.h"
#include "kairos/orb/sides.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace kairos::orb {

class CallObserver;
class PriorityTransform;
class UpcallObserver;

class alignas(64) KAIROS_API_TYPE Orb final : public RefCounted {
  public:
    /// Makes an ORB with these options. `make_client` makes its calling half, which may keep the
    /// reference to the ORB that it is given.
    Orb(Options options, std::unique_ptr<ClientSide> (*make_client)(Orb& orb));

    [[nodiscard]] const Options& options() const noexcept { return options_; }
    /// Returns a random number that identifies this ORB: references made in earlier runs must not
    /// reach objects of this one.
    [[nodiscard]] std::uint64_t incarnation() const noexcept { return incarnation_; }

    // --- threads and sockets ---
    /// Installs the observer of the ORB's threads and sockets. To be called before the ORB listens
    /// or connects; returns false, and changes nothing, if it listens already.
    [[nodiscard]] bool set_hooks(std::unique_ptr<Hooks> hooks);
    /// Returns the options with which the ORB starts a thread of its own of this name.
    [[nodiscard]] net::ThreadOptions thread_options(std::string name) const;
    /// Returns the options of sockets for requests of this priority.
    [[nodiscard]] net::SocketOptions socket_options(Priority priority) const;

    // --- observers ---
    /// Adds an observer behind those added before. To be called before the adapter is made and the
    /// first call; returns false, and adds nothing, if there is an adapter.
    [[nodiscard]] bool add_observer(std::unique_ptr<CallObserver> observer);
    [[nodiscard]] bool add_observer(std::unique_ptr<UpcallObserver> observer);
    [[nodiscard]] std::span<const std::unique_ptr<CallObserver>> call_observers() const noexcept
    {
        return call_observers_;
    }
    [[nodiscard]] std::span<const std::unique_ptr<UpcallObserver>> upcall_observers() const noexcept
    {
        return upcall_observers_;
    }
    /// Returns whether an observer hears of more than the arrival of requests.
    [[nodiscard]] bool observes_upcalls() const noexcept;
    /// Returns whether calls within the process are to be observed as others are.
    [[nodiscard]] bool observes_local_calls() const noexcept
    {
        return !call_observers_.empty() || observes_upcalls();
    }

    // --- references ---
    /// Returns the transports as this ORB has them.
    [[nodiscard]] const OrbTransports& transports() const noexcept { return transports_; }
    [[nodiscard]] ReferencePtr make_reference(ior::Ior ior);
    /// Counts a reference; called by Reference.
    void note_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void note_end_of_reference() noexcept { references_.fetch_sub(1, std::memory_order_release); }
    /// Returns whether there are references of this ORB.
    [[nodiscard]] bool has_references() const noexcept
    {
        return references_.load(std::memory_order_acquire) != 0;
    }
    /// Returns the one Endpoint that all references with these ways and this agreement on code sets
    /// share; makes it if there is none yet.
    [[nodiscard]] EndpointUse endpoint(const WayList& ways, const Agreement& agreement);
    /// Forgets the endpoints to which no reference has led since `before`: references made later
    /// get new ones, and connections to the old ones can be closed.
    void retire_unused_endpoints(std::chrono::nanoseconds before) noexcept;
    [[nodiscard]] CodeSets& code_sets() noexcept { return code_sets_; }
    [[nodiscard]] const PriorityMapping& priority_mapping() const noexcept
    {
        return *priority_mapping_.load(std::memory_order_acquire);
    }
    /// Replaces the mapping between CORBA's and native priorities. Earlier mappings are kept as
    /// long as the ORB lives, for threads that still use them.
    void set_priority_mapping(std::unique_ptr<const PriorityMapping> mapping);
    /// Returns what changes the priorities that requests carry; null if nothing does. The ORB does
    /// not own it: it must outlive the ORB.
    [[nodiscard]] PriorityTransform* priority_transform() const noexcept
    {
        return priority_transform_.load(std::memory_order_acquire);
    }
    void set_priority_transform(PriorityTransform* transform) noexcept
    {
        priority_transform_.store(transform, std::memory_order_release);
    }

    // --- values ---
    /// Returns the façade's registry of value factories, which every message is given
    /// (cdr::Environment); null before set_value_factories().
    [[nodiscard]] cdr::Attachment* value_factories() const noexcept
    {
        return value_factories_.get();
    }
    /// Returns the façade's registry of value factories for messages to and from a peer with these
    /// quirks.
    [[nodiscard]] cdr::Attachment* value_factories(Quirks peer) const noexcept
    {
        return peer.tao_chunks ? tao_value_factories_.get() : value_factories_.get();
    }
    /// Sets the registries of value factories; to be called once, before any message. `for_tao` has
    /// the same factories, for peers with Quirks::tao_chunks.
    void set_value_factories(std::unique_ptr<cdr::Attachment> factories,
                             std::unique_ptr<cdr::Attachment> for_tao) noexcept
    {
        value_factories_ = std::move(factories);
        tao_value_factories_ = std::move(for_tao);
    }

    // --- serving ---
    /// Returns the serving half; null until the program makes something that serves.
    [[nodiscard]] ServerSide* server_side() const noexcept
    {
        return server_side_.load(std::memory_order_acquire);
    }
    /// Returns the serving half; has `make` make it if there is none yet.
    ServerSide& make_server_side(std::unique_ptr<ServerSide> (*make)(Orb& orb));
    /// Has the serving half offer the adapter again the requests that the adapter held.
    KAIROS_API void resume_held_requests() noexcept;
    [[nodiscard]] Adapter* adapter() const noexcept
    {
        return adapter_.load(std::memory_order_acquire);
    }
    /// Gives the ORB its adapter, to be called once, before the server side starts. The adapter
    /// lives as long as the ORB.
    void set_adapter(std::unique_ptr<Adapter> adapter)
    {
        owned_adapter_ = std::move(adapter);
        adapter_.store(owned_adapter_.get());
        if (notes_upcalls_.load()) note_upcalls();
    }
    /// Has UpcallNote::innermost() tell which request a thread serves, for requests that begin from
    /// now on. Throws std::bad_alloc.
    [[gnu::cold]] void note_upcalls();
    /// Returns whether it does.
    [[nodiscard]] bool notes_upcalls() const noexcept { return notes_upcalls_.load(); }
    /// Hides the adapter from later requests; it lives on as long as the ORB.
    void take_adapter_away() noexcept { adapter_.store(nullptr, std::memory_order_release); }
    /// Returns whether references to objects of this ORB say one of these ways.
    [[nodiscard]] bool has_own_way(const WayList& ways) const;
    /// Returns the counts of operations that ended after the deadlines of their IDL.
    [[nodiscard]] LateCalls& late_calls() noexcept { return late_calls_; }
    /// Returns the queue of upcalls for the program's thread that is in `run` or `perform_work`.
    [[nodiscard]] MainThread& main_thread() noexcept { return main_thread_; }

    // --- calling ---
    /// Returns whether calls need to look at nothing but their reference: nothing that calls must
    /// heed besides was ever set (note_call_policies), and the ORB was neither shut down nor
    /// inherited by a fork().
    [[nodiscard]] bool has_plain_calls() const noexcept
    {
        return state_.load(std::memory_order_acquire) == 0;
    }
    /// Returns whether calls need to look at nothing but their reference and the observers that
    /// hear of them.
    [[nodiscard]] bool has_plain_observed_calls() const noexcept
    {
        return state_.load(std::memory_order_acquire) == has_call_observers;
    }
    /// Notes that something was set that calls must heed besides their reference, such as policies:
    /// has_plain_calls() is false from here on.
    void note_call_policies() noexcept
    {
        state_.fetch_or(has_call_policies, std::memory_order_release);
    }
    /// Returns the policies that references made from now on heed besides their own.
    [[nodiscard]] BindingPolicies binding_policies() const;
    void set_binding_policies(BindingPolicies policies);
    /// Returns the policies for calls of this ORB: those set, or else those of its options.
    [[nodiscard]] CallPolicies call_policies() const noexcept { return call_policies_.load(); }
    void set_call_policies(const CallPolicies& policies) noexcept;

    // --- life ---
    /// Returns when the ORB was shut down. With the reactor it serves on the calling thread.
    void run();
    /// Returns whether perform_work would do something. Always false with threads of the ORB's own,
    /// unless work waits for the main thread.
    [[nodiscard]] bool work_pending();
    /// Serves on the calling thread what is ready, without waiting.
    void perform_work();
    /// Returns a descriptor to poll: it is readable when perform_work has something to do, and when
    /// the ORB was shut down. The ORB owns it until it is destroyed; an error where none can be
    /// made.
    [[nodiscard]] Result<int> descriptor();
    [[nodiscard]] bool is_shut_down() const noexcept
    {
        return (state_.load(std::memory_order_acquire) & shut_down) != 0;
    }
    /// Ends serving in order: requests in progress are answered, peers get CloseConnection. Waits
    /// for that if told so; not from within an upcall (BAD_INV_ORDER is the façade's to raise).
    void shutdown(bool wait_for_completion);
    /// Waits, after shutdown(), until nothing is served any more. That takes no longer than the
    /// requests in progress, whatever peers do. Not from within an upcall.
    void wait_for_end() noexcept;
    /// Shuts the ORB down, waits until nothing is served any more, and gives back everything but
    /// memory.
    void destroy();

    /// Returns the answers that are given after their requests were served.
    [[nodiscard]] OwedAnswers& owed_answers() noexcept { return owed_answers_; }

    // --- fork() ---
    /// Takes the ORB's locks before fork(), so that the child finds nothing half changed. Called by
    /// the thread that forks; unlock_after_fork() follows in parent and child.
    void lock_for_fork() noexcept;
    void unlock_after_fork() noexcept;
    /// Notes, in the child of a fork(), that the ORB is inherited: calls, and whoever ends the ORB,
    /// then call start_over() first.
    void note_fork() noexcept { state_.fetch_or(inherited, std::memory_order_release); }
    [[nodiscard]] bool is_inherited() const noexcept
    {
        return (state_.load(std::memory_order_acquire) & inherited) != 0;
    }
    /// Makes an inherited ORB usable in the child of a fork(), before anything else is done with
    /// its connections: leaves the parent's connections to the parent, without a word to the peers,
    /// and also its server, if it serves.
    [[gnu::cold]] void start_over() noexcept;
    /// Returns whether a parent of this process serves for this ORB.
    [[nodiscard]] bool is_served_by_parent() const noexcept
    {
        return is_served_by_parent_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] ClientSide& client_side() const noexcept { return *client_side_; }

  private:
    ~Orb() override;
    /// Returns the serving half if this process serves with it; null if there is none or a parent
    /// has it.
    [[nodiscard]] ServerSide* own_server() const noexcept
    {
        return is_served_by_parent() ? nullptr : server_side();
    }

    /// Bits of state_ that make calls other than plain ones. Those but `inherited` stay set for
    /// ever.
    static constexpr std::uint8_t shut_down = 1;
    static constexpr std::uint8_t has_call_policies = 2;
    static constexpr std::uint8_t inherited = 4; // but for this: it is dealt with
    static constexpr std::uint8_t has_call_observers = 8;

    // What calls look at comes first: one line of the processor's cache holds it, with what
    // options_ begins with.
    std::atomic<Adapter*> adapter_{nullptr};
    std::unique_ptr<cdr::Attachment> value_factories_;
    std::atomic<std::uint8_t> state_{0};
    const Options options_;
    const std::uint64_t incarnation_;
    std::unique_ptr<Hooks> hooks_;
    // Constant once there is an adapter, or calls are made.
    std::vector<std::unique_ptr<CallObserver>> call_observers_;
    std::vector<std::unique_ptr<UpcallObserver>> upcall_observers_;
    std::unique_ptr<cdr::Attachment> tao_value_factories_;
    CodeSets code_sets_;
    std::unique_ptr<Adapter> owned_adapter_;
    MainThread main_thread_;
    SharedCallPolicies call_policies_;
    const OrbTransports transports_; // used by what follows
    const std::unique_ptr<ClientSide> client_side_;
    LateCalls late_calls_;
    std::atomic<const PriorityMapping*> priority_mapping_{nullptr};
    std::atomic<PriorityTransform*> priority_transform_{nullptr};
    std::atomic<bool> is_served_by_parent_{false};
    std::atomic<bool> notes_upcalls_{false};
    std::atomic<std::size_t> references_{0};
    OwedAnswers owed_answers_;

    mutable std::mutex mutex_; // guards what follows; never held while calling out
    using EndpointKey = std::tuple<WayList, const cdr::TextForm*, bool>;
    std::map<EndpointKey, IntrusivePtr<Endpoint>> endpoints_;
    BindingPolicies binding_policies_;
    std::vector<std::unique_ptr<const PriorityMapping>> priority_mappings_;
    std::unique_ptr<Adapter> noting_adapter_;       // in front of owned_adapter_; null for most
    std::unique_ptr<ServerSide> owned_server_side_; // set once
    std::atomic<ServerSide*> server_side_{nullptr};
};

/// Marks the calling thread as serving a request, perhaps from within another. The adapters above
/// derive what they know of the request from it: there is no other kind.
class KAIROS_API UpcallScope {
  public:
    UpcallScope(const UpcallScope&) = delete;
    UpcallScope& operator=(const UpcallScope&) = delete;

    /// Returns the scope of the request that the calling thread is serving, the innermost if they
    /// are nested; null if it serves none.
    [[nodiscard]] static const UpcallScope* innermost() noexcept { return innermost_; }
    [[nodiscard]] const UpcallScope* outer() const noexcept { return outer_; }

  protected:
    UpcallScope() noexcept : outer_(std::exchange(innermost_, this)) {}
    ~UpcallScope() { innermost_ = outer_; }

  private:
    KAIROS_NEAR static inline constinit thread_local const UpcallScope* innermost_ = nullptr;
    const UpcallScope* const outer_;
};

/// Returns whether the calling thread is serving a request of any ORB right now.
[[nodiscard]] inline bool in_upcall() noexcept { return UpcallScope::innermost() != nullptr; }

} // namespace kairos::orb
