// SPDX-License-Identifier: Apache-2.0
//
// Consumers and suppliers that are slow, gone or hostile: nobody waits for them, what they cost is
// bounded, and they are disconnected in the end.
#include "kairos/events/channel_testing.h"

#include "kairos/events/CosEventComm.h"
#include "kairos/orb/failure.h"

#include <arpa/inet.h>
#include <atomic>
#include <netinet/in.h>
#include <optional>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace kairos::events {
namespace {

using namespace CosEventChannelAdmin;
using PortableServer::Servant_var;

ServiceLimits small_limits()
{
    ServiceLimits limits;
    limits.queue_max = 10;
    limits.proxies_max = 8;
    limits.proxy_idle_max = std::chrono::hours(1);
    limits.failures_max = 3;
    limits.retry_pause = std::chrono::milliseconds(1);
    limits.poll_interval = std::chrono::milliseconds(1);
    limits.pull_max = std::chrono::milliseconds(1);
    limits.call_timeout = patience;
    return limits;
}

class Failures : public ChannelTest {
  protected:
    Failures() : ChannelTest(small_limits()) {}
    TestOrb slow_clients_; // whose connection is not the others'
};

TEST_F(Failures, ASlowConsumerDelaysNobody)
{
    const Servant_var<Consumer> slow = new Consumer;
    const Servant_var<Consumer> other = new Consumer;
    slow->close();
    (void)connect(slow.in(), slow_clients_);
    (void)connect(other.in());
    const ProxyPushConsumer_var proxy = supplier();
    constexpr CORBA::Long count = 100;
    proxy->push(event_of(0));
    ASSERT_TRUE(slow->is_called());
    for (CORBA::Long i = 1; i < count; ++i) {
        proxy->push(event_of(i)); // comes back although one of them takes nothing
        ASSERT_TRUE(other->has(static_cast<std::size_t>(i) + 1));
    }
    EXPECT_TRUE(log_.wait_for("drops events"));
    slow->open();
    ASSERT_TRUE(slow->has_last(count - 1));
    // The one that was under way, and what its queue has kept: the newest.
    const std::vector<CORBA::Long> values = slow->values();
    ASSERT_EQ(11U, values.size());
    EXPECT_EQ(0, values.front());
    for (CORBA::Long i = 1; i <= 10; ++i)
        EXPECT_EQ(count - 11 + i, values[static_cast<std::size_t>(i)]);
    EXPECT_EQ(static_cast<CORBA::ULongLong>(count) - 11, channel_->figures().dropped);
}

TEST_F(Failures, AConsumerThatDoesNotExistIsDisconnectedAtOnce)
{
    const Servant_var<Consumer> consumer = new Consumer;
    (void)connect(consumer.in());
    clients_.deactivate(consumer.in());
    supplier()->push(event_of(1));
    EXPECT_TRUE(log_.wait_for("OBJECT_NOT_EXIST"));
    EXPECT_EQ(1U, channel_->figures().given_up);
    EXPECT_EQ(0U, channel_->figures().consumers);
    EXPECT_EQ(1U, channel_->figures().lost);
}

TEST_F(Failures, AConsumerThatIsDisconnectedIsGivenUp)
{
    const Servant_var<Consumer> consumer = new Consumer;
    consumer->raise([] { throw CosEventComm::Disconnected(); });
    (void)connect(consumer.in());
    supplier()->push(event_of(1));
    EXPECT_TRUE(log_.wait_for("CosEventComm/Disconnected"));
    EXPECT_EQ(1U, channel_->figures().given_up);
}

TEST_F(Failures, AConsumerThatCannotBeReachedIsTriedAgainAndGivenUp)
{
    const Servant_var<Consumer> other = new Consumer;
    (void)connect(other.in());
    std::optional<TestOrb> gone(std::in_place);
    const Servant_var<Consumer> consumer = new Consumer;
    const ProxyPushSupplier_var proxy = connect(consumer.in(), *gone);
    const ProxyPushConsumer_var source = supplier();
    source->push(event_of(1));
    ASSERT_TRUE(consumer->has(1));
    gone.reset();
    source->push(event_of(2));
    EXPECT_TRUE(log_.wait_for("the consumer at"));
    EXPECT_EQ(1U, channel_->figures().given_up);
    EXPECT_THROW(proxy->disconnect_push_supplier(), CORBA::OBJECT_NOT_EXIST);
    ASSERT_TRUE(other->has(2));
}

TEST_F(Failures, AConsumerThatRaisesOnceIsKept)
{
    const Servant_var<Consumer> consumer = new Consumer;
    std::atomic<int> calls = 0;
    consumer->raise([&] {
        if (++calls == 1) throw CORBA::NO_MEMORY();
    });
    (void)connect(consumer.in());
    const ProxyPushConsumer_var proxy = supplier();
    for (CORBA::Long i = 0; i < 5; ++i)
        proxy->push(event_of(i));
    ASSERT_TRUE(consumer->has(4));
    EXPECT_EQ(1U, channel_->figures().lost);
    EXPECT_EQ(1U, channel_->figures().consumers);
}

/// What surely did not arrive is sent again, but not for ever to somebody who is there.
TEST_F(Failures, AnEventThatIsNeverTakenIsDroppedAndTheConsumerKept)
{
    ServiceLimits limits = small_limits();
    limits.failures_max = 5;
    start(limits);
    const Servant_var<Consumer> consumer = new Consumer;
    std::atomic<int> calls = 0;
    consumer->raise([&] {
        if (++calls <= 3) throw CORBA::TRANSIENT(0, CORBA::COMPLETED_NO);
    });
    (void)connect(consumer.in());
    const ProxyPushConsumer_var proxy = supplier();
    proxy->push(event_of(1));
    proxy->push(event_of(2));
    ASSERT_TRUE(consumer->has(1));
    EXPECT_EQ(std::vector<CORBA::Long>{2}, consumer->values());
    EXPECT_EQ(1U, channel_->figures().lost);
    EXPECT_EQ(1U, channel_->figures().consumers);
    EXPECT_EQ(0U, channel_->figures().given_up);
}

/// That this ORB is over is not believed of others.
TEST_F(Failures, APeerWhoseOrbIsOverIsGivenUp)
{
    const Servant_var<Consumer> consumer = new Consumer;
    consumer->raise(
        [] { throw CORBA::BAD_INV_ORDER(orb::minor_code::orb_shut_down, CORBA::COMPLETED_NO); });
    (void)connect(consumer.in());
    const ProxyPushConsumer_var proxy = supplier();
    for (CORBA::Long i = 0; i < 3; ++i)
        proxy->push(event_of(i));
    EXPECT_TRUE(log_.wait_for("the consumer at"));
    EXPECT_EQ(1U, channel_->figures().given_up);
}

/// Nor that it has too many calls.
TEST_F(Failures, APeerThatHasTooManyCallsIsGivenUp)
{
    const Servant_var<Consumer> consumer = new Consumer;
    consumer->raise(
        [] { throw CORBA::TRANSIENT(orb::minor_code::too_many_calls, CORBA::COMPLETED_NO); });
    (void)connect(consumer.in());
    supplier()->push(event_of(1));
    EXPECT_TRUE(log_.wait_for("the consumer at"));
    EXPECT_EQ(1U, channel_->figures().given_up);
}

TEST_F(Failures, LimitsWithoutWhichNothingIsDoneAreRefused)
{
    for (const auto change : {+[](ServiceLimits& limits) { limits.quick_threads = 0; },
                              +[](ServiceLimits& limits) { limits.fresh_threads = 0; },
                              +[](ServiceLimits& limits) { limits.patient_threads = 0; },
                              +[](ServiceLimits& limits) { limits.failures_max = 0; },
                              +[](ServiceLimits& limits) { limits.event_tries_max = 0; }}) {
        ServiceLimits limits = small_limits();
        change(limits);
        EXPECT_THROW(start(limits), CORBA::BAD_PARAM);
    }
    EXPECT_NO_THROW(start(small_limits()));
}

TEST_F(Failures, ASupplierThatDoesNotExistIsDisconnected)
{
    const Servant_var<PullSupplierServant> source = new PullSupplierServant;
    const auto object = clients_.activate<CosEventComm::PullSupplier>(source.in());
    const ProxyPullConsumer_var proxy = pull_consumer();
    proxy->connect_pull_supplier(object.in());
    ASSERT_TRUE(source->was_asked(3));
    clients_.deactivate(source.in());
    EXPECT_TRUE(log_.wait_for("the supplier at"));
    EXPECT_EQ(1U, channel_->figures().given_up);
    EXPECT_EQ(0U, channel_->figures().suppliers);
}

/// Accepts connections, by the system, and says nothing on them.
class Silence {
  public:
    explicit Silence(int backlog = 1) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(socket_, any, size) != 0 || ::listen(socket_, backlog) != 0 ||
            ::getsockname(socket_, any, &size) != 0)
            throw std::runtime_error("no listener");
        reference = "corbaloc::127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/silence";
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;
    ~Silence() { ::close(socket_); }

