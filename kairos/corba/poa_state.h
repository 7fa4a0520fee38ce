// SPDX-License-Identifier: Apache-2.0
//
// What a POA consists of, apart from its header, so that programs do not read the declarations of
// module poa. Any thread.
#pragma once

#include "kairos/corba/poa.h"
#include "kairos/corba/poa_services.h"
#include "kairos/orb/orb.h"
#include "kairos/poa/adapters.h"

#include <cstdint>
#include <memory>
#include <mutex>

namespace PortableServer {

class POA::State final : public kairos::poa::AdapterFace {
  public:
    State(POA& of, kairos::corba::PoaServices& shared)
        : poa(of), services(shared.shared_from_this())
    {
    }

    /// Makes the adapter.
    [[nodiscard]] kairos::poa::Outcome create(kairos::poa::Adapters::Found parent, const char* name,
                                              POAManager_ptr its_manager,
                                              kairos::poa::Policies policies);
    void begin(kairos::poa::Adapter& adapter, std::uint32_t key_id) noexcept override;
    void end() noexcept override;

    POA& poa; // which owns it
    const std::shared_ptr<kairos::corba::PoaServices> services;
    // Set before anybody else knows the POA.
    kairos::poa::Adapters::Found found;
    POAManager_var manager;
    std::mutex mutex; // guards what follows; outside Adapters'
    ServantManager_var servant_manager;
    AdapterActivator_var activator;
};

} // namespace PortableServer
