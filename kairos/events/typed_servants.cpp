// SPDX-License-Identifier: Apache-2.0
//
// Typed channels, their admins and proxies (Event Service 1.2, 2.7), and what makes them, as
// servants.
#include "kairos/corba/Messaging.h"
#include "kairos/events/CosTypedEventChannelAdmin_skel.h"
#include "kairos/events/KairosEvents_skel.h"
#include "kairos/events/proxy.h"
#include "kairos/events/service_state.h"
#include "kairos/events/typed_channel.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

namespace kairos::events {
namespace {

namespace typed = CosTypedEventChannelAdmin;
using PortableServer::ServantBase;
using TypedPtr = std::shared_ptr<TypedChannel>;

constexpr std::size_t key_octets_max = 1024;

constexpr orb::Operation end_typed_supplier("disconnect_push_supplier");
constexpr orb::Operation end_typed_consumer("disconnect_push_consumer");

/// A key is the repository id of an interface; whose operations are like these nobody here can see.
bool may_be_interface(std::string_view key) noexcept
{
    return key.size() <= key_octets_max && key.starts_with("IDL:") &&
           key.find(':', 4) != std::string_view::npos && key.find('\0') == std::string_view::npos;
}

[[noreturn]] void refuse_untyped()
{
    throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO,
                              "a typed channel has typed clients, and no Anys");
}

// --- For suppliers -------------------------------------------------------------------------------

class TypedPushConsumerProxy final : public POA_CosTypedEventChannelAdmin::TypedProxyPushConsumer,
                                     public Proxy {
  public:
    TypedPushConsumerProxy(const ServiceAdapters& adapters, const TypedPtr& channel,
                           std::string interface)
        : Proxy(channel), adapters_(adapters), channel_(channel), interface_(std::move(interface))
    {
    }

    /// Makes the object that suppliers call. Throws OBJECT_NOT_EXIST where the proxy has ended.
    void open();
    [[nodiscard]] const std::string& interface() const noexcept { return interface_; }
    /// Its number among the members of the channel.
    [[nodiscard]] std::uint64_t member() const noexcept { return number(); }
    /// Takes a call of the supplier's.
    void take(orb::Upcall& upcall)
    {
        try {
            require_connection();
        } catch (const CosEventComm::Disconnected&) { // which no operation of theirs raises
            throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO,
                                       "no supplier is connected by this proxy");
        }
        channel_->publish(interface_, upcall);
    }

    void connect_push_supplier(CosEventComm::PushSupplier_ptr push_supplier) override
    {
        connect(push_supplier);
    }
    void push(const CORBA::Any& /*data*/) override { refuse_untyped(); }
    void disconnect_push_consumer() override { disconnect(); }
    CORBA::Object_ptr get_typed_consumer() override
    {
        const std::lock_guard lock(entrance_mutex_);
        return CORBA::Object::_duplicate(entrance_.in());
    }

  private:
    [[nodiscard]] bool is_consumers() const noexcept override { return false; }
    [[nodiscard]] bool calls_client() const noexcept override { return false; }
    void stop() noexcept override
    {
        PortableServer::ObjectId_var id;
        {
            const std::lock_guard lock(entrance_mutex_);
            has_stopped_ = true;
            id = entrance_id_._retn();
        }
        ServiceAdapters::deactivate(adapters_.others(), id);
    }
    [[nodiscard]] const orb::Operation& farewell() const noexcept override
    {
        return end_typed_supplier;
    }

    const ServiceAdapters& adapters_; // which outlive the objects that lead here
    const TypedPtr channel_;
    const std::string interface_;
    std::mutex entrance_mutex_; // guards what follows; not held while anything is called
    CORBA::Object_var entrance_;
    PortableServer::ObjectId_var entrance_id_;
    bool has_stopped_ = false;
};

/// What a supplier calls: an object of its interface, whose operations are not known here. Until
/// the proxy ends, when its adapter lets it go.
class Entrance final : public virtual ServantBase {
  public:
    explicit Entrance(TypedPushConsumerProxy& proxy) : proxy_(&proxy) { proxy._add_ref(); }

