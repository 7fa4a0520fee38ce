// SPDX-License-Identifier: Apache-2.0
//
// How calls end for programs that were written for omniORB: with its minor codes, its TRANSIENT
// instead of TIMEOUT where the program wants that, and once more where one of its handlers says so.
#pragma once

#include "kairos/orb/call_observer.h"

namespace kairos::omniorb {

class CallEnds final : public orb::CallObserver {
  public:
    explicit CallEnds(bool transient_on_timeout) noexcept
        : transient_on_timeout_(transient_on_timeout)
    {
    }
    void receive_exception(orb::ObservedCall& call) override;

  private:
    const bool transient_on_timeout_;
};

} // namespace kairos::omniorb
