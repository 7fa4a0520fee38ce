// SPDX-License-Identifier: Apache-2.0
#include "kairos/datagrams/channel.h"

#include "kairos/base/log.h"
#include "kairos/datagrams/oneway.h"
#include "kairos/orb/failure.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <sys/socket.h>

namespace kairos::datagrams {

namespace {

/// How long a datagram waits for room in the system's queue. Longer than that an interface does not
/// take what it sends, and then it is lost, as anywhere on its way.
constexpr std::chrono::milliseconds room_wait{100};

net::IoResult failed(int error)
{
    return {.error = error, .status = net::IoResult::Status::failed};
}

Error system_failed(std::string what, int error)
{
    return Error{ErrorCode::unreachable, std::move(what) + ": " + std::strerror(error), error};
}

// What add() was told last, of some places. Any thread, and children of the process.
constinit std::array<std::atomic<std::size_t>, 64> refused{};

std::size_t number_of(const ior::Address& where) noexcept
{
    const std::size_t number = std::hash<std::string_view>()(where.host) * 31 + where.port;
    return number != 0 ? number : 1;
}

/// The octets of the first message that is offered, without those of what follows it.
class First {
  public:
    First(std::span<const iovec> segments, std::size_t size) noexcept
    {
        while (size != 0) {
            const iovec& each = segments[count_];
            const std::size_t part = std::min(each.iov_len, size);
            vectors_[count_++] = {each.iov_base, part};
            size -= part;
            if (count_ == vectors_.size()) break;
        }
        is_whole_ = size == 0;
    }
    [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }
    [[nodiscard]] std::span<const iovec> segments() const noexcept
    {
        return std::span(vectors_).first(count_);
    }

  private:
    std::array<iovec, net::Socket::segments_max> vectors_; // the first count_
    std::size_t count_ = 0;
    bool is_whole_ = false;
};

/// A message of this process to itself.
class Answer {
  public:
    explicit Answer(giop::MessageType type) noexcept
    {
        for (const char each : std::string_view("GIOP\1\2"))
            octets_[size_++] = static_cast<std::byte>(each);
        octets_[size_++] = std::byte{native_little_endian};
        octets_[size_++] = static_cast<std::byte>(type);
        number(0); // its size
    }
    void number(std::uint32_t value) noexcept
    {
        size_ = align_up(size_, sizeof value);
        std::memcpy(octets_.data() + size_, &value, sizeof value);
        size_ += sizeof value;
    }
    void text(std::string_view value) noexcept
    {
        number(static_cast<std::uint32_t>(value.size() + 1));
        std::memcpy(octets_.data() + size_, value.data(), value.size());
        size_ += value.size() + 1;
    }
    [[nodiscard]] Bytes finish() noexcept
    {
        const auto size = static_cast<std::uint32_t>(size_ - giop::header_size);
        std::memcpy(octets_.data() + 8, &size, sizeof size);
        return Bytes(octets_).first(size_);
    }

