// SPDX-License-Identifier: Apache-2.0
#include "kairos/rtevents/channel_state.h"

#include "kairos/base/log.h"
#include "kairos/corba/Messaging.h"
#include "kairos/corba/poa.h"
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
thread_local unsigned nested = 0;

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
    if (options_.dispatching == Dispatching::priorities)
        lanes_ = std::make_unique<Lanes>(
            root->_kairos_orb(), options_.queue_max,
            [this](Consumer& consumer, const EventSet& events) { deliver(consumer, events); });
    named_ = make_poa(root.in(), "RealTimeEventChannel/" + name, PortableServer::PERSISTENT,
                      PortableServer::USER_ID);
    try {
        proxies_ =
            make_poa(named_.in(), "Proxies", PortableServer::TRANSIENT, PortableServer::SYSTEM_ID);
        const auto activate = [&](const char* id, PortableServer::Servant servant) {
            const Servant_var<ServantBase> owned = servant;
            const ObjectId_var own = PortableServer::string_to_ObjectId(id);
            named_->activate_object_with_id(own.in(), servant);
        };
        activate("channel", make_channel(shared_from_this()));
        activate("consumers", make_consumer_admin(shared_from_this()));
        activate("suppliers", make_supplier_admin(shared_from_this()));
        if (!name.empty()) {
            object = this->object("channel");
            const CORBA::String_var reference = orb_->object_to_string(object.in());
            table_->bind(name.c_str(), reference.in());
            in_table_ = name;
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
    {
        const Lock lock(mutex_);
        has_ended_ = true;
    }
    try {
        named_->destroy(true, true);
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
            .disconnected = disconnected_};
}

// --- Proxies -------------------------------------------------------------------------------------

void ChannelState::make_room(Kind kind, std::vector<Proxy>& gone)
{
    const std::size_t most =
        kind == Kind::of_consumer ? options_.consumers_max : options_.suppliers_max;
    const auto is_of_kind = [&](const auto& entry) { return entry.second.kind == kind; };
    if (static_cast<std::size_t>(std::ranges::count_if(all_, is_of_kind)) < most) return;
    const auto now = Clock::now();
    const auto idle = std::ranges::find_if(all_, [&](const auto& entry) {
        const Proxy& proxy = entry.second;
        return proxy.kind == kind && !proxy.is_connected && now - proxy.made > proxy_idle_max &&
               proxy.id.operator->() != nullptr;
    });
    if (idle == all_.end())
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                               "the channel has as many proxies as it may have");
    gone.push_back(std::move(idle->second));
    all_.erase(idle);
}

CORBA::Object_ptr ChannelState::obtain(Kind kind)
{
    std::vector<Proxy> gone;
    std::uint64_t number = 0;
    {
        const Lock lock(mutex_);
        if (has_ended_) throw CORBA::OBJECT_NOT_EXIST();
        make_room(kind, gone);
        number = ++last_;
        all_[number].kind = kind;
    }
    for (Proxy& proxy : gone)
        finish(std::move(proxy), false);
    try {
        const Servant_var<ServantBase> servant = make_proxy(shared_from_this(), kind, number);
        ObjectId_var id = proxies_->activate_object(servant.in());
        CORBA::Object_var object = proxies_->id_to_reference(id.in());
        const Lock lock(mutex_);
        const auto mine = all_.find(number);
        if (mine != all_.end()) mine->second.id = id;
        return object._retn();
    } catch (...) {
        const Lock lock(mutex_);
        all_.erase(number);
        throw;
    }
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
    constexpr TimeBase::TimeT units_in_ms = 10'000; // of 100 ns
    CORBA::PolicyList policies;
    policies.length(sends_events ? 2 : 1);
    CORBA::Any value;
    value <<= static_cast<TimeBase::TimeT>(options_.call_timeout.count()) * units_in_ms;
    policies[0] = orb_->create_policy(Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE, value);
    if (sends_events) {
        value <<= Messaging::SYNC_NONE;
        policies[1] = orb_->create_policy(Messaging::SYNC_SCOPE_POLICY_TYPE, value);
    }
    return object->_set_policy_overrides(policies, CORBA::ADD_OVERRIDE);
}

