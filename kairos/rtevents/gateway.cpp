// SPDX-License-Identifier: Apache-2.0
//
// What forwards events from one channel to another: a consumer of the one that wants what the
// other's consumers want, and a supplier of the other. A thread of its own calls both: it connects,
// looks from time to time whether they still know it, and connects anew where they do not.
#include "kairos/base/log.h"
#include "kairos/orb/failure.h"
#include "kairos/rtevents/RtecEventChannelAdmin_skel.h"
#include "kairos/rtevents/channel_state.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace kairos::rtevents {
namespace {

using namespace RtecEventChannelAdmin;

/// So often, in looks, it is said to the channel behind a gateway anew that this observes it.
constexpr unsigned looks_of_observer = 12;
constexpr std::chrono::minutes between_warnings{1};

/// As options can be taken: the thread has pauses.
GatewayOptions with_pauses(GatewayOptions options)
{
    options.look_every = std::max(options.look_every, std::chrono::milliseconds(1));
    options.first_pause =
        std::clamp(options.first_pause, std::chrono::milliseconds(1), options.look_every);
    return options;
}

/// Of wishes only headers count.
bool are_same(const ConsumerQOS& left, const ConsumerQOS& right)
{
    if (left.dependencies.length() != right.dependencies.length()) return false;
    for (CORBA::ULong i = 0; i < left.dependencies.length(); ++i) {
        const Dependency& mine = left.dependencies[i];
        const Dependency& other = right.dependencies[i];
        if (mine.event.header.type != other.event.header.type ||
            mine.event.header.source != other.event.header.source ||
            mine.event.header.creation_time != other.event.header.creation_time ||
            mine.rt_info != other.rt_info)
            return false;
    }
    return true;
}

} // namespace

