// SPDX-License-Identifier: Apache-2.0
//
// What a POA consists of, apart from its header, so that programs do not read the declarations of
// module poa. Any thread.
#pragma once

#include "kairos/corba/orb_types.h"
#include "kairos/corba/poa.h"
#include "kairos/corba/poa_services.h"
#include "kairos/orb/orb.h"
#include "kairos/poa/adapters.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace PortableServer {

class POA::State final : public kairos::poa::AdapterFace {
  public:
    State(POA& of, kairos::corba::PoaServices& shared)
        : poa(of), services(shared.shared_from_this())
    {
    }

    /// Makes the adapter. `stated` are the policies that the program gave for it. Throws what the
    /// ORB's listener throws.
    [[nodiscard]] kairos::poa::Outcome create(kairos::poa::Adapters::Found parent, const char* name,
                                              POAManager_ptr its_manager,
                                              kairos::poa::Policies policies,
                                              const CORBA::PolicyList& stated);
    void begin(kairos::poa::Adapter& adapter, std::uint32_t key_id) noexcept override;
    void end() noexcept override;

    POA& poa; // which owns it
    const std::shared_ptr<kairos::corba::PoaServices> services;
    // Set before anybody else knows the POA.
    kairos::poa::Adapters::Found found;
    POAManager_var manager;
    std::vector<CORBA::Policy_var> stated_policies; // kept where the ORB has a listener
    std::unique_ptr<kairos::corba::AdapterReferences> references; // null where nobody adds to them
    std::atomic<bool> is_established{true}; // else only who makes the POA knows it
    std::mutex mutex;                       // guards what follows; outside Adapters'
    ServantManager_var servant_manager;
    AdapterActivator_var activator;
};

} // namespace PortableServer
