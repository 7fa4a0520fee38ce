// SPDX-License-Identifier: Apache-2.0
//
// How programs get at the two schedulers of Real-Time CORBA (1.2, the Scheduling Service), which
// leaves that to the implementation. Each knows one schedule, as it was when it was made. Any
// thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/rtscheduling/RTCosScheduling.h"
#include "kairos/rtscheduling/schedule.h"

namespace kairos::rtscheduling {

/// `schedule_activity` gives the calling thread the priority of the operation of that name, as
/// RTCORBA::Current does, and throws what that throws. Owned by the caller. Throws BAD_PARAM for a
/// nil ORB.
[[nodiscard]] KAIROS_API RTCosScheduling::ClientScheduler_ptr
make_client_scheduler(CORBA::ORB_ptr orb, Schedule schedule);

/// The threads of each priority of the schedule.
struct KAIROS_API LaneThreads {
    CORBA::ULong static_threads = 1;
    CORBA::ULong dynamic_threads = 0;
    CORBA::ULong stack_bytes = 0; ///< 0 is the system's default
};

/// Makes a thread pool with a lane for each priority of the schedule, so that it belongs before the
/// first POAManager is activated; throws what RTORB::create_threadpool_with_lanes throws, and
/// BAD_PARAM for a nil ORB or a schedule without names. Owned by the caller; the pool is the ORB's.
///
/// `create_POA` makes a POA of that pool with SERVER_DECLARED, whose objects have the lowest
/// priority of the schedule until they are scheduled. A policy in its list that is one of those two
/// contradicts them: InvalidPolicy.
///
/// `schedule_object` is for objects of these POAs, active or not; BAD_PARAM for others. References
/// that were made before are good, and requests by them are served at the priority of the name; but
/// what they say to clients is the former one. So it belongs between create_reference or
/// activate_object and handing out a reference.
[[nodiscard]] KAIROS_API RTCosScheduling::ServerScheduler_ptr
make_server_scheduler(CORBA::ORB_ptr orb, Schedule schedule, const LaneThreads& threads = {});

} // namespace kairos::rtscheduling
