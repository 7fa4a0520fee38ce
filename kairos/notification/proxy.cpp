// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/proxy.h"

#include "kairos/notification/stored.h"

#include <algorithm>
#include <string_view>

namespace kairos::notification {
namespace {

Line line_of(const ChannelPtr& channel, const AdminPtr& admin)
{
    return {.channel = channel,
            .admin = admin,
            .settings = std::make_shared<Settings>(Level::proxy, admin->settings().qos(),
                                                   channel->matcher())};
}

} // namespace

NotifyProxy::NotifyProxy(const ChannelPtr& channel, const AdminPtr& admin, const ProxyKind& kind)
    : Proxy(channel), line_(line_of(channel, admin)), kind_(kind),
      fetched_(kind.is_consumers && kind.pulls ? make_intrusive<PullReceiver>(line_)
                                               : IntrusivePtr<PullReceiver>())
{
}

void NotifyProxy::connect_client(CORBA::Object_ptr client)
{
    if (kind_.is_consumers != kind_.pulls) events::require_client(*line_.channel, client);
    if (!line_.channel->keeper()) return make_connection(client);
    keep_connection(client);
    try {
        make_connection(client);
    } catch (...) {
        end_connecting();
        throw;
    }
    const std::lock_guard lock(mutex_);
    is_connecting_ = false;
}

/// The store has it before the client is called: where it cannot have it nothing has happened.
void NotifyProxy::keep_connection(CORBA::Object_ptr client)
{
    {
        const std::lock_guard lock(mutex_);
        if (is_connecting_ || is_connected()) throw CosEventChannelAdmin::AlreadyConnected();
        is_connecting_ = true;
        client_ = CORBA::Object::_duplicate(client);
    }
    try {
        keep_state();
    } catch (...) {
        const std::lock_guard lock(mutex_);
        is_connecting_ = false;
        client_ = CORBA::Object::_nil();
        throw;
    }
}

/// There is no connection, whatever the store can be told of that.
void NotifyProxy::end_connecting() noexcept
{
    try {
        {
            const std::lock_guard lock(mutex_);
            is_connecting_ = false;
            client_ = CORBA::Object::_nil();
        }
        keep_state();
    } catch (const CORBA::Exception&) { // who asks for the connection again has it written
    }
}

void NotifyProxy::make_connection(CORBA::Object_ptr client)
{
    Channel& channel = *line_.channel;
    if (kind_.is_consumers && kind_.pulls) {
        connect(client);
        (void)channel.add_receiver(number(), IntrusivePtr<RefCounted>(fetched_.get()), *fetched_);
    } else if (kind_.is_consumers) {
        const auto pushed = make_intrusive<PushReceiver>(line_, number(), client, kind_.form);
        connect(client);
        {
            const std::lock_guard lock(mutex_);
            pushed_ = pushed;
            // Both may have changed since it was connected, or made.
            pushed->suspend(is_suspended_);
            (void)pushed->change(line_.settings->qos()); // nothing waits
        }
        if (!channel.add_receiver(number(), IntrusivePtr<RefCounted>(pushed.get()), *pushed))
            stop(); // it has ended meanwhile
    } else if (kind_.pulls) {
        const auto polled = make_intrusive<SupplierPolling>(line_, number(), client, kind_.form);
        connect(client);
        {
            const std::lock_guard lock(mutex_);
            polled_ = polled;
            polled->suspend(is_suspended_);
        }
        if (!is_connected()) return stop(); // it has ended meanwhile
        polled->wake();
    } else {
        connect(client);
    }
    if (channel.keeper()) {
        const std::lock_guard lock(mutex_);
        client_ = CORBA::Object::_duplicate(client);
    }
    announce(client);
}

// --- In the store --------------------------------------------------------------------------------

KairosNotificationStore::Proxy NotifyProxy::stored_state()
{
    KairosNotificationStore::Proxy state;
    state.of = line_.admin->settings().kept();
    state.number = id_;
    state.form = kind_.form == Form::any          ? CosNotifyChannelAdmin::ANY_EVENT
                 : kind_.form == Form::structured ? CosNotifyChannelAdmin::STRUCTURED_EVENT
                                                  : CosNotifyChannelAdmin::SEQUENCE_EVENT;
    state.pulls = kind_.pulls;
    state.place = place_;
    state.own = line_.settings->stored();
    state.is_suspended = is_suspended_;
    CORBA::Object_var client;
    {
        const std::lock_guard lock(mutex_);
        state.is_connected = is_connected() || is_connecting_;
        client = CORBA::Object::_duplicate(client_.in());
        state.speaks = static_cast<CORBA::Short>(speaks_ ? *speaks_ : -1);
    }
    if (CORBA::is_nil(client.in()))
        state.client = "";
    else
        state.client = line_.channel->keeper()->orb()->object_to_string(client.in());
    return state;
}

void NotifyProxy::keep_state()
{
    if (!line_.channel->keeper()) return;
    try {
        write_state();
    } catch (...) {
        is_unsaved_ = true;
        throw;
    }
    is_unsaved_ = false;
}

void NotifyProxy::write_state()
{
    const Channel& channel = *line_.channel;
    Settings& settings = *line_.settings;
    std::uint64_t left = 0; // which it has until the store has it no more
    const auto is_to_be_kept = [&settings] {
        return settings.qos().connection_reliability == CosNotification::Persistent;
    };
    channel.keeper()->save([&]() -> std::optional<StoreChange> {
        {
            const std::lock_guard lock(mutex_);
            if (has_stopped_) return std::nullopt;
        }
        if (!is_to_be_kept()) {
            left = settings.kept();
            if (left == 0) return std::nullopt;
            return StoreChange{.action = StoreChange::Action::erase_object, .key = left};
        }
        if (settings.kept() == 0) (void)settings.set_kept(channel.keeper()->next_key());
        return put_object(settings.kept(), line_.channel->settings().kept(), StoredKind::proxy,
                          stored_state());
    });
    if (left == 0) return;
    channel.keeper()->save([&]() -> std::optional<StoreChange> {
        if (!is_to_be_kept()) (void)settings.set_kept(0);
        return std::nullopt;
    });
}

void NotifyProxy::restore(std::uint64_t key, const KairosNotificationStore::Proxy& stored)
{
    (void)line_.settings->set_kept(key);
    place_ = stored.place;
    id_ = stored.number;
    line_.admin->note_id(id_);
    is_suspended_ = stored.is_suspended;
    const std::lock_guard lock(mutex_);
    if (stored.speaks >= 0) speaks_ = stored.speaks != 0;
    if (fetched_) (void)fetched_->change(line_.settings->qos()); // nothing waits
}

void NotifyProxy::connect_again(const KairosNotificationStore::Proxy& stored)
{
    CORBA::Object_var client;
    const std::string_view reference = stored.client.in();
    // Any other form would be asked for elsewhere, and nobody wrote it.
    if (!reference.empty() && !reference.starts_with("IOR:")) throw CORBA::MARSHAL();
    if (!reference.empty())
        client = line_.channel->keeper()->orb()->string_to_object(stored.client.in());
    if (kind_.is_consumers != kind_.pulls) events::require_client(*line_.channel, client.in());
    make_connection(client.in());
}

bool NotifyProxy::take_back(const NotificationPtr& event, const Passed& passed)
{
    IntrusivePtr<PushReceiver> pushed;
    {
        const std::lock_guard lock(mutex_);
        pushed = pushed_;
    }
    if (pushed)
        pushed->take_back(event, passed);
    else if (fetched_ && is_connected())
        fetched_->take_back(event, passed);
    else
        return false;
    return true;
}

void NotifyProxy::disconnect()
{
    if (is_kept()) line_.channel->forget(*line_.settings);
    Proxy::disconnect();
}

/// Whoever is connected by a type of the Notification Service can be told of types of events; of
/// others, who need not be able to, only if they ask for that.
void NotifyProxy::announce(CORBA::Object_ptr client)
{
    const Channel& channel = *line_.channel;
    if (!CORBA::is_nil(client)) {
        const std::shared_ptr<TypeTable>& others = channel.types(!kind_.is_consumers);
        const auto herald =
            make_intrusive<Herald>(channel.couriers(), client, kind_.is_consumers, others,
                                   line_.channel->budget().call_octets, channel.limits());
        others->listen(number(), herald);
        const std::lock_guard lock(mutex_);
        (void)herald->speak(speaks_.value_or(kind_.form != Form::any));
        herald_ = herald;
    }
    try {
        line_.settings->join(channel.types(kind_.is_consumers));
    } catch (...) {
        line_.channel->forget(number());
        throw;
    }
    if (!is_connected()) leave_types(); // it has ended meanwhile
}

void NotifyProxy::leave_types() noexcept
{
    line_.channel->types(!kind_.is_consumers)->ignore(number());
    line_.settings->part();
}

CosNotification::EventTypeSeq* NotifyProxy::obtain_types(CosNotifyChannelAdmin::ObtainInfoMode mode)
{
    using namespace CosNotifyChannelAdmin;
    std::shared_ptr<const TypeList> types;
    bool is_new = false;
    {
        const std::lock_guard lock(mutex_);
        const std::optional<bool> before = speaks_;
        speaks_ = mode == ALL_NOW_UPDATES_ON || mode == NONE_NOW_UPDATES_ON;
        if (herald_) types = herald_->speak(*speaks_);
        is_new = speaks_ != before || is_unsaved_;
    }
    if (is_new) keep_state();
    if (mode != ALL_NOW_UPDATES_OFF && mode != ALL_NOW_UPDATES_ON)
        return new CosNotification::EventTypeSeq;
    if (!types) types = line_.channel->types(!kind_.is_consumers)->present();
    return new CosNotification::EventTypeSeq(sequence_of(*types));
}

std::vector<NotificationPtr> NotifyProxy::fetch(std::size_t max, bool waits)
{
    require_connection();
    std::vector<NotificationPtr> taken = fetched_->take(max);
    if (taken.empty() && waits) {
        const events::WaitingPull waiting(*line_.channel);
        taken = fetched_->wait(max, Deadline::after(line_.channel->limits().pull_max));
        if (taken.empty()) {
            if (is_kept() && line_.channel->keeper()->is_closed())
                throw CORBA::TRANSIENT(0, CORBA::COMPLETED_NO, "the channel's service ends");
            require_connection();
            throw CORBA::TIMEOUT(0, CORBA::COMPLETED_NO,
                                 "there was no event for as long as may be, or another pull has "
                                 "come");
        }
    }
    line_.channel->note_delivered(taken.size());
    return taken;
}

std::size_t NotifyProxy::batch_of(CORBA::Long max_number) const
{
    if (max_number <= 0) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "no events are asked for");
    return std::min(static_cast<std::size_t>(max_number), line_.channel->own_limits().batch_max);
}

