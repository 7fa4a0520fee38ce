// SPDX-License-Identifier: Apache-2.0
#include "kairos/rtevents/channel_state.h"

#include "kairos/base/log.h"
#include "kairos/corba/Messaging.h"
#include "kairos/corba/invocation.h"
#include "kairos/corba/poa.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/rtevents/event_types.h"

#include <algorithm>

namespace kairos::rtevents {
namespace {

using PortableServer::ObjectId_var;
using PortableServer::POA_ptr;
using PortableServer::POA_var;
using PortableServer::Servant_var;
using PortableServer::ServantBase;
using RtecEventChannelAdmin::ConsumerQOS;
using RtecEventChannelAdmin::SupplierQOS;
using RtecEventComm::Event;

constexpr std::chrono::minutes proxy_idle_max{10};
/// Channels of one process through which an event goes in one thread, one within the other: more
/// than that is a circle.
constexpr unsigned nested_max = 8;
/// Sets that the outermost of them leads to, at most, in its thread.
constexpr unsigned sets_max = 10'000;
/// Publications of all suppliers.
constexpr std::size_t publications_max = 10'000;
/// Subscriptions that observers are told of one by one; where there are more, they are told of one
/// for everything.
constexpr std::size_t wishes_max = 500;
/// Changes of who is connected that events on their way may hold up.
constexpr std::size_t retired_max = 1000;
/// Clients that are asked whether they are there, where a new one finds no room.
constexpr std::size_t asked_max = 8;
/// After a failure; twice as long after each other one.
constexpr std::chrono::milliseconds pause{100};
constexpr unsigned observer_failures_max = 3;

/// Where the calling thread is.
struct Nesting {
    unsigned depth = 0;
    unsigned sets = 0;
};
thread_local Nesting nesting;

class Nested {
  public:
    /// Behind so many channels, which another thread has passed.
    explicit Nested(unsigned before = 0) : outer_(nesting)
    {
        if (nesting.depth == 0) nesting.sets = 0;
        nesting.depth = std::max(nesting.depth, before) + 1;
    }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    ~Nested() { nesting.depth = outer_.depth; }
    [[nodiscard]] static bool is_too_deep() noexcept { return nesting.depth >= nested_max; }
    [[nodiscard]] static bool takes_another() noexcept { return nesting.sets++ < sets_max; }

  private:
    const Nesting outer_;
};

/// As the stub of RtecEventComm::PushConsumer has it.
constexpr orb::Operation push_operation{"push", orb::Response::none, {}};

/// A set of the events that the filter takes; of all without one.
void write_some(cdr::Writer& out, EventViews events, const Filter* filter, CORBA::ULong taken)
{
    out.write(taken);
    for (const EventView& event : events)
        if (filter == nullptr || filter->accepts(event.header)) write(out, event);
}

const EventSet& values_of(const EventSet& events, std::shared_ptr<const EventSet>&)
{
    return events;
}

/// Made when the first needs them.
const EventSet& values_of(EventViews events, std::shared_ptr<const EventSet>& kept)
{
    if (kept) return *kept;
    const auto made = std::make_shared<EventSet>();
    made->length(static_cast<CORBA::ULong>(events.size()));
    for (CORBA::ULong i = 0; i < events.size(); ++i)
        (*made)[i] = value_of(events[i]);
    kept = made;
    return *kept;
}

POA_ptr make_poa(POA_ptr parent, const std::string& name,
                 PortableServer::LifespanPolicyValue lifespan,
                 PortableServer::IdAssignmentPolicyValue assignment)
{
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0] = parent->create_lifespan_policy(lifespan);
    policies[1] = parent->create_id_assignment_policy(assignment);
    POA_var made = parent->create_POA(name.c_str(), PortableServer::POAManager::_nil(), policies);
    const PortableServer::POAManager_var manager = made->the_POAManager();
    manager->activate();
    return made._retn();
}

std::string text_of(const CORBA::SystemException& exception) { return exception._name(); }

CORBA::Short priority_for(const ChannelOptions& options, const ConsumerQOS& qos)
{
    if (!options.priority_of) return 0;
    for (CORBA::ULong i = 0; i < qos.dependencies.length(); ++i) {
        const CORBA::Long type = qos.dependencies[i].event.header.type;
        const bool is_designator = type >= global_group && type <= masked_type;
        if (!is_designator) return options.priority_of(qos.dependencies[i].rt_info);
        if (type == bitmask) i += 1; // its masks
        if (type == masked_type) i += 1;
    }
    return 0;
}

/// As events have it.
TimeBase::TimeT now_as_time()
{
    // From the 15th of October 1582 to 1970, in 100 ns.
    constexpr TimeBase::TimeT epoch = 0x01B21DD213814000ull;
    using Units = std::chrono::duration<TimeBase::TimeT, std::ratio<1, 10'000'000>>;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return epoch + std::chrono::duration_cast<Units>(now).count();
}

} // namespace

