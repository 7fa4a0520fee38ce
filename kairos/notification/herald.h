// SPDX-License-Identifier: Apache-2.0
//
// The courier that tells one connected client which types of events there are from now on, and
// which no more: by offer_change or subscription_change (CosNotification 1.1, 2.3). What there is
// to tell while a call is under way is told together by the next one. Who does not want to hear it,
// or does not answer, is told no more. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/events/couriers.h"
#include "kairos/notification/event_types.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <set>

namespace kairos::notification {

class Herald final : public events::Courier {
  public:
    /// `of_offers`: the client is a consumer. `speaks`: it is told from the beginning.
    Herald(const std::shared_ptr<events::Couriers>& couriers, CORBA::Object_ptr client,
           bool of_offers, bool speaks, std::chrono::milliseconds timeout, std::size_t changes_max);

    void tell(const std::set<TypePattern>& added, const std::set<TypePattern>& removed);
    /// Whether the client is told.
    void speak(bool speaks);

  private:
    void called(orb::AsynchronousCall& call) override;
    void idle() override;

    const CORBA::Object_var client_;
    const bool of_offers_;
    const std::chrono::milliseconds timeout_;
    const std::size_t changes_max_; // that wait to be told
    std::mutex mutex_;              // guards what follows; not held while anything is called
    std::set<TypePattern> added_, removed_;
    bool speaks_;
};

} // namespace kairos::notification
