// SPDX-License-Identifier: Apache-2.0
#include "kairos/trading/federation.h"

#include "kairos/base/log.h"
#include "kairos/corba/KairosPolicies.h"
#include "kairos/corba/Messaging.h"
#include "kairos/corba/invocation.h"
#include "kairos/net/socket.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/orb/thread_storage.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

namespace kairos::trading {
namespace {

using CosTrading::FollowOption;
using CosTrading::OfferSeq;
using CosTrading::Policy;
using CosTrading::PolicySeq;
using CosTrading::TraderName;
using Clock = std::chrono::steady_clock;
using Lookup = CosTrading::Lookup;
using Register = CosTrading::Register;

// --- The call ------------------------------------------------------------------------------------

/// An exception of query's: the other trader has answered, and has no offers.
struct Refused {};

void raise_refused(const orb::ExceptionType& /*type*/, cdr::Reader& /*body*/) { throw Refused(); }

constexpr std::array<orb::ExceptionType, 10> query_raises{{
    {CosTrading::IllegalServiceType::_kairos_id, &raise_refused},
    {CosTrading::UnknownServiceType::_kairos_id, &raise_refused},
    {CosTrading::IllegalConstraint::_kairos_id, &raise_refused},
    {Lookup::IllegalPreference::_kairos_id, &raise_refused},
    {Lookup::IllegalPolicyName::_kairos_id, &raise_refused},
    {Lookup::PolicyTypeMismatch::_kairos_id, &raise_refused},
    {Lookup::InvalidPolicyValue::_kairos_id, &raise_refused},
    {CosTrading::IllegalPropertyName::_kairos_id, &raise_refused},
    {CosTrading::DuplicatePropertyName::_kairos_id, &raise_refused},
    {CosTrading::DuplicatePolicyName::_kairos_id, &raise_refused},
}};
constexpr orb::Operation query_operation("query", orb::Response::required, query_raises);

/// Returns a reference by which a call to another trader ends at the deadline. Owned by the caller.
CORBA::Object_ptr until(const TraderState& state, CORBA::Object_ptr object, Deadline deadline)
{
    const auto left =
        std::max<std::chrono::nanoseconds>(*deadline.left(), std::chrono::nanoseconds(1));
    const auto hundreds = [](std::chrono::nanoseconds time) {
        return static_cast<TimeBase::TimeT>(std::max<std::int64_t>(time.count() / 100, 1));
    };
    CORBA::Any whole;
    whole <<= hundreds(left);
    CORBA::Any connecting;
    connecting <<=
        hundreds(std::min<std::chrono::nanoseconds>(left, state.limits.link_connect_timeout));
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0] = state.orb()->create_policy(Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE, whole);
    policies[1] =
        state.orb()->create_policy(KairosPolicies::CONNECTION_TIMEOUT_POLICY_TYPE, connecting);
    return object->_set_policy_overrides(policies, CORBA::SET_OVERRIDE);
}

/// By when those must have answered who are so many hops from the last.
Deadline deadline_of(const ServiceLimits& limits, std::size_t hops)
{
    const auto most = std::max<std::int64_t>(limits.hops_time_max.count(), 1);
    const auto each = std::max<std::int64_t>(limits.hop_time.count(), 1);
    const auto count = static_cast<std::int64_t>(std::clamp<std::size_t>(hops, 1, 1'000'000));
    return Deadline::after(std::chrono::milliseconds(count > most / each ? most : count * each));
}

// --- Policies ------------------------------------------------------------------------------------

constexpr const char* hop_count = "hop_count";
constexpr const char* link_follow_rule = "link_follow_rule";
constexpr const char* request_id = "request_id";
constexpr const char* starting_trader = "starting_trader";
constexpr const char* use_proxy_offers = "use_proxy_offers";
constexpr const char* match_card = "match_card";
constexpr const char* return_card = "return_card";

template <typename Value>
void set_policy(PolicySeq& policies, const char* name, const Value& value)
{
    CORBA::ULong place = 0;
    while (place < policies.length() && std::string_view(policies[place].name.in()) != name)
        ++place;
    if (place == policies.length()) policies.length(place + 1);
    policies[place].name = name;
    if constexpr (std::is_same_v<Value, CORBA::Any>)
        policies[place].value = value;
    else
        policies[place].value <<= value;
}

/// The policies but those of these names.
PolicySeq without(const PolicySeq& policies, std::initializer_list<std::string_view> names)
{
    PolicySeq others;
    others.length(policies.length());
    CORBA::ULong count = 0;
    for (CORBA::ULong i = 0; i < policies.length(); ++i)
        if (std::ranges::find(names, std::string_view(policies[i].name.in())) == names.end())
            others[count++] = policies[i];
    others.length(count);
    return others;
}

/// Throws IMP_LIMIT for policies that are too large to be passed on.
void check_size(const PolicySeq& policies, const ServiceLimits& limits)
{
    CORBA::Any any;
    any <<= policies;
    if (encoded_octets(any) > limits.passed_octets_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "the policies of a query are too large");
}

CORBA::ULong hops_of(const Attributes& attributes, const FederationPolicies& asked)
{
    return std::min(asked.hop_count.value_or(attributes.def_hop_count), attributes.max_hop_count);
}

/// What another trader is to tell of each offer: what the importer wants, and what the preference
/// asks for, without which offers of several traders could not be put in one order.
Lookup::SpecifiedProps desired_with(const Lookup::SpecifiedProps& desired,
                                    const constraints::Preference& preference)
{
    if (desired._d() == Lookup::all) return desired;
    std::set<std::string> names;
    for (const std::string_view name : preference.names())
        names.emplace(name);
    if (desired._d() == Lookup::some)
        for (CORBA::ULong i = 0; i < desired.prop_names().length(); ++i)
            names.emplace(desired.prop_names()[i].in());
    Lookup::SpecifiedProps both;
    both._d(Lookup::none);
    if (names.empty()) return both;
    CosTrading::PropertyNameSeq list;
    list.length(static_cast<CORBA::ULong>(names.size()));
    CORBA::ULong place = 0;
    for (const std::string& name : names)
        list[place++] = name.c_str();
    both.prop_names(list);
    return both;
}

void append_limits(const CosTrading::PolicyNameSeq& names, const ServiceLimits& bounds,
                   std::vector<std::string>& limits)
{
    for (CORBA::ULong i = 0; i < names.length() && limits.size() < bounds.limits_named_max; ++i) {
        const std::string_view name = names[i].in();
        if (name.size() <= bounds.name_octets_max) limits.emplace_back(name);
    }
}

/// Says once that a linked trader is not there, and once that it is there again.
void note_link(TraderState& state, const std::string& link, bool answers)
{
    if (!state.links.note_answer(link, answers)) return;
    log::Line line;
    line << "trader: the trader behind the link " << link
         << (answers ? " answers again" : " does not answer: queries go on without it");
    log::warning(line);
}

} // namespace