void ChannelState::connect(std::uint64_t proxy, RtecEventComm::PushConsumer_ptr consumer,
                           const ConsumerQOS& qos)
{
    if (CORBA::is_nil(consumer) || is_proxy(consumer))
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a consumer is wanted that can be called");
    const CORBA::Object_var object = limited(consumer, true);
    const auto called = RtecEventComm::PushConsumer_var(
        RtecEventComm::PushConsumer::_unchecked_narrow(object.in()));
    const auto made = std::make_shared<Consumer>(proxy, called.in(), qos);
    if (lanes_) {
        made->priority = priority_for(options_, qos);
        lanes_->begin(made->priority);
    }
    {
        const Lock lock(mutex_);
        const auto mine = all_.find(proxy);
        if (mine == all_.end()) throw CORBA::OBJECT_NOT_EXIST();
        if (mine->second.is_connected) throw RtecEventChannelAdmin::AlreadyConnected();
        if (!made->filter.timeouts().empty()) require_helpers();
        mine->second.is_connected = true;
        mine->second.consumer = made;
        publish_consumers();
    }
    std::vector<std::size_t> timeouts;
    for (std::size_t i = 0; i < made->filter.timeouts().size(); ++i)
        timeouts.push_back(i);
    {
        const Lock lock(made->mutex);
        time(made, timeouts);
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
    {
        const Lock lock(mutex_);
        const auto mine = all_.find(proxy);
        if (mine == all_.end()) throw CORBA::OBJECT_NOT_EXIST();
        if (mine->second.is_connected) throw RtecEventChannelAdmin::AlreadyConnected();
        mine->second.publications = qos;
        mine->second.supplier = called;
        mine->second.is_connected = true;
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
    const bool is_gateway =
        proxy.consumer ? proxy.consumer->is_gateway : proxy.publications.is_gateway;
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
    for (auto& [number, proxy] : all)
        finish(std::move(proxy), true);
    for (const char* name : {"channel", "consumers", "suppliers"}) {
        const ObjectId_var id = PortableServer::string_to_ObjectId(name);
        try {
            named_->deactivate_object(id.in());
        } catch (const CORBA::Exception&) {
            // Somebody else destroys it, too.
        }
    }
}

// --- Events --------------------------------------------------------------------------------------

void ChannelState::publish(const EventSet& events)
{
    received_.fetch_add(events.length(), std::memory_order_relaxed);
    if (nested == nested_max) {
        dropped_.fetch_add(events.length(), std::memory_order_relaxed);
        return;
    }
    ++nested;
    const Published<Consumers>::Reader consumers(consumers_);
    std::shared_ptr<const EventSet> kept; // for queues, once for all
    for (const ConsumerPtr& consumer : *consumers)
        offer(consumer, events, kept);
    --nested;
}

void ChannelState::offer(const ConsumerPtr& consumer, const EventSet& events,
                         std::shared_ptr<const EventSet>& kept)
{
    if (consumer->is_suspended.load(std::memory_order_relaxed) ||
        consumer->has_ended.load(std::memory_order_relaxed))
        return;
    const Filter& filter = consumer->filter;
    if (!filter.is_plain()) {
        for (CORBA::ULong i = 0; i < events.length(); ++i) {
            Filter::Outcome outcome;
            {
                const Lock lock(consumer->mutex);
                outcome = filter.take(consumer->collected, events[i]);
                time(consumer, outcome.begin_anew);
            }
            give(consumer, outcome);
        }
        return;
    }
    CORBA::ULong taken = 0;
    for (CORBA::ULong i = 0; i < events.length(); ++i)
        taken += filter.accepts(events[i].header) ? 1 : 0;
    if (taken == 0) return;
    if (taken == events.length()) return give(consumer, events, &kept);
    EventSet some(taken);
    some.length(taken);
    for (CORBA::ULong i = 0, at = 0; i < events.length(); ++i)
        if (filter.accepts(events[i].header)) some[at++] = events[i];
    give(consumer, some);
}

/// `kept` are the same events, as others have kept them.
void ChannelState::give(const ConsumerPtr& consumer, const EventSet& events,
                        std::shared_ptr<const EventSet>* kept)
{
    if (!lanes_) return deliver(*consumer, events);
    std::shared_ptr<const EventSet> own;
    std::shared_ptr<const EventSet>& copy = kept != nullptr ? *kept : own;
    if (!copy) copy = std::make_shared<const EventSet>(events);
    dropped_.fetch_add(lanes_->put(consumer, copy), std::memory_order_relaxed);
}

void ChannelState::give(const ConsumerPtr& consumer, Filter::Outcome& outcome)
{
    if (outcome.events.empty()) return;
    const auto count = static_cast<CORBA::ULong>(outcome.events.size());
    EventSet events(count);
    events.length(count);
    for (CORBA::ULong i = 0; i < count; ++i)
        events[i] = std::move(outcome.events[i]);
    give(consumer, events);
}

void ChannelState::deliver(Consumer& consumer, const EventSet& events) noexcept
{
    if (consumer.has_ended.load(std::memory_order_relaxed)) return;
    std::string reason;
    try {
        consumer.object->push(events);
        delivered_.fetch_add(events.length(), std::memory_order_relaxed);
        consumer.failures.store(0, std::memory_order_relaxed);
        return;
    } catch (const CORBA::OBJECT_NOT_EXIST&) {
        return give_up(consumer, "it is not there any more");
    } catch (const CORBA::SystemException& exception) {
        reason = text_of(exception);
    } catch (const std::exception& exception) {
        reason = exception.what();
    } catch (...) { // of one in this process
        reason = "it has thrown what it may not";
    }
    dropped_.fetch_add(events.length(), std::memory_order_relaxed);
    if (consumer.failures.fetch_add(1) + 1 >= options_.failures_max) give_up(consumer, reason);
}

// --- Timeouts ------------------------------------------------------------------------------------

/// Begins the timers' thread. Must hold mutex_.
void ChannelState::require_helpers()
{
    if (timers_thread_.joinable()) return;
    auto thread = net::Thread::start({.name = "kairos-rtec-time"}, [this] { run_timers(); });
    if (!thread) throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, thread.error().reason);
    timers_thread_ = std::move(thread).value();
}

/// Begins these timeouts, from now on. Must hold the consumer's mutex.
void ChannelState::time(const ConsumerPtr& consumer, const std::vector<std::size_t>& timeouts)
{
    if (timeouts.empty()) return;
    const auto now = Clock::now();
    const Lock lock(timers_mutex_);
    for (const std::size_t timeout : timeouts)
        timers_.push({.at = now + consumer->filter.timeouts()[timeout].after,
                      .consumer = consumer,
                      .timeout = timeout,
                      .begun = ++consumer->begun[timeout]});
    timers_changed_.notify_one();
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

void ChannelState::end_time(const Timer& timer)
{
    const ConsumerPtr consumer = timer.consumer.lock();
    if (!consumer || consumer->has_ended) return;
    const Filter::Timeout& timeout = consumer->filter.timeouts()[timer.timeout];
    Event event;
    event.header.type = timeout.type;
    event.header.creation_time = now_as_time();
    event.header.ttl = 1;
    Filter::Outcome outcome;
    {
        const Lock lock(consumer->mutex);
        if (consumer->begun[timer.timeout] != timer.begun) return; // it has begun anew since
        if (timeout.type != timeout_type) {
            // From when it was due, unless that is long ago.
            const auto next = std::max(timer.at + timeout.after, Clock::now());
            const Lock inner(timers_mutex_);
            timers_.push(
                {.at = next, .consumer = consumer, .timeout = timer.timeout, .begun = timer.begun});
        }
        if (!consumer->is_suspended)
            outcome = consumer->filter.end_time(consumer->collected, timer.timeout, event);
        // What it gives by itself does not begin its own anew: it has.
        std::erase(outcome.begin_anew, timer.timeout);
        time(consumer, outcome.begin_anew);
    }
    give(consumer, outcome);
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
    consumers_have_changed_ = suppliers_have_changed_ = true; // for the new one
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
    (of_consumers ? consumers_have_changed_ : suppliers_have_changed_) = true;
    observers_changed_.notify_one();
}

/// Of what has changed while it told them it tells them once.
void ChannelState::tell_observers() noexcept
{
    Lock lock(observers_mutex_);
    for (;;) {
        observers_changed_.wait(lock, [this] {
            return observers_end_ || consumers_have_changed_ || suppliers_have_changed_;
        });
        if (observers_end_) return;
        const bool of_consumers = std::exchange(consumers_have_changed_, false);
        const bool of_suppliers = std::exchange(suppliers_have_changed_, false);
        lock.unlock();
        try {
            tell_observers(of_consumers, of_suppliers);
        } catch (const std::exception& exception) {
            log::warning(log::Line()
                         << "real-time events: observers are not told: " << exception.what());
        }
        lock.lock();
    }
}

void ChannelState::tell_observers(bool of_consumers, bool of_suppliers)
{
    std::vector<Filter::Wish> wishes;
    SupplierQOS publications;
    publications.is_gateway = false;
    {
        const Lock lock(mutex_);
        for (const auto& [number, proxy] : all_) {
            if (of_consumers && proxy.consumer && !proxy.consumer->is_gateway)
                proxy.consumer->filter.add_wishes(wishes);
            if (!of_suppliers || proxy.kind != Kind::of_supplier || !proxy.is_connected ||
                proxy.publications.is_gateway)
                continue;
            const auto& own = proxy.publications.publications;
            const CORBA::ULong before = publications.publications.length();
            publications.publications.length(before + own.length());
            for (CORBA::ULong i = 0; i < own.length(); ++i)
                publications.publications[before + i] = own[i];
        }
    }
    std::ranges::sort(wishes);
    const auto repeated = std::ranges::unique(wishes);
    wishes.erase(repeated.begin(), repeated.end());
    ConsumerQOS subscriptions;
    subscriptions.is_gateway = false;
    if (!wishes.empty()) {
        subscriptions.dependencies.length(static_cast<CORBA::ULong>(wishes.size() + 1));
        subscriptions.dependencies[0].event.header.type = disjunction_group;
        subscriptions.dependencies[0].event.header.source = static_cast<CORBA::Long>(wishes.size());
        for (CORBA::ULong i = 0; i < wishes.size(); ++i) {
            auto& header = subscriptions.dependencies[i + 1].event.header;
            header.type = wishes[i].type;
            header.source = wishes[i].source;
        }
    }
    std::vector<std::pair<CORBA::ULong, RtecEventChannelAdmin::Observer_var>> all;
    {
        const Lock lock(observers_mutex_);
        for (const auto& [handle, watcher] : observers_)
            all.emplace_back(handle, watcher.object);
    }
    for (auto& [handle, observer] : all) {
        bool has_answered = true;
        try {
            if (of_consumers) observer->update_consumer(subscriptions);
            if (of_suppliers) observer->update_supplier(publications);
        } catch (const CORBA::Exception&) {
            has_answered = false;
        }
        const Lock lock(observers_mutex_);
        const auto mine = observers_.find(handle);
        if (mine == observers_.end()) continue;
        mine->second.failures = has_answered ? 0 : mine->second.failures + 1;
        if (mine->second.failures < options_.failures_max) continue;
        log::warning("real-time events: an observer does not answer, and is told no more");
        observers_.erase(mine);
    }
}

// --- The channel ---------------------------------------------------------------------------------

RealTimeEventChannel::RealTimeEventChannel(CORBA::ORB_ptr orb, const ChannelOptions& options,
                                           const std::string& name)
    : state_(std::make_shared<ChannelState>(orb, options))
{
    state_->begin(name);
}

RealTimeEventChannel::~RealTimeEventChannel() { state_->end(); }

RtecEventChannelAdmin::EventChannel_ptr RealTimeEventChannel::reference() const
{
    const CORBA::Object_var object = state_->object("channel");
    return RtecEventChannelAdmin::EventChannel::_unchecked_narrow(object.in());
}

ChannelFigures RealTimeEventChannel::figures() const { return state_->figures(); }

} // namespace kairos::rtevents
