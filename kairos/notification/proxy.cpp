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
        }
        if (!channel.add_receiver(number(), IntrusivePtr<RefCounted>(pushed.get()), *pushed))
            stop(); // it has ended meanwhile
    } else if (kind_.pulls) {
        const auto polled = make_intrusive<SupplierPolling>(line_, number(), client, kind_.form);
        connect(client);
        {
            const std::lock_guard lock(mutex_);
            polled_ = polled;
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
    IntrusivePtr<Herald> herald;
    if (!CORBA::is_nil(client))
        herald = make_intrusive<Herald>(
            line_.channel->couriers(), client, kind_.is_consumers, kind_.form != Form::any,
            line_.channel->limits().call_timeout, line_.channel->own_limits().types_max);
    line_.channel->enter(number(), kind_.is_consumers, line_.settings, std::move(herald));
    if (!is_connected()) line_.channel->leave(number()); // it has ended meanwhile
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
    {
        const std::lock_guard lock(mutex_);
        if (is_suspended_ == is_suspended) {
            if (is_suspended) throw CosNotifyChannelAdmin::ConnectionAlreadyInactive();
            throw CosNotifyChannelAdmin::ConnectionAlreadyActive();
        }
        is_suspended_ = is_suspended;
        pushed = pushed_;
        polled = polled_;
    }
    if (pushed) pushed->suspend(is_suspended);
    if (polled) polled->suspend(is_suspended);
}

void NotifyProxy::apply_qos()
{
    const Qos qos = line_.settings->qos();
    if (fetched_) fetched_->change(qos);
    IntrusivePtr<PushReceiver> pushed;
    {
        const std::lock_guard lock(mutex_);
        pushed = pushed_;
    }
    if (pushed) pushed->change(qos);
}

void NotifyProxy::stop() noexcept
{
    line_.admin->leave(id_);
    line_.admin->take_out(number());
    line_.channel->leave(number());
    if (fetched_) fetched_->end();
    IntrusivePtr<PushReceiver> pushed;
    IntrusivePtr<SupplierPolling> polled;
    {
        const std::lock_guard lock(mutex_);
        pushed = std::move(pushed_);
        polled = std::move(polled_);
    }
    if (pushed) pushed->end();
    if (polled) polled->end();
    line_.settings->filters().end(); // last: what is under way to the receivers is judged by them
}

} // namespace kairos::notification
