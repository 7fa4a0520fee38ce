// SPDX-License-Identifier: Apache-2.0
//
// The serving half of an ORB: its server, what that keeps for peers, thread pools, and what
// programs have installed. Requests look at the account only, and that where they are queued. Owned
// by the Orb. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/orb/bidirectional.h"
#include "kairos/orb/datagrams.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/sides.h"
#include "kairos/server/account.h"
#include "kairos/server/filter.h"
#include "kairos/server/request_dispatcher.h"
#include "kairos/server/server.h"
#include "kairos/server/thread_pools.h"

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kairos::orb {

struct Adopted;
class HandoverServer;

class Serving final : public ServerSide {
  public:
    explicit Serving(Orb& orb);

    /// Returns the serving half of this ORB; makes it if there is none yet.
    [[nodiscard]] KAIROS_API static Serving& of(Orb& orb);

    /// Returns a reference to an object of this process; `more` is what its adapter says of it. To
    /// be called after `listen`.
    [[nodiscard]] KAIROS_API ior::Ior
    make_ior(std::string_view type_id, Bytes object_key,
             std::span<const ior::TaggedComponent> more = {}) const;

    // --- before it serves ---
    /// Opens the listening sockets of the options; later calls find that done and do nothing.
    [[nodiscard]] Result<void> listen();
    /// Sees to it that whoever reads requests can hand them over to a thread pool with lanes of
    /// these priorities, or without: with an architecture that does so anyway, or, where none was
    /// asked for and the ORB does not serve yet, with one lane of the server for each lane of the
    /// pools, or else worker-pool. The error says what would help.
    [[nodiscard]] KAIROS_API Result<void> hand_over(std::span<const Priority> lanes);
    /// Sets the properties of the listeners and of clients' connections; returns false once the ORB
    /// serves, and before `listen`.
    [[nodiscard]] KAIROS_API bool set_accepted_connections(const TcpProperties& properties);
    /// Adds a filter behind those there are; returns false if the ORB serves already, or has
    /// another architecture than filter-chain.
    [[nodiscard]] bool add_request_filter(std::unique_ptr<RequestFilter> filter);
    /// Sets who serves with -ORBConcurrency custom; returns false if the ORB serves already, or has
    /// another architecture.
    [[nodiscard]] bool set_request_dispatcher(std::unique_ptr<RequestDispatcher> dispatcher);
    /// Begins to accept connections; later calls find that done and do nothing. Throws NO_RESOURCES
    /// if the system has no threads for it: nobody is served then, and the addresses are given
    /// back.
    void start();

    // --- what serves ---
    /// Returns the filters that requests pass with -ORBConcurrency filter-chain, in this order.
    /// Constant once the ORB serves.
    [[nodiscard]] const std::vector<std::unique_ptr<RequestFilter>>&
    request_filters() const noexcept
    {
        return request_filters_;
    }
    /// Returns who serves with -ORBConcurrency custom; null if nobody was set. Constant once the
    /// ORB serves.
    [[nodiscard]] RequestDispatcher* request_dispatcher() const noexcept
    {
        return request_dispatcher_.get();
    }
    /// Returns the thread pools of Real-Time CORBA.
    [[nodiscard]] ThreadPools& thread_pools() noexcept { return thread_pools_; }
    /// Returns the account of what the server keeps for its peers.
    [[nodiscard]] Account& account() noexcept { return account_; }

    /// Returns what receives datagrams; null before `listen`, and without kairos/datagrams.
    [[nodiscard]] DatagramSide* datagram_side() const noexcept
    {
        const std::lock_guard lock(mutex_);
        return datagrams_.get();
    }

    /// Has this connection read by who reads bidirectional ones. Returns how to call over one that
    /// was made here. Any thread.
    [[nodiscard]] Result<BidirectionalLinkPtr> adopt(Adopted adopted);

    [[nodiscard]] bool listens() const noexcept override;
    [[nodiscard]] bool has_own_way(const WayList& ways) const override;
    bool run() override;
    bool work_pending() override;
    void perform_work() override;
    [[nodiscard]] Result<int> descriptor() override;
    void resume() noexcept override;
    void stop() noexcept override;
    void join() noexcept override;
    void announce_figures() const override;
    [[nodiscard]] Bidirectional& bidirectional() noexcept override { return bidirectional_; }
    [[nodiscard]] std::vector<ior::Address> listen_points() const override;
    [[nodiscard]] Result<IntrusivePtr<BidirectionalLink>> take_over(net::Socket socket) override;
    void lock_for_fork() noexcept override { mutex_.lock(); }
    void unlock_after_fork() noexcept override { mutex_.unlock(); }
    [[nodiscard]] bool leave_to_parent() noexcept override;

  private:
    [[nodiscard]] Result<HandoverServer*> who_adopts();
    [[nodiscard]] Server* beside() const noexcept;
    [[nodiscard]] std::vector<ior::Address> profile_addresses(ior::IiopProfile& profile) const;

    Orb& orb_;
    Account account_;
    Bidirectional bidirectional_;
    std::vector<std::unique_ptr<RequestFilter>> request_filters_;
    std::unique_ptr<RequestDispatcher> request_dispatcher_;
    ThreadPools thread_pools_;

    mutable std::mutex mutex_; // guards what follows, when it changes; never held while calling out
    std::unique_ptr<Server> server_; // set once by listen, and for thread pools before it serves
    std::unique_ptr<DatagramSide> datagrams_; // likewise; null for most
    std::unique_ptr<Server> beside_; // for bidirectional connections; made at need, while serving_
    bool serving_ = false;
    bool stopped_ = false;
    ForPools for_pools_; // what the options do not say
    std::optional<TcpProperties> accepted_connections_;
};

} // namespace kairos::orb
