// SPDX-License-Identifier: Apache-2.0
//
// The context of one side of an ORB as its files are now: new connections have what the files say,
// and those that are there go on with what they began with. Any thread.
#pragma once

#include "kairos/base/result.h"
#include "kairos/files/watched.h"
#include "kairos/orb/options.h"
#include "kairos/tls/context.h"
#include "kairos/tls/openssl.h"
#include "kairos/tls/sessions.h"

#include <memory>

namespace kairos::tls {

class WatchedContext {
  public:
    /// What one connection is made with. Sessions are of this context: who was believed when they
    /// began may not be when the files have changed, so none outlives it. At a server the keys of
    /// its tickets see to that.
    struct InForce {
        std::shared_ptr<SSL_CTX> context;
        std::shared_ptr<Sessions> sessions; ///< null at a server
    };
    using Clock = files::Watched<InForce>::Clock;

    /// The options must outlive it.
    WatchedContext(Side side, const orb::TlsOptions& options);

    /// Returns what a connection is made with that begins now (files::Watched::get). An error names
    /// the option and the file.
    [[nodiscard]] Result<InForce> get(Clock::time_point now = Clock::now())
    {
        return watched_.get(now);
    }
    /// Reads the files now (files::Watched::reread).
    bool reread() { return watched_.reread(); }

  private:
    files::Watched<InForce> watched_;
};

} // namespace kairos::tls