CORBA::Object_ptr limited(CORBA::ORB_ptr orb, CORBA::Object_ptr object,
                          std::chrono::milliseconds call_timeout, bool sends_events)
{
    constexpr TimeBase::TimeT units_in_ms = 10'000; // of 100 ns
    CORBA::PolicyList policies;
    policies.length(sends_events ? 2 : 1);
    CORBA::Any value;
    value <<= static_cast<TimeBase::TimeT>(call_timeout.count()) * units_in_ms;
    policies[0] = orb->create_policy(Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE, value);
    if (sends_events) {
        value <<= Messaging::SYNC_NONE;
        policies[1] = orb->create_policy(Messaging::SYNC_SCOPE_POLICY_TYPE, value);
    }
    return object->_set_policy_overrides(policies, CORBA::ADD_OVERRIDE);
}

ChannelState::ChannelState(CORBA::ORB_ptr orb, ChannelOptions options)
    : orb_(CORBA::ORB::_duplicate(orb)), options_(std::move(options))
{
}

ChannelState::~ChannelState() = default;

void ChannelState::begin(const std::string& name)
{
    CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
    const POA_var root = PortableServer::POA::_narrow(object.in());
    object = orb_->resolve_initial_references("IORTable");
    table_ = IORTable::Table::_narrow(object.in());
    if (!options_.multicast.empty())
        multicast_ =
            std::make_unique<Multicast>(orb_.in(), options_.multicast, options_.multicast_types);
    if (options_.dispatching == Dispatching::priorities)
        lanes_ =
            std::make_unique<Lanes>(root->_kairos_orb(), options_.queue_max,
                                    [this](Consumer& consumer, const Waiting& waiting) {
                                        const Nested here(waiting.depth);
                                        if (waiting.events)
                                            return deliver(consumer, *waiting.events);
                                        deliver(consumer, waiting.count(), [&](cdr::Writer& out) {
                                            out.write_bulk(waiting.block->octets, 8);
                                        });
                                    });
    static std::atomic<unsigned> count{0};
    const std::string poa_name = name.empty() ? std::to_string(++count) : name;
    named_ = make_poa(root.in(), "RealTimeEventChannel/" + poa_name, PortableServer::PERSISTENT,
                      PortableServer::USER_ID);
    try {
        proxies_ =
            make_poa(named_.in(), "Proxies", PortableServer::TRANSIENT, PortableServer::SYSTEM_ID);
        const auto activate = [&](const char* id, PortableServer::Servant servant) {
            const Servant_var<ServantBase> owned = servant;
            const ObjectId_var own = PortableServer::string_to_ObjectId(id);
            named_->activate_object_with_id(own.in(), servant);
        };
        activate("consumers", make_consumer_admin(shared_from_this()));
        activate("suppliers", make_supplier_admin(shared_from_this()));
        activate("channel", make_channel(shared_from_this())); // the others are there
        if (!name.empty()) {
            object = this->object("channel");
            const CORBA::String_var reference = orb_->object_to_string(object.in());
            table_->bind(name.c_str(), reference.in());
            in_table_ = name;
        }
        if (multicast_) {
            activate("group", make_group_member(shared_from_this()));
            const ObjectId_var id = PortableServer::string_to_ObjectId("group");
            multicast_->join(named_.in(), id.in());
        }
    } catch (const IORTable::AlreadyBound&) {
        end();
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "an object of this name is there already");
    } catch (...) {
        end();
        throw;
    }
}

void ChannelState::end() noexcept
{
    try {
        if (!in_table_.empty()) table_->unbind(in_table_.c_str());
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, or the program has unbound it.
    }
    if (multicast_) multicast_->leave();
    {
        const Lock lock(mutex_);
        has_ended_ = true;
        for (auto& [number, proxy] : all_)
            if (proxy.consumer) proxy.consumer->has_ended = true; // nobody is waited for any more
    }
    try {
        try {
            named_->destroy(true, true);
        } catch (const CORBA::BAD_INV_ORDER&) { // within a request of the ORB
            named_->destroy(true, false);
        }
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, and its POAs with it.
    }
    {
        const Lock lock(timers_mutex_);
        timers_end_ = true;
        timers_changed_.notify_one();
    }
    {
        const Lock lock(observers_mutex_);
        observers_end_ = true;
        observers_changed_.notify_one();
    }
    timers_thread_.join();
    observers_thread_.join();
    if (lanes_) lanes_->end();
    std::map<std::uint64_t, Proxy> all; // references, which are released without the lock
    const Lock lock(mutex_);
    all.swap(all_);
    publish_consumers();
}

