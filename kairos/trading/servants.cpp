// SPDX-License-Identifier: Apache-2.0
//
// The trader's interfaces as servants, but Link and Proxy.
#include "kairos/trading/CosTradingRepos_skel.h"
#include "kairos/trading/CosTrading_skel.h"
#include "kairos/trading/component.h"
#include "kairos/trading/federation.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace kairos::trading {
namespace {

using namespace CosTrading;

// --- What an importer asks for -------------------------------------------------------------------

constraints::Constraint parse_constraint(const char* text, const ServiceLimits& limits)
{
    auto constraint = constraints::Constraint::parse(text, constraints::Language::trader,
                                                     {.size_max = limits.constraint_octets_max});
    if (!constraint) throw IllegalConstraint(text);
    return *constraint;
}

/// Policies one by one, onto what the trader's attributes say.
class PolicyReader {
  public:
    PolicyReader(const Attributes& attributes, const ServiceLimits& limits,
                 SearchPolicies& policies, FederationPolicies& federation)
        : attributes_(attributes), limits_(limits), policies_(policies), federation_(federation)
    {
        policies_.search_card = std::min(attributes.def_search_card, attributes.max_search_card);
        policies_.match_card = std::min(attributes.def_match_card, attributes.max_match_card);
        policies_.return_card = std::min(attributes.def_return_card, attributes.max_return_card);
        policies_.uses_modifiable = attributes.supports_modifiable_properties;
        policies_.uses_dynamic = attributes.supports_dynamic_properties;
    }

    void read(const Policy& policy)
    {
        const std::string_view name = policy.name.in();
        if (!is_name(name)) throw CosTrading::Lookup::IllegalPolicyName(policy.name.in());
        if (!names_.insert(name).second) throw DuplicatePolicyName(policy.name.in());
        if (name == "search_card")
            policies_.search_card =
                std::min(value_of<CORBA::ULong>(policy), attributes_.max_search_card);
        else if (name == "match_card")
            policies_.match_card =
                std::min(value_of<CORBA::ULong>(policy), attributes_.max_match_card);
        else if (name == "return_card")
            policies_.return_card =
                std::min(value_of<CORBA::ULong>(policy), attributes_.max_return_card);
        else if (name == "exact_type_match")
            policies_.is_exact = value_of<CORBA::Boolean>(policy);
        else if (name == "use_modifiable_properties")
            policies_.uses_modifiable =
                value_of<CORBA::Boolean>(policy) && attributes_.supports_modifiable_properties;
        else if (name == "use_dynamic_properties")
            policies_.uses_dynamic =
                value_of<CORBA::Boolean>(policy) && attributes_.supports_dynamic_properties;
        else
            read_of_federations(policy, name);
    }

  private:
    void read_of_federations(const Policy& policy, std::string_view name)
    {
        if (name == "hop_count") {
            federation_.hop_count = value_of<CORBA::ULong>(policy);
        } else if (name == "use_proxy_offers") {
            federation_.uses_proxies = value_of<CORBA::Boolean>(policy);
        } else if (name == "link_follow_rule") {
            federation_.follow = value_of<FollowOption>(policy);
        } else if (name == "request_id") {
            std::string id = request_id_in(policy, limits_);
            if (!id.empty()) federation_.request_id = std::move(id);
        } else if (name == "starting_trader") {
            const TraderName* const start = trader_name_in(policy, limits_);
            if (start->length() == 0) return; // this one
            federation_.starting_trader = &policy;
            federation_.start = start;
        }
        // Names that nobody knows are for others (2.4.1).
    }
    template <typename T>
    static T value_of(const Policy& policy)
    {
        T value{};
        if (!(policy.value >>= value)) throw CosTrading::Lookup::PolicyTypeMismatch(policy);
        return value;
    }
    static bool is_name(std::string_view name)
    {
        return !name.empty() && name.size() <= 255 && std::ranges::all_of(name, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_';
        });
    }

    const Attributes& attributes_;
    const ServiceLimits& limits_;
    SearchPolicies& policies_;
    FederationPolicies& federation_;
    std::set<std::string_view> names_;
};

