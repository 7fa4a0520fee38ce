// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/keeper.h"

#include "kairos/codec/octets.h"

#include <algorithm>
#include <utility>

namespace kairos::notification {
namespace {

using Action = StoreChange::Action;

/// How long a change waits for those before it.
constexpr std::chrono::seconds turn_max{10};
/// Requests that are made durable together.
constexpr std::size_t together_max = 500;
/// Until what nobody waits for is tried again that could not be written.
constexpr std::chrono::seconds retry_pause{1};

/// Of keys and numbers: no run comes to it, and there is room behind it.
constexpr std::uint64_t key_max = std::uint64_t{1} << 62;

std::uint64_t checked_key(std::uint64_t key)
{
    if (key <= key_max) return key;
    throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_NO,
                               "the store of channels has what nobody wrote like this");
}

[[noreturn]] void raise_failure(StoreStatus status)
{
    if (status == StoreStatus::full)
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "the store of channels has no room");
    if (status == StoreStatus::busy)
        throw CORBA::TRANSIENT(0, CORBA::COMPLETED_NO, "the store of channels is busy");
    throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_MAYBE, "the store of channels has failed");
}

std::uint64_t wall_ns()
{
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count());
}

} // namespace

// --- Events --------------------------------------------------------------------------------------

/// An event's row, until the last claim is gone.
struct Keeper::EventRow {
    EventRow(std::shared_ptr<Keeper> of, std::uint64_t its_number) noexcept
        : keeper(std::move(of)), number(its_number)
    {
    }
    EventRow(const EventRow&) = delete;
    EventRow& operator=(const EventRow&) = delete;
    ~EventRow()
    {
        if (is_written) keeper->write_later({.action = Action::erase_event, .key = number});
    }

    const std::shared_ptr<Keeper> keeper;
    const std::uint64_t number;
    bool is_written = false; // before it is shared
};

/// What one object has of it. Its end is that the object does not wait any more: it has the event,
/// or has no use for it.
struct Keeper::Claim {
    Claim(std::shared_ptr<EventRow> of, NotificationPtr its_event,
          std::uint64_t its_object) noexcept
        : row(std::move(of)), event(std::move(its_event)), object(its_object)
    {
    }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim()
    {
        if (row->is_written)
            row->keeper->write_later(
                {.action = Action::erase_waiting, .key = object, .other = row->number});
    }

    const std::shared_ptr<EventRow> row;
    const NotificationPtr event;
    const std::uint64_t object;
};

std::vector<NotificationPtr> Keeper::claims(const NotificationPtr& event,
                                            const std::shared_ptr<EventRow>& row,
                                            std::span<const std::uint64_t> objects) const
{
    std::vector<NotificationPtr> made;
    made.reserve(objects.size());
    event->note_kept();
    for (const std::uint64_t object : objects) {
        const auto claim = std::make_shared<Claim>(row, event, object);
        made.emplace_back(claim, event.get());
    }
    return made;
}

std::vector<NotificationPtr> Keeper::keep(const NotificationPtr& event,
                                          std::span<const std::uint64_t> objects)
{
    const auto row = std::make_shared<EventRow>(shared_from_this(), ++last_event_);
    std::vector<NotificationPtr> made = claims(event, row, objects); // nothing fails behind it
    std::vector<StoreChange> changes;
    changes.reserve(objects.size() + 1);
    changes.push_back({.action = Action::add_event,
                       .key = row->number,
                       .state = stored_state(*event, orb_.in())});
    for (const std::uint64_t object : objects)
        changes.push_back({.action = Action::add_waiting, .key = object, .other = row->number});
    wait(enter(std::move(changes)));
    row->is_written = true;
    return made;
}

std::vector<NotificationPtr> Keeper::keep_on(const NotificationPtr& event, std::uint64_t number,
                                             std::span<const std::uint64_t> objects)
{
    const auto row = std::make_shared<EventRow>(shared_from_this(), number);
    std::vector<NotificationPtr> made = claims(event, row, objects);
    row->is_written = true;
    return made;
}