CORBA::Object_ptr ChannelState::object(const char* name) const
{
    const ObjectId_var id = PortableServer::string_to_ObjectId(name);
    return named_->id_to_reference(id.in());
}

ChannelFigures ChannelState::figures() const noexcept
{
    return {.received = received_,
            .delivered = delivered_,
            .dropped = dropped_,
            .disconnected = disconnected_,
            .multicast = multicast_ ? multicast_->figures() : MulticastFigures{}};
}

// --- Proxies -------------------------------------------------------------------------------------

/// Must hold mutex_. One that was never connected may make it.
bool ChannelState::has_room(Kind kind, std::vector<Proxy>& gone)
{
    const std::size_t most =
        kind == Kind::of_consumer ? options_.consumers_max : options_.suppliers_max;
    const auto is_of_kind = [&](const auto& entry) { return entry.second.kind == kind; };
    if (static_cast<std::size_t>(std::ranges::count_if(all_, is_of_kind)) < most) return true;
    const auto now = Clock::now();
    const auto idle = std::ranges::find_if(all_, [&](const auto& entry) {
        const Proxy& proxy = entry.second;
        return proxy.kind == kind && !proxy.is_connected && now - proxy.made > proxy_idle_max &&
               proxy.id.operator->() != nullptr;
    });
    if (idle == all_.end()) return false;
    gone.push_back(std::move(idle->second));
    all_.erase(idle);
    return true;
}

/// Disconnects clients that have gone without a word, of a few, each time of others.
void ChannelState::ask_whether_they_are_there(Kind kind)
{
    std::vector<std::pair<std::uint64_t, CORBA::Object_var>> asked;
    {
        const Lock lock(mutex_);
        const auto add = [&](const auto& from, const auto& to) {
            for (auto it = from; it != to && asked.size() < asked_max; ++it) {
                const Proxy& proxy = it->second;
                if (proxy.kind != kind || !proxy.is_connected) continue;
                CORBA::Object_ptr const client =
                    proxy.consumer ? static_cast<CORBA::Object_ptr>(proxy.consumer->object.in())
                                   : static_cast<CORBA::Object_ptr>(proxy.supplier.in());
                asked.emplace_back(it->first, CORBA::Object::_duplicate(client));
                last_asked_ = it->first;
            }
        };
        const auto first = all_.upper_bound(last_asked_);
        add(first, all_.end());
        add(all_.begin(), first);
    }
    const auto end = Clock::now() + options_.call_timeout;
    for (const auto& [number, client] : asked) {
        if (Clock::now() > end) return;
        bool is_there = false;
        try {
            is_there = !client->_non_existent();
        } catch (const CORBA::Exception&) {
            is_there = false; // nor does it answer
        }
        if (!is_there) disconnect(number);
    }
}

CORBA::Object_ptr ChannelState::obtain(Kind kind)
{
    std::vector<Proxy> gone;
    std::uint64_t number = 0;
    for (int tries = 0; number == 0; ++tries) {
        {
            const Lock lock(mutex_);
            if (has_ended_) throw CORBA::OBJECT_NOT_EXIST();
            if (has_room(kind, gone)) {
                number = ++last_;
                all_[number].kind = kind;
                continue;
            }
        }
        if (tries == 1)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                                   "the channel has as many proxies as it may have");
        ask_whether_they_are_there(kind);
    }
    for (Proxy& proxy : gone)
        finish(std::move(proxy), false);
    try {
        const Servant_var<ServantBase> servant = make_proxy(shared_from_this(), kind, number);
        const ObjectId_var id = proxies_->activate_object(servant.in());
        CORBA::Object_var object = proxies_->id_to_reference(id.in());
        if (!note_id(number, id)) { // the channel was destroyed meanwhile
            proxies_->deactivate_object(id.in());
            throw CORBA::OBJECT_NOT_EXIST();
        }
        return object._retn();
    } catch (...) {
        const Lock lock(mutex_);
        all_.erase(number);
        throw;
    }
}

bool ChannelState::note_id(std::uint64_t number, const ObjectId_var& id)
{
    const Lock lock(mutex_);
    const auto mine = all_.find(number);
    if (mine == all_.end()) return false;
    mine->second.id = id;
    return true;
}

bool ChannelState::is_proxy(CORBA::Object_ptr object) const
{
    try {
        const ObjectId_var id = proxies_->reference_to_id(object);
        return true;
    } catch (const PortableServer::POA::WrongAdapter&) {
        return false;
    }
}

/// The same object, called within the channel's limits. Owned by the caller.
CORBA::Object_ptr ChannelState::limited(CORBA::Object_ptr object, bool sends_events) const
{
    return rtevents::limited(orb_.in(), object, options_.call_timeout, sends_events);
}

