// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/proxy.h"

#include <algorithm>

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
    if (calls_client()) events::require_client(*line_.channel, client);
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
    announce(client);
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
    {
        const std::lock_guard lock(mutex_);
        speaks_ = mode == ALL_NOW_UPDATES_ON || mode == NONE_NOW_UPDATES_ON;
        if (herald_) types = herald_->speak(*speaks_);
    }
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
        if (is_suspended_ == is_suspended) {
            if (is_suspended) throw CosNotifyChannelAdmin::ConnectionAlreadyInactive();
            throw CosNotifyChannelAdmin::ConnectionAlreadyActive();
        }
        is_suspended_ = is_suspended;
        pushed = pushed_;
        polled = polled_;
        if (pushed) pushed->suspend(is_suspended);
        if (polled) polled->suspend(is_suspended);
    }
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