/// What was encoded for requests begins at an address of eight here, too.
std::string stored_state(const Notification& event, CORBA::ORB_ptr orb)
{
    const auto age = std::chrono::duration_cast<std::chrono::nanoseconds>(
        Notification::Clock::now() - event.received());
    codec::OctetWriter out(orb);
    out.put(static_cast<CORBA::Boolean>(native_little_endian))
        .put(static_cast<CORBA::Boolean>(event.came_structured()))
        .put(static_cast<CORBA::Short>(event.defaults().priority))
        .put(static_cast<CORBA::ULongLong>(wall_ns() - static_cast<std::uint64_t>(age.count())))
        .put(static_cast<CORBA::LongLong>(event.defaults().timeout.count()))
        .put_octets(event.encoded().octets(), 8);
    const Bytes octets = out.octets();
    return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

std::shared_ptr<Notification> stored_event(const std::string& state, CORBA::ORB_ptr orb)
{
    const Bytes octets(reinterpret_cast<const std::byte*>(state.data()), state.size());
    codec::OctetReader in(octets, !octets.empty() && octets[0] == std::byte{1}, orb);
    CORBA::Boolean flag = false;
    CORBA::Boolean is_structured = false;
    CORBA::Short priority = 0;
    CORBA::ULongLong received = 0;
    CORBA::LongLong timeout = 0;
    in.get(flag).get(is_structured).get(priority).get(received).get(timeout);
    EventDefaults defaults{.priority = priority, .timeout = std::chrono::nanoseconds(timeout)};
    const std::uint64_t now = wall_ns(); // which may have been put back
    constexpr std::uint64_t century = std::uint64_t{3'155'760'000} * 1'000'000'000;
    if (now > received) defaults.age = std::chrono::nanoseconds(std::min(now - received, century));
    if (is_structured) {
        CosNotification::StructuredEvent event;
        in.get(event);
        return std::make_shared<Notification>(event, defaults);
    }
    CORBA::Any event;
    in.get(event);
    return std::make_shared<Notification>(event, defaults);
}

// --- Writing -------------------------------------------------------------------------------------

Keeper::Keeper(std::unique_ptr<Store> store, CORBA::ORB_ptr orb, std::size_t waiting_max)
    : store_(std::move(store)), orb_(CORBA::ORB::_duplicate(orb)), waiting_max_(waiting_max),
      thread_([this] { run(); })
{
}

Keeper::~Keeper()
{
    close();
    {
        const Lock lock(mutex_);
        has_ended_ = true;
        changed_.notify_all();
    }
    thread_.join();
}

Stored Keeper::load()
{
    Stored all;
    if (store_->load(all) != StoreStatus::done)
        throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_NO, "the store of channels cannot be read");
    const auto note_event = [this](std::uint64_t number) {
        last_event_ = std::max(last_event_.load(), checked_key(number));
    };
    for (const StoredObject& one : all.objects) {
        note_key(one.key);
        note_key(one.channel);
    }
    for (const StoredEvent& one : all.events)
        note_event(one.number);
    for (const StoredWait& one : all.waits) { // of those that are not there any more, too
        note_key(one.object);
        note_event(one.event);
    }
    return all;
}

void Keeper::note_key(std::uint64_t key)
{
    last_key_ = std::max(last_key_.load(), checked_key(key));
}

Keeper::RequestPtr Keeper::enter(std::vector<StoreChange> changes)
{
    auto request = std::make_shared<Request>();
    request->changes = std::move(changes);
    const Lock lock(mutex_);
    if (is_closed_)
        throw CORBA::TRANSIENT(0, CORBA::COMPLETED_NO, "the channel's service is about to end");
    if (waited_for_ >= waiting_max_) raise_failure(StoreStatus::busy);
    requests_.push_back(request);
    ++waited_for_;
    changed_.notify_one();
    return request;
}

void Keeper::wait(const RequestPtr& request)
{
    Lock lock(mutex_);
    const auto is_over = [&request] { return request->is_over; };
    if (!made_.wait_for(lock, turn_max, is_over)) {
        const auto place = std::ranges::find(requests_, request);
        if (place != requests_.end()) {
            requests_.erase(place);
            --waited_for_;
            raise_failure(StoreStatus::busy);
        }
        made_.wait(lock, is_over); // the thread is at work on it
    }
    if (request->status != StoreStatus::done) raise_failure(request->status);
}

void Keeper::save(const std::function<std::optional<StoreChange>()>& state)
{
    RequestPtr request;
    {
        const Lock lock(saving_);
        std::optional<StoreChange> change = state();
        if (!change) return;
        std::vector<StoreChange> changes;
        changes.push_back(std::move(*change));
        request = enter(std::move(changes));
    }
    wait(request);
}

void Keeper::forget_later(const std::function<std::uint64_t()>& take) noexcept
{
    const Lock lock(saving_);
    if (const std::uint64_t key = take(); key != 0)
        write_later({.action = Action::erase_object, .key = key});
}

void Keeper::write(StoreChange change)
{
    std::vector<StoreChange> changes;
    changes.push_back(std::move(change));
    wait(enter(std::move(changes)));
}

/// Where there is no memory it stays in the store: who has an event already may get it again.
void Keeper::write_later(StoreChange change) noexcept
{
    try {
        const Lock lock(mutex_);
        if (is_closed_) return;
        if (requests_.empty() || requests_.back()->is_waited_for) {
            const auto request = std::make_shared<Request>();
            request->is_waited_for = false;
            requests_.push_back(request);
        }
        requests_.back()->changes.push_back(std::move(change));
        if (!is_at_work_) changed_.notify_one();
    } catch (const std::bad_alloc&) { // as above
    }
}

void Keeper::close() noexcept
{
    Lock lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
    made_.wait(lock, [this] { return requests_.empty() && !is_at_work_; });
}

void Keeper::run() noexcept
{
    Lock lock(mutex_);
    const auto has_work = [this] {
        return waited_for_ != 0 || (!requests_.empty() && Clock::now() >= not_before_) ||
               (is_closed_ && !requests_.empty());
    };
    for (;;) {
        while (!has_ended_ && !has_work()) {
            if (requests_.empty())
                changed_.wait(lock);
            else
                changed_.wait_until(lock, Clock::time_point(not_before_));
        }
        if (has_ended_ && requests_.empty()) return;
        const auto count = static_cast<std::ptrdiff_t>(std::min(requests_.size(), together_max));
        std::vector<RequestPtr> together(requests_.begin(), requests_.begin() + count);
        requests_.erase(requests_.begin(), requests_.begin() + count);
        is_at_work_ = true;
        lock.unlock();
        const bool is_done = work(together);
        lock.lock();
        is_at_work_ = false;
        not_before_ = is_done ? Clock::time_point() : Clock::now() + retry_pause;
        for (auto one = together.rbegin(); one != together.rend(); ++one) {
            if ((*one)->is_waited_for)
                --waited_for_;
            else if (!is_closed_ && (*one)->status != StoreStatus::done)
                requests_.push_front(*one);
            (*one)->is_over = true;
        }
        made_.notify_all();
    }
}

/// Returns whether all were made.
bool Keeper::work(const std::vector<RequestPtr>& together) noexcept
{
    StoreStatus status = attempt(together);
    if (together.size() > 1 && status != StoreStatus::done && status != StoreStatus::busy) {
        // One of them is at fault: each gets its own answer. Where nobody knows whether all of it
        // was made, they do not either while others are in the way.
        const StoreStatus of_all = status;
        bool are_done = true;
        for (std::size_t i = 0; i < together.size(); ++i) {
            status = attempt(std::span(together).subspan(i, 1));
            if (status == StoreStatus::busy) status = of_all;
            are_done = are_done && status == StoreStatus::done;
            const Lock lock(mutex_);
            together[i]->status = status;
        }
        return are_done;
    }
    const Lock lock(mutex_);
    for (const RequestPtr& one : together)
        one->status = status;
    return status == StoreStatus::done;
}

StoreStatus Keeper::attempt(std::span<const RequestPtr> together)
{
    try {
        const bool safe =
            std::ranges::any_of(together, [](const RequestPtr& one) { return one->is_waited_for; });
        if (together.size() == 1) return store_->write(together.front()->changes, safe);
        std::vector<StoreChange> all;
        for (const RequestPtr& one : together)
            all.insert(all.end(), one->changes.begin(), one->changes.end());
        return store_->write(all, safe);
    } catch (const std::exception&) { // no memory
        return StoreStatus::full;
    }
}

} // namespace kairos::notification
