// SPDX-License-Identifier: Apache-2.0
//
// RTCosScheduling::ClientScheduler: names that become the priority of the calling thread.
#include "kairos/corba/CORBA.h"
#include "kairos/rtscheduling/schedulers.h"

#include <utility>

namespace kairos::rtscheduling {
namespace {

class ClientScheduler final : public RTCosScheduling::ClientScheduler {
  public:
    ClientScheduler(CORBA::ORB_ptr orb, Schedule schedule) : schedule_(std::move(schedule))
    {
        const CORBA::Object_var object = orb->resolve_initial_references("RTCurrent");
        current_ = RTCORBA::Current::_narrow(object.in());
    }

    void schedule_activity(const char* activity_name) override
    {
        if (activity_name == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "null name");
        const auto priority = schedule_.activity(activity_name);
        if (!priority) throw RTCosScheduling::UnknownName();
        current_->the_priority(*priority);
    }

  private:
    const Schedule schedule_;
    RTCORBA::Current_var current_;
};

} // namespace

RTCosScheduling::ClientScheduler_ptr make_client_scheduler(CORBA::ORB_ptr orb, Schedule schedule)
{
    if (CORBA::is_nil(orb)) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "nil ORB");
    return new ClientScheduler(orb, std::move(schedule));
}

} // namespace kairos::rtscheduling