/// Must hold mutex_.
void ChannelState::require_connectable(std::uint64_t proxy)
{
    const auto mine = all_.find(proxy);
    if (mine == all_.end()) throw CORBA::OBJECT_NOT_EXIST();
    if (mine->second.is_connected) throw RtecEventChannelAdmin::AlreadyConnected();
    if (consumers_.retired() > retired_max)
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO,
                                  "events hold up changes of who is connected");
}

void ChannelState::connect(std::uint64_t proxy, RtecEventComm::PushConsumer_ptr consumer,
                           const ConsumerQOS& qos)
{
    if (CORBA::is_nil(consumer) || is_proxy(consumer))
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a consumer is wanted that can be called");
    {
        const Lock lock(mutex_);
        require_connectable(proxy); // before a thread is begun for it
    }
    const CORBA::Object_var object = limited(consumer, true);
    const auto called = RtecEventComm::PushConsumer_var(
        RtecEventComm::PushConsumer::_unchecked_narrow(object.in()));
    const auto made = std::make_shared<Consumer>(proxy, called.in(), qos);
    if (lanes_) made->lane = &lanes_->begin(priority_for(options_, qos));
    {
        const Lock lock(mutex_);
        require_connectable(proxy);
        if (!made->filter.timeouts().empty()) {
            require_timers_thread();
            begin_times(made);
        }
        Proxy& mine = all_.at(proxy);
        mine.consumer = made;
        try {
            publish_consumers();
        } catch (...) {
            mine.consumer.reset();
            throw;
        }
        mine.is_connected = true;
    }
    if (!made->is_gateway) note_change(true);
}

void ChannelState::connect(std::uint64_t proxy, RtecEventComm::PushSupplier_ptr supplier,
                           const SupplierQOS& qos)
{
    if (CORBA::is_nil(supplier) || is_proxy(supplier))
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a supplier is wanted that can be called");
    if (qos.publications.length() > Filter::dependencies_max)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a supplier has fewer publications");
    const CORBA::Object_var object = limited(supplier, false);
    auto called = RtecEventComm::PushSupplier_var(
        RtecEventComm::PushSupplier::_unchecked_narrow(object.in()));
    const auto headers = std::make_shared<SupplierQOS>();
    headers->is_gateway = qos.is_gateway;
    headers->publications.length(qos.publications.length());
    for (CORBA::ULong i = 0; i < qos.publications.length(); ++i) {
        headers->publications[i] = {};
        headers->publications[i].event.header = qos.publications[i].event.header;
        headers->publications[i].dependency_info = qos.publications[i].dependency_info;
    }
    {
        const Lock lock(mutex_);
        require_connectable(proxy);
        std::size_t all = headers->publications.length();
        for (const auto& [number, other] : all_)
            if (other.publications) all += other.publications->publications.length();
        if (all > publications_max)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                                   "suppliers have as many publications as they may have");
        Proxy& mine = all_.at(proxy);
        mine.publications = headers;
        mine.supplier = called;
        mine.is_connected = true;
    }
    if (!qos.is_gateway) note_change(false);
}

void ChannelState::suspend(std::uint64_t proxy, bool is_suspended)
{
    const Lock lock(mutex_);
    const auto mine = all_.find(proxy);
    if (mine == all_.end()) throw CORBA::OBJECT_NOT_EXIST();
    if (mine->second.consumer) mine->second.consumer->is_suspended = is_suspended;
}

void ChannelState::publish_consumers()
{
    auto next = std::make_unique<Consumers>();
    for (const auto& [number, proxy] : all_)
        if (proxy.consumer) next->push_back(proxy.consumer);
    consumers_.replace(std::move(next));
}

/// Not connected if there is none of this number.
ChannelState::Proxy ChannelState::take_out(std::uint64_t number)
{
    const Lock lock(mutex_);
    const auto mine = all_.find(number);
    if (mine == all_.end()) return {};
    Proxy proxy = std::move(mine->second);
    all_.erase(mine);
    if (proxy.consumer) {
        proxy.consumer->has_ended = true;
        publish_consumers();
    }
    return proxy;
}

/// Outside of locks. A proxy that was taken out.
void ChannelState::finish(Proxy proxy, bool tells) noexcept
{
    try {
        if (proxy.id.operator->() != nullptr) proxies_->deactivate_object(proxy.id.in());
    } catch (const CORBA::Exception&) {
        // The channel ends, and its POAs with it.
    }
    if (!tells || !proxy.is_connected) return;
    try {
        if (proxy.consumer) proxy.consumer->object->disconnect_push_consumer();
        if (!CORBA::is_nil(proxy.supplier.in())) proxy.supplier->disconnect_push_supplier();
    } catch (const CORBA::Exception&) {
        // Who has gone needs not be told.
    }
}

