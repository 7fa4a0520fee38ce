// SPDX-License-Identifier: Apache-2.0
//
// Several pollers, of which whoever waits gets those whose replies are there (CORBA 3.3 part 1,
// 17.9.3). Any thread.
#pragma once

#include "kairos/base/deadline.h"

#include "kairos/messaging/MessagingAMI.h"

#include <mutex>
#include <vector>

namespace kairos::messaging {

/// A timeout that never passes.
inline constexpr CORBA::ULong wait_for_ever = 0xFFFF'FFFF;
[[nodiscard]] Deadline deadline_in(CORBA::ULong milliseconds);

class PollableSet final : public virtual CORBA::PollableSet {
  public:
    void add_pollable(CORBA::Pollable* potential) override;
    CORBA::Pollable* get_ready_pollable(CORBA::ULong timeout) override;
    void remove(CORBA::Pollable* potential) override;
    CORBA::UShort number_left() override;

  private:
    using Member = CORBA::Pollable_var;
    [[nodiscard]] CORBA::Pollable* take_ready();

    std::mutex mutex_; // guards what follows; inside nobody's
    std::vector<Member> members_;
};

} // namespace kairos::messaging