    void _kairos_dispatch(orb::Upcall& upcall) override
    {
        const std::string_view name = upcall.operation();
        // An attribute that is read gives something back: no event does.
        if (name.starts_with('_') && !name.starts_with("_set_"))
            return _kairos_dispatch_standard(upcall);
        proxy_->take(upcall);
        upcall.reply();
    }
    [[nodiscard]] bool _kairos_supports(std::string_view repository_id) const override
    {
        return repository_id == proxy_->interface();
    }
    [[nodiscard]] const char* _kairos_id() const override { return proxy_->interface().c_str(); }

  private:
    const PortableServer::Servant_var<TypedPushConsumerProxy> proxy_;
};

void TypedPushConsumerProxy::open()
{
    const PortableServer::Servant_var<ServantBase> servant = new Entrance(*this);
    PortableServer::ObjectId_var id;
    CORBA::Object_var object = adapters_.activate(servant.in(), id);
    {
        const std::lock_guard lock(entrance_mutex_);
        if (!has_stopped_) {
            entrance_ = object;
            entrance_id_ = id._retn();
            return;
        }
    }
    ServiceAdapters::deactivate(adapters_.others(), id);
    throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
}

// --- For consumers -------------------------------------------------------------------------------

/// A reference whose calls end in time. Owned by the caller.
CORBA::Object_ptr limited(CORBA::ORB_ptr orb, CORBA::Object_ptr object,
                          std::chrono::milliseconds timeout)
{
    constexpr TimeBase::TimeT units_in_ms = 10'000; // of 100 ns
    CORBA::Any value;
    value <<= static_cast<TimeBase::TimeT>(timeout.count()) * units_in_ms;
    CORBA::PolicyList policies(1);
    policies.length(1);
    policies[0] = orb->create_policy(Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE, value);
    return object->_set_policy_overrides(policies, CORBA::SET_OVERRIDE);
}

/// In a handler, of what a consumer has answered.
[[noreturn]] void raise_not_said()
{
    try {
        throw;
    } catch (const CORBA::BAD_OPERATION&) { // an untyped one
        throw CosEventChannelAdmin::TypeError();
    } catch (const CORBA::NO_IMPLEMENT&) { // likewise
        throw CosEventChannelAdmin::TypeError();
    } catch (const CORBA::SystemException&) {
        throw CORBA::TRANSIENT(0, CORBA::COMPLETED_NO,
                               "the consumer does not say which object takes its events");
    }
}

/// The object of a consumer that has the interface. Asks the consumer. Throws TypeError where there
/// is none; TRANSIENT where the consumer does not say.
CORBA::Object_ptr typed_consumer(CORBA::ORB_ptr orb, CORBA::Object_ptr consumer,
                                 const std::string& interface, const Members& members)
{
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + members.limits().call_timeout; // of both calls
    CORBA::Object_var object;
    try {
        const CORBA::Object_var asked = limited(orb, consumer, members.limits().call_timeout);
        const auto of = CosTypedEventComm::TypedPushConsumer_var(
            CosTypedEventComm::TypedPushConsumer::_unchecked_narrow(asked.in()));
        object = of->get_typed_consumer();
    } catch (...) {
        raise_not_said();
    }
    if (CORBA::is_nil(object.in())) throw CosEventChannelAdmin::TypeError();
    require_client(members, object.in());
    try {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
        const CORBA::Object_var seen =
            limited(orb, object.in(), std::max(left, std::chrono::milliseconds(1)));
        if (!seen->_is_a(interface.c_str())) throw CosEventChannelAdmin::TypeError();
    } catch (const CORBA::SystemException&) {
        raise_not_said();
    }
    return object._retn();
}

