// SPDX-License-Identifier: Apache-2.0
#include "kairos/files/stamps.h"

#include "kairos/files/limits.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>

namespace kairos::files {
namespace {

std::int64_t nanoseconds(const timespec& time)
{
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

} // namespace

Stamps::Stamp Stamps::stamp_of(const std::string& path, bool& is_folder)
{
    struct stat file {};
    if (::stat(path.c_str(), &file) != 0) return {.error = errno};
    is_folder = S_ISDIR(file.st_mode);
    return {.device = file.st_dev,
            .number = file.st_ino,
            .size = file.st_size,
            .modified_ns = nanoseconds(file.st_mtim),
            .changed_ns = nanoseconds(file.st_ctim)};
}

Stamps::Stamps(std::span<const std::string> paths)
{
    for (const std::string& path : paths) {
        bool is_folder = false;
        stamps_.push_back(stamp_of(path, is_folder));
        if (!is_folder) continue;
        const std::size_t begin = stamps_.size();
        std::error_code error;
        std::filesystem::directory_iterator entry(path, error);
        for (; !error && entry != std::filesystem::directory_iterator() &&
               stamps_.size() - begin < watched_in_folder_max;
             entry.increment(error))
            stamps_.push_back(stamp_of(entry->path(), is_folder));
        // In which order they come, nobody says.
        std::sort(stamps_.begin() + static_cast<std::ptrdiff_t>(begin), stamps_.end());
    }
}

bool Stamps::are_fresh() const
{
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const std::int64_t limit = nanoseconds(now) - std::chrono::nanoseconds(stamp_step).count();
    return std::ranges::any_of(stamps_, [limit](const Stamp& stamp) {
        return std::max(stamp.modified_ns, stamp.changed_ns) > limit;
    });
}

} // namespace kairos::files