Selection selection_of(const CosTrading::Lookup::SpecifiedProps& wanted,
                       const ServiceLimits& limits)
{
    Selection selection;
    selection.has_all = wanted._d() == CosTrading::Lookup::all;
    if (wanted._d() != CosTrading::Lookup::some) return selection;
    const PropertyNameSeq& names = wanted.prop_names();
    std::set<std::string_view> seen;
    if (names.length() > limits.type_properties_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "too many properties are wanted");
    for (CORBA::ULong i = 0; i < names.length(); ++i) {
        check_property_name(names[i], limits);
        if (!seen.insert(names[i].in()).second) throw DuplicatePropertyName(names[i]);
        selection.names.emplace_back(names[i].in());
    }
    return selection;
}

// --- Lookup --------------------------------------------------------------------------------------

class LookupServant final : public ImportComponent<POA_CosTrading::Lookup> {
  public:
    using ImportComponent::ImportComponent;

    void query(const char* type, const char* constr, const char* pref, const PolicySeq& policies,
               const CosTrading::Lookup::SpecifiedProps& desired, CORBA::ULong how_many,
               OfferSeq_out offers, OfferIterator_out iterator,
               PolicyNameSeq_out limits_applied) override
    {
        const ServiceLimits& limits = state().limits;
        const Attributes attributes = state().attributes();
        SearchPolicies wanted;
        FederationPolicies asked;
        PolicyReader reader(attributes, limits, wanted, asked);
        for (CORBA::ULong i = 0; i < policies.length(); ++i)
            reader.read(policies[i]);
        const ImporterQuery importer{type, constr, pref, policies, desired};
        iterator = OfferIterator::_nil();
        if (asked.start != nullptr)
            return forward(attributes, importer, asked, how_many, offers, iterator, limits_applied);

        const TypePtr service_type = state().catalog.type(type);
        const constraints::Constraint constraint = parse_constraint(constr, limits);
        const auto preference =
            constraints::Preference::parse(pref, {.size_max = limits.constraint_octets_max});
        if (!preference) throw CosTrading::Lookup::IllegalPreference(pref);
        const auto iteration = std::make_shared<OfferIteration>();
        iteration->selection = selection_of(desired, limits);
        // One that has come back: what is here was found when it came first.
        if (asked.request_id && !state().request_ids.note(*asked.request_id)) {
            offers = new OfferSeq;
            limits_applied = new PolicyNameSeq;
            return;
        }

        DynamicCalls calls = state().dynamic_calls();
        Federation federation(state(), attributes, importer, asked, wanted, *preference);
        federation.ask_always();
        auto end = Clock::now() + limits.query_time_max;
        Matches matches =
            match(state().catalog, *service_type, constraint, wanted, limits, calls, end);
        federation.ask_proxies(*service_type, constraint, calls);
        federation.collect(!matches.subjects.empty(), wanted.match_card - matches.subjects.size());
        if (federation.has_asked()) end = Clock::now() + limits.query_time_max;
        for (OfferPtr& offer : federation.offers())
            matches.subjects.push_back(std::make_unique<OfferSubject>(std::move(offer), calls));
        Found found = ranked(std::move(matches), *preference, wanted, limits, calls, end);
        state().evaluated += found.evaluated;
        iteration->offers = std::move(found.offers);
        const bool was_exhausted = calls.is_exhausted();
        offers = state().portion(iteration->offers, iteration->at, how_many, iteration->selection,
                                 calls);
        const bool has_search_card =
            !found.limits_applied.empty() && found.limits_applied.front() == search_card;
        if (!was_exhausted && calls.is_exhausted() && !has_search_card)
            found.limits_applied.insert(found.limits_applied.begin(), search_card);
        std::vector<std::string> applied(found.limits_applied.begin(), found.limits_applied.end());
        for (const std::string& limit : federation.limits())
            if (std::ranges::find(applied, limit) == applied.end()) applied.push_back(limit);
        limits_applied = to_idl(applied);
        iterator = rest_of(iteration);
    }

  private:
    using Clock = std::chrono::steady_clock;

