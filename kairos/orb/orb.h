// SPDX-License-Identifier: Apache-2.0
//
// The ORB core: what references, connections, servers and adapters of one ORB share. It is
// composed of two halves that do not know each other (sides.h). Calls and requests look at it (what
// options, policies, adapter there are, whether it was shut down); all else happens at start-up,
// when references are made, and at the end. Any thread, unless a function says otherwise.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/cdr/environment.h"
#include "kairos/ior/ior.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/call_policies.h"
#include "kairos/orb/code_sets.h"
#include "kairos/orb/hooks.h"
#include "kairos/orb/late_calls.h"
#include "kairos/orb/main_thread.h"
#include "kairos/orb/options.h"
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

namespace kairos::orb {

class PriorityTransform;

class alignas(64) KAIROS_API_TYPE Orb final : public RefCounted {
  public:
    /// `make_client` makes the calling half, which may keep what it is given.
    Orb(Options options, std::unique_ptr<ClientSide> (*make_client)(Orb& orb));

    [[nodiscard]] const Options& options() const noexcept { return options_; }
    /// A random number for this run: references of earlier runs must not hit objects of this one.
    [[nodiscard]] std::uint64_t incarnation() const noexcept { return incarnation_; }

    // --- threads and sockets ---
    /// Before the ORB listens or connects; false if it listens already.
    [[nodiscard]] bool set_hooks(std::unique_ptr<Hooks> hooks);
    /// Of a thread of the ORB's own.
    [[nodiscard]] net::ThreadOptions thread_options(std::string name) const;
    /// Of sockets for requests of this priority.
    [[nodiscard]] net::SocketOptions socket_options(Priority priority) const;

    // --- references ---
    [[nodiscard]] ReferencePtr make_reference(ior::Ior ior);
    /// The one Endpoint of these addresses with this agreement; see there.
    [[nodiscard]] EndpointUse endpoint(const ior::Address& address,
                                       const std::vector<LocalWay>& local,
                                       const Agreement& agreement);
    /// Later references get others instead of those that no reference has led to since.
    void retire_unused_endpoints(std::chrono::nanoseconds before) noexcept;
    [[nodiscard]] CodeSets& code_sets() noexcept { return code_sets_; }
    [[nodiscard]] const PriorityMapping& priority_mapping() const noexcept
    {
        return *priority_mapping_.load(std::memory_order_acquire);
    }
    /// Any thread; those that were used before live as long as the ORB.
    void set_priority_mapping(std::unique_ptr<const PriorityMapping> mapping);
    /// What changes the priorities that requests carry; null for nothing. It must outlive the ORB.
    [[nodiscard]] PriorityTransform* priority_transform() const noexcept
    {
        return priority_transform_.load(std::memory_order_acquire);
    }
    void set_priority_transform(PriorityTransform* transform) noexcept
    {
        priority_transform_.store(transform, std::memory_order_release);
    }

    // --- values ---
    /// The façade's registry of value factories, which messages are given to (cdr::Environment).
    [[nodiscard]] cdr::Attachment* value_factories() const noexcept
    {
        return value_factories_.get();
    }
    /// The same for messages to and from a peer with these quirks.
    [[nodiscard]] cdr::Attachment* value_factories(Quirks peer) const noexcept
    {
        return peer.tao_chunks ? tao_value_factories_.get() : value_factories_.get();
    }
    /// Once, before any message. `for_tao` has the factories of the other.
    void set_value_factories(std::unique_ptr<cdr::Attachment> factories,
                             std::unique_ptr<cdr::Attachment> for_tao) noexcept
    {
        value_factories_ = std::move(factories);
        tao_value_factories_ = std::move(for_tao);
    }

    // --- serving ---
    /// Null until the program makes something that serves.
    [[nodiscard]] ServerSide* server_side() const noexcept
    {
        return server_side_.load(std::memory_order_acquire);
    }
    /// The one there is, or one that is made now.
    ServerSide& make_server_side(std::unique_ptr<ServerSide> (*make)(Orb& orb));
    /// Requests that the adapter held are to be offered again.
    void resume_held_requests() noexcept;
    [[nodiscard]] Adapter* adapter() const noexcept
    {
        return adapter_.load(std::memory_order_acquire);
    }
    /// Once, before the server side starts. It lives as long as the ORB.
    void set_adapter(std::unique_ptr<Adapter> adapter) noexcept
    {
        owned_adapter_ = std::move(adapter);
        adapter_.store(owned_adapter_.get(), std::memory_order_release);
    }
    /// Later requests find no adapter.
    void take_adapter_away() noexcept { adapter_.store(nullptr, std::memory_order_release); }
    /// Whether references say this address of objects here, or one of these within the host.
    [[nodiscard]] bool is_own_address(const ior::Address& address,
                                      const std::vector<LocalWay>& local) const;
    /// Operations that ended after the deadlines of their IDL.
    [[nodiscard]] LateCalls& late_calls() noexcept { return late_calls_; }
    /// The thread in `run` or `perform_work`.
    [[nodiscard]] MainThread& main_thread() noexcept { return main_thread_; }