const TraderName* trader_name_in(const Policy& policy, const ServiceLimits& limits)
{
    const TraderName* name = nullptr;
    if (!(policy.value >>= name)) throw Lookup::PolicyTypeMismatch(policy);
    if (name->length() > limits.path_max) throw Lookup::InvalidPolicyValue(policy);
    return name;
}

std::string request_id_in(const Policy& policy, const ServiceLimits& limits)
{
    const CosTrading::Admin::OctetSeq* octets = nullptr;
    if (!(policy.value >>= octets)) throw Lookup::PolicyTypeMismatch(policy);
    if (octets->length() > limits.request_id_octets_max) throw Lookup::InvalidPolicyValue(policy);
    std::string id;
    for (CORBA::ULong i = 0; i < octets->length(); ++i)
        id += static_cast<char>((*octets)[i]);
    return id;
}

// --- Offers of others ----------------------------------------------------------------------------

OfferPtr ForeignOffers::make(const CosTrading::Offer& offer, std::size_t& octets_left) const
{
    constexpr std::size_t octets_beside = 300;
    constexpr std::size_t octets_beside_each = 200;
    if (CORBA::is_nil(offer.reference.in()) ||
        offer.properties.length() > 2 * state_.limits.type_properties_max)
        return nullptr;
    CORBA::Any object;
    object <<= offer.reference.in();
    std::size_t size = encoded_octets(object);
    std::map<std::string_view, const CORBA::Any*> by_name;
    for (CORBA::ULong i = 0; i < offer.properties.length(); ++i) {
        const CosTrading::Property& property = offer.properties[i];
        if (by_name.emplace(property.name.in(), &property.value).second)
            size += std::string_view(property.name.in()).size() + encoded_octets(property.value);
    }
    const std::size_t charged = octets_beside + 2 * size + octets_beside_each * by_name.size();
    if (size > octets_left) {
        octets_left = 0;
        return nullptr;
    }
    octets_left -= size;
    auto made = std::make_shared<Offer>();
    made->reference = CORBA::Object::_duplicate(offer.reference.in());
    // Whatever the values are, nobody else is asked for them.
    for (const auto& [name, value] : by_name)
        made->properties.push_back(
            {.name = std::string(name), .value = *value, .is_dynamic = false});
    made->charge = std::make_unique<const corba::Charge>(state_.octets, charged);
    return made;
}

