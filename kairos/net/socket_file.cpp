// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/socket_file.h"

#include "kairos/net/system_error.h"

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <random>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace kairos::net {
namespace {

/// Files of a directory that are looked at: more would be somebody's mistake.
constexpr int files_swept_max = 1000;

/// The lock on a directory, held while somebody looks whether a socket is dead or makes one: in
/// between, a living one could be taken for dead.
class DirectoryLock {
  public:
    [[nodiscard]] static Result<DirectoryLock> take(const std::string& directory)
    {
        using namespace std::chrono_literals;
        const int opened = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (opened < 0) return system_error("cannot open " + directory, errno);
        DirectoryLock lock(opened);
        // Whoever may read the directory can lock it: not for ever.
        for (auto waited = 0ms; ::flock(opened, LOCK_EX | LOCK_NB) != 0; waited += 10ms) {
            if (waited >= 1s) return system_error("cannot lock " + directory, errno);
            std::this_thread::sleep_for(10ms);
        }
        return lock;
    }
    DirectoryLock(DirectoryLock&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1))
    {
    }
    DirectoryLock& operator=(DirectoryLock&&) = delete;
    ~DirectoryLock()
    {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

  private:
    explicit DirectoryLock(int descriptor) noexcept : descriptor_(descriptor) {}
    int descriptor_;
};

std::string directory_of(const std::string& path)
{
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

/// Whether there is the file of a socket at which nobody listens. Under the lock.
bool is_dead(const Address& address) noexcept
{
    struct stat status {};
    const auto* native = reinterpret_cast<const sockaddr_un*>(address.native());
    if (::lstat(native->sun_path, &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
    const Socket probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    return probe.is_open() &&
           ::connect(probe.descriptor(), address.native(), address.native_size()) != 0 &&
           errno == ECONNREFUSED;
}

/// A directory of this user's into which nobody else can look.
Result<void> make_private(const std::string& directory)
{
    if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
        return system_error("cannot make " + directory, errno);
    struct stat status {};
    if (::lstat(directory.c_str(), &status) != 0)
        return system_error("cannot look at " + directory, errno);
    if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
        return Error{ErrorCode::system, directory + " is not a directory of this user's alone"};
    return {};
}

/// "<process>-<number>": whether that process is known to live. Of a container that shares the
/// directory it is not known.
bool seems_alive(std::string_view file) noexcept
{
    pid_t process = 0;
    const auto read = std::from_chars(file.data(), file.data() + file.size(), process);
    return read.ec == std::errc{} && process > 0 && (::kill(process, 0) == 0 || errno == EPERM);
}

void sweep(const std::string& directory)
{
    const auto lock = DirectoryLock::take(directory);
    const std::unique_ptr<DIR, int (*)(DIR*)> files(::opendir(directory.c_str()), ::closedir);
    if (!lock || !files) return;
    for (int i = 0; i < files_swept_max; ++i) {
        const dirent* const entry = ::readdir(files.get());
        if (entry == nullptr) return;
        if (seems_alive(entry->d_name)) continue;
        const std::string path = directory + '/' + entry->d_name;
        const auto address = Address::unix_path(path);
        if (address && is_dead(*address)) ::unlink(path.c_str());
    }
}

Result<Address> path_in(const std::string& directory)
{
    if (const auto made = make_private(directory); !made) return made.error();
    sweep(directory);
    static std::atomic<unsigned> count{std::random_device{}()};
    return Address::unix_path(directory + '/' + std::to_string(::getpid()) + '-' +
                              std::to_string(++count));
}

} // namespace

SocketFile::SocketFile(const Address& address)
{
    std::string path = address.host_text();
    if (path.empty() || path.front() == '@') return;
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return;
    path_ = std::move(path);
    device_ = status.st_dev;
    inode_ = status.st_ino;
    exists_ = true;
}

SocketFile::SocketFile(SocketFile&& other) noexcept
    : path_(std::move(other.path_)), device_(other.device_), inode_(other.inode_),
      exists_(other.exists_.exchange(false)), made_(other.made_)
{
}

SocketFile& SocketFile::operator=(SocketFile&& other) noexcept
{
    if (this == &other) return *this;
    remove();
    path_ = std::move(other.path_);
    device_ = other.device_;
    inode_ = other.inode_;
    exists_ = other.exists_.exchange(false);
    made_ = other.made_;
    return *this;
}

void SocketFile::remove() noexcept
{
    if (!exists_.exchange(false) || !made_.here()) return;
    struct stat status {};
    if (::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_)
        ::unlink(path_.c_str());
}

Result<ListeningSocket> listen_at_path(const Address& address, const SocketOptions& options,
                                       int backlog)
{
    const std::string path = address.host_text();
    if (path.starts_with('@')) {
        auto socket = listen(address, options, backlog);
        if (!socket) return socket.error();
        return ListeningSocket{std::move(*socket), SocketFile()};
    }
    // Without the lock, which others may keep who may only read the directory, nothing is taken for
    // dead.
    const auto lock = DirectoryLock::take(directory_of(path));
    if (!lock && lock.error().system_errno != EWOULDBLOCK) return lock.error();
    auto socket = listen(address, options, backlog);
    if (!socket && socket.error().system_errno == EADDRINUSE && !lock) return lock.error();
    if (!socket && socket.error().system_errno == EADDRINUSE && is_dead(address) &&
        ::unlink(path.c_str()) == 0)
        socket = listen(address, options, backlog);
    if (!socket) return socket.error();
    return ListeningSocket{std::move(*socket), SocketFile(address)};
}

Result<Address> private_path()
{
    if (const char* const runtime = ::getenv("XDG_RUNTIME_DIR");
        runtime != nullptr && *runtime == '/') {
        if (auto address = path_in(std::string(runtime) + "/kairos")) return address;
    }
    return path_in("/tmp/kairos-" + std::to_string(::geteuid()));
}

} // namespace kairos::net
