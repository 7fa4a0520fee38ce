// SPDX-License-Identifier: Apache-2.0
//
// How calls end for programs that were written for omniORB: with its minor codes, its TRANSIENT
// instead of TIMEOUT where the program wants that, and once more where one of its handlers says so.
#pragma once

#include "kairos/orb/call_observer.h"

namespace kairos::omniorb {

class CallEnds final : public orb::CallObserver {
  public:
    /// For calls of this ORB, which is to own it.
    CallEnds(const orb::Orb& orb, bool transient_on_timeout);
    ~CallEnds() override;
    /// Returns whether the ORB has one. Any thread.
    [[nodiscard]] static bool has(const orb::Orb& orb);

    void receive_exception(orb::ObservedCall& call) override;

  private:
    const orb::Orb& orb_;
    const bool transient_on_timeout_;
};

} // namespace kairos::omniorb
