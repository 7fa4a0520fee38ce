// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/shared_memory.h"

#include "kairos/net/system.h"
#include "kairos/net/system_error.h"

#include <array>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace kairos::net {
namespace {

/// Its size stays. The maker does not prevent other seals (F_SEAL_SEAL): one follows.
constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW;
/// Nobody else can map it for writing, and nobody can punch holes into it: a page of a hole is made
/// anew when it is touched, and where the system has promised too much memory that may fail.
/// The C library's headers may not have it (Linux 5.1).
#ifndef F_SEAL_FUTURE_WRITE
constexpr int F_SEAL_FUTURE_WRITE = 0x0010;
#endif
#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23; // Linux 5.14
#endif
/// What comes with the descriptor: a peer that wants something else, as another version, is
/// refused.
constexpr std::array<char, 8> greeting{'K', 'R', 'S', 'H', 'M', 0, 0, 2};

/// Room for more than is asked for, so that two are seen. What has no room the system closes.
constexpr std::size_t descriptors_max = 4;

/// Takes what came along. Not open unless that is one descriptor; others are closed.
Socket take_descriptor(msghdr& message) noexcept
{
    Socket only;
    std::size_t came = 0;
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
         part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i, ++came) {
            int descriptor = -1;
            std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof descriptor);
            only = Socket(descriptor);
        }
    }
    if (came != 1 || (message.msg_flags & MSG_CTRUNC) != 0) only.close();
    return only;
}

/// Where in the file there is more.
std::size_t more_at(std::size_t size) noexcept { return align_up(size, SharedMemory::more_grain); }

/// Whether a file of this size has as much as is asked for, and perhaps more behind it.
bool is_size(off_t file, std::size_t size) noexcept
{
    if (file == static_cast<off_t>(size)) return true;
    return file > static_cast<off_t>(more_at(size)) &&
           static_cast<std::size_t>(file) % SharedMemory::more_grain == 0;
}

/// Whether this process may make a file of so many octets: else trying would end it by a signal.
bool may_make(std::size_t size) noexcept
{
    rlimit limit{};
    return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && size <= limit.rlim_cur;
}

/// Ordinary pages of the system's own memory: with huge ones, or a file of some other kind, reading
/// may fail, which ends the process by a signal.
bool is_ordinary(int file) noexcept
{
    struct statfs status {};
    return ::fstatfs(file, &status) == 0 && status.f_type == TMPFS_MAGIC;
}

} // namespace

SharedMemory::~SharedMemory()
{
    if (data_ != nullptr) ::munmap(data_, size_);
    if (!more_.empty()) ::munmap(more_.data(), more_.size());
}

Result<SharedMemory> SharedMemory::map(Socket file, std::size_t size, std::size_t more)
{
    SharedMemory memory(std::move(file));
    void* const data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                              memory.file_.descriptor(), 0);
    if (data == MAP_FAILED) return system_error("cannot map shared memory", errno);
    memory.data_ = static_cast<std::byte*>(data);
    memory.size_ = size;
    if (more == 0) return memory;
    void* const behind = ::mmap(nullptr, more, PROT_READ | PROT_WRITE, MAP_SHARED,
                                memory.file_.descriptor(), static_cast<off_t>(more_at(size)));
    if (behind != MAP_FAILED) memory.more_ = {static_cast<std::byte*>(behind), more};
    return memory;
}

bool SharedMemory::make_present(MutableBytes pages) noexcept
{
    int done = 0;
    do
        done = ::madvise(pages.data(), pages.size(), MADV_POPULATE_WRITE);
    while (done != 0 && errno == EINTR);
    return done == 0;
}

Result<SharedMemory> SharedMemory::make(std::size_t size, std::size_t more)
{
    constexpr const char* what = "cannot make shared memory";
    if (!may_make(size)) return system_error(what, EFBIG);
    // fallocate(): where there is no memory for a page it is said here, and not by a signal.
    Socket file(system().memfd_create("kairos", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file.is_open() || ::fallocate(file.descriptor(), 0, 0, static_cast<off_t>(size)) != 0)
        return system_error(what, errno);
    // What goes wrong with the memory beside leaves who asks for it without.
    const std::size_t all = more_at(size) + more;
    if (more != 0 &&
        (!may_make(all) || ::ftruncate(file.descriptor(), static_cast<off_t>(all)) != 0))
        more = 0;
    if (::fcntl(file.descriptor(), F_ADD_SEALS, size_seals) != 0) return system_error(what, errno);
    auto memory = map(std::move(file), size, more);
    // The peer might take what is not mapped here, or of what no page can be made.
    if (memory && more != 0 &&
        (memory->more().size() != more || !make_present(memory->more().first(1))))
        return make(size);
    return memory;
}

/// In this order: who punches holes at the same time has done so when the seal is there, and they
/// are filled.
Result<void> SharedMemory::secure()
{
    if (::fcntl(file_.descriptor(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE) != 0 ||
        ::fallocate(file_.descriptor(), 0, 0, static_cast<off_t>(size_)) != 0)
        return system_error("cannot seal shared memory", errno);
    file_.close();
    return {};
}

Result<void> SharedMemory::send(Socket& socket) const
{
    const int descriptor = file_.descriptor();
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
    iovec text{const_cast<char*>(greeting.data()), greeting.size()};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &descriptor, sizeof descriptor);
    const ssize_t sent = ::sendmsg(socket.descriptor(), &message, MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(greeting.size()))
        return system_error("cannot hand over shared memory", sent < 0 ? errno : EPIPE);
    return {};
}

Result<SharedMemory> SharedMemory::receive(int descriptor, std::size_t size, std::size_t more_max)
{
    std::array<char, greeting.size()> came{};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(descriptors_max * sizeof(int))> control{};
    iovec text{came.data(), came.size()};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t count = -1;
    do
        count = ::recvmsg(descriptor, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count < 0) return system_error("no shared memory came", errno);
    Socket file = take_descriptor(message);
    if (count != static_cast<ssize_t>(came.size()) || came != greeting || !file.is_open())
        return Error{ErrorCode::malformed, "no shared memory came"};
    const int seals = ::fcntl(file.descriptor(), F_GET_SEALS);
    struct stat status {};
    if (seals < 0 || (seals & size_seals) != size_seals ||
        ::fstat(file.descriptor(), &status) != 0 || !is_size(status.st_size, size) ||
        !is_ordinary(file.descriptor()))
        return Error{ErrorCode::malformed, "what came is not sealed memory of the right size"};
    const auto all = static_cast<std::size_t>(status.st_size);
    const std::size_t more = all == size ? 0 : all - more_at(size);
    auto memory = map(std::move(file), size, more <= more_max ? more : 0);
    if (!memory) return memory;
    if (const auto secured = memory->secure(); !secured) return secured.error();
    return memory;
}

} // namespace kairos::net