void NotifyProxy::suspend()
{
    if (!is_connected()) throw CosNotifyChannelAdmin::NotConnected();
    set_suspended(true);
}

void NotifyProxy::resume()
{
    if (!is_connected()) throw CosNotifyChannelAdmin::NotConnected();
    set_suspended(false);
}

void NotifyProxy::set_suspended(bool is_suspended)
{
    IntrusivePtr<PushReceiver> pushed;
    IntrusivePtr<SupplierPolling> polled;
    note_use();
    {
        const std::lock_guard lock(mutex_);
        if (is_suspended_ == is_suspended && !is_unsaved_) {
            if (is_suspended) throw CosNotifyChannelAdmin::ConnectionAlreadyInactive();
            throw CosNotifyChannelAdmin::ConnectionAlreadyActive();
        }
        is_suspended_ = is_suspended;
        pushed = pushed_;
        polled = polled_;
        if (pushed) pushed->suspend(is_suspended);
        if (polled) polled->suspend(is_suspended);
    }
    keep_state();
    if (is_suspended) return;
    if (pushed) pushed->wake();
    if (polled) polled->wake();
}

/// In the order in which they were set, whoever sets them.
void NotifyProxy::apply_qos()
{
    std::size_t dropped = 0;
    IntrusivePtr<PushReceiver> pushed;
    {
        const std::lock_guard lock(mutex_);
        const Qos qos = line_.settings->qos();
        if (fetched_) dropped = fetched_->change(qos);
        pushed = pushed_;
        if (pushed) dropped = pushed->change(qos);
    }
    if (dropped != 0) line_.channel->note_dropped(dropped);
    if (pushed) pushed->wake();
}

/// Nothing waits any more for whom its filters could let through when they go.
void NotifyProxy::stop() noexcept
{
    {
        const std::lock_guard lock(mutex_);
        has_stopped_ = true;
    }
    if (line_.channel->keeper())
        line_.channel->keeper()->forget_later([this] {
            return line_.channel->keeper()->is_closed() ? 0 : line_.settings->set_kept(0);
        });
    line_.admin->leave(id_);
    line_.admin->take_out(number());
    leave_types();
    if (fetched_) fetched_->end();
    IntrusivePtr<PushReceiver> pushed;
    IntrusivePtr<SupplierPolling> polled;
    IntrusivePtr<Herald> herald;
    {
        const std::lock_guard lock(mutex_);
        pushed = std::move(pushed_);
        polled = std::move(polled_);
        herald = std::move(herald_);
    }
    if (pushed) pushed->end();
    if (polled) polled->end();
    line_.settings->filters().end(); // last: what is under way to the receivers is judged by them
}

} // namespace kairos::notification
