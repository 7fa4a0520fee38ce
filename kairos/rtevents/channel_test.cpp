// SPDX-License-Identifier: Apache-2.0
#include "kairos/rtevents/channel.h"

#include "kairos/events/channel_testing.h"
#include "kairos/rtevents/RtecEventChannelAdmin_skel.h"
#include "kairos/rtevents/channel_state.h"
#include "kairos/rtevents/event_types.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

namespace kairos::rtevents {
namespace {

using namespace RtecEventChannelAdmin;
using events::LogLines;
using events::Notes;
using events::TestOrb;
using PortableServer::Servant_var;
using RtecEventComm::EventSet;

constexpr CORBA::Long a = own_types_begin;
constexpr CORBA::Long b = a + 1;
constexpr RtecEventComm::Time millisecond = 10'000;

/// Remembers what it is pushed, as "type/source".
class Receiver final : public POA_RtecEventComm::PushConsumer {
  public:
    void push(const EventSet& events) override
    {
        if (throws) throw CORBA::NO_MEMORY();
        if (on_push) on_push();
        notes_.change([&] {
            for (CORBA::ULong i = 0; i < events.length(); ++i) {
                const auto& header = events[i].header;
                heard_.push_back(std::to_string(header.type) + "/" + std::to_string(header.source));
                payload_ = events[i].data.payload;
                ttl_ = header.ttl;
                const char* text = "";
                if (events[i].data.any_value >>= text) text_ = text;
            }
            ++pushes_;
        });
    }
    void disconnect_push_consumer() override
    {
        notes_.change([&] { is_told_ = true; });
    }
    [[nodiscard]] bool hears(const std::vector<std::string>& all)
    {
        return notes_.wait([&] { return heard_.size() >= all.size(); }) && heard_ == all;
    }
    [[nodiscard]] bool hears_at_least(std::size_t count)
    {
        return notes_.wait([&] { return heard_.size() >= count; });
    }
    [[nodiscard]] bool hears_at_least(const std::string& what, int count)
    {
        return notes_.wait([&] { return std::ranges::count(heard_, what) >= count; });
    }
    [[nodiscard]] bool has_heard(const std::string& what)
    {
        return notes_.wait([&] { return std::ranges::count(heard_, what) != 0; });
    }
    [[nodiscard]] int count(const std::string& what)
    {
        int found = 0;
        notes_.change([&] { found = static_cast<int>(std::ranges::count(heard_, what)); });
        return found;
    }
    [[nodiscard]] bool is_told()
    {
        return notes_.wait([&] { return is_told_; });
    }
    [[nodiscard]] int pushes()
    {
        int count = 0;
        notes_.change([&] { count = pushes_; });
        return count;
    }
    [[nodiscard]] CORBA::Long ttl()
    {
        CORBA::Long left = 0;
        notes_.change([&] { left = ttl_; });
        return left;
    }
    [[nodiscard]] std::size_t payload_octets()
    {
        std::size_t octets = 0;
        notes_.change([&] { octets = payload_.length(); });
        return octets;
    }

    [[nodiscard]] std::string text()
    {
        std::string last;
        notes_.change([&] { last = text_; });
        return last;
    }

    std::atomic<bool> throws{false};
    std::function<void()> on_push; // set before anybody pushes

  private:
    Notes notes_; // guards what follows
    std::vector<std::string> heard_;
    EventPayload payload_;
    std::string text_; // the last that an Any had
    CORBA::Long ttl_ = 0;
    int pushes_ = 0;
    bool is_told_ = false;
};

class Sender final : public POA_RtecEventComm::PushSupplier {
  public:
    void disconnect_push_supplier() override
    {
        notes_.change([&] { is_told_ = true; });
    }
    [[nodiscard]] bool is_told()
    {
        return notes_.wait([&] { return is_told_; });
    }

  private:
    Notes notes_; // guards what follows
    bool is_told_ = false;
};

struct Item {
    CORBA::Long type = 0;
    CORBA::Long source = 0;
    RtecEventComm::Time time = 0;
    RtecBase::handle_t rt_info = 0;
};

ConsumerQOS wants(const std::vector<Item>& items, bool is_gateway = false)
{
    ConsumerQOS qos;
    qos.is_gateway = is_gateway;
    qos.dependencies.length(static_cast<CORBA::ULong>(items.size()));
    for (CORBA::ULong i = 0; i < items.size(); ++i) {
        qos.dependencies[i] = {};
        qos.dependencies[i].event.header.type = items[i].type;
        qos.dependencies[i].event.header.source = items[i].source;
        qos.dependencies[i].event.header.creation_time = items[i].time;
        qos.dependencies[i].rt_info = items[i].rt_info;
    }
    return qos;
}

EventSet events(const std::vector<Item>& items, CORBA::Long ttl = 1)
{
    EventSet set;
    set.length(static_cast<CORBA::ULong>(items.size()));
    for (CORBA::ULong i = 0; i < items.size(); ++i) {
        set[i] = {};
        set[i].header.type = items[i].type;
        set[i].header.source = items[i].source;
        set[i].header.ttl = ttl;
        set[i].data.payload.length(64);
    }
    return set;
}

/// Programs that have a consumer or a supplier, with an ORB of their own.
class Program {
  public:
    explicit Program(const TestOrb& of, EventChannel_ptr channel)
        : channel_(orb_.here<EventChannel>(channel, of.in()))
    {
    }
    ProxyPushSupplier_var connect(Receiver* receiver, const ConsumerQOS& qos)
    {
        const ConsumerAdmin_var admin = channel_->for_consumers();
        ProxyPushSupplier_var proxy = admin->obtain_push_supplier();
        const RtecEventComm::PushConsumer_var own =
            orb_.activate<RtecEventComm::PushConsumer>(receiver);
        proxy->connect_push_consumer(own.in(), qos);
        return proxy;
    }
    ProxyPushConsumer_var connect(Sender* sender, const SupplierQOS& qos = {})
    {
        const SupplierAdmin_var admin = channel_->for_suppliers();
        ProxyPushConsumer_var proxy = admin->obtain_push_consumer();
        const RtecEventComm::PushSupplier_var own =
            orb_.activate<RtecEventComm::PushSupplier>(sender);
        proxy->connect_push_supplier(own.in(), qos);
        return proxy;
    }
    [[nodiscard]] EventChannel_ptr channel() const { return channel_.in(); }
    [[nodiscard]] const TestOrb& orb() const { return orb_; }

