// SPDX-License-Identifier: Apache-2.0
#include "kairos/datagrams/lane_threads.h"

#include "kairos/base/log.h"
#include "kairos/datagrams/oneway.h"
#include "kairos/datagrams/upcalls.h"
#include "kairos/ior/profile.h"
#include "kairos/net/inherited.h"
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

namespace {

Bytes key_in(Bytes profile, Arena& arena)
{
    const auto decoded = ior::decode_iiop(profile);
    if (!decoded || decoded->object_key.empty()) return {};
    auto* const kept = arena.allocate<std::byte>(decoded->object_key.size());
    std::ranges::copy(decoded->object_key, kept);
    return {kept, decoded->object_key.size()};
}

/// However the target is said: as an adapter finds it. Empty if it is malformed.
Bytes key_of(const giop::Request& request, Arena& arena)
{
    const giop::TargetAddress& target = request.target;
    if (target.disposition == giop::AddressingDisposition::key) return target.key;
    if (target.disposition == giop::AddressingDisposition::profile)
        return key_in(target.profile_data, arena);
    cdr::Reader reader(target.ior, request.little_endian);
    ior::Ior reference;
    if (!ior::decode(reader, reference) || target.selected_index >= reference.profiles.size())
        return {};
    return key_in(reference.profiles[target.selected_index].data, arena);
}

} // namespace

LaneThreads::Taken LaneThreads::take(const giop::Request& request, Bytes message, bool is_same)
{
    if (!is_same) ++number_;
    orb::Adapter* const adapter = orb_.adapter();
    if (adapter == nullptr) return Taken::no;
    arena_.reset();
    const Bytes key = key_of(request, arena_);
    if (key.empty()) return Taken::no;
    const orb::Adapter::OwnThreads own = adapter->threads_for(request, key);
    if (own.pool == nullptr) return Taken::no;
    Lane* const lane = lane_of(*own.pool, own.priority);
    if (lane == nullptr) return Taken::full;
    std::vector<std::byte> own_key(key.begin(), key.end());
    const std::lock_guard lock(lane->mutex);
    if (!lane->waiting.empty() && lane->waiting.back().number == number_) {
        Waiting& last = lane->waiting.back();
        last.keys.push_back(std::move(own_key));
        last.octets += key.size();
        lane->octets += key.size();
        return Taken::yes;
    }
    const std::size_t octets = message.size() + key.size() + message_octets;
    if (!lane->waiting.empty() && lane->octets + octets > waiting_octets_max) return Taken::full;
    Waiting next{.number = number_,
                 .message = {message.begin(), message.end()},
                 .keys = {},
                 .octets = octets};
    next.keys.push_back(std::move(own_key));
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
        *lanes_, [&](const auto& each) { return each->pool == &pool && each->priority == own; });
    if (found != lanes_->end()) return found->get();
    if (lanes_->size() == lanes_max || ends_.load(std::memory_order_acquire)) return nullptr;
    auto waker = net::Waker::create();
    if (!waker) return nullptr;
    auto lane = std::make_unique<Lane>(&pool, own, std::move(waker).value());
    Lane& made = *lane;
    const std::lock_guard lock(mutex_);
    lanes_->reserve(lanes_->size() + 1); // from here on there is room
    auto thread = net::Thread::start(orb_.thread_options("kairos-lane-" + std::to_string(own)),
                                     [this, &made] { run(made); });
    if (!thread) return nullptr;
    made.thread = std::move(thread).value();
    lanes_->push_back(std::move(lane));
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
            lane.octets -= next.octets;
        }
        serve(next, *upcalls);
    }
}

/// What is read may be changed where it lies: all but the last object get a copy.
void LaneThreads::serve(Waiting& next, Upcalls& upcalls) noexcept
try {
    for (std::size_t i = 0; i < next.keys.size() && !ends_.load(std::memory_order_acquire); ++i) {
        const bool is_last = i + 1 == next.keys.size();
        std::vector<std::byte> message = is_last ? std::move(next.message) : next.message;
        giop::Request request{};
        if (!read_oneway(message, request).empty()) return; // it was, so it is
        request.target = {.disposition = giop::AddressingDisposition::key,
                          .key = next.keys[i],
                          .profile_tag = 0,
                          .profile_data = {},
                          .selected_index = 0,
                          .ior = {}};
        upcalls.serve(request);
    }
} catch (const std::bad_alloc&) {
    drop("a lane", nullptr, "out of memory");
}

/// There nobody waits, and whoever destroys a condition would wait for those who did. Where the
/// parent was about to add a lane, nobody can look at them, nor destroy them.
void LaneThreads::leave_to_parent() noexcept
{
    is_left_.store(true);
    if (!mutex_.try_lock()) return (void)lanes_.release();
    for (const auto& lane : *lanes_)
        net::forget_waiters(lane->changed);
    mutex_.unlock();
}

void LaneThreads::stop() noexcept
{
    if (is_left_.load()) return;
    const std::lock_guard lock(mutex_);
    for (const auto& lane : *lanes_) {
        const std::lock_guard inner(lane->mutex); // or it may just be about to wait
        lane->changed.notify_one();
        lane->waker.wake();
    }
}

void LaneThreads::join() noexcept
{
    if (!lanes_) return;
    for (const auto& lane : *lanes_)
        lane->thread.join();
}

} // namespace kairos::datagrams
