// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/socket.h"

#include "kairos/net/polled_channel.h"
#include "kairos/net/ring_channel.h"
#include "kairos/net/spinning_channel.h"
#include "kairos/net/system.h"
#include "kairos/net/system_error.h"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h> // the C library's does not have all that the kernel tells
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vector>

namespace kairos::net {
namespace {

using Clock = std::chrono::steady_clock;

Result<void> set_option(const Socket& socket, int level, int name, int value, const char* what)
{
    if (::setsockopt(socket.descriptor(), level, name, &value, sizeof value) == 0) return {};
    return system_error(std::string("cannot set socket option ") + what, errno);
}

/// Octets that the peer of a TCP connection has taken; nothing of another, or before Linux 4.1.
std::optional<std::uint64_t> octets_taken(int descriptor) noexcept
{
    tcp_info info{};
    socklen_t size = sizeof info;
    constexpr std::size_t told =
        offsetof(tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked;
    if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < told)
        return std::nullopt;
    return info.tcpi_bytes_acked;
}

/// The largest segment that a connection with a small receive queue announces. Where segments are
/// large (loopback's are 64 K) and messages of several sizes have shaped the window, one may not
/// fit it any more while the receiver sees no reason to tell of the little room it has gained: the
/// sender then waits 200 ms for its probe timer, again and again. Half of the queue always fits. On
/// networks, whose segments are smaller, this changes nothing.
int segment_bound(int receive_queue_bytes) noexcept
{
    constexpr int least = 536;     // what every host takes (RFC 9293, 3.7.1)
    constexpr int largest = 32767; // what Linux lets be set
    return std::clamp(receive_queue_bytes / 2, least, largest);
}

/// The two lowest bits of the octet are for congestion (RFC 3168) and the kernel's.
Result<void> set_dscp(const Socket& socket, int dscp, Address::Family family)
{
    if (family == Address::Family::ipv6)
        return set_option(socket, IPPROTO_IPV6, IPV6_TCLASS, dscp << 2, "IPV6_TCLASS");
    return set_option(socket, IPPROTO_IP, IP_TOS, dscp << 2, "IP_TOS");
}

timespec to_timespec(std::chrono::nanoseconds duration) noexcept
{
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
    return {.tv_sec = static_cast<std::time_t>(seconds.count()),
            .tv_nsec = static_cast<long>((duration - seconds).count())};
}

/// now + timeout, without overflow for "practically for ever".
Clock::time_point deadline_after(std::chrono::nanoseconds timeout) noexcept
{
    const auto now = Clock::now();
    return timeout < Clock::time_point::max() - now ? now + timeout : Clock::time_point::max();
}

} // namespace

namespace detail {

IoResult io_stopped(int error) noexcept
{
    switch (error) {
    case EAGAIN:
#if EWOULDBLOCK != EAGAIN
    case EWOULDBLOCK:
#endif
        return {.error = error, .status = IoResult::Status::would_block};
    case ECONNRESET:
    case EPIPE:
        return {.error = error, .status = IoResult::Status::closed};
    default:
        return {.error = error, .status = IoResult::Status::failed};
    }
}

} // namespace detail

void Socket::close() noexcept
{
    if (Channel* const channel = std::exchange(channel_, nullptr); channel != nullptr) {
        if (--channel->sockets_ != 0) {
            descriptor_ = -1; // the other's as well
            return;
        }
        delete channel;
    }
    // Linux releases the descriptor even when close() reports EINTR; repeating could close another.
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void Socket::leave_to_parent() noexcept
{
    // Not deleted: memory that both have, a place in the parent's watch.
    Channel* const channel = std::exchange(channel_, nullptr);
    if (channel != nullptr && --channel->sockets_ != 0) {
        descriptor_ = -1; // the other's as well
        return;
    }
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

IoResult Socket::write_rest(std::span<iovec> segments, IoResult last) noexcept
{
    std::size_t written = last.bytes;
    auto left = drop_front(segments, last.bytes);
    while (last.ok() && !left.empty()) {
        last = write(std::span<const iovec>(left));
        written += last.bytes;
        left = drop_front(left, last.bytes);
    }
    last.bytes = written;
    return last;
}

IoResult Socket::write_all(Bytes data) noexcept
{
    std::size_t written = 0;
    while (written < data.size()) {
        IoResult result = write(data.subspan(written));
        written += result.bytes;
        if (!result.ok()) {
            result.bytes = written;
            return result;
        }
    }
    return {.bytes = written};
}

IoResult Socket::write_all(std::span<iovec> segments, Deadline deadline) noexcept
{
    std::size_t written = 0;
    for (auto left = drop_front(segments, 0); !left.empty();) {
        IoResult result = write(std::span<const iovec>(left), WriteFlags::do_not_wait);
        written += result.bytes;
        left = drop_front(left, result.bytes);
        if (result.status == IoResult::Status::would_block) result = wait_writable(deadline.left());
        if (!result.ok()) {
            result.bytes = written;
            return result;
        }
    }
    return {.bytes = written};
}

IoResult Socket::read(MutableBytes buffer, Deadline deadline) noexcept
{
    if (deadline.is_never()) return read(buffer);
    for (;;) {
        if (const IoResult ready = wait_readable(deadline.left()); !ready.ok()) return ready;
        // Another may have been faster, or the kernel has dropped what it had announced.
        const IoResult result = read(buffer, ReadFlags::do_not_wait);
        if (result.status != IoResult::Status::would_block) return result;
    }
}

IoResult Socket::wait_readable(std::optional<std::chrono::nanoseconds> timeout) noexcept
{
    return wait_for(POLLIN, timeout);
}

IoResult Socket::wait_writable(std::optional<std::chrono::nanoseconds> timeout) noexcept
{
    return wait_for(POLLOUT, timeout);
}

IoResult Socket::wait_for(short events, std::optional<std::chrono::nanoseconds> timeout) noexcept
{
    if (channel_ != nullptr) {
        const Deadline deadline = timeout ? Deadline::after(*timeout) : Deadline();
        return events == POLLIN ? channel_->wait_readable(deadline)
                                : channel_->wait_writable(deadline);
    }
    return wait_at(descriptor_, events, timeout);
}

IoResult wait_at(int descriptor, short events,
                 std::optional<std::chrono::nanoseconds> timeout) noexcept
{
    const bool limited = timeout.has_value();
    const auto deadline = limited ? deadline_after(*timeout) : Clock::time_point::max();
    for (auto left = timeout.value_or(std::chrono::nanoseconds::zero());;) {
        pollfd entry{.fd = descriptor, .events = events, .revents = 0};
        const timespec limit = to_timespec(std::max(left, std::chrono::nanoseconds::zero()));
        const int count = ::ppoll(&entry, 1, limited ? &limit : nullptr, nullptr);
        if (count > 0)
            return (entry.revents & POLLNVAL) != 0 ? detail::io_stopped(EBADF) : IoResult{};
        if (count == 0) return {.error = ETIMEDOUT, .status = IoResult::Status::would_block};
        if (errno != EINTR) return detail::io_stopped(errno);
        left = deadline - Clock::now(); // a signal does not start the time anew
    }
}

short poll_events(Interest interest) noexcept
{
    switch (interest) {
    case Interest::none:
        return 0;
    case Interest::readable:
        return POLLIN;
    case Interest::writable:
        return POLLOUT;
    case Interest::readable_and_writable:
        return POLLIN | POLLOUT;
    }
    return 0;
}

void Socket::await_room() noexcept
{
    if (channel_ == nullptr || channel_->uses_descriptor())
        (void)room_spin_.until_room(descriptor_);
}

void wait_any_readable(std::span<const Socket* const> sockets, Deadline deadline)
{
    std::vector<pollfd> entries;
    entries.reserve(sockets.size());
    for (const Socket* socket : sockets) {
        const Interest interest = socket->prepare_poll(Interest::readable);
        if (interest == Interest::none) return;
        entries.push_back(
            {.fd = socket->descriptor(), .events = poll_events(interest), .revents = 0});
    }
    int count = -1;
    do {
        const auto left = deadline.left();
        const timespec limit = to_timespec(left.value_or(std::chrono::nanoseconds::zero()));
        count = ::ppoll(entries.data(), entries.size(), left ? &limit : nullptr, nullptr);
    } while (count < 0 && errno == EINTR);
}

namespace {

void set_time_limit(int descriptor, int option, std::chrono::nanoseconds time) noexcept
{
    using namespace std::chrono;
    const auto whole_us = ceil<microseconds>(time); // upwards: to the system none is for ever
    const auto whole = duration_cast<seconds>(whole_us);
    const timeval limit{.tv_sec = static_cast<std::time_t>(whole.count()),
                        .tv_usec = static_cast<suseconds_t>((whole_us - whole).count())};
    (void)::setsockopt(descriptor, SOL_SOCKET, option, &limit, sizeof limit);
}

} // namespace

void Socket::limit_writing(std::chrono::nanoseconds time) noexcept
{
    set_time_limit(descriptor_, SO_SNDTIMEO, time);
    if (channel_ != nullptr) channel_->limit_writing(time);
}

void Socket::limit_reading(std::chrono::nanoseconds time) noexcept
{
    set_time_limit(descriptor_, SO_RCVTIMEO, time);
    if (channel_ != nullptr) channel_->limit_reading(time);
}

void Socket::shutdown_read() noexcept
{
    // The socket's own end would look like the peer's.
    if (channel_ != nullptr && channel_->shut_reading()) return;
    ::shutdown(descriptor_, SHUT_RD);
}

void Socket::shutdown_write() noexcept
{
    if (channel_ != nullptr) channel_->shut_writing();
    ::shutdown(descriptor_, SHUT_WR);
}

void Socket::shutdown_both() noexcept
{
    if (channel_ != nullptr) {
        (void)channel_->shut_reading();
        channel_->shut_writing();
    }
    ::shutdown(descriptor_, SHUT_RDWR);
}

// --- Channels ------------------------------------------------------------------------------------

IoResult Socket::read_channel(MutableBytes buffer, ReadFlags flags) noexcept
{
    return channel_->read(buffer, flags);
}

IoResult Socket::write_channel(Bytes data, WriteFlags flags) noexcept
{
    const iovec segment{const_cast<std::byte*>(data.data()), data.size()};
    return channel_->write(std::span(&segment, 1), flags);
}

IoResult Socket::write_channel(std::span<const iovec> segments, WriteFlags flags) noexcept
{
    return channel_->write(segments, flags);
}

Interest Socket::prepare_channel(Interest wish) const noexcept
{
    return channel_->prepare_poll(wish);
}

Result<void> Socket::offer_memory(const SpinRule& spin, Deadline deadline, std::size_t loans)
{
    auto channel = RingChannel::connect(*this, spin, deadline, loans);
    if (!channel) return channel.error();
    set_channel(std::move(channel).value());
    system().on_memory(*this);
    return {};
}

void Socket::expect_memory(const SpinRule& spin, std::size_t loans)
{
    set_channel(std::make_unique<RingChannel>(descriptor_, spin, loans));
}

void Socket::offer_blocks(BlockTaker* taker) noexcept
{
    if (channel_ != nullptr) channel_->offer_blocks(taker);
}

std::shared_ptr<std::byte> Socket::loan(std::size_t size) const
{
    return channel_ == nullptr ? nullptr : channel_->loan(size);
}

bool Socket::is_channel_agreeing() const noexcept { return channel_->is_agreeing(); }

bool Socket::is_channel_plain() const noexcept { return channel_->uses_descriptor(); }

bool Socket::bypasses_descriptor() const noexcept
{
    return channel_ != nullptr && channel_->bypasses_descriptor();
}

std::string_view Socket::refusal() const noexcept
{
    return channel_ != nullptr ? channel_->refusal() : std::string_view();
}

Result<void> Socket::agree(Deadline deadline)
{
    while (is_agreeing()) {
        const IoResult result = channel_->agree();
        if (result.ok()) continue;
        if (result.status != IoResult::Status::would_block) {
            const std::string_view why = channel_->refusal();
            return Error{ErrorCode::unreachable,
                         std::string(why.empty() ? "the peer has gone" : why), result.error};
        }
        const Interest interest = channel_->prepare_poll(Interest::readable);
        if (interest == Interest::none) continue;
        if (!wait_at(descriptor_, poll_events(interest), deadline.left()).ok())
            return Error{ErrorCode::unreachable, "nothing was agreed in time", ETIMEDOUT};
    }
    return {};
}

namespace {

bool is_unix(int descriptor) noexcept
{
    int domain = AF_UNSPEC;
    socklen_t size = sizeof domain;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
           domain == AF_UNIX;
}

} // namespace

void Socket::spin(const SpinRule& rule)
{
    if (channel_ == nullptr && may_spin(rule))
        set_channel(std::make_unique<SpinningChannel>(descriptor_, rule,
                                                      rule.learns && is_unix(descriptor_)));
}

void Socket::poll_before_reading()
{
    if (channel_ == nullptr && is_unix(descriptor_))
        set_channel(std::make_unique<PolledChannel>(descriptor_));
}

Result<Socket> Socket::duplicate() const
{
    if (bypasses_descriptor())
        return Error{ErrorCode::unreachable, "what goes through memory has one socket"};
    if (!is_plain()) {
        Socket other(descriptor_);
        other.room_spin_ = room_spin_;
        other.channel_ = channel_;
        ++channel_->sockets_;
        return other;
    }
    Socket copy(::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0));
    if (!copy.is_open()) return system_error("cannot duplicate a socket", errno);
    return copy;
}

void Socket::set_channel(std::unique_ptr<Channel> channel) noexcept
{
    delete std::exchange(channel_, channel.release());
}

std::unique_ptr<Channel> Socket::take_channel() noexcept
{
    return std::unique_ptr<Channel>(std::exchange(channel_, nullptr));
}

std::optional<std::uint64_t> Socket::stuck_at() const noexcept
{
    if (channel_ != nullptr) return channel_->stuck_at();
    int octets_unsent = 0;
    if (::ioctl(descriptor_, SIOCOUTQ, &octets_unsent) != 0 || octets_unsent <= 0)
        return std::nullopt;
    // What is queued says little where a thread fills the queue as soon as there is room.
    return octets_taken(descriptor_).value_or(static_cast<std::uint64_t>(octets_unsent));
}

std::optional<std::size_t> Socket::receive_queue_max() const noexcept
{
    constexpr int receive_queue = 2; // SOCK_RCVBUF_LOCK, of the kernel's headers alone
    int locked = 0;
    socklen_t size = sizeof locked;
    if (::getsockopt(descriptor_, SOL_SOCKET, SO_BUF_LOCK, &locked, &size) == 0 &&
        (locked & receive_queue) == 0)
        return std::nullopt;
    int doubled = 0; // the kernel's own use of memory is counted in, as much again
    size = sizeof doubled;
    if (::getsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &doubled, &size) != 0) return 0;
    return static_cast<std::size_t>(doubled) / 2;
}

Result<void> Socket::set_non_blocking(bool non_blocking)
{
    const int flags = ::fcntl(descriptor_, F_GETFL);
    const int wanted = non_blocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
    if (flags < 0 || (wanted != flags && ::fcntl(descriptor_, F_SETFL, wanted) < 0))
        return system_error("cannot make a socket (non-)blocking", errno);
    if (channel_ != nullptr) channel_->set_blocking(!non_blocking);
    return {};
}

Result<Address> Socket::local_address() const
{
    sockaddr_storage native{};
    socklen_t size = sizeof native;
    if (::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&native), &size) != 0)
        return system_error("cannot tell a socket's own address", errno);
    return Address::from_native(reinterpret_cast<const sockaddr*>(&native), size);
}