bool ForeignOffers::take(const OfferSeq& come, std::size_t count_max)
{
    std::size_t octets_left = state_.limits.answer_octets_max;
    try {
        for (CORBA::ULong i = 0; i < come.length(); ++i) {
            if (offers.size() >= count_max) return false;
            if (OfferPtr made = make(come[i], octets_left)) offers.push_back(std::move(made));
            if (octets_left == 0) return false;
        }
    } catch (const CORBA::NO_RESOURCES&) {
        return false;
    }
    return true;
}

bool ForeignOffers::take(CosTrading::OfferIterator_ptr iterator, std::size_t count_max,
                         Deadline deadline)
{
    bool has_all = true;
    try {
        for (bool has_more = true; has_more;) {
            if (offers.size() >= count_max || deadline.has_passed()) {
                has_all = false;
                break;
            }
            const CORBA::Object_var object = until(state_, iterator, deadline);
            const auto limited = CosTrading::OfferIterator_var(
                CosTrading::OfferIterator::_unchecked_narrow(object.in()));
            CosTrading::OfferSeq_var come;
            const std::size_t wanted =
                std::min(count_max - offers.size(), state_.limits.reply_count_max);
            has_more = limited->next_n(static_cast<CORBA::ULong>(wanted), come.out());
            has_all = take(come.in(), count_max);
            if (!has_all || come->length() == 0) break;
        }
        const CORBA::Object_var object = until(state_, iterator, deadline);
        const auto limited = CosTrading::OfferIterator_var(
            CosTrading::OfferIterator::_unchecked_narrow(object.in()));
        limited->destroy();
    } catch (const CORBA::Exception&) {
        return false; // whoever does not answer ends it when nobody has used it for some time
    }
    return has_all;
}

// --- Asking --------------------------------------------------------------------------------------

Federation::Federation(TraderState& state, const Attributes& attributes, const ImporterQuery& query,
                       const FederationPolicies& asked, const SearchPolicies& wanted,
                       const constraints::Preference& preference)
    : state_(state), attributes_(attributes), query_(query), importer_(asked), wanted_(wanted),
      hops_(hops_of(attributes, asked)), deadline_(deadline_of(state.limits, hops_)),
      preference_(preference), request_id_(asked.request_id), foreign_(state)
{
}

void Federation::limit(const char* policy)
{
    if (std::ranges::find(limits_, policy) == limits_.end()) limits_.emplace_back(policy);
}

const char* Federation::policy_of(const Asked& asked) const noexcept
{
    return asked.link.empty() ? use_proxy_offers : link_follow_rule;
}

bool Federation::may_ask(const char* policy)
{
    if (!deadline_.has_passed() &&
        nested_.take(state_.nested_queries, state_.limits.nested_queries_max))
        return true;
    limit(policy);
    return false;
}

