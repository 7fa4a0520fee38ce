// SPDX-License-Identifier: Apache-2.0
#include "kairos/sqlite/reserve.h"

#include "kairos/base/log.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kairos::sqlite {

Reserve::Reserve(const std::string& path, std::size_t octets)
    : octets_(octets),
      descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600))
{
    if (descriptor_ < 0)
        log::warning("store: no room is kept for a full disk: " + path + ": " +
                     std::strerror(errno));
    restore();
}

Reserve::~Reserve()
{
    if (descriptor_ >= 0) ::close(descriptor_);
}

void Reserve::release() noexcept
{
    if (descriptor_ >= 0 && ::ftruncate(descriptor_, 0) == 0) is_kept_ = false;
}

void Reserve::restore() noexcept
{
    if (is_kept_ || descriptor_ < 0) return;
    // Blocks, not a hole. What it got of them when there were not enough it gives back.
    is_kept_ = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(octets_)) == 0;
    if (!is_kept_) release();
}

} // namespace kairos::sqlite