    sockaddr_in address{};
    std::string reference;

  private:
    const int socket_;
};

/// Also while the service ends, which does not wait for it.
TEST_F(Failures, WhoNeverAnswersIsWaitedForByNobody)
{
    const Servant_var<Consumer> stuck = new Consumer;
    const Servant_var<Consumer> other = new Consumer;
    stuck->close();
    (void)connect(stuck.in(), slow_clients_);
    (void)connect(other.in());
    const ProxyPushConsumer_var proxy = supplier();
    proxy->push(event_of(1));
    ASSERT_TRUE(other->has(1));
    service_.reset();
    stuck->open();
}

/// More of them than there are threads.
TEST_F(Failures, PeersThatSayNothingAreWaitedForByNobody)
{
    ServiceLimits limits = small_limits();
    limits.proxies_max = 100;
    start(limits);
    const std::vector<Silence> silent(30);
    for (const Silence& one : silent) {
        const CORBA::Object_var object = clients_->string_to_object(one.reference.c_str());
        const auto consumer = CosEventComm::PushConsumer_var(
            CosEventComm::PushConsumer::_unchecked_narrow(object.in()));
        push_supplier()->connect_push_consumer(consumer.in());
        const auto source = CosEventComm::PullSupplier_var(
            CosEventComm::PullSupplier::_unchecked_narrow(object.in()));
        pull_consumer()->connect_pull_supplier(source.in());
    }
    const ProxyPushConsumer_var proxy = supplier();
    proxy->push(event_of(1));
    const Servant_var<Consumer> consumer = new Consumer;
    (void)connect(consumer.in());
    proxy->push(event_of(2));
    ASSERT_TRUE(consumer->has(1));
    service_.reset(); // which does not wait for their answers
}

