// SPDX-License-Identifier: Apache-2.0
//
// What other traders have for a query: those behind links, and behind proxy offers. All are asked
// at once, waited for together and not for long; whatever they answer is bounded. Nothing is locked
// while they are asked. One thread, for one query.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/client/deferred.h"
#include "kairos/trading/trader_state.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kairos::trading {

/// The policies of an importer that are about other traders; the pointers are into these.
struct FederationPolicies {
    std::optional<CORBA::ULong> hop_count;
    std::optional<CosTrading::FollowOption> follow;
    std::optional<std::string> request_id;
    const CosTrading::Policy* starting_trader = nullptr;
    const CosTrading::TraderName* start = nullptr; // what that says; has a name at least
    bool uses_proxies = true;
};

/// A query as an importer made it. Borrows all.
struct ImporterQuery {
    const char* type;
    const char* constraint;
    const char* preference;
    const CosTrading::PolicySeq& policies;
    const CosTrading::Lookup::SpecifiedProps& desired;
};

/// Reads how a policy names a trader. Throws PolicyTypeMismatch, InvalidPolicyValue.
[[nodiscard]] const CosTrading::TraderName* trader_name_in(const CosTrading::Policy& policy,
                                                           const ServiceLimits& limits);
/// Reads a request id. Throws PolicyTypeMismatch, InvalidPolicyValue.
[[nodiscard]] std::string request_id_in(const CosTrading::Policy& policy,
                                        const ServiceLimits& limits);

/// A count of those queries of a trader that wait for others; it is there as long as one does.
class NestedCount {
  public:
    NestedCount() noexcept = default;
    NestedCount(const NestedCount&) = delete;
    NestedCount& operator=(const NestedCount&) = delete;
    ~NestedCount()
    {
        if (of_ != nullptr) --*of_;
    }
    /// False where there are as many as may be.
    [[nodiscard]] bool take(std::atomic<std::size_t>& of, std::size_t max) noexcept
    {
        if (of_ != nullptr) return true;
        if (++of > max) {
            --of;
            return false;
        }
        of_ = &of;
        return true;
    }

  private:
    std::atomic<std::size_t>* of_ = nullptr;
};

/// What came of taking another trader's offers.
enum class Taken : std::uint8_t {
    all,    ///< of what it has
    enough, ///< of them; there are more, or larger ones
    broken, ///< it did not answer, or nonsense
};

/// What one of the other traders may give yet.
struct Allowance {
    std::size_t offers;
    std::size_t octets;
};

/// Offers of other traders for one query, as many as they may be.
class ForeignOffers {
  public:
    explicit ForeignOffers(TraderState& state)
        : state_(state), octets_left_(state.limits.foreign_octets_max)
    {
    }
    ForeignOffers(const ForeignOffers&) = delete;
    ForeignOffers& operator=(const ForeignOffers&) = delete;
    /// Tells those iterators that were left that nobody needs them, and waits a moment for all.
    ~ForeignOffers();

    /// Takes offers of a trader, `count_max` at most with those of others.
    [[nodiscard]] Taken take(const CosTrading::OfferSeq& come, std::size_t count_max,
                             Allowance& allowance);
    /// Takes what an iterator has, until the deadline. It is asked once at least: only what has
    /// answered as an iterator does is destroyed.
    [[nodiscard]] Taken take(CosTrading::OfferIterator_ptr iterator, std::size_t count_max,
                             Allowance& allowance, Deadline deadline);
    std::vector<OfferPtr> offers;

  private:
    /// Null for an offer that is none, or too large: then no octets are left. Throws NO_RESOURCES.
    [[nodiscard]] OfferPtr make(const CosTrading::Offer& offer, std::size_t& octets_left);
    void leave(CosTrading::OfferIterator_ptr iterator);

    TraderState& state_;
    std::size_t octets_left_; // for all traders together
    /// Calls of destroy that are under way, and what they refer to.
    std::vector<std::pair<CORBA::Object_var, std::unique_ptr<orb::DeferredInvocation>>> left_;
};

class Federation {
  public:
    /// Borrows all, which must outlive it.
    Federation(TraderState& state, const Attributes& attributes, const ImporterQuery& query,
               const FederationPolicies& asked, const SearchPolicies& wanted,
               const constraints::Preference& preference);