void ChannelState::disconnect(std::uint64_t number)
{
    Proxy proxy = take_out(number);
    const bool was_consumer = proxy.kind == Kind::of_consumer;
    const bool is_gateway = proxy.consumer ? proxy.consumer->is_gateway
                                           : proxy.publications && proxy.publications->is_gateway;
    const bool was_connected = proxy.is_connected;
    finish(std::move(proxy), false);
    if (was_connected && !is_gateway) note_change(was_consumer);
}

void ChannelState::give_up(Consumer& consumer, const std::string& reason) noexcept
{
    if (consumer.has_ended.exchange(true)) return;
    ++disconnected_;
    log::warning(log::Line() << "real-time events: a consumer is disconnected: " << reason);
    try {
        finish(take_out(consumer.number), false);
        if (!consumer.is_gateway) note_change(true);
    } catch (const std::exception&) {
        // Without memory it stays where it is, and is given nothing.
    }
}

void ChannelState::destroy()
{
    std::map<std::uint64_t, Proxy> all;
    {
        const Lock lock(mutex_);
        has_ended_ = true;
        all.swap(all_);
        for (auto& [number, proxy] : all)
            if (proxy.consumer) proxy.consumer->has_ended = true;
        publish_consumers();
    }
    if (multicast_) multicast_->leave();
    // All farewells together take no longer than one call may.
    const auto end = Clock::now() + options_.call_timeout;
    for (auto& [number, proxy] : all)
        finish(std::move(proxy), Clock::now() < end);
    for (const char* name : {"channel", "consumers", "suppliers", "group"}) {
        const ObjectId_var id = PortableServer::string_to_ObjectId(name);
        try {
            named_->deactivate_object(id.in());
        } catch (const CORBA::Exception&) {
            // Somebody else destroys it, too.
        }
    }
}

// --- Events --------------------------------------------------------------------------------------

void ChannelState::publish(const EventSet& events, bool to_group)
{
    if (publish_to_all(events, events.length()) && multicast_ && to_group) multicast_->send(events);
}

void ChannelState::publish(EventViews events, bool to_group)
{
    const auto count = static_cast<CORBA::ULong>(events.size());
    if (publish_to_all(events, count) && multicast_ && to_group) multicast_->send(events);
}

/// Returns false for those that go in a circle, which are dropped.
template <typename Events>
bool ChannelState::publish_to_all(const Events& events, CORBA::ULong count)
{
    received_.fetch_add(count, std::memory_order_relaxed);
    if (Nested::is_too_deep()) {
        dropped_.fetch_add(count, std::memory_order_relaxed);
        return false;
    }
    const Nested here;
    const Published<Consumers>::Reader consumers(consumers_);
    Kept kept;
    for (const ConsumerPtr& consumer : *consumers)
        try {
            offer(consumer, events, count, kept);
        } catch (const std::exception&) { // without memory
            dropped_.fetch_add(count, std::memory_order_relaxed);
        }
    return true;
}

template <typename Events>
void ChannelState::offer(const ConsumerPtr& consumer, const Events& events, CORBA::ULong count,
                         Kept& kept)
{
    if (consumer->is_suspended.load(std::memory_order_relaxed) ||
        consumer->has_ended.load(std::memory_order_relaxed))
        return;
    const Filter& filter = consumer->filter;
    if (!filter.is_plain()) return collect(consumer, values_of(events, kept.events));
    CORBA::ULong taken = 0;
    for (CORBA::ULong i = 0; i < count; ++i)
        taken += filter.accepts(events[i].header) ? 1 : 0;
    if (taken != 0) give_some(consumer, events, taken, kept);
}

/// For a consumer that has each of them with others.
void ChannelState::collect(const ConsumerPtr& consumer, const EventSet& events)
{
    std::vector<Filter::EventPtr> given;
    for (CORBA::ULong i = 0; i < events.length(); ++i) {
        Filter::Shared event(events[i]);
        const Lock lock(consumer->mutex);
        const Filter::Outcome outcome = consumer->filter.take(consumer->collected, event);
        begin_anew(*consumer, outcome.begin_anew);
        given.insert(given.end(), outcome.events.begin(), outcome.events.end());
    }
    give(consumer, given);
}

/// As many as the consumer's filter takes, which is plain.
void ChannelState::give_some(const ConsumerPtr& consumer, const EventSet& events,
                             CORBA::ULong taken, Kept& kept)
{
    if (taken == events.length()) return give(consumer, events, &kept.events);
    EventSet some(taken);
    some.length(taken);
    for (CORBA::ULong i = 0, at = 0; at < taken; ++i)
        if (consumer->filter.accepts(events[i].header)) some[at++] = events[i];
    give(consumer, some);
}

