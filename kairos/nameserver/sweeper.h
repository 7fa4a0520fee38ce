// SPDX-License-Identifier: Apache-2.0
//
// Finds out whether what is bound is still there: asks every object that can be reached from the
// root context, several at a time, again and again. Only remembers; what is bound stays bound. Any
// thread.
#pragma once

#include "kairos/nameserver/probe.h"
#include "kairos/nameserver/store.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace kairos::nameserver {

struct SweepOptions {
    std::chrono::milliseconds interval{0};   ///< from the end of a sweep to the next; 0: none
    std::size_t probes = 8;                  ///< at the same time
    std::chrono::milliseconds timeout{2000}; ///< of each
    std::size_t references_max = 100'000;    ///< that are asked; others are not known
};

class Sweeper {
  public:
    /// The store must outlive it.
    Sweeper(Store& store, const SweepOptions& options);
    Sweeper(const Sweeper&) = delete;
    Sweeper& operator=(const Sweeper&) = delete;
    /// Waits for the probes in progress.
    ~Sweeper();
    /// No probe begins from here on. Any thread.
    void begin_to_end() noexcept;

    /// Sweeps once, now.
    void sweep();
    /// What the last sweep knows of an object or another server's context.
    [[nodiscard]] Liveness of(const Entry& entry) const;

  private:
    using Found = std::map<std::string, Liveness>; ///< by reference, encoded; clients choose them

    void run();
    [[nodiscard]] bool is_ending() const;
    [[nodiscard]] std::vector<Entry> gather() const;

    Store& store_;
    const SweepOptions options_;
    std::mutex sweeping_mutex_; // guards that one thread sweeps at a time
    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable ended_;
    bool ending_ = false;
    Found found_;
    std::thread thread_;
};

} // namespace kairos::nameserver
