// SPDX-License-Identifier: Apache-2.0
//
// How calls end for programs that were written for omniORB: with its minor codes, its TRANSIENT
// instead of TIMEOUT where the program wants that, and once more where one of its handlers says so.
// It is the layer's ear at calls: interceptors are told, too.
#pragma once

#include "kairos/compat/omniorb/hooks.h"
#include "kairos/orb/call_observer.h"

namespace kairos::omniorb {

class CallEnds final : public orb::CallObserver {
  public:
    /// For calls of this ORB, which is to own it.
    CallEnds(const orb::Orb& orb, bool transient_on_timeout);
    ~CallEnds() override;
    /// Returns whether the ORB has one. Any thread.
    [[nodiscard]] static bool has(const orb::Orb& orb);

    void send_request(orb::ObservedCall& call) override { tell_sending(call); }
    void receive_reply(orb::ObservedCall& call) override { tell_reply(call); }
    void receive_exception(orb::ObservedCall& call) override;
    void receive_other(orb::ObservedCall& call) override { tell_reply(call); }

  private:
    const orb::Orb& orb_;
    const bool transient_on_timeout_;
};

} // namespace kairos::omniorb
