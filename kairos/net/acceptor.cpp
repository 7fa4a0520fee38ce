// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/acceptor.h"

#include "kairos/net/system.h"
#include "kairos/net/system_error.h"

#include <cerrno>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <unistd.h>

namespace kairos::net {
namespace {

/// The connection, not the listener, failed: while it waited, or by a firewall's rule. Linux hands
/// such errors of a new connection to accept (accept(2), "Error handling").
bool is_connections_own(int error) noexcept
{
    switch (error) {
    case ECONNABORTED:
    case EINTR:
    case EPROTO:
    case EPERM:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case ENETUNREACH:
        return true;
    default:
        return false;
    }
}

bool is_exhaustion(int error) noexcept { return error == EMFILE || error == ENFILE; }

Acceptor::Status status_of(int error) noexcept
{
    switch (error) {
    case EAGAIN:
#if EWOULDBLOCK != EAGAIN
    case EWOULDBLOCK:
#endif
        return Acceptor::Status::would_block;
    case EINVAL: // it does not listen any more
        return Acceptor::Status::closed;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
        return Acceptor::Status::exhausted;
    default:
        return Acceptor::Status::failed;
    }
}

/// `named` is what the system calls it.
Address peer_of(const Socket& socket, const Address& named, Address::Family family) noexcept
{
    if (family != Address::Family::unix_domain) return named;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket.descriptor(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return named;
    return Address::unix_peer(peer);
}

} // namespace

Result<Acceptor> Acceptor::open(const Address& address, const AcceptorOptions& options)
{
    if (address.family() != Address::Family::unix_domain) {
        auto listener = listen(address, options.socket, options.backlog);
        if (!listener) return listener.error();
        return adopt(std::move(*listener), options);
    }
    auto listening = listen_at_path(address, options.socket, options.backlog);
    if (!listening) return listening.error();
    auto acceptor = adopt(std::move(listening->socket), options);
    if (acceptor) acceptor->file_ = std::move(listening->file);
    return acceptor;
}

Result<Acceptor> Acceptor::adopt(Socket listener, const AcceptorOptions& options)
{
    const Result<Address> address = listener.local_address();
    if (!address) return address.error();
    if (auto set = listener.set_non_blocking(options.non_blocking); !set) return set.error();
    Acceptor acceptor(std::move(listener), *address, options);
    if (!acceptor.hold_spare()) return system_error("cannot keep a spare descriptor", errno);
    return acceptor;
}

Result<void> Acceptor::become_non_blocking() noexcept
{
    accept_flags_ |= SOCK_NONBLOCK;
    return listener_.set_non_blocking(true);
}

Acceptor::Acceptor(Socket listener, const Address& address, const AcceptorOptions& options)
    : listener_(std::move(listener)), address_(address), options_(options.socket),
      accept_flags_(SOCK_CLOEXEC | (options.non_blocking ? SOCK_NONBLOCK : 0))
{
}

Acceptor::Accepted Acceptor::accept() noexcept
{
    hold_spare(); // in case it was lost; costs nothing otherwise
    for (;;) {
        Accepted result = accept_once();
        if (is_exhaustion(result.error) && spare_.is_open())
            result = accept_with_spare(result.error);
        switch (result.status) {
        case Status::accepted:
            exhausted_ = false;
            return result;
        case Status::turned_away:
        case Status::exhausted:
            result.first_of_episode = !std::exchange(exhausted_, true);
            return result;
        default:
            if (!is_connections_own(result.error)) return result;
        }
    }
}

/// One accept4 with what belongs to the new connection.
Acceptor::Accepted Acceptor::accept_once() noexcept
{
    sockaddr_storage native{};
    socklen_t size = sizeof native;
    auto* peer = reinterpret_cast<sockaddr*>(&native);
    Accepted result;
    result.socket = Socket(system().accept4(listener_.descriptor(), peer, &size, accept_flags_));
    if (!result.socket.is_open()) {
        result.error = errno;
        result.status = status_of(result.error);
        return result;
    }
    result.peer = peer_of(result.socket, Address::from_native(peer, size), address_.family());
    result.status = Status::accepted;
    // Fails only for a connection that is already gone, which its first read reports properly.
    (void)apply_options(result.socket, options_, address_.family());
    if (options_.observer != nullptr)
        options_.observer->on_socket(result.socket, SocketObserver::Kind::accepted);
    system().on_accepted(result.socket);
    return result;
}

/// Out of descriptors: gives up the spare one for the next connection. A blocking listener may
/// wait here, for EMFILE comes before the system looks whether anybody waits.
Acceptor::Accepted Acceptor::accept_with_spare(int reason) noexcept
{
    spare_.close();
    Accepted result = accept_once();
    // If there is a descriptor for a new spare, somebody has given one back: the newcomer may stay.
    if (!hold_spare() && result.status == Status::accepted) {
        result.socket.close();
        result.status = Status::turned_away;
        result.error = reason;
        hold_spare();
    }
    return result;
}

bool Acceptor::hold_spare() noexcept
{
    if (!spare_.is_open()) spare_ = Socket(system().open("/dev/null", O_RDONLY | O_CLOEXEC));
    return spare_.is_open();
}

} // namespace kairos::net
