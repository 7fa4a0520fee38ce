// SPDX-License-Identifier: Apache-2.0
//
// Bytes by hand: a writer that knows CDR's alignment but none of the rules, so that tests can break
// each of them, in either byte order; and a socket that sends them and looks at what comes back. A
// test's thread owns both. Every wait has a limit, far beyond what any machine needs: a test that
// would hang fails.
#pragma once

#include "kairos/giop/message.h"
#include "kairos/net/connector.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace kairos::orb_testing {

using Octets = std::vector<std::byte>;

inline constexpr std::chrono::seconds patience{30};

/// One GIOP message, or anything else. `finish` corrects the size in the header.
class WireMessage {
  public:
    explicit WireMessage(giop::MessageType type, giop::Version version = giop::version_1_2,
                         bool little_endian = native_little_endian)
        : little_endian_(little_endian)
    {
        raw("GIOP");
        u8(version.major).u8(version.minor).u8(little_endian ? 1 : 0);
        u8(static_cast<std::uint8_t>(type)).u32(0);
    }

    WireMessage& raw(std::string_view text)
    {
        for (const char character : text)
            octets_.push_back(static_cast<std::byte>(character));
        return *this;
    }
    WireMessage& raw(Bytes bytes)
    {
        octets_.insert(octets_.end(), bytes.begin(), bytes.end());
        return *this;
    }
    WireMessage& align(std::size_t alignment)
    {
        octets_.resize(align_up(octets_.size(), alignment));
        return *this;
    }
    WireMessage& u8(std::uint8_t value)
    {
        octets_.push_back(std::byte{value});
        return *this;
    }
    WireMessage& u16(std::uint16_t value) { return number(value); }
    WireMessage& u32(std::uint32_t value) { return number(value); }
    WireMessage& string(std::string_view text)
    {
        return u32(static_cast<std::uint32_t>(text.size() + 1)).raw(text).u8(0);
    }
    WireMessage& octets(Bytes bytes)
    {
        return u32(static_cast<std::uint32_t>(bytes.size())).raw(bytes);
    }
    /// Bits of the flags octet in the header: 2 says that fragments follow.
    WireMessage& flag(std::uint8_t bits)
    {
        octets_[6] |= std::byte{bits};
        return *this;
    }
    [[nodiscard]] std::size_t size() const { return octets_.size(); }

    /// The message with the size that it has…
    [[nodiscard]] Octets finish() const
    {
        return finish(static_cast<std::uint32_t>(octets_.size() - giop::header_size));
    }
    /// …or with one that it claims.
    [[nodiscard]] Octets finish(std::uint32_t claimed_size) const
    {
        Octets message = octets_;
        if (little_endian_ != native_little_endian) claimed_size = byteswap(claimed_size);
        std::memcpy(message.data() + 8, &claimed_size, 4);
        return message;
    }

  private:
    template <typename T>
    WireMessage& number(T value)
    {
        align(sizeof value);
        if (little_endian_ != native_little_endian) value = byteswap(value);
        const auto* first = reinterpret_cast<const std::byte*>(&value);
        octets_.insert(octets_.end(), first, first + sizeof value);
        return *this;
    }

    Octets octets_;
    const bool little_endian_;
};

/// The header of a request up to where the arguments begin, by the rules of `version`.
[[nodiscard]] inline WireMessage request(Bytes key, std::string_view operation,
                                         std::uint32_t request_id = 1,
                                         giop::Version version = giop::version_1_2,
                                         bool response_expected = true,
                                         bool little_endian = native_little_endian)
{
    WireMessage message(giop::MessageType::request, version, little_endian);
    if (version >= giop::version_1_2) {
        message.u32(request_id).u8(response_expected ? 3 : 0).raw(std::string_view("\0\0\0", 3));
        message.u16(0).octets(key).string(operation).u32(0);
        message.align(8);
    } else {
        message.u32(0).u32(request_id).u8(response_expected ? 1 : 0).octets(key);
        message.string(operation).u32(0);
    }
    return message;
}

/// The header of a reply up to where the results begin.
[[nodiscard]] inline WireMessage reply(std::uint32_t request_id, std::uint32_t status,
                                       giop::Version version = giop::version_1_2,
                                       bool little_endian = native_little_endian)
{
    WireMessage message(giop::MessageType::reply, version, little_endian);
    if (version >= giop::version_1_2) return message.u32(request_id).u32(status).u32(0).align(8);
    return message.u32(0).u32(request_id).u32(status);
}

/// One end of a connection that speaks in bytes.
class RawPeer {
  public:
    explicit RawPeer(net::Socket socket) : socket_(std::move(socket)) {}

    [[nodiscard]] static RawPeer connect(std::uint16_t port, const net::SocketOptions& options = {})
    {
        auto socket = net::connect(net::Address::loopback_ipv4(port), options);
        if (!socket) throw std::runtime_error(socket.error().reason);
        return RawPeer(std::move(socket).value());
    }

    [[nodiscard]] net::Socket& socket() { return socket_; }
    /// As the other end's log names it.
    [[nodiscard]] std::string address() const
    {
        const auto address = socket_.local_address();
        return address ? address->to_text() : "nobody";
    }

    void send(Bytes bytes) { (void)socket_.write_all(bytes); }
    void half_close() { socket_.shutdown_write(); }
    void close() { socket_.close(); }

    /// Exactly so many bytes; fewer if the connection ends before.
    [[nodiscard]] Octets read(std::size_t count)
    {
        Octets bytes(count);
        std::size_t done = 0;
        while (done < count) {
            const auto ready = socket_.wait_readable(patience);
            EXPECT_TRUE(ready.ok()) << "nothing came";
            if (!ready.ok()) break;
            const auto got = socket_.read(MutableBytes(bytes).subspan(done));
            if (!got.ok()) break;
            done += got.bytes;
        }
        bytes.resize(done);
        return bytes;
    }
    /// A whole message as its header says; empty at the end of the connection.
    [[nodiscard]] Octets read_message()
    {
        Octets message = read(giop::header_size);
        giop::MessageHeader header;
        if (message.size() < giop::header_size) return {};
        EXPECT_EQ(giop::parse_header(message.data(), header), giop::Fault::none);
        const Octets body = read(header.size);
        message.insert(message.end(), body.begin(), body.end());
        return message;
    }
    /// Whether the other end closes and sends nothing before.
    [[nodiscard]] bool at_end() { return read(1).empty(); }

  private:
    net::Socket socket_;
};

/// A message without a body, as text for comparison: "MessageError 1.2".
[[nodiscard]] inline std::string control_text(const Octets& message)
{
    giop::MessageHeader header;
    if (message.size() != giop::header_size ||
        giop::parse_header(message.data(), header) != giop::Fault::none || header.size != 0)
        return "no control message of " + std::to_string(message.size()) + " bytes";
    return std::string(giop::describe(header.type)) + " " + std::to_string(header.version.major) +
           "." + std::to_string(header.version.minor);
}

} // namespace kairos::orb_testing
