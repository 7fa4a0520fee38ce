// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/backlog.h"

#include "kairos/orb/serving_thread.h"

namespace kairos::orb {

Backlog::Posted Backlog::post(Bytes header, const cdr::Writer& body, std::size_t fragment_size,
                              std::size_t bytes_max) noexcept
{
    const std::lock_guard lock(mutex_);
    if (!output_.empty()) output_.flush(socket_);
    const std::size_t kept = output_.size();
    if (kept != 0 && header.size() + body.size() > bytes_max - std::min(bytes_max, kept))
        return Posted::full;
    output_.put_message(socket_, header, body, fragment_size);
    return output_.broken() ? Posted::broken : Posted::taken;
}

bool Backlog::drain(Deadline deadline) noexcept
{
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            if (!output_.empty()) output_.flush(socket_);
            if (output_.broken()) return false;
            if (output_.empty()) return true;
        }
        if (!wait_writable(socket_, deadline).ok()) return false;
    }
}

bool Backlog::flush() noexcept
{
    const std::lock_guard lock(mutex_);
    if (!output_.empty()) output_.flush(socket_);
    return !output_.empty() && !output_.broken();
}

bool Backlog::empty() noexcept
{
    const std::lock_guard lock(mutex_);
    return output_.empty();
}

bool Backlog::broken() noexcept
{
    const std::lock_guard lock(mutex_);
    return output_.broken();
}

bool Backlog::begin_watch() noexcept
{
    const std::lock_guard lock(mutex_);
    if (output_.empty() || output_.broken()) return false;
    return !std::exchange(is_watched_, true);
}

bool Backlog::end_watch() noexcept
{
    const std::lock_guard lock(mutex_);
    if (!output_.empty() && !output_.broken()) return false;
    is_watched_ = false;
    return true;
}

} // namespace kairos::orb
