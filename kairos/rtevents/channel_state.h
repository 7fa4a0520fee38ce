// SPDX-License-Identifier: Apache-2.0
//
// A real-time channel without its objects: who is connected, and the ways of events to them.
#pragma once

#include "kairos/corba/ior_table.h"
#include "kairos/net/thread.h"
#include "kairos/rtevents/channel.h"
#include "kairos/rtevents/event_views.h"
#include "kairos/rtevents/filter.h"
#include "kairos/rtevents/multicast.h"
#include "kairos/rtevents/published.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <queue>
#include <vector>

namespace kairos::rtevents {

using Clock = std::chrono::steady_clock;
using RtecEventComm::EventSet;

/// A set of events in a queue: encoded, or as a value where an Any has something in it.
struct Waiting {
    BlockPtr block;
    std::shared_ptr<const EventSet> events;
    unsigned depth = 0; ///< of channels that it has come through
    [[nodiscard]] CORBA::ULong count() const noexcept
    {
        if (block) return block->count;
        return events ? events->length() : 0;
    }
};

/// First in, first out, in memory that it keeps. Used by one thread at a time.
class WaitingSets {
  public:
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Throws std::bad_alloc, and has what it had.
    void push(Waiting next)
    {
        if (size_ == places_.size()) grow();
        places_[(first_ + size_++) % places_.size()] = std::move(next);
    }
    /// Of one that is not empty.
    [[nodiscard]] Waiting pop() noexcept
    {
        --size_;
        return std::exchange(places_[std::exchange(first_, (first_ + 1) % places_.size())], {});
    }

  private:
    void grow()
    {
        std::vector<Waiting> larger(std::max<std::size_t>(8, 2 * places_.size()));
        for (std::size_t i = 0; i < size_; ++i)
            larger[i] = std::move(places_[(first_ + i) % places_.size()]);
        places_.swap(larger);
        first_ = 0;
    }

    std::vector<Waiting> places_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

struct Lane;

/// A consumer that is connected. Shared by count; any thread.
struct Consumer {
    Consumer(std::uint64_t own_number, RtecEventComm::PushConsumer_ptr own_object,
             const RtecEventChannelAdmin::ConsumerQOS& qos)
        : number(own_number), object(RtecEventComm::PushConsumer::_duplicate(own_object)),
          is_gateway(qos.is_gateway), filter(qos.dependencies), due(filter.timeouts().size()),
          collected(filter.begin())
    {
    }

    const std::uint64_t number; // of its proxy
    const RtecEventComm::PushConsumer_var object;
    const bool is_gateway;
    const Filter filter;
    Lane* lane = nullptr; // written before anybody reads; null where there are none
    std::atomic<bool> is_suspended{false};
    std::atomic<bool> has_ended{false};
    std::atomic<unsigned> failures{0}; // one after the other
    /// Nothing is given to it before: it has failed.
    std::atomic<Clock::time_point> not_before{Clock::time_point::min()};

    std::mutex mutex;                   // guards what follows; not held while anything is called
    std::vector<Clock::time_point> due; // of each timeout; time_point::max() of one that is over
    Filter::Collected collected;

    // Guarded by the mutex of its lane:
    WaitingSets waiting;
    std::shared_ptr<Consumer> next_ready; // in its lane's list
};
using ConsumerPtr = std::shared_ptr<Consumer>;

/// Who has one priority.
struct Lane {
    std::mutex mutex; // guards what follows; not held while anything is called
    std::condition_variable changed;
    ConsumerPtr first_ready; // of those for which something waits, by next_ready
    Consumer* last_ready = nullptr;
    bool is_idle = false; // its thread waits to be told
    bool ends = false;
    net::Thread thread;

    /// Must hold mutex.
    void append(ConsumerPtr consumer) noexcept
    {
        Consumer* const last = consumer.get();
        (first_ready ? last_ready->next_ready : first_ready) = std::move(consumer);
        last_ready = last;
    }
    /// Must hold mutex. Of a list that is not empty.
    [[nodiscard]] ConsumerPtr take_first() noexcept
    {
        ConsumerPtr consumer = std::move(first_ready);
        first_ready = std::move(consumer->next_ready);
        return consumer;
    }
};

/// A thread and a queue for each priority. Any thread.
class Lanes {
  public:
    using Deliver = std::function<void(Consumer&, const Waiting&)>;
    /// Priorities, at most.
    static constexpr std::size_t lanes_max = 32;
    Lanes(orb::Orb& orb, std::size_t queue_max, Deliver deliver)
        : orb_(orb), queue_max_(std::max<std::size_t>(1, queue_max)), deliver_(std::move(deliver))
    {
    }
    Lanes(const Lanes&) = delete;
    Lanes& operator=(const Lanes&) = delete;
    ~Lanes() { end(); }

    /// Returns the lane of this priority, which lasts as long as this, and begins it if there is
    /// none. Throws NO_RESOURCES without a thread, and where there are as many lanes as may be.
    [[nodiscard]] Lane& begin(CORBA::Short priority);
    /// Returns how many events were dropped for it.
    [[nodiscard]] std::size_t put(const ConsumerPtr& consumer, Waiting events);
    /// What waits is not given to anybody. Waits for what is under way; not within that.
    void end() noexcept;