class TypedPushSupplierProxy final : public POA_CosEventChannelAdmin::ProxyPushSupplier,
                                     public Proxy {
  public:
    TypedPushSupplierProxy(CORBA::ORB_ptr orb, const TypedPtr& channel, std::string interface)
        : Proxy(channel), orb_(CORBA::ORB::_duplicate(orb)), channel_(channel),
          interface_(std::move(interface))
    {
    }

    void connect_push_consumer(CosEventComm::PushConsumer_ptr push_consumer) override
    {
        require_client(*channel_, push_consumer);
        if (is_connected()) throw CosEventChannelAdmin::AlreadyConnected();
        const Portion here(connecting_, 1);
        const Portion of_all(channel_->budget().connects, 1);
        if (!here || !of_all)
            throw CORBA::TRANSIENT(0, CORBA::COMPLETED_NO,
                                   "as many consumers are being connected as may");
        const CORBA::Object_var object =
            typed_consumer(orb_.in(), push_consumer, interface_, *channel_);
        const auto delivery =
            make_intrusive<TypedDelivery>(channel_, number(), object.in(), interface_);
        connect(push_consumer);
        {
            const std::lock_guard lock(delivery_mutex_);
            delivery_ = delivery;
        }
        if (!channel_->add_receiver(number(), IntrusivePtr<RefCounted>(delivery.get()), *delivery))
            stop(); // it has ended meanwhile
    }
    void disconnect_push_supplier() override { disconnect(); }

  private:
    [[nodiscard]] bool is_consumers() const noexcept override { return true; }
    [[nodiscard]] bool calls_client() const noexcept override { return true; }
    void stop() noexcept override
    {
        IntrusivePtr<TypedDelivery> delivery;
        {
            const std::lock_guard lock(delivery_mutex_);
            delivery = std::move(delivery_);
        }
        if (delivery) delivery->end();
    }
    [[nodiscard]] const orb::Operation& farewell() const noexcept override
    {
        return end_typed_consumer;
    }

    const CORBA::ORB_var orb_;
    const TypedPtr channel_;
    const std::string interface_;
    const std::shared_ptr<Allowance> connecting_ = std::make_shared<Allowance>(1);
    std::mutex delivery_mutex_; // guards delivery_
    IntrusivePtr<TypedDelivery> delivery_;
};

// --- Admins and channel --------------------------------------------------------------------------

class TypedConsumersServant final : public POA_CosTypedEventChannelAdmin::TypedConsumerAdmin {
  public:
    TypedConsumersServant(CORBA::ORB_ptr orb, TypedPtr channel)
        : orb_(CORBA::ORB::_duplicate(orb)), channel_(std::move(channel))
    {
    }
    CosEventChannelAdmin::ProxyPushSupplier_ptr obtain_push_supplier() override
    {
        refuse_untyped();
    }
    CosEventChannelAdmin::ProxyPullSupplier_ptr obtain_pull_supplier() override
    {
        refuse_untyped();
    }
    /// Nobody here could answer the operations of such an interface.
    typed::TypedProxyPullSupplier_ptr obtain_typed_pull_supplier(const char* /*interface*/) override
    {
        throw typed::InterfaceNotSupported();
    }
    CosEventChannelAdmin::ProxyPushSupplier_ptr
    obtain_typed_push_supplier(const char* uses_interface) override
    {
        if (!may_be_interface(uses_interface)) throw typed::NoSuchImplementation();
        auto* const made = new TypedPushSupplierProxy(orb_.in(), channel_, uses_interface);
        const PortableServer::Servant_var<ServantBase> servant = made;
        const CORBA::Object_var object = channel_->add(servant, *made);
        return CosEventChannelAdmin::ProxyPushSupplier::_unchecked_narrow(object.in());
    }

  private:
    const CORBA::ORB_var orb_;
    const TypedPtr channel_;
};

