// SPDX-License-Identifier: Apache-2.0
//
// The four proxies of a channel (Event Service 1.2, 2.3.4 to 2.3.7), as servants. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/events/CosEventChannelAdmin.h"
#include "kairos/events/channel.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

namespace kairos::events {

/// What all proxies have in common: they are connected once, and end once.
class Proxy {
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
    explicit Proxy(std::shared_ptr<Channel> channel) noexcept : channel_(std::move(channel)) {}
    virtual ~Proxy() = default;

    [[nodiscard]] const std::shared_ptr<Channel>& channel() const noexcept { return channel_; }
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    /// Throws AlreadyConnected, or OBJECT_NOT_EXIST after the end. `client` may be nil.
    void connect(CORBA::Object_ptr client);
    /// Throws Disconnected unless it is connected.
    void require_connection();
    /// Ends the proxy because its client wants that. Throws OBJECT_NOT_EXIST after the end.
    void disconnect();

  private:
    enum class State : std::uint8_t { fresh, connected, ended };

    /// Nothing more comes of the client, or goes there.
    virtual void stop() noexcept = 0;
    /// What its client is told at the end: constant data.
    [[nodiscard]] virtual const orb::Operation& farewell() const noexcept = 0;
    /// Whether a call of the client finds out, time and again, that there is one.
    [[nodiscard]] virtual bool calls_client() const noexcept = 0;

    const std::shared_ptr<Channel> channel_;
    std::uint64_t number_ = 0;
    std::atomic<Clock::time_point> last_used_{Clock::now()};
    std::mutex mutex_; // guards what follows; not held while anything is called
    State state_ = State::fresh;
    CORBA::Object_var client_;
};

/// Make a proxy of the channel. Owned by the caller. Throw what Channel::add throws.
[[nodiscard]] CosEventChannelAdmin::ProxyPushConsumer_ptr
make_push_consumer(const std::shared_ptr<Channel>& channel);
[[nodiscard]] CosEventChannelAdmin::ProxyPullConsumer_ptr
make_pull_consumer(const std::shared_ptr<Channel>& channel);
[[nodiscard]] CosEventChannelAdmin::ProxyPushSupplier_ptr
make_push_supplier(const std::shared_ptr<Channel>& channel);
[[nodiscard]] CosEventChannelAdmin::ProxyPullSupplier_ptr
make_pull_supplier(const std::shared_ptr<Channel>& channel);

} // namespace kairos::events
