// SPDX-License-Identifier: Apache-2.0
//
// The context of one side of an ORB as its files are now: new connections have what the files say,
// and those that are there go on with what they began with. Any thread.
#pragma once

#include "kairos/base/result.h"
#include "kairos/net/priority_mutex.h"
#include "kairos/orb/options.h"
#include "kairos/tls/context.h"
#include "kairos/tls/file_stamps.h"
#include "kairos/tls/openssl.h"
#include "kairos/tls/sessions.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kairos::tls {

class WatchedContext {
  public:
    using Clock = std::chrono::steady_clock;

    /// What one connection is made with. Sessions are of this context: who was believed when they
    /// began may not be when the files have changed, so none outlives it. At a server the keys of
    /// its tickets see to that.
    struct InForce {
        ContextPointer context;
        std::shared_ptr<Sessions> sessions; ///< null at a server
    };

    WatchedContext(Side side, const orb::TlsOptions& options);

    /// Returns what a connection is made with that begins now. Looks at the files if nobody has
    /// within limits::watch_interval, and reads them if they have changed: files that cannot be
    /// used then leave in force what was read before, which the log says once, and are read again
    /// at each look, whether they change or not: the system may have had no descriptor for them.
    /// Only where nothing was ever read it is an error, which names the option and the file. One
    /// thread looks at a time, and no other waits for it: they have what is in force.
    [[nodiscard]] Result<InForce> get(Clock::time_point now = Clock::now());

  private:
    struct State {
        FileStamps stamps; // of the files, from before they were read
        ContextPointer context;
        std::shared_ptr<Sessions> sessions;
        // A digest of the files from before they were read, if their stamps were too fresh to tell
        // whether they were changed since; the next look compares it, once.
        std::string contents;
    };
    struct Failure {
        FileStamps stamps;
        std::string reason;
        friend bool operator==(const Failure&, const Failure&) = default;
    };

    class Looking;

    [[nodiscard]] Result<State> read_files(FileStamps stamps) const;
    /// Only by the thread that looks.
    [[nodiscard]] bool are_unchanged(const FileStamps& stamps);
    [[nodiscard]] Result<InForce> read_first(Clock::time_point now);
    void look_at_files();
    /// Must hold mutex_, with a context.
    [[nodiscard]] InForce in_force() const;

    const Side side_;
    const orb::TlsOptions& options_; // the transport's, as this
    const std::vector<std::string> files_;

    // guards what follows; inherits priorities, and is held for a few instructions: not while files
    // are looked at, nor while the log is written
    net::PriorityMutex mutex_;
    State state_;                // without a context: nothing was ever read
    Clock::time_point looked_{}; // when the last look began
    bool is_looking_ = false;    // one thread, which may use what follows

    std::optional<Failure> failure_; // of the last look
};

} // namespace kairos::tls
