// SPDX-License-Identifier: Apache-2.0
//
// A real-time channel without its objects: who is connected, and the ways of events to them.
#pragma once

#include "kairos/corba/ior_table.h"
#include "kairos/net/thread.h"
#include "kairos/rtevents/channel.h"
#include "kairos/rtevents/filter.h"
#include "kairos/rtevents/published.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <queue>
#include <vector>

namespace kairos::rtevents {

using Clock = std::chrono::steady_clock;
using RtecEventComm::EventSet;

/// A consumer that is connected. Shared by count; any thread.
struct Consumer {
    Consumer(std::uint64_t own_number, RtecEventComm::PushConsumer_ptr own_object,
             const RtecEventChannelAdmin::ConsumerQOS& qos)
        : number(own_number), object(RtecEventComm::PushConsumer::_duplicate(own_object)),
          is_gateway(qos.is_gateway), filter(qos.dependencies), begun(filter.timeouts().size(), 0),
          collected(filter.begin())
    {
    }

    const std::uint64_t number; // of its proxy
    const RtecEventComm::PushConsumer_var object;
    const bool is_gateway;
    const Filter filter;
    CORBA::Short priority = 0; // written before anybody reads
    std::atomic<bool> is_suspended{false};
    std::atomic<bool> has_ended{false};
    std::atomic<unsigned> failures{0}; // one after the other

    std::mutex mutex;                 // guards what follows; not held while anything is called
    std::vector<std::uint64_t> begun; // how often each timeout has begun
    Filter::Collected collected;
};
using ConsumerPtr = std::shared_ptr<Consumer>;

/// A thread and a queue for each priority. Any thread.
class Lanes {
  public:
    using Deliver = std::function<void(Consumer&, const EventSet&)>;
    Lanes(orb::Orb& orb, std::size_t queue_max, Deliver deliver)
        : orb_(orb), queue_max_(queue_max), deliver_(std::move(deliver))
    {
    }
    Lanes(const Lanes&) = delete;
    Lanes& operator=(const Lanes&) = delete;
    ~Lanes() { end(); }

    /// Begins a lane, if there is none of this priority. Throws NO_RESOURCES without a thread.
    void begin(CORBA::Short priority);
    /// Returns how many sets were dropped for it.
    [[nodiscard]] std::size_t put(const ConsumerPtr& consumer,
                                  const std::shared_ptr<const EventSet>& events);
    /// What waits is not given to anybody. Waits for what is under way; not within that.
    void end() noexcept;

  private:
    struct Lane {
        std::mutex mutex; // guards what follows; not held while anything is called
        std::condition_variable changed;
        std::deque<std::pair<ConsumerPtr, std::shared_ptr<const EventSet>>> queue;
        bool ends = false;
        net::Thread thread;
    };
    void run(Lane& lane) noexcept;
    [[nodiscard]] Lane& lane_of(CORBA::Short priority);

    orb::Orb& orb_;
    const std::size_t queue_max_;
    const Deliver deliver_;
    std::mutex mutex_; // guards what follows; outside those of lanes
    std::map<CORBA::Short, std::unique_ptr<Lane>> lanes_;
};

class ChannelState : public std::enable_shared_from_this<ChannelState> {
  public:
    ChannelState(CORBA::ORB_ptr orb, ChannelOptions options);
    ChannelState(const ChannelState&) = delete;
    ChannelState& operator=(const ChannelState&) = delete;
    ~ChannelState();

    /// Makes the objects; before anything is called.
    void begin(const std::string& name);
    /// No object can be called any more, and no thread works, when this returns.
    void end() noexcept;

    // --- what servants do ---
    enum class Kind : std::uint8_t { of_consumer, of_supplier };
    /// Makes a proxy; owned by the caller. Throws IMP_LIMIT.
    [[nodiscard]] CORBA::Object_ptr obtain(Kind kind);
    void connect(std::uint64_t proxy, RtecEventComm::PushConsumer_ptr consumer,
                 const RtecEventChannelAdmin::ConsumerQOS& qos);
    void connect(std::uint64_t proxy, RtecEventComm::PushSupplier_ptr supplier,
                 const RtecEventChannelAdmin::SupplierQOS& qos);
    void suspend(std::uint64_t proxy, bool is_suspended);
    void disconnect(std::uint64_t proxy);
    /// Gives events to all that want them.
    void publish(const EventSet& events);
    /// Disconnects all and tells them so; the channel is of no more use.
    void destroy();
    [[nodiscard]] CORBA::ULong append(RtecEventChannelAdmin::Observer_ptr observer);
    void remove(CORBA::ULong observer);
    [[nodiscard]] CORBA::Object_ptr object(const char* name) const;

