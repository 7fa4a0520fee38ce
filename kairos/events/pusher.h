// SPDX-License-Identifier: Apache-2.0
//
// The courier that pushes to one connected consumer what it has still to get: one call after the
// other, each when what the one before had was taken. What there is to push, and in which order,
// whoever derives from it knows. Any thread.
#pragma once

#include "kairos/cdr/writer.h"
#include "kairos/events/client_courier.h"

#include <memory>
#include <mutex>
#include <optional>

namespace kairos::events {

class KAIROS_API Pusher : public ClientCourier {
  public:
    /// Nothing is pushed from here on.
    void end() noexcept;
    /// Nothing is pushed from here on, but what is to be pushed stays. `under_way` is let go when
    /// no call is.
    void hold(std::shared_ptr<void> under_way) noexcept;

  protected:
    /// `push` is constant data.
    Pusher(std::shared_ptr<Members> members, std::uint64_t proxy, CORBA::Object_ptr consumer,
           const orb::Operation& push);

    /// To be asked, with mutex_ held, after something was added: whether begin() is to be called.
    [[nodiscard]] bool becomes_busy() noexcept { return !std::exchange(is_busy_, true); }
    /// Begins to push what was added, of `octets`, in this thread if that is brief and its consumer
    /// like others: then it is taken off `octets_at_once`.
    void begin(std::size_t octets, std::size_t& octets_at_once);

    std::mutex mutex_;       // guards what is to be pushed, too; not held while anything is called
    bool has_ended_ = false; // guarded by mutex_

  private:
    // With mutex_ held.
    /// Takes out what the next call has. Returns false if there is nothing, or nothing yet: then
    /// `later` is from when there will be, where that is known.
    [[nodiscard]] virtual bool take_next(std::optional<Clock::time_point>& later) = 0;
    /// Forgets what was not taken out; returns how many events that were.
    virtual std::size_t clear() noexcept = 0;

    /// Whether nothing is to be pushed for now; who is then to be pushed to again is to be woken.
    [[nodiscard]] virtual bool is_held() const noexcept { return false; }
    /// Of what was taken out, forgets what is not worth it any more; returns how many that were.
    virtual std::size_t forget_expired() noexcept { return 0; }

    // Of the thread that works.
    /// How many events were taken out, and of which size; none: 0.
    [[nodiscard]] virtual std::size_t next_count() const noexcept = 0;
    [[nodiscard]] virtual std::size_t next_octets() const noexcept = 0;
    /// Writes them as the arguments of a call.
    virtual void write_next(cdr::Writer& out) const = 0;
    /// What it is pushed by, which lives until it is forgotten.
    [[nodiscard]] virtual const orb::Operation& next_operation() const noexcept { return push_; }
    virtual void forget_next() noexcept = 0;
    /// Whether it is to be sent until its consumer has taken it, even if that may be twice.
    [[nodiscard]] virtual bool is_next_lasting() const noexcept { return false; }

    void called(orb::AsynchronousCall& call) override;
    void idle() override;
    [[nodiscard]] bool is_brief() const noexcept override;
    [[nodiscard]] bool has_next(std::optional<Clock::time_point>& later, bool& has_ended);
    void send_next();
    /// `is_made`: whether there was a call, else why there was none.
    void conclude(const std::exception_ptr& failure, bool is_made);
    [[nodiscard]] bool is_kept(Outcome outcome, const std::exception_ptr& failure);
    void drop_next() noexcept;

    const orb::Operation& push_;
    // Of the thread that works.
    unsigned tries_ = 0;   // of what is next, of a consumer that was reached
    Portion copy_;         // of it, in the call
    bool is_late_ = false; // a time was given from when there is something
    // Guarded by mutex_.
    bool is_busy_ = false; // a thread works, or will
    bool is_held_ = false; // to its end
    std::shared_ptr<void> under_way_;
};

} // namespace kairos::events
