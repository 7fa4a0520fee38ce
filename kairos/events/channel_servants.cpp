// SPDX-License-Identifier: Apache-2.0
//
// The channel, its two admins (Event Service 1.2, 2.3.1 to 2.3.3) and the factory, as servants.
#include "kairos/events/KairosEvents_skel.h"
#include "kairos/events/proxies.h"
#include "kairos/events/service_state.h"

namespace kairos::events {
namespace {

using namespace CosEventChannelAdmin;
using PortableServer::ServantBase;

class ConsumersServant final : public POA_CosEventChannelAdmin::ConsumerAdmin {
  public:
    explicit ConsumersServant(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
    ProxyPushSupplier_ptr obtain_push_supplier() override { return make_push_supplier(channel_); }
    ProxyPullSupplier_ptr obtain_pull_supplier() override { return make_pull_supplier(channel_); }

  private:
    const std::shared_ptr<Channel> channel_;
};

class SuppliersServant final : public POA_CosEventChannelAdmin::SupplierAdmin {
  public:
    explicit SuppliersServant(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
    ProxyPushConsumer_ptr obtain_push_consumer() override { return make_push_consumer(channel_); }
    ProxyPullConsumer_ptr obtain_pull_consumer() override { return make_pull_consumer(channel_); }

  private:
    const std::shared_ptr<Channel> channel_;
};

class ChannelServant final : public POA_KairosEvents::Channel {
  public:
    ChannelServant(ServiceState& state, std::uint64_t number,
                   std::shared_ptr<events::Channel> channel)
        : state_(state), number_(number), channel_(std::move(channel))
    {
    }
    void set(CORBA::Object_ptr consumers, CORBA::Object_ptr suppliers)
    {
        consumers_ = ConsumerAdmin::_unchecked_narrow(consumers);
        suppliers_ = SupplierAdmin::_unchecked_narrow(suppliers);
    }

    ConsumerAdmin_ptr for_consumers() override
    {
        return ConsumerAdmin::_duplicate(consumers_.in());
    }
    SupplierAdmin_ptr for_suppliers() override
    {
        return SupplierAdmin::_duplicate(suppliers_.in());
    }
    void destroy() override { state_.destroy(number_); }
    char* name() override { return CORBA::string_dup(channel_->name().c_str()); }
    KairosEvents::Figures figures() override { return channel_->figures(); }

  private:
    ServiceState& state_;
    const std::uint64_t number_;
    const std::shared_ptr<events::Channel> channel_;
    ConsumerAdmin_var consumers_; // set before it is called
    SupplierAdmin_var suppliers_; // as well
};

class FactoryServant final : public POA_KairosEvents::ChannelFactory {
  public:
    explicit FactoryServant(ServiceState& state) : state_(state) {}
    KairosEvents::Channel_ptr create_channel(const char* name) override
    {
        // Whoever made one could otherwise have the name of any of the program's objects.
        return state_.create(name, "events/");
    }
    KairosEvents::Channel_ptr find(const char* name) override
    {
        const CORBA::Object_var object = state_.find(name, false);
        return KairosEvents::Channel::_unchecked_narrow(object.in());
    }
    KairosEvents::NameList* names() override { return state_.names(false); }

  private:
    ServiceState& state_;
};

} // namespace

ChannelServants make_servants(ServiceState& state, std::uint64_t number,
                              const std::shared_ptr<Channel>& channel)
{
    auto* const made = new ChannelServant(state, number, channel);
    ChannelServants servants;
    servants.channel = made;
    servants.consumers = new ConsumersServant(channel);
    servants.suppliers = new SuppliersServant(channel);
    servants.set_admins = [made](CORBA::Object_ptr consumers, CORBA::Object_ptr suppliers) {
        made->set(consumers, suppliers);
    };
    return servants;
}

PortableServer::Servant_var<ServantBase> make_factory_servant(ServiceState& state)
{
    return new FactoryServant(state);
}

} // namespace kairos::events