/// Shared by count: by the Gateway and by its objects, which may still be called when it ends.
class GatewayState : public std::enable_shared_from_this<GatewayState> {
  public:
    GatewayState(CORBA::ORB_ptr orb, EventChannel_ptr from, EventChannel_ptr to,
                 const GatewayOptions& options)
        : orb_(CORBA::ORB::_duplicate(orb)), options_(with_pauses(options))
    {
        if (CORBA::is_nil(from) || CORBA::is_nil(to))
            throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "two channels are wanted");
        from_ = in_time<EventChannel>(from);
        to_ = in_time<EventChannel>(to);
    }
    GatewayState(const GatewayState&) = delete;
    GatewayState& operator=(const GatewayState&) = delete;
    ~GatewayState() = default;

    void begin()
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        poa_ = PortableServer::POA::_narrow(object.in());
        Supplying made = connect_supplier();
        {
            const Lock lock(mutex_);
            supplying_ = made;
        }
        auto thread = net::Thread::start({.name = "kairos-rtec-gate"}, [this] { run(); });
        if (!thread) {
            leave(made);
            throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, thread.error().reason);
        }
        thread_ = std::move(thread).value();
    }
    void end() noexcept
    {
        has_ended_ = true;
        {
            const Lock lock(mutex_);
            changed_.notify_one();
        }
        thread_.join();
        Supplying supplying;
        Consuming consuming;
        {
            const Lock lock(mutex_);
            supplying = std::move(supplying_);
            consuming = std::move(consuming_);
        }
        leave(supplying);
        leave(consuming);
    }
    [[nodiscard]] GatewayFigures figures() const noexcept
    {
        return {.forwarded = forwarded_, .connected_anew = connected_anew_};
    }

  private:
    using Lock = std::unique_lock<std::mutex>;
    using StatePtr = std::shared_ptr<GatewayState>;
    using Wishes = std::shared_ptr<const ConsumerQOS>;

    class ObserverServant final : public POA_RtecEventChannelAdmin::Observer {
      public:
        explicit ObserverServant(StatePtr gateway) : gateway_(std::move(gateway)) {}
        void update_consumer(const ConsumerQOS& wishes) override { gateway_->want(wishes); }
        void update_supplier(const SupplierQOS& /*publications*/) override {}

      private:
        const StatePtr gateway_;
    };
    class ConsumerServant final : public POA_RtecEventComm::PushConsumer {
      public:
        explicit ConsumerServant(StatePtr gateway) : gateway_(std::move(gateway)) {}
        void push(const RtecEventComm::EventSet& events) override { gateway_->forward(events); }
        void disconnect_push_consumer() override { gateway_->look(); }

      private:
        const StatePtr gateway_;
    };
    class SupplierServant final : public POA_RtecEventComm::PushSupplier {
      public:
        explicit SupplierServant(StatePtr gateway) : gateway_(std::move(gateway)) {}
        void disconnect_push_supplier() override { gateway_->look(); }

      private:
        const StatePtr gateway_;
    };

    /// Objects of this gateway, for one connection: who still has those of an older one calls
    /// nobody.
    using Ids = std::vector<PortableServer::ObjectId_var>;
    /// A connection to the channel behind the gateway.
    struct Supplying {
        ProxyPushConsumer_var proxy; // nil: there is none
        Observer_var observer;
        std::optional<Observer_Handle> handle;
        Ids ids;
        bool is_out_of_reach = false; // events are not tried before it is found to be there
    };
    /// A connection to the one in front of it.
    struct Consuming {
        ProxyPushSupplier_var proxy; // nil: there is none
        Wishes wishes;
        Ids ids;
    };

    /// The same object, whose calls end in time. Throws INV_OBJREF where it is nil.
    template <typename Interface>
    [[nodiscard]] typename Interface::_var_type in_time(CORBA::Object_ptr object,
                                                        bool sends_events = false) const
    {
        if (CORBA::is_nil(object))
            throw CORBA::INV_OBJREF(0, CORBA::COMPLETED_NO, "a channel answers without an object");
        const CORBA::Object_var same =
            limited(orb_.in(), object, options_.call_timeout, sends_events);
        return Interface::_unchecked_narrow(same.in());
    }
    /// Of a servant that is nobody else's.
    template <typename Interface>
    [[nodiscard]] typename Interface::_var_type activate(PortableServer::Servant servant, Ids& ids)
    {
        const PortableServer::Servant_var<PortableServer::ServantBase> owned = servant;
        const PortableServer::ObjectId_var id = poa_->activate_object(servant);
        ids.push_back(id);
        const CORBA::Object_var object = poa_->id_to_reference(id.in());
        return Interface::_unchecked_narrow(object.in());
    }

    /// Between calls: who ends this waits for one of them at most.
    void require_going_on() const
    {
        if (has_ended_) throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO, "the gateway has ended");
    }

    // --- connecting and leaving, without the mutex ---
    /// Throws what the calls throw, and has left nothing then that it could take back.
    [[nodiscard]] Supplying connect_supplier()
    {
        Supplying made;
        try {
            const SupplierAdmin_var found = to_->for_suppliers();
            const auto admin = in_time<SupplierAdmin>(found.in());
            require_going_on();
            const ProxyPushConsumer_var out = admin->obtain_push_consumer();
            made.proxy = in_time<ProxyPushConsumer>(out.in(), true);
            SupplierQOS publications;
            publications.is_gateway = true;
            const auto supplier = activate<RtecEventComm::PushSupplier>(
                new SupplierServant(shared_from_this()), made.ids);
            require_going_on();
            made.proxy->connect_push_supplier(supplier.in(), publications);
            made.observer = activate<Observer>(new ObserverServant(shared_from_this()), made.ids);
            require_going_on();
            made.handle = to_->append_observer(made.observer.in());
        } catch (...) {
            leave(made);
            throw;
        }
        return made;
    }
    [[nodiscard]] Consuming connect_consumer(const Wishes& wishes)
    {
        Consuming made;
        made.wishes = wishes;
        if (wishes->dependencies.length() == 0) return made;
        try {
            ConsumerQOS own = *wishes;
            own.is_gateway = true;
            const ConsumerAdmin_var found = from_->for_consumers();
            const auto admin = in_time<ConsumerAdmin>(found.in());
            require_going_on();
            const ProxyPushSupplier_var in = admin->obtain_push_supplier();
            made.proxy = in_time<ProxyPushSupplier>(in.in());
            const auto consumer = activate<RtecEventComm::PushConsumer>(
                new ConsumerServant(shared_from_this()), made.ids);
            require_going_on();
            made.proxy->connect_push_consumer(consumer.in(), own);
        } catch (...) {
            leave(made);
            throw;
        }
        return made;
    }
    /// Where the first call is not answered, no more is said.
    void leave(const Supplying& connection) noexcept
    {
        try_to([&] {
            // By the handle of a channel that has begun anew somebody else might be removed.
            if (!CORBA::is_nil(connection.proxy.in())) connection.proxy->disconnect_push_consumer();
            if (connection.handle) to_->remove_observer(*connection.handle);
        });
        forget(connection.ids);
    }
    void leave(const Consuming& connection) noexcept
    {
        try_to([&] {
            if (!CORBA::is_nil(connection.proxy.in())) connection.proxy->disconnect_push_supplier();
        });
        forget(connection.ids);
    }
    void forget(const Ids& ids) noexcept
    {
        for (const PortableServer::ObjectId_var& id : ids)
            try_to([&] { poa_->deactivate_object(id.in()); });
    }
    template <typename Call>
    static void try_to(Call call) noexcept
    {
        try {
            call();
        } catch (const std::exception& exception) {
            log::info(log::Line() << "real-time events: a channel does not answer a gateway that "
                                     "leaves it: "
                                  << exception.what());
        }
    }
    /// Returns whether the channel does not know the proxy any more. Throws what is no answer: who
    /// does not answer may still have the connection, and then a second one would be too many.
    [[nodiscard]] static bool is_forgotten(CORBA::Object_ptr proxy, CORBA::Object_ptr channel)
    {
        if (CORBA::is_nil(proxy)) return true;
        try {
            return proxy->_non_existent();
        } catch (const CORBA::OBJECT_NOT_EXIST&) {
            return true;
        } catch (const CORBA::NO_PERMISSION&) {
            return false; // somebody is there who says so
        } catch (const CORBA::TRANSIENT&) {
            return is_elsewhere(channel);
        } catch (const CORBA::COMM_FAILURE&) {
            return is_elsewhere(channel);
        }
    }
    /// Of a channel whose proxy cannot be reached: a channel that answers has come back at another
    /// address. Must be called while the proxy's exception is handled.
    [[nodiscard]] static bool is_elsewhere(CORBA::Object_ptr channel)
    {
        if (channel->_non_existent()) throw;
        return true;
    }

    // --- the thread ---
    void run() noexcept
    {
        auto pause = options_.first_pause;
        bool was_well = true;
        Lock lock(mutex_);
        while (!has_ended_) {
            is_to_look_ = false;
            lock.unlock();
            const std::uint64_t before = connected_anew_;
            const bool is_well = tend(was_well);
            const bool is_calm = is_well && connected_anew_ == before;
            lock.lock();
            if (is_calm) pause = options_.first_pause;
            const auto now = Clock::now();
            // Peers may say that it is to look, but not how often.
            changed_.wait_until(lock, now + pause, [&] { return has_ended_.load(); });
            if (is_calm)
                changed_.wait_until(lock, now + options_.look_every,
                                    [&] { return has_ended_ || is_to_look_; });
            else
                pause = std::min(2 * pause, options_.look_every);
            was_well = is_well;
        }
    }
    /// Connects what is not connected as it should be; returns whether all is. One side does not
    /// wait until the other one is well.
    [[nodiscard]] bool tend(bool says_why) noexcept
    {
        const bool is_behind_well = tend_one(says_why, [&] { tend_supplier(); });
        if (!is_behind_well) looks_ = looks_of_observer; // it may have been dropped meanwhile
        return tend_one(says_why, [&] { tend_consumer(); }) && is_behind_well;
    }
    template <typename Tend>
    [[nodiscard]] bool tend_one(bool says_why, Tend&& tend) noexcept
    {
        try {
            require_going_on();
            tend();
            return true;
        } catch (const std::exception& exception) {
            if (says_why && !has_ended_)
                log::warning(log::Line() << "real-time events: a channel does not answer its "
                                            "gateway, which goes on trying: "
                                         << exception.what());
            return false;
        }
    }
    void tend_supplier()
    {
        Supplying now;
        {
            const Lock lock(mutex_);
            now.proxy = supplying_.proxy;
            now.observer = supplying_.observer;
            now.handle = supplying_.handle;
        }
        if (!is_forgotten(now.proxy.in(), to_.in())) {
            {
                const Lock lock(mutex_);
                supplying_.is_out_of_reach = false;
            }
            if (++looks_ < looks_of_observer) return;
            observe_anew(now);
            looks_ = 0;
            return;
        }
        Supplying left;
        left.is_out_of_reach = true; // until there is another one
        {
            const Lock lock(mutex_);
            std::swap(supplying_, left);
        }
        leave(left);
        Supplying made = connect_supplier();
        {
            const Lock lock(mutex_);
            std::swap(supplying_, made);
        }
        looks_ = 0;
        note_anew("behind", said_behind_);
    }
    /// A channel drops observers that it could not tell, without a word. Who is appended is told
    /// at once.
    void observe_anew(const Supplying& now)
    {
        try {
            if (now.handle) to_->remove_observer(*now.handle);
        } catch (const EventChannel::CANT_REMOVE_OBSERVER&) { // it had been dropped
        }
        require_going_on();
        const Observer_Handle handle = to_->append_observer(now.observer.in());
        const Lock lock(mutex_);
        supplying_.handle = handle;
    }
    void tend_consumer()
    {
        Wishes wanted;
        Wishes wished;
        ProxyPushSupplier_var proxy;
        {
            const Lock lock(mutex_);
            wanted = wishes_;
            wished = consuming_.wishes;
            proxy = consuming_.proxy;
        }
        if (!wanted) return; // nobody has said yet
        // They may have changed to and fro meanwhile.
        if (wished && (wanted == wished || are_same(*wanted, *wished))) {
            if (wished->dependencies.length() == 0) return;
            if (!is_forgotten(proxy.in(), from_.in())) return;
            Consuming left;
            {
                const Lock lock(mutex_);
                std::swap(consuming_, left);
            }
            is_lost_ = true;
            leave(left);
        }
        // Of new wishes the new connection is there before the one of before ends: in between an
        // event may come twice, and none is lost.
        Consuming made = connect_consumer(wanted);
        {
            const Lock lock(mutex_);
            std::swap(consuming_, made);
        }
        leave(made);
        if (std::exchange(is_lost_, false)) note_anew("in front of", said_in_front_);
    }
    void note_anew(const char* where, std::optional<Clock::time_point>& said)
    {
        ++connected_anew_;
        const auto now = Clock::now();
        if (said && now - *said < between_warnings) return;
        said = now;
        log::warning(log::Line() << "real-time events: a gateway is connected anew to the channel "
                                 << where << " it; the gateway has connected anew "
                                 << connected_anew_.load() << " times");
    }

    // --- what its objects do ---
    void look() noexcept
    {
        const Lock lock(mutex_);
        is_to_look_ = true;
        changed_.notify_one();
    }
    /// What the consumers of the channel behind this want, all together.
    void want(const ConsumerQOS& wishes)
    {
        auto next = std::make_shared<const ConsumerQOS>(wishes);
        const Lock lock(mutex_);
        if (wishes_ && are_same(*wishes_, *next)) return;
        wishes_.swap(next); // which is released without the lock
        is_to_look_ = true;
        changed_.notify_one();
    }
    void forward(const RtecEventComm::EventSet& events)
    {
        RtecEventComm::EventSet left(events.length());
        CORBA::ULong count = 0;
        left.length(events.length());
        for (CORBA::ULong i = 0; i < events.length(); ++i) {
            if (events[i].header.ttl <= 0) continue;
            left[count] = events[i];
            --left[count++].header.ttl;
        }
        left.length(count);
        if (count == 0) return;
        ProxyPushConsumer_var out;
        {
            const Lock lock(mutex_);
            if (supplying_.is_out_of_reach) return;
            out = supplying_.proxy;
        }
        try {
            out->push(left);
            forwarded_.fetch_add(count, std::memory_order_relaxed);
            return;
        } catch (const CORBA::TRANSIENT& exception) {
            if (exception.minor() == orb::minor_code::no_room_for_oneway) return; // it is slow
        } catch (const CORBA::SystemException&) { // as what cannot be reached
        }
        const Lock lock(mutex_);
        supplying_.is_out_of_reach = true;
        is_to_look_ = true;
        changed_.notify_one();
    }

    const CORBA::ORB_var orb_;
    const GatewayOptions options_;
    EventChannel_var from_; // both set by who makes this
    EventChannel_var to_;
    PortableServer::POA_var poa_; // set before there is another thread
    net::Thread thread_;          // of who makes and ends this
    std::atomic<bool> has_ended_{false};
    std::atomic<std::uint64_t> forwarded_{0};
    std::atomic<std::uint64_t> connected_anew_{0};
    // The next four are the thread's.
    unsigned looks_ = 0;   // since the channel behind this was told of its observer
    bool is_lost_ = false; // the connection in front of this, which is not there anew yet
    std::optional<Clock::time_point> said_behind_; // when it was last logged
    std::optional<Clock::time_point> said_in_front_;
    std::mutex mutex_; // guards what follows; not held while anything is called
    std::condition_variable changed_;
    bool is_to_look_ = false;
    Wishes wishes_; // null until the channel behind this has said
    Supplying supplying_;
    Consuming consuming_;
};

Gateway::Gateway(CORBA::ORB_ptr orb, EventChannel_ptr from, EventChannel_ptr to,
                 const GatewayOptions& options)
    : state_(std::make_shared<GatewayState>(orb, from, to, options))
{
    state_->begin();
}

Gateway::~Gateway() { state_->end(); }

GatewayFigures Gateway::figures() const { return state_->figures(); }

} // namespace kairos::rtevents
