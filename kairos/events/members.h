// SPDX-License-Identifier: Apache-2.0
//
// Who is connected to a channel of whichever service, by the proxies that they were given: how many
// there may be, who is given up, and what is counted. Any thread.
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/corba/CORBA.h"
#include "kairos/events/KairosEvents.h"
#include "kairos/events/couriers.h"
#include "kairos/events/service_budget.h"
#include "kairos/events/service_limits.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kairos::events {

class Proxy;

/// What a consumer receives by; what that is the channel knows.
class Receiver {
  protected:
    ~Receiver() = default;
};

/// There are as many proxies of this kind as were to be.
struct TooManyOfKind {};

class KAIROS_API Members {
  public:
    /// `service` and `name` are what the log calls the channel by; `proxies` is the POA of the
    /// proxies of all channels, which gives them their ids.
    Members(const char* service, std::string name, const ServiceLimits& limits,
            std::shared_ptr<ServiceBudget> budget, std::shared_ptr<Couriers> couriers,
            PortableServer::POA_ptr proxies);
    Members(const Members&) = delete;
    Members& operator=(const Members&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const ServiceLimits& limits() const noexcept { return limits_; }
    [[nodiscard]] ServiceBudget& budget() const noexcept { return *budget_; }
    [[nodiscard]] const std::shared_ptr<Couriers>& couriers() const noexcept { return couriers_; }
    [[nodiscard]] KairosEvents::Figures figures();

    /// Makes the proxy an object of the channel's, which owns it. Returns the reference, owned by
    /// the caller. Throws IMP_LIMIT where there are as many as may be, here or in all channels,
    /// OBJECT_NOT_EXIST after the channel's end, TooManyOfKind where there are `of_kind_max` for
    /// consumers, or for suppliers, as the proxy is. `id`, if it is not null, is what it had in an
    /// earlier run.
    [[nodiscard]] CORBA::Object_ptr
    add(const PortableServer::Servant_var<PortableServer::ServantBase>& servant, Proxy& proxy,
        std::size_t of_kind_max = static_cast<std::size_t>(-1),
        const PortableServer::ObjectId* id = nullptr);
    /// Whether the object is a proxy of a channel of this service: at whatever address, by its key.
    [[nodiscard]] bool is_proxy(CORBA::Object_ptr object) const;
    /// What a proxy receives for its consumer, from now on. Returns false if the proxy has ended.
    [[nodiscard]] bool add_receiver(std::uint64_t proxy, const IntrusivePtr<RefCounted>& owner,
                                    Receiver& receiver);
    /// Ends a proxy; tells its client, if it is connected and is to be told. Does nothing if it has
    /// ended.
    void retire(std::uint64_t proxy, bool tells);
    /// Ends a proxy without a word.
    void forget(std::uint64_t proxy) { retire(proxy, false); }
    /// Ends the proxy of a client that does not answer, or does not want any more, and says so in
    /// the log.
    void give_up(std::uint64_t proxy, CORBA::Object& client, const std::string& reason);
    /// Ends all proxies; there will be none any more.
    void end(bool tells);
    [[nodiscard]] bool has_ended() const noexcept
    {
        const std::lock_guard lock(mutex_);
        return has_ended_;
    }

    // --- counting ---
    void note_received() noexcept { received_.fetch_add(1, std::memory_order_relaxed); }
    void note_delivered(std::size_t count = 1) noexcept
    {
        delivered_.fetch_add(count, std::memory_order_relaxed);
    }
    void note_dropped(std::size_t count);
    void note_lost(std::size_t count) noexcept
    {
        lost_.fetch_add(count, std::memory_order_relaxed);
    }
    /// Whether each proxy is so.
    [[nodiscard]] bool all_are(const std::function<bool(const Proxy&)>& so) const;
    /// How many of its pulls may wait.
    [[nodiscard]] const std::shared_ptr<Allowance>& pulls() const noexcept { return pulls_; }

  protected:
    struct Reception {
        std::uint64_t proxy = 0;
        IntrusivePtr<RefCounted> owner;
        Receiver* receiver = nullptr;
    };
    using Receptions = std::vector<Reception>;

    ~Members() = default;
    /// Who receives now; never null.
    [[nodiscard]] std::shared_ptr<const Receptions> receptions()
    {
        const Lock lock(mutex_);
        return receptions_;
    }

  private:
    using Lock = std::unique_lock<std::mutex>;
    struct Member {
        PortableServer::Servant_var<PortableServer::ServantBase> servant;
        Proxy* proxy = nullptr;
        PortableServer::ObjectId_var id;
        Portion place;
    };
    using Table = std::map<std::uint64_t, Member>;

    void make_room();
    /// Must hold mutex_. How many proxies there are for consumers, or for suppliers; connected or
    /// not.
    [[nodiscard]] std::size_t count(bool of_consumers) const;
    [[nodiscard]] bool keep_id(std::uint64_t proxy, PortableServer::ObjectId_var& id);
    [[nodiscard]] Member take_out(std::uint64_t proxy);
    [[nodiscard]] Member take_out(Table::iterator found);
    void finish(Member member, bool tells);
    [[nodiscard]] bool may_say(std::size_t& unsaid);

    const char* const service_;
    const std::string name_;
    const ServiceLimits limits_;
    const std::shared_ptr<ServiceBudget> budget_;
    const std::shared_ptr<Couriers> couriers_;
    const PortableServer::POA_var proxies_;
    std::atomic<std::uint64_t> received_{0};
    std::atomic<std::uint64_t> delivered_{0};
    std::atomic<std::uint64_t> dropped_{0};
    std::atomic<std::uint64_t> lost_{0};
    std::atomic<std::uint64_t> given_up_{0};
    const std::shared_ptr<Allowance> pulls_;
    mutable std::mutex mutex_; // guards what follows; outside Proxy::mutex_
    Table members_;
    std::uint64_t last_ = 0;                       // number of a proxy
    std::shared_ptr<const Receptions> receptions_; // replaced when it changes; never null
    Courier::Clock::time_point said_at_{};         // that a client was given up
    std::size_t unsaid_ = 0;                       // how many were not named since
    bool has_ended_ = false;
};

} // namespace kairos::events