  private:
    void run(Lane& lane) noexcept;

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
    /// Give events to all that want them, and to the group if there is one and they are for it.
    void publish(const EventSet& events, bool to_group = true);
    void publish(EventViews events, bool to_group = true);
    /// Give events of a message to the group to all that want them.
    void take_from_group(const EventSet& events);
    void take_from_group(std::span<EventView> events);
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
        /// Of one of a supplier: headers only.
        std::shared_ptr<const RtecEventChannelAdmin::SupplierQOS> publications;
    };
    /// One for each timeout of each consumer; it may be due later than this.
    struct Timer {
        Clock::time_point at;
        std::size_t timeout = 0;
        std::weak_ptr<Consumer> consumer;
        friend bool operator>(const Timer& a, const Timer& b) { return a.at > b.at; }
    };
    struct Watcher {
        RtecEventChannelAdmin::Observer_var object;
        unsigned failures = 0;
        Clock::time_point not_before{};
        // What it has not been told.
        bool lacks_consumers = true;
        bool lacks_suppliers = true;
    };
    using Subscriptions = RtecEventChannelAdmin::ConsumerQOS;
    using Publications = RtecEventChannelAdmin::SupplierQOS;

    /// What is made of a set of events when the first needs it, for all.
    struct Kept {
        std::shared_ptr<const EventSet> events;
        BlockPtr block;
    };
    template <typename Events>
    [[nodiscard]] bool publish_to_all(const Events& events, CORBA::ULong count);
    template <typename Events>
    void offer(const ConsumerPtr& consumer, const Events& events, CORBA::ULong count, Kept& kept);
    void collect(const ConsumerPtr& consumer, const EventSet& events);
    void give_some(const ConsumerPtr& consumer, const EventSet& events, CORBA::ULong taken,
                   Kept& kept);
    void give_some(const ConsumerPtr& consumer, EventViews events, CORBA::ULong taken, Kept& kept);
    void give(const ConsumerPtr& consumer, const EventSet& events,
              std::shared_ptr<const EventSet>* kept = nullptr);
    void give(const ConsumerPtr& consumer, const std::vector<Filter::EventPtr>& events);
    [[nodiscard]] BlockPtr encoded(EventViews events, const Filter* filter, CORBA::ULong taken);
    void deliver(Consumer& consumer, const EventSet& events) noexcept;
    template <typename Push>
    void deliver(Consumer& consumer, CORBA::ULong count, const Push& push) noexcept;
    void fail(Consumer& consumer, const std::string& reason) noexcept;
    void give_up(Consumer& consumer, const std::string& reason) noexcept;
    /// Must hold mutex_.
    void publish_consumers();
    [[nodiscard]] bool has_room(Kind kind, std::vector<Proxy>& gone);
    void ask_whether_they_are_there(Kind kind);
    /// Returns false where the proxy is not there any more.
    [[nodiscard]] bool note_id(std::uint64_t number, const PortableServer::ObjectId_var& id);
    void require_connectable(std::uint64_t proxy);
    [[nodiscard]] Proxy take_out(std::uint64_t proxy);
    void finish(Proxy proxy, bool tells) noexcept;
    [[nodiscard]] bool is_proxy(CORBA::Object_ptr object) const;
    [[nodiscard]] CORBA::Object_ptr limited(CORBA::Object_ptr object, bool sends_events) const;

    void begin_times(const ConsumerPtr& consumer);
    static void begin_anew(Consumer& consumer, const std::vector<std::size_t>& timeouts);
    void run_timers() noexcept;
    void end_time(const Timer& timer);
    void require_timers_thread();
    void note_change(bool of_consumers) noexcept;
    void tell_observers() noexcept;
    [[nodiscard]] bool tell_one(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] Subscriptions subscriptions();
    [[nodiscard]] Publications publications();

    const CORBA::ORB_var orb_;
    const ChannelOptions options_;
    PortableServer::POA_var named_;   // of the channel and its administrators
    PortableServer::POA_var proxies_; // of all proxies
    IORTable::Table_var table_;
    std::string in_table_;
    std::unique_ptr<Multicast> multicast_; // null where there is no group; set by begin()
    Blocks blocks_;                        // before who has some
    std::unique_ptr<Lanes> lanes_;         // null where threads give their events themselves

    std::atomic<std::uint64_t> received_{0};
    std::atomic<std::uint64_t> delivered_{0};
    std::atomic<std::uint64_t> dropped_{0};
    std::atomic<std::uint64_t> disconnected_{0};

    std::mutex mutex_; // guards what follows; not held while anything is called
    std::map<std::uint64_t, Proxy> all_;
    std::uint64_t last_ = 0;
    std::uint64_t last_asked_ = 0; // whether it is there
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
    bool observers_end_ = false;
    net::Thread observers_thread_; // begins with the first observer
};

/// The same object, whose calls end in time, and whose oneways are sent without waiting if it is
/// sent events. Owned by the caller.
[[nodiscard]] CORBA::Object_ptr limited(CORBA::ORB_ptr orb, CORBA::Object_ptr object,
                                        std::chrono::milliseconds call_timeout, bool sends_events);

// The servants, with a count of their own.
[[nodiscard]] PortableServer::Servant make_channel(std::shared_ptr<ChannelState> state);
[[nodiscard]] PortableServer::Servant make_consumer_admin(std::shared_ptr<ChannelState> state);
[[nodiscard]] PortableServer::Servant make_supplier_admin(std::shared_ptr<ChannelState> state);
[[nodiscard]] PortableServer::Servant make_group_member(std::shared_ptr<ChannelState> state);
[[nodiscard]] PortableServer::Servant make_proxy(std::shared_ptr<ChannelState> state,
                                                 ChannelState::Kind kind, std::uint64_t number);

} // namespace kairos::rtevents
