// SPDX-License-Identifier: Apache-2.0
#include "kairos/trading/offer_search.h"

#include "kairos/corba/Messaging.h"

#include <algorithm>
#include <chrono>
#include <random>

namespace kairos::trading {
namespace {

using constraints::Preference;
using Clock = std::chrono::steady_clock;

/// Whether somebody could modify what the offer has.
bool is_modifiable(const Offer& offer)
{
    return std::ranges::any_of(offer.properties, [&](const Offer::Property& property) {
        const auto defined = offer.type->properties.find(property.name);
        return defined == offer.type->properties.end() || !defined->second.is_readonly();
    });
}

bool is_dynamic(const Offer& offer)
{
    return std::ranges::any_of(offer.properties, &Offer::Property::is_dynamic);
}

} // namespace

CORBA::Object_ptr with_timeout(CORBA::ORB_ptr orb, CORBA::Object_ptr object,
                               std::chrono::nanoseconds timeout)
{
    CORBA::Any any;
    any <<= static_cast<TimeBase::TimeT>(std::max<std::int64_t>(timeout.count() / 100, 1));
    CORBA::PolicyList policies;
    policies.length(1);
    policies[0] = orb->create_policy(Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE, any);
    return object->_set_policy_overrides(policies, CORBA::SET_OVERRIDE);
}

std::optional<CORBA::Any> DynamicCalls::ask(const Offer::Property& property)
{
    const CosTradingDynamic::DynamicProp* dynamic = nullptr;
    // What is extracted stays in the copy.
    const CORBA::Any copy(property.value); // NOLINT(performance-unnecessary-copy-initialization)
    if (!may_ask_ || !(copy >>= dynamic)) return std::nullopt;
    if (!deadline_) deadline_ = Deadline::after(limits_.dynamic_time_max);
    const auto left = deadline_->at() - Clock::now();
    if (calls_left_ == 0 || left <= left.zero()) {
        is_exhausted_ = true;
        return std::nullopt;
    }
    --calls_left_;
    try {
        const CORBA::Object_var object =
            with_timeout(orb_, dynamic->eval_if.in(),
                         std::min<std::chrono::nanoseconds>(left, limits_.dynamic_timeout));
        const auto evaluator = CosTradingDynamic::DynamicPropEval_var(
            CosTradingDynamic::DynamicPropEval::_unchecked_narrow(object.in()));
        const CORBA::Any_var answer = evaluator->evalDP(
            property.name.c_str(), dynamic->returned_type.in(), dynamic->extra_info);
        const CORBA::TypeCode_var type = answer->type();
        if (!type->equivalent(dynamic->returned_type.in())) return std::nullopt;
        const std::size_t size = encoded_octets(answer.in());
        if (size > octets_left_) {
            is_exhausted_ = true;
            return std::nullopt;
        }
        octets_left_ -= size;
        return answer.in();
    } catch (const CORBA::Exception&) {
        // Whoever does not answer has no such property; who was not given the time may have it.
        if (deadline_->has_passed()) is_exhausted_ = true;
    }
    return std::nullopt;
}

const CORBA::Any* OfferSubject::value(const Offer::Property& property) const
{
    if (!property.is_dynamic) return &property.value;
    auto known = answers_.find(&property);
    if (known == answers_.end()) known = answers_.emplace(&property, calls_.ask(property)).first;
    return known->second ? &*known->second : nullptr;
}

constraints::Term OfferSubject::find(std::string_view name) const
{
    const Offer::Property* const property = offer_->find(name);
    if (property == nullptr) return {};
    const CORBA::Any* const any = value(*property);
    return any == nullptr ? constraints::Term() : constraints::Term(*any);
}

bool is_let_through(const Offer& offer, const SearchPolicies& policies)
{
    return (policies.uses_modifiable || !is_modifiable(offer)) &&
           (policies.uses_dynamic || !is_dynamic(offer));
}

Matches match(const Catalog& catalog, const ServiceType& type,
              const constraints::Constraint& constraint, const SearchPolicies& policies,
              const ServiceLimits& limits, DynamicCalls& calls, Clock::time_point end)
{
    Matches matches;
    const std::vector<constraints::Condition> needs = constraint.conditions();
    const std::vector<OfferPtr> candidates =
        catalog.candidates(type, policies.is_exact, needs, policies.search_card, matches.was_cut);

    constexpr std::size_t between_looks_at_clock = 64;
    constraints::Evaluator evaluator(limits.work_max);
    for (const OfferPtr& offer : candidates) {
        if (matches.subjects.size() == policies.match_card) {
            matches.has_all = false;
            break;
        }
        if (++matches.evaluated % between_looks_at_clock == 0 && Clock::now() > end) {
            matches.was_cut = true;
            break;
        }
        if (!is_let_through(*offer, policies)) continue;
        auto subject = std::make_unique<OfferSubject>(offer, calls);
        evaluator.look_at(*subject);
        if (evaluator.evaluate(constraint)) matches.subjects.push_back(std::move(subject));
    }
    return matches;
}

Found ranked(Matches matches, const Preference& preference, const SearchPolicies& policies,
             const ServiceLimits& limits, const DynamicCalls& calls, Clock::time_point end)
{
    // Random numbers of its own: a generator that all share would have to be locked.
    std::mt19937_64 random(std::random_device{}());
    constraints::Evaluator evaluator(limits.work_max);
    Found found;
    found.evaluated = matches.evaluated;
    std::vector<const constraints::Subject*> subjects;
    subjects.reserve(matches.subjects.size());
    for (const auto& subject : matches.subjects)
        subjects.push_back(subject.get());
    std::vector<std::size_t> places =
        order(preference, subjects, evaluator, random, end, &matches.was_cut);
    if (matches.was_cut || calls.is_exhausted()) found.limits_applied.push_back(search_card);
    if (!matches.has_all) found.limits_applied.push_back("match_card");
    if (places.size() > policies.return_card) {
        places.resize(policies.return_card);
        found.limits_applied.push_back("return_card");
    }
    found.offers.reserve(places.size());
    for (const std::size_t place : places)
        found.offers.push_back(matches.subjects[place]->offer());
    return found;
}

Found search(const Catalog& catalog, const ServiceType& type,
             const constraints::Constraint& constraint, const Preference& preference,
             const SearchPolicies& policies, const ServiceLimits& limits, DynamicCalls& calls)
{
    const auto end = Clock::now() + limits.query_time_max;
    return ranked(match(catalog, type, constraint, policies, limits, calls, end), preference,
                  policies, limits, calls, end);
}

} // namespace kairos::trading
