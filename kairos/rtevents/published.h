// SPDX-License-Identifier: Apache-2.0
//
// A value that any thread reads without a lock and without waiting, while others replace it. What
// was replaced is deleted when nobody reads it any more: at the latest with the next replacement
// after that.
//
// Readers count themselves in one of two counters, by an epoch that goes on only when nobody is
// left of the one before: so what was replaced two epochs ago has no readers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace kairos::rtevents {

template <typename T>
class Published {
  public:
    explicit Published(std::unique_ptr<const T> first) : current_(first.release()) {}
    Published(const Published&) = delete;
    Published& operator=(const Published&) = delete;
    /// Nobody may be reading.
    ~Published() { delete current_.load(); }

    /// The value as it is when this is made, for as long as it lives.
    class Reader {
      public:
        explicit Reader(const Published& of) noexcept : of_(of)
        {
            for (;;) {
                epoch_ = of_.epoch_.load();
                of_.readers(epoch_).fetch_add(1);
                if (of_.epoch_.load() == epoch_) break;
                of_.readers(epoch_).fetch_sub(1);
            }
            value_ = of_.current_.load();
        }
        Reader(const Reader&) = delete;
        Reader& operator=(const Reader&) = delete;
        ~Reader() { of_.readers(epoch_).fetch_sub(1); }

        [[nodiscard]] const T& operator*() const noexcept { return *value_; }
        [[nodiscard]] const T* operator->() const noexcept { return value_; }

      private:
        const Published& of_;
        std::uint64_t epoch_ = 0;
        const T* value_ = nullptr;
    };

    /// By one thread at a time; it may be reading, too.
    void replace(std::unique_ptr<const T> next)
    {
        Retired& old = retired_.emplace_back();
        old.value.reset(current_.exchange(next.release()));
        old.epoch = epoch_.load();
        for (int i = 0; i < 2; ++i)
            go_on();
    }

    /// How many that were replaced somebody may still be reading. By who replaces.
    [[nodiscard]] std::size_t retired() const noexcept { return retired_.size(); }

  private:
    struct Retired {
        std::uint64_t epoch = 0;
        std::unique_ptr<const T> value;
    };
    struct alignas(64) Counter {
        std::atomic<std::uint64_t> count{0};
    };

    [[nodiscard]] std::atomic<std::uint64_t>& readers(std::uint64_t epoch) const noexcept
    {
        return readers_[epoch % 2].count;
    }
    void go_on()
    {
        const std::uint64_t now = epoch_.load();
        if (readers(now + 1).load() != 0) return; // of the epoch before this
        std::vector<Retired> gone;                // whose deletion may lead back here
        for (auto it = retired_.begin(); it != retired_.end();)
            if (it->epoch < now) {
                gone.push_back(std::move(*it));
                it = retired_.erase(it);
            } else {
                ++it;
            }
        epoch_.store(now + 1);
    }

    std::atomic<const T*> current_;
    std::atomic<std::uint64_t> epoch_{1};
    mutable std::array<Counter, 2> readers_;
    std::vector<Retired> retired_; // of who replaces
};

} // namespace kairos::rtevents
