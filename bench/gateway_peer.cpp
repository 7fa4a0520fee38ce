// SPDX-License-Identifier: Apache-2.0
//
// What lies between the client and the server of `kairos bench gateway`: a gateway that knows the
// interfaces of bench.idl, or a bare proxy, two threads that pass on what they read.
#include "bench/c_stream.h"
#include "bench/peer.h"

#include <kairos/corba/CORBA.h>
#include <kairos/gateway/gateway.h>

#include "bench.h"

#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace kairos::bench {
namespace {

// --- The proxy -----------------------------------------------------------------------------------

void pass_on(CStream& from, CStream& to)
{
    std::vector<char> buffer(std::size_t{64} << 10);
    try {
        while (const std::size_t size = from.receive_some(buffer.data(), buffer.size()))
            to.send_all(buffer.data(), size);
    } catch (const std::system_error&) { // one of them has gone
    }
    shutdown(to.descriptor(), SHUT_WR);
}

/// For one client.
int serve_proxy(const std::string& target)
{
    std::string reference;
    const int listener = listen_tcp(reference);
    announce_ready(reference);
    CStream client = accept_one(listener);
    CStream server = connect_tcp(target);
    std::thread back([&] { pass_on(server, client); });
    pass_on(client, server);
    back.join();
    wait_for_quit();
    return 0;
}

// --- The gateway ---------------------------------------------------------------------------------

class BenchInterfaces final : public gateway::Interfaces {
  public:
    BenchInterfaces() : all_(std::make_shared<gateway::Interface>())
    {
        add("ping", nullptr);
        add("ping_oneway", nullptr);
        add("octets", Bench::_tc_OctetSeq);
        add("chars", Bench::_tc_CharSeq);
        add("shorts", Bench::_tc_ShortSeq);
        add("longs", Bench::_tc_LongSeq);
        add("doubles", Bench::_tc_DoubleSeq);
        add("structs", Bench::_tc_StructSeq);
        add("text", CORBA::_tc_string);
        add("strings", Bench::_tc_StringSeq);
    }
    std::shared_ptr<const gateway::Interface> interface_of(CORBA::Object_ptr) override
    {
        return all_;
    }
    CORBA::TypeCode_ptr type(std::string_view) override { return CORBA::TypeCode::_nil(); }

  private:
    void add(const char* name, CORBA::TypeCode_ptr units)
    {
        gateway::Operation operation(CORBA::_tc_void);
        if (units != nullptr) operation.add(gateway::Operation::Direction::in, units);
        all_->operations.emplace(name, std::move(operation));
    }

    const std::shared_ptr<gateway::Interface> all_;
};

int serve_gateway(int argc, char** argv)
{
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    BenchInterfaces interfaces;
    {
        gateway::Gateway gateway(orb.in(), interfaces);
        const CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(root.in());
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        std::string references;
        for (int i = 2; i < argc; ++i) {
            const CORBA::Object_var target = orb->string_to_object(argv[i]);
            const CORBA::Object_var published = gateway.publish(target.in());
            const CORBA::String_var text = orb->object_to_string(published.in());
            references += (references.empty() ? "" : " ") + std::string(text.in());
        }
        announce_ready(references);
        wait_for_quit();
    }
    orb->destroy();
    return 0;
}

int run(int argc, char** argv)
{
    const std::string kind = argc > 2 ? argv[1] : "";
    if (kind == "proxy") return serve_proxy(argv[2]);
    if (kind == "gateway") return serve_gateway(argc, argv);
    std::cerr << "usage: kairos-bench-gateway gateway REFERENCE… [-ORB…]\n"
                 "       kairos-bench-gateway proxy tcp:PORT\n";
    return 2;
}

} // namespace
} // namespace kairos::bench

int main(int argc, char** argv)
{
    try {
        return kairos::bench::run(argc, argv);
    } catch (const CORBA::Exception& failure) {
        std::cerr << "kairos-bench-gateway: " << failure.what() << '\n';
    } catch (const std::exception& failure) {
        std::cerr << "kairos-bench-gateway: " << failure.what() << '\n';
    }
    return 1;
}
