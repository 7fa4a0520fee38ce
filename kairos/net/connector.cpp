// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/connector.h"

#include "kairos/net/system.h"
#include "kairos/net/system_error.h"

#include <algorithm>
#include <sys/time.h>

namespace kairos::net {
namespace {

using Timeout = std::optional<std::chrono::nanoseconds>;

/// Waits for a connection that the system makes in the background. 0 or an errno.
int finish_connect(Socket& socket, Timeout timeout) noexcept
{
    const IoResult ready = socket.wait_writable(timeout);
    if (!ready.ok()) return ready.error;
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
    return error;
}

/// 0 or an errno.
int connect_ip(Socket& socket, const Address& address, Timeout timeout)
{
    if (timeout) {
        if (auto set = socket.set_non_blocking(true); !set) return set.error().system_errno;
    }
    int error = 0;
    if (system().connect(socket.descriptor(), address.native(), address.native_size()) != 0) {
        error = errno;
        // After a signal the system goes on connecting; calling again would only say EALREADY.
        if (error == EINPROGRESS || error == EINTR) error = finish_connect(socket, timeout);
    }
    if (error == 0 && timeout) {
        if (auto set = socket.set_non_blocking(false); !set) return set.error().system_errno;
    }
    return error;
}

/// Non-blocking, a unix-domain socket whose listener is busy would report EAGAIN at once instead of
/// waiting; but its blocking connect observes the send timeout. 0 or an errno.
int connect_unix(Socket& socket, const Address& address, Timeout timeout) noexcept
{
    const auto set_limit = [&](std::chrono::microseconds limit) {
        const timeval value{.tv_sec = static_cast<time_t>(limit.count() / 1'000'000),
                            .tv_usec = static_cast<suseconds_t>(limit.count() % 1'000'000)};
        ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_SNDTIMEO, &value, sizeof value);
    };
    if (timeout) {
        // Zero would mean "no limit".
        const auto limit = std::chrono::ceil<std::chrono::microseconds>(*timeout);
        set_limit(std::max(limit, std::chrono::microseconds(1)));
    }
    int error = 0;
    do {
        error = 0;
        if (system().connect(socket.descriptor(), address.native(), address.native_size()) != 0)
            error = errno;
    } while (error == EINTR); // a unix-domain connect is all or nothing, so it can be repeated
    if (timeout) set_limit(std::chrono::microseconds(0));
    return error == EAGAIN ? ETIMEDOUT : error;
}

/// Connecting to a port of this machine where nobody listens can meet itself: the system may choose
/// that very port as the local one, and TCP then opens a connection from the socket to itself. A
/// client that retries until its server is back would then talk to itself and block the port.
bool is_self_connected(const Socket& socket, const Address& address)
{
    if (!address.is_ip()) return false;
    const auto local = socket.local_address();
    const auto peer = socket.peer_address();
    return local && peer && *local == *peer;
}

} // namespace

Result<Socket> connect(const Address& address, const SocketOptions& options, Timeout timeout)
{
    const auto failure = [&](int error) {
        return system_error("cannot connect to " + address.to_text(), error,
                            ErrorCode::unreachable);
    };
    Socket socket(system().socket(address.native_family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return failure(errno);
    if (auto set = apply_options(socket, options, address.family()); !set) return set.error();
    if (options.observer != nullptr)
        options.observer->on_socket(socket, SocketObserver::Kind::connecting);

    const int error = address.is_ip() ? connect_ip(socket, address, timeout)
                                      : connect_unix(socket, address, timeout);
    if (error != 0) return failure(error);
    if (is_self_connected(socket, address)) return failure(ECONNREFUSED);
    system().on_connected(socket, options);
    return socket;
}

Result<Socket> connect_any(std::span<const Address> addresses, const SocketOptions& options,
                           Timeout timeout)
{
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    Error failure{ErrorCode::unreachable, "no address to connect to"};
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        Timeout share;
        if (timeout) {
            const auto left = *timeout - (Clock::now() - start);
            share = std::max(left / static_cast<std::int64_t>(addresses.size() - i),
                             std::chrono::nanoseconds::zero());
        }
        auto socket = connect(addresses[i], options, share);
        if (socket) return socket;
        if (i == 0) {
            failure = socket.error();
        } else {
            failure.reason += "; " + socket.error().reason;
            failure.system_errno = socket.error().system_errno;
        }
    }
    return failure;
}

} // namespace kairos::net
