// SPDX-License-Identifier: Apache-2.0
//
// The Property Service (OMG Property Service 1.0) as objects of an ORB: embedded in any process by
// making one of these, or alone as `kairos property serve`. Sets are in memory, and in a store
// where there is one. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/journal.h"
#include "kairos/corba/CORBA.h"
#include "kairos/properties/CosPropertyService.h"
#include "kairos/properties/service_limits.h"

#include <memory>
#include <string>

namespace kairos::properties {

class ServiceState;

/// What stores of property services are: for kairos::journal::open_store.
inline constexpr JournalKind store_kind{
    .owner = "property service",
    .table = "kairos_properties",
    .application_id = 0x4b725073, // "KrPs"
};

class KAIROS_API PropertyService {
  public:
    /// Its objects can be called from now on. The ORB must outlive it. Throws what create_POA
    /// throws: AdapterAlreadyExists for a second one in the same ORB.
    explicit PropertyService(CORBA::ORB_ptr orb, const ServiceLimits& limits = {});
    /// Sets that are made from now on, and what is in them, are in the store when a client is
    /// answered; those that it has are there again, by the same references where the process has
    /// the same address. Services that share a store have the same sets. Throws PERSIST_STORE and
    /// TRANSIENT, too, where the store cannot be read; IMP_LIMIT and NO_RESOURCES where it has more
    /// than may be.
    PropertyService(CORBA::ORB_ptr orb, const ServiceLimits& limits,
                    std::unique_ptr<Journal> store);
    PropertyService(const PropertyService&) = delete;
    PropertyService& operator=(const PropertyService&) = delete;
    /// Ends all sets. Waits for the calls in progress. Not within a call on one of its objects.
    ~PropertyService();

    /// Makes a set that may have any properties. One with a name can be called as
    /// "corbaloc::host:port/name", and its reference is valid in later runs of the program that
    /// make it again at the same address; what was in it is so only with a store, where one of this
    /// name that is there already is returned. Owned by the caller. Throws BAD_PARAM for a name
    /// that is in use, or has more than 255 octets; IMP_LIMIT where there are as many sets as may
    /// be; NO_RESOURCES, TRANSIENT and PERSIST_STORE where the store fails.
    [[nodiscard]] CosPropertyService::PropertySetDef_ptr create_set(const std::string& name = {});
    /// The objects by which clients make sets, also "corbaloc::host:port/PropertySetFactory" and
    /// "corbaloc::host:port/PropertySetDefFactory". Owned by the caller.
    [[nodiscard]] CosPropertyService::PropertySetFactory_ptr factory() const;
    [[nodiscard]] CosPropertyService::PropertySetDefFactory_ptr def_factory() const;

  private:
    const std::unique_ptr<ServiceState> state_;
};

} // namespace kairos::properties
