// SPDX-License-Identifier: Apache-2.0
//
// The server interceptors of an ORB, as one observer of its requests. Any thread.
#pragma once

#include "kairos/interceptors/flow.h"
#include "kairos/interceptors/server_info.h"
#include "kairos/orb/upcall_observer.h"

#include <memory>
#include <utility>

namespace kairos::interceptors {

class ServerInterceptors final : public orb::UpcallObserver {
  public:
    explicit ServerInterceptors(std::shared_ptr<const Interceptors> all) : all_(std::move(all)) {}

    void receive_request_service_contexts(orb::ObservedUpcall& upcall) override;
    void receive_request(orb::ObservedUpcall& upcall) override;
    [[nodiscard]] std::shared_ptr<void> leave_thread(orb::ObservedUpcall& upcall) override;
    void send_reply(orb::ObservedUpcall& upcall) override;
    void send_exception(orb::ObservedUpcall& upcall) override { end(upcall); }
    void send_other(orb::ObservedUpcall& upcall) override { end(upcall); }

  private:
    void end(orb::ObservedUpcall& upcall);
    /// Gives the thread back the slots that it had before the request.
    void leave_slots(ServerInfo& info) const;
    /// Tells of the end those that were told of the arrival, the last first.
    void tell_end(ServerInfo& info, Flow& flow) const;

    const std::shared_ptr<const Interceptors> all_;
};

} // namespace kairos::interceptors
