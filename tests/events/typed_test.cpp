// SPDX-License-Identifier: Apache-2.0
//
// Typed channels as their clients meet them, over loopback: calls of an interface that the channel
// does not know come to who uses it, and to nobody else; what is refused, and what ends.
#include "kairos/events/CosTypedEventComm_skel.h"
#include "kairos/events/channel_testing.h"

#include "alarms_skel.h"

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace kairos::events {
namespace {

using namespace CosTypedEventChannelAdmin;
using CosEventChannelAdmin::ProxyPushSupplier_var;
using PortableServer::Servant_var;

constexpr const char* alarms_id = "IDL:Plant/Alarms:1.0";
constexpr const char* others_id = "IDL:Plant/Others:1.0";

/// Remembers what it was called with, in words.
class Calls {
  public:
    void add(std::string text)
    {
        notes_.change([&] { texts_.push_back(std::move(text)); });
    }
    [[nodiscard]] bool are(const std::vector<std::string>& expected)
    {
        return notes_.wait([&] { return texts_.size() >= expected.size(); }) && all() == expected;
    }
    [[nodiscard]] std::vector<std::string> all()
    {
        std::vector<std::string> copy;
        notes_.change([&] { copy = texts_; });
        return copy;
    }

  private:
    Notes notes_;
    std::vector<std::string> texts_;
};

class AlarmsServant final : public POA_Plant::Alarms, public Calls {
  public:
    void raised(const char* what, CORBA::Long severity) override
    {
        add("raised " + std::string(what) + " " + std::to_string(severity));
    }
    void cleared(const Plant::Place& where, const CORBA::Any& details, CORBA::Double since) override
    {
        std::string text = "cleared " + std::string(where.name.in());
        if (std::wstring_view(where.note.in()) == L"a \u20ac") text += " noted";
        for (CORBA::ULong i = 0; i < where.levels.length(); ++i)
            text += " " + std::to_string(where.levels[i]);
        const char* inside = "?";
        (void)(details >>= inside);
        add(text + " " + inside + (since == 0.5 ? " 0.5" : " ?"));
    }
    void silence() override { add("silence"); }
    void seen(const Plant::Picture& picture, CORBA::Long severity) override
    {
        unsigned sum = 0;
        for (const CORBA::Octet octet : std::span(picture.get_buffer(), picture.length()))
            sum = sum * 31 + octet;
        add("seen " + std::to_string(picture.length()) + " " + std::to_string(sum) + " " +
            std::to_string(severity));
    }
    CORBA::Long severity() override { return 0; }
    void severity(CORBA::Long value) override { add("severity " + std::to_string(value)); }
};

class OthersServant final : public POA_Plant::Others, public Calls {
  public:
    void raised(const char* what) override { add(what); }
};

/// A consumer of which the channel asks for the object that has the interface.
class TypedConsumer final : public POA_CosTypedEventComm::TypedPushConsumer {
  public:
    explicit TypedConsumer(CORBA::Object_ptr object) : object_(CORBA::Object::_duplicate(object)) {}
    CORBA::Object_ptr get_typed_consumer() override
    {
        notes_.change([&] { ++asked_; });
        EXPECT_TRUE(notes_.wait([&] { return !is_closed_; }));
        return CORBA::Object::_duplicate(object_.in());
    }
    void push(const CORBA::Any& /*data*/) override { throw CORBA::NO_IMPLEMENT(); }
    void disconnect_push_consumer() override
    {
        notes_.change([&] { ++disconnections_; });
    }
    [[nodiscard]] bool is_disconnected()
    {
        return notes_.wait([&] { return disconnections_ != 0; });
    }
    /// It does not answer until it is opened.
    void close()
    {
        notes_.change([&] { is_closed_ = true; });
    }
    void open()
    {
        notes_.change([&] { is_closed_ = false; });
    }
    [[nodiscard]] bool is_asked()
    {
        return notes_.wait([&] { return asked_ != 0; });
    }
    [[nodiscard]] int times_asked()
    {
        int times = 0;
        notes_.change([&] { times = asked_; });
        return times;
    }

  private:
    const CORBA::Object_var object_;
    Notes notes_;
    int asked_ = 0;
    bool is_closed_ = false;
    int disconnections_ = 0;
};

Plant::Place place()
{
    Plant::Place place;
    place.name = "pump";
    place.note = CORBA::wstring_dup(L"a \u20ac");
    place.levels.length(2);
    place.levels[0] = 7;
    place.levels[1] = -1;
    return place;
}

class TypedChannels : public ::testing::Test {
  protected:
    TypedChannels() : service_(std::in_place, server_.in(), patient())
    {
        const KairosEvents::TypedChannel_var made = service_->create_typed_channel();
        channel_ = clients_.here<KairosEvents::TypedChannel>(made.in(), server_.in());
        consumers_ = channel_->for_consumers();
        suppliers_ = channel_->for_suppliers();
    }
    static ServiceLimits patient()
    {
        ServiceLimits limits;
        limits.call_timeout = patience;
        return limits;
    }
    /// Connects a servant of that interface.
    template <typename Servant>
    ProxyPushSupplier_var connect(Servant* servant, const char* interface)
    {
        const auto object = clients_.activate<Plant::Alarms>(servant);
        consumer_ = new TypedConsumer(object.in());
        ProxyPushSupplier_var proxy = consumers_->obtain_typed_push_supplier(interface);
        proxy->connect_push_consumer(
            clients_.activate<CosEventComm::PushConsumer>(consumer_.in()).in());
        return proxy;
    }
    [[nodiscard]] TypedProxyPushConsumer_var supplier(const char* interface)
    {
        TypedProxyPushConsumer_var proxy = suppliers_->obtain_typed_push_consumer(interface);
        proxy->connect_push_supplier(CosEventComm::PushSupplier::_nil());
        return proxy;
    }
    /// What suppliers call.
    [[nodiscard]] Plant::Alarms_var alarms(TypedProxyPushConsumer_ptr proxy)
    {
        const CORBA::Object_var object = proxy->get_typed_consumer();
        return Plant::Alarms::_narrow(object.in());
    }

    LogLines log_; // before there is a thread that logs
    TestOrb server_;
    TestOrb clients_;
    std::optional<EventService> service_;
    KairosEvents::TypedChannel_var channel_;
    TypedConsumerAdmin_var consumers_;
    TypedSupplierAdmin_var suppliers_;
    Servant_var<TypedConsumer> consumer_; // that was connected last
};

TEST_F(TypedChannels, CallWhoUsesTheInterfaceAsTheyAreCalled)
{
    const Servant_var<AlarmsServant> first = new AlarmsServant;
    const Servant_var<AlarmsServant> second = new AlarmsServant;
    const Servant_var<OthersServant> other = new OthersServant;
    (void)connect(first.in(), alarms_id);
    (void)connect(second.in(), alarms_id);
    (void)connect(other.in(), others_id);
    const TypedProxyPushConsumer_var proxy = supplier(alarms_id);
    const Plant::Alarms_var to = alarms(proxy.in());
    ASSERT_FALSE(CORBA::is_nil(to.in()));
    EXPECT_TRUE(to->_is_a(alarms_id));
    EXPECT_FALSE(to->_is_a(others_id));
    EXPECT_FALSE(to->_non_existent());
    CORBA::Any details;
    details <<= "by hand";
    std::vector<std::string> expected;
    for (CORBA::Long i = 0; i < 20; ++i) {
        to->raised("heat", i);
        expected.push_back("raised heat " + std::to_string(i));
    }
    to->cleared(place(), details, 0.5);
    to->silence();
    to->severity(4);
    expected.insert(expected.end(),
                    {"cleared pump noted 7 -1 by hand 0.5", "silence", "severity 4"});
    EXPECT_TRUE(first->are(expected));
    EXPECT_TRUE(second->are(expected));
    EXPECT_THROW((void)to->severity(), CORBA::BAD_OPERATION); // which gives something back
    // The one that uses another interface gets that one's calls alone.
    const CORBA::Object_var object = supplier(others_id)->get_typed_consumer();
    const Plant::Others_var others = Plant::Others::_narrow(object.in());
    others->raised("smoke");
    EXPECT_TRUE(other->are({"smoke"}));
    const KairosEvents::Figures figures = channel_->figures();
    EXPECT_EQ(3U, figures.consumers);
    EXPECT_EQ(2U, figures.suppliers);
    EXPECT_EQ(24U, figures.received);
    EXPECT_EQ(0U, figures.dropped + figures.lost);
}

TEST_F(TypedChannels, RefuseWhatIsNotTyped)
{
    EXPECT_THROW((void)consumers_->obtain_push_supplier(), CORBA::NO_IMPLEMENT);
    EXPECT_THROW((void)consumers_->obtain_pull_supplier(), CORBA::NO_IMPLEMENT);
    EXPECT_THROW((void)suppliers_->obtain_push_consumer(), CORBA::NO_IMPLEMENT);
    EXPECT_THROW((void)suppliers_->obtain_pull_consumer(), CORBA::NO_IMPLEMENT);
    EXPECT_THROW((void)consumers_->obtain_typed_pull_supplier(alarms_id), InterfaceNotSupported);
    EXPECT_THROW((void)suppliers_->obtain_typed_pull_consumer(alarms_id), NoSuchImplementation);
    for (const std::string& key : {std::string(), std::string("Alarms"), std::string("IDL:"),
                                   "IDL:" + std::string(2000, 'x') + ":1.0"}) {
        EXPECT_THROW((void)suppliers_->obtain_typed_push_consumer(key.c_str()),
                     InterfaceNotSupported);
        EXPECT_THROW((void)consumers_->obtain_typed_push_supplier(key.c_str()),
                     NoSuchImplementation);
    }
    EXPECT_THROW(supplier(alarms_id)->push(event_of(1)), CORBA::NO_IMPLEMENT);
    const ProxyPushSupplier_var proxy = consumers_->obtain_typed_push_supplier(alarms_id);
    EXPECT_THROW(proxy->connect_push_consumer(CosEventComm::PushConsumer::_nil()),
                 CORBA::BAD_PARAM);
    const Servant_var<Consumer> plain = new Consumer;
    EXPECT_THROW(proxy->connect_push_consumer(
                     clients_.activate<CosEventComm::PushConsumer>(plain.in()).in()),
                 CosEventChannelAdmin::TypeError);
    const Servant_var<OthersServant> other = new OthersServant;
    EXPECT_THROW((void)connect(other.in(), alarms_id), CosEventChannelAdmin::TypeError);
    const Servant_var<TypedConsumer> nobody = new TypedConsumer(CORBA::Object::_nil());
    EXPECT_THROW(proxy->connect_push_consumer(
                     clients_.activate<CosEventComm::PushConsumer>(nobody.in()).in()),
                 CosEventChannelAdmin::TypeError);
    const Servant_var<TypedConsumer> gone = new TypedConsumer(CORBA::Object::_nil());
    const auto reference = clients_.activate<CosEventComm::PushConsumer>(gone.in());
    clients_.deactivate(gone.in());
    EXPECT_THROW(proxy->connect_push_consumer(reference.in()), CORBA::TRANSIENT);
    // A channel's own object would get what it is sent.
    const TypedProxyPushConsumer_var ring = supplier(alarms_id);
    const Servant_var<TypedConsumer> around =
        new TypedConsumer(CORBA::Object_var(ring->get_typed_consumer()).in());
    EXPECT_THROW(proxy->connect_push_consumer(
                     clients_.activate<CosEventComm::PushConsumer>(around.in()).in()),
                 CORBA::BAD_PARAM);
    const Servant_var<AlarmsServant> alarms = new AlarmsServant;
    const ProxyPushSupplier_var connected = connect(alarms.in(), alarms_id);
    const Servant_var<TypedConsumer> second = new TypedConsumer(CORBA::Object::_nil());
    EXPECT_THROW(connected->connect_push_consumer(
                     clients_.activate<CosEventComm::PushConsumer>(second.in()).in()),
                 CosEventChannelAdmin::AlreadyConnected);
}

TEST_F(TypedChannels, EndWhatIsDisconnected)
{
    const Servant_var<AlarmsServant> servant = new AlarmsServant;
    const ProxyPushSupplier_var from = connect(servant.in(), alarms_id);
    const TypedProxyPushConsumer_var fresh = suppliers_->obtain_typed_push_consumer(alarms_id);
    EXPECT_THROW(alarms(fresh.in())->silence(), CORBA::BAD_INV_ORDER); // nobody is connected
    const TypedProxyPushConsumer_var proxy = supplier(alarms_id);
    const Plant::Alarms_var to = alarms(proxy.in());
    to->silence();
    EXPECT_TRUE(servant->are({"silence"}));
    proxy->disconnect_push_consumer();
    EXPECT_THROW(to->silence(), CORBA::OBJECT_NOT_EXIST);
    from->disconnect_push_supplier();
    EXPECT_TRUE(consumer_->is_disconnected());
    alarms(supplier(alarms_id).in())->silence(); // for nobody
    channel_->destroy();
    EXPECT_THROW((void)consumers_->obtain_typed_push_supplier(alarms_id), CORBA::OBJECT_NOT_EXIST);
    EXPECT_EQ(1U, servant->all().size());
}

/// Text that has to be converted on its way cannot be passed on by who does not see it.
TEST_F(TypedChannels, PassNothingOnThatWouldMeanSomethingElse)
{
    const Servant_var<AlarmsServant> servant = new AlarmsServant;
    (void)connect(servant.in(), alarms_id);
    const TypedProxyPushConsumer_var proxy = supplier(alarms_id);
    const TestOrb others({"-ORBGIOPVersion", "1.1"});
    const CORBA::Object_var object = proxy->get_typed_consumer();
    const auto to = others.here<Plant::Alarms>(object.in(), clients_.in());
    CORBA::Any details;
    EXPECT_THROW(to->cleared(place(), details, 0.5), CORBA::MARSHAL);
    to->silence(); // which says nothing
    EXPECT_TRUE(servant->are({"silence"}));
}

TEST_F(TypedChannels, LoseWhatAConsumerWouldNeedOtherwise)
{
    const TestOrb others({"-ORBGIOPVersion", "1.1"});
    const Servant_var<AlarmsServant> servant = new AlarmsServant;
    const auto object = others.activate<Plant::Alarms>(servant.in());
    const Servant_var<TypedConsumer> consumer = new TypedConsumer(object.in());
    const auto reference = others.activate<CosEventComm::PushConsumer>(consumer.in());
    const ProxyPushSupplier_var from = consumers_->obtain_typed_push_supplier(alarms_id);
    from->connect_push_consumer(
        clients_.here<CosEventComm::PushConsumer>(reference.in(), others.in()).in());
    const TypedProxyPushConsumer_var proxy = supplier(alarms_id);
    const Plant::Alarms_var to = alarms(proxy.in());
    to->raised("heat", 1);
    to->silence(); // which says nothing
    EXPECT_TRUE(servant->are({"silence"}));
    EXPECT_EQ(1U, channel_->figures().lost);
}

/// What a client has lent is copied where it is read, before it is passed on.
TEST_F(TypedChannels, PassOnWhatComesThroughSharedMemory)
{
    const TestOrb near({"-ORBListenEndpoints", "shmiop://", "-ORBCollocation", "no"});
    EventService service(near.in(), patient());
    const KairosEvents::TypedChannel_var made = service.create_typed_channel();
    const auto channel = clients_.here<KairosEvents::TypedChannel>(made.in(), near.in());
    consumers_ = channel->for_consumers();
    suppliers_ = channel->for_suppliers();
    const Servant_var<AlarmsServant> servant = new AlarmsServant;
    (void)connect(servant.in(), alarms_id);
    const Plant::Alarms_var to = alarms(supplier(alarms_id).in());
    std::vector<std::string> expected;
    for (const CORBA::ULong length : {5U, 128U << 10, (128U << 10) + 3, 5U}) {
        Plant::Picture picture;
        picture.length(length);
        unsigned sum = 0;
        for (CORBA::ULong i = 0; i < length; ++i) {
            picture[i] = static_cast<CORBA::Octet>(i * 7 + length);
            sum = sum * 31 + picture[i];
        }
        to->seen(picture, 9);
        expected.push_back("seen " + std::to_string(length) + " " + std::to_string(sum) + " 9");
    }
    EXPECT_TRUE(servant->are(expected));
}

TEST_F(TypedChannels, AskFewConsumersAtOnce)
{
    service_.reset();
    ServiceLimits limits = patient();
    limits.connects_of_all_max = 1;
    service_.emplace(server_.in(), limits);
    const KairosEvents::TypedChannel_var made = service_->create_typed_channel();
    const auto channel = clients_.here<KairosEvents::TypedChannel>(made.in(), server_.in());
    consumers_ = channel->for_consumers();
    const Servant_var<AlarmsServant> servant = new AlarmsServant;
    const auto object = clients_.activate<Plant::Alarms>(servant.in());
    const Servant_var<TypedConsumer> slow = new TypedConsumer(object.in());
    const auto consumer = clients_.activate<CosEventComm::PushConsumer>(slow.in());
    const ProxyPushSupplier_var first = consumers_->obtain_typed_push_supplier(alarms_id);
    const ProxyPushSupplier_var second = consumers_->obtain_typed_push_supplier(alarms_id);
    slow->close();
    std::thread connecting([&] { first->connect_push_consumer(consumer.in()); });
    EXPECT_TRUE(slow->is_asked());
    const TestOrb other; // with a connection of its own
    for (const ProxyPushSupplier_var& one : {first, second}) {
        const auto proxy =
            other.here<CosEventChannelAdmin::ProxyPushSupplier>(one.in(), clients_.in());
        EXPECT_THROW(proxy->connect_push_consumer(
                         other.here<CosEventComm::PushConsumer>(consumer.in(), clients_.in()).in()),
                     CORBA::TRANSIENT);
    }
    EXPECT_EQ(1, slow->times_asked());
    slow->open();
    connecting.join();
    second->connect_push_consumer(consumer.in());
    EXPECT_EQ(2U, channel->figures().consumers);
}

TEST_F(TypedChannels, AreFoundByTheirNames)
{
    const KairosEvents::TypedChannelFactory_var factory = service_->typed_factory();
    const KairosEvents::TypedChannel_var made = factory->create_channel("Alarms");
    EXPECT_STREQ("Alarms", CORBA::String_var(made->name()).in());
    EXPECT_THROW((void)factory->create_channel("Alarms"), KairosEvents::NameInUse);
    EXPECT_THROW((void)service_->create_channel("Alarms"), KairosEvents::NameInUse);
    EXPECT_THROW((void)service_->create_typed_channel("TypedEventChannelFactory"),
                 KairosEvents::NameInUse);
    EXPECT_THROW((void)factory->create_channel(std::string(256, 'x').c_str()),
                 KairosEvents::InvalidName);
    (void)KairosEvents::Channel_var(service_->create_channel("Plain"));
    EXPECT_THROW((void)factory->find("Plain"), KairosEvents::NotFound);
    const KairosEvents::ChannelFactory_var plain = service_->factory();
    EXPECT_THROW((void)plain->find("Alarms"), KairosEvents::NotFound);
    EXPECT_TRUE(KairosEvents::TypedChannel_var(factory->find("Alarms"))->_is_equivalent(made.in()));
    EXPECT_EQ(1U, KairosEvents::NameList_var(factory->names())->length());
    made->destroy();
    EXPECT_THROW((void)factory->find("Alarms"), KairosEvents::NotFound);
}

} // namespace
} // namespace kairos::events
