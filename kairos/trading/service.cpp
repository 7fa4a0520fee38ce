// SPDX-License-Identifier: Apache-2.0
#include "kairos/trading/service.h"

#include "kairos/trading/kept_rows.h"
#include "kairos/trading/trader_state.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <string_view>

namespace kairos::trading {
namespace {

using PortableServer::ObjectId_var;
using PortableServer::POA_var;

std::uint64_t random_number()
{
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
}

} // namespace

TraderState::TraderState(CORBA::ORB_ptr orb, const ServiceLimits& bounds,
                         std::unique_ptr<Journal> journal)
    : limits(bounds), octets(std::make_shared<corba::Octets>(bounds.octets_of_all_max)),
      foreign_octets(std::make_shared<corba::Octets>(bounds.foreign_octets_of_all_max)),
      catalog(limits, octets), links(limits, octets), proxies(limits), request_ids(limits),
      offer_iterations(bounds.iterators_max, bounds.idle_max),
      id_iterations(bounds.iterators_max, bounds.idle_max), orb_(CORBA::ORB::_duplicate(orb)),
      journal_(std::move(journal)),
      run_(corba::row_key("", journal_ ? journal_->identity() : random_number()) + "-")
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
        if (journal_) journal_->end();
        destroy_adapters(); // which lead to this
        throw;
    }
}

void TraderState::begin()
{
    if (journal_) {
        // Who comes before waits until all is there.
        catalog.keep(*journal_, orb_.in());
        corba::raise_unless_done(journal_->begin(*this));
        catalog.note_numbers(journal_->number());
    }
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
    if (journal_) journal_->end();
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

void TraderState::change(const std::function<void(Attributes&)>& make)
{
    if (!journal_) {
        const std::lock_guard lock(mutex_);
        make(attributes_);
        return;
    }
    Attributes changed;
    corba::raise_unless_done(journal_->write(
        [&](JournalChange& rows) {
            changed = attributes();
            make(changed);
            rows.put(attributes_row, row_of(changed));
            return true;
        },
        [&] {
            const std::lock_guard lock(mutex_);
            attributes_ = changed;
            has_kept_attributes_ = true;
        }));
}

void TraderState::write(const std::function<bool(JournalChange&)>& decide,
                        const std::function<void()>& apply)
{
    corba::raise_unless_done(journal_->write(decide, apply));
}

void TraderState::add_link(const char* name, const LinkInfo& info)
{
    if (!journal_) return links.add(name, info);
    const auto charge = links.charge_of(info);
    const std::string row = row_of(info, orb_.in());
    write(
        [&](JournalChange& rows) {
            if (links.find(name)) throw CosTrading::Link::DuplicateLinkName(name);
            if (links.names().size() >= limits.links_max)
                throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                                       "the trader has as many links as it may");
            rows.put(link_key(name), row);
            return true;
        },
        [&] { links.put(name, info, charge); });
}

void TraderState::modify_link(const char* name, CosTrading::FollowOption def_pass_on,
                              CosTrading::FollowOption limiting)
{
    if (!journal_) return links.modify(name, def_pass_on, limiting);
    write(
        [&](JournalChange& rows) {
            std::optional<LinkInfo> info = links.find(name);
            if (!info) throw CosTrading::Link::UnknownLinkName(name);
            info->def_pass_on_follow_rule = def_pass_on;
            info->limiting_follow_rule = limiting;
            rows.put(link_key(name), row_of(*info, orb_.in()));
            return true;
        },
        [&] { links.modify(name, def_pass_on, limiting); });
}

void TraderState::remove_link(const char* name)
{
    if (!journal_) return links.remove(name);
    write(
        [&](JournalChange& rows) {
            if (!links.find(name)) throw CosTrading::Link::UnknownLinkName(name);
            rows.erase(link_key(name));
            return true;
        },
        [&] { links.remove(name); });
}

/// Whether it is there still, and not another one of its name.
bool TraderState::is_known(const ServiceType& type) const
{
    try {
        return catalog.type(type.name.c_str()).get() == &type;
    } catch (const CosTrading::UnknownServiceType&) {
        return false;
    }
}

std::uint64_t TraderState::add_proxy(const std::shared_ptr<ProxyOffer>& proxy)
{
    const ServiceType& type = *proxy->offer->type;
    std::uint64_t number = 0;
    if (!journal_) {
        number = proxies.add(proxy);
        if (is_known(type)) return number;
        proxies.withdraw(number); // its type was removed, and its proxy offers before this
        throw CosTrading::UnknownServiceType(type.name.c_str());
    }
    const std::string row = row_of(proxy->info, orb_.in());
    write(
        [&](JournalChange& rows) {
            if (!is_known(type)) throw CosTrading::UnknownServiceType(type.name.c_str());
            proxies.require_room();
            number = rows.number();
            rows.put(proxy_key(number), row);
            return true;
        },
        [&] { proxies.put(number, proxy); });
    return number;
}

