// SPDX-License-Identifier: Apache-2.0
//
// RTCORBA::RTORB (Real-Time CORBA 1.2, 5.3).
#include "kairos/base/limits.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/rtcorba/KairosRealTime.h"
#include "kairos/rtcorba/services.h"
#include "kairos/server/serving.h"
#include "kairos/server/thread_pools.h"

#include <algorithm>
#include <iterator>

namespace kairos::rtcorba {

namespace {

void require_lanes(bool valid, const char* what)
{
    if (!valid) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, what);
}

/// Ascending. Throws BAD_PARAM, IMP_LIMIT.
std::vector<orb::PoolLane> pool_lanes(const RTCORBA::ThreadpoolLanes& lanes)
{
    std::vector<orb::PoolLane> found;
    std::uint64_t threads = 0;
    for (const RTCORBA::ThreadpoolLane& lane : lanes) {
        require_lanes(lane.lane_priority >= RTCORBA::minPriority, "no priority of CORBA's");
        require_lanes(lane.static_threads != 0 || lane.dynamic_threads != 0,
                      "a lane without threads");
        threads += std::uint64_t{lane.static_threads} + lane.dynamic_threads;
        found.push_back({lane.lane_priority, lane.static_threads, lane.dynamic_threads});
    }
    std::ranges::sort(found, {}, &orb::PoolLane::priority);
    require_lanes(!found.empty(), "no lanes");
    require_lanes(std::ranges::adjacent_find(found, {}, &orb::PoolLane::priority) == found.end(),
                  "two lanes of one priority");
    if (found.size() > limits::lanes_max || threads > limits::pool_threads_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "too many lanes or threads");
    return found;
}

class RtOrb final : public KairosRealTime::RTORB {
  public:
    explicit RtOrb(std::shared_ptr<Services> services) : services_(std::move(services)) {}

    // --- mutexes ---
    RTCORBA::Mutex_ptr create_mutex() override { return make_mutex(); }
    void destroy_mutex(RTCORBA::Mutex_ptr the_mutex) override
    {
        require_lanes(!CORBA::is_nil(the_mutex), "nil mutex");
        services_->forget(the_mutex); // the rest is its owners'
    }
    RTCORBA::Mutex_ptr create_named_mutex(const char* name,
                                          CORBA::Boolean_out created_flag) override
    {
        require_lanes(name != nullptr, "null name");
        bool created = false;
        RTCORBA::Mutex_ptr mutex = services_->named_mutex(name, created);
        created_flag = created;
        return mutex;
    }
    RTCORBA::Mutex_ptr open_named_mutex(const char* name) override
    {
        require_lanes(name != nullptr, "null name");
        RTCORBA::Mutex_ptr mutex = services_->find_mutex(name);
        if (CORBA::is_nil(mutex)) throw MutexNotFound();
        return mutex;
    }

    // --- thread pools ---
    RTCORBA::ThreadpoolId create_threadpool(CORBA::ULong stacksize, CORBA::ULong static_threads,
                                            CORBA::ULong dynamic_threads,
                                            RTCORBA::Priority default_priority,
                                            CORBA::Boolean allow_request_buffering,
                                            CORBA::ULong max_buffered_requests,
                                            CORBA::ULong max_request_buffer_size) override
    {
        RTCORBA::ThreadpoolLanes lanes;
        lanes.length(1);
        lanes[0].lane_priority = default_priority;
        lanes[0].static_threads = static_threads;
        lanes[0].dynamic_threads = dynamic_threads;
        return create({.stack_bytes = stacksize,
                       .lanes = pool_lanes(lanes),
                       .has_lanes = false,
                       .borrows = false,
                       .buffers = allow_request_buffering,
                       .buffered_max = max_buffered_requests,
                       .buffered_bytes_max = max_request_buffer_size});
    }
    RTCORBA::ThreadpoolId create_threadpool_with_lanes(
        CORBA::ULong stacksize, const RTCORBA::ThreadpoolLanes& lanes,
        CORBA::Boolean allow_borrowing, CORBA::Boolean allow_request_buffering,
        CORBA::ULong max_buffered_requests, CORBA::ULong max_request_buffer_size) override
    {
        return create({.stack_bytes = stacksize,
                       .lanes = pool_lanes(lanes),
                       .has_lanes = true,
                       .borrows = allow_borrowing,
                       .buffers = allow_request_buffering,
                       .buffered_max = max_buffered_requests,
                       .buffered_bytes_max = max_request_buffer_size});
    }
    void destroy_threadpool(RTCORBA::ThreadpoolId threadpool) override
    {
        using Destroyed = orb::ThreadPools::Destroyed;
        switch (orb::Serving::of(services_->core()).thread_pools().destroy(threadpool)) {
        case Destroyed::yes:
            return;
        case Destroyed::unknown:
            throw InvalidThreadpool();
        case Destroyed::in_use:
            throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO, "a POA has the thread pool");
        case Destroyed::would_deadlock:
            throw CORBA::BAD_INV_ORDER(orb::minor_code::would_deadlock, CORBA::COMPLETED_NO,
                                       "a thread cannot wait for the end of its own pool");
        }
    }

