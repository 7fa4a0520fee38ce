// SPDX-License-Identifier: Apache-2.0
//
// What all proxies of channels have in common, of whichever service. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/events/members.h"
#include "kairos/orb/operation.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

namespace kairos::events {

/// What all proxies have in common: they are connected once, and end once.
class KAIROS_API Proxy {
  public:
    using Clock = std::chrono::steady_clock;

    Proxy(const Proxy&) = delete;
    Proxy& operator=(const Proxy&) = delete;

    /// Called by the channel, before there is a reference.
    void number(std::uint64_t number) noexcept { number_ = number; }
    /// Called by the channel, once: ends the communication, and tells the client if it is to be
    /// told and there is one.
    void end(bool tells);
    [[nodiscard]] bool is_connected();
    [[nodiscard]] virtual bool is_consumers() const noexcept = 0;
    /// Whether the client does nothing with it that would show whether it is still there, and since
    /// when.
    [[nodiscard]] bool is_idle();
    [[nodiscard]] Clock::time_point last_used() const noexcept { return last_used_.load(); }

  protected:
    explicit Proxy(std::shared_ptr<Members> members) noexcept : members_(std::move(members)) {}
    virtual ~Proxy() = default;

    [[nodiscard]] const std::shared_ptr<Members>& members() const noexcept { return members_; }
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    /// Throws AlreadyConnected, or OBJECT_NOT_EXIST after the end. `client` may be nil.
    void connect(CORBA::Object_ptr client);
    /// Throws Disconnected unless it is connected.
    void require_connection();
    /// Its client has done something.
    void note_use() noexcept { last_used_ = Clock::now(); }
    /// Ends the proxy because its client wants that. Throws OBJECT_NOT_EXIST after the end.
    void disconnect();

  private:
    enum class State : std::uint8_t { fresh, connected, ended };

    /// Nothing more comes of the client, or goes there.
    virtual void stop() noexcept = 0;
    /// What its client is told at the end: constant data.
    [[nodiscard]] virtual const orb::Operation& farewell() const noexcept = 0;
    /// Whether a call of the client finds out, time and again, that there is one. Asked with locks
    /// held.
    [[nodiscard]] virtual bool calls_client() const noexcept = 0;

    const std::shared_ptr<Members> members_;
    std::uint64_t number_ = 0;
    std::atomic<Clock::time_point> last_used_{Clock::now()};
    std::mutex mutex_; // guards what follows; not held while anything is called
    State state_ = State::fresh;
    CORBA::Object_var client_;
};

/// Counts a pull that may wait, as long as it lives. Throws NO_RESOURCES where there are as many as
/// may be.
class WaitingPull {
  public:
    explicit WaitingPull(const Members& members)
        : of_channel_(members.pulls(), 1), of_all_(members.budget().pulls, 1)
    {
        if (!of_channel_ || !of_all_)
            throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "as many pulls wait as may");
    }

  private:
    const Portion of_channel_;
    const Portion of_all_;
};

/// Throws BAD_PARAM for a client that could not be called: nobody, or a proxy of the service, whose
/// channel would get its own events.
KAIROS_API void require_client(const Members& members, CORBA::Object_ptr client);

} // namespace kairos::events
