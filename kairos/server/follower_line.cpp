// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/follower_line.h"

#include "kairos/base/log.h"

#include <utility>

namespace kairos::orb {

Result<void> FollowerLine::start()
{
    Result<void> started;
    std::size_t count = 0;
    while (count < wanted_.count && (started = add_thread()))
        ++count;
    if (count == 0) return started;
    if (!started)
        log::warning(log::Line() << "fewer threads serve than wanted: " << started.error().reason);
    return {};
}

Result<void> FollowerLine::add_thread() noexcept
{
    ++in_line_;
    ++alive_;
    auto started = threads_.start(wanted_.options, serve_);
    if (!started) {
        --in_line_;
        --alive_;
    }
    return started;
}

bool FollowerLine::stand_by() noexcept
{
    std::unique_lock lock(mutex_);
    if (in_line_ <= wanted_.count) return true;
    --in_line_;
    if (spare_ >= wanted_.count) return false;
    ++spare_;
    replaced_.wait(lock, [this] { return called_ != 0 || stopping_; });
    --spare_;
    if (called_ == 0) return false;
    --called_;
    return true;
}

bool FollowerLine::leave() noexcept
{
    const std::lock_guard lock(mutex_);
    if (stopping_) {
        // nobody is to serve what nobody serves yet
    } else if (spare_ > called_) {
        ++in_line_;
        ++called_;
        replaced_.notify_one();
    } else {
        const auto added = add_thread();
        const bool was_short = std::exchange(is_short_, !added);
        if (!added && !was_short)
            log::warning(log::Line() << "threads that wait for calls serve others meanwhile: "
                                     << added.error().reason);
        if (!added) return false;
    }
    --in_line_;
    return true;
}

void FollowerLine::stop() noexcept
{
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    replaced_.notify_all();
}

} // namespace kairos::orb