    // --- calling ---
    /// Whether calls need to look at nothing but their reference: no reference, thread or ORB has
    /// ever been given policies that calls heed, and the ORB was not shut down.
    [[nodiscard]] bool has_plain_calls() const noexcept
    {
        return state_.load(std::memory_order_acquire) == 0;
    }
    /// Somebody has policies: from here on calls look for them.
    void note_call_policies() noexcept
    {
        state_.fetch_or(has_call_policies, std::memory_order_release);
    }
    /// What references that are made from now on heed besides their own.
    [[nodiscard]] BindingPolicies binding_policies() const;
    void set_binding_policies(BindingPolicies policies);
    /// Of this ORB: those set, or else those of its options.
    [[nodiscard]] CallPolicies call_policies() const noexcept { return call_policies_.load(); }
    void set_call_policies(const CallPolicies& policies) noexcept;

    // --- life ---
    /// Returns when the ORB was shut down. With the reactor it serves on the calling thread.
    void run();
    /// Whether perform_work would do something. Always false with threads of the ORB's own.
    [[nodiscard]] bool work_pending();
    /// Serves what is ready, without waiting.
    void perform_work();
    /// Can be polled: readable when perform_work has something to do, and when the ORB was shut
    /// down. The ORB's, until it is destroyed.
    [[nodiscard]] Result<int> descriptor();
    [[nodiscard]] bool is_shut_down() const noexcept
    {
        return (state_.load(std::memory_order_acquire) & shut_down) != 0;
    }
    /// Ends serving in order: requests in progress are answered, peers get CloseConnection. Waits
    /// for that if told so; not from within an upcall (BAD_INV_ORDER is the façade's to raise).
    void shutdown(bool wait_for_completion);
    /// After that: waits until nothing is served any more, which takes no longer than who is being
    /// served, whatever peers do. Not from within an upcall.
    void wait_for_end() noexcept;
    /// shutdown(true), and gives everything back but memory.
    void destroy();

    // --- fork() ---
    /// Around it, in this order, by the thread that forks: nobody changes what the child is to
    /// find.
    void lock_for_fork() noexcept;
    void unlock_after_fork() noexcept;
    /// In the child: calls, and who ends the ORB, are to ask for start_over.
    void note_fork() noexcept { state_.fetch_or(inherited, std::memory_order_release); }
    [[nodiscard]] bool is_inherited() const noexcept
    {
        return (state_.load(std::memory_order_acquire) & inherited) != 0;
    }
    /// In a child, before anything else is done with connections: those of the parent are left to
    /// it, without a word to the peers, and so is the server, if it serves. Then it is an ORB as
    /// any.
    [[gnu::cold]] void start_over() noexcept;
    /// Whether who serves for this ORB is a parent of this process.
    [[nodiscard]] bool is_served_by_parent() const noexcept
    {
        return is_served_by_parent_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] ClientSide& client_side() const noexcept { return *client_side_; }

  private:
    ~Orb() override;
    /// Of this process; or null.
    [[nodiscard]] ServerSide* own_server() const noexcept
    {
        return is_served_by_parent() ? nullptr : server_side();
    }

    /// What makes calls other than plain ones, once and for ever.
    static constexpr std::uint8_t shut_down = 1;
    static constexpr std::uint8_t has_call_policies = 2;
    static constexpr std::uint8_t inherited = 4; // but for this: it is dealt with

    // What calls look at comes first: one line of the processor's cache holds it, with what
    // options_ begins with.
    std::atomic<Adapter*> adapter_{nullptr};
    std::unique_ptr<cdr::Attachment> value_factories_;
    std::atomic<std::uint8_t> state_{0};
    const Options options_;
    const std::uint64_t incarnation_;
    std::unique_ptr<Hooks> hooks_;
    std::unique_ptr<cdr::Attachment> tao_value_factories_;
    CodeSets code_sets_;
    std::unique_ptr<Adapter> owned_adapter_;
    MainThread main_thread_;
    SharedCallPolicies call_policies_;
    const std::unique_ptr<ClientSide> client_side_;
    LateCalls late_calls_;
    std::atomic<const PriorityMapping*> priority_mapping_{nullptr};
    std::atomic<PriorityTransform*> priority_transform_{nullptr};
    std::atomic<bool> is_served_by_parent_{false};

    mutable std::mutex mutex_; // guards what follows; never held while calling out
    using EndpointKey =
        std::tuple<std::string, std::uint16_t, std::vector<LocalWay>, const cdr::TextForm*, bool>;
    std::map<EndpointKey, IntrusivePtr<Endpoint>> endpoints_;
    BindingPolicies binding_policies_;
    std::vector<std::unique_ptr<const PriorityMapping>> priority_mappings_;
    std::unique_ptr<ServerSide> owned_server_side_; // set once
    std::atomic<ServerSide*> server_side_{nullptr};
};

/// Marks the calling thread as serving a request, perhaps from within another. The adapters above
/// derive what they know of the request from it: there is no other kind.
class KAIROS_API UpcallScope {
  public:
    UpcallScope(const UpcallScope&) = delete;
    UpcallScope& operator=(const UpcallScope&) = delete;

    /// Of the calling thread; null if it serves none.
    [[nodiscard]] static const UpcallScope* innermost() noexcept { return innermost_; }
    [[nodiscard]] const UpcallScope* outer() const noexcept { return outer_; }

  protected:
    UpcallScope() noexcept : outer_(std::exchange(innermost_, this)) {}
    ~UpcallScope() { innermost_ = outer_; }

  private:
    static inline constinit thread_local const UpcallScope* innermost_ = nullptr;
    const UpcallScope* const outer_;
};

/// Whether the calling thread is serving a request of any ORB right now.
[[nodiscard]] inline bool in_upcall() noexcept { return UpcallScope::innermost() != nullptr; }

} // namespace kairos::orb
