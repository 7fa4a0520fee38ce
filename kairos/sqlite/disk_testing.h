// SPDX-License-Identifier: Apache-2.0
//
// A disk that is full, for tests of stores in SQLite. For one at a time in a process.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kairos::sqlite {

/// A disk of which the files in a folder are all that there is: SQLite is told that it is full when
/// they would grow beyond that.
class SmallDisk {
  public:
    SmallDisk(const std::filesystem::path& folder, std::uintmax_t octets)
    {
        folder_ = folder;
        octets_ = octets;
        for (const char* call : {"pwrite", "pwrite64", "write"})
            set(call, call[0] == 'p' ? pointer(&limited_pwrite) : pointer(&limited_write));
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    ~SmallDisk()
    {
        for (const char* call : {"pwrite", "pwrite64", "write"})
            set(call, nullptr); // the system's
    }

  private:
    template <typename Function>
    static sqlite3_syscall_ptr pointer(Function function)
    {
        return reinterpret_cast<sqlite3_syscall_ptr>(function);
    }
    static void set(const char* call, sqlite3_syscall_ptr function)
    {
        sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
        (void)vfs->xSetSystemCall(vfs, call, function); // some builds have one, some the other
    }
    static bool has_room(int descriptor, std::uintmax_t end)
    {
        struct stat status {};
        fstat(descriptor, &status);
        const auto size = static_cast<std::uintmax_t>(status.st_size);
        std::uintmax_t used = end > size ? end - size : 0;
        if (used == 0) return true;
        for (const auto& file : std::filesystem::directory_iterator(folder_))
            used += file.file_size();
        if (used > octets_) errno = ENOSPC;
        return used <= octets_;
    }
    static ssize_t limited_pwrite(int descriptor, const void* data, std::size_t size, off_t at)
    {
        return has_room(descriptor, static_cast<std::uintmax_t>(at) + size)
                   ? pwrite(descriptor, data, size, at)
                   : -1;
    }
    static ssize_t limited_write(int descriptor, const void* data, std::size_t size)
    {
        const auto at = static_cast<std::uintmax_t>(lseek(descriptor, 0, SEEK_CUR));
        return has_room(descriptor, at + size) ? write(descriptor, data, size) : -1;
    }
    inline static std::filesystem::path folder_;
    inline static std::uintmax_t octets_ = 0;
};

} // namespace kairos::sqlite
