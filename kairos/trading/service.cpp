// SPDX-License-Identifier: Apache-2.0
#include "kairos/trading/service.h"

#include "kairos/trading/trader_state.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <string_view>

namespace kairos::trading {
namespace {

using PortableServer::ObjectId_var;
using PortableServer::POA_var;

std::string random_run()
{
    std::random_device random;
    std::uint64_t number = std::uint64_t{random()} << 32 | random();
    std::string text;
    for (int i = 0; i < 16; ++i, number >>= 4)
        text += "0123456789abcdef"[number & 15];
    return text + "-";
}

} // namespace

TraderState::TraderState(CORBA::ORB_ptr orb, const ServiceLimits& bounds)
    : limits(bounds), octets(std::make_shared<corba::Octets>(bounds.octets_of_all_max)),
      foreign_octets(std::make_shared<corba::Octets>(bounds.foreign_octets_of_all_max)),
      catalog(limits, octets), links(limits, octets), proxies(limits), request_ids(limits),
      offer_iterations(bounds.iterators_max, bounds.idle_max),
      id_iterations(bounds.iterators_max, bounds.idle_max), orb_(CORBA::ORB::_duplicate(orb)),
      run_(random_run())
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const POA_var root = PortableServer::POA::_narrow(object.in());
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0] = root->create_lifespan_policy(PortableServer::PERSISTENT);
    policies[1] = root->create_id_assignment_policy(PortableServer::USER_ID);
    objects_ = root->create_POA("Trader", PortableServer::POAManager::_nil(), policies);
    try {
        begin();
    } catch (...) {
        destroy_adapters(); // which lead to this
        throw;
    }
}

void TraderState::begin()
{
    offer_iterators =
        corba::make_numbered_poa(objects_.in(), "Offers", make_offer_iterator_servant(*this));
    id_iterators = corba::make_numbered_poa(objects_.in(), "Ids", make_id_iterator_servant(*this));
    activate(lookup_name, make_lookup_servant(*this));
    activate(register_name, make_register_servant(*this));
    activate(admin_name, make_admin_servant(*this));
    activate(link_name, make_link_servant(*this));
    activate(proxy_name, make_proxy_servant(*this));
    activate(repository_name, make_repository_servant(*this));
    const PortableServer::POAManager_var manager = objects_->the_POAManager();
    manager->activate();
    const CORBA::Object_var object = orb_->resolve_initial_references("IORTable");
    const IORTable::Table_var table = IORTable::Table::_narrow(object.in());
    const auto lookup = CosTrading::Lookup_var(this->object<CosTrading::Lookup>(lookup_name));
    const CORBA::String_var reference = orb_->object_to_string(lookup.in());
    try {
        table->bind(lookup_name, reference.in());
        table_ = table;
    } catch (const IORTable::AlreadyBound&) {
        // The program that this trader is part of leads its clients to another one.
    }
}

void TraderState::activate(const char* name, PortableServer::Servant servant)
{
    const PortableServer::Servant_var<PortableServer::ServantBase> owner = servant;
    const ObjectId_var id = PortableServer::string_to_ObjectId(name);
    objects_->activate_object_with_id(id.in(), servant);
}

TraderState::~TraderState()
{
    try {
        if (!CORBA::is_nil(table_.in())) table_->unbind(lookup_name);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, or the program has unbound it.
    }
    destroy_adapters();
}

void TraderState::destroy_adapters() noexcept
{
    try {
        objects_->destroy(true, true);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, and its POAs with it.
    }
}

Attributes TraderState::attributes() const
{
    const std::lock_guard lock(mutex_);
    return attributes_;
}

char* TraderState::id_of(std::uint64_t number) const
{
    return CORBA::string_dup((run_ + std::to_string(number)).c_str());
}

std::uint64_t TraderState::number_of(const char* id) const
{
    const std::string_view text = id;
    const bool has_form = text.size() > run_.size() && text[run_.size() - 1] == '-';
    const std::string_view digits = text.substr(has_form ? run_.size() : text.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size())
        throw CosTrading::IllegalOfferId(id);
    if (!text.starts_with(run_)) throw CosTrading::UnknownOfferId(id);
    return number;
}

namespace {

/// What the ids of proxy offers begin with.
constexpr std::string_view proxy_prefix = "proxy-";

} // namespace

char* TraderState::proxy_id_of(std::uint64_t number) const
{
    const CORBA::String_var id = id_of(number);
    return CORBA::string_dup((std::string(proxy_prefix) + id.in()).c_str());
}

std::optional<std::uint64_t> TraderState::proxy_number_of(const char* id) const
{
    if (!std::string_view(id).starts_with(proxy_prefix)) return std::nullopt;
    try {
        return number_of(id + proxy_prefix.size());
    } catch (const CosTrading::IllegalOfferId&) {
        throw CosTrading::IllegalOfferId(id);
    } catch (const CosTrading::UnknownOfferId&) {
        throw CosTrading::UnknownOfferId(id);
    }
}

std::size_t TraderState::list_max() const
{
    const std::size_t max_list = attributes().max_list;
    return std::max<std::size_t>(std::min(max_list, limits.reply_count_max), 1);
}

DynamicCalls TraderState::dynamic_calls() const
{
    return {orb_.in(), limits, attributes().supports_dynamic_properties};
}

CosTrading::OfferSeq* TraderState::portion(const std::vector<OfferPtr>& offers, std::size_t& at,
                                           std::size_t wanted, const Selection& selection,
                                           DynamicCalls& calls) const
{
    const std::size_t count = std::min({offers.size() - at, wanted, list_max()});
    CosTrading::OfferSeq_var list = new CosTrading::OfferSeq;
    list->length(static_cast<CORBA::ULong>(count));
    std::size_t size = 0;
    CORBA::ULong filled = 0;
    for (; filled < count; ++filled) {
        const OfferPtr& offer = offers[at];
        size += offer->charge->count();
        if (filled != 0 && size > limits.reply_octets_max) break;
        ++at;
        CosTrading::Offer& made = list[filled];
        made.reference = CORBA::Object::_duplicate(offer->reference.in());
        const OfferSubject subject(offer, calls);
        CORBA::ULong places = 0;
        const auto add = [&](const Offer::Property& property) {
            const CORBA::Any* const value = subject.value(property);
            if (value == nullptr) return; // nobody can tell
            made.properties[places].name = property.name.c_str();
            made.properties[places++].value = *value;
        };
        made.properties.length(static_cast<CORBA::ULong>(
            selection.has_all ? offer->properties.size() : selection.names.size()));
        if (selection.has_all)
            for (const Offer::Property& property : offer->properties)
                add(property);
        for (const std::string& name : selection.names)
            if (const Offer::Property* const property = offer->find(name)) add(*property);
        made.properties.length(places);
    }
    list->length(filled);
    return list._retn();
}

TradingService::TradingService(CORBA::ORB_ptr orb, const ServiceLimits& limits)
    : state_(std::make_unique<TraderState>(orb, limits))
{
}

TradingService::~TradingService() = default;

CosTrading::Lookup_ptr TradingService::lookup() const
{
    return state_->object<CosTrading::Lookup>(lookup_name);
}

std::uint64_t TradingService::evaluated() const noexcept { return state_->evaluated; }

} // namespace kairos::trading
