// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/log.h"
#include "kairos/orb/orb.h"
#include "kairos/rtevents/channel_state.h"

namespace kairos::rtevents {
namespace {

/// What the priority is to the system. Without permission for it, the system's ordinary one.
Result<net::Thread> start(const orb::Orb& orb, CORBA::Short priority,
                          const std::function<void()>& body)
{
    const std::string name = "kairos-rtec-" + std::to_string(priority);
    int native = 0;
    if (!orb.priority_mapping().to_native(priority, native))
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO,
                               "a consumer's priority is none of the ORB's");
    if (native == 0) return net::Thread::start({.name = name}, body);
    auto thread = net::Thread::start(
        {.name = name, .scheduling = net::Scheduling{orb.options().scheduling_policy, native}},
        body);
    if (thread) return thread;
    log::warning(log::Line() << "real-time events: events of priority " << std::to_string(priority)
                             << " are given at none: " << thread.error().reason);
    return net::Thread::start({.name = name}, body);
}

} // namespace

void Lanes::begin(CORBA::Short priority)
{
    const std::lock_guard lock(mutex_);
    if (lanes_.contains(priority)) return;
    if (lanes_.size() >= lanes_max)
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO,
                                  "consumers have as many priorities as they may have");
    auto made = std::make_unique<Lane>();
    auto thread = start(orb_, priority, [this, &here = *made] { run(here); });
    if (!thread) throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, thread.error().reason);
    made->thread = std::move(thread).value();
    Lane& lane = *made;
    try {
        lanes_[priority] = std::move(made);
    } catch (...) {
        {
            const std::lock_guard inner(lane.mutex);
            lane.ends = true;
            lane.changed.notify_one();
        }
        lane.thread.join();
        throw;
    }
}

Lanes::Lane& Lanes::lane_of(CORBA::Short priority)
{
    const std::lock_guard lock(mutex_);
    return *lanes_.at(priority);
}

std::size_t Lanes::put(const ConsumerPtr& consumer, Waiting events)
{
    Lane& lane = lane_of(consumer->priority);
    Waiting oldest; // released without the lock
    {
        const std::lock_guard lock(lane.mutex);
        if (lane.ends) return 0;
        auto& waiting = consumer->waiting;
        waiting.push_back(std::move(events));
        if (waiting.size() > queue_max_) {
            oldest = std::move(waiting.front());
            waiting.pop_front();
        }
        if (waiting.size() == 1) lane.ready.push_back(consumer);
    }
    lane.changed.notify_one();
    return oldest.events ? oldest.events->length() : 0;
}

/// Each consumer in turn.
void Lanes::run(Lane& lane) noexcept
{
    std::unique_lock lock(lane.mutex);
    for (;;) {
        lane.changed.wait(lock, [&] { return lane.ends || !lane.ready.empty(); });
        if (lane.ends) return;
        ConsumerPtr consumer = std::move(lane.ready.front());
        lane.ready.pop_front();
        Waiting next = std::move(consumer->waiting.front());
        consumer->waiting.pop_front();
        if (!consumer->waiting.empty()) lane.ready.push_back(consumer);
        lock.unlock();
        deliver_(*consumer, next);
        next = {};
        consumer.reset();
        lock.lock();
    }
}

void Lanes::end() noexcept
{
    std::vector<Lane*> all; // which stay until this ends: put() may still come
    {
        const std::lock_guard lock(mutex_);
        for (auto& [priority, lane] : lanes_)
            all.push_back(lane.get());
    }
    for (Lane* const lane : all) {
        const std::lock_guard lock(lane->mutex);
        lane->ends = true;
        lane->changed.notify_one();
    }
    for (Lane* const lane : all)
        lane->thread.join();
}

} // namespace kairos::rtevents
