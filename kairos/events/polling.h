// SPDX-License-Identifier: Apache-2.0
//
// The courier that asks one connected pull supplier for events: again at once as long as it has
// some, else after a pause. Any thread.
#pragma once

#include "kairos/events/client_courier.h"

#include <atomic>

namespace kairos::events {

class Polling final : public ClientCourier {
  public:
    Polling(std::shared_ptr<Channel> channel, std::uint64_t proxy, CORBA::Object_ptr supplier)
        : ClientCourier(std::move(channel), proxy, supplier)
    {
    }

    /// The supplier is asked no more.
    void end() noexcept { has_ended_ = true; }

  private:
    void called(orb::AsynchronousCall& call) override;
    void idle() override;
    void take(orb::AsynchronousCall& call);

    std::atomic<bool> has_ended_{false};
};

} // namespace kairos::events
