// SPDX-License-Identifier: Apache-2.0
//
// A stream socket and what may be done with it. Reading and writing are one system call each,
// inline, without allocation, lock or exception; setting up reports a Result with a readable
// reason. One thread reads and one thread writes at a time; shutdown_* may be called from any
// thread while another is inside read() or write(), which is how a blocked thread is released.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/deadline.h"
#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/net/address.h"
#include "kairos/net/interest.h"
#include "kairos/net/room_spin.h"

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

namespace kairos {
class BlockTaker;
} // namespace kairos

namespace kairos::net {

/// What one read or write came to. Fits two registers.
struct [[nodiscard]] KAIROS_API_TYPE IoResult {
    enum class Status : std::uint8_t {
        ok,
        would_block, ///< nothing can be moved now; or, for wait_*, the time is over
        closed,      ///< the peer has closed or reset the connection
        failed,      ///< anything else; `error` says what
    };

    std::size_t bytes = 0; ///< moved by this call, also when it then stopped with another status
    int error = 0;         ///< errno where the system gave one; 0 for an orderly close
    Status status = Status::ok;

    [[nodiscard]] bool ok() const noexcept { return status == Status::ok; }
};

enum class ReadFlags : int {
    none = 0,
    wait_all = MSG_WAITALL,     ///< block until the buffer is full, the peer closes or a signal
    do_not_wait = MSG_DONTWAIT, ///< as if the socket were non-blocking
    peek = MSG_PEEK,            ///< leave the bytes in the queue
};
[[nodiscard]] constexpr ReadFlags operator|(ReadFlags left, ReadFlags right) noexcept
{
    return static_cast<ReadFlags>(static_cast<int>(left) | static_cast<int>(right));
}

enum class WriteFlags : int {
    none = 0,
    do_not_wait = MSG_DONTWAIT,
    more = MSG_MORE, ///< more follows at once: do not send a short segment for this
};
[[nodiscard]] constexpr WriteFlags operator|(WriteFlags left, WriteFlags right) noexcept
{
    return static_cast<WriteFlags>(static_cast<int>(left) | static_cast<int>(right));
}

class Socket;

/// Told of sockets when they are made, to set more of their options. Any thread. Must outlive
/// whoever makes them.
class KAIROS_API SocketObserver {
  public:
    enum class Kind : std::uint8_t {
        listener,   ///< before it is bound
        accepted,   ///< from a listener
        connecting, ///< before it is connected
    };
    /// Called when the ORB's own options of a new socket are set. The socket is not the observer's
    /// to keep, read or close.
    virtual void on_socket(Socket& socket, Kind kind) noexcept = 0;

  protected:
    ~SocketObserver() = default;
};

/// How long a thread that waits for a peer looks for itself before it sleeps (spin.h). Whoever
/// looked in vain looks for less time; where the process may use one processor only nobody does.
struct SpinRule {
    /// A time alone: whatever it costs.
    constexpr SpinRule(std::chrono::microseconds time = {}, bool if_it_pays = false) noexcept
        : most(time), learns(if_it_pays)
    {
    }

    std::chrono::microseconds most;
    /// Only where that has paid of late (spin_history.h), and not in threads of real time.
    bool learns;
    /// Whoever spins whatever it costs leaves a processor that it shares with the peer. So that not
    /// both do, clients'.
    bool moves = false;

