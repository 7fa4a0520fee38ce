// SPDX-License-Identifier: Apache-2.0
//
// Channels as their clients meet them, over loopback: every mix of pushing and pulling, what each
// operation raises, who is told of an end, and how channels are made and found.
#include "kairos/events/channel_testing.h"

#include "kairos/corba/ior_table.h"
#include "kairos/events/CosEventComm.h"

#include <memory>
#include <optional>

namespace kairos::events {
namespace {

using namespace CosEventChannelAdmin;
using PortableServer::Servant_var;

ServiceLimits patient_limits()
{
    ServiceLimits limits;
    limits.call_timeout = patience;
    return limits;
}

class Channels : public ChannelTest {
  protected:
    Channels() : ChannelTest(patient_limits()) {}
};

std::vector<CORBA::Long> numbers(CORBA::Long count)
{
    std::vector<CORBA::Long> all;
    for (CORBA::Long i = 0; i < count; ++i)
        all.push_back(i);
    return all;
}

// --- Every mix -----------------------------------------------------------------------------------

TEST_F(Channels, PushToPush)
{
    const Servant_var<Consumer> first = new Consumer;
    const Servant_var<Consumer> second = new Consumer;
    (void)connect(first.in());
    (void)connect(second.in());
    const ProxyPushConsumer_var proxy = supplier();
    for (CORBA::Long i = 0; i < 100; ++i)
        proxy->push(event_of(i));
    ASSERT_TRUE(first->has(100));
    ASSERT_TRUE(second->has(100));
    EXPECT_EQ(numbers(100), first->values());
    EXPECT_EQ(numbers(100), second->values());
}

TEST_F(Channels, PushToPull)
{
    const ProxyPullSupplier_var consumer = pull_supplier();
    consumer->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    const ProxyPushConsumer_var proxy = supplier();
    CORBA::Boolean has_event = true;
    CORBA::Any_var event = consumer->try_pull(has_event);
    EXPECT_FALSE(has_event);
    for (CORBA::Long i = 0; i < 2; ++i)
        proxy->push(event_of(i));
    CORBA::Long value = -1;
    event = consumer->pull();
    EXPECT_TRUE((event.in() >>= value) && value == 0);
    event = consumer->try_pull(has_event);
    EXPECT_TRUE(has_event && (event.in() >>= value) && value == 1);
    event = consumer->try_pull(has_event);
    EXPECT_FALSE(has_event);
}

TEST_F(Channels, PullWaitsForAnEvent)
{
    const ProxyPullSupplier_var consumer = pull_supplier();
    consumer->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    const ProxyPushConsumer_var proxy = supplier();
    std::thread thread([&] {
        for (CORBA::Long i = 0; i < 20; ++i) {
            const CORBA::Any_var event = consumer->pull();
            CORBA::Long value = -1;
            EXPECT_TRUE((event.in() >>= value) && value == i);
        }
    });
    for (CORBA::Long i = 0; i < 20; ++i)
        proxy->push(event_of(i));
    thread.join();
    EXPECT_EQ(20U, channel_->figures().delivered);
}

TEST_F(Channels, PullToPush)
{
    const Servant_var<Consumer> consumer = new Consumer;
    (void)connect(consumer.in());
    const Servant_var<PullSupplierServant> source = new PullSupplierServant;
    for (CORBA::Long i = 0; i < 10; ++i)
        source->add(i);
    const ProxyPullConsumer_var proxy = pull_consumer();
    const auto object = clients_.activate<CosEventComm::PullSupplier>(source.in());
    proxy->connect_pull_supplier(object.in());
    ASSERT_TRUE(consumer->has(10));
    ASSERT_TRUE(source->was_asked(12)); // and found to have no more, and asked again
    source->add(10);
    ASSERT_TRUE(consumer->has(11));
    EXPECT_EQ(numbers(11), consumer->values());
    proxy->disconnect_pull_consumer();
    EXPECT_TRUE(source->is_disconnected());
}

TEST_F(Channels, PullToPull)
{
    const ProxyPullSupplier_var consumer = pull_supplier();
    consumer->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    const Servant_var<PullSupplierServant> source = new PullSupplierServant;
    source->add(7);
    const ProxyPullConsumer_var proxy = pull_consumer();
    proxy->connect_pull_supplier(clients_.activate<CosEventComm::PullSupplier>(source.in()).in());
    const CORBA::Any_var event = consumer->pull();
    CORBA::Long value = -1;
    EXPECT_TRUE((event.in() >>= value) && value == 7);
}

/// Consumers and suppliers of the service's own process.
TEST_F(Channels, WithinTheProcess)
{
    const KairosEvents::Channel_var channel = service_->create_channel();
    const Servant_var<Consumer> consumer = new Consumer;
    const ConsumerAdmin_var consumers = channel->for_consumers();
    const ProxyPushSupplier_var proxy = consumers->obtain_push_supplier();
    proxy->connect_push_consumer(server_.activate<CosEventComm::PushConsumer>(consumer.in()).in());
    const SupplierAdmin_var suppliers = channel->for_suppliers();
    const ProxyPushConsumer_var source = suppliers->obtain_push_consumer();
    source->connect_push_supplier(CosEventComm::PushSupplier::_nil());
    for (CORBA::Long i = 0; i < 10; ++i)
        source->push(event_of(i));
    ASSERT_TRUE(consumer->has(10));
    EXPECT_EQ(numbers(10), consumer->values());
}

// --- What is raised ------------------------------------------------------------------------------

TEST_F(Channels, NilIsAcceptedWhereNobodyIsCalled)
{
    EXPECT_THROW(push_supplier()->connect_push_consumer(CosEventComm::PushConsumer::_nil()),
                 CORBA::BAD_PARAM);
    EXPECT_THROW(pull_consumer()->connect_pull_supplier(CosEventComm::PullSupplier::_nil()),
                 CORBA::BAD_PARAM);
    EXPECT_NO_THROW(push_consumer()->connect_push_supplier(CosEventComm::PushSupplier::_nil()));
    EXPECT_NO_THROW(pull_supplier()->connect_pull_consumer(CosEventComm::PullConsumer::_nil()));
}

/// Also of other channels: events would go round.
TEST_F(Channels, ProxiesAreNotConnectedToEachOther)
{
    const KairosEvents::Channel_var other = service_->create_channel();
    const SupplierAdmin_var suppliers = other->for_suppliers();
    const ProxyPushConsumer_var theirs = suppliers->obtain_push_consumer();
    const auto as_seen = clients_.here<CosEventComm::PushConsumer>(theirs.in(), server_.in());
    EXPECT_THROW(push_supplier()->connect_push_consumer(as_seen.in()), CORBA::BAD_PARAM);
    EXPECT_THROW(push_supplier()->connect_push_consumer(push_consumer().in()), CORBA::BAD_PARAM);
    EXPECT_THROW(pull_consumer()->connect_pull_supplier(pull_supplier().in()), CORBA::BAD_PARAM);
}

TEST_F(Channels, ProxiesAreConnectedOnce)
{
    const ProxyPushConsumer_var pushed = supplier();
    EXPECT_THROW(pushed->connect_push_supplier(CosEventComm::PushSupplier::_nil()),
                 AlreadyConnected);
    const ProxyPullSupplier_var pulled = pull_supplier();
    pulled->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    EXPECT_THROW(pulled->connect_pull_consumer(CosEventComm::PullConsumer::_nil()),
                 AlreadyConnected);
    const Servant_var<Consumer> consumer = new Consumer;
    const ProxyPushSupplier_var pushing = connect(consumer.in());
    const CosEventComm::PushConsumer_var object = CosEventComm::PushConsumer::_unchecked_narrow(
        CORBA::Object_var(clients_.poa()->servant_to_reference(consumer.in())).in());
    EXPECT_THROW(pushing->connect_push_consumer(object.in()), AlreadyConnected);
    const Servant_var<PullSupplierServant> source = new PullSupplierServant;
    const auto pull = clients_.activate<CosEventComm::PullSupplier>(source.in());
    const ProxyPullConsumer_var pulling = pull_consumer();
    pulling->connect_pull_supplier(pull.in());
    EXPECT_THROW(pulling->connect_pull_supplier(pull.in()), AlreadyConnected);
}

TEST_F(Channels, WhoIsNotConnectedIsDisconnected)
{
    const ProxyPushConsumer_var proxy = push_consumer();
    EXPECT_THROW(proxy->push(event_of(1)), CosEventComm::Disconnected);
    const ProxyPullSupplier_var consumer = pull_supplier();
    CORBA::Boolean has_event = false;
    EXPECT_THROW(CORBA::Any_var(consumer->pull()), CosEventComm::Disconnected);
    EXPECT_THROW(CORBA::Any_var(consumer->try_pull(has_event)), CosEventComm::Disconnected);
}

TEST_F(Channels, ProxiesEndWithTheirConnection)
{
    const ProxyPushConsumer_var proxy = supplier();
    proxy->disconnect_push_consumer();
    EXPECT_THROW(proxy->push(event_of(1)), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW(proxy->disconnect_push_consumer(), CORBA::OBJECT_NOT_EXIST);
    const ProxyPullSupplier_var consumer = pull_supplier();
    consumer->disconnect_pull_supplier(); // which was never connected
    EXPECT_THROW(CORBA::Any_var(consumer->pull()), CORBA::OBJECT_NOT_EXIST);
}

// --- Who is told ---------------------------------------------------------------------------------

TEST_F(Channels, ClientsAreToldOfDisconnections)
{
    const Servant_var<Consumer> consumer = new Consumer;
    const ProxyPushSupplier_var pushing = connect(consumer.in());
    pushing->disconnect_push_supplier();
    EXPECT_TRUE(consumer->is_disconnected());
    const Servant_var<PushSupplierServant> source = new PushSupplierServant;
    const ProxyPushConsumer_var pushed = push_consumer();
    pushed->connect_push_supplier(clients_.activate<CosEventComm::PushSupplier>(source.in()).in());
    pushed->disconnect_push_consumer();
    EXPECT_TRUE(source->is_disconnected());
    const Servant_var<PullConsumerServant> puller = new PullConsumerServant;
    const ProxyPullSupplier_var pulled = pull_supplier();
    pulled->connect_pull_consumer(clients_.activate<CosEventComm::PullConsumer>(puller.in()).in());
    pulled->disconnect_pull_supplier();
    EXPECT_TRUE(puller->is_disconnected());
}

TEST_F(Channels, DestroyTellsEverybody)
{
    const Servant_var<Consumer> consumer = new Consumer;
    (void)connect(consumer.in());
    const Servant_var<PullSupplierServant> source = new PullSupplierServant;
    const ProxyPullConsumer_var pulling = pull_consumer();
    pulling->connect_pull_supplier(clients_.activate<CosEventComm::PullSupplier>(source.in()).in());
    const ConsumerAdmin_var admin = channel_->for_consumers();
    channel_->destroy();
    EXPECT_TRUE(consumer->is_disconnected());
    EXPECT_TRUE(source->is_disconnected());
    EXPECT_THROW(channel_->destroy(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW(ProxyPushSupplier_var(admin->obtain_push_supplier()), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW(pulling->disconnect_pull_consumer(), CORBA::OBJECT_NOT_EXIST);
}

TEST_F(Channels, DestroyEndsPullsThatWait)
{
    const ProxyPullSupplier_var consumer = pull_supplier();
    consumer->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    std::thread thread([&] {
        try {
            const CORBA::Any_var event = consumer->pull();
            ADD_FAILURE() << "an event of a destroyed channel";
        } catch (const CosEventComm::Disconnected&) {
        } catch (const CORBA::OBJECT_NOT_EXIST&) { // it came too late
        }
    });
    channel_->destroy();
    thread.join();
}

// --- Making and finding --------------------------------------------------------------------------

TEST_F(Channels, AreMadeAndFoundByName)
{
    const KairosEvents::ChannelFactory_var object = service_->factory();
    const auto factory = clients_.here<KairosEvents::ChannelFactory>(object.in(), server_.in());
    const KairosEvents::Channel_var alarms = factory->create_channel("Alarms");
    EXPECT_STREQ("Alarms", CORBA::String_var(alarms->name()).in());
    EXPECT_THROW(KairosEvents::Channel_var(factory->create_channel("Alarms")),
                 KairosEvents::NameInUse);
    EXPECT_THROW(KairosEvents::Channel_var(factory->create_channel("EventChannelFactory")),
                 KairosEvents::NameInUse);
    EXPECT_THROW(KairosEvents::Channel_var(factory->create_channel(std::string(256, 'x').c_str())),
                 KairosEvents::InvalidName);
    const KairosEvents::Channel_var found = factory->find("Alarms");
    EXPECT_TRUE(found->_is_equivalent(alarms.in()));
    EXPECT_THROW(KairosEvents::Channel_var(factory->find("Others")), KairosEvents::NotFound);
    EXPECT_THROW(KairosEvents::Channel_var(factory->find("")), KairosEvents::NotFound);
    KairosEvents::NameList_var names = factory->names();
    ASSERT_EQ(1U, names->length());
    EXPECT_STREQ("Alarms", names[0].in());
    alarms->destroy();
    EXPECT_THROW(KairosEvents::Channel_var(factory->find("Alarms")), KairosEvents::NotFound);
    names = factory->names();
    EXPECT_EQ(0U, names->length());
}

/// Clients cannot take the names of the program's other objects.
TEST_F(Channels, OfClientsHaveNamesOfTheirOwn)
{
    const KairosEvents::Channel_var ours = service_->create_channel("Ours");
    const KairosEvents::ChannelFactory_var object = service_->factory();
    const auto factory = clients_.here<KairosEvents::ChannelFactory>(object.in(), server_.in());
    const KairosEvents::Channel_var theirs = factory->create_channel("Theirs");
    const CORBA::Object_var initial = server_->resolve_initial_references("IORTable");
    const IORTable::Table_var table = IORTable::Table::_narrow(initial.in());
    EXPECT_THROW(table->unbind("Theirs"), IORTable::NotFound);
    EXPECT_NO_THROW(table->unbind("events/Theirs"));
    EXPECT_NO_THROW(table->unbind("Ours"));
}

TEST_F(Channels, TellTheirFigures)
{
    const Servant_var<Consumer> consumer = new Consumer;
    const ProxyPushSupplier_var pushing = connect(consumer.in());
    const ProxyPushConsumer_var proxy = supplier();
    proxy->push(event_of(1));
    ASSERT_TRUE(consumer->has(1));
    pushing->disconnect_push_supplier(); // once the call is over, which is counted
    ASSERT_TRUE(consumer->is_disconnected());
    const KairosEvents::Figures figures = channel_->figures();
    EXPECT_EQ(1U, figures.suppliers);
    EXPECT_EQ(0U, figures.consumers);
    EXPECT_EQ(1U, figures.received);
    EXPECT_EQ(0U, figures.dropped);
    EXPECT_EQ(0U, figures.given_up);
}

} // namespace
} // namespace kairos::events
