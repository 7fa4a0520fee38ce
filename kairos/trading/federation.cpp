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
#include <type_traits>

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
constexpr std::array<orb::ExceptionType, 10> forward_raises{{
    corba::exception_type<CosTrading::IllegalServiceType>(),
    corba::exception_type<CosTrading::UnknownServiceType>(),
    corba::exception_type<CosTrading::IllegalConstraint>(),
    corba::exception_type<Lookup::IllegalPreference>(),
    corba::exception_type<Lookup::IllegalPolicyName>(),
    corba::exception_type<Lookup::PolicyTypeMismatch>(),
    corba::exception_type<Lookup::InvalidPolicyValue>(),
    corba::exception_type<CosTrading::IllegalPropertyName>(),
    corba::exception_type<CosTrading::DuplicatePropertyName>(),
    corba::exception_type<CosTrading::DuplicatePolicyName>(),
}};
constexpr orb::Operation forward_operation("query", orb::Response::required, forward_raises);
constexpr orb::Operation next_n_operation("next_n");
constexpr orb::Operation destroy_operation("destroy");

/// Returns a reference by which a call to another trader takes so long at most. Owned by the
/// caller.
CORBA::Object_ptr within(const TraderState& state, CORBA::Object_ptr object,
                         std::chrono::nanoseconds time)
{
    const auto hundreds = [](std::chrono::nanoseconds some) {
        return static_cast<TimeBase::TimeT>(std::max<std::int64_t>(some.count() / 100, 1));
    };
    CORBA::Any whole;
    whole <<= hundreds(time);
    CORBA::Any connecting;
    connecting <<=
        hundreds(std::min<std::chrono::nanoseconds>(time, state.limits.link_connect_timeout));
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0] = state.orb()->create_policy(Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE, whole);
    policies[1] =
        state.orb()->create_policy(KairosPolicies::CONNECTION_TIMEOUT_POLICY_TYPE, connecting);
    return object->_set_policy_overrides(policies, CORBA::SET_OVERRIDE);
}

/// Sends a call whose arguments `encode` writes; `object` must outlive it.
template <typename Encode>
std::unique_ptr<orb::DeferredInvocation> sent(CORBA::Object_ptr object,
                                              const orb::Operation& operation, Encode encode)
{
    auto call = std::make_unique<orb::DeferredInvocation>(corba::reference_of(*object), operation);
    {
        // It may have to be sent again when these are gone.
        const cdr::Writer::CopyAll copies(call->out());
        encode(call->out());
    }
    call->send();
    return call;
}

/// What is larger than it may be: it has not been looked at.
struct TooLarge {};

/// Waits for the answer. Throws what the call raises, TooLarge.
void receive(orb::DeferredInvocation& call, std::size_t octets_max)
{
    call.receive();
    if (call.in().unclaimed() > octets_max) throw TooLarge();
}

/// Whether an exception means that nobody is there, or nobody who knows what he says.
bool is_silence(const CORBA::Exception& raised)
{
    const auto is = [&]<typename... Of>(std::type_identity<Of>...) {
        return ((Of::_downcast(&raised) != nullptr) || ...);
    };
    return is(std::type_identity<CORBA::TRANSIENT>(), std::type_identity<CORBA::COMM_FAILURE>(),
              std::type_identity<CORBA::TIMEOUT>(), std::type_identity<CORBA::OBJECT_NOT_EXIST>(),
              std::type_identity<CORBA::INV_OBJREF>(), std::type_identity<CORBA::MARSHAL>(),
              std::type_identity<CORBA::BAD_OPERATION>(), std::type_identity<CORBA::UNKNOWN>());
}

