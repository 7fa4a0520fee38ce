// SPDX-License-Identifier: Apache-2.0
//
// What all proxies of notification channels do, whatever their interfaces are called. Any thread.
#pragma once

#include "kairos/events/proxy.h"
#include "kairos/notification/receivers.h"
#include "kairos/orb/operation.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
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
        line_.settings->change_types(added, removed);
    }
    /// What the other side offers or wants together; nothing where that is the mode, which also
    /// says whether the client is told of changes. Owned by the caller.
    [[nodiscard]] CosNotification::EventTypeSeq*
    obtain_types(CosNotifyChannelAdmin::ObtainInfoMode mode);
    /// Its settings have changed.
    void apply_qos();

  private:
    [[nodiscard]] bool is_consumers() const noexcept final { return kind_.is_consumers; }
    [[nodiscard]] bool calls_client() const noexcept final
    {
        // Who is pushed to, or pulled from; not who is left alone.
        return kind_.is_consumers != kind_.pulls && !is_suspended_;
    }
    [[nodiscard]] const orb::Operation& farewell() const noexcept final { return kind_.farewell; }
    void stop() noexcept final;
    void announce(CORBA::Object_ptr client);
    void leave_types() noexcept;
    void set_suspended(bool is_suspended);

    const Line line_;
    const ProxyKind kind_;
    CosNotifyChannelAdmin::ProxyID id_ = 0;
    const IntrusivePtr<PullReceiver> fetched_; // of a consumer that pulls
    std::atomic<bool> is_suspended_{false};    // changed with mutex_
    std::mutex mutex_; // guards what follows; outside those of receivers and Herald::mutex_
    IntrusivePtr<Herald> herald_;
    std::optional<bool> speaks_; // the client has said
    IntrusivePtr<PushReceiver> pushed_;
    IntrusivePtr<SupplierPolling> polled_;
};

} // namespace kairos::notification
