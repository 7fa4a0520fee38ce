// SPDX-License-Identifier: Apache-2.0
#include "kairos/nameserver/service.h"

#include "kairos/nameserver/service_state.h"

namespace kairos::nameserver {

NamingService::NamingService(CORBA::ORB_ptr orb, std::unique_ptr<Store> store,
                             const ServiceLimits& limits, const SweepOptions& sweep)
    : state_(std::make_unique<ServiceState>(orb, std::move(store), limits, sweep))
{
}

NamingService::~NamingService() = default;

void NamingService::stop_asking() noexcept { state_->stop_asking(); }

CosNaming::NamingContextExt_ptr NamingService::root() const
{
    return state_->reference_to(root_context);
}

void NamingService::sweep() { state_->sweeper.sweep(); }

} // namespace kairos::nameserver
