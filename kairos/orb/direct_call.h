// SPDX-License-Identifier: Apache-2.0
//
// A call to an object of this process without a message: the stub says how a servant's function is
// called with the arguments where they are, and the adapter finds the servant as it does for a
// request. Stations 2 to 10 of the request walk (docs/TOUR.md) but for 9 are left out. What a
// remote caller would be told, this one is: the same exceptions, the same forwards. Used by one
// thread. In the steady state it takes no lock and allocates nothing.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/orb/direct_operation.h"
#include "kairos/orb/hold.h"
#include "kairos/orb/reference.h"

namespace kairos::orb {

class DirectCall {
  public:
    DirectCall(Reference& reference, const DirectOperation& operation, void* arguments) noexcept
        : reference_(reference), operation_(operation), arguments_(arguments)
    {
    }

    [[nodiscard]] Bytes object_key() const noexcept { return reference_.object_key(); }
    [[nodiscard]] std::string_view operation() const noexcept
    {
        return operation_.operation->name();
    }
    [[nodiscard]] const void* interface() const noexcept { return operation_.interface; }
    /// Returns where the call waits that Adapter::call does not take now.
    [[nodiscard]] Hold& hold() noexcept { return hold_; }

    /// Returns whether the next calls are to go to the servant without asking the adapter.
    [[nodiscard]] bool links() const noexcept { return reference_.links_servants(); }
    /// Has the next calls go to this servant without asking the adapter, for as long as the link
    /// holds (DirectLink).
    void link(const DirectLink& servant) noexcept { reference_.link(servant); }

    /// Calls the operation's function with `servant`, which is what Servant::_kairos_direct gives.
    void make(void* servant)
    {
        made_ = true;
        operation_.function(servant, arguments_);
    }
    /// Returns whether `make` has called the servant; if not, the servant has no such function, so
    /// that the call takes a message.
    [[nodiscard]] bool made() const noexcept { return made_; }

  private:
    Reference& reference_;
    const DirectOperation& operation_;
    void* arguments_;
    Hold hold_;
    bool made_ = false;
};

} // namespace kairos::orb
