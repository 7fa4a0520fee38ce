// SPDX-License-Identifier: Apache-2.0
//
// A trader (OMG Trading Object Service 1.0) that knows others, as objects of an ORB: embedded in
// any process by making one of these, or alone as `kairos trade serve`. Types and offers are in
// memory, and in a store where there is one. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/journal.h"
#include "kairos/corba/CORBA.h"
#include "kairos/trading/CosTrading.h"
#include "kairos/trading/CosTradingRepos.h"
#include "kairos/trading/service_limits.h"

#include <cstdint>
#include <memory>

namespace kairos::trading {

class TraderState;

/// What stores of traders are: for kairos::journal::open_store.
inline constexpr JournalKind store_kind{
    .owner = "trader",
    .table = "kairos_trading",
    .application_id = 0x4b725472, // "KrTr"
};

class KAIROS_API TradingService {
  public:
    /// Its objects can be called from now on, the Lookup also as
    /// "corbaloc::host:port/TradingService", and all of them by references that outlive the process
    /// where it has the same address again. The ORB must outlive it. Throws what create_POA throws:
    /// AdapterAlreadyExists for a second one in the same ORB.
    explicit TradingService(CORBA::ORB_ptr orb, const ServiceLimits& limits = {});
    /// Types, offers and what Admin sets are in the store when a client is answered, and those that
    /// it has are there again, offers by the same ids. Traders that share a store have the same
    /// ones. Throws PERSIST_STORE and TRANSIENT, too, where the store cannot be read; IMP_LIMIT and
    /// NO_RESOURCES where it has more than may be.
    TradingService(CORBA::ORB_ptr orb, const ServiceLimits& limits, std::unique_ptr<Journal> store);
    TradingService(const TradingService&) = delete;
    TradingService& operator=(const TradingService&) = delete;
    /// Waits for the calls in progress. Not within a call on one of its objects.
    ~TradingService();

    /// The interface that the others are found by. Owned by the caller.
    [[nodiscard]] CosTrading::Lookup_ptr lookup() const;
    /// How many offers the constraints of all queries were evaluated for: what the index saves.
    [[nodiscard]] std::uint64_t evaluated() const noexcept;

  private:
    const std::unique_ptr<TraderState> state_;
};

} // namespace kairos::trading