    /// Asks the traders behind those links that are always followed.
    void ask_always() { ask_links(CosTrading::always); }
    /// Asks the targets of those proxy offers that match.
    void ask_proxies(const ServiceType& type, const constraints::Constraint& constraint,
                     DynamicCalls& calls);
    /// Waits for all that were asked, from now on, and takes their offers, `count_max` at most.
    /// Unless this trader has offers itself, those of proxies counted, so it asks the traders
    /// behind the links that are followed only then; for proxies it waits half as long then.
    void collect(bool has_local, std::size_t count_max);

    [[nodiscard]] bool has_asked() const noexcept { return has_asked_; }
    [[nodiscard]] std::vector<OfferPtr>& offers() noexcept { return foreign_.offers; }
    /// The policies that have limited what others found, or what was asked of them; each once.
    [[nodiscard]] const std::vector<std::string>& limits() const noexcept { return limits_; }

  private:
    /// One that was asked.
    struct Asked {
        std::string link;         // empty: a proxy offer
        ProxyPtr proxy;           // null: a link
        CORBA::Object_var target; // which the call refers to
        std::unique_ptr<orb::DeferredInvocation> call;
        Allowance allowance;
        std::size_t place = 0; // in which order they were asked
    };

    void ask_links(CosTrading::FollowOption when);
    /// Takes what has come until the deadline, or until nobody is left who is waited for: all, or
    /// the proxies alone.
    void take_until(Deadline end, bool only_proxies, std::size_t count_max);
    void limit(std::string_view policy);
    [[nodiscard]] static const char* policy_of(const Asked& asked) noexcept;
    /// Whether another trader may be asked; notes the limit where not.
    [[nodiscard]] bool may_ask(const char* policy);
    void ask(Asked one, CosTrading::Lookup_ptr target, const char* constraint,
             const CosTrading::PolicySeq& policies);
    /// The importer's policies without those that are this trader's to set, and then the request's
    /// id and the hops that are left.
    [[nodiscard]] CosTrading::PolicySeq passed_on();
    void wait(Deadline end);
    void take(Asked& asked, std::size_t count_max, Deadline end);
    /// Has the offers in the order in which traders were asked, whoever was faster.
    void put_in_order();
    void note_taken(Taken taken, const Asked& asked, std::size_t count_max);
    void note_answer(const Asked& asked, bool answers);

    TraderState& state_;
    const Attributes& attributes_;
    const ImporterQuery& query_;
    const FederationPolicies& importer_;
    const SearchPolicies& wanted_;
    const CORBA::ULong hops_;
    const std::chrono::nanoseconds time_; // that others are waited for
    const constraints::Preference& preference_;
    CosTrading::Lookup::SpecifiedProps desired_; // once it has asked
    NestedCount nested_;
    std::optional<std::string> request_id_;
    bool has_asked_ = false;
    bool has_asked_proxies_ = false;
    bool has_proxied_ = false;               // proxy offers have brought some
    std::chrono::nanoseconds asking_time_{}; // which connections took
    std::size_t asked_count_ = 0;
    std::vector<Asked> asked_;
    ForeignOffers foreign_;
    std::vector<std::size_t> places_; // of those that the offers are of
    std::vector<std::string> limits_;
};

/// Has another trader answer a query: the one that the path leads to. Throws what that throws, and
/// InvalidPolicyValue where the path leads nowhere. Returns the policies that have limited it.
[[nodiscard]] std::vector<std::string>
forward_query(TraderState& state, const Attributes& attributes, const ImporterQuery& query,
              const FederationPolicies& asked, ForeignOffers& found);

/// Returns the Register of the trader that the path leads to. Throws Register's exceptions;
/// TRANSIENT where a trader on the way does not answer. Owned by the caller.
[[nodiscard]] CosTrading::Register_ptr resolve_register(TraderState& state,
                                                        const CosTrading::TraderName& name);
/// Returns the Register that a trader says it has, perhaps nil. Owned by the caller. Throws system
/// exceptions.
[[nodiscard]] CosTrading::Register_ptr register_of(const TraderState& state,
                                                   CosTrading::Lookup_ptr target);

} // namespace kairos::trading