    [[nodiscard]] ChannelFigures figures() const noexcept;

  private:
    using Lock = std::unique_lock<std::mutex>;
    using Consumers = std::vector<ConsumerPtr>;
    struct Proxy {
        Kind kind{};
        PortableServer::ObjectId_var id;
        bool is_connected = false;
        Clock::time_point made = Clock::now();
        ConsumerPtr consumer;                     // of one of a consumer that is connected
        RtecEventComm::PushSupplier_var supplier; // of one of a supplier that is
        RtecEventChannelAdmin::SupplierQOS publications;
    };
    struct Timer {
        Clock::time_point at;
        std::weak_ptr<Consumer> consumer;
        std::size_t timeout = 0;
        std::uint64_t begun = 0;
        friend bool operator>(const Timer& a, const Timer& b) { return a.at > b.at; }
    };
    struct Watcher {
        RtecEventChannelAdmin::Observer_var object;
        unsigned failures = 0;
        bool is_new = true;
    };

    void offer(const ConsumerPtr& consumer, const EventSet& events,
               std::shared_ptr<const EventSet>& kept);
    void give(const ConsumerPtr& consumer, const EventSet& events,
              std::shared_ptr<const EventSet>* kept = nullptr);
    void give(const ConsumerPtr& consumer, Filter::Outcome& outcome);
    void deliver(Consumer& consumer, const EventSet& events) noexcept;
    void give_up(Consumer& consumer, const std::string& reason) noexcept;
    /// Must hold mutex_.
    void publish_consumers();
    void make_room(Kind kind, std::vector<Proxy>& gone);
    [[nodiscard]] Proxy take_out(std::uint64_t proxy);
    void finish(Proxy proxy, bool tells) noexcept;
    [[nodiscard]] bool is_proxy(CORBA::Object_ptr object) const;
    [[nodiscard]] CORBA::Object_ptr limited(CORBA::Object_ptr object, bool sends_events) const;

    void time(const ConsumerPtr& consumer, const std::vector<std::size_t>& timeouts);
    void run_timers() noexcept;
    void end_time(const Timer& timer);
    void require_helpers();
    void note_change(bool of_consumers) noexcept;
    void tell_observers() noexcept;
    void tell_observers(bool of_consumers, bool of_suppliers);

    const CORBA::ORB_var orb_;
    const ChannelOptions options_;
    PortableServer::POA_var named_;   // of the channel and its administrators
    PortableServer::POA_var proxies_; // of all proxies
    IORTable::Table_var table_;
    std::string in_table_;
    std::unique_ptr<Lanes> lanes_; // null where threads give their events themselves

    std::atomic<std::uint64_t> received_{0};
    std::atomic<std::uint64_t> delivered_{0};
    std::atomic<std::uint64_t> dropped_{0};
    std::atomic<std::uint64_t> disconnected_{0};

    std::mutex mutex_; // guards what follows; not held while anything is called
    std::map<std::uint64_t, Proxy> all_;
    std::uint64_t last_ = 0;
    bool has_ended_ = false;
    Published<Consumers> consumers_{std::make_unique<const Consumers>()}; // replaced with mutex_

    std::mutex timers_mutex_; // guards what follows; inside Consumer::mutex
    std::condition_variable timers_changed_;
    std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
    bool timers_end_ = false;
    net::Thread timers_thread_; // begins with the first timeout; by who holds mutex_

    std::mutex observers_mutex_; // guards what follows; not held while anything is called
    std::condition_variable observers_changed_;
    std::map<CORBA::ULong, Watcher> observers_;
    CORBA::ULong last_observer_ = 0;
    bool consumers_have_changed_ = false;
    bool suppliers_have_changed_ = false;
    bool observers_end_ = false;
    net::Thread observers_thread_; // begins with the first observer
};

// The servants, with a count of their own.
[[nodiscard]] PortableServer::Servant make_channel(std::shared_ptr<ChannelState> state);
[[nodiscard]] PortableServer::Servant make_consumer_admin(std::shared_ptr<ChannelState> state);
[[nodiscard]] PortableServer::Servant make_supplier_admin(std::shared_ptr<ChannelState> state);
[[nodiscard]] PortableServer::Servant make_proxy(std::shared_ptr<ChannelState> state,
                                                 ChannelState::Kind kind, std::uint64_t number);

} // namespace kairos::rtevents