void ChannelState::give_some(const ConsumerPtr& consumer, EventViews events, CORBA::ULong taken,
                             Kept& kept)
{
    if (!Nested::takes_another()) {
        dropped_.fetch_add(taken, std::memory_order_relaxed);
        return;
    }
    const Filter* const filter = taken == events.size() ? nullptr : &consumer->filter;
    if (!lanes_)
        return deliver(*consumer, taken,
                       [&](cdr::Writer& out) { write_some(out, events, filter, taken); });
    BlockPtr own;
    BlockPtr& block = filter == nullptr ? kept.block : own;
    if (!block) block = encoded(events, filter, taken);
    dropped_.fetch_add(
        lanes_->put(consumer, {.block = block, .events = {}, .depth = nesting.depth}),
        std::memory_order_relaxed);
}

BlockPtr ChannelState::encoded(EventViews events, const Filter* filter, CORBA::ULong taken)
{
    BlockPtr block = blocks_.take();
    cdr::Writer out(block->buffer);
    const cdr::Writer::CopyAll all(out);
    write_some(out, events, filter, taken);
    block->octets = out.contiguous();
    block->count = taken;
    return block;
}

/// `kept` are the same events, as others have kept them.
void ChannelState::give(const ConsumerPtr& consumer, const EventSet& events,
                        std::shared_ptr<const EventSet>* kept)
{
    if (!Nested::takes_another()) {
        dropped_.fetch_add(events.length(), std::memory_order_relaxed);
        return;
    }
    if (!lanes_) return deliver(*consumer, events);
    std::shared_ptr<const EventSet> own;
    std::shared_ptr<const EventSet>& copy = kept != nullptr ? *kept : own;
    if (!copy) copy = std::make_shared<const EventSet>(events);
    dropped_.fetch_add(lanes_->put(consumer, {.block = {}, .events = copy, .depth = nesting.depth}),
                       std::memory_order_relaxed);
}

void ChannelState::give(const ConsumerPtr& consumer, const std::vector<Filter::EventPtr>& events)
{
    if (events.empty()) return;
    const auto count = static_cast<CORBA::ULong>(events.size());
    EventSet set(count);
    set.length(count);
    for (CORBA::ULong i = 0; i < count; ++i)
        set[i] = *events[i];
    give(consumer, set);
}

void ChannelState::deliver(Consumer& consumer, const EventSet& events) noexcept
{
    deliver(consumer, events.length(), [&](cdr::Writer& out) { mapping::encode(out, events); });
}

/// `push` writes what the consumer is given.
template <typename Push>
void ChannelState::deliver(Consumer& consumer, CORBA::ULong count, const Push& push) noexcept
{
    if (consumer.has_ended.load(std::memory_order_relaxed) ||
        consumer.is_suspended.load(std::memory_order_relaxed))
        return;
    if (consumer.failures.load(std::memory_order_relaxed) != 0 &&
        Clock::now() < consumer.not_before.load()) {
        dropped_.fetch_add(count, std::memory_order_relaxed);
        return;
    }
    try {
        corba::Invocation call(*consumer.object.in(), push_operation);
        push(call.out());
        call.invoke();
        delivered_.fetch_add(count, std::memory_order_relaxed);
        // Written only where there is something else: other threads read it with each event.
        if (consumer.failures.load(std::memory_order_relaxed) != 0)
            consumer.failures.store(0, std::memory_order_relaxed);
        return;
    } catch (const CORBA::TRANSIENT& exception) {
        // One that does not read for a while loses these, and is not given up.
        if (exception.minor() != orb::minor_code::no_room_for_oneway)
            fail(consumer, text_of(exception));
    } catch (const CORBA::SystemException& exception) {
        fail(consumer, text_of(exception));
    } catch (const std::exception& exception) {
        fail(consumer, exception.what());
    }
    dropped_.fetch_add(count, std::memory_order_relaxed);
}

void ChannelState::fail(Consumer& consumer, const std::string& reason) noexcept
{
    const unsigned failures = consumer.failures.fetch_add(1) + 1;
    if (failures >= options_.failures_max) return give_up(consumer, reason);
    consumer.not_before = Clock::now() + pause * (1u << std::min(failures - 1, 8u));
}

// --- Timeouts ------------------------------------------------------------------------------------

/// Begins the timers' thread. Must hold mutex_.
void ChannelState::require_timers_thread()
{
    if (timers_thread_.joinable()) return;
    auto thread = net::Thread::start({.name = "kairos-rtec-time"}, [this] { run_timers(); });
    if (!thread) throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, thread.error().reason);
    timers_thread_ = std::move(thread).value();
}

