// SPDX-License-Identifier: Apache-2.0
//
// Every architecture with omniORB at the other end, called by several threads at once: replies that
// overtake each other on one connection find their callers, and every server of ours serves what
// omniORB sends while earlier requests are still being served.
#include "fixture.h"
#include "kairos/orb/orb.h"
#include "kairos/server/request_dispatcher.h"
#include "parallel.h"
#include "peer.h"

#include <kairos/client/client.h>
#include <kairos/corba/CORBA.h>

#include <list>

using namespace calls;
using namespace interop;

#ifndef OMNIORB_SERVER // CMake found no omniORB

TEST(OmniOrb, IsNotInstalled) { GTEST_SKIP() << "omniORB's Debian packages are not installed"; }

#else

namespace {

// It would look at a connection whose request it serves only every 50 ms.
const Arguments omniorb_options{"-ORBtraceLevel",
                                "0",
                                "-ORBgiopMaxMsgSize",
                                "20000000",
                                "-ORBendPoint",
                                "giop:tcp:127.0.0.1:",
                                "-ORBconnectionWatchImmediate",
                                "1"};
const Arguments kairos_endpoint{"-ORBListenEndpoints", "iiop://127.0.0.1"};

Peer omniorb_server(const Arguments& options = {})
{
    return Peer(Arguments{OMNIORB_SERVER} + omniorb_options + options);
}

std::string text_of(const testing::TestParamInfo<const char*>& info)
{
    std::string name = info.param;
    std::ranges::replace(name, '-', '_');
    return name;
}

/// A client of ours, by -ORBConnection.
class ConnectionToOmniOrb : public testing::TestWithParam<const char*> {
  protected:
    [[nodiscard]] static Arguments options(const Arguments& more = {})
    {
        return Arguments{"-ORBConnection", GetParam()} + kairos_endpoint + more;
    }
    static void call_in_parallel_and_count(const std::string& server, const Arguments& more)
    {
        const TestOrb orb(options(more));
        const Types::Echo_var echo = orb.echo(server);
        const PortableServer::POA_var own = orb.active_poa();
        EXPECT_EQ(call_in_parallel(echo.in(), own.in()), std::vector<std::string>{});
        const bool shares = std::string("non-multiplexed") != GetParam();
        EXPECT_EQ(kairos::orb::Client::of(orb->_kairos_core()).shared_connections().count(),
                  shares ? 1u : 0u)
            << "for all threads";
    }
};

} // namespace

TEST_P(ConnectionToOmniOrb, CarriesCallsOfSeveralThreads)
{
    const Peer server = omniorb_server();
    for (const char* version : {"1.0", "1.2"})
        call_in_parallel_and_count(server.reference[0], {"-ORBGIOPVersion", version});
}

// Its other architecture: threads do not belong to connections.
TEST_P(ConnectionToOmniOrb, CarriesCallsToItsThreadPool)
{
    const Peer server = omniorb_server({"-ORBthreadPerConnectionPolicy", "0"});
    call_in_parallel_and_count(server.reference[0], {});
}

TEST_P(ConnectionToOmniOrb, EveryCheck)
{
    constexpr int checks_total = 147; // as in omniorb_test.cpp
    const Peer server = omniorb_server();
    expect_checks(
        Arguments{CALLS_CLIENT, server.reference[0], "-without", "F128", "-ORBDebug", "0"} +
            options({"-ORBFragmentSize", "256"}),
        checks_total);
}

INSTANTIATE_TEST_SUITE_P(Connections, ConnectionToOmniOrb,
                         testing::Values("non-multiplexed", "leader-followers", "active"), text_of);

namespace {

/// With a few connections that have a request each at a time, as omniORB does by itself, and with
/// one for all requests.
void run_omniorb_clients(const std::string& reference)
{
    for (const Arguments& connections :
         {Arguments{},
          Arguments{"-ORBoneCallPerConnection", "0", "-ORBmaxGIOPConnectionPerServer", "1"}})
        expect_checks(Arguments{OMNIORB_PARALLEL_CLIENT, reference} + omniorb_options + connections,
                      1);
}

/// A server of ours, by -ORBConcurrency.
class ServerOfOmniOrb : public testing::TestWithParam<const char*> {};

} // namespace

TEST_P(ServerOfOmniOrb, ServesCallsOfSeveralThreads)
{
    const Peer server(Arguments{CALLS_SERVER, "-ORBDebug", "0", "-ORBConcurrency", GetParam()} +
                      kairos_endpoint);
    run_omniorb_clients(server.reference[0]);
}

INSTANTIATE_TEST_SUITE_P(Architectures, ServerOfOmniOrb,
                         testing::Values("thread-per-connection", "reactor", "reactor-per-priority",
                                         "leader-followers", "worker-pool", "thread-per-request",
                                         "thread-per-object", "filter-chain"),
                         text_of);

namespace {

/// The program's own way of serving: a thread for each request, joined in the end.
class ToThreads final : public kairos::orb::RequestDispatcher {
  public:
    ~ToThreads() override
    {
        for (std::thread& thread : threads_)
            thread.join();
    }
    void dispatch(kairos::orb::WaitingRequest request) noexcept override
    {
        threads_.emplace_back([waiting = std::move(request)]() mutable { waiting.serve(); });
    }

  private:
    std::list<std::thread> threads_; // of the thread that reads, until the ORB is gone
};

} // namespace

// What one ORB does with itself is what the others are held to.
TEST(Yardstick, OmniOrbCallsOmniOrb)
{
    const Peer server = omniorb_server();
    run_omniorb_clients(server.reference[0]);
}

TEST(Yardstick, KairosCallsKairos)
{
    const Peer server(Arguments{CALLS_SERVER, "-ORBDebug", "0"} + kairos_endpoint);
    for (const char* connection : {"non-multiplexed", "leader-followers", "active"})
        expect_checks(
            Arguments{CALLS_PARALLEL_CLIENT, server.reference[0], "-ORBConnection", connection} +
                kairos_endpoint,
            1);
}

TEST(CustomServerOfOmniOrb, ServesCallsOfSeveralThreads)
{
    TestOrb orb(Arguments{"-ORBConcurrency", "custom"} + kairos_endpoint);
    orb->_kairos_set_request_dispatcher(std::make_unique<ToThreads>());
    const Types::Echo_var echo = orb.make_echo();
    const CORBA::String_var reference = orb->object_to_string(echo.in());
    run_omniorb_clients(reference.in());
}

#endif
