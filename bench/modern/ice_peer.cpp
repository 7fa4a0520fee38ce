// SPDX-License-Identifier: Apache-2.0
//
// Ice in `kairos bench modern`: its C++11 mapping, octets without a copy ("cpp:array"), a
// connection for each client thread, and a server's pool with as many threads as clients call.
#include "bench/modern/table_peer.h"
#include "bench/peer.h"

#include "Subject.h"

#include <Ice/Ice.h>
#include <atomic>

namespace kairos::bench::modern {
namespace {

Ice::CommunicatorHolder make_communicator()
{
    Ice::InitializationData data;
    data.properties = Ice::createProperties();
    for (const auto& [name, value] :
         {std::pair{"Ice.MessageSizeMax", "0"},         // in KB; 0 is as large as there is memory
          std::pair{"Ice.ThreadPool.Server.Size", "1"}, // few clients are not handed about …
          std::pair{"Ice.ThreadPool.Server.SizeMax", "16"}, // … and many do not wait
          std::pair{"Ice.ACM.Close", "0"}, std::pair{"Ice.Default.CollocationOptimized", "0"},
          std::pair{"Ice.Default.Host", "127.0.0.1"}})
        data.properties->setProperty(name, value);
    return Ice::CommunicatorHolder(Ice::initialize(data));
}

class SubjectServant final : public Subjects::Subject {
  public:
    using Array = std::pair<const Ice::Byte*, const Ice::Byte*>;

    void ping(const Ice::Current&) override {}
    long long takeOctets(Array data, const Ice::Current&) override
    {
        return static_cast<long long>(mark_of({data.first, data.second}));
    }
    long long takeStructs(Subjects::Structs data, const Ice::Current&) override
    {
        return static_cast<long long>(mark_of_structs(data));
    }
    Subjects::Octets octetsBack(Array data, const Ice::Current&) override
    {
        return {data.first, data.second};
    }
    Subjects::Structs structsBack(Subjects::Structs data, const Ice::Current&) override
    {
        return data;
    }
};

void serve(const std::string&)
{
    const Ice::CommunicatorHolder communicator = make_communicator();
    const auto adapter =
        communicator->createObjectAdapterWithEndpoints("subject", "tcp -h 127.0.0.1");
    const auto proxy = adapter->addWithUUID(std::make_shared<SubjectServant>());
    adapter->activate();
    std::string reference = communicator->proxyToString(proxy);
    std::ranges::replace(reference, ' ', '#'); // a reference is one word
    announce_ready(reference);
    wait_for_quit();
}

class IceConnection final : public Connection {
  public:
    IceConnection(const Ice::CommunicatorPtr& communicator, std::string reference)
    {
        static std::atomic<unsigned> connections{0};
        std::ranges::replace(reference, '#', ' ');
        const auto proxy = communicator->stringToProxy(reference);
        // Proxies of another connection id do not share a connection.
        subject_ = Ice::uncheckedCast<Subjects::SubjectPrx>(
            proxy->ice_connectionId(std::to_string(++connections)));
    }
    ~IceConnection() override
    {
        if (const auto connection = subject_->ice_getCachedConnection())
            connection->close(Ice::ConnectionClose::Forcefully);
    }

    void ping() override { subject_->ping(); }
    void prepare(const Octets& octets) override { octets_ = octets; }
    void prepare(const Structs& structs) override
    {
        structs_.clear();
        for (const BinStruct& one : structs)
            structs_.push_back({one.s, static_cast<Ice::Byte>(one.c), one.l, one.o, one.d});
    }
    std::uint64_t send_octets() override
    {
        return static_cast<std::uint64_t>(subject_->takeOctets(array()));
    }
    std::uint64_t send_structs() override
    {
        return static_cast<std::uint64_t>(subject_->takeStructs(structs_));
    }
    Octets octets_back() override { return subject_->octetsBack(array()); }
    Structs structs_back() override
    {
        Structs structs;
        for (const Subjects::BinStruct& one : subject_->structsBack(structs_))
            structs.push_back({one.s, static_cast<char>(one.c), one.l, one.o, one.d});
        return structs;
    }

  private:
    [[nodiscard]] SubjectServant::Array array() const
    {
        return {octets_.data(), octets_.data() + octets_.size()};
    }

    std::shared_ptr<Subjects::SubjectPrx> subject_;
    Octets octets_;
    Subjects::Structs structs_;
};

} // namespace
} // namespace kairos::bench::modern

int main(int argc, char** argv)
{
    using namespace kairos::bench::modern;
    const Ice::CommunicatorHolder communicator = make_communicator(); // the client's
    return run(argc, argv, serve, [&](const std::string& reference, const std::string&) {
        return std::make_unique<IceConnection>(communicator.communicator(), reference);
    });
}