    /// Answers with what another trader answers.
    void forward(const Attributes& attributes, const ImporterQuery& query,
                 const FederationPolicies& asked, CORBA::ULong how_many, OfferSeq_out offers,
                 OfferIterator_out iterator, PolicyNameSeq_out limits_applied)
    {
        ForeignOffers found(state());
        const std::vector<std::string> applied =
            forward_query(state(), attributes, query, asked, found);
        const auto iteration = std::make_shared<OfferIteration>();
        iteration->selection.has_all = true; // of what that has told
        iteration->offers = std::move(found.offers);
        DynamicCalls calls = state().dynamic_calls();
        offers = state().portion(iteration->offers, iteration->at, how_many, iteration->selection,
                                 calls);
        limits_applied = to_idl(applied);
        iterator = rest_of(iteration);
    }
    [[nodiscard]] OfferIterator_ptr rest_of(const std::shared_ptr<OfferIteration>& iteration)
    {
        if (iteration->at == iteration->offers.size()) return OfferIterator::_nil();
        return corba::numbered_reference<OfferIterator>(state().offer_iterators.in(),
                                                        state().offer_iterations.begin(iteration));
    }
    [[nodiscard]] static PolicyNameSeq* to_idl(const std::vector<std::string>& names)
    {
        PolicyNameSeq_var list = new PolicyNameSeq;
        list->length(static_cast<CORBA::ULong>(names.size()));
        for (CORBA::ULong i = 0; i < list->length(); ++i)
            list[i] = names[i].c_str();
        return list._retn();
    }
};

// --- Register ------------------------------------------------------------------------------------

class RegisterServant final : public Component<POA_CosTrading::Register> {
  public:
    using Component::Component;

    char* _cxx_export(CORBA::Object_ptr reference, const char* type,
                      const PropertySeq& properties) override
    {
        if (CORBA::is_nil(reference)) throw CosTrading::Register::InvalidObjectRef(reference);
        const TypePtr service_type = state().catalog.type(type, true);
        const std::shared_ptr<Offer> offer =
            make_offer(service_type, reference, properties, state().limits, state().octets);
        refuse_dynamic(*offer, properties);
        check_interface(reference, *service_type);
        return state().id_of(state().catalog.add(offer));
    }

    void withdraw(const char* id) override
    {
        if (!state().catalog.withdraw(number_of(id))) throw UnknownOfferId(id);
    }

    CosTrading::Register::OfferInfo* describe(const char* id) override
    {
        const OfferPtr offer = find(id);
        CosTrading::Register::OfferInfo_var info = new CosTrading::Register::OfferInfo;
        info->reference = CORBA::Object::_duplicate(offer->reference.in());
        info->type = offer->type->name.c_str();
        info->properties.length(static_cast<CORBA::ULong>(offer->properties.size()));
        for (CORBA::ULong i = 0; i < info->properties.length(); ++i) {
            info->properties[i].name = offer->properties[i].name.c_str();
            info->properties[i].value = offer->properties[i].value;
        }
        return info._retn();
    }

    void modify(const char* id, const PropertyNameSeq& removed, const PropertySeq& changed) override
    {
        if (!state().attributes().supports_modifiable_properties) throw NotImplemented();
        for (;;) { // again where somebody else was faster
            const OfferPtr offer = find(id);
            const std::shared_ptr<Offer> by =
                trading::modified(*offer, removed, changed, state().limits, state().octets);
            refuse_dynamic(*by, changed);
            if (state().catalog.replace(offer, by)) return;
        }
    }

