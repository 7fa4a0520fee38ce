// SPDX-License-Identifier: Apache-2.0
//
// The ORB core: what references, connections, servers and adapters of one ORB share. Everything
// here happens at start-up, when references are made, and at the end; no call passes through it.
// Any thread, unless a function says otherwise.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/cdr/environment.h"
#include "kairos/ior/ior.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/call_policies.h"
#include "kairos/orb/client_connection.h"
#include "kairos/orb/code_sets.h"
#include "kairos/orb/filter.h"
#include "kairos/orb/hooks.h"
#include "kairos/orb/late_calls.h"
#include "kairos/orb/main_thread.h"
#include "kairos/orb/options.h"
#include "kairos/orb/priority.h"
#include "kairos/orb/reference.h"
#include "kairos/orb/request_dispatcher.h"
#include "kairos/orb/thread_pools.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace kairos::orb {

class Account;
class Backlogs;
class PriorityTransform;
class Server;
class SharedConnections;

/// The open client connections of an ORB, so that shutting down can end the calls on them.
class ClientConnections {
  public:
    void add(ClientConnection& connection);
    void remove(ClientConnection& connection) noexcept;
    /// Ends every wait for a reply, now and for connections still to be added.
    void interrupt_all() noexcept;
    [[nodiscard]] std::size_t count() const noexcept;
    /// Closes those that nobody has used since.
    void close_idle(std::chrono::nanoseconds before) noexcept;
    /// Closes the one that was not used for the longest time; false if all are in use.
    bool close_least_recently_used() noexcept;
    /// In a child of the process that has called: none of them is its own.
    void start_over() noexcept;
    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; } ///< held while the process forks
    /// Closes those to endpoints that are left and were not used since; true if there are others
    /// that no reference leads to.
    bool close_left(std::chrono::nanoseconds before) noexcept;

  private:
    mutable std::mutex mutex_; // guards what follows; connections come and go under it
    std::set<ClientConnection*> connections_;
    bool interrupted_ = false;
};

class alignas(64) KAIROS_API_TYPE Orb final : public RefCounted {
  public:
    explicit Orb(Options options);

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
    /// A reference to an object of this process; `more` is what its adapter says of it. Needs
    /// `listen`.
    [[nodiscard]] ior::Ior make_ior(std::string_view type_id, Bytes object_key,
                                    std::span<const ior::TaggedComponent> more = {}) const;

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
    /// Opens the listening sockets of the options. Once; later calls find it done.
    [[nodiscard]] Result<void> listen();
    /// Begins to accept connections. Once; later calls find it done. NO_RESOURCES if the system has
    /// no threads for it: nobody is served, then, and the addresses are given back.
    void start_serving();
    /// Sees to it that whoever reads requests can hand them over to a thread pool with lanes of
    /// these priorities, or without: with an architecture that does so anyway, or, where none was
    /// asked for and the ORB does not serve yet, with one lane of the server for each lane of the
    /// pools, or else worker-pool. The error says what would help.
    [[nodiscard]] Result<void> hand_over(std::span<const Priority> lanes);
    /// Real-Time CORBA's.
    [[nodiscard]] ThreadPools& thread_pools() noexcept { return *thread_pools_; }
    /// Requests that the adapter held are to be offered again.
    void resume_held_requests() noexcept;
    [[nodiscard]] Adapter* adapter() const noexcept
    {
        return adapter_.load(std::memory_order_acquire);
    }
    /// Once, before `start_serving`. It lives as long as the ORB.
    void set_adapter(std::unique_ptr<Adapter> adapter) noexcept
    {
        owned_adapter_ = std::move(adapter);
        adapter_.store(owned_adapter_.get(), std::memory_order_release);
    }
    /// Later requests find no adapter.
    void take_adapter_away() noexcept { adapter_.store(nullptr, std::memory_order_release); }
    /// What requests pass with -ORBConcurrency filter-chain, in this order. Constant once the ORB
    /// serves.
    [[nodiscard]] const std::vector<std::unique_ptr<RequestFilter>>&
    request_filters() const noexcept
    {
        return request_filters_;
    }
    /// Before the ORB serves; false if it does, or has no filter chain.
    [[nodiscard]] bool add_request_filter(std::unique_ptr<RequestFilter> filter);
    /// Whether references say this address of objects here, or one of these within the host.
    [[nodiscard]] bool is_own_address(const ior::Address& address,
                                      const std::vector<LocalWay>& local) const;
    /// Who serves with -ORBConcurrency custom; null if nobody was set. Constant once the ORB
    /// serves.
    [[nodiscard]] RequestDispatcher* request_dispatcher() const noexcept
    {
        return request_dispatcher_.get();
    }
    /// Before the ORB serves; false if it does, or has another architecture.
    [[nodiscard]] bool set_request_dispatcher(std::unique_ptr<RequestDispatcher> dispatcher);
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
    /// What clients connect by. False once the ORB serves.
    [[nodiscard]] bool set_accepted_connections(const TcpProperties& properties);
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

    [[nodiscard]] ConnectionCache& connection_cache() noexcept { return *connection_cache_; }
    [[nodiscard]] ClientConnections& client_connections() noexcept { return client_connections_; }
    /// What looks after oneways that were not sent at once.
    /// What its server keeps for peers.
    [[nodiscard]] Account& account() const noexcept { return *account_; }
    [[nodiscard]] Backlogs& backlogs() const noexcept { return *backlogs_; }
    /// Those that threads share.
    [[nodiscard]] SharedConnections& shared_connections() const noexcept
    {
        return *shared_connections_;
    }

  private:
    ~Orb() override;
    /// Of this process; or null.
    [[nodiscard]] Server* own_server() const noexcept
    {
        return is_served_by_parent() ? nullptr : server_.get();
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
    const std::unique_ptr<ConnectionCache> connection_cache_; // outlives the connections
    ClientConnections client_connections_;
    const std::unique_ptr<Account> account_;
    const std::unique_ptr<Backlogs> backlogs_;
    const std::unique_ptr<SharedConnections> shared_connections_;
    std::vector<std::unique_ptr<RequestFilter>> request_filters_;
    std::unique_ptr<RequestDispatcher> request_dispatcher_;
    LateCalls late_calls_;
    std::atomic<const PriorityMapping*> priority_mapping_{nullptr};
    std::atomic<PriorityTransform*> priority_transform_{nullptr};
    std::unique_ptr<ThreadPools> thread_pools_; // set once
    std::atomic<bool> is_served_by_parent_{false};

    mutable std::mutex mutex_; // guards what follows; never held while calling out
    using EndpointKey =
        std::tuple<std::string, std::uint16_t, std::vector<LocalWay>, const cdr::TextForm*, bool>;
    std::map<EndpointKey, IntrusivePtr<Endpoint>> endpoints_;
    std::unique_ptr<Server> server_; // set once by listen
    bool serving_ = false;
    ForPools for_pools_; ///< what the options do not say
    std::optional<TcpProperties> accepted_connections_;
    BindingPolicies binding_policies_;
    std::vector<std::unique_ptr<const PriorityMapping>> priority_mappings_;
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
