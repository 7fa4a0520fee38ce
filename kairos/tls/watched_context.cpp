// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/watched_context.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/tls/channel.h"
#include "kairos/tls/limits.h"

#include <utility>

namespace kairos::tls {

WatchedContext::WatchedContext(Side side, const orb::TlsOptions& options)
    : side_(side), options_(options), files_(files_of(side, options))
{
}

Result<WatchedContext::InForce> WatchedContext::get(Clock::time_point now)
{
    const std::lock_guard lock(mutex_);
    if (!context_) {
        if (const auto read = read_files(); !read) return read.error();
        looked_ = now;
    } else if (now - looked_ >= limits::watch_interval) {
        look_at_files();
        looked_ = now;
    }
    SSL_CTX_up_ref(context_.get());
    return InForce{.context = ContextPointer(context_.get()), .sessions = sessions_};
}

Result<void> WatchedContext::read_files()
{
    assert_held(mutex_);
    // Before they are read: what is written meanwhile is seen the next time.
    stamps_ = FileStamps(files_);
    auto made = make_context(side_, options_);
    if (!made) return made.error();
    context_ = std::move(made).value();
    if (side_ == Side::server) return {};
    watch_sessions(*context_);
    sessions_ = std::make_shared<Sessions>();
    return {};
}

void WatchedContext::look_at_files()
{
    assert_held(mutex_);
    if (FileStamps(files_) == stamps_) return;
    const std::string_view whose = side_ == Side::server ? "servers" : "clients";
    if (const auto read = read_files())
        log::info(log::Line() << "TLS: the files of -ORBTls… have changed and are in force for new "
                                 "connections of "
                              << whose);
    else
        log::warning(log::Line() << read.error().reason
                                 << "; what was read before stays in force for connections of "
                                 << whose);
}

} // namespace kairos::tls
