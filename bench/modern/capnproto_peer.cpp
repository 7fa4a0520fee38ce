// SPDX-License-Identifier: Apache-2.0
//
// Cap'n Proto in `kairos bench modern`: its RPC over one connection for each thread, each thread
// with an event loop of its own, as its runtime wants it. A message is built for each call, which
// is what its users do: there is no other form that they hold data in.
#include "bench/modern/table_peer.h"
#include "bench/peer.h"

#include "subject.capnp.h"

#include <capnp/ez-rpc.h>
#include <cstdlib>
#include <future>
#include <thread>

namespace kairos::bench::modern {
namespace {

Structs structs_in(capnp::List<subject::BinStruct>::Reader list)
{
    Structs structs;
    structs.reserve(list.size());
    for (const auto one : list)
        structs.push_back(
            {one.getS(), static_cast<char>(one.getC()), one.getL(), one.getO(), one.getD()});
    return structs;
}

void put(capnp::List<subject::BinStruct>::Builder list, const Structs& structs)
{
    for (unsigned i = 0; i < structs.size(); ++i) {
        auto one = list[i];
        one.setS(structs[i].s);
        one.setC(static_cast<std::int8_t>(structs[i].c));
        one.setL(structs[i].l);
        one.setO(structs[i].o);
        one.setD(structs[i].d);
    }
}

// Servers have destructors that are not virtual: kj::Own knows the type of what it owns.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class SubjectServer final : public subject::Subject::Server {
  public:
    kj::Promise<void> ping(PingContext) override { return kj::READY_NOW; }
    kj::Promise<void> takeOctets(TakeOctetsContext context) override
    {
        const auto data = context.getParams().getData();
        context.getResults().setMark(mark_of({data.begin(), data.size()}));
        return kj::READY_NOW;
    }
    kj::Promise<void> takeStructs(TakeStructsContext context) override
    {
        StructsMark mark;
        for (const auto one : context.getParams().getData())
            mark.add(one.getL());
        context.getResults().setMark(mark.value());
        return kj::READY_NOW;
    }
    kj::Promise<void> octetsBack(OctetsBackContext context) override
    {
        context.getResults().setData(context.getParams().getData());
        return kj::READY_NOW;
    }
    kj::Promise<void> structsBack(StructsBackContext context) override
    {
        context.getResults().setData(context.getParams().getData());
        return kj::READY_NOW;
    }
};
#pragma GCC diagnostic pop

void serve(const std::string&)
{
    std::promise<unsigned> listening;
    std::thread([&listening] {
        capnp::EzRpcServer server(kj::heap<SubjectServer>(), "127.0.0.1", 0);
        listening.set_value(server.getPort().wait(server.getWaitScope()));
        kj::NEVER_DONE.wait(server.getWaitScope());
    }).detach();
    announce_ready("127.0.0.1:" + std::to_string(listening.get_future().get()));
    wait_for_quit();
    std::_Exit(0); // its loop waits for connections, and for nothing else
}

class CapnpConnection final : public Connection {
  public:
    explicit CapnpConnection(const std::string& reference)
        : client_(reference.c_str()), subject_(client_.getMain<subject::Subject>())
    {
    }

    ~CapnpConnection() noexcept override = default; // its members' may throw, they say

    void ping() override { subject_.pingRequest().send().wait(client_.getWaitScope()); }
    void prepare(const Octets& octets) override { octets_ = octets; }
    void prepare(const Structs& structs) override { structs_ = structs; }
    std::uint64_t send_octets() override
    {
        // With the size of the message known, it is one segment.
        auto request = subject_.takeOctetsRequest(capnp::MessageSize{octets_.size() / 8 + 16, 0});
        request.setData(kj::arrayPtr(octets_.data(), octets_.size()));
        return request.send().wait(client_.getWaitScope()).getMark();
    }
    std::uint64_t send_structs() override
    {
        auto request = subject_.takeStructsRequest(capnp::MessageSize{structs_.size() * 3 + 16, 0});
        put(request.initData(static_cast<unsigned>(structs_.size())), structs_);
        return request.send().wait(client_.getWaitScope()).getMark();
    }
    Octets octets_back() override
    {
        auto request = subject_.octetsBackRequest();
        request.setData(kj::arrayPtr(octets_.data(), octets_.size()));
        const auto reply = request.send().wait(client_.getWaitScope());
        const auto data = reply.getData();
        return {data.begin(), data.end()};
    }
    Structs structs_back() override
    {
        auto request = subject_.structsBackRequest();
        put(request.initData(static_cast<unsigned>(structs_.size())), structs_);
        return structs_in(request.send().wait(client_.getWaitScope()).getData());
    }

  private:
    capnp::EzRpcClient client_;
    subject::Subject::Client subject_;
    Octets octets_;
    Structs structs_;
};

} // namespace
} // namespace kairos::bench::modern

int main(int argc, char** argv)
{
    using namespace kairos::bench::modern;
    return run(argc, argv, serve, [](const std::string& reference, const std::string&) {
        return std::make_unique<CapnpConnection>(reference);
    });
}
