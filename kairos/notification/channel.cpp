// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/channel.h"

#include "kairos/events/proxy.h"
#include "kairos/notification/stored.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace kairos::notification {
namespace {

using namespace CosNotifyChannelAdmin;

/// What a supplier's thread sends of one event, to all consumers together.
constexpr std::size_t octets_at_once_max = std::size_t{64} << 10;

[[noreturn]] void raise_over()
{
    throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
}

} // namespace

// --- Admins --------------------------------------------------------------------------------------

ProxyID Admin::next_id()
{
    const std::lock_guard lock(mutex_);
    return ++last_;
}

void Admin::note_id(ProxyID id)
{
    const std::lock_guard lock(mutex_);
    last_ = std::max(last_, id);
}

void Admin::enter(ProxyID id, bool pulls, CORBA::Object_ptr proxy)
{
    const std::lock_guard lock(mutex_);
    (pulls ? pulling_ : pushing_)[id] = CORBA::Object::_duplicate(proxy);
}

void Admin::leave(ProxyID id)
{
    const std::lock_guard lock(mutex_);
    pushing_.erase(id);
    pulling_.erase(id);
}

CORBA::Object_ptr Admin::find(ProxyID id) const
{
    const std::lock_guard lock(mutex_);
    for (const Proxies* all : {&pushing_, &pulling_})
        if (const auto found = all->find(id); found != all->end())
            return CORBA::Object::_duplicate(found->second.in());
    throw ProxyNotFound();
}

ProxyIDSeq* Admin::ids(bool that_pull) const
{
    ProxyIDSeq_var ids = new ProxyIDSeq;
    const std::lock_guard lock(mutex_);
    const Proxies& all = that_pull ? pulling_ : pushing_;
    ids->length(static_cast<CORBA::ULong>(all.size()));
    CORBA::ULong at = 0;
    for (const auto& [id, proxy] : all)
        ids[at++] = id;
    return ids._retn();
}

bool Admin::take_in(std::uint64_t number)
{
    const std::lock_guard lock(mutex_);
    if (!has_ended_) numbers_.insert(number);
    return !has_ended_;
}

void Admin::take_out(std::uint64_t number)
{
    const std::lock_guard lock(mutex_);
    numbers_.erase(number);
}

void Admin::end(events::Members& members)
{
    std::set<std::uint64_t> numbers;
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
        numbers.swap(numbers_);
    }
    for (const std::uint64_t number : numbers)
        members.retire(number, true);
    settings_.filters().end(); // now that nobody asks them any more
}

bool goes_on(Admin& admin, Settings& proxy, const Passed& passed)
{
    return goes_on(admin.settings().filters().judge(passed), proxy.filters().judge(passed),
                   admin.both() == AND_OP);
}

// --- The channel ---------------------------------------------------------------------------------

Channel::Channel(ChannelID id, std::string name, const Qos& qos, const AdminProperties& properties,
                 std::shared_ptr<FilterBudget> filters,
                 std::shared_ptr<events::ServiceBudget> budget,
                 std::shared_ptr<events::Couriers> couriers,
                 const events::ServiceAdapters& adapters, std::shared_ptr<Keeper> keeper)
    : Members("notify", std::move(name), filters->limits, std::move(budget), std::move(couriers),
              adapters.others()),
      id_(id), filters_(std::move(filters)), matcher_(std::make_shared<Matcher>(filters_)),
      adapters_(adapters), keeper_(std::move(keeper)), settings_(Level::channel, qos, matcher_),
      types_{std::make_shared<TypeTable>(filters_->limits.side_types_octets_max),
             std::make_shared<TypeTable>(filters_->limits.side_types_octets_max)}
{
    properties_ = properties;
    if (properties.queue_length > 0)
        places_ = std::make_shared<events::Allowance>(properties.queue_length);
}

AdminProperties Channel::properties() const
{
    const std::lock_guard lock(own_mutex_);
    return properties_;
}

/// Events that wait already are not counted by a new limit.
void Channel::change_properties(const CosNotification::AdminProperties& wanted)
{
    const std::lock_guard lock(own_mutex_);
    const CORBA::Long before = properties_.queue_length;
    change(properties_, wanted);
    if (properties_.queue_length == before) return;
    places_ = properties_.queue_length > 0
                  ? std::make_shared<events::Allowance>(properties_.queue_length)
                  : nullptr;
}

/// An event on its way, and whom it is for.
struct Channel::Offer {
    NotificationPtr event;
    Passed passed;
    bool is_full = false;
    std::shared_ptr<const Receptions> all;
    std::vector<std::uint64_t> objects; // of all, in the store; 0: not there
    std::vector<NotificationPtr> kept;  // for those which are
};

