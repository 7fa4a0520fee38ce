// SPDX-License-Identifier: Apache-2.0
//
// Proxy offers as data (CosTrading 1.0, 2.2.6): offers that stand for what another trader has, and
// the recipes by which their constraints are made. Knows nothing of queries. Any thread.
#pragma once

#include "kairos/trading/offer_search.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::trading {

/// Immutable, once it is entered, but for when it rests.
struct ProxyOffer {
    std::uint64_t number = 0;          // from the Proxies
    CosTrading::Proxy::ProxyInfo info; // all that there is to keep of it
    OfferPtr offer;                    // its type and properties, of no object
    /// Its target was silent, and is not asked again before then.
    mutable std::atomic<std::chrono::steady_clock::time_point> rests_until{};
    std::unique_ptr<const corba::Charge> charge;
};
using ProxyPtr = std::shared_ptr<const ProxyOffer>;

/// Makes a proxy offer of what fits the type. Throws CosTrading's and Proxy's exceptions where it
/// does not; IMP_LIMIT, NO_RESOURCES.
[[nodiscard]] std::shared_ptr<ProxyOffer> make_proxy(TypePtr type,
                                                     const CosTrading::Proxy::ProxyInfo& info,
                                                     const ServiceLimits& limits,
                                                     const std::shared_ptr<corba::Octets>& octets);

/// Makes the secondary constraint: the recipe with the importer's constraint for `$*`, the value of
/// a property for `$(name)`, and what is behind any other `$` as it is. Nothing where a value
/// cannot be had or the constraint is too long.
[[nodiscard]] std::optional<std::string> cooked(std::string_view recipe, std::string_view primary,
                                                const OfferSubject& subject,
                                                std::size_t octets_max);

class Proxies {
  public:
    /// Borrows the limits, which must outlive it.
    explicit Proxies(const ServiceLimits& limits) : limits_(limits) {}
    Proxies(const Proxies&) = delete;
    Proxies& operator=(const Proxies&) = delete;

    /// Enters a proxy offer; returns its number. Throws IMP_LIMIT for too many.
    [[nodiscard]] std::uint64_t add(const std::shared_ptr<ProxyOffer>& proxy);
    /// Enters one under the number that it had in an earlier run, which no other gets any more: how
    /// a trader begins that has kept its proxy offers. Throws IMP_LIMIT.
    void put(std::uint64_t number, const std::shared_ptr<ProxyOffer>& proxy);
    /// False if there is none of this number.
    bool withdraw(std::uint64_t number);
    /// Throws IMP_LIMIT where there are as many as may be.
    void require_room() const;
    /// Returns the numbers of those of exactly this type.
    [[nodiscard]] std::vector<std::uint64_t> numbers_of(std::string_view type) const;
    /// Withdraws those of a type that was removed.
    void withdraw_of(std::string_view type);
    /// Null if there is none of this number.
    [[nodiscard]] ProxyPtr find(std::uint64_t number) const;
    /// Returns the numbers of the first ones behind `after`, up to `last`.
    [[nodiscard]] std::vector<std::uint64_t> numbers(std::uint64_t after, std::uint64_t last,
                                                     std::size_t count_max) const;
    [[nodiscard]] std::uint64_t last_number() const;
    /// Returns those of the type, and of those below it unless it is to be `exact`, in the order in
    /// which they were exported.
    [[nodiscard]] std::vector<ProxyPtr> of_type(const ServiceType& type, bool exact) const;

  private:
    void enter(std::uint64_t number, const std::shared_ptr<ProxyOffer>& proxy);

    const ServiceLimits& limits_;
    mutable std::mutex mutex_; // guards what follows; inside Catalog::mutex_; nothing is called
    std::map<std::uint64_t, ProxyPtr> proxies_;
    std::map<std::string, std::map<std::uint64_t, ProxyPtr>, std::less<>> by_type_; // none empty
    std::uint64_t last_number_ = 0;
};

} // namespace kairos::trading
