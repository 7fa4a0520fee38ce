// SPDX-License-Identifier: Apache-2.0
//
// The courier that asks one connected pull supplier for events: again at once as long as it has
// some, else after a pause. Any thread.
#pragma once

#include "kairos/cdr/writer.h"
#include "kairos/events/client_courier.h"

#include <atomic>

namespace kairos::events {

class KAIROS_API Polling : public ClientCourier {
  public:
    /// The supplier is asked no more.
    void end() noexcept { has_ended_ = true; }
    /// It is not asked until it is told again; then it is to be woken.
    void suspend(bool is_suspended) noexcept { is_suspended_ = is_suspended; }

  protected:
    /// `try_pull` is constant data.
    Polling(std::shared_ptr<Members> members, std::uint64_t proxy, CORBA::Object_ptr supplier,
            const orb::Operation& try_pull)
        : ClientCourier(std::move(members), proxy, supplier), try_pull_(try_pull)
    {
    }
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }

  private:
    /// Writes the arguments of a call.
    virtual void write_arguments(cdr::Writer& out) const { (void)out; }
    /// Reads what there is; false if there was nothing. Throws what decoding throws.
    [[nodiscard]] virtual bool read_results(cdr::Reader& in) = 0;
    /// Gives what was read to the channel, and forgets it. False: not yet; it is to be asked again
    /// after a pause, if there is one, and whenever this is woken.
    [[nodiscard]] virtual bool publish() = 0;

    void called(orb::AsynchronousCall& call) override;
    void idle() override;
    void take(orb::AsynchronousCall& call);
    [[nodiscard]] bool has_published();

    const orb::Operation& try_pull_;
    bool has_read_ = false; // something that is not published; of the thread that works
    std::atomic<bool> has_ended_{false};
    std::atomic<bool> is_suspended_{false};
};

} // namespace kairos::events