struct Channel::Publication {
    explicit Publication(std::shared_ptr<Keeper> keeper, bool waits = true)
        : keeping(std::move(keeper)), gives_at_once(waits)
    {
    }
    std::vector<Offer> offers;
    Keeper::Keeping keeping; // of some of them
    bool gives_at_once;      // what waits for no other
};

void Channel::publish(const CORBA::Any& event, const Source& source)
{
    Publication publication(keeper_);
    take(event, source, publication);
    complete(publication);
}

void Channel::publish(const CosNotification::StructuredEvent& event, const Source& source)
{
    Publication publication(keeper_);
    take(event, source, publication);
    complete(publication);
}

void Channel::publish(const CosNotification::EventBatch& batch, const Source& source)
{
    Publication publication(keeper_);
    std::exception_ptr failure;
    std::size_t taken = 0;
    for (CORBA::ULong i = 0; i < batch.length(); ++i) {
        try {
            take(batch[i], source, publication);
            ++taken;
        } catch (const CORBA::SystemException&) {
            failure = std::current_exception();
        }
    }
    try {
        complete(publication);
    } catch (const CORBA::SystemException&) {
        taken -= static_cast<std::size_t>(std::ranges::count_if(
            publication.offers, [](const Offer& one) { return !one.kept.empty(); }));
        failure = std::current_exception();
    }
    if (!failure) return;
    try {
        std::rethrow_exception(failure);
    } catch (CORBA::SystemException& raised) {
        if (taken != 0) raised.completed(CORBA::COMPLETED_MAYBE); // not to be sent again
        throw;
    }
}

/// Those that are not kept go on where the others cannot be.
void Channel::complete(Publication& publication)
{
    if (publication.offers.empty()) return;
    std::exception_ptr failure;
    try {
        if (!publication.keeping.empty()) keeper_->keep(publication.keeping);
    } catch (const CORBA::SystemException&) {
        failure = std::current_exception();
    }
    for (const Offer& offer : publication.offers)
        if (!failure || offer.kept.empty())
            give(offer);
        else
            note_dropped(offer.all->size());
    if (failure) std::rethrow_exception(failure);
}

Channel::PublicationPtr Channel::begin_to_publish(const CORBA::Any& event, const Source& source,
                                                  const std::function<void()>& over)
{
    auto publication = std::make_shared<Publication>(keeper_, false);
    take(event, source, *publication);
    begin_to_keep(*publication, over);
    return publication;
}

Channel::PublicationPtr Channel::begin_to_publish(const CosNotification::EventBatch& batch,
                                                  CORBA::ULong& next, const Source& source,
                                                  const std::function<void()>& over)
{
    auto publication = std::make_shared<Publication>(keeper_, false);
    CORBA::ULong at = next;
    for (; at < batch.length(); ++at) {
        try {
            take(batch[at], source, *publication);
        } catch (const CORBA::NO_RESOURCES&) {
            if (at == next) throw;
            break;
        } catch (const CORBA::NO_MEMORY&) {
            if (at == next) throw;
            break;
        } catch (const CORBA::SystemException&) { // which is of the event
        }
    }
    begin_to_keep(*publication, over);
    next = at;
    return publication;
}

void Channel::begin_to_keep(Publication& publication, const std::function<void()>& over)
{
    if (!publication.keeping.empty()) keeper_->begin_to_keep(publication.keeping, over);
}

bool Channel::finish(Publication& publication)
{
    if (!publication.keeping.empty() && !keeper_->is_kept(publication.keeping)) return false;
    for (const Offer& offer : publication.offers)
        give(offer);
    publication.offers.clear();
    return true;
}

void Channel::hold(const std::shared_ptr<void>& under_way)
{
    const std::shared_ptr<const Receptions> all = receptions();
    for (const Reception& one : *all)
        static_cast<Subscriber*>(one.receiver)->hold(under_way);
}

