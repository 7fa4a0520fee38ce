// SPDX-License-Identifier: Apache-2.0
#include "kairos/sqlite/file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kairos::sqlite {
namespace {

/// What a store has may be nobody else's business, and whoever can open the lock can keep it: files
/// of a store are their owner's alone. SQLite makes its others, the log and what readers share, as
/// the database is.
constexpr mode_t owner_only = 0600;

} // namespace

Result<void> make_private(const std::string& path)
{
    const int descriptor =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, owner_only);
    if (descriptor >= 0) ::close(descriptor);
    if (descriptor < 0 && errno != EEXIST)
        return Error{ErrorCode::system, path + ": " + std::strerror(errno), errno};
    for (const char* suffix : {"", "-wal", "-shm"}) {
        const std::string name = path + suffix;
        struct stat status {};
        if (::stat(name.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
            status.st_uid == ::geteuid() && (status.st_mode & S_IRWXO) != 0)
            ::chmod(name.c_str(), status.st_mode & (S_IRWXU | S_IRWXG));
    }
    return {};
}

Result<std::unique_ptr<FileLock>> FileLock::take(const std::string& path, const std::string& owner)
{
    const std::string name = path + "-lock";
    const int descriptor =
        ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, owner_only);
    if (descriptor < 0) return Error{ErrorCode::system, name + ": " + std::strerror(errno), errno};
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && status.st_uid == ::geteuid() &&
        (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        ::fchmod(descriptor, owner_only); // one of before
    std::unique_ptr<FileLock> lock(new FileLock(descriptor));
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return lock;
    if (errno == EWOULDBLOCK)
        return Error{ErrorCode::invalid_argument,
                     "another " + owner + " has the store " + path + " open"};
    return Error{ErrorCode::system, name + ": " + std::strerror(errno), errno};
}

FileLock::~FileLock() { ::close(descriptor_); }

Result<void> require(Connection& connection, const char* pragma, const std::string& expected,
                     const std::string& otherwise)
{
    const auto value = connection.value_of(pragma);
    if (!value) return value.error();
    if (*value != expected) return Error{ErrorCode::invalid_argument, otherwise};
    return {};
}

} // namespace kairos::sqlite
