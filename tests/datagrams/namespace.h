// SPDX-License-Identifier: Apache-2.0
//
// A network of the test's own, in which nothing is but interfaces that it makes: what is sent to
// groups there leaves the machine by none of its own.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <unistd.h>

namespace kairos::orb_testing {

/// Moves the process into a network namespace of its own, which has the loopback interface and
/// another, kairos0, 10.77.0.1 and fd77::1. To be called before there are other threads; what is
/// started later is in it, too. Returns why that cannot be; empty if it is so.
inline std::string enter_own_network()
{
    const auto failed = [](const char* what) {
        return std::string(what) + ": " + std::strerror(errno);
    };
    const auto write_file = [](const char* path, const std::string& text) {
        const int file = ::open(path, O_WRONLY | O_CLOEXEC);
        if (file < 0) return false;
        const bool written =
            ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
        ::close(file);
        return written;
    };
    if (::unshare(CLONE_NEWNET) != 0) {
        const std::string user = std::to_string(::getuid());
        const std::string group = std::to_string(::getgid());
        if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
            return failed("no network namespace can be made here");
        (void)write_file("/proc/self/setgroups", "deny");
        if (!write_file("/proc/self/uid_map", "0 " + user + " 1") ||
            !write_file("/proc/self/gid_map", "0 " + group + " 1"))
            return failed("no user namespace can be used here");
    }
    // Two ends of a cable. Nobody is at the other one; IPv6 has no multicast by `lo`.
    const char* const make = "ip link set lo up && "
                             "ip link add kairos0 type veth peer name kairos1 && "
                             "ip link set kairos0 up && ip link set kairos1 up && "
                             "ip addr add 10.77.0.1/24 dev kairos0 && "
                             "ip route add 224.0.0.0/4 dev kairos0 && "
                             "ip -6 addr add fd77::1/64 dev kairos0 nodad";
    if (std::system(make) != 0) // NOLINT(cert-env33-c): a text of our own
        return std::string("no interface can be made here: ") + make;
    return {};
}

} // namespace kairos::orb_testing