PolicySeq Federation::passed_on()
{
    if (!request_id_) {
        const std::vector<CORBA::Octet>& stem = attributes_.request_id_stem;
        request_id_ = state_.request_ids.make(std::string(stem.begin(), stem.end()));
    }
    PolicySeq policies =
        without(query_.policies, {hop_count, link_follow_rule, request_id, starting_trader});
    CosTrading::Admin::OctetSeq id;
    id.length(static_cast<CORBA::ULong>(request_id_->size()));
    for (CORBA::ULong i = 0; i < id.length(); ++i)
        id[i] = static_cast<CORBA::Octet>((*request_id_)[i]);
    set_policy(policies, request_id, id);
    set_policy(policies, hop_count, static_cast<CORBA::ULong>(hops_ == 0 ? 0 : hops_ - 1));
    return policies;
}

void Federation::ask_links(FollowOption when)
{
    for (const Links::Known& link : state_.links.all()) {
        const Following rule = following(link.info, importer_.follow, attributes_.def_follow_policy,
                                         attributes_.max_follow_policy);
        if (rule.when != when) continue;
        if (hops_ == 0) return limit(hop_count);
        if (!may_ask(link_follow_rule)) return;
        PolicySeq policies = passed_on();
        set_policy(policies, link_follow_rule, rule.passed_on);
        check_size(policies, state_.limits);
        ask(link.name, link.info.target.in(), query_.constraint, policies);
    }
}

void Federation::ask_proxies(const ServiceType& type, const constraints::Constraint& constraint,
                             DynamicCalls& calls)
{
    if (!importer_.uses_proxies || !attributes_.supports_proxy_offers) return;
    const auto end = Clock::now() + state_.limits.query_time_max;
    constraints::Evaluator evaluator(state_.limits.work_max);
    std::size_t considered = 0;
    std::size_t count = 0;
    for (const ProxyPtr& proxy : state_.proxies.of_type(type, wanted_.is_exact)) {
        if (++considered > wanted_.search_card || Clock::now() > end) return limit(search_card);
        if (!is_let_through(*proxy->offer, wanted_)) continue;
        const OfferSubject subject(proxy->offer, calls);
        evaluator.look_at(subject);
        if (!proxy->info.if_match_all && !evaluator.evaluate(constraint)) continue;
        if (count == state_.limits.proxies_asked_max) return limit(use_proxy_offers);
        if (!may_ask(use_proxy_offers)) return;
        const std::optional<std::string> secondary =
            cooked(proxy->info.recipe.in(), query_.constraint, subject,
                   state_.limits.constraint_octets_max);
        if (!secondary) { // nobody can tell what to ask for
            limit(use_proxy_offers);
            continue;
        }
        PolicySeq policies = passed_on();
        if (importer_.follow)
            set_policy(policies, link_follow_rule,
                       std::min(*importer_.follow, attributes_.max_follow_policy));
        const PolicySeq& own = proxy->info.policies_to_pass_on;
        for (CORBA::ULong i = 0; i < own.length(); ++i)
            if (std::string_view(own[i].name.in()) != request_id)
                set_policy(policies, own[i].name.in(), own[i].value);
        check_size(policies, state_.limits);
        ++count;
        ask("", proxy->info.target.in(), secondary->c_str(), policies);
    }
}

void Federation::ask(const std::string& link, CosTrading::Lookup_ptr target, const char* constraint,
                     const PolicySeq& policies)
{
    if (!has_asked_) desired_ = desired_with(query_.desired, preference_);
    has_asked_ = true;
    if (link.empty()) has_asked_proxies_ = true;
    Asked one{.link = link, .target = {}, .call = {}};
    try {
        one.target = until(state_, target, deadline_);
        one.call = std::make_unique<orb::DeferredInvocation>(corba::reference_of(*one.target.in()),
                                                             query_operation);
        {
            // It may have to be sent again when these are gone.
            const cdr::Writer::CopyAll copies(one.call->out());
            cdr::Writer& out = one.call->out();
            mapping::encode_string(out, query_.type);
            mapping::encode_string(out, constraint);
            mapping::encode_string(out, query_.preference);
            mapping::encode(out, policies);
            mapping::encode(out, desired_);
            mapping::encode(out, static_cast<CORBA::ULong>(std::min<std::size_t>(
                                     wanted_.return_card, state_.limits.reply_count_max)));
        }
        one.call->send();
        asked_.push_back(std::move(one));
    } catch (const CORBA::Exception&) {
        note_silent(one);
    }
}

