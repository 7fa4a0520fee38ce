// SPDX-License-Identifier: Apache-2.0
//
// The client interceptors of an ORB, as one observer of its calls. Any thread.
#pragma once

#include "kairos/interceptors/client_info.h"
#include "kairos/interceptors/flow.h"
#include "kairos/orb/call_observer.h"

#include <memory>
#include <utility>

namespace kairos::interceptors {

class ClientInterceptors final : public orb::CallObserver {
  public:
    explicit ClientInterceptors(std::shared_ptr<const Interceptors> all) : all_(std::move(all)) {}

    void send_request(orb::ObservedCall& call) override;
    void receive_reply(orb::ObservedCall& call) override;
    void receive_exception(orb::ObservedCall& call) override { end(call); }
    void receive_other(orb::ObservedCall& call) override { end(call); }

  private:
    void end(orb::ObservedCall& call);
    /// Tells of the end those that were told of the beginning, the last first.
    void tell_end(ClientInfo& info, Flow& flow) const;
    /// Has `tell` done at this point, where the thread has slots of the point's own.
    template <typename Tell>
    void at(ClientInfo& info, Point point, Tell&& tell) const;

    const std::shared_ptr<const Interceptors> all_;
};

} // namespace kairos::interceptors