    void withdraw_using_constraint(const char* type, const char* constr) override
    {
        const TypePtr service_type = state().catalog.type(type);
        const constraints::Constraint constraint = parse_constraint(constr, state().limits);
        SearchPolicies everything;
        everything.search_card = everything.match_card = everything.return_card = 0xFFFF'FFFF;
        everything.uses_dynamic = state().attributes().supports_dynamic_properties;
        DynamicCalls calls = state().dynamic_calls();
        const Found found =
            search(state().catalog, *service_type, constraint, *constraints::Preference::parse(""),
                   everything, state().limits, calls);
        state().evaluated += found.evaluated;
        // What was not looked at, or not asked for, may match or not: rather none than some.
        if (!found.limits_applied.empty())
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                                   "not all offers could be looked at: none is withdrawn");
        if (state().catalog.withdraw(found.offers) == 0)
            throw CosTrading::Register::NoMatchingOffers(constr);
    }

    Register_ptr resolve(const TraderName& name) override
    {
        return resolve_register(state(), name);
    }

  private:
    [[nodiscard]] OfferPtr find(const char* id) const
    {
        OfferPtr offer = state().catalog.find(number_of(id));
        if (offer == nullptr) throw UnknownOfferId(id);
        return offer;
    }
    /// Throws ProxyOfferId, too.
    [[nodiscard]] std::uint64_t number_of(const char* id) const
    {
        const std::optional<std::uint64_t> proxy = state().proxy_number_of(id);
        if (!proxy) return state().number_of(id);
        if (state().proxies.find(*proxy) == nullptr) throw UnknownOfferId(id);
        throw CosTrading::Register::ProxyOfferId(id);
    }

    /// Where the trader has no dynamic properties, none of those that are given may be one; what
    /// an offer had before stays.
    void refuse_dynamic(const Offer& offer, const PropertySeq& given) const
    {
        if (state().attributes().supports_dynamic_properties) return;
        for (CORBA::ULong i = 0; i < given.length(); ++i) {
            const Offer::Property* const property = offer.find(given[i].name.in());
            if (property != nullptr && property->is_dynamic)
                throw PropertyTypeMismatch(offer.type->name.c_str(), given[i]);
        }
    }

    /// Asks the object, unless its reference tells; not where the type's interface is no repository
    /// id, which objects do not know.
    void check_interface(CORBA::Object_ptr reference, const ServiceType& type) const
    {
        const char* const wanted = type.own.if_name.in();
        if (!std::string_view(wanted).starts_with("IDL:")) return;
        try {
            const CORBA::Object_var asked =
                with_timeout(state().orb(), reference, state().limits.interface_timeout);
            if (asked->_is_a(wanted)) return;
        } catch (const CORBA::SystemException&) {
            return; // whoever does not answer may do so later
        }
        throw CosTrading::Register::InterfaceTypeMismatch(type.name.c_str(), reference);
    }
};

// --- Admin ---------------------------------------------------------------------------------------

class AdminServant final : public ImportComponent<POA_CosTrading::Admin> {
  public:
    using ImportComponent::ImportComponent;
    using ULong = CORBA::ULong;

    FollowOption max_link_follow_policy() override
    {
        return state().attributes().max_link_follow_policy;
    }
    CosTrading::Admin::OctetSeq* request_id_stem() override
    {
        return to_idl(state().attributes().request_id_stem);
    }
    ULong set_def_search_card(ULong value) override { return set(&All::def_search_card, value); }
    ULong set_max_search_card(ULong value) override { return set(&All::max_search_card, value); }
    ULong set_def_match_card(ULong value) override { return set(&All::def_match_card, value); }
    ULong set_max_match_card(ULong value) override { return set(&All::max_match_card, value); }
    ULong set_def_return_card(ULong value) override { return set(&All::def_return_card, value); }
    ULong set_max_return_card(ULong value) override { return set(&All::max_return_card, value); }
    ULong set_max_list(ULong value) override { return set(&All::max_list, value); }
    CORBA::Boolean set_supports_modifiable_properties(CORBA::Boolean value) override
    {
        return set(&All::supports_modifiable_properties, static_cast<bool>(value));
    }
    CORBA::Boolean set_supports_dynamic_properties(CORBA::Boolean value) override
    {
        return set(&All::supports_dynamic_properties, static_cast<bool>(value));
    }
    CORBA::Boolean set_supports_proxy_offers(CORBA::Boolean value) override
    {
        return set(&All::supports_proxy_offers, static_cast<bool>(value));
    }
    ULong set_def_hop_count(ULong value) override { return set(&All::def_hop_count, value); }
    ULong set_max_hop_count(ULong value) override { return set(&All::max_hop_count, value); }
    FollowOption set_def_follow_policy(FollowOption policy) override
    {
        return set(&All::def_follow_policy, policy);
    }
    FollowOption set_max_follow_policy(FollowOption policy) override
    {
        return set(&All::max_follow_policy, policy);
    }
    FollowOption set_max_link_follow_policy(FollowOption policy) override
    {
        return set(&All::max_link_follow_policy, policy);
    }
    TypeRepository_ptr set_type_repos(TypeRepository_ptr /*repository*/) override
    {
        throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO, "this trader has its own types");
    }
    CosTrading::Admin::OctetSeq*
    set_request_id_stem(const CosTrading::Admin::OctetSeq& stem) override
    {
        if (stem.length() > state().limits.name_octets_max)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "a request id's stem is too long");
        std::vector<CORBA::Octet> octets;
        for (ULong i = 0; i < stem.length(); ++i)
            octets.push_back(stem[i]);
        return to_idl(set(&All::request_id_stem, octets));
    }

    void list_offers(ULong how_many, OfferIdSeq_out ids, OfferIdIterator_out iterator) override;
    void list_proxies(ULong how_many, OfferIdSeq_out ids, OfferIdIterator_out iterator) override;

  private:
    using All = Attributes;

    void list(bool proxies, ULong how_many, OfferIdSeq_out ids, OfferIdIterator_out iterator);
    template <typename T>
    T set(T Attributes::*attribute, const T& value)
    {
        return state().set(attribute, value);
    }
    static CosTrading::Admin::OctetSeq* to_idl(const std::vector<CORBA::Octet>& octets)
    {
        auto list = std::make_unique<CosTrading::Admin::OctetSeq>();
        list->length(static_cast<ULong>(octets.size()));
        for (ULong i = 0; i < list->length(); ++i)
            (*list)[i] = octets[i];
        return list.release();
    }
};

