// SPDX-License-Identifier: Apache-2.0
//
// A query on its way: offers that may match, the constraint asked of each, dynamic properties asked
// of whoever has them, and the order that is preferred. Nothing is locked meanwhile. One thread.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/constraints/evaluator.h"
#include "kairos/trading/catalog.h"

#include <chrono>
#include <map>
#include <optional>

namespace kairos::trading {

/// Asks for the dynamic properties of one request: so many, so long, and for so many octets. One
/// for all of the request.
class DynamicCalls {
  public:
    /// Borrows both, which must outlive it. Asks nobody unless it `may_ask`.
    DynamicCalls(CORBA::ORB_ptr orb, const ServiceLimits& limits, bool may_ask = true)
        : orb_(orb), limits_(limits), may_ask_(may_ask), calls_left_(limits.dynamic_calls_max),
          octets_left_(limits.dynamic_octets_max)
    {
    }
    /// Returns the value of a dynamic property; none if it cannot be had, or is of another type.
    [[nodiscard]] std::optional<CORBA::Any> ask(const Offer::Property& property);
    /// Whether some value could not be had because the request had asked for too much.
    [[nodiscard]] bool is_exhausted() const noexcept { return is_exhausted_; }

  private:
    const CORBA::ORB_ptr orb_;
    const ServiceLimits& limits_;
    const bool may_ask_;
    bool is_exhausted_ = false;
    std::size_t calls_left_;
    std::size_t octets_left_;          // of answers
    std::optional<Deadline> deadline_; // from the first call on
};

/// An offer that constraints and preferences are asked of.
class OfferSubject final : public constraints::Subject {
  public:
    /// Borrows the calls.
    OfferSubject(OfferPtr offer, DynamicCalls& calls) : offer_(std::move(offer)), calls_(calls) {}
    [[nodiscard]] constraints::Term find(std::string_view name) const override;
    /// Returns the value as importers see it; null if it cannot be had.
    [[nodiscard]] const CORBA::Any* value(const Offer::Property& property) const;
    [[nodiscard]] const OfferPtr& offer() const noexcept { return offer_; }

  private:
    const OfferPtr offer_;
    DynamicCalls& calls_;
    mutable std::map<const Offer::Property*, std::optional<CORBA::Any>> answers_;
};

/// What an importer's policies come to.
struct SearchPolicies {
    CORBA::ULong search_card = 0;
    CORBA::ULong match_card = 0;
    CORBA::ULong return_card = 0;
    bool is_exact = false;
    bool uses_modifiable = true;
    bool uses_dynamic = true;
};

/// The policy that is said to have ended a query where time or dynamic properties did, too.
inline constexpr const char* search_card = "search_card";

/// Whether an importer's policies let it have such an offer.
[[nodiscard]] bool is_let_through(const Offer& offer, const SearchPolicies& policies);

/// Offers that fulfil a constraint, in no order yet.
struct Matches {
    std::vector<std::unique_ptr<OfferSubject>> subjects;
    bool was_cut = false;      // not all could be looked at
    bool has_all = true;       // else the match_card ended it
    std::size_t evaluated = 0; // offers that the constraint was asked of
};

/// Begins a query: what match_card lets through.
[[nodiscard]] Matches match(const Catalog& catalog, const ServiceType& type,
                            const constraints::Constraint& constraint,
                            const SearchPolicies& policies, const ServiceLimits& limits,
                            DynamicCalls& calls, std::chrono::steady_clock::time_point end);

struct Found {
    std::vector<OfferPtr> offers; // in the order that is preferred
    std::vector<const char*> limits_applied;
    std::size_t evaluated = 0; // offers that the constraint was asked of
};

/// Ends a query: what return_card lets through, in the order that is preferred.
[[nodiscard]] Found ranked(Matches matches, const constraints::Preference& preference,
                           const SearchPolicies& policies, const ServiceLimits& limits,
                           const DynamicCalls& calls, std::chrono::steady_clock::time_point end);

/// Both, for a trader that asks no other.
[[nodiscard]] Found search(const Catalog& catalog, const ServiceType& type,
                           const constraints::Constraint& constraint,
                           const constraints::Preference& preference,
                           const SearchPolicies& policies, const ServiceLimits& limits,
                           DynamicCalls& calls);

/// Sets how long a call by the returned reference may take. Owned by the caller.
[[nodiscard]] CORBA::Object_ptr with_timeout(CORBA::ORB_ptr orb, CORBA::Object_ptr object,
                                             std::chrono::nanoseconds timeout);

} // namespace kairos::trading
