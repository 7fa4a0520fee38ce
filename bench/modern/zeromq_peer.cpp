// SPDX-License-Identifier: Apache-2.0
//
// ZeroMQ in `kairos bench modern`: REQ and REP, its pattern for calls. It marshals nothing: octets
// and structs are sent from where they lie, in a message that does not copy them.
#include "bench/modern/table_peer.h"
#include "bench/peer.h"

#include <stdexcept>
#include <thread>
#include <zmq.hpp>

namespace kairos::bench::modern {
namespace {

enum class Operation : char { ping = 'p', octets = 'o', structs = 's', back = 'b' };

template <typename T>
std::span<const T> values_in(const zmq::message_t& message)
{
    return {static_cast<const T*>(message.data()), message.size() / sizeof(T)};
}

/// One thread serves all clients: what they ask is shorter than handing it over.
void serve_requests(zmq::socket_t& socket)
{
    for (;;) {
        zmq::message_t operation;
        zmq::message_t body;
        if (!socket.recv(operation)) continue;
        if (operation.more() && !socket.recv(body)) continue;
        std::uint64_t mark = 0;
        switch (operation.size() == 1 ? *operation.data<Operation>() : Operation::ping) {
        case Operation::ping:
            break;
        case Operation::octets:
            mark = mark_of(values_in<std::uint8_t>(body));
            break;
        case Operation::structs:
            mark = mark_of_structs(values_in<BinStruct>(body));
            break;
        case Operation::back:
            socket.send(body, zmq::send_flags::none);
            continue;
        }
        socket.send(zmq::buffer(&mark, sizeof mark), zmq::send_flags::none);
    }
}

void serve(const std::string&)
{
    zmq::context_t context(1);
    zmq::socket_t socket(context, zmq::socket_type::rep);
    socket.bind("tcp://127.0.0.1:*");
    const std::string reference = socket.get(zmq::sockopt::last_endpoint);
    std::thread serving([&] {
        try {
            serve_requests(socket);
        } catch (const zmq::error_t&) { // the context has been shut down
        }
        socket.close();
    });
    announce_ready(reference);
    wait_for_quit();
    context.shutdown();
    serving.join();
}

class ZeromqConnection final : public Connection {
  public:
    ZeromqConnection(zmq::context_t& context, const std::string& reference)
        : socket_(context, zmq::socket_type::req)
    {
        socket_.set(zmq::sockopt::linger, 0);
        socket_.connect(reference);
    }

    void ping() override
    {
        constexpr auto operation = Operation::ping;
        socket_.send(zmq::buffer(&operation, 1), zmq::send_flags::none);
        receive();
    }
    void prepare(const Octets& octets) override { octets_ = octets; }
    void prepare(const Structs& structs) override { structs_ = structs; }
    std::uint64_t send_octets() override { return call(Operation::octets, octets_); }
    std::uint64_t send_structs() override { return call(Operation::structs, structs_); }
    Octets octets_back() override
    {
        send(Operation::back, octets_);
        receive();
        const auto values = values_in<std::uint8_t>(reply_);
        return {values.begin(), values.end()};
    }
    Structs structs_back() override
    {
        send(Operation::back, structs_);
        receive();
        const auto values = values_in<BinStruct>(reply_);
        return {values.begin(), values.end()};
    }

  private:
    /// What is sent is not changed until its reply is there, and the answer is that it has arrived.
    template <typename T>
    void send(Operation operation, std::vector<T>& values)
    {
        socket_.send(zmq::buffer(&operation, 1), zmq::send_flags::sndmore);
        zmq::message_t body(values.data(), values.size() * sizeof(T), [](void*, void*) {});
        socket_.send(body, zmq::send_flags::none);
    }

    void receive()
    {
        if (!socket_.recv(reply_)) throw std::runtime_error("no reply");
    }

    template <typename T>
    std::uint64_t call(Operation operation, std::vector<T>& values)
    {
        send(operation, values);
        receive();
        if (reply_.size() != sizeof(std::uint64_t)) throw std::runtime_error("a strange reply");
        return *reply_.data<std::uint64_t>();
    }

    zmq::socket_t socket_;
    Octets octets_;
    Structs structs_;
    zmq::message_t reply_;
};

} // namespace
} // namespace kairos::bench::modern

int main(int argc, char** argv)
{
    using namespace kairos::bench::modern;
    zmq::context_t context(1); // for the client's threads, which have a socket each
    return run(argc, argv, serve, [&](const std::string& reference, const std::string&) {
        return std::make_unique<ZeromqConnection>(context, reference);
    });
}
