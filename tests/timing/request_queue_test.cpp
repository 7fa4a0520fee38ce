// SPDX-License-Identifier: Apache-2.0
//
// The order of waiting requests against that of the library's queues (kairos/sched).
#include "kairos/sched/dispatch_queue.h"
#include "kairos/server/request_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace kairos::orb {
namespace {

struct Policy {
    Dispatching dispatching;
    sched::Policy model;
};

class RequestQueues : public ::testing::TestWithParam<Policy> {};

OperationTiming random_timing(std::minstd_rand& random)
{
    const auto upto = [&random](std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(1, most)(random);
    };
    return {.operation = {},
            .period = upto(4),
            .deadline = upto(8),
            .worst_case = upto(4),
            .criticality = static_cast<std::uint8_t>(upto(5) - 1),
            .importance = static_cast<std::uint8_t>(upto(3) - 1)};
}

sched::Dispatch modelled(std::uint64_t id, const OperationTiming& timing, std::int64_t released)
{
    return {.id = id,
            .level = static_cast<std::uint32_t>(timing.period),
            .criticality = sched::Criticality{timing.criticality},
            .importance = sched::Importance{timing.importance},
            .deadline = sched::Time(released + timing.deadline),
            .remaining = sched::Time(timing.worst_case)};
}

TEST_P(RequestQueues, AgreeWithTheModel)
{
    constexpr std::size_t capacity = 200;
    std::minstd_rand random; // the same numbers each time
    RequestStore store(capacity);
    RequestQueue queue(GetParam().dispatching);
    const auto model = sched::make_dispatch_queue(GetParam().model, capacity);
    std::map<const QueuedRequest*, std::uint64_t> ids;
    for (std::uint64_t i = 0; i < 5'000; ++i) {
        if (random() % 2 == 0 && queue.size() < capacity) {
            const OperationTiming timing = random_timing(random);
            const auto released = static_cast<std::int64_t>(random() % 8);
            QueuedRequestPtr request = store.take();
            request->urgency =
                urgency_of(GetParam().dispatching, &timing, std::chrono::nanoseconds(released));
            ids[request.get()] = i;
            queue.push(std::move(request));
            ASSERT_TRUE(model->push(modelled(i, timing, released)));
        } else {
            const auto expected = model->pop();
            const QueuedRequestPtr request = queue.pop();
            ASSERT_EQ(request != nullptr, expected.has_value());
            if (!request) continue;
            ASSERT_EQ(ids[request.get()], expected->id);
        }
        ASSERT_EQ(queue.size(), model->size());
    }
}

TEST_P(RequestQueues, HaveAPlaceForWhatWasHeld)
{
    RequestStore store(8);
    RequestQueue queue(GetParam().dispatching);
    const OperationTiming timing{.operation = {}, .period = 1, .deadline = 1};
    std::vector<const QueuedRequest*> pushed;
    for (int i = 0; i < 6; ++i) {
        QueuedRequestPtr request = store.take();
        request->urgency =
            urgency_of(GetParam().dispatching, i < 3 ? &timing : nullptr, std::chrono::seconds(1));
        pushed.push_back(request.get());
        queue.push(std::move(request));
    }
    RequestList held;
    for (int i = 0; i < 4; ++i)
        held.push_back(queue.pop());
    queue.put_back(held);
    RequestList all;
    queue.move_to(all);
    EXPECT_TRUE(queue.empty());
    for (const QueuedRequest* const request : pushed)
        EXPECT_EQ(all.pop_front().get(), request);
}

INSTANTIATE_TEST_SUITE_P(Policies, RequestQueues,
                         ::testing::Values(Policy{Dispatching::rms, sched::Policy::rms},
                                           Policy{Dispatching::edf, sched::Policy::edf},
                                           Policy{Dispatching::llf, sched::Policy::llf},
                                           Policy{Dispatching::muf, sched::Policy::muf}));

TEST(Urgency, IsThatOfNobodyWithoutWhatThePolicyAsksFor)
{
    using enum Dispatching;
    const OperationTiming undated{.operation = {}, .criticality = 4};
    for (const Dispatching policy : {fifo, rms, edf, llf})
        EXPECT_EQ(urgency_of(policy, &undated, {}), Urgency());
    const OperationTiming dated{.operation = {}, .deadline = 1, .criticality = 4};
    EXPECT_EQ(urgency_of(rms, &dated, {}), Urgency());
    EXPECT_LT(urgency_of(muf, &undated, {}), Urgency());
    EXPECT_LT(urgency_of(muf, &dated, {}), urgency_of(muf, &undated, {}));
    EXPECT_EQ(urgency_of(edf, nullptr, {}), Urgency());
}

} // namespace
} // namespace kairos::orb