TEST_F(Failures, AnAnswerHasATime)
{
    ServiceLimits limits = small_limits();
    limits.call_timeout = std::chrono::milliseconds(20);
    limits.failures_max = 1;
    start(limits);
    const Servant_var<Consumer> stuck = new Consumer;
    stuck->close();
    (void)connect(stuck.in());
    supplier()->push(event_of(1));
    EXPECT_TRUE(log_.wait_for("TIMEOUT"));
    EXPECT_EQ(1U, channel_->figures().given_up);
    stuck->open();
}

TEST_F(Failures, APullHasATime)
{
    const ProxyPullSupplier_var consumer = pull_supplier();
    consumer->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    EXPECT_THROW(CORBA::Any_var(consumer->pull()), CORBA::TIMEOUT);
}

/// As when its caller has gone, and asks anew: only one of the two is there.
TEST_F(Failures, APullEndsTheOneBefore)
{
    const TestOrb server({"-ORBConcurrency", "thread-per-connection"});
    ServiceLimits limits = small_limits();
    limits.pull_max = patience;
    EventService service(server.in(), limits);
    const KairosEvents::Channel_var made = service.create_channel();
    channel_ = clients_.here<KairosEvents::Channel>(made.in(), server.in());
    const ProxyPullSupplier_var consumer = pull_supplier();
    consumer->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    const auto again = slow_clients_.here<ProxyPullSupplier>(consumer.in(), clients_.in());
    Notes notes;
    int ended = 0;
    int events = 0;
    const auto pull = [&](ProxyPullSupplier_ptr from) {
        try {
            const CORBA::Any_var event = from->pull();
            notes.change([&] { ++events; });
        } catch (const CORBA::TIMEOUT&) {
            notes.change([&] { ++ended; });
        }
    };
    std::thread first([&] { pull(consumer.in()); });
    std::thread second([&] { pull(again.in()); });
    EXPECT_TRUE(notes.wait([&] { return ended == 1; }));
    supplier()->push(event_of(1));
    first.join();
    second.join();
    EXPECT_EQ(1, events);
    EXPECT_EQ(1, ended);
    channel_ = nullptr;
}

