// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/watched_context.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/tls/channel.h"
#include "kairos/tls/limits.h"

#include <new>
#include <utility>

namespace kairos::tls {

WatchedContext::WatchedContext(Side side, const orb::TlsOptions& options)
    : side_(side), options_(options), files_(files_of(side, options))
{
}

Result<WatchedContext::InForce> WatchedContext::get(Clock::time_point now)
{
    const std::lock_guard lock(mutex_);
    if (!state_.context) {
        auto read = read_files(FileStamps(files_));
        if (!read) return read.error();
        state_ = std::move(read).value();
        looked_ = now;
    } else if (now - looked_ >= limits::watch_interval) {
        looked_ = now;
        look_at_files();
    }
    SSL_CTX_up_ref(state_.context.get());
    return InForce{.context = ContextPointer(state_.context.get()), .sessions = state_.sessions};
}

/// The stamps are of before: what is written meanwhile is seen the next time.
Result<WatchedContext::State> WatchedContext::read_files(FileStamps stamps) const
{
    auto made = make_context(side_, options_);
    if (!made) return made.error();
    State read{.stamps = std::move(stamps), .context = std::move(made).value(), .sessions = {}};
    if (side_ == Side::server) return read;
    watch_sessions(*read.context);
    read.sessions = std::make_shared<Sessions>();
    return read;
}

void WatchedContext::look_at_files()
{
    assert_held(mutex_);
    const std::string_view whose = side_ == Side::server ? "servers" : "clients";
    try {
        FileStamps stamps(files_);
        if (!failure_ && stamps == state_.stamps) return;
        auto read = read_files(stamps);
        if (read) {
            state_ = std::move(read).value();
            // Whoever has read of the failure reads of its end.
            const auto level = failure_ ? log::Level::warning : log::Level::info;
            failure_.reset();
            const log::Line line = log::Line() << "TLS: the files of -ORBTls… have changed and "
                                                  "are in force for new connections of "
                                               << whose;
            log::write(level, line.text());
            return;
        }
        Failure failure{.stamps = std::move(stamps), .reason = read.error().reason};
        if (failure_ == failure) return;
        failure_ = std::move(failure);
        log::warning(log::Line() << failure_->reason
                                 << "; what was read before stays in force for connections of "
                                 << whose);
    } catch (const std::bad_alloc&) { // the next look is as this
        log::warning(log::Line() << "TLS: no memory to look at the files of -ORBTls… for "
                                    "connections of "
                                 << whose);
    }
}

} // namespace kairos::tls