template <typename Data>
void Channel::take(const Data& data, const Source& source, Publication& publication)
{
    note_received();
    const std::size_t count = receptions()->size();
    if (count == 0 && !recorder_) return;
    try {
        const Qos qos = source.proxy.qos();
        const auto event = std::make_shared<Notification>(
            data, EventDefaults{.priority = qos.priority, .timeout = duration_of(qos.timeout)});
        if (event->encoded_octets() > own_limits().event_octets_max)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                                   "the event is larger than events may be");
        std::optional<Passed> passed;
        if (recorder_) {
            passed = matcher_->match(*event);
            if (!goes_on(source.admin, source.proxy, *passed) || !record(*event) || count == 0)
                return;
        }
        std::shared_ptr<events::Allowance> places;
        bool rejects = false;
        {
            const std::lock_guard lock(own_mutex_);
            places = places_;
            rejects = properties_.reject_new_events;
        }
        events::Portion place;
        if (places) place = events::Portion(places, 1);
        if (places && !place) {
            expire_all();
            place = events::Portion(places, 1);
        }
        const bool is_full = places && !place;
        if (is_full && rejects)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                                   "as many events wait as may, and new ones are rejected");
        bool is_charged = event->charge(budget().event_octets, place);
        if (!is_charged) {
            expire_all();
            is_charged = event->charge(budget().event_octets, place);
        }
        if (!is_charged)
            throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO,
                                      "as many octets of events wait as may: consumers are slow");
        if (!passed) {
            passed = matcher_->match(*event);
            if (!goes_on(source.admin, source.proxy, *passed)) return;
        }
        pass_on(event, std::move(*passed), is_full, publication);
    } catch (...) {
        note_dropped(count);
        throw;
    }
}

/// What has expired holds no place that another event could have.
void Channel::expire_all()
{
    const std::shared_ptr<const Receptions> all = receptions();
    for (const Reception& one : *all)
        static_cast<Subscriber*>(one.receiver)->expire();
}

/// Whether consumers get it, too.
bool Channel::record(const Notification& event)
{
    FilterPtr filter;
    {
        const std::lock_guard lock(own_mutex_);
        filter = record_filter_;
    }
    return recorder_->take(event.filterable(), !filter || filter->passes(event));
}

void Channel::set_record_filter(FilterPtr filter, CosNotifyFilter::Filter_ptr object)
{
    CosNotifyFilter::Filter_var kept = CosNotifyFilter::Filter::_duplicate(object);
    const std::lock_guard lock(own_mutex_); // what was there goes when it is left
    record_filter_.swap(filter);
    std::swap(record_filter_object_, kept);
}

CosNotifyFilter::Filter_ptr Channel::record_filter() const
{
    const std::lock_guard lock(own_mutex_);
    return CosNotifyFilter::Filter::_duplicate(record_filter_object_.in());
}

/// Nobody has an event before it is in the store of whoever is kept there. Who is not gets it as
/// others that are not persistent. What comes later waits for what came before.
void Channel::pass_on(const NotificationPtr& event, Passed passed, bool is_full,
                      Publication& publication)
{
    Offer offer{.event = event,
                .passed = std::move(passed),
                .is_full = is_full,
                .all = nullptr,
                .objects = {},
                .kept = {}};
    offer.all = receptions();
    if (keeper_ && event->is_persistent(settings_.persists())) {
        std::vector<std::uint64_t> objects;
        offer.objects.resize(offer.all->size());
        for (std::size_t i = 0; i < offer.objects.size(); ++i) {
            const auto* const one = static_cast<Subscriber*>((*offer.all)[i].receiver);
            offer.objects[i] = one->kept_if_wanted(*event, offer.passed);
            if (offer.objects[i] != 0) objects.push_back(offer.objects[i]);
        }
        if (!objects.empty()) offer.kept = publication.keeping.add(event, objects);
    }
    if (publication.gives_at_once && publication.offers.empty() && offer.kept.empty())
        return give(offer);
    publication.offers.push_back(std::move(offer));
}

void Channel::give(const Offer& offer)
{
    std::size_t octets_at_once = octets_at_once_max;
    auto next = offer.kept.begin();
    for (std::size_t i = 0; i < offer.all->size(); ++i) {
        const bool is_kept = !offer.kept.empty() && offer.objects[i] != 0;
        static_cast<Subscriber*>((*offer.all)[i].receiver)
            ->offer(is_kept ? *next++ : offer.event, offer.passed, offer.is_full, octets_at_once);
    }
}

AdminPtr Channel::restore_admin(bool is_consumers, AdminID id, InterFilterGroupOperator both)
{
    const Qos qos = settings_.qos();
    const std::lock_guard lock(own_mutex_);
    if (admins_.size() >= own_limits().admins_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                               "the channel has as many admins as it may have");
    auto admin = std::make_shared<Admin>(id, is_consumers, both, qos, matcher_);
    admins_[{is_consumers, id}] = admin;
    AdminID& last = last_admins_[is_consumers ? 1 : 0];
    last = std::max(last, id + 1);
    return admin;
}

