// SPDX-License-Identifier: Apache-2.0
//
// The Property Service (OMG Property Service 1.0) as objects of an ORB: embedded in any process by
// making one of these, or alone as `kairos property serve`. Sets are in memory only. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/CORBA.h"
#include "kairos/properties/CosPropertyService.h"
#include "kairos/properties/service_limits.h"

#include <memory>
#include <string>

namespace kairos::properties {

class ServiceState;

class KAIROS_API PropertyService {
  public:
    /// Its objects can be called from now on. The ORB must outlive it. Throws what create_POA
    /// throws: AdapterAlreadyExists for a second one in the same ORB.
    explicit PropertyService(CORBA::ORB_ptr orb, const ServiceLimits& limits = {});
    PropertyService(const PropertyService&) = delete;
    PropertyService& operator=(const PropertyService&) = delete;
    /// Ends all sets. Waits for the calls in progress. Not within a call on one of its objects.
    ~PropertyService();

    /// Makes a set that may have any properties. One with a name can be called as
    /// "corbaloc::host:port/name", and its reference is valid in later runs of the program that
    /// make it again at the same address; what was in it is not. Owned by the caller. Throws
    /// BAD_PARAM for a name that is in use, or has more than 255 octets; IMP_LIMIT where there are
    /// as many sets as may be.
    [[nodiscard]] CosPropertyService::PropertySetDef_ptr create_set(const std::string& name = {});
    /// The objects by which clients make sets, also "corbaloc::host:port/PropertySetFactory" and
    /// "corbaloc::host:port/PropertySetDefFactory". Owned by the caller.
    [[nodiscard]] CosPropertyService::PropertySetFactory_ptr factory() const;
    [[nodiscard]] CosPropertyService::PropertySetDefFactory_ptr def_factory() const;

  private:
    const std::unique_ptr<ServiceState> state_;
};

} // namespace kairos::properties