/// How long those are waited for who are so many hops from the last.
std::chrono::nanoseconds time_of(const ServiceLimits& limits, std::size_t hops)
{
    const auto most = std::max<std::int64_t>(limits.hops_time_max.count(), 1);
    const auto each = std::max<std::int64_t>(limits.hop_time.count(), 1);
    const auto count = static_cast<std::int64_t>(std::clamp<std::size_t>(hops, 1, 1'000'000));
    return std::chrono::milliseconds(count > most / each ? most : count * each);
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

/// Whether policies are too large to be passed on.
bool is_too_large(const PolicySeq& policies, const ServiceLimits& limits)
{
    CORBA::Any any;
    any <<= policies;
    return encoded_octets(any) > limits.passed_octets_max;
}

CORBA::ULong hops_of(const Attributes& attributes, const FederationPolicies& asked)
{
    return std::min(asked.hop_count.value_or(attributes.def_hop_count), attributes.max_hop_count);
}

/// What another trader is to tell of each offer: what the importer wants, and what the preference
/// asks for, without which offers of several traders could not be put in one order.
Lookup::SpecifiedProps desired_with(const Lookup::SpecifiedProps& desired,
                                    const constraints::Preference& preference,
                                    const ServiceLimits& limits)
{
    if (desired._d() == Lookup::all) return desired;
    std::set<std::string> names;
    if (desired._d() == Lookup::some)
        for (CORBA::ULong i = 0; i < desired.prop_names().length(); ++i)
            names.emplace(desired.prop_names()[i].in());
    for (const std::string_view name : preference.names())
        if (names.size() < limits.type_properties_max) names.emplace(name);
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

void encode_query(cdr::Writer& out, const ImporterQuery& query, const char* constraint,
                  const PolicySeq& policies, const Lookup::SpecifiedProps& desired,
                  std::size_t how_many)
{
    mapping::encode_string(out, query.type);
    mapping::encode_string(out, constraint);
    mapping::encode_string(out, query.preference);
    mapping::encode(out, policies);
    mapping::encode(out, desired);
    mapping::encode(out, static_cast<CORBA::ULong>(how_many));
}

/// Notes a policy once.
void add_limit(std::string_view policy, const ServiceLimits& bounds,
               std::vector<std::string>& limits)
{
    if (limits.size() < bounds.limits_named_max && policy.size() <= bounds.name_octets_max &&
        std::ranges::find(limits, policy) == limits.end())
        limits.emplace_back(policy);
}

void append_limits(const CosTrading::PolicyNameSeq& names, const ServiceLimits& bounds,
                   std::vector<std::string>& limits)
{
    for (CORBA::ULong i = 0; i < names.length() && i < bounds.limits_named_max; ++i)
        add_limit(names[i].in(), bounds, limits);
}

/// Says when a linked trader is not there any more, and when it is there again.
void note_link(TraderState& state, const std::string& link, bool answers)
{
    if (!state.links.note_answer(link, answers)) return;
    log::Line line;
    line << "trader: the trader behind the link " << link
         << (answers ? " answers again" : " does not answer: queries go on without it");
    log::write_limited(log::Level::warning, std::hash<std::string>()(link), line);
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

OfferPtr ForeignOffers::make(const CosTrading::Offer& offer, std::size_t& octets_left)
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
    if (size > octets_left || size > octets_left_) {
        octets_left = 0;
        return nullptr;
    }
    octets_left -= size;
    octets_left_ -= size;
    auto made = std::make_shared<Offer>();
    made->reference = CORBA::Object::_duplicate(offer.reference.in());
    // Whatever the values are, nobody else is asked for them.
    for (const auto& [name, value] : by_name)
        made->properties.push_back(
            {.name = std::string(name), .value = *value, .is_dynamic = false});
    for (;;) { // as long as iterators that nobody has used for some time can make room
        try {
            made->charge = std::make_unique<const corba::Charge>(state_.foreign_octets, charged);
            break;
        } catch (const CORBA::NO_RESOURCES&) {
            if (!state_.offer_iterations.end_least_used()) throw;
        }
    }
    return made;
}

Taken ForeignOffers::take(const OfferSeq& come, std::size_t count_max, Allowance& allowance)
{
    try {
        for (CORBA::ULong i = 0; i < come.length(); ++i) {
            if (offers.size() >= count_max || allowance.offers == 0) return Taken::enough;
            if (OfferPtr made = make(come[i], allowance.octets)) {
                offers.push_back(std::move(made));
                --allowance.offers;
            }
            if (allowance.octets == 0) return Taken::enough;
        }
    } catch (const CORBA::NO_RESOURCES&) {
        return Taken::enough;
    }
    return Taken::all;
}

Taken ForeignOffers::take(CosTrading::OfferIterator_ptr iterator, std::size_t count_max,
                          Allowance& allowance, Deadline deadline)
{
    Taken taken = Taken::all;
    try {
        for (bool has_more = true; has_more && taken == Taken::all;) {
            const CORBA::Object_var object = within(state_, iterator, *deadline.left());
            const std::size_t wanted = std::clamp<std::size_t>(
                std::min(count_max - std::min(count_max, offers.size()), allowance.offers), 1,
                state_.limits.reply_count_max);
            const auto call = sent(object.in(), next_n_operation, [&](cdr::Writer& out) {
                mapping::encode(out, static_cast<CORBA::ULong>(wanted));
            });
            receive(*call, state_.limits.answer_octets_max);
            CORBA::Boolean says_more = false;
            OfferSeq come;
            mapping::decode(call->in(), says_more);
            mapping::decode(call->in(), come);
            call->finish();
            has_more = says_more && come.length() != 0;
            taken = take(come, count_max, allowance);
        }
        leave(iterator);
    } catch (const TooLarge&) {
        return Taken::broken;
    } catch (const CORBA::Exception&) {
        return Taken::broken; // whoever does not answer ends it when nobody has used it
    }
    return taken;
}

void ForeignOffers::leave(CosTrading::OfferIterator_ptr iterator)
{
    CORBA::Object_var object = within(state_, iterator, state_.limits.link_connect_timeout);
    auto call = sent(object.in(), destroy_operation, [](cdr::Writer&) {});
    left_.emplace_back(std::move(object), std::move(call));
}

ForeignOffers::~ForeignOffers()
{
    // A connection that is closed at once may take the request with it.
    constexpr std::chrono::milliseconds moment{200};
    const Deadline end = Deadline::after(moment);
    try {
        for (auto& [object, call] : left_) {
            while (!call->poll() && !end.has_passed()) {
                const net::Socket* const socket = call->socket();
                if (socket != nullptr) net::wait_any_readable({&socket, 1}, end);
            }
            if (call->poll()) call->receive();
        }
    } catch (const CORBA::Exception&) {
        // It ends by itself then.
    }
}

// --- Asking --------------------------------------------------------------------------------------

Federation::Federation(TraderState& state, const Attributes& attributes, const ImporterQuery& query,
                       const FederationPolicies& asked, const SearchPolicies& wanted,
                       const constraints::Preference& preference)
    : state_(state), attributes_(attributes), query_(query), importer_(asked), wanted_(wanted),
      hops_(hops_of(attributes, asked)), time_(time_of(state.limits, hops_)),
      preference_(preference), request_id_(asked.request_id), foreign_(state)
{
}

void Federation::limit(std::string_view policy) { add_limit(policy, state_.limits, limits_); }

const char* Federation::policy_of(const Asked& asked) noexcept
{
    return asked.proxy != nullptr ? use_proxy_offers : link_follow_rule;
}

bool Federation::may_ask(const char* policy)
{
    if (asking_time_ <= time_ / 2 &&
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
        if (link.rests || is_too_large(policies, state_.limits)) {
            limit(link_follow_rule);
            continue;
        }
        ask({.link = link.name, .proxy = {}, .target = {}, .call = {}, .allowance = {}},
            link.info.target.in(), query_.constraint, policies);
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
        PolicySeq policies = passed_on();
        if (importer_.follow)
            set_policy(policies, link_follow_rule,
                       std::min(*importer_.follow, attributes_.max_follow_policy));
        const PolicySeq& own = proxy->info.policies_to_pass_on;
        for (CORBA::ULong i = 0; i < own.length(); ++i)
            if (std::string_view(own[i].name.in()) != request_id)
                set_policy(policies, own[i].name.in(), own[i].value);
        // Nobody can tell what to ask for, or it was silent a moment ago.
        if (!secondary || Clock::now() < proxy->rests_until.load() ||
            is_too_large(policies, state_.limits)) {
            limit(use_proxy_offers);
            continue;
        }
        ++count;
        has_asked_proxies_ = true;
        ask({.link = {}, .proxy = proxy, .target = {}, .call = {}, .allowance = {}},
            proxy->info.target.in(), secondary->c_str(), policies);
    }
}

void Federation::ask(Asked one, CosTrading::Lookup_ptr target, const char* constraint,
                     const PolicySeq& policies)
{
    if (!has_asked_) desired_ = desired_with(query_.desired, preference_, state_.limits);
    has_asked_ = true;
    one.place = asked_count_++;
    one.allowance = {.offers = wanted_.return_card, .octets = state_.limits.answer_octets_max};
    const auto begin = Clock::now();
    try {
        // It is given up when it has been waited for, which begins after this trader's own search.
        const ServiceLimits& limits = state_.limits;
        one.target =
            within(state_, target, 2 * time_ + 2 * limits.query_time_max + limits.dynamic_time_max);
        one.call = sent(one.target.in(), query_operation, [&](cdr::Writer& out) {
            encode_query(out, query_, constraint, policies, desired_,
                         std::min<std::size_t>(wanted_.return_card, limits.reply_count_max));
        });
        asked_.push_back(std::move(one));
    } catch (const CORBA::Exception&) {
        limit(policy_of(one));
        note_answer(one, false);
    }
    asking_time_ += Clock::now() - begin;
}

// --- Answers -------------------------------------------------------------------------------------

void Federation::note_answer(const Asked& asked, bool answers)
{
    if (asked.proxy == nullptr) return note_link(state_, asked.link, answers);
    if (answers) return;
    asked.proxy->rests_until = Clock::now() + state_.limits.rest_time;
    log::Line line;
    line << "trader: the target of a proxy offer does not answer: a query goes on without it";
    log::write_limited(log::Level::warning, asked.proxy->number, line);
}

void Federation::note_taken(Taken taken, const Asked& asked, std::size_t count_max)
{
    if (taken == Taken::broken) limit(policy_of(asked));
    if (taken == Taken::enough)
        limit(foreign_.offers.size() >= count_max ? match_card : return_card);
}

/// Waits until somebody has answered, or the deadline, or now and then for no reason.
void Federation::wait(Deadline end)
{
    constexpr std::chrono::milliseconds between_looks{20};
    std::vector<const net::Socket*> sockets;
    for (const Asked& asked : asked_)
        if (const net::Socket* const socket = asked.call->socket()) sockets.push_back(socket);
    if (sockets.size() != asked_.size()) return; // one has its answer
    orb::ServingThread* const serving = orb::ThreadStorage::current().serving_thread;
    if (serving == nullptr)
        net::wait_any_readable(sockets, end);
    else
        serving->wait({.socket = *sockets.front()},
                      sockets.size() == 1 ? end : earlier(end, Deadline::after(between_looks)));
}

void Federation::take(Asked& asked, std::size_t count_max, Deadline end)
{
    try {
        receive(*asked.call, state_.limits.answer_octets_max);
        OfferSeq offers;
        CosTrading::OfferIterator_var rest;
        CosTrading::PolicyNameSeq limits;
        mapping::decode(asked.call->in(), offers);
        mapping::decode(asked.call->in(), rest);
        mapping::decode(asked.call->in(), limits);
        asked.call->finish();
        note_answer(asked, true);
        append_limits(limits, state_.limits, limits_);
        const std::size_t before = foreign_.offers.size();
        note_taken(foreign_.take(offers, count_max, asked.allowance), asked, count_max);
        // Whoever has more gets half of the time that is left: others wait, too.
        if (!CORBA::is_nil(rest.in()))
            note_taken(foreign_.take(rest.in(), count_max, asked.allowance,
                                     Deadline::after(*end.left() / 2)),
                       asked, count_max);
        if (asked.proxy != nullptr && foreign_.offers.size() > before) has_proxied_ = true;
    } catch (const Refused&) {
        note_answer(asked, true);
    } catch (const TooLarge&) {
        note_answer(asked, true);
        limit(policy_of(asked));
    } catch (const CORBA::Exception& raised) {
        limit(policy_of(asked));
        note_answer(asked, !is_silence(raised));
    }
    places_.resize(foreign_.offers.size(), asked.place);
}

void Federation::put_in_order()
{
    std::vector<std::size_t> order(places_.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::ranges::stable_sort(order, {}, [this](std::size_t i) { return places_[i]; });
    std::vector<OfferPtr> ordered;
    ordered.reserve(order.size());
    for (const std::size_t i : order)
        ordered.push_back(std::move(foreign_.offers[i]));
    foreign_.offers = std::move(ordered);
}

void Federation::take_until(Deadline end, bool only_proxies, std::size_t count_max)
{
    const auto is_waited_for = [&](const Asked& asked) {
        return !only_proxies || asked.proxy != nullptr;
    };
    for (;;) {
        // Whoever has answered, in any order: who says nothing must not cost others their time.
        bool has_taken = false;
        for (std::size_t i = 0; i < asked_.size();) {
            if (!asked_[i].call->poll()) {
                ++i;
                continue;
            }
            take(asked_[i], count_max, end);
            asked_.erase(asked_.begin() + static_cast<std::ptrdiff_t>(i));
            has_taken = true;
        }
        if (std::ranges::none_of(asked_, is_waited_for) || (!has_taken && end.has_passed())) return;
        if (!has_taken) wait(end);
    }
}

void Federation::collect(bool has_local, std::size_t count_max)
{
    if (!has_local) {
        if (has_asked_proxies_) take_until(Deadline::after(time_ / 2), true, count_max);
        if (!has_proxied_) ask_links(CosTrading::if_no_local);
    }
    if (!has_asked_) return;
    take_until(Deadline::after(time_), false, count_max);
    for (const Asked& asked : asked_) {
        limit(policy_of(asked));
        note_answer(asked, false);
    }
    asked_.clear(); // and their connections: nobody waits for these answers any more
    put_in_order();
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
    if (is_too_large(policies, state.limits))
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "the policies of a query are too large");
    const std::size_t count_max = attributes.max_return_card;
    const Deadline deadline = Deadline::after(state.limits.hops_time_max);
    std::vector<std::string> limits;
    try {
        const CORBA::Object_var object =
            within(state, link->target.in(), state.limits.hops_time_max);
        const auto call = sent(object.in(), forward_operation, [&](cdr::Writer& out) {
            encode_query(out, query, query.constraint, policies, query.desired,
                         std::min(count_max, state.limits.reply_count_max));
        });
        receive(*call, state.limits.answer_octets_max);
        OfferSeq offers;
        CosTrading::OfferIterator_var rest;
        CosTrading::PolicyNameSeq applied;
        mapping::decode(call->in(), offers);
        mapping::decode(call->in(), rest);
        mapping::decode(call->in(), applied);
        call->finish();
        note_link(state, first, true);
        append_limits(applied, state.limits, limits);
        Allowance allowance{.offers = count_max, .octets = state.limits.answer_octets_max};
        Taken taken = found.take(offers, count_max, allowance);
        if (!CORBA::is_nil(rest.in())) {
            const Taken more = found.take(rest.in(), count_max, allowance, deadline);
            if (more != Taken::all) taken = more;
        }
        if (taken == Taken::enough) add_limit(return_card, state.limits, limits);
        if (taken == Taken::broken) add_limit(link_follow_rule, state.limits, limits);
    } catch (const TooLarge&) {
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_MAYBE, "the answer of a trader is too large");
    } catch (const CORBA::SystemException& raised) {
        if (!is_silence(raised)) throw;
        note_link(state, first, false);
        throw Lookup::InvalidPolicyValue(*asked.starting_trader);
    }
    return limits;
}

CosTrading::Register_ptr register_of(const TraderState& state, CosTrading::Lookup_ptr target)
{
    const CORBA::Object_var object = within(state, target, time_of(state.limits, 1));
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
            within(state, next.in(), time_of(state.limits, rest.length()));
        const auto limited = CosTrading::Register_var(Register::_unchecked_narrow(object.in()));
        return limited->resolve(rest);
    } catch (const CORBA::SystemException& raised) {
        if (!is_silence(raised)) throw;
        throw CORBA::TRANSIENT(0, CORBA::COMPLETED_MAYBE,
                               "a trader on the way to this one does not answer");
    }
}

} // namespace kairos::trading