// --- Answers -------------------------------------------------------------------------------------

void Federation::note_silent(const Asked& asked)
{
    limit(policy_of(asked));
    if (!asked.link.empty()) return note_link(state_, asked.link, false);
    log::Line line;
    line << "trader: the target of a proxy offer does not answer: a query goes on without it";
    log::write_limited(log::Level::warning, 0, line);
}

void Federation::note_answer(const Asked& asked)
{
    if (!asked.link.empty()) note_link(state_, asked.link, true);
}

/// Waits for the answer of one while what others answer is read, too: one who says nothing must not
/// cost those their time.
void Federation::wait_for(std::size_t place)
{
    constexpr std::chrono::milliseconds between_looks{20};
    while (!asked_[place].call->poll()) {
        std::vector<const net::Socket*> sockets{asked_[place].call->socket()};
        for (std::size_t other = place + 1; other < asked_.size(); ++other)
            if (!asked_[other].call->poll()) sockets.push_back(asked_[other].call->socket());
        if (sockets.front() == nullptr) return;
        const Deadline end = asked_[place].call->deadline();
        orb::ServingThread* const serving = orb::ThreadStorage::current().serving_thread;
        if (serving == nullptr)
            net::wait_any_readable(sockets, end);
        else
            serving->wait({.socket = *sockets.front()},
                          sockets.size() == 1 ? end : earlier(end, Deadline::after(between_looks)));
    }
}

std::size_t Federation::most_of_one(std::size_t count_max) const noexcept
{
    return std::min<std::size_t>(count_max, foreign_.offers.size() + wanted_.return_card);
}

void Federation::take(Asked& asked, std::size_t count_max)
{
    const std::unique_ptr<orb::DeferredInvocation> call = std::move(asked.call);
    try {
        call->receive();
        if (call->in().unclaimed() > state_.limits.answer_octets_max) {
            note_answer(asked);
            return limit(policy_of(asked));
        }
        OfferSeq offers;
        CosTrading::PolicyNameSeq limits;
        mapping::decode(call->in(), offers);
        mapping::decode(call->in(), asked.rest);
        mapping::decode(call->in(), limits);
        call->finish();
        note_answer(asked);
        append_limits(limits, state_.limits, limits_);
        const std::size_t most = most_of_one(count_max);
        if (!foreign_.take(offers, most)) limit(most == count_max ? match_card : return_card);
        if (asked.link.empty() && offers.length() != 0) has_proxied_ = true;
    } catch (const Refused&) {
        note_answer(asked);
    } catch (const CORBA::Exception&) {
        note_silent(asked);
    }
}

void Federation::collect(bool has_local, std::size_t count_max)
{
    if (!has_local && !has_asked_proxies_) ask_links(CosTrading::if_no_local);
    take_all(count_max);
    if (has_local || !has_asked_proxies_ || has_proxied_) return;
    ask_links(CosTrading::if_no_local);
    take_all(count_max);
}

void Federation::take_all(std::size_t count_max)
{
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        wait_for(i);
        take(asked_[i], count_max);
    }
    // Iterators, each for its share of the time that is left.
    std::erase_if(asked_, [](const Asked& asked) { return CORBA::is_nil(asked.rest.in()); });
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        const std::chrono::nanoseconds share =
            *deadline_.left() / static_cast<std::int64_t>(asked_.size() - i);
        const std::size_t most = most_of_one(count_max);
        if (!foreign_.take(asked_[i].rest.in(), most, Deadline::after(share)))
            limit(most == count_max ? match_card : return_card);
    }
    asked_.clear();
}

// --- Along a path --------------------------------------------------------------------------------