  private:
    std::array<std::byte, 128> octets_{};
    std::size_t size_ = 0;
};

std::string_view reason(Sendable sendable) noexcept
{
    switch (sendable) {
    case Sendable::expects_answer:
        return "it expects an answer";
    case Sendable::other_version:
        return "it is not of GIOP 1.2";
    case Sendable::is_cut:
        return "it is longer than -ORBFragmentSize";
    case Sendable::yes:
    case Sendable::passed_over:
        break;
    }
    return "it is too large";
}

} // namespace

void Channel::tell(std::size_t size, std::string_view why) noexcept
{
    log::write_limited(log::Level::warning, 0,
                       log::Line() << "a message of " << size
                                   << " octets was not sent in a datagram: " << why);
}

void Refusals::add(const ior::Address& where) noexcept
{
    const std::size_t number = number_of(where);
    refused[number % refused.size()].store(number);
}

bool Refusals::take(const ior::Address& where) noexcept
{
    std::size_t number = number_of(where);
    return refused[number % refused.size()].compare_exchange_strong(number, 0);
}

Result<net::Socket> connect_to(const net::Address& address, const net::SocketOptions& options,
                               const std::function<bool(const net::Socket&)>& prepare)
{
    net::Socket socket(::socket(address.native_family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return system_failed("no socket for datagrams", errno);
    if (options.send_queue_bytes > 0)
        (void)::setsockopt(socket.descriptor(), SOL_SOCKET, SO_SNDBUF, &options.send_queue_bytes,
                           sizeof options.send_queue_bytes);
    socket.limit_writing(room_wait);
    if (options.observer != nullptr)
        options.observer->on_socket(socket, net::SocketObserver::Kind::connecting);
    if (prepare && !prepare(socket)) return system_failed("no way to " + address.to_text(), errno);
    if (::connect(socket.descriptor(), address.native(), address.native_size()) != 0)
        return system_failed("no way to " + address.to_text(), errno);
    return socket;
}

Result<net::Socket> Channel::connect(const ior::Address& where, std::vector<net::Address> addresses,
                                     const net::SocketOptions& options)
{
    std::ranges::reverse(addresses);
    Result<net::Socket> datagrams = Error{ErrorCode::unreachable, "no address"};
    while (!datagrams && !addresses.empty()) {
        datagrams = connect_to(addresses.back(), options);
        addresses.pop_back();
    }
    if (!datagrams) return datagrams.error();
    return with_channel([&](int descriptor, net::Socket answers) {
        return std::make_unique<Channel>(descriptor, std::move(answers),
                                         std::move(datagrams).value(), where, std::move(addresses),
                                         options);
    });
}

std::size_t Channel::message_octets_max() const noexcept { return datagram_octets_max; }

/// What cannot be sent and has no answer fails, as on a connection that has just been closed.
net::IoResult Channel::put(std::span<const iovec> segments) noexcept
{
    std::array<std::byte, 24> octets;
    std::size_t copied = 0;
    std::size_t offered = 0;
    for (const iovec& each : segments) {
        const std::size_t part = std::min(octets.size() - copied, each.iov_len);
        if (part != 0) std::memcpy(octets.data() + copied, each.iov_base, part);
        copied += part;
        offered += each.iov_len;
    }
    const Bytes beginning = Bytes(octets).first(copied);
    const std::size_t size = message_size(beginning);
    if (offered < size && offered != offered_in_part_ && size <= message_octets_max()) {
        // Whoever has more of it puts that behind this, and then offers both.
        offered_in_part_ = offered;
        return {.status = net::IoResult::Status::would_block};
    }
    offered_in_part_ = 0;
    const Sendable sendable = look_at(beginning.first(std::min(copied, size)));
    if (sendable == Sendable::passed_over && offered >= size) return {.bytes = size};
    if (sendable == Sendable::expects_answer && offered >= size) return answer(beginning, size);
    if (sendable == Sendable::yes && size <= message_octets_max() && offered >= size) {
        const First first(segments, size);
        if (first.is_whole()) return send_message(first.segments(), size);
    }
    tell(size, reason(sendable));
    return failed(EMSGSIZE);
}

net::IoResult Channel::send_message(std::span<const iovec> segments, std::size_t size) noexcept
{
    net::IoResult sent = datagrams_.write(segments);
    // What the system heard of an earlier one, as that nobody listens there, is told now.
    while (!sent.ok() && sent.error != EMSGSIZE && sent.error != ENOBUFS &&
           sent.status != net::IoResult::Status::would_block) {
        if (!go_to_next()) {
            Refusals::add(where_);
            return failed(sent.error);
        }
        sent = datagrams_.write(segments);
    }
    if (sent.ok()) return sent;
    tell(size, sent.error == EMSGSIZE ? "it is too large" : "the system's queue is full");
    return sent.error == EMSGSIZE ? failed(EMSGSIZE) : net::IoResult{.bytes = size};
}

bool Channel::go_to_next() noexcept
{
    try {
        while (!further_.empty()) {
            auto next = connect_to(further_.back(), options_);
            further_.pop_back();
            if (!next) continue;
            datagrams_ = std::move(next).value();
            return true;
        }
    } catch (const std::bad_alloc&) { // then there is none
    }
    return false;
}

/// By the number of the request, which is where a LocateRequest has its own.
net::IoResult Channel::answer(Bytes beginning, std::size_t size) noexcept
{
    tell(size, reason(Sendable::expects_answer));
    const bool is_request = type_of(beginning) == giop::MessageType::request;
    Answer answer(is_request ? giop::MessageType::reply : giop::MessageType::locate_reply);
    answer.number(number_in(beginning, giop::header_size));
    constexpr std::uint32_t system_exception = 2;
    constexpr std::uint32_t locate_system_exception = 4;
    answer.number(is_request ? system_exception : locate_system_exception);
    if (is_request) answer.number(0); // no contexts
    answer.text("IDL:omg.org/CORBA/NO_IMPLEMENT:1.0");
    answer.number(orb::minor_code::no_answer_by_datagram);
    constexpr std::uint32_t completed_no = 1;
    answer.number(completed_no);
    const Bytes octets = answer.finish();
    const net::IoResult told = answers_.write(octets, net::WriteFlags::do_not_wait);
    // So many that nobody has read: whoever waits for them hears that the connection has ended.
    if (!told.ok() || told.bytes != octets.size()) return failed(ENOBUFS);
    return {.bytes = size};
}

} // namespace kairos::datagrams
