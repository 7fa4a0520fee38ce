// SPDX-License-Identifier: Apache-2.0
//
// A store in memory, for what is to be tried without a disk: what it has outlives it, and it does
// what it is told to.
#pragma once

#include "kairos/notification/store.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kairos::notification {

/// What a store has, and how it behaves. Any thread.
class Rows {
  public:
    using Changes = std::span<const StoreChange>;
    /// What becomes of changes; of none of those that are told: done.
    using Judge = std::function<StoreStatus(Changes)>;

    void judge(Judge judge)
    {
        const std::lock_guard lock(mutex_);
        judge_ = std::move(judge);
    }
    /// Whoever writes waits, until it is opened.
    void close()
    {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
    }
    void open()
    {
        const std::lock_guard lock(mutex_);
        is_closed_ = false;
        changed_.notify_all();
    }
    /// Waits until somebody writes, and waits.
    void wait_for_writer()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return has_writer_; });
    }
    /// Waits until there were so many attempts to write.
    void wait_for_attempts(std::size_t count)
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return sizes_.size() >= count; });
    }
    /// Waits until so many events are there.
    void wait_for_events(std::size_t count)
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return events_.size() == count; });
    }
    /// Of how many changes each attempt was, since this was asked.
    [[nodiscard]] std::vector<std::size_t> sizes()
    {
        const std::lock_guard lock(mutex_);
        return std::exchange(sizes_, {});
    }
    [[nodiscard]] std::set<std::uint64_t> objects_that_wait()
    {
        const std::lock_guard lock(mutex_);
        std::set<std::uint64_t> all;
        for (const auto& [object, event] : waits_)
            all.insert(object);
        return all;
    }

    void load(Stored& all)
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [key, object] : objects_)
            all.objects.push_back({.key = key, .channel = object.first, .state = object.second});
        for (const auto& [number, state] : events_)
            all.events.push_back({.number = number, .state = state});
        for (const auto& [object, event] : waits_)
            all.waits.push_back({.object = object, .event = event});
    }
    [[nodiscard]] StoreStatus write(Changes changes)
    {
        std::unique_lock lock(mutex_);
        has_writer_ = true;
        changed_.notify_all();
        changed_.wait(lock, [this] { return !is_closed_; });
        has_writer_ = false;
        sizes_.push_back(changes.size());
        const StoreStatus status = judge_ ? judge_(changes) : StoreStatus::done;
        if (status == StoreStatus::done)
            for (const StoreChange& change : changes)
                make(change);
        changed_.notify_all();
        return status;
    }

  private:
    void make(const StoreChange& change)
    {
        using Action = StoreChange::Action;
        const auto erase_object = [this](std::uint64_t key) {
            std::erase_if(waits_, [key](const auto& one) { return one.first == key; });
            objects_.erase(key);
        };
        switch (change.action) {
        case Action::put_object:
            objects_[change.key] = {change.other, change.state};
            break;
        case Action::erase_object:
            erase_object(change.key);
            break;
        case Action::erase_channel:
            for (auto one = objects_.begin(); one != objects_.end();) {
                const auto [key, object] = *one++;
                if (object.first == change.key) erase_object(key);
            }
            break;
        case Action::add_event:
            events_[change.key] = change.state;
            break;
        case Action::add_waiting:
            waits_.emplace(change.key, change.other);
            break;
        case Action::erase_waiting:
            waits_.erase({change.key, change.other});
            break;
        case Action::erase_event:
            events_.erase(change.key);
            break;
        }
    }

    std::mutex mutex_; // guards what follows; inside nobody's
    std::condition_variable changed_;
    Judge judge_;
    bool is_closed_ = false;
    bool has_writer_ = false;
    std::vector<std::size_t> sizes_;
    std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> objects_;
    std::map<std::uint64_t, std::string> events_;
    std::set<std::pair<std::uint64_t, std::uint64_t>> waits_;
};

class MemoryStore final : public Store {
  public:
    explicit MemoryStore(Rows& rows) noexcept : rows_(rows) {}
    StoreStatus load(Stored& all) override
    {
        rows_.load(all);
        return StoreStatus::done;
    }
    StoreStatus write(std::span<const StoreChange> changes, bool /*safe*/) override
    {
        return rows_.write(changes);
    }

  private:
    Rows& rows_;
};

} // namespace kairos::notification