/// The next ids of all, and whether there are more. Must hold the iteration's mutex.
bool next_ids(const TraderState& state, IdIteration& iteration, std::size_t wanted,
              OfferIdSeq_out& ids)
{
    const std::size_t count = std::min(wanted, state.list_max());
    const std::vector<std::uint64_t> numbers =
        iteration.is_of_proxies ? state.proxies.numbers(iteration.after, iteration.last, count + 1)
                                : state.catalog.numbers(iteration.after, iteration.last, count + 1);
    OfferIdSeq_var list = new OfferIdSeq;
    list->length(static_cast<CORBA::ULong>(std::min(count, numbers.size())));
    for (CORBA::ULong i = 0; i < list->length(); ++i)
        list[i] = iteration.is_of_proxies ? state.proxy_id_of(numbers[i]) : state.id_of(numbers[i]);
    if (list->length() != 0) iteration.after = numbers[list->length() - 1];
    ids = list._retn();
    return numbers.size() > count;
}

void AdminServant::list_offers(ULong how_many, OfferIdSeq_out ids, OfferIdIterator_out iterator)
{
    list(false, how_many, ids, iterator);
}

void AdminServant::list_proxies(ULong how_many, OfferIdSeq_out ids, OfferIdIterator_out iterator)
{
    list(true, how_many, ids, iterator);
}

void AdminServant::list(bool proxies, ULong how_many, OfferIdSeq_out ids,
                        OfferIdIterator_out iterator)
{
    const auto iteration = std::make_shared<IdIteration>(
        proxies ? state().proxies.last_number() : state().catalog.last_number(), proxies);
    iterator = OfferIdIterator::_nil();
    if (next_ids(state(), *iteration, how_many, ids))
        iterator = corba::numbered_reference<OfferIdIterator>(
            state().id_iterators.in(), state().id_iterations.begin(iteration));
}

// --- Iterators -----------------------------------------------------------------------------------

class OfferIteratorServant final : public POA_CosTrading::OfferIterator {
  public:
    explicit OfferIteratorServant(TraderState& state) : state_(state) {}

    CORBA::ULong max_left() override
    {
        const auto iteration = corba::called_thing(state_.offer_iterations);
        const std::lock_guard lock(iteration->mutex);
        return static_cast<CORBA::ULong>(iteration->offers.size() - iteration->at);
    }
    CORBA::Boolean next_n(CORBA::ULong n, OfferSeq_out offers) override
    {
        const auto iteration = corba::called_thing(state_.offer_iterations);
        std::size_t first = 0;
        {
            const std::lock_guard lock(iteration->mutex);
            first = iteration->at;
        }
        // Dynamic properties are asked for: without the lock, and then not by two at once.
        std::size_t at = first;
        DynamicCalls calls = state_.dynamic_calls();
        OfferSeq_var list = state_.portion(iteration->offers, at, n, iteration->selection, calls);
        const std::lock_guard lock(iteration->mutex);
        if (iteration->at != first)
            throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO,
                                       "two threads go on with the same iterator");
        iteration->at = at;
        offers = list._retn();
        return at < iteration->offers.size();
    }
    void destroy() override
    {
        if (!state_.offer_iterations.end(corba::called_number())) corba::raise_no_such_object();
    }

  private:
    TraderState& state_;
};

