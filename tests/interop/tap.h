// SPDX-License-Identifier: Apache-2.0
//
// Stands between a client and a server, passes every byte on and writes both directions to a file
// that packet dissectors read (the classic pcap format, raw IPv4): capturing real packets needs
// privileges that a test does not have. Two threads a connection; they share the file under a lock.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace calls {

/// A pcap file of TCP connections, written as their bytes come.
class PacketFile {
  public:
    explicit PacketFile(const std::string& path);

    /// One side of a connection; `peer` is the other one's.
    struct Side {
        std::uint16_t port;
        std::uint32_t sent = 1; // sequence number of the next octet
    };
    void open(Side& client, Side& server);
    void data(Side& from, Side& to, std::string_view octets);
    void end(Side& from, Side& to);

  private:
    void packet(Side& from, const Side& to, std::uint8_t flags, std::string_view octets);

    std::ofstream file_;
    std::uint32_t time_us_ = 0; // a packet a microsecond
};

class Tap {
  public:
    Tap(std::uint16_t server_port, const std::string& path);
    Tap(const Tap&) = delete;
    Tap& operator=(const Tap&) = delete;
    ~Tap() { stop(); }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// Waits for the connections to end and closes the file.
    void stop();
    /// How many GIOP messages of each type passed; call after `stop`.
    [[nodiscard]] const std::map<int, int>& messages() const noexcept { return messages_; }

  private:
    struct Connection {
        int client = -1;
        int server = -1;
        PacketFile::Side client_side{0};
        PacketFile::Side server_side{0};
        std::thread to_server;
        std::thread to_client;
    };
    void accept_connections();
    void pass(int from, int to, PacketFile::Side& sender, PacketFile::Side& receiver);
    void count_messages(std::string& stream);

    const std::uint16_t server_port_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::mutex mutex_; // guards what follows, and the sides of all connections
    std::unique_ptr<PacketFile> file_;
    std::map<int, int> messages_;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::thread acceptor_;
};

} // namespace calls
