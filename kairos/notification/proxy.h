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
#include <utility>
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
    /// Whether the store has it, with its connection.
    [[nodiscard]] bool is_kept() const noexcept { return line_.settings->kept() != 0; }
    /// Its number among the members of the channel.
    [[nodiscard]] std::uint64_t member() const noexcept { return number(); }
    /// By which its admin knows it, where clients can find it there; set before it is called.
    void set_id(CosNotifyChannelAdmin::ProxyID id) noexcept { id_ = id; }
    /// Of its object in its POA; likewise.
    void set_place(KairosNotificationStore::Id place) { place_ = std::move(place); }
    [[nodiscard]] const ProxyKind& kind() const noexcept { return kind_; }

    /// Has the store have what it is to have of the proxy now: what it is, or nothing. Throws what
    /// Keeper::save throws.
    void keep_state();
    // Of one that there was in an earlier run, before it is called: in this order.
    void restore(std::uint64_t key, const KairosNotificationStore::Proxy& stored);
    void connect_again(const KairosNotificationStore::Proxy& stored);
    /// Takes an event that has waited for its consumer; false if it does not want any.
    [[nodiscard]] bool take_back(const NotificationPtr& event, const Passed& passed);

  protected:
    NotifyProxy(const ChannelPtr& channel, const AdminPtr& admin, const ProxyKind& kind);

    /// Connects it. Throws as Proxy::connect, and BAD_PARAM for nil where the client is called; and
    /// what keep_state() throws, after which it is as it was.
    void connect_client(CORBA::Object_ptr client);
    /// As Proxy's; also throws what Keeper::save throws, after which it is as it was.
    void disconnect();
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
        line_.channel->publish(batch, line_.source());
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
        keep_state();
    }
    /// What the other side offers or wants together; nothing where that is the mode, which also
    /// says whether the client is told of changes. Owned by the caller.
    [[nodiscard]] CosNotification::EventTypeSeq*
    obtain_types(CosNotifyChannelAdmin::ObtainInfoMode mode);
    /// Its settings have changed.
    void apply_qos();

  private:
    [[nodiscard]] bool is_consumers() const noexcept final { return kind_.is_consumers; }
    /// Who is kept is so however long it is away.
    [[nodiscard]] bool calls_client() const noexcept final
    {
        // Who is pushed to, or pulled from; not who is left alone.
        return (kind_.is_consumers != kind_.pulls && !is_suspended_) || is_kept();
    }
    [[nodiscard]] const orb::Operation& farewell() const noexcept final { return kind_.farewell; }
    void stop() noexcept final;
    void announce(CORBA::Object_ptr client);
    void make_connection(CORBA::Object_ptr client);
    void keep_connection(CORBA::Object_ptr client);
    void end_connecting() noexcept;
    void write_state();
    [[nodiscard]] KairosNotificationStore::Proxy stored_state();
    void leave_types() noexcept;
    void set_suspended(bool is_suspended);

    const Line line_;
    const ProxyKind kind_;
    CosNotifyChannelAdmin::ProxyID id_ = 0;
    KairosNotificationStore::Id place_;
    const IntrusivePtr<PullReceiver> fetched_; // of a consumer that pulls
    std::atomic<bool> is_suspended_{false};    // changed with mutex_
    std::atomic<bool> is_unsaved_{false};      // the store has not taken the last change
    std::mutex mutex_; // guards what follows; outside those of receivers, Herald and events::Proxy
    IntrusivePtr<Herald> herald_;
    std::optional<bool> speaks_; // the client has said
    IntrusivePtr<PushReceiver> pushed_;
    IntrusivePtr<SupplierPolling> polled_;
    CORBA::Object_var client_; // of a channel that is kept
    bool is_connecting_ = false;
    bool has_stopped_ = false;
};

} // namespace kairos::notification