  private:
    const TestOrb orb_;
    const EventChannel_var channel_;
};

/// By both ways of giving events on.
class RtChannel : public testing::TestWithParam<Dispatching> {
  protected:
    explicit RtChannel(ChannelOptions options = {}) : options_(with(std::move(options))) {}
    static ChannelOptions with(ChannelOptions options)
    {
        options.dispatching = GetParam();
        options.priority_of = [](RtecBase::handle_t handle) {
            return static_cast<CORBA::Short>(handle);
        };
        return options;
    }

    // Servants outlive the ORBs, which may still be in them.
    Servant_var<Receiver> receiver_{new Receiver};
    Servant_var<Receiver> other_{new Receiver};
    Servant_var<Sender> sender_{new Sender};
    const ChannelOptions options_;
    const LogLines log_;
    const TestOrb orb_;
    RealTimeEventChannel made_{orb_.in(), options_};
    const EventChannel_var channel_{made_.reference()};
    Program consumers_{orb_, channel_.in()};
    Program suppliers_{orb_, channel_.in()};
};

TEST_P(RtChannel, GivesEverybodyWhatHeWants)
{
    (void)consumers_.connect(receiver_.in(), wants({{a, 7}}));
    (void)consumers_.connect(other_.in(), wants({{b}}));
    const ProxyPushConsumer_var in = suppliers_.connect(sender_.in());
    in->push(events({{a, 7}}));
    in->push(events({{a, 8}}));
    in->push(events({{b, 8}, {a, 7}, {b, 9}}));
    EXPECT_TRUE(receiver_->hears({"16/7", "16/7"}));
    EXPECT_TRUE(other_->hears({"17/8", "17/9"}));
    EXPECT_EQ(1, other_->pushes()) << "what comes together goes together";
    EXPECT_EQ(64u, receiver_->payload_octets());
    EXPECT_EQ(5u, made_.figures().received);
    while (made_.figures().delivered != 4) // counted when the call is over
        std::this_thread::yield();
}

/// Events without one go on as they lie in the message, in sets that have both as values.
TEST_P(RtChannel, GivesAnysOn)
{
    (void)consumers_.connect(receiver_.in(), wants({{a}}));
    (void)consumers_.connect(other_.in(), wants({{everything}}));
    const ProxyPushConsumer_var in = suppliers_.connect(sender_.in());
    EventSet set = events({{a, 1}, {b, 2}, {a, 3}});
    set[0].data.any_value <<= "an Any";
    set[2].data.payload.length(20'000); // is sent from where it lies
    in->push(set);
    EXPECT_TRUE(receiver_->hears({"16/1", "16/3"}));
    EXPECT_EQ("an Any", receiver_->text());
    EXPECT_EQ(20'000u, receiver_->payload_octets());
    EXPECT_TRUE(other_->hears({"16/1", "17/2", "16/3"}));
    EXPECT_EQ("an Any", other_->text());
    set[0].data.any_value = CORBA::Any();
    in->push(set);
    EXPECT_TRUE(receiver_->hears({"16/1", "16/3", "16/1", "16/3"}));
    EXPECT_EQ(20'000u, receiver_->payload_octets());
}

TEST_P(RtChannel, CollectsAndTimes)
{
    (void)consumers_.connect(receiver_.in(), wants({{conjunction_group}, {a}, {b}}));
    (void)consumers_.connect(other_.in(), wants({{interval_timeout_type, 0, 5 * millisecond}}));
    const ProxyPushConsumer_var in = suppliers_.connect(sender_.in());
    in->push(events({{b, 1}}));
    in->push(events({{a, 2}}));
    EXPECT_TRUE(receiver_->hears({"16/2", "17/1"}));
    EXPECT_EQ(1, receiver_->pushes());
    EXPECT_TRUE(other_->hears_at_least(3)) << "time and again, though nobody has sent it anything";
}

TEST_P(RtChannel, TellsOfDeadlines)
{
    (void)consumers_.connect(receiver_.in(), wants({{a}, {deadline_timeout_type, 0, millisecond}}));
    EXPECT_TRUE(receiver_->hears_at_least(2));
}

TEST_P(RtChannel, SuspendsAndEndsConnections)
{
    const ProxyPushSupplier_var out = consumers_.connect(receiver_.in(), wants({{a}}));
    (void)consumers_.connect(other_.in(), wants({{a}}));
    const ProxyPushConsumer_var in = suppliers_.connect(sender_.in());
    out->suspend_connection();
    in->push(events({{a, 1}}));
    EXPECT_TRUE(other_->hears({"16/1"}));
    out->resume_connection();
    in->push(events({{a, 2}}));
    EXPECT_TRUE(receiver_->hears({"16/2"}));
    EXPECT_TRUE(other_->hears({"16/1", "16/2"}));
    out->disconnect_push_supplier();
    in->push(events({{a, 3}}));
    EXPECT_TRUE(other_->hears({"16/1", "16/2", "16/3"}));
    EXPECT_TRUE(receiver_->hears({"16/2"}));
    EXPECT_THROW(out->suspend_connection(), CORBA::OBJECT_NOT_EXIST);
}

TEST_P(RtChannel, ConnectsOnceAndSomebody)
{
    const ProxyPushSupplier_var out = consumers_.connect(receiver_.in(), wants({{a}}));
    const RtecEventComm::PushConsumer_var own =
        consumers_.orb().activate<RtecEventComm::PushConsumer>(other_.in());
    EXPECT_THROW(out->connect_push_consumer(own.in(), wants({{a}})), AlreadyConnected);
    const ConsumerAdmin_var admin = consumers_.channel()->for_consumers();
    const ProxyPushSupplier_var fresh = admin->obtain_push_supplier();
    EXPECT_THROW(fresh->connect_push_consumer(RtecEventComm::PushConsumer::_nil(), wants({{a}})),
                 CORBA::BAD_PARAM);
    EXPECT_THROW(fresh->connect_push_consumer(own.in(), wants({{conjunction_group}})),
                 CORBA::BAD_PARAM);
    const SupplierAdmin_var suppliers = consumers_.channel()->for_suppliers();
    const ProxyPushConsumer_var in = suppliers->obtain_push_consumer();
    EXPECT_THROW(fresh->connect_push_consumer(in.in(), wants({{a}})), CORBA::BAD_PARAM)
        << "the channel would get its own events";
    EXPECT_THROW(in->connect_push_supplier(RtecEventComm::PushSupplier::_nil(), {}),
                 CORBA::BAD_PARAM);
    fresh->connect_push_consumer(own.in(), wants({{a}})); // what failed changed nothing
}

TEST_P(RtChannel, EndsWithAWord)
{
    const ProxyPushSupplier_var out = consumers_.connect(receiver_.in(), wants({{a}}));
    (void)suppliers_.connect(sender_.in());
    consumers_.channel()->destroy();
    EXPECT_TRUE(receiver_->is_told());
    EXPECT_TRUE(sender_->is_told());
    EXPECT_THROW(out->suspend_connection(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW(ConsumerAdmin_var(consumers_.channel()->for_consumers()), CORBA::OBJECT_NOT_EXIST);
}

TEST_P(RtChannel, GivesUpWhoHasGone)
{
    (void)consumers_.connect(other_.in(), wants({{a}}));
    const ProxyPushConsumer_var in = suppliers_.connect(sender_.in());
    {
        Program gone(orb_, channel_.in());
        (void)gone.connect(receiver_.in(), wants({{a}}));
        in->push(events({{a, 0}}));
        EXPECT_TRUE(receiver_->hears({"16/0"}));
    }
    // A oneway that goes into a connection that ends is not heard of: the next one is.
    std::vector<std::string> all{"16/0"};
    EXPECT_TRUE(other_->hears(all));
    for (int i = 1; made_.figures().disconnected == 0; ++i) {
        in->push(events({{a, i}}));
        all.push_back("16/" + std::to_string(i));
        ASSERT_TRUE(other_->hears(all)) << "nobody waits for who has gone";
    }
    EXPECT_TRUE(receiver_->hears({"16/0"}));
}

TEST_P(RtChannel, HearsNothingOfWhatConsumersOfItsProcessThrow)
{
    const ConsumerAdmin_var admin = channel_->for_consumers();
    const ProxyPushSupplier_var out = admin->obtain_push_supplier();
    const RtecEventComm::PushConsumer_var own =
        orb_.activate<RtecEventComm::PushConsumer>(receiver_.in());
    out->connect_push_consumer(own.in(), wants({{a}}));
    (void)consumers_.connect(other_.in(), wants({{a}}));
    const ProxyPushConsumer_var in = suppliers_.connect(sender_.in());
    receiver_->throws = true;
    std::vector<std::string> all;
    for (int i = 0; i < 20; ++i) {
        in->push(events({{a, i}}));
        all.push_back("16/" + std::to_string(i));
        ASSERT_TRUE(other_->hears(all));
    }
    EXPECT_EQ(0u, made_.figures().disconnected) << "nobody hears of a oneway";
}

TEST_P(RtChannel, GivesASetTogether)
{
    (void)consumers_.connect(receiver_.in(),
                             wants({{a}, {deadline_timeout_type, 0, 36'000'000'000}}));
    const ProxyPushConsumer_var in = suppliers_.connect(sender_.in());
    in->push(events({{a, 1}, {b, 2}, {a, 3}}));
    EXPECT_TRUE(receiver_->hears({"16/1", "16/3"}));
    EXPECT_EQ(1, receiver_->pushes());
}

/// From a consumer's thread: nobody waits for himself.
TEST_P(RtChannel, IsLeftWithinAPush)
{
    ProxyPushSupplier_var out;
    receiver_->on_push = [&] { out->disconnect_push_supplier(); };
    const ConsumerAdmin_var admin = channel_->for_consumers();
    out = admin->obtain_push_supplier();
    const RtecEventComm::PushConsumer_var own =
        orb_.activate<RtecEventComm::PushConsumer>(receiver_.in());
    out->connect_push_consumer(own.in(), wants({{a}}));
    (void)consumers_.connect(other_.in(), wants({{a}}));
    const ProxyPushConsumer_var in = suppliers_.connect(sender_.in());
    in->push(events({{a, 1}}));
    in->push(events({{a, 2}}));
    EXPECT_TRUE(other_->hears({"16/1", "16/2"}));
    EXPECT_TRUE(receiver_->hears({"16/1"}));
}

INSTANTIATE_TEST_SUITE_P(Dispatching, RtChannel,
                         testing::Values(Dispatching::reactive, Dispatching::priorities),
                         [](const testing::TestParamInfo<Dispatching>& tested) {
                             return tested.param == Dispatching::reactive ? "reactive"
                                                                          : "priorities";
                         });

/// A consumer of high priority gets its events while one of low priority is stuck in one.
TEST(RtLanes, DoNotWaitForEachOther)
{
    Servant_var<Receiver> low = new Receiver;
    Servant_var<Receiver> high = new Receiver;
    Servant_var<Sender> sender = new Sender;
    LogLines log;
    const TestOrb orb;
    ChannelOptions options;
    options.dispatching = Dispatching::priorities;
    options.queue_max = 2;
    options.priority_of = [](RtecBase::handle_t handle) {
        return static_cast<CORBA::Short>(handle);
    };
    Notes notes;
    bool is_in = false;
    bool goes_on = false;
    low->on_push = [&] {
        notes.change([&] { is_in = true; });
        EXPECT_TRUE(notes.wait([&] { return goes_on; }));
    };
    RealTimeEventChannel made(orb.in(), options);
    const EventChannel_var channel = made.reference();
    const ConsumerAdmin_var admin = channel->for_consumers();
    // In this process: each is called by its lane.
    for (const auto& [receiver, handle] : {std::pair(low.in(), 0), std::pair(high.in(), 30000)}) {
        const ProxyPushSupplier_var out = admin->obtain_push_supplier();
        const RtecEventComm::PushConsumer_var own =
            orb.activate<RtecEventComm::PushConsumer>(receiver);
        out->connect_push_consumer(own.in(), wants({{a, 0, 0, handle}}));
    }
    const SupplierAdmin_var suppliers = channel->for_suppliers();
    const ProxyPushConsumer_var in = suppliers->obtain_push_consumer();
    const RtecEventComm::PushSupplier_var own =
        orb.activate<RtecEventComm::PushSupplier>(sender.in());
    in->connect_push_supplier(own.in(), {});
    in->push(events({{a, 1}}));
    EXPECT_TRUE(notes.wait([&] { return is_in; }));
    std::vector<std::string> all{"16/1"};
    for (int i = 2; i < 10; ++i) {
        in->push(events({{a, i}}));
        all.push_back("16/" + std::to_string(i));
        EXPECT_TRUE(high->hears(all));
    }
    notes.change([&] { goes_on = true; });
    EXPECT_TRUE(low->hears({"16/1", "16/8", "16/9"})) << "the oldest were dropped";
    EXPECT_EQ(6u, made.figures().dropped);
}

/// Two channels of one process, each of which is connected to many proxies of the other.
TEST(RtCircles, End)
{
    Servant_var<Sender> sender = new Sender;
    Servant_var<Receiver> receiver = new Receiver;
    const TestOrb orb;
    RealTimeEventChannel first(orb.in());
    RealTimeEventChannel second(orb.in());
    const EventChannel_var channels[] = {first.reference(), second.reference()};
    const RtecEventComm::PushSupplier_var own =
        orb.activate<RtecEventComm::PushSupplier>(sender.in());
    ProxyPushConsumer_var in;
    for (int from = 0; from < 2; ++from)
        for (int i = 0; i < 12; ++i) {
            const ConsumerAdmin_var consumers = channels[from]->for_consumers();
            const SupplierAdmin_var suppliers = channels[1 - from]->for_suppliers();
            in = suppliers->obtain_push_consumer();
            in->connect_push_supplier(own.in(), {});
            const ProxyPushSupplier_var out = consumers->obtain_push_supplier();
            out->connect_push_consumer(in.in(), wants({{a}}));
        }
    const ConsumerAdmin_var consumers = channels[0]->for_consumers();
    const ProxyPushSupplier_var out = consumers->obtain_push_supplier();
    const RtecEventComm::PushConsumer_var hears =
        orb.activate<RtecEventComm::PushConsumer>(receiver.in());
    out->connect_push_consumer(hears.in(), wants({{b}}));
    in->push(events({{a, 1}}));
    EXPECT_NE(0u, first.figures().dropped + second.figures().dropped);
    in->push(events({{b, 1}}));
    EXPECT_TRUE(receiver->hears({"17/1"})) << "and go on";
}

// --- Several channels ----------------------------------------------------------------------------

class Watcher final : public POA_RtecEventChannelAdmin::Observer {
  public:
    void update_consumer(const ConsumerQOS& subscriptions) override
    {
        notes_.change([&] {
            wishes_.clear();
            for (CORBA::ULong i = 0; i < subscriptions.dependencies.length(); ++i)
                wishes_ += " " + std::to_string(subscriptions.dependencies[i].event.header.type);
        });
    }
    void update_supplier(const SupplierQOS& publications) override
    {
        notes_.change([&] { publications_ = publications.publications.length(); });
    }
    [[nodiscard]] bool hears(const std::string& wishes, CORBA::ULong publications)
    {
        return notes_.wait([&] { return wishes_ == wishes && publications_ == publications; });
    }

  private:
    Notes notes_; // guards what follows
    std::string wishes_ = "nothing";
    CORBA::ULong publications_ = 99;
};

TEST(RtObservers, AreToldOfChanges)
{
    Servant_var<Watcher> watcher = new Watcher;
    Servant_var<Receiver> receiver = new Receiver;
    Servant_var<Receiver> gateway = new Receiver;
    Servant_var<Sender> sender = new Sender;
    const TestOrb orb;
    RealTimeEventChannel made(orb.in());
    const EventChannel_var channel = made.reference();
    Program program(orb, channel.in());
    const Observer_var own = program.orb().activate<Observer>(watcher.in());
    const Observer_Handle handle = program.channel()->append_observer(own.in());
    EXPECT_TRUE(watcher->hears("", 0)) << "at once";
    const ProxyPushSupplier_var out =
        program.connect(receiver.in(), wants({{conjunction_group}, {a}, {b}}));
    EXPECT_TRUE(watcher->hears(" 9 16 17", 0));
    (void)program.connect(gateway.in(), wants({{own_types_begin + 9}}, true));
    SupplierQOS publications{};
    publications.publications.length(3);
    for (CORBA::ULong i = 0; i < 3; ++i)
        publications.publications[i] = {};
    (void)program.connect(sender.in(), publications);
    EXPECT_TRUE(watcher->hears(" 9 16 17", 3)) << "gateways do not count";
    out->disconnect_push_supplier();
    EXPECT_TRUE(watcher->hears("", 3));
    program.channel()->remove_observer(handle);
    EXPECT_THROW(program.channel()->remove_observer(handle), EventChannel::CANT_REMOVE_OBSERVER);
    EXPECT_THROW((void)program.channel()->append_observer(Observer::_nil()), CORBA::BAD_PARAM);
}

/// Two channels that are led to each other: an event passes as many gateways as it says.
TEST(RtGateways, ForwardWhatIsWantedBehindThem)
{
    Servant_var<Receiver> near = new Receiver;
    Servant_var<Receiver> far = new Receiver;
    Servant_var<Watcher> watcher = new Watcher;
    Servant_var<Sender> sender = new Sender;
    const TestOrb first_orb;
    const TestOrb second_orb;
    const TestOrb gateways;
    RealTimeEventChannel first(first_orb.in());
    RealTimeEventChannel second(second_orb.in());
    const EventChannel_var first_channel = first.reference();
    const EventChannel_var second_channel = second.reference();
    const auto from = gateways.here<EventChannel>(first_channel.in(), first_orb.in());
    const auto to = gateways.here<EventChannel>(second_channel.in(), second_orb.in());
    Gateway there(gateways.in(), from.in(), to.in());
    Gateway back(gateways.in(), to.in(), from.in());
    Program in_first(first_orb, first_channel.in());
    Program in_second(second_orb, second_channel.in());
    (void)in_first.connect(near.in(), wants({{a}}));
    (void)in_second.connect(far.in(), wants({{a}}));
    const ProxyPushConsumer_var in = in_first.connect(sender.in());
    // The gateway has heard of the consumer when the first event comes through.
    std::vector<std::string> all;
    for (int i = 0; far->pushes() == 0; ++i) {
        in->push(events({{a, i}, {b, i}}, 1));
        all.push_back("16/" + std::to_string(i));
        ASSERT_TRUE(near->hears(all)) << "once each: nothing comes back";
    }
    in->push(events({{a, 1'000'000}}, 0));
    in->push(events({{a, 1'000'001}}, 1));
    EXPECT_TRUE(far->has_heard("16/1000001"));
    EXPECT_EQ(0, far->ttl());
    EXPECT_EQ(0, far->count("16/1000000")) << "it might pass no gateway";
    EXPECT_EQ(0, far->count("17/0")) << "nobody wants it there";
    all.insert(all.end(), {"16/1000000", "16/1000001"});
    EXPECT_TRUE(near->hears(all));
    EXPECT_THROW(Gateway(gateways.in(), from.in(), EventChannel::_nil()), CORBA::BAD_PARAM);
}

/// Pushes at the one end until it comes out at the other; `near` hears each event first.
void push_through(ProxyPushConsumer_ptr in, Receiver& near, Receiver& far, CORBA::Long source)
{
    const std::string what = "16/" + std::to_string(source);
    const int before = far.count(what);
    for (int i = near.count(what) + 1; far.count(what) == before; ++i) {
        in->push(events({{a, source}}));
        ASSERT_TRUE(near.hears_at_least(what, i));
    }
}

/// Each channel ends, and comes back by the same reference with nobody connected to it.
TEST(RtGateways, ConnectAnewToChannelsThatComeBack)
{
    Servant_var<Receiver> near = new Receiver;
    Servant_var<Receiver> far = new Receiver;
    Servant_var<Sender> sender = new Sender;
    LogLines log;
    const TestOrb first_orb;
    const TestOrb second_orb;
    const TestOrb gateways;
    std::optional<RealTimeEventChannel> first(std::in_place, first_orb.in(), ChannelOptions{},
                                              "First");
    std::optional<RealTimeEventChannel> second(std::in_place, second_orb.in(), ChannelOptions{},
                                               "Second");
    const EventChannel_var first_channel = first->reference();
    const EventChannel_var second_channel = second->reference();
    const auto from = gateways.here<EventChannel>(first_channel.in(), first_orb.in());
    const auto to = gateways.here<EventChannel>(second_channel.in(), second_orb.in());
    const GatewayOptions options{.look_every = std::chrono::milliseconds(10),
                                 .first_pause = std::chrono::milliseconds(1)};
    Gateway gateway(gateways.in(), from.in(), to.in(), options);
    Program in_first(first_orb, first_channel.in());
    Program in_second(second_orb, second_channel.in());
    (void)in_first.connect(near.in(), wants({{a}}));
    (void)in_second.connect(far.in(), wants({{a}}));
    ProxyPushConsumer_var in = in_first.connect(sender.in());
    push_through(in.in(), *near.in(), *far.in(), 1);

    second.reset();
    second.emplace(second_orb.in(), ChannelOptions{}, "Second");
    EXPECT_TRUE(log.wait_for("connected anew to the channel behind it"));
    Program again_in_second(second_orb, second_channel.in());
    (void)again_in_second.connect(far.in(), wants({{a}}));
    push_through(in.in(), *near.in(), *far.in(), 2);

    first.reset();
    first.emplace(first_orb.in(), ChannelOptions{}, "First");
    Program again_in_first(first_orb, first_channel.in());
    (void)again_in_first.connect(near.in(), wants({{a}}));
    in = again_in_first.connect(sender.in());
    push_through(in.in(), *near.in(), *far.in(), 3);
    EXPECT_LE(1u, gateway.figures().connected_anew); // twice, unless wishes were what it saw first
    EXPECT_LE(3u, gateway.figures().forwarded);
}

/// A channel of somebody else's, which answers as a test says.
class Foreign {
  public:
    explicit Foreign(const TestOrb& orb)
        : orb_(orb), in_(new In(*this)), out_(new Out(*this)), consumers_(new Consumers(*this)),
          suppliers_(new Suppliers(*this)), channel_(new Channel(*this)),
          in_object_(orb.activate<ProxyPushConsumer>(in_.in())),
          out_object_(orb.activate<ProxyPushSupplier>(out_.in())),
          consumers_object_(orb.activate<ConsumerAdmin>(consumers_.in())),
          suppliers_object_(orb.activate<SupplierAdmin>(suppliers_.in())),
          object_(orb.activate<EventChannel>(channel_.in()))
    {
    }
    Foreign(const Foreign&) = delete;
    Foreign& operator=(const Foreign&) = delete;
    ~Foreign()
    {
        orb_.deactivate(channel_.in());
        orb_.deactivate(suppliers_.in());
        orb_.deactivate(consumers_.in());
        orb_.deactivate(out_.in());
        orb_.deactivate(in_.in());
    }

    [[nodiscard]] EventChannel_ptr channel() const { return object_.in(); }
    /// Waits for so many questions whether a proxy is there.
    [[nodiscard]] bool is_asked(int count)
    {
        return notes_.wait([&] { return asked_ >= count; });
    }
    [[nodiscard]] bool has_observed_anew()
    {
        return notes_.wait([&] { return removed_ >= 2 && appended_ >= 3; });
    }
    [[nodiscard]] bool has_left()
    {
        return notes_.wait([&] { return left_ != 0; });
    }
    [[nodiscard]] bool has_been_obtained_from(int count)
    {
        return notes_.wait([&] { return obtained_ >= count; });
    }
    [[nodiscard]] int obtained()
    {
        int count = 0;
        notes_.change([&] { count = obtained_; });
        return count;
    }

    // Set before anybody calls.
    bool has_no_admins = false;
    bool has_no_proxies = false;
    std::function<bool()> on_asked = [] { return false; };

  private:
    bool ask()
    {
        notes_.change([&] { ++asked_; });
        return on_asked();
    }
    struct In final : POA_RtecEventChannelAdmin::ProxyPushConsumer {
        explicit In(Foreign& of) : foreign(of) {}
        void connect_push_supplier(RtecEventComm::PushSupplier_ptr, const SupplierQOS&) override {}
        void push(const EventSet&) override {}
        void disconnect_push_consumer() override
        {
            foreign.notes_.change([&] { ++foreign.left_; });
        }
        CORBA::Boolean _non_existent() override { return foreign.ask(); }
        Foreign& foreign;
    };
    struct Out final : POA_RtecEventChannelAdmin::ProxyPushSupplier {
        explicit Out(Foreign& of) : foreign(of) {}
        void connect_push_consumer(RtecEventComm::PushConsumer_ptr, const ConsumerQOS&) override {}
        void suspend_connection() override {}
        void resume_connection() override {}
        void disconnect_push_supplier() override {}
        CORBA::Boolean _non_existent() override { return foreign.ask(); }
        Foreign& foreign;
    };
    struct Consumers final : POA_RtecEventChannelAdmin::ConsumerAdmin {
        explicit Consumers(Foreign& of) : foreign(of) {}
        ProxyPushSupplier_ptr obtain_push_supplier() override
        {
            foreign.notes_.change([&] { ++foreign.obtained_; });
            if (foreign.has_no_proxies) return ProxyPushSupplier::_nil();
            return ProxyPushSupplier::_duplicate(foreign.out_object_.in());
        }
        Foreign& foreign;
    };
    struct Suppliers final : POA_RtecEventChannelAdmin::SupplierAdmin {
        explicit Suppliers(Foreign& of) : foreign(of) {}
        ProxyPushConsumer_ptr obtain_push_consumer() override
        {
            foreign.notes_.change([&] { ++foreign.obtained_; });
            if (foreign.has_no_proxies) return ProxyPushConsumer::_nil();
            return ProxyPushConsumer::_duplicate(foreign.in_object_.in());
        }
        Foreign& foreign;
    };
    struct Channel final : POA_RtecEventChannelAdmin::EventChannel {
        explicit Channel(Foreign& of) : foreign(of) {}
        ConsumerAdmin_ptr for_consumers() override
        {
            if (foreign.has_no_admins) return ConsumerAdmin::_nil();
            return ConsumerAdmin::_duplicate(foreign.consumers_object_.in());
        }
        SupplierAdmin_ptr for_suppliers() override
        {
            if (foreign.has_no_admins) return SupplierAdmin::_nil();
            return SupplierAdmin::_duplicate(foreign.suppliers_object_.in());
        }
        void destroy() override {}
        Observer_Handle append_observer(Observer_ptr) override
        {
            Observer_Handle handle = 0;
            foreign.notes_.change(
                [&] { handle = static_cast<Observer_Handle>(++foreign.appended_); });
            return handle;
        }
        void remove_observer(Observer_Handle handle) override
        {
            if (handle == 1) { // it had been dropped
                foreign.notes_.change([&] { ++foreign.removed_; });
                throw RtecEventChannelAdmin::EventChannel::CANT_REMOVE_OBSERVER();
            }
            foreign.notes_.change([&] { ++foreign.removed_; });
        }
        Foreign& foreign;
    };

    const TestOrb& orb_;
    Notes notes_; // guards what follows, up to the servants
    int asked_ = 0;
    int left_ = 0;
    int obtained_ = 0;
    int appended_ = 0;
    int removed_ = 0;
    Servant_var<In> in_;
    Servant_var<Out> out_;
    Servant_var<Consumers> consumers_;
    Servant_var<Suppliers> suppliers_;
    Servant_var<Channel> channel_;
    ProxyPushConsumer_var in_object_;
    ProxyPushSupplier_var out_object_;
    ConsumerAdmin_var consumers_object_;
    SupplierAdmin_var suppliers_object_;
    EventChannel_var object_;
};

constexpr GatewayOptions often{.look_every = std::chrono::milliseconds(1),
                               .first_pause = std::chrono::milliseconds(1)};

/// The answer nil is an answer of a hostile channel, at whichever place.
TEST(RtGateways, TakeNoObjectForAnAnswer)
{
    Servant_var<Receiver> receiver = new Receiver;
    LogLines log;
    const TestOrb orb;
    const TestOrb theirs;
    RealTimeEventChannel made(orb.in());
    const EventChannel_var channel = made.reference();
    for (const bool of_admins : {true, false}) {
        Foreign foreign(theirs);
        foreign.has_no_admins = of_admins;
        foreign.has_no_proxies = !of_admins;
        const auto there = orb.here<EventChannel>(foreign.channel(), theirs.in());
        EXPECT_THROW(Gateway(orb.in(), channel.in(), there.in()), CORBA::INV_OBJREF);
        // As the channel in front of it, it is asked by the gateway's thread.
        const Gateway gateway(orb.in(), there.in(), channel.in(), often);
        Program program(orb, channel.in());
        (void)program.connect(receiver.in(), wants({{a}}));
        EXPECT_TRUE(log.wait_for("answers without an object"));
        if (!of_admins) EXPECT_TRUE(foreign.has_been_obtained_from(3)) << "it tries again";
    }
}

/// Who does not say whether a proxy is there has not forgotten it.
TEST(RtGateways, ConnectOnceToWhoDoesNotSay)
{
    Servant_var<Receiver> receiver = new Receiver;
    const TestOrb orb;
    const TestOrb theirs;
    RealTimeEventChannel made(orb.in());
    const EventChannel_var channel = made.reference();
    const std::vector<std::function<bool()>> answers{
        []() -> bool { throw CORBA::TIMEOUT(); }, []() -> bool { throw CORBA::NO_PERMISSION(); },
        []() -> bool { throw CORBA::UNKNOWN(); }, [] { return false; }};
    for (const auto& answer : answers) {
        Foreign behind(theirs);
        behind.on_asked = answer;
        const auto to = orb.here<EventChannel>(behind.channel(), theirs.in());
        {
            const Gateway gateway(orb.in(), channel.in(), to.in(), often);
            EXPECT_TRUE(behind.is_asked(5));
            EXPECT_EQ(1, behind.obtained());
            EXPECT_EQ(0u, gateway.figures().connected_anew);
        }
        Foreign before(theirs);
        before.on_asked = answer;
        const auto from = orb.here<EventChannel>(before.channel(), theirs.in());
        const Gateway gateway(orb.in(), from.in(), channel.in(), often);
        Program program(orb, channel.in());
        (void)program.connect(receiver.in(), wants({{a}}));
        EXPECT_TRUE(before.is_asked(5));
        EXPECT_EQ(1, before.obtained());
        EXPECT_EQ(0u, gateway.figures().connected_anew);
    }
}

/// The connection of before does not stay, even where it is still there.
TEST(RtGateways, LeaveWhoHasForgottenThem)
{
    const TestOrb orb;
    const TestOrb theirs;
    RealTimeEventChannel made(orb.in());
    const EventChannel_var channel = made.reference();
    Foreign foreign(theirs);
    foreign.on_asked = [] { return true; };
    const auto to = orb.here<EventChannel>(foreign.channel(), theirs.in());
    const Gateway gateway(orb.in(), channel.in(), to.in(), often);
    EXPECT_TRUE(foreign.has_left());
}

/// A channel does not say that it has dropped an observer.
TEST(RtGateways, ObserveAnewFromTimeToTime)
{
    const TestOrb orb;
    const TestOrb theirs;
    RealTimeEventChannel made(orb.in());
    const EventChannel_var channel = made.reference();
    Foreign foreign(theirs);
    const auto to = orb.here<EventChannel>(foreign.channel(), theirs.in());
    const Gateway gateway(orb.in(), channel.in(), to.in(), often);
    EXPECT_TRUE(foreign.has_observed_anew());
    EXPECT_EQ(1, foreign.obtained()) << "by the same connection";
}

TEST(RtChannels, HaveNames)
{
    const TestOrb orb;
    const TestOrb client;
    RealTimeEventChannel made(orb.in(), {}, "Radar");
    EXPECT_THROW(RealTimeEventChannel(orb.in(), {}, "Radar"),
                 PortableServer::POA::AdapterAlreadyExists);
    const EventChannel_var channel = made.reference();
    const CORBA::String_var text = orb->object_to_string(channel.in());
    const auto there = client.here<EventChannel>(channel.in(), orb.in());
    const ConsumerAdmin_var admin = there->for_consumers();
    EXPECT_FALSE(CORBA::is_nil(admin.in()));
}

TEST(RtChannels, HaveNoMoreProxiesThanTheyMay)
{
    const TestOrb orb;
    ChannelOptions options;
    options.consumers_max = 2;
    options.suppliers_max = 1;
    RealTimeEventChannel made(orb.in(), options);
    const EventChannel_var channel = made.reference();
    const ConsumerAdmin_var consumers = channel->for_consumers();
    const SupplierAdmin_var suppliers = channel->for_suppliers();
    for (int i = 0; i < 2; ++i)
        EXPECT_FALSE(CORBA::is_nil(ProxyPushSupplier_var(consumers->obtain_push_supplier()).in()));
    EXPECT_THROW(ProxyPushSupplier_var(consumers->obtain_push_supplier()), CORBA::IMP_LIMIT);
    const ProxyPushConsumer_var only = suppliers->obtain_push_consumer();
    EXPECT_THROW(ProxyPushConsumer_var(suppliers->obtain_push_consumer()), CORBA::IMP_LIMIT);
    only->disconnect_push_consumer();
    EXPECT_FALSE(CORBA::is_nil(ProxyPushConsumer_var(suppliers->obtain_push_consumer()).in()));
}

// --- what readers read ---------------------------------------------------------------------------

TEST(RtQueues, GiveInOrderAndKeepTheirMemory)
{
    WaitingSets queue;
    Blocks blocks;
    const auto set_of = [&](CORBA::ULong count) {
        BlockPtr block = blocks.take();
        block->count = count;
        return Waiting{.block = std::move(block), .events = {}};
    };
    CORBA::ULong put = 0;
    CORBA::ULong taken = 0;
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < round % 13; ++i)
            queue.push(set_of(++put));
        while (queue.size() > 3)
            ASSERT_EQ(++taken, queue.pop().count());
    }
    while (queue.size() != 0)
        ASSERT_EQ(++taken, queue.pop().count());
    EXPECT_EQ(put, taken);
    const BlockPtr one = blocks.take();
    const BlockPtr other = one;
    EXPECT_NE(one.operator->(), blocks.take().operator->()) << "somebody has it";
}

TEST(RtPublished, IsWholeForWhoReads)
{
    using Numbers = std::vector<int>;
    static std::atomic<int> alive{0};
    struct Counted {
        explicit Counted(int number) : numbers(64, number) { ++alive; }
        Counted(const Counted&) = delete;
        Counted& operator=(const Counted&) = delete;
        ~Counted() { --alive; }
        Numbers numbers;
    };
    {
        Published<Counted> published(std::make_unique<const Counted>(0));
        std::atomic<bool> ends{false};
        std::vector<std::thread> readers;
        for (int i = 0; i < 2; ++i)
            readers.emplace_back([&] {
                while (!ends) {
                    const Published<Counted>::Reader now(published);
                    const Published<Counted>::Reader later(published); // within that
                    EXPECT_EQ(64 * now->numbers.front(),
                              std::accumulate(now->numbers.begin(), now->numbers.end(), 0));
                    EXPECT_GE(later->numbers.front(), now->numbers.front());
                }
            });
        for (int i = 1; i < 2000; ++i)
            published.replace(std::make_unique<const Counted>(i));
        ends = true;
        for (std::thread& reader : readers)
            reader.join();
        published.replace(std::make_unique<const Counted>(0));
        EXPECT_EQ(1, alive) << "nobody reads those of before";
    }
    EXPECT_EQ(0, alive);
}

} // namespace
} // namespace kairos::rtevents
