// SPDX-License-Identifier: Apache-2.0
//
// RtecEventChannelAdmin's interfaces as servants, which ask the channel's state.
#include "kairos/orb/upcall.h"
#include "kairos/rtevents/RtecEventChannelAdmin_skel.h"
#include "kairos/rtevents/channel_state.h"

namespace kairos::rtevents {
namespace {

using namespace RtecEventChannelAdmin;
using StatePtr = std::shared_ptr<ChannelState>;

/// The memory of the thread for the events of one request, which is kept for the next one; requests
/// within it have their own.
class ViewsOfThread {
  public:
    ViewsOfThread()
    {
        if (spare_.empty()) {
            spare_.reserve(spare_max);
        } else {
            views_.swap(spare_.back());
            spare_.pop_back();
        }
    }
    ViewsOfThread(const ViewsOfThread&) = delete;
    ViewsOfThread& operator=(const ViewsOfThread&) = delete;
    ~ViewsOfThread()
    {
        if (views_.capacity() > kept_max || spare_.size() == spare_.capacity()) return;
        spare_.emplace_back().swap(views_);
    }
    [[nodiscard]] std::vector<EventView>& operator*() noexcept { return views_; }

  private:
    static constexpr std::size_t kept_max = 1000; // events
    static constexpr std::size_t spare_max = 8;
    static inline thread_local std::vector<std::vector<EventView>> spare_;
    std::vector<EventView> views_;
};

class ProxySupplierServant final : public POA_RtecEventChannelAdmin::ProxyPushSupplier {
  public:
    ProxySupplierServant(StatePtr state, std::uint64_t number)
        : state_(std::move(state)), number_(number)
    {
    }
    void connect_push_consumer(RtecEventComm::PushConsumer_ptr consumer,
                               const ConsumerQOS& qos) override
    {
        state_->connect(number_, consumer, qos);
    }
    void suspend_connection() override { state_->suspend(number_, true); }
    void resume_connection() override { state_->suspend(number_, false); }
    void disconnect_push_supplier() override { state_->disconnect(number_); }

  private:
    const StatePtr state_;
    const std::uint64_t number_;
};

class ProxyConsumerServant final : public POA_RtecEventChannelAdmin::ProxyPushConsumer {
    using Skeleton = POA_RtecEventChannelAdmin::ProxyPushConsumer;

  public:
    ProxyConsumerServant(StatePtr state, std::uint64_t number)
        : state_(std::move(state)), number_(number)
    {
    }
    void connect_push_supplier(RtecEventComm::PushSupplier_ptr supplier,
                               const SupplierQOS& qos) override
    {
        state_->connect(number_, supplier, qos);
        is_connected_ = true;
    }
    /// What comes before there is a supplier is nobody's, and nobody hears that it is not taken.
    void push(const RtecEventComm::EventSet& events) override
    {
        if (is_connected_) state_->publish(events);
    }
    void disconnect_push_consumer() override { state_->disconnect(number_); }

    /// Most events go on as they came, and are not decoded.
    void _kairos_dispatch(orb::Upcall& upcall) override
    {
        if (upcall.operation() != "push" || !is_connected_ || !push_in_place(upcall))
            Skeleton::_kairos_dispatch(upcall);
    }

  private:
    [[nodiscard]] bool push_in_place(orb::Upcall& upcall) const
    {
        ViewsOfThread views;
        cdr::Reader in = upcall.in();
        if (!read(in, *views)) return false;
        upcall.in() = in;
        upcall.oneway_arguments_read();
        state_->publish(EventViews(*views));
        upcall.reply();
        return true;
    }

    const StatePtr state_;
    const std::uint64_t number_;
    std::atomic<bool> is_connected_{false};
};

class ConsumerAdminServant final : public POA_RtecEventChannelAdmin::ConsumerAdmin {
  public:
    explicit ConsumerAdminServant(StatePtr state) : state_(std::move(state)) {}
    ProxyPushSupplier_ptr obtain_push_supplier() override
    {
        const CORBA::Object_var object = state_->obtain(ChannelState::Kind::of_consumer);
        return ProxyPushSupplier::_unchecked_narrow(object.in());
    }

  private:
    const StatePtr state_;
};

class SupplierAdminServant final : public POA_RtecEventChannelAdmin::SupplierAdmin {
  public:
    explicit SupplierAdminServant(StatePtr state) : state_(std::move(state)) {}
    ProxyPushConsumer_ptr obtain_push_consumer() override
    {
        const CORBA::Object_var object = state_->obtain(ChannelState::Kind::of_supplier);
        return ProxyPushConsumer::_unchecked_narrow(object.in());
    }

  private:
    const StatePtr state_;
};

class ChannelServant final : public POA_RtecEventChannelAdmin::EventChannel {
  public:
    explicit ChannelServant(StatePtr state) : state_(std::move(state)) {}
    ConsumerAdmin_ptr for_consumers() override
    {
        const CORBA::Object_var object = state_->object("consumers");
        return ConsumerAdmin::_unchecked_narrow(object.in());
    }
    SupplierAdmin_ptr for_suppliers() override
    {
        const CORBA::Object_var object = state_->object("suppliers");
        return SupplierAdmin::_unchecked_narrow(object.in());
    }
    void destroy() override { state_->destroy(); }
    Observer_Handle append_observer(Observer_ptr observer) override
    {
        return state_->append(observer);
    }
    void remove_observer(Observer_Handle handle) override { state_->remove(handle); }

  private:
    const StatePtr state_;
};

} // namespace

PortableServer::Servant make_channel(StatePtr state)
{
    return new ChannelServant(std::move(state));
}

PortableServer::Servant make_consumer_admin(StatePtr state)
{
    return new ConsumerAdminServant(std::move(state));
}

PortableServer::Servant make_supplier_admin(StatePtr state)
{
    return new SupplierAdminServant(std::move(state));
}

PortableServer::Servant make_proxy(StatePtr state, ChannelState::Kind kind, std::uint64_t number)
{
    if (kind == ChannelState::Kind::of_consumer)
        return new ProxySupplierServant(std::move(state), number);
    return new ProxyConsumerServant(std::move(state), number);
}

} // namespace kairos::rtevents