std::vector<std::string> forward_query(TraderState& state, const Attributes& attributes,
                                       const ImporterQuery& query, const FederationPolicies& asked,
                                       ForeignOffers& found)
{
    const TraderName& path = *asked.start;
    const std::string first = path[0].in();
    const std::optional<LinkInfo> link = state.links.find(first);
    if (!link) throw Lookup::InvalidPolicyValue(*asked.starting_trader);
    NestedCount nested;
    if (!nested.take(state.nested_queries, state.limits.nested_queries_max))
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "too many queries wait for others");
    PolicySeq policies = without(query.policies, {starting_trader});
    if (path.length() > 1) {
        TraderName rest;
        rest.length(path.length() - 1);
        for (CORBA::ULong i = 0; i < rest.length(); ++i)
            rest[i] = path[i + 1];
        set_policy(policies, starting_trader, rest);
    }
    check_size(policies, state.limits);
    const Deadline deadline =
        deadline_of(state.limits, std::size_t{path.length()} + hops_of(attributes, asked));
    std::vector<std::string> limits;
    CosTrading::OfferSeq_var offers;
    CosTrading::OfferIterator_var rest;
    CosTrading::PolicyNameSeq_var applied;
    const std::size_t count_max = attributes.max_return_card;
    try {
        const CORBA::Object_var object = until(state, link->target.in(), deadline);
        const auto target = CosTrading::Lookup_var(Lookup::_unchecked_narrow(object.in()));
        target->query(query.type, query.constraint, query.preference, policies, query.desired,
                      static_cast<CORBA::ULong>(std::min(count_max, state.limits.reply_count_max)),
                      offers.out(), rest.out(), applied.out());
    } catch (const CORBA::SystemException&) {
        note_link(state, first, false);
        throw Lookup::InvalidPolicyValue(*asked.starting_trader);
    }
    note_link(state, first, true);
    append_limits(applied.in(), state.limits, limits);
    bool has_all = found.take(offers.in(), count_max);
    if (!CORBA::is_nil(rest.in())) has_all = found.take(rest.in(), count_max, deadline) && has_all;
    if (!has_all) limits.emplace_back(return_card);
    return limits;
}

CosTrading::Register_ptr register_of(const TraderState& state, CosTrading::Lookup_ptr target)
{
    const CORBA::Object_var object = until(state, target, deadline_of(state.limits, 1));
    const auto lookup = CosTrading::Lookup_var(Lookup::_unchecked_narrow(object.in()));
    return lookup->register_if();
}

CosTrading::Register_ptr resolve_register(TraderState& state, const TraderName& name)
{
    if (name.length() == 0 || name.length() > state.limits.path_max ||
        !is_link_name(name[0].in(), state.limits))
        throw Register::IllegalTraderName(name);
    const std::optional<LinkInfo> link = state.links.find(name[0].in());
    if (!link) throw Register::UnknownTraderName(name);
    NestedCount nested;
    if (!nested.take(state.nested_queries, state.limits.nested_queries_max))
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "too many queries wait for others");
    try {
        auto next = CosTrading::Register_var(Register::_duplicate(link->target_reg.in()));
        if (CORBA::is_nil(next.in())) {
            next = register_of(state, link->target.in());
            if (CORBA::is_nil(next.in())) throw Register::RegisterNotSupported(name);
            state.links.note_register(name[0].in(), next.in());
        }
        if (name.length() == 1) return next._retn();
        TraderName rest;
        rest.length(name.length() - 1);
        for (CORBA::ULong i = 0; i < rest.length(); ++i)
            rest[i] = name[i + 1];
        const CORBA::Object_var object =
            until(state, next.in(), deadline_of(state.limits, rest.length()));
        const auto limited = CosTrading::Register_var(Register::_unchecked_narrow(object.in()));
        return limited->resolve(rest);
    } catch (const CORBA::SystemException&) {
        throw CORBA::TRANSIENT(0, CORBA::COMPLETED_MAYBE,
                               "a trader on the way to this one does not answer");
    }
}

} // namespace kairos::trading