/// Of a consumer that nobody knows yet.
void ChannelState::begin_times(const ConsumerPtr& consumer)
{
    const auto now = Clock::now();
    const Lock lock(timers_mutex_);
    for (std::size_t i = 0; i < consumer->due.size(); ++i) {
        consumer->due[i] = now + consumer->filter.timeouts()[i].after;
        timers_.push({.at = consumer->due[i], .timeout = i, .consumer = consumer});
    }
    timers_changed_.notify_one();
}

/// Must hold the consumer's mutex. Its timers find out when they come up.
void ChannelState::begin_anew(Consumer& consumer, const std::vector<std::size_t>& timeouts)
{
    if (timeouts.empty()) return;
    const auto now = Clock::now();
    for (const std::size_t timeout : timeouts)
        consumer.due[timeout] = now + consumer.filter.timeouts()[timeout].after;
}

void ChannelState::run_timers() noexcept
{
    Lock lock(timers_mutex_);
    while (!timers_end_) {
        if (timers_.empty()) {
            timers_changed_.wait(lock);
            continue;
        }
        if (const auto at = timers_.top().at; at > Clock::now()) {
            timers_changed_.wait_until(lock, at);
            continue;
        }
        const Timer due = timers_.top();
        timers_.pop();
        lock.unlock();
        try {
            end_time(due);
        } catch (const std::exception& exception) {
            log::warning(log::Line()
                         << "real-time events: a timeout is not told of: " << exception.what());
        }
        lock.lock();
    }
}

/// Of a consumer that has ended the timer comes up once more, and goes.
void ChannelState::end_time(const Timer& timer)
{
    const ConsumerPtr consumer = timer.consumer.lock();
    if (!consumer || consumer->has_ended) return;
    const Filter::Timeout& timeout = consumer->filter.timeouts()[timer.timeout];
    Event event{};
    event.header.type = timeout.type;
    event.header.creation_time = now_as_time();
    event.header.ttl = 1;
    Filter::Shared shared(event);
    Filter::Outcome outcome;
    {
        const Lock lock(consumer->mutex);
        Clock::time_point& due = consumer->due[timer.timeout];
        const bool is_due = due <= timer.at;
        if (is_due && timeout.type == timeout_type)
            due = Clock::time_point::max();
        else if (is_due) // from when it was due, unless that is long ago
            due = std::max(timer.at + timeout.after, Clock::now());
        if (due != Clock::time_point::max()) {
            const Lock inner(timers_mutex_);
            timers_.push({.at = due, .timeout = timer.timeout, .consumer = consumer});
        }
        if (!is_due || consumer->is_suspended) return;
        outcome = consumer->filter.end_time(consumer->collected, timer.timeout, shared);
        // What it gives by itself does not begin its own anew: it has.
        std::erase(outcome.begin_anew, timer.timeout);
        begin_anew(*consumer, outcome.begin_anew);
    }
    const Nested here;
    give(consumer, outcome.events);
}

// --- Observers -----------------------------------------------------------------------------------

CORBA::ULong ChannelState::append(RtecEventChannelAdmin::Observer_ptr observer)
{
    if (CORBA::is_nil(observer))
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "an observer is wanted");
    const CORBA::Object_var object = limited(observer, false);
    auto called = RtecEventChannelAdmin::Observer_var(
        RtecEventChannelAdmin::Observer::_unchecked_narrow(object.in()));
    const Lock lock(observers_mutex_);
    if (observers_end_) throw CORBA::OBJECT_NOT_EXIST();
    if (observers_.size() >= options_.observers_max)
        throw RtecEventChannelAdmin::EventChannel::CANT_APPEND_OBSERVER();
    if (!observers_thread_.joinable()) {
        auto thread =
            net::Thread::start({.name = "kairos-rtec-tell"}, [this] { tell_observers(); });
        if (!thread) throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, thread.error().reason);
        observers_thread_ = std::move(thread).value();
    }
    const CORBA::ULong handle = ++last_observer_;
    observers_[handle].object = called;
    observers_changed_.notify_one();
    return handle;
}

void ChannelState::remove(CORBA::ULong handle)
{
    Watcher gone; // released without the lock
    const Lock lock(observers_mutex_);
    const auto mine = observers_.find(handle);
    if (mine == observers_.end()) throw RtecEventChannelAdmin::EventChannel::CANT_REMOVE_OBSERVER();
    gone = std::move(mine->second);
    observers_.erase(mine);
}

void ChannelState::note_change(bool of_consumers) noexcept
{
    const Lock lock(observers_mutex_);
    for (auto& [handle, watcher] : observers_)
        (of_consumers ? watcher.lacks_consumers : watcher.lacks_suppliers) = true;
    observers_changed_.notify_one();
}

