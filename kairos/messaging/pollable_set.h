// SPDX-License-Identifier: Apache-2.0
//
// Several pollers, of which whoever waits gets those whose replies are there, and what stands for
// the deferred dynamic requests of an ORB among them (CORBA 3.3 part 1, 17.9). Any thread.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/corba/orb.h"

#include "kairos/messaging/MessagingAMI.h"

#include <cstdint>
#include <mutex>
#include <vector>

namespace kairos::dynamic {
class Responses;
}

namespace kairos::messaging {

/// A timeout that never passes.
inline constexpr CORBA::ULong wait_for_ever = 0xFFFF'FFFF;
[[nodiscard]] Deadline deadline_in(CORBA::ULong milliseconds);

/// Is ready when ORB::get_next_response would not wait. Not ready, without waiting, where no
/// request is outstanding.
class DiiPollable final : public virtual CORBA::DIIPollable,
                          public virtual CORBA::DefaultValueRefCountBase {
  public:
    explicit DiiPollable(CORBA::ORB_ptr orb) : orb_(CORBA::ORB::_duplicate(orb)) {}

    CORBA::Boolean is_ready(CORBA::ULong timeout) override;
    CORBA::PollableSet_ptr create_pollable_set() override;

    /// Throws NO_IMPLEMENT.
    CORBA::ValueBase* _copy_value() override;
    [[nodiscard]] const values::Type& _kairos_type() const override;
    /// Both throw MARSHAL.
    void _kairos_encode(cdr::Writer& out) const override;
    void _kairos_decode(cdr::Reader& in) override;

    /// Returns the ORB's requests; null if it has sent none.
    [[nodiscard]] dynamic::Responses* responses() const;

  private:
    ~DiiPollable() override = default;

    const CORBA::ORB_var orb_;
};

class PollableSet final : public virtual CORBA::PollableSet {
  public:
    /// Takes over the caller's count of the ORB.
    explicit PollableSet(CORBA::ORB_ptr orb) : orb_(orb) {}

    CORBA::DIIPollable* create_dii_pollable() override;
    void add_pollable(CORBA::Pollable* potential) override;
    CORBA::Pollable* get_ready_pollable(CORBA::ULong timeout) override;
    void remove(CORBA::Pollable* potential) override;
    CORBA::UShort number_left() override;

  private:
    using Member = CORBA::Pollable_var;

    [[nodiscard]] std::vector<Member> members();
    [[nodiscard]] CORBA::Pollable* take_ready(const std::vector<Member>& members);

    const CORBA::ORB_var orb_;
    std::mutex mutex_; // guards what follows; inside nobody's
    std::vector<Member> members_;
};

} // namespace kairos::messaging
