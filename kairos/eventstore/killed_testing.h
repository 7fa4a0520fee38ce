// SPDX-License-Identifier: Apache-2.0
//
// What a notification service with a store promises: what it has acknowledged is there after it was
// killed, whichever store it is. And what its tests share.
#pragma once

#include "kairos/notification/notification_testing.h"

#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace kairos::eventstore {

inline CosNotification::QoSProperties reliability(CORBA::Short events, CORBA::Short connections)
{
    CosNotification::QoSProperties qos;
    qos.length(2);
    qos[0].name = CosNotification::EventReliability;
    qos[0].value <<= events;
    qos[1].name = CosNotification::ConnectionReliability;
    qos[1].value <<= connections;
    return qos;
}
inline CosNotification::QoSProperties all_persistent()
{
    return reliability(CosNotification::Persistent, CosNotification::Persistent);
}

inline notification::NotificationLimits limits_of_tests()
{
    notification::NotificationLimits limits;
    limits.call_timeout = events::patience;
    limits.retry_pause = std::chrono::milliseconds(1);
    limits.poll_interval = std::chrono::milliseconds(5);
    return limits;
}

/// One that is connected to a channel's consumers' side: that of before, or a new one.
inline CosNotifyChannelAdmin::StructuredProxyPullSupplier_var
pulling_proxy(KairosNotification::Channel_ptr channel)
{
    const CosNotifyChannelAdmin::ConsumerAdmin_var consumers = channel->default_consumer_admin();
    const CosNotifyChannelAdmin::ProxyIDSeq_var ids = consumers->pull_suppliers();
    if (ids->length() != 0) {
        const CosNotifyChannelAdmin::ProxySupplier_var found =
            consumers->get_proxy_supplier(ids[0U]);
        return CosNotifyChannelAdmin::StructuredProxyPullSupplier::_narrow(found.in());
    }
    CosNotifyChannelAdmin::ProxyID id = 0;
    const CosNotifyChannelAdmin::ProxySupplier_var made =
        consumers->obtain_notification_pull_supplier(CosNotifyChannelAdmin::STRUCTURED_EVENT, id);
    CosNotifyChannelAdmin::StructuredProxyPullSupplier_var pulled =
        CosNotifyChannelAdmin::StructuredProxyPullSupplier::_narrow(made.in());
    pulled->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
    return pulled;
}

/// One that is connected to its suppliers' side.
inline CosNotifyChannelAdmin::StructuredProxyPushConsumer_var
pushed_proxy(KairosNotification::Channel_ptr channel)
{
    const CosNotifyChannelAdmin::SupplierAdmin_var suppliers = channel->default_supplier_admin();
    CosNotifyChannelAdmin::ProxyID id = 0;
    const CosNotifyChannelAdmin::ProxyConsumer_var made =
        suppliers->obtain_notification_push_consumer(CosNotifyChannelAdmin::STRUCTURED_EVENT, id);
    CosNotifyChannelAdmin::StructuredProxyPushConsumer_var from =
        CosNotifyChannelAdmin::StructuredProxyPushConsumer::_narrow(made.in());
    from->connect_structured_push_supplier(CosNotifyComm::StructuredPushSupplier::_nil());
    return from;
}

/// What a consumer gets that pulls until there is nothing.
[[nodiscard]] inline std::vector<CORBA::Long>
all_pulled(CosNotifyChannelAdmin::StructuredProxyPullSupplier_ptr proxy)
{
    std::vector<CORBA::Long> all;
    CORBA::Boolean has_event = true;
    for (;;) {
        const CosNotification::StructuredEvent_var event =
            proxy->try_pull_structured_event(has_event);
        if (!has_event) return all;
        all.push_back(notification::number_in(event.in()));
    }
}

/// What the service's process does until it is killed: pushes numbers, and says of each on the pipe
/// that it was acknowledged.
template <typename Open>
[[noreturn]] void push_until_killed(const Open& open, CORBA::Long first, int output)
{
    const events::TestOrb orb;
    notification::NotificationService service(orb.in(), limits_of_tests(), open());
    const auto channel =
        KairosNotification::Channel_var(service.create_channel("Lab", all_persistent()));
    const auto pulled = pulling_proxy(channel.in());
    const auto from = pushed_proxy(channel.in());
    const auto say = [output](CORBA::Long what) {
        if (write(output, &what, sizeof what) != sizeof what) _exit(1);
    };
    // Some are taken by the consumer: those are said as negative numbers when the next is there.
    CORBA::Long taken = 0;
    for (CORBA::Long number = first;; ++number) {
        from->push_structured_event(notification::event_of("Lab", "Reading", number));
        say(number);
        if (number % 3 != 0) continue;
        const CORBA::Long next = notification::number_in(
            CosNotification::StructuredEvent_var(pulled->pull_structured_event()).in());
        if (taken != 0) say(-taken);
        taken = next;
    }
}

/// Kills a service again and again over the store that `open` opens, in a process that has no
/// threads yet. Whatever was acknowledged and not taken is there, in its order; at most what was
/// under way twice.
template <typename Open>
void keep_what_was_acknowledged(const Open& open)
{
    std::mt19937 chance(20'261'130); // the same points of the run each time, about
    std::vector<CORBA::Long> all;    // that were acknowledged
    CORBA::Long taken = 0;           // the last of which the consumer has said that it is there
    for (int i = 0; i < 12; ++i) {
        int ends[2];
        ASSERT_EQ(0, pipe(ends));
        const pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            push_until_killed(open, all.empty() ? 1 : all.back() + 2, ends[1]);
        }
        close(ends[1]);
        unsigned said = 0;
        const unsigned enough = 1 + chance() % 40;
        CORBA::Long what = 0;
        while (read(ends[0], &what, sizeof what) == static_cast<ssize_t>(sizeof what)) {
            if (what > 0)
                all.push_back(what);
            else
                taken = -what;
            if (++said == enough) ASSERT_EQ(0, kill(child, SIGKILL));
        }
        close(ends[0]);
        int status = 0;
        ASSERT_EQ(child, waitpid(child, &status, 0));
        ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
        ASSERT_GE(said, enough);
    }
    // One more run, whose consumer takes all.
    const events::TestOrb orb;
    notification::NotificationService service(orb.in(), limits_of_tests(), open());
    const auto channel = KairosNotification::Channel_var(service.create_channel("Lab"));
    const CosNotifyChannelAdmin::ConsumerAdmin_var consumers = channel->default_consumer_admin();
    const CosNotifyChannelAdmin::ProxyIDSeq_var ids = consumers->pull_suppliers();
    ASSERT_EQ(1U, ids->length());
    const std::vector<CORBA::Long> there = all_pulled(pulling_proxy(channel.in()).in());
    EXPECT_TRUE(std::ranges::is_sorted(there));
    EXPECT_EQ(there.end(), std::ranges::adjacent_find(there));
    ASSERT_FALSE(there.empty());
    std::size_t twice = 0; // that were said to be there when that was not written yet
    for (const CORBA::Long number : all) {
        const bool is_there = std::ranges::binary_search(there, number);
        if (number > taken)
            EXPECT_TRUE(is_there) << number;
        else if (is_there)
            ++twice;
    }
    EXPECT_LE(twice, 3U);
    EXPECT_LE(there.back(), all.back() + 1);
}

} // namespace kairos::eventstore
