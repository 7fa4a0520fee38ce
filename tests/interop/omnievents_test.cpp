// SPDX-License-Identifier: Apache-2.0
//
// Our suppliers and consumers at a channel of omniEvents, omniEvents' own programs at a channel of
// ours, and channels of both that are connected to each other. Without Debian's omnievents the
// tests say that they are skipped.
#include "naming_server.h"

#include "kairos/events/CosEventComm.h"
#include "kairos/events/channel_testing.h"
#include "kairos/lifecycle/CosLifeCycle.h"
#include "tests/calls/held_ports.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>

using namespace interop;
using namespace CosEventChannelAdmin;
using kairos::bench::ChildProcess;
using kairos::events::Consumer;
using kairos::events::event_of;
using kairos::events::TestOrb;
using PortableServer::Servant_var;

namespace {

std::string program(const std::string& name) { return kairos::bench::find_program(name); }

/// The server, which has no Naming Service to register with.
class OmniEvents {
  public:
    OmniEvents()
        : server_({program("omniEvents"), "-f", "-v", "-t", "/dev/stdout", "-p",
                   std::to_string(port_.port()), "-l", folder_.path().string(), "-ORBInitRef",
                   "NameService=corbaloc::127.0.0.1:9/NameService"})
    {
    }
    [[nodiscard]] const std::string& factory() const { return server_.reference; }

  private:
    const TemporaryFolder folder_;
    const calls::HeldPorts port_{1}; // omniEvents wants to be told which
    NamingServer server_;            // that is: one that says its reference
};

/// Our channels.
class KairosEventsServer {
  public:
    KairosEventsServer()
        : server_({KAIROS_TOOL, "events", "--listen", "iiop://127.0.0.1", "--poll", "0.01"})
    {
    }
    [[nodiscard]] const std::string& channel() const { return server_.reference; }

  private:
    NamingServer server_;
};

class OmniEventsTest : public testing::Test {
  protected:
    void SetUp() override
    {
        for (const char* name : {"omniEvents", "events", "eventf"})
            if (program(name).empty()) GTEST_SKIP() << "Debian's omnievents is not installed";
        theirs_.emplace();
        ours_.emplace();
    }
    /// A new channel of omniEvents'.
    [[nodiscard]] EventChannel_var their_channel() const
    {
        CORBA::Object_var object = orb_->string_to_object(theirs_->factory().c_str());
        const auto factory = CosLifeCycle::GenericFactory_var(
            CosLifeCycle::GenericFactory::_unchecked_narrow(object.in()));
        CosLifeCycle::Key key;
        key.length(1);
        key[0].id = "EventChannel";
        key[0].kind = "object interface";
        object = factory->create_object(key, CosLifeCycle::Criteria());
        return EventChannel::_narrow(object.in());
    }
    [[nodiscard]] KairosEvents::Channel_var our_channel() const
    {
        const CORBA::Object_var object = orb_->string_to_object(ours_->channel().c_str());
        return KairosEvents::Channel::_narrow(object.in());
    }
    [[nodiscard]] std::string text_of(CORBA::Object_ptr object) const
    {
        return CORBA::String_var(orb_->object_to_string(object)).in();
    }
    [[nodiscard]] ProxyPushConsumer_var supplier(EventChannel_ptr channel) const
    {
        const SupplierAdmin_var admin = channel->for_suppliers();
        ProxyPushConsumer_var proxy = admin->obtain_push_consumer();
        proxy->connect_push_supplier(CosEventComm::PushSupplier::_nil());
        return proxy;
    }
    void connect(EventChannel_ptr channel, Consumer* consumer) const
    {
        const ConsumerAdmin_var admin = channel->for_consumers();
        const ProxyPushSupplier_var proxy = admin->obtain_push_supplier();
        proxy->connect_push_consumer(orb_.activate<CosEventComm::PushConsumer>(consumer).in());
    }
    /// Asks, for there is nobody who tells, until others are connected.
    [[nodiscard]] static bool has_consumers(KairosEvents::Channel_ptr channel, CORBA::ULong count)
    {
        const auto end = std::chrono::steady_clock::now() + interop::patience;
        while (channel->figures().consumers < count)
            if (std::chrono::steady_clock::now() > end) return false;
        return true;
    }

