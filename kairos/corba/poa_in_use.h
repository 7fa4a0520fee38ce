// SPDX-License-Identifier: Apache-2.0
//
// What every operation of a POA begins with: its adapter, which stays while this lives.
#pragma once

#include "kairos/corba/poa_state.h"
#include "kairos/orb/failure.h"

namespace PortableServer {

[[noreturn]] inline void raise_gone()
{
    kairos::orb::raise<CORBA::OBJECT_NOT_EXIST>(kairos::orb::minor_code::unknown_adapter,
                                                CORBA::COMPLETED_NO, "the POA was destroyed");
}

class POA::InUse {
  public:
    /// Keeps the adapter of `poa` from going away. Throws OBJECT_NOT_EXIST when it is gone already.
    explicit InUse(const POA& poa)
        : adapter_(*poa.state_->found.adapter), use_(adapter_, poa.state_->found.key_id)
    {
        if (!use_) raise_gone();
    }
    kairos::poa::Adapter* operator->() const noexcept { return &adapter_; }
    kairos::poa::Adapter& operator*() const noexcept { return adapter_; }

  private:
    kairos::poa::Adapter& adapter_;
    const kairos::poa::Adapter::Use use_;
};

} // namespace PortableServer
