// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/backlogs.h"

#include "kairos/base/log.h"
#include "kairos/orb/orb.h"

#include <poll.h>
#include <vector>

namespace kairos::orb {

namespace {

void warn_of_loss() { log::warning("oneways that their peers did not take are lost"); }

} // namespace

Result<std::shared_ptr<Backlog>> Backlogs::make(const net::Socket& socket,
                                                OutputQueue& output) noexcept
try {
    auto own = socket.duplicate();
    if (!own) return own.error();
    if (const auto started = start(); !started) return started.error();
    return std::make_shared<Backlog>(std::move(own).value(), std::move(output));
} catch (const std::bad_alloc&) {
    return Error{ErrorCode::unreachable, {}};
}

Result<void> Backlogs::start()
{
    const std::lock_guard lock(mutex_);
    if (stopping_) return Error{ErrorCode::unreachable, "the ORB was shut down"};
    if (waker_) return {};
    auto waker = net::Waker::create();
    if (!waker) return waker.error();
    waker_.emplace(std::move(waker).value());
    auto thread = net::Thread::start(orb_.thread_options("kairos-oneways"), [this] { run(); });
    if (!thread) {
        waker_.reset();
        return thread.error();
    }
    thread_ = std::move(thread).value();
    return {};
}

bool Backlogs::attend(const std::shared_ptr<Backlog>& backlog) noexcept
try {
    if (!backlog->begin_watch()) return true;
    const std::lock_guard lock(mutex_);
    newcomers_.push_back(backlog);
    waker_->wake();
    return true;
} catch (const std::bad_alloc&) {
    return false;
}

void Backlogs::run() noexcept
{
    List watched;
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            if (stopping_) break;
            watched.splice(watched.end(), newcomers_);
        }
        try {
            wait_and_flush(watched);
        } catch (const std::bad_alloc&) {
            warn_of_loss();
            for (const auto& backlog : watched)
                (void)::shutdown(backlog->socket().descriptor(), SHUT_RDWR);
            watched.clear();
        }
    }
    if (!watched.empty()) warn_of_loss();
}

void Backlogs::wait_and_flush(List& watched)
{
    std::vector<pollfd> polled{{.fd = waker_->descriptor(), .events = POLLIN, .revents = 0}};
    polled.reserve(watched.size() + 1);
    for (const auto& backlog : watched)
        polled.push_back({.fd = backlog->socket().descriptor(), .events = POLLOUT, .revents = 0});
    if (::poll(polled.data(), polled.size(), -1) < 0) return; // a signal
    if (polled.front().revents != 0) waker_->clear();
    auto entry = polled.begin();
    std::erase_if(watched, [&](const std::shared_ptr<Backlog>& backlog) {
        if ((++entry)->revents == 0) return false;
        if (backlog->flush() || !backlog->end_watch()) return false;
        if (backlog->broken()) warn_of_loss();
        return true;
    });
}

/// The lists of the thread that is not here stay where they are.
void Backlogs::start_over() noexcept
{
    const std::lock_guard lock(mutex_);
    newcomers_.clear();
    waker_.reset();
    thread_ = {};
}

void Backlogs::stop() noexcept
{
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        if (waker_) waker_->wake();
    }
    const std::lock_guard lock(join_mutex_);
    thread_.join();
}

} // namespace kairos::orb
