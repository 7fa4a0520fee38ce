// SPDX-License-Identifier: Apache-2.0
//
// Thrift in `kairos bench modern`: a thread for each connection, messages in frames, and the binary
// protocol as a template over them, which its authors recommend for speed.
#include "bench/modern/table_peer.h"
#include "bench/peer.h"

#include "Subject.h"

#include <limits>
#include <thread>
#include <thrift/TConfiguration.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/server/TThreadedServer.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TServerSocket.h>
#include <thrift/transport/TSocket.h>

namespace kairos::bench::modern {
namespace {

namespace protocol = apache::thrift::protocol;
namespace transport = apache::thrift::transport;

using Framed = transport::TFramedTransport;
using Protocol = protocol::TBinaryProtocolT<Framed>;

/// What Thrift 0.17 calls the largest message is, with frames, what a connection may receive in its
/// whole life: 100 MB unless one says otherwise.
std::shared_ptr<Framed> framed(const std::shared_ptr<transport::TTransport>& socket)
{
    return std::make_shared<Framed>(
        socket, std::make_shared<apache::thrift::TConfiguration>(std::numeric_limits<int>::max()));
}

class FramedFactory final : public transport::TTransportFactory {
  public:
    std::shared_ptr<transport::TTransport>
    getTransport(std::shared_ptr<transport::TTransport> socket) override
    {
        return framed(socket);
    }
};

class Handler final : public subject::SubjectIf {
  public:
    void ping() override {}
    std::int64_t take_octets(const std::string& data) override
    {
        return static_cast<std::int64_t>(
            mark_of({reinterpret_cast<const std::uint8_t*>(data.data()), data.size()}));
    }
    std::int64_t take_structs(const std::vector<subject::BinStruct>& data) override
    {
        return static_cast<std::int64_t>(mark_of_structs(data));
    }
    void octets_back(std::string& back, const std::string& data) override { back = data; }
    void structs_back(std::vector<subject::BinStruct>& back,
                      const std::vector<subject::BinStruct>& data) override
    {
        back = data;
    }
};

/// Tells when the server listens.
class Announcing final : public apache::thrift::server::TServerEventHandler {
  public:
    explicit Announcing(transport::TServerSocket& socket) : socket_(socket) {}
    void preServe() override { announce_ready(std::to_string(socket_.getPort())); }

  private:
    transport::TServerSocket& socket_;
};

void serve(const std::string&)
{
    const auto socket = std::make_shared<transport::TServerSocket>("127.0.0.1", 0);
    apache::thrift::server::TThreadedServer server(
        std::make_shared<subject::SubjectProcessorT<Protocol>>(std::make_shared<Handler>()), socket,
        std::make_shared<FramedFactory>(),
        std::make_shared<protocol::TBinaryProtocolFactoryT<Framed>>());
    server.setServerEventHandler(std::make_shared<Announcing>(*socket));
    std::thread serving([&] { server.serve(); });
    wait_for_quit();
    server.stop();
    serving.join();
}

class ThriftConnection final : public Connection {
  public:
    explicit ThriftConnection(const std::string& reference)
        : transport_(
              framed(std::make_shared<transport::TSocket>("127.0.0.1", std::stoi(reference)))),
          client_(std::make_shared<Protocol>(transport_))
    {
        transport_->open();
    }

    void ping() override { client_.ping(); }
    void prepare(const Octets& octets) override { octets_.assign(octets.begin(), octets.end()); }
    void prepare(const Structs& structs) override
    {
        structs_.resize(structs.size());
        for (std::size_t i = 0; i < structs.size(); ++i) {
            structs_[i].s = structs[i].s;
            structs_[i].c = static_cast<std::int8_t>(structs[i].c);
            structs_[i].l = structs[i].l;
            structs_[i].o = static_cast<std::int8_t>(structs[i].o);
            structs_[i].d = structs[i].d;
        }
    }
    std::uint64_t send_octets() override
    {
        return static_cast<std::uint64_t>(client_.take_octets(octets_));
    }
    std::uint64_t send_structs() override
    {
        return static_cast<std::uint64_t>(client_.take_structs(structs_));
    }
    Octets octets_back() override
    {
        std::string back;
        client_.octets_back(back, octets_);
        return {back.begin(), back.end()};
    }
    Structs structs_back() override
    {
        std::vector<subject::BinStruct> back;
        client_.structs_back(back, structs_);
        Structs structs;
        for (const subject::BinStruct& one : back)
            structs.push_back(
                {one.s, static_cast<char>(one.c), one.l, static_cast<std::uint8_t>(one.o), one.d});
        return structs;
    }

  private:
    std::shared_ptr<Framed> transport_;
    subject::SubjectClientT<Protocol> client_;
    std::string octets_;
    std::vector<subject::BinStruct> structs_;
};

} // namespace
} // namespace kairos::bench::modern

int main(int argc, char** argv)
{
    using namespace kairos::bench::modern;
    return run(argc, argv, serve, [](const std::string& reference, const std::string&) {
        return std::make_unique<ThriftConnection>(reference);
    });
}
