// SPDX-License-Identifier: Apache-2.0
#include "tap.h"

#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace calls {

namespace {

constexpr std::uint8_t flag_fin = 1;
constexpr std::uint8_t flag_syn = 2;
constexpr std::uint8_t flag_push = 8;
constexpr std::uint8_t flag_ack = 16;

template <typename T>
void put(std::string& text, T number)
{
    for (int shift = (static_cast<int>(sizeof(T)) - 1) * 8; shift >= 0; shift -= 8)
        text += static_cast<char>(number >> shift);
}

sockaddr_in loopback(std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int tcp_socket() { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

} // namespace

PacketFile::PacketFile(const std::string& path) : file_(path, std::ios::binary | std::ios::trunc)
{
    std::string header;
    put(header, std::uint32_t{0xa1b2c3d4});
    put(header, std::uint16_t{2});
    put(header, std::uint16_t{4});
    put(header, std::uint64_t{0});
    put(header, std::uint32_t{262144});
    put(header, std::uint32_t{101}); // raw IP
    file_ << header;
}

void PacketFile::packet(Side& from, const Side& to, std::uint8_t flags, std::string_view octets)
{
    std::string packet;
    put(packet, std::uint16_t{0x4500});
    put(packet, static_cast<std::uint16_t>(40 + octets.size()));
    put(packet, std::uint32_t{0x4000}); // id 0, may not be fragmented
    put(packet, std::uint32_t{0x40060000});
    put(packet, std::uint32_t{INADDR_LOOPBACK});
    put(packet, std::uint32_t{INADDR_LOOPBACK});
    put(packet, from.port);
    put(packet, to.port);
    put(packet, from.sent);
    put(packet, (flags & flag_ack) != 0 ? to.sent : 0);
    put(packet, static_cast<std::uint16_t>(0x5000 | flags));
    put(packet, std::uint16_t{0xffff});
    put(packet, std::uint32_t{0}); // checksum and urgent pointer
    packet += octets;
    from.sent +=
        static_cast<std::uint32_t>(octets.size()) + ((flags & (flag_syn | flag_fin)) != 0 ? 1 : 0);

    std::string record;
    put(record, time_us_ / 1'000'000);
    put(record, time_us_ % 1'000'000);
    ++time_us_;
    put(record, static_cast<std::uint32_t>(packet.size()));
    put(record, static_cast<std::uint32_t>(packet.size()));
    file_ << record << packet;
}

void PacketFile::open(Side& client, Side& server)
{
    packet(client, server, flag_syn, {});
    packet(server, client, flag_syn | flag_ack, {});
    packet(client, server, flag_ack, {});
}

void PacketFile::data(Side& from, Side& to, std::string_view octets)
{
    packet(from, to, flag_push | flag_ack, octets);
    packet(to, from, flag_ack, {});
}

void PacketFile::end(Side& from, Side& to)
{
    packet(from, to, flag_fin | flag_ack, {});
    packet(to, from, flag_ack, {});
}

Tap::Tap(std::uint16_t server_port, const std::string& path)
    : server_port_(server_port), listener_(tcp_socket())
{
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener_, 16) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        throw std::runtime_error(std::strerror(errno));
    port_ = ntohs(address.sin_port);
    file_ = std::make_unique<PacketFile>(path);
    acceptor_ = std::thread([this] { accept_connections(); });
}

void Tap::stop()
{
    if (!acceptor_.joinable()) return;
    shutdown(listener_, SHUT_RDWR); // wakes accept
    acceptor_.join();
    close(listener_);
    for (const auto& connection : connections_) {
        connection->to_server.join();
        connection->to_client.join();
        close(connection->client);
        close(connection->server);
    }
    file_.reset();
}

void Tap::accept_connections()
{
    for (;;) {
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        const int client =
            accept4(listener_, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC);
        if (client < 0) return;
        auto connection = std::make_unique<Connection>();
        connection->client = client;
        connection->server = tcp_socket();
        const sockaddr_in address = loopback(server_port_);
        if (connect(connection->server, reinterpret_cast<const sockaddr*>(&address),
                    sizeof address) != 0) {
            close(connection->server);
            close(client);
            continue;
        }
        connection->client_side.port = ntohs(peer.sin_port);
        connection->server_side.port = port_;
        Connection& one = *connection;
        {
            const std::lock_guard lock(mutex_);
            file_->open(one.client_side, one.server_side);
        }
        one.to_server = std::thread(
            [this, &one] { pass(one.client, one.server, one.client_side, one.server_side); });
        one.to_client = std::thread(
            [this, &one] { pass(one.server, one.client, one.server_side, one.client_side); });
        connections_.push_back(std::move(connection));
    }
}

void Tap::pass(int from, int to, PacketFile::Side& sender, PacketFile::Side& receiver)
{
    std::vector<char> buffer(32768);
    std::string stream;
    for (;;) {
        const ssize_t count = recv(from, buffer.data(), buffer.size(), 0);
        if (count <= 0) break;
        std::string_view octets(buffer.data(), static_cast<std::size_t>(count));
        {
            const std::lock_guard lock(mutex_);
            file_->data(sender, receiver, octets);
            stream += octets;
            count_messages(stream);
        }
        while (!octets.empty()) {
            const ssize_t sent = send(to, octets.data(), octets.size(), MSG_NOSIGNAL);
            if (sent <= 0) break;
            octets.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    shutdown(to, SHUT_WR);
    const std::lock_guard lock(mutex_);
    file_->end(sender, receiver);
}

void Tap::count_messages(std::string& stream)
{
    std::size_t at = 0;
    while (stream.size() - at >= 12) {
        std::uint32_t size = 0;
        std::memcpy(&size, stream.data() + at + 8, sizeof size);
        if ((stream[at + 6] & 1) == 0) size = __builtin_bswap32(size);
        if (stream.size() - at < 12 + std::size_t{size}) break;
        ++messages_[stream[at + 7]];
        at += 12 + std::size_t{size};
    }
    stream.erase(0, at);
}

} // namespace calls
