// SPDX-License-Identifier: Apache-2.0
//
// RtecEventChannelAdmin's interfaces as servants, which ask the channel's state.
#include "kairos/net/address.h"
#include "kairos/orb/reply_channel.h"
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

/// Has `publish` give the events of a `push` on as they lie in its message. Returns false, with
/// nothing read, where an Any has something in it.
template <typename Publish>
bool push_in_place(orb::Upcall& upcall, Publish&& publish)
{
    ViewsOfThread views;
    cdr::Reader in = upcall.in();
    if (!read(in, *views)) return false;
    upcall.in() = in;
    upcall.oneway_arguments_read();
    publish(*views);
    upcall.reply();
    return true;
}

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
        if (upcall.operation() != "push" || !is_connected_ ||
            !push_in_place(upcall, [&](EventViews events) { state_->publish(events); }))
            Skeleton::_kairos_dispatch(upcall);
    }

  private:
    const StatePtr state_;
    const std::uint64_t number_;
    std::atomic<bool> is_connected_{false};
};

/// What the channel has in its group. Who calls is whoever sends packets.
class GroupMemberServant final : public POA_RtecEventComm::PushConsumer {
    using Skeleton = POA_RtecEventComm::PushConsumer;

  public:
    explicit GroupMemberServant(StatePtr state) : state_(std::move(state)) {}
    void push(const RtecEventComm::EventSet& events) override { state_->take_from_group(events); }
    /// Nobody is connected, and so nobody is disconnected.
    void disconnect_push_consumer() override {}
    /// Nothing but what comes in datagrams, to the group or by diop://, of which nobody can tell
    /// who sends it: who has a connection is asked for a proxy.
    void _kairos_dispatch(orb::Upcall& upcall) override
    {
        const net::Address* const from = upcall.channel().peer_address();
        if (from == nullptr || from->native_family() != AF_UNSPEC) throw CORBA::NO_PERMISSION();
        if (upcall.operation() != "push" ||
            !push_in_place(
                upcall, [&](std::vector<EventView>& events) { state_->take_from_group(events); }))
            Skeleton::_kairos_dispatch(upcall);
    }

  private:
    const StatePtr state_;
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

PortableServer::Servant make_group_member(StatePtr state)
{
    return new GroupMemberServant(std::move(state));
}

PortableServer::Servant make_proxy(StatePtr state, ChannelState::Kind kind, std::uint64_t number)
{
    if (kind == ChannelState::Kind::of_consumer)
        return new ProxySupplierServant(std::move(state), number);
    return new ProxyConsumerServant(std::move(state), number);
}

// --- The channel ---------------------------------------------------------------------------------

RealTimeEventChannel::RealTimeEventChannel(CORBA::ORB_ptr orb, const ChannelOptions& options,
                                           const std::string& name)
    : state_(std::make_shared<ChannelState>(orb, options))
{
    state_->begin(name);
}

RealTimeEventChannel::~RealTimeEventChannel() { state_->end(); }

RtecEventChannelAdmin::EventChannel_ptr RealTimeEventChannel::reference() const
{
    const CORBA::Object_var object = state_->object("channel");
    return RtecEventChannelAdmin::EventChannel::_unchecked_narrow(object.in());
}

ChannelFigures RealTimeEventChannel::figures() const { return state_->figures(); }

} // namespace kairos::rtevents
