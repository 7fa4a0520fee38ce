// SPDX-License-Identifier: Apache-2.0
//
// What commands share that serve in the foreground until they are told to end.
#pragma once

#include "kairos/corba/CORBA.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kairos::tools {

/// Blocks the signals that end the process: made before there is another thread to get them.
class EndSignals {
  public:
    EndSignals();
    /// Returns when one has come that ends the process. Where `reread` is given SIGHUP calls that
    /// instead, unless the terminal has gone that the process began at. A process that began with
    /// SIGHUP ignored (nohup) is not ended by it.
    void wait(const std::function<void()>& reread = {}) const;
    /// Whether one that ends the process comes within this time; SIGHUP does so only when the
    /// terminal has gone that the process began at.
    [[nodiscard]] bool comes_within(std::chrono::milliseconds time) const;

  private:
    sigset_t signals_{};
    bool ignores_hangup_ = false;
    bool began_at_terminal_ = false;
};

/// How a server stands by where another of its kind has the database, and ends where another has
/// taken that over.
class Standby {
  public:
    /// `command` begins what is said to people: "kairos log". The signals must outlive it.
    Standby(const EndSignals& signals, std::string command)
        : signals_(signals), command_(std::move(command))
    {
    }
    Standby(const Standby&) = delete;
    Standby& operator=(const Standby&) = delete;

    /// Waits a moment, and says the first time that this is a stand-by. False: it is told to end.
    [[nodiscard]] bool stand_by();
    /// Has the process told to end, as by a signal.
    void lose() noexcept;
    [[nodiscard]] bool was_told_to_end() const noexcept { return is_told_to_end_; }
    /// Throws std::runtime_error, with a message for people, if it was called.
    void require_not_lost() const;

  private:
    const EndSignals& signals_;
    const std::string command_;
    bool has_said_ = false;       // of who stands by
    bool is_told_to_end_ = false; // likewise
    std::atomic<bool> is_lost_{false};
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

/// Ends the process, which could not end in time, says so and has status 1.
[[noreturn]] void end_at_once();

/// Serves until a signal ends it; then the ORB is destroyed. `begin_to_end` is called first, by
/// another thread, while requests may still be served. If that, and what follows until this is
/// destroyed, is not over in time, the process ends at once, says so and has status 1: what it kept
/// durable is as durable as if it had been killed. SIGHUP has files of TLS read anew where the ORB
/// was given options of TLS, or rules; else it ends the process.
class ServiceRun {
  public:
    ServiceRun(const EndSignals& signals, CORBA::ORB_ptr orb, std::function<void()> begin_to_end);
    ServiceRun(const ServiceRun&) = delete;
    ServiceRun& operator=(const ServiceRun&) = delete;
    ~ServiceRun();

    void run();

  private:
    void watch_end();
    void reread();
    void reread_as_asked();

    const EndSignals& signals_;
    const CORBA::ORB_var orb_;
    const std::function<void()> begin_to_end_;
    std::mutex mutex_; // guards what is no thread
    std::condition_variable changed_;
    bool ended_ = false;
    bool is_to_reread_ = false;
    bool is_rereading_ = false;
    std::thread ender_;    // waits for the signal
    std::thread watch_;    // begun by it
    std::thread rereader_; // likewise: files may be on a disk that does not answer
};

} // namespace kairos::tools
