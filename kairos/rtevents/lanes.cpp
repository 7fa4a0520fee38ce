// SPDX-License-Identifier: Apache-2.0
//
// The threads that give events at the priorities of who gets them.
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

Lane& Lanes::begin(CORBA::Short priority)
{
    const std::lock_guard lock(mutex_);
    if (const auto mine = lanes_.find(priority); mine != lanes_.end()) return *mine->second;
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
        return lane;
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

std::size_t Lanes::put(const ConsumerPtr& consumer, Waiting events)
{
    Lane& lane = *consumer->lane;
    Waiting oldest; // released without the lock
    bool was_idle = false;
    {
        const std::lock_guard lock(lane.mutex);
        if (lane.ends) return 0;
        WaitingSets& waiting = consumer->waiting;
        const bool was_empty = waiting.size() == 0;
        if (waiting.size() == queue_max_) oldest = waiting.pop();
        waiting.push(std::move(events));
        if (was_empty) lane.append(consumer);
        was_idle = std::exchange(lane.is_idle, false);
    }
    if (was_idle) lane.changed.notify_one();
    return oldest.count();
}

/// Each consumer in turn.
void Lanes::run(Lane& lane) noexcept
{
    std::unique_lock lock(lane.mutex);
    for (;;) {
        while (!lane.ends && !lane.first_ready) {
            lane.is_idle = true;
            lane.changed.wait(lock);
        }
        if (lane.ends) return;
        ConsumerPtr consumer = lane.take_first();
        Waiting next = consumer->waiting.pop();
        if (consumer->waiting.size() != 0) lane.append(consumer);
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
    for (Lane* const lane : all) {
        lane->thread.join();
        while (lane->first_ready) // nobody looks into it any more; one after the other
            (void)lane->take_first();
    }
}

} // namespace kairos::rtevents