AdminPtr Channel::make_admin(bool is_consumers, InterFilterGroupOperator both)
{
    const Qos qos = settings_.qos();
    const std::lock_guard lock(own_mutex_);
    if (is_over_) raise_over();
    if (admins_.size() >= own_limits().admins_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                               "the channel has as many admins as it may have");
    // The first of each kind is there from the beginning, and has the id 0.
    const AdminID id = last_admins_[is_consumers ? 1 : 0]++;
    auto admin = std::make_shared<Admin>(id, is_consumers, both, qos, matcher_);
    admins_[{is_consumers, id}] = admin;
    return admin;
}

void Channel::end_admin(const AdminPtr& admin)
{
    forget(admin->settings());
    {
        const std::lock_guard lock(own_mutex_);
        if (admins_.erase({admin->is_consumers(), admin->id()}) == 0) raise_over();
    }
    leave_kept(admin->settings());
    admin->end(*this);
    deactivate(admin.get());
}

AdminPtr Channel::find_admin(bool is_consumers, AdminID id) const
{
    const std::lock_guard lock(own_mutex_);
    const auto found = admins_.find({is_consumers, id});
    if (found == admins_.end() || !objects_.contains(found->second.get())) throw AdminNotFound();
    return found->second;
}

AdminIDSeq* Channel::admin_ids(bool is_consumers) const
{
    AdminIDSeq_var ids = new AdminIDSeq;
    const std::lock_guard lock(own_mutex_);
    for (const auto& [key, admin] : admins_) {
        if (key.first != is_consumers || !objects_.contains(admin.get())) continue;
        ids->length(ids->length() + 1);
        ids[ids->length() - 1] = key.second;
    }
    return ids._retn();
}

CORBA::Object_ptr Channel::add_client(const Servant& servant, events::Proxy& proxy,
                                      const PortableServer::ObjectId* id)
{
    if (id != nullptr) return add(servant, proxy, static_cast<std::size_t>(-1), id);
    const bool is_consumers = proxy.is_consumers();
    const AdminProperties now = properties();
    const CORBA::Long max = is_consumers ? now.consumers : now.suppliers;
    PortableServer::ObjectId_var chosen;
    if (adapters_.keeps()) chosen = events::ServiceAdapters::new_id();
    try {
        return add(servant, proxy,
                   max == 0 ? static_cast<std::size_t>(-1) : static_cast<std::size_t>(max),
                   chosen.operator->());
    } catch (const events::TooManyOfKind&) {
        AdminLimitExceeded exceeded;
        exceeded.admin_property_err.name =
            is_consumers ? CosNotification::MaxConsumers : CosNotification::MaxSuppliers;
        exceeded.admin_property_err.value <<= max;
        throw exceeded;
    }
}

CORBA::Object_ptr Channel::activate(const Servant& servant, const void* key,
                                    const PortableServer::ObjectId* id)
{
    return activate(servant, key, nullptr, id);
}

void Channel::activate(const Servant& servant, Admin& admin, const PortableServer::ObjectId* id)
{
    const CORBA::Object_var object = activate(servant, &admin, &admin, id);
}

KairosNotificationStore::Id Channel::id_of(const void* key) const
{
    const std::lock_guard lock(own_mutex_);
    const auto found = objects_.find(key);
    return found == objects_.end() ? KairosNotificationStore::Id() : stored_id(found->second.in());
}

void Channel::set_place(const PortableServer::ObjectId& place)
{
    const std::lock_guard lock(own_mutex_);
    place_ = stored_id(place);
}

CORBA::Object_ptr Channel::activate(const Servant& servant, const void* key, Admin* admin,
                                    const PortableServer::ObjectId* kept)
{
    PortableServer::ObjectId_var id;
    if (kept != nullptr) id = new PortableServer::ObjectId(*kept);
    CORBA::Object_var object = adapters_.activate(servant.in(), id);
    if (admin != nullptr) admin->set_object(object.in());
    {
        const std::lock_guard lock(own_mutex_);
        if (!is_over_) {
            objects_[key] = id._retn();
            return object._retn();
        }
    }
    events::ServiceAdapters::deactivate(adapters_.others(), id);
    raise_over();
}

void Channel::deactivate(const void* key)
{
    PortableServer::ObjectId_var id;
    {
        const std::lock_guard lock(own_mutex_);
        const auto found = objects_.find(key);
        if (found == objects_.end()) return;
        id = found->second._retn();
        objects_.erase(found);
    }
    events::ServiceAdapters::deactivate(adapters_.others(), id);
}

// --- In the store --------------------------------------------------------------------------------

