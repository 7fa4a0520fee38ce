// SPDX-License-Identifier: Apache-2.0
//
// The context of one side of an ORB as its files are now: new connections have what the files say,
// and those that are there go on with what they began with. Any thread.
#pragma once

#include "kairos/base/result.h"
#include "kairos/orb/options.h"
#include "kairos/tls/context.h"
#include "kairos/tls/file_stamps.h"
#include "kairos/tls/openssl.h"
#include "kairos/tls/sessions.h"

#include <chrono>
#include <memory>
#include <mutex>
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
    /// used then leave in force what was read before, which the log says once. Only where nothing
    /// was ever read it is an error, which names the option and the file.
    [[nodiscard]] Result<InForce> get(Clock::time_point now = Clock::now());

  private:
    /// Must hold mutex_.
    [[nodiscard]] Result<void> read_files();
    void look_at_files();

    const Side side_;
    const orb::TlsOptions& options_; // the transport's, as this
    const std::vector<std::string> files_;

    // guards what follows; held while files are looked at and read, and the log hears of them
    std::mutex mutex_;
    ContextPointer context_;
    std::shared_ptr<Sessions> sessions_;
    FileStamps stamps_;          // of the files when they were read last
    Clock::time_point looked_{}; // when they were looked at last
};

} // namespace kairos::tls
