// SPDX-License-Identifier: Apache-2.0
//
// The requests of ORB::send_multiple_requests_deferred whose responses nobody has fetched yet.
// Owned by an ORB. Any thread; one at a time waits, while others may add requests, which it does
// not see until it asks again.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/corba/orb_state.h"
#include "kairos/corba/request.h"

#include <mutex>
#include <vector>

namespace kairos::dynamic {

class Responses final : public corba::OrbAttachment {
  public:
    void add(CORBA::Request_ptr request);
    /// Waits for the next response and returns its request, owned by the caller. Throws
    /// BAD_INV_ORDER 11 if no request is outstanding.
    [[nodiscard]] CORBA::Request_ptr wait();
    /// Whether `wait` would not wait.
    [[nodiscard]] bool poll();
    /// Waits until `poll` should be asked again, until `wake`, which may be null, is readable, or
    /// the deadline. Returns false, without waiting where there is no `wake`, if no request is
    /// outstanding.
    bool await(Deadline deadline, const net::Socket* wake);

    void end() noexcept override;

  private:
    using Requests = std::vector<CORBA::Request_var>;

    [[nodiscard]] Requests outstanding();
    [[nodiscard]] static CORBA::Request_ptr ready_among(const Requests& requests);
    static void await_any(const Requests& requests, Deadline deadline, const net::Socket* wake);
    void remove(CORBA::Request_ptr request);

    std::mutex waiting_mutex_; // guards that one thread waits for the next response; outside mutex_
    std::mutex mutex_;         // guards what follows; inside waiting_mutex_
    Requests requests_;
};

} // namespace kairos::dynamic
