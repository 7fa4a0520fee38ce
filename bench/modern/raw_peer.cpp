// SPDX-License-Identifier: Apache-2.0
//
// The yardstick of `kairos bench modern`: blocking C sockets, a thread for each connection. A call
// is a header of as many octets as a null call of GIOP has, and what is sent with it.
#include "bench/c_stream.h"
#include "bench/modern/table_peer.h"
#include "bench/peer.h"

#include <cstring>
#include <iostream>
#include <stdexcept>
#include <thread>

namespace kairos::bench::modern {
namespace {

enum Operation : std::uint32_t { ping, octets, structs, back };

struct RequestHead {
    std::uint32_t operation = ping;
    std::uint32_t size = 0;
    char rest[64] = {};
};

struct ReplyHead {
    std::uint64_t mark = 0;
    std::uint32_t size = 0;
    char rest[12] = {};
};

std::span<const BinStruct> structs_in(const std::vector<char>& body, std::size_t size)
{
    return {reinterpret_cast<const BinStruct*>(body.data()), size / sizeof(BinStruct)};
}

void serve_connection(CStream stream)
{
    std::vector<char> body;
    RequestHead head;
    while (stream.receive_all(reinterpret_cast<char*>(&head), sizeof head)) {
        if (head.size > message_bytes_max) return;
        if (body.size() < head.size) body.resize(head.size);
        if (!stream.receive_all(body.data(), head.size)) return;
        ReplyHead reply;
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(body.data());
        if (head.operation == octets) reply.mark = mark_of({bytes, head.size});
        if (head.operation == structs) reply.mark = mark_of_structs(structs_in(body, head.size));
        if (head.operation == back) reply.size = head.size;
        stream.send_all(reinterpret_cast<const char*>(&reply), sizeof reply);
        stream.send_all(body.data(), reply.size);
    }
}

void serve(const std::string&)
{
    std::string reference;
    const int listener = listen_tcp(reference);
    std::thread([listener] {
        try {
            for (;;)
                std::thread([stream = accept_one(listener)]() mutable {
                    try {
                        serve_connection(std::move(stream));
                    } catch (const std::system_error&) { // the client has gone
                    }
                }).detach();
        } catch (const std::system_error& failure) {
            std::cerr << "accept: " << failure.what() << '\n';
        }
    }).detach();
    announce_ready(reference);
    wait_for_quit();
}

class RawConnection final : public Connection {
  public:
    explicit RawConnection(const std::string& reference) : stream_(connect_tcp(reference)) {}

    void ping() override { call(Operation::ping, ping_); }

    void prepare(const Octets& octets) override { fill(octets.data(), octets.size()); }
    void prepare(const Structs& structs) override
    {
        fill(structs.data(), structs.size() * sizeof(BinStruct));
    }
    std::uint64_t send_octets() override { return call(octets, message_).mark; }
    std::uint64_t send_structs() override { return call(structs, message_).mark; }
    Octets octets_back() override { return received<std::uint8_t>(); }
    Structs structs_back() override { return received<BinStruct>(); }

  private:
    void fill(const void* data, std::size_t size)
    {
        message_.resize(sizeof(RequestHead) + size);
        std::memcpy(message_.data() + sizeof(RequestHead), data, size);
    }

    ReplyHead call(Operation operation, std::vector<char>& message)
    {
        const RequestHead head{
            .operation = operation,
            .size = static_cast<std::uint32_t>(message.size() - sizeof(RequestHead))};
        std::memcpy(message.data(), &head, sizeof head);
        stream_.send_all(message.data(), message.size());
        ReplyHead reply;
        if (!stream_.receive_all(reinterpret_cast<char*>(&reply), sizeof reply))
            throw std::runtime_error("the server closed the connection");
        return reply;
    }

    template <typename T>
    std::vector<T> received()
    {
        const ReplyHead reply = call(back, message_);
        if (reply.size > message_.size()) throw std::runtime_error("more came back than was sent");
        std::vector<T> values(reply.size / sizeof(T));
        if (!stream_.receive_all(reinterpret_cast<char*>(values.data()), reply.size))
            throw std::runtime_error("the server closed the connection");
        return values;
    }

    CStream stream_;
    std::vector<char> ping_ = std::vector<char>(sizeof(RequestHead));
    std::vector<char> message_ = ping_;
};

} // namespace
} // namespace kairos::bench::modern

int main(int argc, char** argv)
{
    using namespace kairos::bench::modern;
    return run(argc, argv, serve, [](const std::string& reference, const std::string&) {
        return std::make_unique<RawConnection>(reference);
    });
}