    TestOrb orb_;
    std::optional<OmniEvents> theirs_;
    std::optional<KairosEventsServer> ours_;
};

const std::vector<CORBA::Long> one_to_five{1, 2, 3, 4, 5};

void push_all(ProxyPushConsumer_ptr to)
{
    for (const CORBA::Long value : one_to_five)
        to->push(event_of(value));
}

TEST_F(OmniEventsTest, OursPushThroughTheirChannel)
{
    const EventChannel_var channel = their_channel();
    const Servant_var<Consumer> consumer = new Consumer;
    connect(channel.in(), consumer.in());
    push_all(supplier(channel.in()).in());
    ASSERT_TRUE(consumer->has(5));
    EXPECT_EQ(one_to_five, consumer->values());
}

TEST_F(OmniEventsTest, OursPullThroughTheirChannel)
{
    const EventChannel_var channel = their_channel();
    const Servant_var<kairos::events::PullSupplierServant> source =
        new kairos::events::PullSupplierServant;
    source->add(7);
    const SupplierAdmin_var suppliers = channel->for_suppliers();
    const ConsumerAdmin_var consumers = channel->for_consumers();
    const ProxyPullSupplier_var from = consumers->obtain_pull_supplier();
    from->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    const ProxyPullConsumer_var to = suppliers->obtain_pull_consumer();
    to->connect_pull_supplier(orb_.activate<CosEventComm::PullSupplier>(source.in()).in());
    CORBA::Boolean has_event = false; // theirs does not wait: it raises TRANSIENT
    CORBA::Any_var event;
    const auto end = std::chrono::steady_clock::now() + interop::patience;
    while (!has_event && std::chrono::steady_clock::now() < end)
        event = from->try_pull(has_event);
    CORBA::Long value = 0;
    EXPECT_TRUE((event.in() >>= value) && value == 7);
}

/// Their program notes what our channel pushes, and pushes it again.
TEST_F(OmniEventsTest, TheirProgramsAtOurChannel)
{
    const KairosEvents::Channel_var channel = our_channel();
    const TemporaryFolder folder;
    const std::string file = folder.path() / "events";
    ChildProcess notes = ChildProcess::start(process_options({"/bin/sh", "-c",
                                                              "exec " + program("events") + " " +
                                                                  ours_->channel() + " > " + file}))
                             .value();
    ASSERT_TRUE(has_consumers(channel.in(), 1));
    const ProxyPushConsumer_var proxy = supplier(channel.in());
    push_all(proxy.in());
    // Its answer to the last, which the channel counts, comes when it has it.
    const auto end = std::chrono::steady_clock::now() + interop::patience;
    while (channel->figures().delivered < 5 && std::chrono::steady_clock::now() < end) {
    }
    ::kill(notes.pid(), SIGINT);
    (void)notes.finish(interop::patience);

    const Servant_var<Consumer> consumer = new Consumer;
    connect(channel.in(), consumer.in());
    const ChildProcess again =
        ChildProcess::start(process_options({"/bin/sh", "-c",
                                             "exec " + program("events") + " -s " +
                                                 ours_->channel() + " < " + file}))
            .value();
    ASSERT_TRUE(consumer->has(5));
    EXPECT_EQ(one_to_five, consumer->values());
}

void federate(const std::string& from, const std::string& to)
{
    const Remains remains =
        kairos::bench::run_to_end(process_options({program("eventf"), from, to}), interop::patience)
            .value();
    EXPECT_EQ(0, remains.exit_status) << remains.errors << remains.output;
}

TEST_F(OmniEventsTest, OurChannelFeedsTheirs)
{
    const KairosEvents::Channel_var ours = our_channel();
    const EventChannel_var theirs = their_channel();
    federate(text_of(ours.in()), text_of(theirs.in()));
    const Servant_var<Consumer> consumer = new Consumer;
    connect(theirs.in(), consumer.in());
    push_all(supplier(ours.in()).in());
    ASSERT_TRUE(consumer->has(5));
    EXPECT_EQ(one_to_five, consumer->values());
}

TEST_F(OmniEventsTest, TheirChannelFeedsOurs)
{
    const KairosEvents::Channel_var ours = our_channel();
    const EventChannel_var theirs = their_channel();
    federate(text_of(theirs.in()), text_of(ours.in()));
    const Servant_var<Consumer> consumer = new Consumer;
    connect(ours.in(), consumer.in());
    push_all(supplier(theirs.in()).in());
    ASSERT_TRUE(consumer->has(5));
    EXPECT_EQ(one_to_five, consumer->values());
}

} // namespace
