// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/keeper.h"

#include "kairos/base/assert_held.h"
#include "kairos/codec/octets.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kairos::notification {
namespace {

using Action = StoreChange::Action;

/// Requests that are made durable together, and about how many changes they have.
constexpr std::size_t together_max = 500;
constexpr std::size_t changes_max = 5000;
/// Of those that are tried one by one: when so many have failed the others are not tried.
constexpr std::size_t faults_max = 3;
/// Of the limits' retry_pause: until what nobody waits for is tried again that could not be
/// written; twice as long each time where it is known which change is at fault.
constexpr int pause_times = 10;
constexpr int pause_times_max = 640;
/// Changes that nobody waits for; beyond them, on a store that fails, they are not remembered.
constexpr std::size_t later_max = 1'000'000;

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

/// Nothing: the store has not answered in time.
void raise_unless_done(std::optional<StoreStatus> status)
{
    if (!status)
        throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_MAYBE,
                                   "the store of channels does not answer");
    if (*status != StoreStatus::done) raise_failure(*status);
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

    [[nodiscard]] static std::vector<NotificationPtr> make(const std::shared_ptr<EventRow>& row,
                                                           const NotificationPtr& event,
                                                           std::span<const std::uint64_t> objects)
    {
        std::vector<NotificationPtr> made;
        made.reserve(objects.size());
        event->note_kept();
        for (const std::uint64_t object : objects)
            made.emplace_back(std::make_shared<Claim>(row, event, object), event.get());
        return made;
    }

    const std::shared_ptr<EventRow> row;
    const NotificationPtr event;
    const std::uint64_t object;
};

std::vector<NotificationPtr> Keeper::Keeping::add(const NotificationPtr& event,
                                                  std::span<const std::uint64_t> objects)
{
    const auto row = std::make_shared<EventRow>(keeper_, ++keeper_->last_event_);
    std::vector<NotificationPtr> made = Claim::make(row, event, objects);
    std::vector<StoreChange> changes;
    changes.reserve(objects.size() + 1);
    changes.push_back({.action = Action::add_event,
                       .key = row->number,
                       .state = stored_state(*event, keeper_->orb_.in())});
    for (const std::uint64_t object : objects)
        changes.push_back({.action = Action::add_waiting, .key = object, .other = row->number});
    rows_.push_back(row);
    try {
        if (changes_.empty())
            changes_ = std::move(changes);
        else
            changes_.insert(changes_.end(), std::make_move_iterator(changes.begin()),
                            std::make_move_iterator(changes.end()));
    } catch (...) {
        rows_.pop_back();
        throw;
    }
    return made;
}

/// From here on the rows end with their claims.
void Keeper::Keeping::note_written() noexcept
{
    for (const std::shared_ptr<EventRow>& row : rows_)
        row->is_written = true;
    rows_.clear();
}

void Keeper::keep(Keeping& events)
{
    events.request_ = enter(std::move(events.changes_), nullptr);
    const std::optional<StoreStatus> status = status_of(events.request_);
    // Where nobody knows, what turns out to be written goes: the supplier still has it.
    if (!status || *status == StoreStatus::done) events.note_written();
    raise_unless_done(status);
}

void Keeper::begin_to_keep(Keeping& events, std::function<void()> over)
{
    events.request_ = enter(std::move(events.changes_), std::move(over));
}

bool Keeper::is_kept(Keeping& events)
{
    StoreStatus status{};
    {
        const Lock lock(mutex_);
        if (events.request_->stage != Request::Stage::over) return false;
        status = events.request_->status;
    }
    if (status == StoreStatus::done) events.note_written();
    raise_unless_done(status);
    return true;
}