Result<Address> Socket::peer_address() const
{
    sockaddr_storage native{};
    socklen_t size = sizeof native;
    if (::getpeername(descriptor_, reinterpret_cast<sockaddr*>(&native), &size) != 0)
        return system_error("cannot tell the address of a socket's peer", errno);
    return Address::from_native(reinterpret_cast<const sockaddr*>(&native), size);
}

std::span<iovec> drop_front(std::span<iovec> segments, std::size_t bytes) noexcept
{
    while (!segments.empty() && bytes >= segments.front().iov_len) {
        bytes -= segments.front().iov_len;
        segments.front().iov_len = 0;
        segments = segments.subspan(1);
    }
    if (!segments.empty()) {
        iovec& first = segments.front();
        first.iov_base = static_cast<std::byte*>(first.iov_base) + bytes;
        first.iov_len -= bytes;
    }
    return segments;
}

Result<Socket> listen(const Address& address, const SocketOptions& options, int backlog)
{
    const std::string what = "cannot listen on " + address.to_text();
    Socket socket(system().socket(address.native_family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return system_error(what, errno);
    if (address.is_ip()) {
        // Else a restarted server would wait for its predecessor's last connections to time out.
        if (auto set = set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR"); !set)
            return set.error();
    }
    if (address.family() == Address::Family::ipv6) {
        // Always set: the system's default (net.ipv6.bindv6only) differs between machines.
        if (auto set = set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, options.ipv6_only ? 1 : 0,
                                  "IPV6_V6ONLY");
            !set)
            return set.error();
    }
    if (auto set = apply_options(socket, options, address.family()); !set) return set.error();
    if (options.observer != nullptr)
        options.observer->on_socket(socket, SocketObserver::Kind::listener);
    if (::bind(socket.descriptor(), address.native(), address.native_size()) != 0 ||
        ::listen(socket.descriptor(), backlog) != 0)
        return system_error(what, errno);
    return socket;
}

Result<std::pair<Socket, Socket>> socket_pair()
{
    int descriptors[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, descriptors) != 0)
        return system_error("cannot make a pair of sockets", errno);
    return std::pair(Socket(descriptors[0]), Socket(descriptors[1]));
}

Result<void> apply_options(const Socket& socket, const SocketOptions& options,
                           Address::Family family)
{
    const bool is_ip = family == Address::Family::ipv4 || family == Address::Family::ipv6;
    Result<void> set;
    if (options.send_queue_bytes > 0)
        set = set_option(socket, SOL_SOCKET, SO_SNDBUF, options.send_queue_bytes, "SO_SNDBUF");
    if (set && options.receive_queue_bytes > 0)
        set = set_option(socket, SOL_SOCKET, SO_RCVBUF, options.receive_queue_bytes, "SO_RCVBUF");
    if (set && is_ip && options.receive_queue_bytes > 0)
        set = set_option(socket, IPPROTO_TCP, TCP_MAXSEG,
                         segment_bound(options.receive_queue_bytes), "TCP_MAXSEG");
    if (set && is_ip && options.no_delay)
        set = set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
    if (set && is_ip && options.keep_alive)
        set = set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1, "SO_KEEPALIVE");
    if (set && options.busy_poll_us > 0)
        set = set_option(socket, SOL_SOCKET, SO_BUSY_POLL, options.busy_poll_us, "SO_BUSY_POLL");
    if (set && is_ip && options.dscp > 0) set = set_dscp(socket, options.dscp, family);
    // Last: the system derives a priority from the other.
    if (set && options.priority > 0)
        set = set_option(socket, SOL_SOCKET, SO_PRIORITY, options.priority, "SO_PRIORITY");
    return set;
}

} // namespace kairos::net
