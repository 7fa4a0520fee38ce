// SPDX-License-Identifier: Apache-2.0
//
// RTCORBA::Current (Real-Time CORBA 1.2, 5.5): what the lane of the calling thread says of its
// priority.
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/rtcorba/services.h"

namespace kairos::rtcorba {

namespace {

class Current final : public RTCORBA::Current {
  public:
    explicit Current(orb::Orb& core) : core_(&core) {}

    RTCORBA::Priority the_priority() override
    {
        const auto& priority = orb::ThreadStorage::current().priority;
        if (!priority)
            throw CORBA::INITIALIZE(0, CORBA::COMPLETED_NO, "the thread was given no priority");
        return *priority;
    }
    void the_priority(RTCORBA::Priority priority) override { orb::set_priority(*core_, priority); }

  private:
    const IntrusivePtr<orb::Orb> core_;
};

} // namespace

CORBA::Object_ptr make_current(Services& services) { return new Current(services.core()); }

} // namespace kairos::rtcorba