class TypedSuppliersServant final : public POA_CosTypedEventChannelAdmin::TypedSupplierAdmin {
  public:
    TypedSuppliersServant(const ServiceAdapters& adapters, TypedPtr channel)
        : adapters_(adapters), channel_(std::move(channel))
    {
    }
    CosEventChannelAdmin::ProxyPushConsumer_ptr obtain_push_consumer() override
    {
        refuse_untyped();
    }
    CosEventChannelAdmin::ProxyPullConsumer_ptr obtain_pull_consumer() override
    {
        refuse_untyped();
    }
    typed::TypedProxyPushConsumer_ptr
    obtain_typed_push_consumer(const char* supported_interface) override
    {
        if (!may_be_interface(supported_interface)) throw typed::InterfaceNotSupported();
        auto* const made = new TypedPushConsumerProxy(adapters_, channel_, supported_interface);
        const PortableServer::Servant_var<ServantBase> servant = made;
        const CORBA::Object_var object = channel_->add(servant, *made);
        try {
            made->open();
        } catch (...) {
            channel_->forget(made->member());
            throw;
        }
        return typed::TypedProxyPushConsumer::_unchecked_narrow(object.in());
    }
    /// Nobody here could call the operations of such an interface.
    CosEventChannelAdmin::ProxyPullConsumer_ptr
    obtain_typed_pull_consumer(const char* /*uses_interface*/) override
    {
        throw typed::NoSuchImplementation();
    }

  private:
    const ServiceAdapters& adapters_; // which outlive the objects that lead here
    const TypedPtr channel_;
};

class TypedChannelServant final : public POA_KairosEvents::TypedChannel {
  public:
    TypedChannelServant(ServiceState& state, std::uint64_t number, TypedPtr channel)
        : state_(state), number_(number), channel_(std::move(channel))
    {
    }
    void set(CORBA::Object_ptr consumers, CORBA::Object_ptr suppliers)
    {
        consumers_ = typed::TypedConsumerAdmin::_unchecked_narrow(consumers);
        suppliers_ = typed::TypedSupplierAdmin::_unchecked_narrow(suppliers);
    }

    typed::TypedConsumerAdmin_ptr for_consumers() override
    {
        return typed::TypedConsumerAdmin::_duplicate(consumers_.in());
    }
    typed::TypedSupplierAdmin_ptr for_suppliers() override
    {
        return typed::TypedSupplierAdmin::_duplicate(suppliers_.in());
    }
    void destroy() override { state_.destroy(number_); }
    char* name() override { return CORBA::string_dup(channel_->name().c_str()); }
    KairosEvents::Figures figures() override { return channel_->figures(); }

  private:
    ServiceState& state_;
    const std::uint64_t number_;
    const TypedPtr channel_;
    typed::TypedConsumerAdmin_var consumers_; // set before it is called
    typed::TypedSupplierAdmin_var suppliers_; // as well
};

class TypedFactoryServant final : public POA_KairosEvents::TypedChannelFactory {
  public:
    explicit TypedFactoryServant(ServiceState& state) : state_(state) {}
    KairosEvents::TypedChannel_ptr create_channel(const char* name) override
    {
        return state_.create_typed(name, "typed/"); // as the other factory
    }
    KairosEvents::TypedChannel_ptr find(const char* name) override
    {
        const CORBA::Object_var object = state_.find(name, true);
        return KairosEvents::TypedChannel::_unchecked_narrow(object.in());
    }
    KairosEvents::NameList* names() override { return state_.names(true); }

  private:
    ServiceState& state_;
};

} // namespace

ChannelServants make_typed_servants(ServiceState& state, const ServiceAdapters& adapters,
                                    CORBA::ORB_ptr orb, std::uint64_t number,
                                    const std::shared_ptr<TypedChannel>& channel)
{
    auto* const made = new TypedChannelServant(state, number, channel);
    ChannelServants servants;
    servants.channel = made;
    servants.consumers = new TypedConsumersServant(orb, channel);
    servants.suppliers = new TypedSuppliersServant(adapters, channel);
    servants.set_admins = [made](CORBA::Object_ptr consumers, CORBA::Object_ptr suppliers) {
        made->set(consumers, suppliers);
    };
    return servants;
}

PortableServer::Servant_var<ServantBase> make_typed_factory_servant(ServiceState& state)
{
    return new TypedFactoryServant(state);
}

} // namespace kairos::events