    friend bool operator==(const SpinRule&, const SpinRule&) = default;
};

struct KAIROS_API SocketOptions {
    /// Bytes the kernel may queue for sending; 0 is the system's default, which grows by itself.
    /// The system silently lowers a value above its own limit (net.core.wmem_max, rmem_max).
    int send_queue_bytes = 0;
    /// Bytes the kernel may queue for reading; 0 is the system's default, which grows by itself.
    /// The peer is asked for segments of half of it at most, so that they always fit.
    int receive_queue_bytes = 0;
    /// Send small messages at once (TCP_NODELAY). Requests and replies want that.
    bool no_delay = true;
    /// Let the kernel find out that a silent peer has vanished (SO_KEEPALIVE).
    bool keep_alive = false;
    /// SO_PRIORITY, 0 to 6: which of the queues of this machine's network interface. 0: as it is.
    int priority = 0;
    /// The six bits that routers sort by, 0 to 63 (RFC 2474). 0: as it is.
    int dscp = 0;
    /// SO_BUSY_POLL, microseconds: how long a read looks at the network interface itself before it
    /// waits. 0: as the system says. More than that needs CAP_NET_ADMIN.
    int busy_poll_us = 0;
    /// In shared memory and at sockets of which one thread reads.
    SpinRule spin{};
    /// Octets of a connection by shared memory for large blocks, of both directions together.
    std::size_t loan_memory = std::size_t{32} << 20;
    SocketObserver* observer = nullptr;
    /// A listener on :: takes IPv6 only, so that an IPv4 listener can have the same port.
    bool ipv6_only = true;
};

namespace detail {
[[nodiscard, gnu::cold]] KAIROS_API IoResult io_stopped(int error) noexcept;
} // namespace detail

class Channel;

/// Owns one descriptor of a stream socket and closes it. Empty after a move. The bytes of one that
/// has a channel go through that, shared memory as a rule; its descriptor is then for waiting only,
/// and not before prepare_poll().
class KAIROS_API Socket {
  public:
    Socket() = default;
    /// Takes over the descriptor.
    explicit Socket(int descriptor) noexcept : descriptor_(descriptor) {}
    Socket(Socket&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)), room_spin_(other.room_spin_),
          channel_(std::exchange(other.channel_, nullptr))
    {
    }
    Socket& operator=(Socket&& other) noexcept
    {
        if (this != &other) {
            close();
            descriptor_ = std::exchange(other.descriptor_, -1);
            room_spin_ = other.room_spin_;
            channel_ = std::exchange(other.channel_, nullptr);
        }
        return *this;
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket() { close(); }

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
    /// Gives the descriptor to the caller, who must close it.
    [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }
    void close() noexcept;
    /// Closes the descriptor in a child of the process whose socket it is: the parent goes on using
    /// the connection, and the peer notices nothing. A channel is left alone.
    void leave_to_parent() noexcept;

    /// Reads up to buffer.size() bytes. An empty buffer is ok with 0 bytes; `closed` is the peer's
    /// end. wait_all may return ok with fewer bytes; the next read then tells why.
    [[gnu::always_inline]] IoResult read(MutableBytes buffer,
                                         ReadFlags flags = ReadFlags::none) noexcept
    {
        if (buffer.empty()) return {}; // the system would wait, and its 0 would look like the end
        if (channel_ != nullptr) [[unlikely]]
            return read_channel(buffer, flags);
        for (;;) {
            const ssize_t count =
                ::recv(descriptor_, buffer.data(), buffer.size(), static_cast<int>(flags));
            if (count > 0) [[likely]]
                return {.bytes = static_cast<std::size_t>(count)};
            if (count == 0) return {.status = IoResult::Status::closed};
            if (errno != EINTR) return detail::io_stopped(errno);
        }
    }

    /// Writes as much of the data as the queue takes: all of it on a blocking socket, signals
    /// apart.
    IoResult write(Bytes data, WriteFlags flags = WriteFlags::none) noexcept
    {
        if (channel_ != nullptr) [[unlikely]]
            return write_channel(data, flags);
        for (;;) {
            const ssize_t count = ::send(descriptor_, data.data(), data.size(),
                                         MSG_NOSIGNAL | static_cast<int>(flags));
            if (count >= 0) [[likely]]
                return {.bytes = static_cast<std::size_t>(count)};
            if (errno != EINTR) return detail::io_stopped(errno);
        }
    }

    /// How many segments one write() looks at.
    static constexpr std::size_t segments_max = 1024; // Linux's IOV_MAX
    /// Writes segments, gathered in one system call: as many bytes as the queue takes, all of them
    /// on a blocking socket, signals apart. Looks at the first `segments_max` segments only.
    IoResult write(std::span<const iovec> segments, WriteFlags flags = WriteFlags::none) noexcept
    {
        if (channel_ != nullptr) [[unlikely]]
            return write_channel(segments, flags);
        msghdr message{};
        message.msg_iov = const_cast<iovec*>(segments.data()); // sendmsg only reads them
        message.msg_iovlen = segments.size() < segments_max ? segments.size() : segments_max;
        for (;;) {
            const ssize_t count =
                ::sendmsg(descriptor_, &message, MSG_NOSIGNAL | static_cast<int>(flags));
            if (count >= 0) [[likely]]
                return {.bytes = static_cast<std::size_t>(count)};
            if (errno != EINTR) return detail::io_stopped(errno);
        }
    }

    /// Writes all segments, ordinarily in one system call. For blocking sockets; a non-blocking one
    /// stops with would_block when the queue is full. `size` is the sum of the segments' sizes.
    /// When not everything was written, the segments are advanced over what was: calling again with
    /// them and the rest of the size continues.
    IoResult write_all(std::span<iovec> segments, std::size_t size) noexcept
    {
        const IoResult first = write(std::span<const iovec>(segments));
        if (first.ok() && first.bytes == size) [[likely]]
            return first;
        return write_rest(segments, first);
    }
    /// Writes all of `data`. For blocking sockets; a non-blocking one stops with would_block when
    /// the queue is full. After an error continue at data.subspan(result.bytes).
    IoResult write_all(Bytes data) noexcept;
    /// Writes all segments, unless the deadline passes before the peer has made room for them:
    /// would_block. The result counts the bytes that were written. For blocking sockets.
    IoResult write_all(std::span<iovec> segments, Deadline deadline) noexcept;
    /// Reads up to buffer.size() bytes, as soon as there are any; would_block if none has come by
    /// the deadline. For blocking sockets.
    IoResult read(MutableBytes buffer, Deadline deadline) noexcept;

    /// Blocks until a read would not, or the time is over (would_block). nullopt: no limit.
    IoResult wait_readable(std::optional<std::chrono::nanoseconds> timeout) noexcept;
    /// Blocks until a write would not, or the time is over (would_block). nullopt: no limit.
    IoResult wait_writable(std::optional<std::chrono::nanoseconds> timeout) noexcept;

    /// Called before waiting for room in the queue: may stay awake until there is room, but no
    /// longer than spin_for_room() allows.
    [[gnu::cold]] void await_room() noexcept;

    /// From here on a read() that has blocked for `time` ends with would_block; zero: none does.
    void limit_reading(std::chrono::nanoseconds time) noexcept;

    /// From here on a write() of which the peer takes nothing for `time` ends with would_block;
    /// zero: none does. Also where the bytes go through shared memory.
    void limit_writing(std::chrono::nanoseconds time) noexcept;

    /// Ends a read() that blocks in another thread and returns `closed` then.
    void shutdown_read() noexcept;
    /// Tells the peer that nothing more comes; what is queued is still sent.
    void shutdown_write() noexcept;
    /// Ends reading and writing. Wakes every thread that blocks on this socket, also in accept().
    void shutdown_both() noexcept;

    /// For a connected unix-domain socket: makes memory and hands it to the peer, by the deadline.
    /// From here on bytes go through that memory. `loans` is how many octets of it are for large
    /// blocks, of both directions together; fewer if that is no multiple of what they are cut into.
    [[nodiscard]] Result<void> offer_memory(const SpinRule& spin, Deadline deadline,
                                            std::size_t loans = 0);
    /// From here on the socket is agreeing (is_agreeing) until the peer has offered memory
    /// (offer_memory): from then on bytes go through that. Any thread may shut it down. Where the
    /// peer offers more than `loans` octets for large blocks, there will be none for these.
    void expect_memory(const SpinRule& spin, std::size_t loans = 0);
    /// Does what Channel::offer_blocks says, where there is a channel.
    void offer_blocks(BlockTaker* taker) noexcept;
    /// Does what Channel::loan says; null where there is no channel.
    [[nodiscard]] std::shared_ptr<std::byte> loan(std::size_t size) const;
    /// From here on a read that has to wait looks by itself first: for sockets that block. Without
    /// effect on a socket with a channel, such as memory, which has a rule of its own.
    void spin(const SpinRule& rule);
    /// From here on await_room() takes up to `max` (room_spin.h). Without effect on memory.
    void spin_for_room(std::chrono::microseconds max) noexcept { room_spin_ = RoomSpin(max); }
    /// From here on a read that has to wait polls first, if the socket is a unix-domain one that
    /// blocks and has no channel (polled_channel.h): for sockets that one thread writes and reads.
    void poll_before_reading();
    /// Another socket of the same connection, which stays open when this one is closed. Where the
    /// bytes go through a channel both have that, and one of them at most is read and written.
    /// Fails where they do not go through the descriptor (bypasses_descriptor).
    [[nodiscard]] Result<Socket> duplicate() const;
    /// From here on bytes go through `channel`. To be called before anybody reads or writes.
    void set_channel(std::unique_ptr<Channel> channel) noexcept;
    /// Returns the channel; null if bytes go through the descriptor.
    [[nodiscard]] const Channel* channel() const noexcept { return channel_; }
    /// Takes the channel away: bytes go through the descriptor again. Returns the channel, or
    /// nothing if there was none.
    [[nodiscard]] std::unique_ptr<Channel> take_channel() noexcept;
    /// To be called before each wait for the descriptor by other means than those of this class,
    /// until a read or, if `wish` is `writable`, a write would not block. Returns what to wait for
    /// at the descriptor, which may be something else where a channel shakes hands first; or none
    /// if there is no need to, since bytes are at hand. That reading was shut down here is no
    /// reason. Whatever then happens at the descriptor, a read, or a write, is to be tried.
    [[nodiscard]] Interest prepare_poll(Interest wish) const noexcept
    {
        if (channel_ == nullptr) [[likely]]
            return wish;
        return prepare_channel(wish);
    }
    /// Returns whether the two ends have not agreed yet on how bytes travel (channel.h), so that no
    /// message can come; also when they never will. Reads and writes carry that on. Called by the
    /// thread that reads.
    [[nodiscard]] bool is_agreeing() const noexcept
    {
        return channel_ != nullptr && is_channel_agreeing();
    }
    /// Blocks until the two ends have agreed, or the deadline. The error says why they did not.
    [[nodiscard]] Result<void> agree(Deadline deadline);
    /// Returns why the two ends do not agree; empty if only that it has ended is known.
    [[nodiscard]] std::string_view refusal() const noexcept;
    /// Returns whether whoever reads the descriptor itself reads the bytes of this socket.
    [[nodiscard]] bool is_plain() const noexcept
    {
        return channel_ == nullptr || is_channel_plain();
    }
    /// Returns whether bytes take another way than the descriptor, as through shared memory.
    [[nodiscard]] bool bypasses_descriptor() const noexcept;
    /// Tells where sending is stuck because the peer does not take what was written: a number that
    /// changes as soon as the peer takes something. For a unix-domain socket it is how much is
    /// queued, a number that comes back when more is written: there only several looks tell.
    /// Nothing if the peer has taken all, or the system does not tell. Any thread.
    [[nodiscard]] std::optional<std::uint64_t> stuck_at() const noexcept;

    /// How many octets the system queues for reading; nothing where the queue grows as needed,
    /// since nobody has set its size. Before Linux 5.14, which does not tell, its present size.
    [[nodiscard]] std::optional<std::size_t> receive_queue_max() const noexcept;

    [[nodiscard]] Result<void> set_non_blocking(bool non_blocking);
    [[nodiscard]] Result<Address> local_address() const;
    [[nodiscard]] Result<Address> peer_address() const;

  private:
    /// Goes on after a write of segments that ended like this.
    [[gnu::cold]] IoResult write_rest(std::span<iovec> segments, IoResult last) noexcept;
    IoResult wait_for(short events, std::optional<std::chrono::nanoseconds> timeout) noexcept;
    [[gnu::noinline]] IoResult read_channel(MutableBytes buffer, ReadFlags flags) noexcept;
    [[gnu::noinline]] IoResult write_channel(Bytes data, WriteFlags flags) noexcept;
    [[gnu::noinline]] IoResult write_channel(std::span<const iovec> segments,
                                             WriteFlags flags) noexcept;
    [[nodiscard]] Interest prepare_channel(Interest wish) const noexcept;
    [[nodiscard]] bool is_channel_agreeing() const noexcept;
    [[nodiscard]] bool is_channel_plain() const noexcept;

    int descriptor_ = -1;
    RoomSpin room_spin_;
    Channel* channel_ = nullptr; // owned; almost always none
};

/// Blocks until one of these events of poll(2) happens at the descriptor, or the time is over
/// (would_block). nullopt: no limit.
KAIROS_API IoResult wait_at(int descriptor, short events,
                            std::optional<std::chrono::nanoseconds> timeout) noexcept;

/// Blocks until a read of one of the sockets would not, or the deadline.
KAIROS_API void wait_any_readable(std::span<const Socket* const> sockets, Deadline deadline = {});

/// Drops the first `bytes` bytes. Returns the segments that remain, the first of them shortened in
/// place.
/// Segments that are used up, or were empty, get the length 0.
[[nodiscard]] KAIROS_API std::span<iovec> drop_front(std::span<iovec> segments,
                                                     std::size_t bytes) noexcept;

/// A socket that listens: close-on-exec, with SO_REUSEADDR, queue sizes set before (accepted
/// connections inherit them). Port 0 lets the system choose; local_address() tells. The file of a
/// unix-domain path must not exist; its owner removes it.
[[nodiscard]] KAIROS_API Result<Socket>
listen(const Address& address, const SocketOptions& options = {}, int backlog = SOMAXCONN);

/// Two connected unix-domain sockets within this process.
[[nodiscard]] KAIROS_API Result<std::pair<Socket, Socket>> socket_pair();

/// Sets queue sizes, priorities, TCP_NODELAY and SO_KEEPALIVE where the family has them. For
/// connections and listeners that were made elsewhere; listen(), connect() and Acceptor do it
/// themselves, and tell the observer.
[[nodiscard]] KAIROS_API Result<void>
apply_options(const Socket& socket, const SocketOptions& options, Address::Family family);

} // namespace kairos::net