std::vector<NotificationPtr> Keeper::keep_on(const NotificationPtr& event, std::uint64_t number,
                                             std::span<const std::uint64_t> objects)
{
    const auto row = std::make_shared<EventRow>(shared_from_this(), number);
    std::vector<NotificationPtr> made = Claim::make(row, event, objects);
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
    constexpr std::uint64_t century = std::uint64_t{3'155'760'000} * 1'000'000'000;
    EventDefaults defaults{.priority = priority,
                           .timeout = std::chrono::nanoseconds(std::clamp<CORBA::LongLong>(
                               timeout, 0, static_cast<CORBA::LongLong>(century)))};
    const std::uint64_t now = wall_ns(); // which may have been put back
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

Keeper::Keeper(std::unique_ptr<Store> store, CORBA::ORB_ptr orb, const NotificationLimits& limits)
    : store_(std::move(store)), orb_(CORBA::ORB::_duplicate(orb)),
      waiting_max_(limits.store_waiting_max), patience_(limits.store_patience),
      retry_pause_(limits.retry_pause), later_at_once_(together_max)
{
    together_.reserve(together_max); // the thread needs no memory of its own
    later_now_.reserve(together_max);
    thread_ = std::thread([this] { run(); });
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

Keeper::RequestPtr Keeper::enter(std::vector<StoreChange> changes, std::function<void()> over)
{
    auto request = std::make_shared<Request>();
    request->changes = std::move(changes);
    request->is_waited_for = !over;
    request->over = std::move(over);
    const Lock lock(mutex_);
    if (is_closed_)
        throw CORBA::TRANSIENT(0, CORBA::COMPLETED_NO, "the channel's service is about to end");
    // A store that does not answer keeps no threads but those which did not know that.
    const bool is_stuck = is_at_work_ && Clock::now() - begun_ >= patience_;
    if (is_stuck || (request->is_waited_for && waited_for_ >= waiting_max_))
        raise_failure(StoreStatus::busy);
    requests_.push_back(request);
    if (request->is_waited_for) ++waited_for_;
    changed_.notify_one();
    return request;
}

/// What came of it, or nothing where the thread is at work on it for too long.
std::optional<StoreStatus> Keeper::status_of(const RequestPtr& request)
{
    Lock lock(mutex_);
    const auto is_over = [&request] { return request->stage == Request::Stage::over; };
    if (!request->answered.wait_for(lock, patience_, is_over)) {
        if (request->stage == Request::Stage::queued) {
            requests_.erase(std::ranges::find(requests_, request));
            --waited_for_;
            return StoreStatus::busy;
        }
        if (!request->answered.wait_for(lock, patience_, is_over)) return std::nullopt;
    }
    return request->status;
}

void Keeper::finish(const RequestPtr& request) { raise_unless_done(status_of(request)); }

void Keeper::save(const std::function<std::optional<StoreChange>()>& state)
{
    RequestPtr request;
    {
        const Lock lock(saving_);
        std::optional<StoreChange> change = state();
        if (!change) return;
        std::vector<StoreChange> changes;
        changes.push_back(std::move(*change));
        request = enter(std::move(changes), nullptr);
    }
    finish(request);
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
    finish(enter(std::move(changes), nullptr));
}

/// Where there is no memory it stays in the store: who has an event already may get it again.
void Keeper::write_later(StoreChange change) noexcept
{
    try {
        const Lock lock(mutex_);
        if (is_closed_ || later_.size() >= later_max) return;
        later_.push_back(std::move(change));
        if (!is_at_work_) changed_.notify_one();
    } catch (const std::bad_alloc&) { // as above
    }
}

void Keeper::close() noexcept
{
    Lock lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
    idle_.wait(lock, [this] { return requests_.empty() && later_.empty() && !is_at_work_; });
}

void Keeper::let_store_go() noexcept
{
    close();
    std::unique_ptr<Store> store; // whose end may last
    const Lock lock(mutex_);
    store.swap(store_);
}

bool Keeper::has_work() const noexcept
{
    assert_held(mutex_);
    return !requests_.empty() || (!later_.empty() && (is_closed_ || Clock::now() >= not_before_));
}

void Keeper::run() noexcept
{
    Lock lock(mutex_);
    for (;;) {
        while (!has_ended_ && !has_work()) {
            if (later_.empty())
                changed_.wait(lock);
            else
                changed_.wait_until(lock, Clock::time_point(not_before_));
        }
        if (has_ended_ && !has_work()) return;
        take_work();
        begun_ = Clock::now();
        is_at_work_ = true;
        lock.unlock();
        work();
        later_now_.clear();
        together_.clear(); // whoever is called back may go with it: before close() has returned
        lock.lock();
        is_at_work_ = false;
        if (is_closed_) idle_.notify_all();
    }
}

void Keeper::take_work() noexcept
{
    assert_held(mutex_);
    std::size_t changes = 0;
    while (!requests_.empty() && together_.size() < together_max) {
        RequestPtr& next = requests_.front();
        changes += next->changes.size();
        if (!together_.empty() && changes > changes_max) break;
        next->stage = Request::Stage::at_work;
        together_.push_back(std::move(next));
        requests_.pop_front();
    }
    if (!is_closed_ && Clock::now() < not_before_) return;
    const auto count = static_cast<std::ptrdiff_t>(std::min(later_.size(), later_at_once_));
    later_now_.assign(later_.begin(), later_.begin() + count); // which have no octets
}

/// What nobody waits for goes with the others, unless it was at fault the last time.
void Keeper::work() noexcept
{
    const bool is_apart = has_later_failed_ || together_.empty();
    if (!together_.empty()) {
        const StoreStatus status =
            attempt(together_, is_apart ? std::span<const StoreChange>() : later_now_);
        const bool is_alone = together_.size() == 1 && (is_apart || later_now_.empty());
        if (status == StoreStatus::done || status == StoreStatus::busy || is_alone) {
            answer(together_, status);
            if (!is_apart && !later_now_.empty()) return end_later(status);
        } else {
            return work_apart(status);
        }
    }
    if (!later_now_.empty()) end_later(attempt({}, later_now_));
}

/// One of them is at fault, or there is no room: what makes room goes first, and each gets its own
/// answer, but that of the first ones where these have failed. Where nobody knows whether all of it
/// was made, they do not either while others are in the way. What was erased since is not entered
/// again.
void Keeper::work_apart(StoreStatus of_all) noexcept
{
    if (!later_now_.empty()) end_later(attempt({}, later_now_));
    for (const bool makes_room : {true, false}) {
        std::size_t faults = 0;
        StoreStatus last_fault{};
        for (std::size_t i = 0; i < together_.size(); ++i) {
            const RequestPtr& one = together_[i];
            if (std::ranges::all_of(one->changes, &StoreChange::makes_room) != makes_room) continue;
            StoreStatus status = last_fault;
            if (!makes_room && is_erased_since(i)) {
                status = StoreStatus::done;
            } else if (faults < faults_max && last_fault != StoreStatus::busy) {
                status = attempt(std::span(&one, 1), {});
                if (status != StoreStatus::done) {
                    last_fault = status;
                    ++faults;
                }
            }
            answer(std::span(&one, 1), status == StoreStatus::busy ? of_all : status);
        }
    }
}

/// Whether one of those together_ enters objects which have been erased by what came behind it, but
/// was made first. What nobody waits for is behind them all: it is of objects that have ended.
bool Keeper::is_erased_since(std::size_t which) const noexcept
{
    const auto is_erased_by = [](const StoreChange& put, const StoreChange& erasure) {
        return erasure.action == Action::erase_object
                   ? erasure.key == put.key
                   : erasure.action == Action::erase_channel && erasure.key == put.other;
    };
    const auto is_erased = [&](const StoreChange& put) {
        const auto erases = [&](const StoreChange& one) { return is_erased_by(put, one); };
        if (!has_later_failed_ && std::ranges::any_of(later_now_, erases)) return true;
        const auto behind = std::span(together_).subspan(which + 1);
        return std::ranges::any_of(behind, [&](const RequestPtr& one) {
            return one->stage == Request::Stage::over && one->status == StoreStatus::done &&
                   std::ranges::any_of(one->changes, erases);
        });
    };
    return std::ranges::all_of(together_[which]->changes, [&](const StoreChange& one) {
        return one.action == Action::put_object && is_erased(one);
    });
}

void Keeper::answer(std::span<const RequestPtr> those, StoreStatus status) noexcept
{
    {
        const Lock lock(mutex_);
        for (const RequestPtr& one : those) {
            one->status = status;
            one->stage = Request::Stage::over;
            if (one->is_waited_for) --waited_for_;
        }
    }
    for (const RequestPtr& one : those) {
        one->answered.notify_one();
        if (const std::function<void()> over = std::exchange(one->over, nullptr)) over();
    }
}

/// What could not be written is tried again after a pause, in smaller and smaller portions: so one
/// that is at fault is found, and is behind the others then.
void Keeper::end_later(StoreStatus status) noexcept
{
    has_later_failed_ = status != StoreStatus::done;
    const std::size_t count = later_now_.size();
    const Lock lock(mutex_);
    if (status == StoreStatus::done) {
        later_.erase(later_.begin(), later_.begin() + static_cast<std::ptrdiff_t>(count));
        later_at_once_ = std::min(later_at_once_ * 2, together_max);
        pause_ = std::chrono::milliseconds(0);
        not_before_ = {};
        return;
    }
    if (is_closed_) return later_.clear();
    pause_ =
        count == 1 && status == StoreStatus::broken
            ? std::clamp(pause_ * 2, retry_pause_ * pause_times, retry_pause_ * pause_times_max)
            : retry_pause_ * pause_times;
    not_before_ = Clock::now() + pause_;
    if (status != StoreStatus::broken) return;
    later_at_once_ = std::max<std::size_t>(count / 2, 1);
    if (count != 1) return;
    StoreChange first = std::move(later_.front());
    later_.pop_front(); // whose place may be what it needs
    try {
        later_.push_back(std::move(first));
    } catch (const std::bad_alloc&) { // as in write_later()
    }
}

StoreStatus Keeper::attempt(std::span<const RequestPtr> together,
                            std::span<const StoreChange> later) noexcept
{
    try {
        const bool safe = !together.empty();
        if (together.empty()) return store_->write(later, safe);
        if (together.size() == 1 && later.empty())
            return store_->write(together.front()->changes, safe);
        std::vector<StoreChange> all;
        for (const RequestPtr& one : together)
            all.insert(all.end(), one->changes.begin(), one->changes.end());
        all.insert(all.end(), later.begin(), later.end());
        return store_->write(all, safe);
    } catch (const std::exception&) { // no memory
        return StoreStatus::full;
    }
}

} // namespace kairos::notification