/// It has its key until it has ended: else a change that is made meanwhile would give it another.
template <typename Ended>
void Channel::forget_kept(Ended& ended)
{
    if (!keeper_) return;
    keeper_->save([&ended]() -> std::optional<StoreChange> {
        if (ended.kept() == 0) return std::nullopt;
        return StoreChange{.action = StoreChange::Action::erase_object, .key = ended.kept()};
    });
}

/// Also what such a change has written.
template <typename Ended>
void Channel::leave_kept(Ended& ended) noexcept
{
    if (keeper_) keeper_->forget_later([&ended] { return ended.set_kept(0); });
}

void Channel::forget(Settings& ended) { forget_kept(ended); }
void Channel::forget(Filter& ended)
{
    forget_kept(ended);
    leave_kept(ended);
}
void Channel::forget(MappingFilter& ended)
{
    forget_kept(ended);
    leave_kept(ended);
}

void Channel::save()
{
    if (!keeper_) return;
    keeper_->save([this]() -> std::optional<StoreChange> {
        KairosNotificationStore::Channel state;
        state.number = id_;
        state.name = name().c_str();
        const CosNotification::QoSProperties_var qos = settings_.properties();
        state.qos = qos.in();
        const CosNotification::AdminProperties_var administration = properties_of(properties());
        state.administration = administration.in();
        {
            const std::lock_guard lock(own_mutex_);
            if (is_over_) raise_over();
            state.place = place_;
        }
        state.filter_factory = id_of(this);
        return put_object(settings_.kept(), settings_.kept(), StoredKind::channel, state);
    });
}

void Channel::save(Admin& admin)
{
    if (admin.settings().kept() == 0) return;
    keeper_->save([this, &admin]() -> std::optional<StoreChange> {
        const std::uint64_t key = admin.settings().kept();
        if (key == 0) return std::nullopt; // it has ended since
        KairosNotificationStore::Admin state;
        state.number = admin.id();
        state.is_consumers = admin.is_consumers();
        state.both = admin.both();
        state.place = id_of(&admin);
        state.own = admin.settings().stored();
        return put_object(key, settings_.kept(), StoredKind::admin, state);
    });
}

void Channel::save(Filter& filter)
{
    if (filter.kept() == 0) return;
    keeper_->save([this, &filter]() -> std::optional<StoreChange> {
        const std::uint64_t key = filter.kept();
        if (key == 0) return std::nullopt; // likewise
        KairosNotificationStore::Filter state;
        state.place = id_of(&filter);
        const auto all = filter.list();
        state.constraints.length(static_cast<CORBA::ULong>(all->size()));
        for (CORBA::ULong i = 0; i < state.constraints.length(); ++i)
            state.constraints[i] = (*all)[i]->info;
        state.last_constraint = filter.last();
        return put_object(key, settings_.kept(), StoredKind::filter, state);
    });
}

void Channel::save(MappingFilter& filter)
{
    if (filter.kept() == 0) return;
    keeper_->save([this, &filter]() -> std::optional<StoreChange> {
        const std::uint64_t key = filter.kept();
        if (key == 0) return std::nullopt; // likewise
        KairosNotificationStore::MappingFilter state;
        state.place = id_of(&filter);
        state.default_value = filter.default_value();
        const CosNotifyFilter::MappingConstraintInfoSeq_var all = filter.infos(false);
        state.constraints = all.in();
        state.last_constraint = filter.last();
        return put_object(key, settings_.kept(), StoredKind::mapping_filter, state);
    });
}

KairosNotificationStore::Id stored_id(const PortableServer::ObjectId& id)
{
    KairosNotificationStore::Id stored;
    stored.length(id.length());
    std::copy_n(id.get_buffer(), id.length(), stored.get_buffer());
    return stored;
}

PortableServer::ObjectId id_of_stored(const KairosNotificationStore::Id& stored)
{
    PortableServer::ObjectId id;
    id.length(stored.length());
    std::copy_n(stored.get_buffer(), stored.length(), id.get_buffer());
    return id;
}

void Channel::end_all(bool tells)
{
    std::map<const void*, PortableServer::ObjectId_var> objects;
    std::map<std::pair<bool, AdminID>, AdminPtr> admins;
    {
        const std::lock_guard lock(own_mutex_);
        is_over_ = true;
        objects.swap(objects_);
        admins.swap(admins_);
    }
    end(tells);
    for (auto& [key, admin] : admins)
        admin->end(*this);
    for (auto& [key, id] : objects)
        events::ServiceAdapters::deactivate(adapters_.others(), id);
}

} // namespace kairos::notification
