// SPDX-License-Identifier: Apache-2.0
#include "kairos/datagrams/lane_threads.h"

#include "kairos/base/log.h"
#include "kairos/datagrams/oneway.h"
#include "kairos/datagrams/upcalls.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/real_time.h"
#include "kairos/server/thread_pool.h"

#include <algorithm>
#include <new>
#include <optional>
#include <string>

namespace kairos::datagrams {

LaneThreads::~LaneThreads()
{
    stop();
    join();
}

LaneThreads::Taken LaneThreads::take(const giop::Request& request, Bytes message)
{
    orb::Adapter* const adapter = orb_.adapter();
    // Those that say their target by a profile are nobody's whose references have priorities.
    if (adapter == nullptr || request.target.disposition != giop::AddressingDisposition::key)
        return Taken::no;
    const Bytes key = request.target.key;
    const orb::Adapter::OwnThreads own = adapter->threads_for(request, key);
    if (own.pool == nullptr) return Taken::no;
    Lane* const lane = lane_of(*own.pool, own.priority);
    if (lane == nullptr) return Taken::no;
    Waiting next{.message = {message.begin(), message.end()}, .key = {key.begin(), key.end()}};
    const std::size_t octets = message.size() + key.size() + message_octets;
    const std::lock_guard lock(lane->mutex);
    if (!lane->waiting.empty() && lane->octets + octets > waiting_octets_max) return Taken::full;
    lane->waiting.push_back(std::move(next));
    lane->octets += octets;
    lane->changed.notify_one();
    return Taken::yes;
}

/// As the pool chooses. Null where there are too many, or no thread is to be had.
LaneThreads::Lane* LaneThreads::lane_of(orb::ThreadPool& pool, orb::Priority priority)
{
    const auto& lanes = pool.settings().lanes;
    const auto above = std::ranges::find_if(
        lanes, [&](const orb::PoolLane& each) { return each.priority > priority; });
    const orb::Priority own = lanes.empty()            ? orb::Priority{0}
                              : above == lanes.begin() ? lanes.front().priority
                                                       : std::prev(above)->priority;
    const auto found = std::ranges::find_if(
        lanes_, [&](const auto& each) { return each->pool == &pool && each->priority == own; });
    if (found != lanes_.end()) return found->get();
    if (lanes_.size() == lanes_max || ends_.load(std::memory_order_acquire)) return nullptr;
    auto waker = net::Waker::create();
    if (!waker) return nullptr;
    auto lane = std::make_unique<Lane>(&pool, own, std::move(waker).value());
    Lane& made = *lane;
    const std::lock_guard lock(mutex_);
    lanes_.reserve(lanes_.size() + 1); // from here on there is room
    auto thread = net::Thread::start(orb_.thread_options("kairos-lane-" + std::to_string(own)),
                                     [this, &made] { run(made); });
    if (!thread) return nullptr;
    made.thread = std::move(thread).value();
    lanes_.push_back(std::move(lane));
    return &made;
}

void LaneThreads::run(Lane& lane) noexcept
{
    std::optional<Upcalls> upcalls;
    try {
        upcalls.emplace(orb_, lane.waker, ends_);
        orb::set_priority(orb_, lane.priority);
    } catch (const CORBA::Exception&) { // the system does not let it, as the log says of the pool
    } catch (const std::bad_alloc&) {
        return log::error("out of memory: what comes in datagrams for a lane is not served");
    }
    const auto ends = [&] { return ends_.load(std::memory_order_acquire); };
    while (true) {
        Waiting next;
        {
            std::unique_lock lock(lane.mutex);
            lane.changed.wait(lock, [&] { return ends() || !lane.waiting.empty(); });
            if (ends()) return;
            next = std::move(lane.waiting.front());
            lane.waiting.pop_front();
            lane.octets -= next.message.size() + next.key.size() + message_octets;
        }
        giop::Request request{};
        if (!read_oneway(next.message, request).empty()) continue; // it was, so it is
        request.target = {.disposition = giop::AddressingDisposition::key,
                          .key = next.key,
                          .profile_tag = 0,
                          .profile_data = {},
                          .selected_index = 0,
                          .ior = {}};
        try {
            upcalls->serve(request);
        } catch (const std::bad_alloc&) {
            drop("a lane", nullptr, "out of memory");
        }
    }
}

void LaneThreads::stop() noexcept
{
    if (is_left_.load()) return;
    const std::lock_guard lock(mutex_);
    for (const auto& lane : lanes_) {
        const std::lock_guard inner(lane->mutex); // or it may just be about to wait
        lane->changed.notify_one();
        lane->waker.wake();
    }
}

void LaneThreads::join() noexcept
{
    for (const auto& lane : lanes_)
        lane->thread.join();
}

} // namespace kairos::datagrams
