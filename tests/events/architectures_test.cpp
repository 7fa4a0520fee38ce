// SPDX-License-Identifier: Apache-2.0
//
// Channels whatever serves their requests: a pull that waits does not keep the push from coming
// that it waits for, nor the end of the channel, also where there is one thread only.
#include "tests/malformed/fixture.h"

#include "kairos/events/CosEventComm.h"
#include "kairos/events/service.h"

#include <optional>
#include <thread>

namespace kairos::orb_testing {

using namespace CosEventChannelAdmin;

class ChannelsOf : public testing::TestWithParam<const char*> {
  protected:
    ChannelsOf() : service_(std::in_place, server_.orb())
    {
        const KairosEvents::Channel_var made = service_->create_channel();
        reference_ = CORBA::String_var(server_.orb()->object_to_string(made.in())).in();
    }
    /// The channel as a client of an ORB of its own, and so with a connection of its own.
    [[nodiscard]] EventChannel_var channel(Client& client) const
    {
        const CORBA::Object_var object = client.orb()->string_to_object(reference_.c_str());
        return EventChannel::_unchecked_narrow(object.in());
    }
    [[nodiscard]] static ProxyPullSupplier_var puller(EventChannel_ptr channel)
    {
        const ConsumerAdmin_var admin = channel->for_consumers();
        ProxyPullSupplier_var proxy = admin->obtain_pull_supplier();
        proxy->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
        return proxy;
    }

    RunningServer server_{GetParam()};
    std::optional<events::EventService> service_;
    std::string reference_;
};

TEST_P(ChannelsOf, AnyArchitectureServePullsThatWait)
{
    constexpr CORBA::Long count = 20;
    Client consumers;
    Client suppliers;
    const ProxyPullSupplier_var from = puller(channel(consumers).in());
    const SupplierAdmin_var admin = channel(suppliers)->for_suppliers();
    const ProxyPushConsumer_var to = admin->obtain_push_consumer();
    to->connect_push_supplier(CosEventComm::PushSupplier::_nil());
    Event asked;
    std::thread thread([&] {
        for (CORBA::Long i = 0; i < count; ++i) {
            asked.set();
            const CORBA::Any_var event = from->pull();
            CORBA::Long value = -1;
            EXPECT_TRUE((event.in() >>= value) && value == i);
        }
    });
    EXPECT_TRUE(asked.wait());
    for (CORBA::Long i = 0; i < count; ++i) {
        CORBA::Any data;
        data <<= i;
        to->push(data);
    }
    thread.join();
}

TEST_P(ChannelsOf, AnyArchitectureEndPullsThatWait)
{
    Client consumers;
    Client others;
    const ProxyPullSupplier_var from = puller(channel(consumers).in());
    Event asked;
    std::thread thread([&] {
        asked.set();
        try {
            const CORBA::Any_var event = from->pull();
            ADD_FAILURE() << "an event of nobody";
        } catch (const CosEventComm::Disconnected&) {
        } catch (const CORBA::OBJECT_NOT_EXIST&) { // it came too late for that
        }
    });
    EXPECT_TRUE(asked.wait());
    channel(others)->destroy();
    thread.join();
}

KAIROS_EVERY_ARCHITECTURE(ChannelsOf);

} // namespace kairos::orb_testing