void ChannelState::tell_observers() noexcept
{
    Lock lock(observers_mutex_);
    while (!observers_end_) {
        try {
            if (tell_one(lock)) continue;
        } catch (const std::exception& exception) {
            if (!lock.owns_lock()) lock.lock();
            log::warning(log::Line()
                         << "real-time events: an observer is not told: " << exception.what());
        }
        if (observers_end_) return;
        auto next = Clock::time_point::max();
        for (const auto& [handle, watcher] : observers_)
            if (watcher.lacks_consumers || watcher.lacks_suppliers)
                next = std::min(next, watcher.not_before);
        if (next == Clock::time_point::max())
            observers_changed_.wait(lock);
        else
            observers_changed_.wait_until(lock, std::max(next, Clock::now() + pause));
    }
}

/// Tells one of what it lacks, without the lock meanwhile. Returns false if nobody lacks anything,
/// or only who has failed just now.
bool ChannelState::tell_one(Lock& lock)
{
    const auto now = Clock::now();
    const auto found = std::ranges::find_if(observers_, [&](const auto& entry) {
        const Watcher& watcher = entry.second;
        return (watcher.lacks_consumers || watcher.lacks_suppliers) && watcher.not_before <= now;
    });
    if (found == observers_.end()) return false;
    const CORBA::ULong handle = found->first;
    const auto observer = found->second.object;
    const bool of_consumers = std::exchange(found->second.lacks_consumers, false);
    const bool of_suppliers = std::exchange(found->second.lacks_suppliers, false);
    lock.unlock();
    bool has_answered = true;
    try {
        if (of_consumers) observer->update_consumer(subscriptions());
        if (of_suppliers) observer->update_supplier(publications());
    } catch (const CORBA::Exception&) {
        has_answered = false;
    }
    lock.lock();
    const auto mine = observers_.find(handle);
    if (mine == observers_.end()) return true;
    Watcher& watcher = mine->second;
    if (has_answered) {
        watcher.failures = 0;
        return true;
    }
    watcher.lacks_consumers = watcher.lacks_consumers || of_consumers;
    watcher.lacks_suppliers = watcher.lacks_suppliers || of_suppliers;
    watcher.not_before = Clock::now() + options_.call_timeout;
    if (++watcher.failures < observer_failures_max) return true;
    log::warning("real-time events: an observer does not answer, and is told no more");
    const Watcher gone = std::move(watcher);
    observers_.erase(mine);
    lock.unlock(); // it is released without
    lock.lock();
    return true;
}

/// What all consumers but gateways want together.
ChannelState::Subscriptions ChannelState::subscriptions()
{
    std::vector<ConsumerPtr> consumers;
    {
        const Lock lock(mutex_);
        for (const auto& [number, proxy] : all_)
            if (proxy.consumer && !proxy.consumer->is_gateway) consumers.push_back(proxy.consumer);
    }
    std::vector<Filter::Wish> wishes;
    for (const ConsumerPtr& consumer : consumers) {
        consumer->filter.add_wishes(wishes);
        std::ranges::sort(wishes);
        const auto repeated = std::ranges::unique(wishes);
        wishes.erase(repeated.begin(), repeated.end());
        if (wishes.size() > wishes_max) wishes.assign(1, {}); // of everything
    }
    Subscriptions all;
    all.is_gateway = false;
    if (wishes.empty()) return all;
    all.dependencies.length(static_cast<CORBA::ULong>(wishes.size() + 1));
    for (CORBA::ULong i = 0; i < all.dependencies.length(); ++i)
        all.dependencies[i] = {};
    all.dependencies[0].event.header.type = disjunction_group;
    all.dependencies[0].event.header.source = static_cast<CORBA::Long>(wishes.size());
    for (CORBA::ULong i = 0; i < wishes.size(); ++i) {
        all.dependencies[i + 1].event.header.type = wishes[i].type;
        all.dependencies[i + 1].event.header.source = wishes[i].source;
    }
    return all;
}

ChannelState::Publications ChannelState::publications()
{
    std::vector<std::shared_ptr<const SupplierQOS>> suppliers;
    {
        const Lock lock(mutex_);
        for (const auto& [number, proxy] : all_)
            if (proxy.publications && !proxy.publications->is_gateway)
                suppliers.push_back(proxy.publications);
    }
    Publications all;
    all.is_gateway = false;
    for (const auto& supplier : suppliers) {
        const auto& own = supplier->publications;
        const CORBA::ULong before = all.publications.length();
        all.publications.length(before + own.length());
        for (CORBA::ULong i = 0; i < own.length(); ++i)
            all.publications[before + i] = own[i];
    }
    return all;
}

} // namespace kairos::rtevents
