// SPDX-License-Identifier: Apache-2.0
//
// What stands between POAs and IOR interceptors (CORBA 3.3 part 1, 16.5): who hears of the POAs of
// an ORB, and what references of one POA say besides. An ORB without a listener knows nothing of
// it. kairos/interceptors has the listener.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/corba/object.h"
#include "kairos/ior/ior.h"
#include "kairos/poa/manager.h"

#include <memory>
#include <vector>

namespace PortableServer {
class POA;
}

namespace kairos::corba {

/// What references of one POA say besides, and who makes them. Owned by the POA, and written by the
/// thread that makes the POA, before others find it; then constant until the POA has ended.
class AdapterReferences {
  public:
    AdapterReferences() = default;
    AdapterReferences(const AdapterReferences&) = delete;
    AdapterReferences& operator=(const AdapterReferences&) = delete;
    virtual ~AdapterReferences() = default;

    /// Called when the POA has these references, and before anybody else finds the POA. What it
    /// throws ends the POA, and comes out of create_POA.
    virtual void complete() = 0;
    /// Returns whether the program makes the references.
    [[nodiscard]] virtual bool makes_references() const noexcept = 0;
    /// Makes a reference to the object of this id where the program does. Owned by the caller.
    /// Throws what the program throws.
    [[nodiscard]] virtual CORBA::Object_ptr make_reference(const char* repository_id,
                                                           Bytes id) const = 0;
    /// Called when the POA has ended.
    virtual void end() noexcept = 0;

    /// The components that all profiles say.
    std::vector<ior::TaggedComponent> components;
};

/// Hears of the POAs and POAManagers of one ORB. Any thread.
class AdapterListener : public poa::StateListener {
  public:
    /// Returns whether POAs made from now on are to have AdapterReferences.
    [[nodiscard]] virtual bool establishes() const noexcept = 0;
    /// Called for each POA that is made, before other threads find it. Returns what its references
    /// are to say.
    [[nodiscard]] virtual std::unique_ptr<AdapterReferences>
    adapter_made(PortableServer::POA& poa) = 0;
    /// Returns whether POAs keep policies of this type without knowing them, because the program
    /// makes them (CORBA 3.3 part 1, 16.6).
    [[nodiscard]] virtual bool keeps_policy(CORBA::PolicyType type) const noexcept = 0;
};

} // namespace kairos::corba
