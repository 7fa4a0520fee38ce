// SPDX-License-Identifier: Apache-2.0
//
// The IOR interceptors of an ORB, as who hears of its POAs and POAManagers (CORBA 3.3 part 1,
// 16.5). Any thread.
#pragma once

#include "kairos/corba/adapter_listener.h"
#include "kairos/interceptors/interceptors.h"

#include <memory>
#include <string>
#include <utility>

namespace kairos::interceptors {

class IorInterceptors final : public corba::AdapterListener {
  public:
    explicit IorInterceptors(std::shared_ptr<const Interceptors> all) : all_(std::move(all)) {}

    [[nodiscard]] bool establishes() const noexcept override;
    [[nodiscard]] std::unique_ptr<corba::AdapterReferences>
    adapter_made(PortableServer::POA& poa) override;
    [[nodiscard]] bool keeps_policy(CORBA::PolicyType type) const noexcept override;
    void manager_changed(const std::string& id, State state) noexcept override;

  private:
    const std::shared_ptr<const Interceptors> all_;
};

} // namespace kairos::interceptors