    // --- policies ---
    RTCORBA::PriorityModelPolicy_ptr
    create_priority_model_policy(RTCORBA::PriorityModel priority_model,
                                 RTCORBA::Priority server_priority) override
    {
        return make_priority_model(priority_model, server_priority);
    }
    RTCORBA::ThreadpoolPolicy_ptr
    create_threadpool_policy(RTCORBA::ThreadpoolId threadpool) override
    {
        return make_threadpool(services_->core(), threadpool);
    }
    RTCORBA::PrivateConnectionPolicy_ptr create_private_connection_policy() override
    {
        return make_private_connection();
    }
    RTCORBA::PriorityBandedConnectionPolicy_ptr
    create_priority_banded_connection_policy(const RTCORBA::PriorityBands& priority_bands) override
    {
        return make_priority_bands(priority_bands);
    }
    RTCORBA::ServerProtocolPolicy_ptr
    create_server_protocol_policy(const RTCORBA::ProtocolList& protocols) override
    {
        return make_server_protocols(protocols);
    }
    RTCORBA::ClientProtocolPolicy_ptr
    create_client_protocol_policy(const RTCORBA::ProtocolList& protocols) override
    {
        return make_client_protocols(protocols);
    }
    RTCORBA::TCPProtocolProperties_ptr
    create_tcp_protocol_properties(CORBA::Long send_buffer_size, CORBA::Long recv_buffer_size,
                                   CORBA::Boolean keep_alive, CORBA::Boolean dont_route,
                                   CORBA::Boolean no_delay) override
    {
        return make_tcp_properties({.send_queue_bytes = send_buffer_size,
                                    .receive_queue_bytes = recv_buffer_size,
                                    .keep_alive = keep_alive,
                                    .dont_route = dont_route,
                                    .no_delay = no_delay,
                                    .network_priority = false});
    }

  private:
    RTCORBA::ThreadpoolId create(orb::PoolSettings settings)
    {
        orb::Orb& core = services_->core();
        for (const orb::PoolLane& lane : settings.lanes) {
            int native = 0;
            if (!core.priority_mapping().to_native(lane.priority, native))
                throw CORBA::DATA_CONVERSION(mapping::omg_minor(2), CORBA::COMPLETED_NO,
                                             "the mapping has no native priority for a lane");
        }
        std::vector<orb::Priority> lanes;
        if (settings.has_lanes)
            std::ranges::transform(settings.lanes, std::back_inserter(lanes),
                                   &orb::PoolLane::priority);
        if (const auto ready = orb::Serving::of(core).hand_over(lanes); !ready)
            throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO, ready.error().reason);
        const auto pool = orb::Serving::of(core).thread_pools().create(std::move(settings));
        if (!pool) throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, pool.error().reason);
        return *pool;
    }

    const std::shared_ptr<Services> services_;
};

} // namespace

CORBA::Object_ptr make_rtorb(std::shared_ptr<Services> services)
{
    return new RtOrb(std::move(services));
}

} // namespace kairos::rtcorba
