// SPDX-License-Identifier: Apache-2.0
//
// What all proxies of notification channels do, whatever their interfaces are called. Any thread.
#pragma once

#include "kairos/events/proxy.h"
#include "kairos/notification/receivers.h"
#include "kairos/orb/operation.h"

#include <memory>
#include <mutex>
#include <vector>

namespace kairos::notification {

/// What a proxy is.
struct ProxyKind {
    bool is_consumers = false; ///< for a consumer, else for a supplier
    bool pulls = false;        ///< its client pulls, or is pulled from
    Form form = Form::any;
    const orb::Operation& farewell; ///< what its client is told at the end: constant data
};

class NotifyProxy : public events::Proxy {
  public:
    [[nodiscard]] const Line& line() const noexcept { return line_; }
    /// Its number among the members of the channel.
    [[nodiscard]] std::uint64_t member() const noexcept { return number(); }
    /// By which its admin knows it, where clients can find it there; set before it is called.
    void set_id(CosNotifyChannelAdmin::ProxyID id) noexcept { id_ = id; }

  protected:
    NotifyProxy(const ChannelPtr& channel, const AdminPtr& admin, const ProxyKind& kind);

    /// Connects it. Throws as Proxy::connect, and BAD_PARAM for nil where the client is called.
    void connect_client(CORBA::Object_ptr client);
    /// Takes events of its supplier, if that is connected.
    template <typename Data>
    void publish(const Data& data)
    {
        require_connection();
        line_.channel->publish(data, line_.source());
    }
    void publish_batch(const CosNotification::EventBatch& batch)
    {
        require_connection();
        publish_all(*line_.channel, batch, line_.source());
    }
    /// Takes events out for its consumer, who has them then: one at least if it `waits`. Throws
    /// TIMEOUT, and NO_RESOURCES where too many wait.
    [[nodiscard]] std::vector<NotificationPtr> fetch(std::size_t max, bool waits);
    [[nodiscard]] std::size_t batch_of(CORBA::Long max_number) const;
    /// Throw NotConnected, ConnectionAlreadyInactive, ConnectionAlreadyActive.
    void suspend();
    void resume();
    /// What its client offers or wants from now on.
    void change_types(const CosNotification::EventTypeSeq& added,
                      const CosNotification::EventTypeSeq& removed)
    {
        line_.channel->change_types(number(), *line_.settings, added, removed);
    }
    /// Its settings have changed.
    void apply_qos();

  private:
    [[nodiscard]] bool is_consumers() const noexcept final { return kind_.is_consumers; }
    [[nodiscard]] bool calls_client() const noexcept final
    {
        return kind_.is_consumers != kind_.pulls; // who is pushed to, or pulled from
    }
    [[nodiscard]] const orb::Operation& farewell() const noexcept final { return kind_.farewell; }
    void stop() noexcept final;
    void announce(CORBA::Object_ptr client);
    void set_suspended(bool is_suspended);

    const Line line_;
    const ProxyKind kind_;
    CosNotifyChannelAdmin::ProxyID id_ = 0;
    const IntrusivePtr<PullReceiver> fetched_; // of a consumer that pulls
    std::mutex mutex_;                         // guards what follows; not held while anything is
                                               // called
    IntrusivePtr<PushReceiver> pushed_;
    IntrusivePtr<SupplierPolling> polled_;
    bool is_suspended_ = false;
};

} // namespace kairos::notification
