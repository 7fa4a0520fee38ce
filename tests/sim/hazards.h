// SPDX-License-Identifier: Apache-2.0
//
// What a simulation lives with besides the faults of tests/faults: signals, and somebody who ends
// it when it waits for ever.
#pragma once

#include "tests/malformed/wire.h"

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string>
#include <sys/time.h>
#include <thread>

namespace kairos::orb_testing {

/// Signals that interrupt whatever blocks, every millisecond, in any thread.
class Signals {
  public:
    Signals()
    {
        struct sigaction action {};
        action.sa_handler = [](int) {};
        ::sigaction(SIGALRM, &action, &former_); // without SA_RESTART
        constexpr timeval often{.tv_sec = 0, .tv_usec = 1'000};
        set({.it_interval = often, .it_value = often});
    }
    ~Signals()
    {
        set({});
        ::sigaction(SIGALRM, &former_, nullptr);
    }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;

  private:
    static void set(itimerval when) { ::setitimer(ITIMER_REAL, &when, nullptr); }
    struct sigaction former_ {};
};

/// Ends the process, and says with which seed, if something waits for ever.
class Watchdog {
  public:
    explicit Watchdog(std::string what)
        : what_(std::move(what)), thread_([this] {
              std::unique_lock lock(mutex_);
              if (ended_.wait_for(lock, 2 * patience, [this] { return is_over_; })) return;
              std::fprintf(stderr, "stuck: %s\n", what_.c_str());
              std::abort();
          })
    {
    }
    ~Watchdog()
    {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
        }
        ended_.notify_one();
        thread_.join();
    }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

  private:
    const std::string what_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool is_over_ = false;
    std::thread thread_;
};

} // namespace kairos::orb_testing