class IdIteratorServant final : public POA_CosTrading::OfferIdIterator {
  public:
    explicit IdIteratorServant(TraderState& state) : state_(state) {}

    CORBA::ULong max_left() override
    {
        (void)corba::called_thing(state_.id_iterations);
        throw UnknownMaxLeft(); // offers come and go
    }
    CORBA::Boolean next_n(CORBA::ULong n, OfferIdSeq_out ids) override
    {
        const auto iteration = corba::called_thing(state_.id_iterations);
        const std::lock_guard lock(iteration->mutex);
        return next_ids(state_, *iteration, n, ids);
    }
    void destroy() override
    {
        if (!state_.id_iterations.end(corba::called_number())) corba::raise_no_such_object();
    }

  private:
    TraderState& state_;
};

// --- ServiceTypeRepository -----------------------------------------------------------------------

class RepositoryServant final : public POA_CosTradingRepos::ServiceTypeRepository {
  public:
    using Idl = CosTradingRepos::ServiceTypeRepository;

    explicit RepositoryServant(TraderState& state) : state_(state), catalog_(state.catalog) {}

    Idl::IncarnationNumber incarnation() override { return to_idl(catalog_.incarnation()); }
    Idl::IncarnationNumber add_type(const char* name, const char* interface,
                                    const Idl::PropStructSeq& properties,
                                    const Idl::ServiceTypeNameSeq& supers) override
    {
        return to_idl(catalog_.add_type(name, interface, properties, supers));
    }
    void remove_type(const char* name) override { state_.remove_type(name); }
    Idl::ServiceTypeNameSeq* list_types(const Idl::SpecifiedServiceTypes& which) override
    {
        std::uint64_t since = 0;
        if (which._d() == Idl::since)
            since = std::uint64_t{which.incarnation().high} << 32 | which.incarnation().low;
        const std::vector<std::string> names = catalog_.types_since(since);
        auto list = std::make_unique<Idl::ServiceTypeNameSeq>();
        list->length(static_cast<CORBA::ULong>(names.size()));
        for (CORBA::ULong i = 0; i < list->length(); ++i)
            (*list)[i] = names[i].c_str();
        return list.release();
    }
    Idl::TypeStruct* describe_type(const char* name) override
    {
        return new Idl::TypeStruct(catalog_.describe(name, false));
    }
    Idl::TypeStruct* fully_describe_type(const char* name) override
    {
        return new Idl::TypeStruct(catalog_.describe(name, true));
    }
    void mask_type(const char* name) override { catalog_.set_masked(name, true); }
    void unmask_type(const char* name) override { catalog_.set_masked(name, false); }

  private:
    static Idl::IncarnationNumber to_idl(std::uint64_t number)
    {
        Idl::IncarnationNumber made;
        made.high = static_cast<CORBA::ULong>(number >> 32);
        made.low = static_cast<CORBA::ULong>(number);
        return made;
    }

    TraderState& state_;
    Catalog& catalog_;
};

} // namespace

PortableServer::Servant make_lookup_servant(TraderState& state) { return new LookupServant(state); }

PortableServer::Servant make_register_servant(TraderState& state)
{
    return new RegisterServant(state);
}

PortableServer::Servant make_admin_servant(TraderState& state) { return new AdminServant(state); }

PortableServer::Servant make_repository_servant(TraderState& state)
{
    return new RepositoryServant(state);
}

PortableServer::Servant make_offer_iterator_servant(TraderState& state)
{
    return new OfferIteratorServant(state);
}

PortableServer::Servant make_id_iterator_servant(TraderState& state)
{
    return new IdIteratorServant(state);
}

} // namespace kairos::trading
