// SPDX-License-Identifier: Apache-2.0
//
// RTCosScheduling::ServerScheduler: POAs of one thread pool, whose objects have the priorities of
// their names.
#include "kairos/corba/CORBA.h"
#include "kairos/rtcorba/RTPortableServer.h"
#include "kairos/rtscheduling/schedulers.h"

#include <mutex>
#include <utility>

namespace kairos::rtscheduling {
namespace {

void require(bool valid, const char* what)
{
    if (!valid) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, what);
}

/// What an object of one of these POAs is there; nothing if it is none of its.
std::optional<PortableServer::ObjectId> id_in(RTPortableServer::POA_ptr poa,
                                              CORBA::Object_ptr object)
{
    try {
        const PortableServer::ObjectId_var id = poa->reference_to_id(object);
        return id.in();
    } catch (const PortableServer::POA::WrongAdapter&) {
    } catch (const CORBA::OBJECT_NOT_EXIST&) { // the POA was destroyed
    }
    return std::nullopt;
}

class ServerScheduler final : public RTCosScheduling::ServerScheduler {
  public:
    ServerScheduler(CORBA::ORB_ptr orb, Schedule schedule, const LaneThreads& threads)
        : schedule_(std::move(schedule)), lowest_(schedule_.priorities().front())
    {
        const CORBA::Object_var object = orb->resolve_initial_references("RTORB");
        rtorb_ = RTCORBA::RTORB::_narrow(object.in());
        RTCORBA::ThreadpoolLanes lanes;
        for (const RTCORBA::Priority priority : schedule_.priorities()) {
            lanes.length(lanes.length() + 1);
            lanes[lanes.length() - 1] = {priority, threads.static_threads, threads.dynamic_threads};
        }
        pool_ =
            rtorb_->create_threadpool_with_lanes(threads.stack_bytes, lanes, false, false, 0, 0);
    }

    PortableServer::POA_ptr create_POA(PortableServer::POA_ptr parent, const char* adapter_name,
                                       PortableServer::POAManager_ptr a_POAManager,
                                       const CORBA::PolicyList& policies) override
    {
        require(!CORBA::is_nil(parent), "nil parent");
        refuse_own_types(policies);
        // Behind the caller's: what contradicts one of the caller's is refused by its index.
        CORBA::PolicyList all(policies);
        const CORBA::ULong given = policies.length();
        all.length(given + 2);
        all[given] = rtorb_->create_priority_model_policy(RTCORBA::SERVER_DECLARED, lowest_);
        all[given + 1] = rtorb_->create_threadpool_policy(pool_);
        PortableServer::POA_var poa;
        try {
            poa = parent->create_POA(adapter_name, a_POAManager, all);
        } catch (const PortableServer::POA::InvalidPolicy& invalid) {
            require(invalid.index < given, "the parent is another ORB's");
            throw;
        }
        RTPortableServer::POA_var made = RTPortableServer::POA::_narrow(poa.in());
        const std::lock_guard lock(mutex_);
        poas_.push_back(std::move(made));
        return poa._retn();
    }

    void schedule_object(CORBA::Object_ptr obj, const char* object_name) override
    {
        require(!CORBA::is_nil(obj), "nil object");
        require(object_name != nullptr, "null name");
        const auto priority = schedule_.object(object_name);
        if (!priority) throw RTCosScheduling::UnknownName();
        const std::lock_guard lock(mutex_);
        for (const RTPortableServer::POA_var& poa : poas_)
            if (const auto id = id_in(poa.in(), obj))
                return poa->_kairos_reschedule(*id, *priority);
        require(false, "an object of no POA that this scheduler has made");
    }

  private:
    static void refuse_own_types(const CORBA::PolicyList& policies)
    {
        for (CORBA::ULong i = 0; i < policies.length(); ++i) {
            if (CORBA::is_nil(policies[i])) continue; // create_POA says so
            const CORBA::PolicyType type = policies[i]->policy_type();
            if (type == RTCORBA::PRIORITY_MODEL_POLICY_TYPE ||
                type == RTCORBA::THREADPOOL_POLICY_TYPE)
                throw PortableServer::POA::InvalidPolicy(static_cast<CORBA::UShort>(i));
        }
    }

    const Schedule schedule_;
    const RTCORBA::Priority lowest_;
    RTCORBA::RTORB_var rtorb_;
    RTCORBA::ThreadpoolId pool_ = 0;
    std::mutex mutex_; // guards what follows; outside Adapters' and the adapters'
    std::vector<RTPortableServer::POA_var> poas_; // that it has made
};

} // namespace

RTCosScheduling::ServerScheduler_ptr make_server_scheduler(CORBA::ORB_ptr orb, Schedule schedule,
                                                           const LaneThreads& threads)
{
    require(!CORBA::is_nil(orb), "nil ORB");
    require(!schedule.priorities().empty(), "a schedule without names");
    return new ServerScheduler(orb, std::move(schedule), threads);
}

} // namespace kairos::rtscheduling