TEST_F(Failures, APullQueueIsBounded)
{
    const ProxyPullSupplier_var consumer = pull_supplier();
    consumer->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    const ProxyPushConsumer_var proxy = supplier();
    for (CORBA::Long i = 0; i < 15; ++i)
        proxy->push(event_of(i));
    const CORBA::Any_var event = consumer->pull();
    CORBA::Long value = -1;
    EXPECT_TRUE((event.in() >>= value) && value == 5);
    EXPECT_EQ(5U, channel_->figures().dropped);
}

CORBA::Any event_of_size(CORBA::ULong octets)
{
    CORBA::Any event;
    CORBA::OctetSeq value;
    value.length(octets);
    event <<= value;
    return event;
}

TEST_F(Failures, AnEventIsBounded)
{
    ServiceLimits limits = small_limits();
    limits.event_octets_max = 1000;
    start(limits);
    const Servant_var<Consumer> consumer = new Consumer;
    (void)connect(consumer.in());
    const ProxyPushConsumer_var proxy = supplier();
    EXPECT_THROW(proxy->push(event_of_size(1000)), CORBA::IMP_LIMIT);
    EXPECT_EQ(1U, channel_->figures().dropped);
    proxy->push(event_of_size(900));
    EXPECT_TRUE(consumer->has(1));
}

/// Of all channels.
TEST_F(Failures, WhatWaitsIsBounded)
{
    ServiceLimits limits = small_limits();
    limits.octets_of_all_max = 3000; // an event is kept as it came, and as it goes
    start(limits);
    const ProxyPullSupplier_var consumer = pull_supplier();
    consumer->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    supplier()->push(event_of_size(1000));
    const KairosEvents::Channel_var first = channel_;
    const KairosEvents::Channel_var made = service_->create_channel();
    channel_ = clients_.here<KairosEvents::Channel>(made.in(), server_.in());
    const ProxyPullSupplier_var other = pull_supplier();
    other->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    const ProxyPushConsumer_var proxy = supplier();
    EXPECT_THROW(proxy->push(event_of_size(1000)), CORBA::NO_RESOURCES);
    CORBA::Boolean has_event = false;
    CORBA::Any_var event = consumer->try_pull(has_event);
    EXPECT_TRUE(has_event);
    proxy->push(event_of_size(1000));
    event = other->try_pull(has_event);
    EXPECT_TRUE(has_event);
    EXPECT_EQ(0U, first->figures().dropped);
    EXPECT_EQ(1U, channel_->figures().dropped);
}

TEST_F(Failures, ProxiesOfAllChannelsAreBounded)
{
    ServiceLimits limits = small_limits();
    limits.proxies_of_all_max = 2;
    start(limits);
    const ProxyPushConsumer_var first = push_consumer();
    const KairosEvents::Channel_var made = service_->create_channel();
    channel_ = clients_.here<KairosEvents::Channel>(made.in(), server_.in());
    const ProxyPushConsumer_var second = push_consumer();
    EXPECT_THROW((void)push_consumer(), CORBA::IMP_LIMIT);
    first->disconnect_push_consumer();
    EXPECT_NO_THROW((void)push_consumer());
}

TEST_F(Failures, ProxiesAreBounded)
{
    std::vector<ProxyPushConsumer_var> proxies;
    for (int i = 0; i < 8; ++i)
        proxies.push_back(push_consumer());
    EXPECT_THROW((void)push_consumer(), CORBA::IMP_LIMIT);
    proxies.front()->disconnect_push_consumer();
    EXPECT_NO_THROW((void)push_consumer());
}

TEST_F(Failures, ProxiesThatNobodyUsesMakeRoom)
{
    ServiceLimits limits = small_limits();
    limits.proxies_max = 2;
    limits.proxy_idle_max = std::chrono::milliseconds(0);
    start(limits);
    const ProxyPushConsumer_var first = supplier();
    const ProxyPushConsumer_var second = supplier();
    EXPECT_NO_THROW(first->push(event_of(1)));
    const ProxyPushConsumer_var third = push_consumer();
    EXPECT_NO_THROW(first->push(event_of(1)));
    EXPECT_THROW(second->push(event_of(1)), CORBA::OBJECT_NOT_EXIST);
}

TEST_F(Failures, ChannelsAreBounded)
{
    ServiceLimits limits = small_limits();
    limits.channels_max = 1;
    start(limits);
    EXPECT_THROW(KairosEvents::Channel_var(service_->create_channel()), CORBA::IMP_LIMIT);
    channel_->destroy();
    EXPECT_NO_THROW(KairosEvents::Channel_var(service_->create_channel()));
}

} // namespace
} // namespace kairos::events
