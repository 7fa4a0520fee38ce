// SPDX-License-Identifier: Apache-2.0
//
// What a client of shared memory sends to hand it over, and what a hostile one might: for tests and
// fuzz targets.
#pragma once

#include "kairos/net/ring_channel.h"

#include <array>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <string_view>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kairos::net {

inline constexpr std::string_view handover_greeting("KRSHM\0\0\2", 8);
inline constexpr std::size_t ring_memory_size =
    2 * (sizeof(RingControl) + std::size_t{RingChannel::capacity});
inline constexpr int memory_seals = F_SEAL_SHRINK | F_SEAL_GROW;

/// A file in memory, all of it a hole. The caller closes it.
[[nodiscard]] inline int memory_file(std::size_t size, int seals)
{
    const int file = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (::ftruncate(file, static_cast<off_t>(size)) == 0 &&
        (seals == 0 || ::fcntl(file, F_ADD_SEALS, seals) == 0))
        return file;
    ::close(file);
    return -1;
}

/// Sends these octets, and with the first of them these descriptors, which stay the caller's.
/// Octets sent, or -1.
inline ssize_t hand_over(const Socket& socket, std::span<const int> files, std::string_view octets)
{
    constexpr std::size_t files_max = 64;
    if (files.size() > files_max) return -1;
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(files_max * sizeof(int))> control{};
    iovec text{const_cast<char*>(octets.data()), octets.size()};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    if (!files.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(files.size_bytes());
        cmsghdr* const part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(files.size_bytes());
        std::memcpy(CMSG_DATA(part), files.data(), files.size_bytes());
    }
    return ::sendmsg(socket.descriptor(), &message, MSG_NOSIGNAL);
}

} // namespace kairos::net