bool TraderState::withdraw_proxy(std::uint64_t number)
{
    if (!journal_) return proxies.withdraw(number);
    bool is_there = false;
    write(
        [&](JournalChange& rows) {
            is_there = proxies.find(number) != nullptr;
            if (is_there) rows.erase(proxy_key(number));
            return is_there;
        },
        [&] { proxies.withdraw(number); });
    return is_there;
}

void TraderState::remove_type(const char* name)
{
    catalog.remove_type(
        name,
        [&](JournalChange& rows) {
            for (const std::uint64_t number : proxies.numbers_of(name))
                rows.erase(proxy_key(number));
        },
        [&] { proxies.withdraw_of(name); });
}

// --- What a journal's rows become ----------------------------------------------------------------

bool TraderState::put(std::string_view key, std::string_view value)
{
    if (key == attributes_row) {
        const auto kept = kept_attributes(value);
        if (!kept || kept->request_id_stem.size() > limits.name_octets_max) return false;
        const std::lock_guard lock(mutex_);
        attributes_ = *kept;
        has_kept_attributes_ = true;
        return true;
    }
    if (const auto incarnation = corba::take_number(key, type_rows)) {
        const auto kept = kept_type(value, orb_.in());
        return kept && key.empty() &&
               catalog.restore_type(*incarnation, kept->name.c_str(), kept->type);
    }
    if (key.starts_with(link_rows)) {
        const std::string name(key.substr(std::string_view(link_rows).size()));
        const auto kept = kept_link(value, orb_.in());
        if (!kept || !is_link_name(name, limits) || CORBA::is_nil(kept->target.in())) return false;
        links.put(name, *kept);
        return true;
    }
    if (const auto proxy = corba::take_number(key, proxy_rows))
        return key.empty() && put_proxy(*proxy, value);
    const auto number = corba::take_number(key, offer_rows);
    const auto kept = kept_offer(value, orb_.in());
    return number && kept && key.empty() &&
           catalog.restore_offer(*number, kept->type, kept->reference.in(), kept->properties);
}

bool TraderState::put_proxy(std::uint64_t number, std::string_view value)
{
    const auto kept = kept_proxy(value, orb_.in());
    if (!kept || number == 0) return false;
    try {
        const TypePtr type = catalog.type(kept->type.in());
        const std::shared_ptr<ProxyOffer> proxy = make_proxy(type, *kept, limits, octets);
        proxies.withdraw(number);
        proxies.put(number, proxy);
        return true;
    } catch (const CORBA::UserException&) {
        return false; // its type is not there, or does not allow it
    }
}

void TraderState::erase(std::string_view key)
{
    if (key.starts_with(link_rows)) {
        const std::string name(key.substr(std::string_view(link_rows).size()));
        if (links.find(name)) links.remove(name.c_str());
        return;
    }
    if (const auto proxy = corba::take_number(key, proxy_rows)) {
        proxies.withdraw(*proxy);
        return;
    }
    if (const auto incarnation = corba::take_number(key, type_rows))
        catalog.forget_type(*incarnation);
    else if (const auto number = corba::take_number(key, offer_rows))
        catalog.forget_offer(*number);
    if (key != attributes_row) return;
    const std::lock_guard lock(mutex_);
    attributes_ = Attributes();
    has_kept_attributes_ = false;
}

std::vector<std::string> TraderState::keys() const
{
    std::vector<std::string> all;
    {
        const std::lock_guard lock(mutex_);
        if (has_kept_attributes_) all.emplace_back(attributes_row);
    }
    for (const std::uint64_t incarnation : catalog.all_incarnations())
        all.push_back(type_key(incarnation));
    for (const std::uint64_t number : catalog.all_numbers())
        all.push_back(offer_key(number));
    for (const std::string& name : links.names())
        all.push_back(link_key(name));
    for (const std::uint64_t number : proxies.numbers(0, proxies.last_number(), limits.proxies_max))
        all.push_back(proxy_key(number));
    return all;
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
    : TradingService(orb, limits, nullptr)
{
}

TradingService::TradingService(CORBA::ORB_ptr orb, const ServiceLimits& limits,
                               std::unique_ptr<Journal> store)
    : state_(std::make_unique<TraderState>(orb, limits, std::move(store)))
{
}

TradingService::~TradingService() = default;

CosTrading::Lookup_ptr TradingService::lookup() const
{
    return state_->object<CosTrading::Lookup>(lookup_name);
}

std::uint64_t TradingService::evaluated() const noexcept { return state_->evaluated; }

} // namespace kairos::trading
