// SPDX-License-Identifier: Apache-2.0
//
// The store of logs that end with the process.
#include "kairos/logs/store.h"

#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace kairos::logs {
namespace {

/// What a record takes beside its octets: itself, its place in a map, its strings' own.
constexpr std::size_t row_overhead = 200;
std::size_t taken_by(const Row& row) { return row.octets() + row_overhead; }

class MemoryStore final : public Store {
  public:
    explicit MemoryStore(std::size_t octets_max) : tables_(octets_max) {}

    bool is_durable() const noexcept override { return false; }
    StoreStatus load(std::vector<KeptLog>& /*logs*/, std::vector<LogKey>& /*last_keys*/) override
    {
        return StoreStatus::done;
    }
    StoreStatus change(Change& change, bool /*safe*/) override
    {
        const std::lock_guard lock(changing_);
        const StoreStatus status = change.make(tables_);
        if (status == StoreStatus::done) {
            tables_.keep();
        } else {
            tables_.take_back();
            change.undo();
        }
        return status;
    }
    StoreStatus read(LogKey log, const Span& span, std::vector<RowPtr>& rows) override
    {
        return tables_.read(log, span, rows);
    }
    StoreStatus read_numbers(LogKey log, const Span& span,
                             std::vector<std::uint64_t>& numbers) override
    {
        std::vector<RowPtr> rows;
        Span all = span;
        all.octets_max = ~std::size_t{0}; // they are shared, not copied
        const StoreStatus status = tables_.read(log, all, rows);
        for (const RowPtr& row : rows)
            numbers.push_back(row->number);
        return status;
    }
    StoreStatus first(LogKey log, std::uint64_t from, Brief& brief) override
    {
        return tables_.first(log, from, brief);
    }

  private:
    class MemoryTables final : public Tables {
      public:
        explicit MemoryTables(std::size_t octets_max) : octets_max_(octets_max) {}

        StoreStatus insert(LogKey log, const RowPtr& row) override
        {
            const std::lock_guard lock(mutex_);
            if (taken_by(*row) > octets_max_ - octets_) return StoreStatus::full;
            undo_.emplace_back([this, log, number = row->number] { take(log, number); });
            put(log, row);
            return StoreStatus::done;
        }
        StoreStatus erase(LogKey log, std::uint64_t number) override
        {
            const std::lock_guard lock(mutex_);
            const RowPtr row = take(log, number);
            if (row == nullptr) return StoreStatus::not_found;
            undo_.emplace_back([this, log, row] { put(log, row); });
            return StoreStatus::done;
        }
        StoreStatus set_attributes(LogKey log, std::uint64_t number,
                                   const std::string& attributes) override
        {
            const std::lock_guard lock(mutex_);
            const RowPtr row = take(log, number);
            if (row == nullptr) return StoreStatus::not_found;
            auto changed = std::make_shared<Row>(*row);
            changed->attributes = attributes;
            const bool has_room = taken_by(*changed) <= octets_max_ - octets_;
            put(log, has_room ? RowPtr(changed) : row);
            if (!has_room) return StoreStatus::full;
            undo_.emplace_back([this, log, row] {
                take(log, row->number);
                put(log, row);
            });
            return StoreStatus::done;
        }
        StoreStatus first(LogKey log, std::uint64_t from, Brief& brief) override
        {
            const std::lock_guard lock(mutex_);
            const Rows& rows = logs_[log];
            const auto found = rows.lower_bound(from);
            if (found == rows.end()) return StoreStatus::not_found;
            brief = {found->first, found->second->time, found->second->octets(),
                     found->second->attributes.size()};
            return StoreStatus::done;
        }
        // Who has the log counts, and has its settings: nobody asks for them here.
        StoreStatus set_counts(LogKey /*log*/, const Counts& /*counts*/) override
        {
            return StoreStatus::done;
        }
        StoreStatus put_log(const KeptLog& /*log*/) override { return StoreStatus::done; }
        StoreStatus touch() override { return StoreStatus::done; }
        StoreStatus set_last_key(LogKey /*key*/) override { return StoreStatus::done; }
        StoreStatus erase_log(LogKey log) override
        {
            const std::lock_guard lock(mutex_);
            const auto gone = std::make_shared<Rows>(std::move(logs_[log]));
            logs_.erase(log);
            for (const auto& [number, row] : *gone)
                octets_ -= taken_by(*row);
            undo_.emplace_back([this, log, gone] {
                for (const auto& [number, row] : *gone)
                    put(log, row);
            });
            return StoreStatus::done;
        }

        StoreStatus read(LogKey log, const Span& span, std::vector<RowPtr>& rows)
        {
            const std::lock_guard lock(mutex_);
            const auto found = logs_.find(log);
            if (found == logs_.end()) return StoreStatus::done;
            std::size_t count = 0;
            std::size_t octets = 0;
            const auto take_one = [&](const RowPtr& row) {
                octets += row->octets();
                if (count == span.count_max || (count != 0 && octets > span.octets_max))
                    return false;
                ++count;
                rows.push_back(row);
                return true;
            };
            const Rows& all = found->second;
            if (span.is_backwards) {
                for (auto at = all.upper_bound(span.from); at != all.begin();)
                    if (!take_one((--at)->second)) break;
            } else {
                for (auto at = all.lower_bound(span.from); at != all.end(); ++at)
                    if (!take_one(at->second)) break;
            }
            return StoreStatus::done;
        }

        void keep()
        {
            const std::lock_guard lock(mutex_);
            undo_.clear();
        }
        void take_back()
        {
            const std::lock_guard lock(mutex_);
            for (; !undo_.empty(); undo_.pop_back())
                undo_.back()();
        }

      private:
        using Rows = std::map<std::uint64_t, RowPtr>;

        // Must hold mutex_.
        void put(LogKey log, const RowPtr& row)
        {
            logs_[log].emplace(row->number, row);
            octets_ += taken_by(*row);
        }
        RowPtr take(LogKey log, std::uint64_t number)
        {
            Rows& rows = logs_[log];
            const auto found = rows.find(number);
            if (found == rows.end()) return nullptr;
            RowPtr row = std::move(found->second);
            rows.erase(found);
            octets_ -= taken_by(*row);
            return row;
        }

        const std::size_t octets_max_;
        std::mutex mutex_; // guards what follows; nothing is called while it is held
        std::map<LogKey, Rows> logs_;
        std::size_t octets_ = 0;
        std::vector<std::function<void()>> undo_; // of the change that is being made
    };

    std::mutex changing_; // guards who makes a change; outside MemoryTables::mutex_, Log::mutex_
    MemoryTables tables_;
};

} // namespace

std::unique_ptr<Store> make_memory_store(std::size_t octets_max)
{
    return std::make_unique<MemoryStore>(octets_max);
}

} // namespace kairos::logs
