// SPDX-License-Identifier: Apache-2.0
//
// What forwards events from one channel to another: a consumer of the one that wants what the
// other's consumers want, and a supplier of the other.
#include "kairos/base/log.h"
#include "kairos/rtevents/RtecEventChannelAdmin_skel.h"
#include "kairos/rtevents/channel_state.h"

#include <memory>
#include <mutex>
#include <vector>

namespace kairos::rtevents {

using namespace RtecEventChannelAdmin;

/// Shared by count: by the Gateway and by its objects, which may still be called when it ends.
class GatewayState : public std::enable_shared_from_this<GatewayState> {
  public:
    GatewayState(CORBA::ORB_ptr orb, EventChannel_ptr from, EventChannel_ptr to)
        : orb_(CORBA::ORB::_duplicate(orb))
    {
        if (CORBA::is_nil(from) || CORBA::is_nil(to))
            throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "two channels are wanted");
        from_ = in_time<EventChannel>(from);
        to_ = in_time<EventChannel>(to);
    }
    GatewayState(const GatewayState&) = delete;
    GatewayState& operator=(const GatewayState&) = delete;
    ~GatewayState() = default;

    void begin()
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        poa_ = PortableServer::POA::_narrow(object.in());
        try {
            connect();
        } catch (...) {
            end();
            throw;
        }
    }
    void end() noexcept
    {
        {
            const std::lock_guard lock(changes_);
            has_ended_ = true;
        }
        if (handle_ != 0) try_to([&] { to_->remove_observer(handle_); });
        for (const PortableServer::ObjectId_var& id : ids_)
            try_to([&] { poa_->deactivate_object(id.in()); });
        if (!CORBA::is_nil(in_.in())) try_to([&] { in_->disconnect_push_supplier(); });
        if (!CORBA::is_nil(out_.in())) try_to([&] { out_->disconnect_push_consumer(); });
    }

  private:
    using StatePtr = std::shared_ptr<GatewayState>;
    class Watching final : public POA_RtecEventChannelAdmin::Observer {
      public:
        explicit Watching(StatePtr gateway) : gateway_(std::move(gateway)) {}
        void update_consumer(const ConsumerQOS& wishes) override { gateway_->want(wishes); }
        void update_supplier(const SupplierQOS& /*publications*/) override {}

      private:
        const StatePtr gateway_;
    };
    class Consuming final : public POA_RtecEventComm::PushConsumer {
      public:
        explicit Consuming(StatePtr gateway) : gateway_(std::move(gateway)) {}
        void push(const RtecEventComm::EventSet& events) override { gateway_->forward(events); }
        void disconnect_push_consumer() override {}

      private:
        const StatePtr gateway_;
    };
    class Supplying final : public POA_RtecEventComm::PushSupplier {
      public:
        void disconnect_push_supplier() override {}
    };

    /// The same object, whose calls end in time.
    template <typename Interface>
    [[nodiscard]] typename Interface::_var_type in_time(CORBA::Object_ptr object,
                                                        bool sends_events = false) const
    {
        constexpr std::chrono::seconds call_timeout{3};
        const CORBA::Object_var same = limited(orb_.in(), object, call_timeout, sends_events);
        return Interface::_unchecked_narrow(same.in());
    }

    void connect()
    {
        const SupplierAdmin_var found = to_->for_suppliers();
        const auto admin = in_time<SupplierAdmin>(found.in());
        const ProxyPushConsumer_var out = admin->obtain_push_consumer();
        out_ = in_time<ProxyPushConsumer>(out.in(), true);
        SupplierQOS publications;
        publications.is_gateway = true;
        const auto supplier = activate<RtecEventComm::PushSupplier>(new Supplying);
        out_->connect_push_supplier(supplier.in(), publications);
        own_consumer_ = activate<RtecEventComm::PushConsumer>(new Consuming(shared_from_this()));
        const auto observer = activate<Observer>(new Watching(shared_from_this()));
        handle_ = to_->append_observer(observer.in());
    }
    /// Of a servant that is nobody else's.
    template <typename Interface>
    [[nodiscard]] typename Interface::_var_type activate(PortableServer::Servant servant)
    {
        const PortableServer::Servant_var<PortableServer::ServantBase> owned = servant;
        const PortableServer::ObjectId_var id = poa_->activate_object(servant);
        ids_.push_back(id);
        const CORBA::Object_var object = poa_->id_to_reference(id.in());
        return Interface::_unchecked_narrow(object.in());
    }
    /// What the consumers of the channel behind this want, all together. The new connection is
    /// there before the one of before ends: in between an event may come twice, and none is lost.
    void want(const ConsumerQOS& wishes)
    {
        const std::lock_guard lock(changes_);
        if (has_ended_) return;
        ProxyPushSupplier_var next;
        if (wishes.dependencies.length() != 0) {
            ConsumerQOS own = wishes;
            own.is_gateway = true;
            const ConsumerAdmin_var found = from_->for_consumers();
            const auto admin = in_time<ConsumerAdmin>(found.in());
            const ProxyPushSupplier_var made = admin->obtain_push_supplier();
            next = in_time<ProxyPushSupplier>(made.in());
            next->connect_push_consumer(own_consumer_.in(), own);
        }
        const ProxyPushSupplier_var before = in_;
        in_ = next;
        if (!CORBA::is_nil(before.in())) before->disconnect_push_supplier();
    }
    void forward(const RtecEventComm::EventSet& events)
    {
        RtecEventComm::EventSet left(events.length());
        CORBA::ULong count = 0;
        left.length(events.length());
        for (CORBA::ULong i = 0; i < events.length(); ++i) {
            if (events[i].header.ttl <= 0) continue;
            left[count] = events[i];
            --left[count++].header.ttl;
        }
        left.length(count);
        if (count != 0) out_->push(left);
    }
    template <typename Call>
    static void try_to(Call call) noexcept
    {
        try {
            call();
        } catch (const CORBA::Exception& exception) {
            log::info(log::Line() << "real-time events: a channel does not answer a gateway that "
                                     "ends: "
                                  << exception._name());
        }
    }

    const CORBA::ORB_var orb_;
    EventChannel_var from_; // both set by who makes this
    EventChannel_var to_;
    PortableServer::POA_var poa_;
    // Set before the observer is told of anything.
    std::vector<PortableServer::ObjectId_var> ids_;
    RtecEventComm::PushConsumer_var own_consumer_;
    ProxyPushConsumer_var out_;
    Observer_Handle handle_ = 0; // of who makes and ends this
    std::mutex changes_; // guards what follows; held while the channel in front of this is called
    ProxyPushSupplier_var in_;
    bool has_ended_ = false;
};

Gateway::Gateway(CORBA::ORB_ptr orb, EventChannel_ptr from, EventChannel_ptr to)
    : state_(std::make_shared<GatewayState>(orb, from, to))
{
    state_->begin();
}

Gateway::~Gateway() { state_->end(); }

} // namespace kairos::rtevents
