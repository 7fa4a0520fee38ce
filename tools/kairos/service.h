// SPDX-License-Identifier: Apache-2.0
//
// What commands share that serve in the foreground until they are told to end.
#pragma once

#include "kairos/corba/CORBA.h"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kairos::tools {

/// Blocks the signals that end the server: made before there is another thread to get them. SIGHUP
/// ends it only where there are no files of TLS to be read anew.
class EndSignals {
  public:
    EndSignals();
    /// Returns when one has come that ends the server; has files of TLS read when SIGHUP comes.
    void wait() const;

  private:
    sigset_t signals_{};
};

/// An ORB that listens at `endpoint`, unless the user's options say where. These win over
/// `defaults`.
[[nodiscard]] CORBA::ORB_ptr make_service_orb(const char* id, const std::string& endpoint,
                                              const std::vector<std::string>& defaults,
                                              const std::vector<std::string>& orb_options);

/// An ORB of a command that calls others: text is that of this terminal's, unless an option says
/// otherwise. Owned by the caller.
[[nodiscard]] CORBA::ORB_ptr make_client_orb(const char* id,
                                             const std::vector<std::string>& orb_options);

/// Writes a file that holds the reference. Throws std::runtime_error, with a message for people.
void write_reference(const std::string& path, const std::string& reference);

/// A server is gone so long after it was told to end, whatever it is doing.
inline constexpr std::chrono::milliseconds end_within{4500};

/// Serves until a signal ends it; then the ORB is destroyed. `begin_to_end` is called first, by
/// another thread, while requests may still be served. If that, and what follows until this is
/// destroyed, is not over in time, the process ends at once, says so and has status 1: what it kept
/// durable is as durable as if it had been killed.
class ServiceRun {
  public:
    ServiceRun(const EndSignals& signals, CORBA::ORB_ptr orb, std::function<void()> begin_to_end);
    ServiceRun(const ServiceRun&) = delete;
    ServiceRun& operator=(const ServiceRun&) = delete;
    ~ServiceRun();

    void run();

  private:
    void watch_end();

    const EndSignals& signals_;
    const CORBA::ORB_var orb_;
    const std::function<void()> begin_to_end_;
    std::mutex mutex_; // guards ended_
    std::condition_variable changed_;
    bool ended_ = false;
    std::thread ender_; // waits for the signal
    std::thread watch_; // begun by it
};

} // namespace kairos::tools
