// SPDX-License-Identifier: Apache-2.0
//
// Kairos and Debian's omniORB, each as client and as server of the other: the whole suite of
// tests/calls over every GIOP version, with and without fragments, against every architecture of
// our servers; forwards, location requests and the ends of connections.
#include "fixture.h"
#include "peer.h"

#include <kairos/corba/Messaging.h>
#include <kairos/ir/ir.h>

#include "tests/calls/held_ports.h"

#include <algorithm>
#include <memory>

using namespace calls;
using namespace interop;

#ifndef OMNIORB_SERVER // CMake found no omniORB

TEST(OmniOrb, IsNotInstalled) { GTEST_SKIP() << "omniORB's Debian packages are not installed"; }

#else

namespace {

constexpr int checks_total = 147; // without those of long double, which omniORB does not have

// Silent about what the checks provoke; large messages are part of the suite.
const Arguments omniorb_options{"-ORBtraceLevel", "0", "-ORBgiopMaxMsgSize", "20000000"};
const Arguments kairos_options{"-ORBDebug", "0", "-ORBListenEndpoints", "iiop://127.0.0.1"};

Peer omniorb_server(const Arguments& options = {}, const std::string& port = "")
{
    return Peer(Arguments{OMNIORB_SERVER, "-ORBendPoint", "giop:tcp:127.0.0.1:" + port} +
                omniorb_options + options);
}

Peer kairos_server(const Arguments& options = {})
{
    return Peer(Arguments{CALLS_SERVER} + kairos_options + options);
}

void run_omniorb_client(const std::string& reference, const Arguments& options = {},
                        int expected = checks_total)
{
    expect_checks(Arguments{OMNIORB_CLIENT, reference, "-ORBendPoint", "giop:tcp:127.0.0.1:"} +
                      omniorb_options + options,
                  expected);
}

void run_kairos_client(const std::string& reference, const Arguments& options = {},
                       int expected = checks_total)
{
    expect_checks(Arguments{CALLS_CLIENT, reference, "-without", "F128"} + kairos_options + options,
                  expected);
}

struct Way {
    std::string version;
    bool fragments;
    std::string concurrency = "thread-per-connection";
    bool each = false; ///< connections of reactor-per-priority have a thread each
};

std::string way_name(const testing::TestParamInfo<Way>& info)
{
    std::string name = std::string("giop_1_") + info.param.version.back();
    if (info.param.fragments) name += "_fragments";
    name += "_" + info.param.concurrency;
    if (info.param.each) name += "_each";
    std::ranges::replace(name, '-', '_');
    return name;
}

Arguments kairos_side(const Way& way)
{
    Arguments options{"-ORBGIOPVersion", way.version};
    if (way.fragments) options = options + Arguments{"-ORBFragmentSize", "256"};
    return options;
}

/// omniORB cuts what is larger than 8 KiB, where GIOP has fragments.
Arguments omniorb_side(const Way& way) { return {"-ORBmaxGIOPVersion", way.version}; }

class KairosCallsOmniOrb : public testing::TestWithParam<Way> {};
class OmniOrbCallsKairos : public testing::TestWithParam<Way> {};

} // namespace

TEST_P(KairosCallsOmniOrb, EveryCheck)
{
    const Peer server = omniorb_server(omniorb_side(GetParam()));
    run_kairos_client(server.reference[0], kairos_side(GetParam()));
}

TEST_P(OmniOrbCallsKairos, EveryCheck)
{
    Arguments options = kairos_side(GetParam());
    options = options + Arguments{"-ORBConcurrency", GetParam().concurrency};
    if (GetParam().each) options = options + Arguments{"-ORBLanes", "0:each"};
    const Peer server = kairos_server(options);
    run_omniorb_client(server.reference[0], omniorb_side(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Ways, KairosCallsOmniOrb,
                         testing::Values(Way{"1.0", false}, Way{"1.1", false}, Way{"1.1", true},
                                         Way{"1.2", false}, Way{"1.2", true}),
                         way_name);
INSTANTIATE_TEST_SUITE_P(
    Ways, OmniOrbCallsKairos,
    testing::Values(Way{"1.0", false}, Way{"1.1", false}, Way{"1.1", true}, Way{"1.2", false},
                    Way{"1.2", true}, Way{"1.0", false, "reactor"}, Way{"1.1", true, "reactor"},
                    Way{"1.2", false, "reactor"}, Way{"1.2", true, "reactor"},
                    Way{"1.2", true, "reactor-per-priority"},
                    Way{"1.2", true, "reactor-per-priority", true},
                    Way{"1.2", true, "leader-followers"}, Way{"1.1", true, "worker-pool"},
                    Way{"1.2", true, "worker-pool"}, Way{"1.2", true, "thread-per-request"},
                    Way{"1.2", true, "thread-per-object"}, Way{"1.2", true, "filter-chain"}),
    way_name);

// The programs are the same: what one ORB does with itself is what the others are held to.
TEST(Yardstick, OmniOrbCallsOmniOrb)
{
    const Peer server = omniorb_server();
    run_omniorb_client(server.reference[0]);
}

TEST(Yardstick, KairosCallsKairos)
{
    const Peer server = kairos_server();
    run_kairos_client(server.reference[0]);
}

// omniORB asks with LocateRequest (GIOP 1.2) or _is_a whether the object is there, unless told not
// to.
TEST(Asking, OmniOrbWithAndWithoutAskingFirst)
{
    const Peer server = kairos_server();
    for (const char* ask : {"0", "1"})
        run_omniorb_client(server.reference[0], {"-ORBverifyObjectExistsAndType", ask});
}

TEST(Asking, KairosWithLocateRequest)
{
    const Peer server = omniorb_server();
    for (const char* version : {"1.0", "1.1", "1.2"}) {
        const TestOrb orb({"-ORBGIOPVersion", version});
        const Types::Echo_var echo = orb.echo(server.reference[0]);
        EXPECT_TRUE(echo->_validate_connection());
        const Types::Echo_var object = echo->make_object();
        EXPECT_TRUE(object->_validate_connection());
        echo->remove_object(object.in());
        EXPECT_FALSE(object->_validate_connection());
    }
}

TEST(Asking, OmniOrbForAnInterfaceThatNoRepositoryHas)
{
    const Peer server = omniorb_server();
    for (const char* version : {"1.0", "1.1", "1.2"}) {
        const TestOrb orb({"-ORBGIOPVersion", version});
        const Types::Echo_var echo = orb.echo(server.reference[0]);
        EXPECT_THROW(echo->_get_interface(), CORBA::INTF_REPOS);
    }
}

// Confirmed or not, each oneway arrives once, and in order.
TEST(Oneways, OfEveryScopeFromKairosToOmniOrb)
{
    const Peer server = omniorb_server();
    for (const char* version : {"1.0", "1.1", "1.2"}) {
        TestOrb orb({"-ORBGIOPVersion", version, "-ORBClientTimeout", "30000"});
        const Types::Echo_var echo = orb.echo(server.reference[0]);
        for (CORBA::Short scope = Messaging::SYNC_NONE; scope <= Messaging::SYNC_WITH_TARGET;
             ++scope) {
            CORBA::Any value;
            value <<= scope;
            CORBA::PolicyList policies;
            policies.length(1);
            policies[0] = orb->create_policy(Messaging::SYNC_SCOPE_POLICY_TYPE, value);
            const CORBA::Object_var object =
                echo->_set_policy_overrides(policies, CORBA::SET_OVERRIDE);
            const Types::Echo_var scoped = Types::Echo::_narrow(object);
            const CORBA::ULong before = scoped->notes();
            scoped->note(3, "text");
            // The server may let the next request overtake one that has not returned.
            while (scope < Messaging::SYNC_WITH_TARGET && scoped->notes() == before)
                std::this_thread::yield();
            EXPECT_EQ(scoped->notes(), before + 3) << "scope " << scope << ", GIOP " << version;
        }
    }
}

// --- forwards
// ---------------------------------------------------------------------------------------

namespace {
Peer omniorb_forwarder(const std::string& target)
{
    return Peer(Arguments{OMNIORB_FORWARDER, target, "-ORBendPoint", "giop:tcp:127.0.0.1:"} +
                    omniorb_options,
                3);
}
} // namespace

// ForwardRequest of a servant locator: every request is forwarded until the client remembers.
TEST(Forwards, EveryCheckThroughAForward)
{
    for (const bool to_kairos : {false, true}) {
        const Peer server = to_kairos ? kairos_server() : omniorb_server();
        const Peer forwarder = omniorb_forwarder(server.reference[0]);
        for (const char* version : {"1.0", "1.2"})
            run_kairos_client(forwarder.reference[0], {"-ORBGIOPVersion", version});
    }
}

TEST(Forwards, OfLocateRequestsTemporaryAndPermanent)
{
    const Peer server = omniorb_server();
    const Peer forwarder = omniorb_forwarder(server.reference[0]);
    for (const std::string& reference : forwarder.reference) {
        for (const char* version : {"1.0", "1.1", "1.2"}) {
            const TestOrb orb({"-ORBGIOPVersion", version});
            const Types::Echo_var echo = orb.echo(reference);
            EXPECT_TRUE(echo->_validate_connection());
            EXPECT_EQ(echo->sum(1, 2), 3u);
            EXPECT_EQ(echo->sum(3, 4), 7u);
            EXPECT_FALSE(echo->_non_existent());
        }
    }
}

// Where the forward leads is gone: the client goes back to where it was told first.
TEST(Forwards, TargetGone)
{
    Peer target = omniorb_server();
    const Peer forwarder(
        Arguments{OMNIORB_FORWARDER, target.reference[0], "-ORBendPoint", "giop:tcp:127.0.0.1:"} +
            omniorb_options,
        3);
    const TestOrb orb;
    const Types::Echo_var echo = orb.echo(forwarder.reference[0]);
    EXPECT_EQ(echo->sum(1, 2), 3u);
    EXPECT_EQ(target.stop(), 0);
    EXPECT_THROW(echo->nothing(), CORBA::TRANSIENT); // not for ever from one to the other
}

namespace {
/// To omniORB a reference that was forwarded is no more equivalent to the same one that comes back.
const Arguments not_of_forwarded{
    "-without", "echo_Person",         "-without", "echo_Echo",
    "-without", "echo_AnyObject",      "-without", "attribute_variable",
    "-without", "attribute_reference", "-without", "exception_with_members",
    "-without", "references_as_text",  "-without", "many_values"};
constexpr int checks_of_forwarded = 123;
} // namespace

// What our POAs find servants by: a locator, an activator, a default servant; a name in the
// IORTable; and a locator that forwards to omniORB.
TEST(Poas, OmniOrbFindsServantsInEveryWay)
{
    const Peer target = omniorb_server();
    for (const char* concurrency : {"thread-per-connection", "reactor"}) {
        const Peer server(
            Arguments{POA_SERVER, target.reference[0], "-ORBConcurrency", concurrency} +
                kairos_options,
            5);
        for (std::size_t way = 0; way < server.reference.size(); ++way)
            for (const char* version : {"1.0", "1.2"})
                run_omniorb_client(server.reference[way],
                                   Arguments{"-ORBmaxGIOPVersion", version} +
                                       (way < 3 ? Arguments{} : not_of_forwarded),
                                   way < 3 ? checks_total : checks_of_forwarded);
    }
}

TEST(Poas, OmniOrbCallsByKeysThatPeopleWrite)
{
    const Peer server(Arguments{POA_SERVER, "-ORBPlainKeys", "1"} + kairos_options, 4);
    std::string url = server.reference[3]; // of the IORTable
    url.replace(url.rfind('/'), std::string::npos, "/Located/echo");
    for (const char* version : {"1.0", "1.2"})
        run_omniorb_client(url, Arguments{"-ORBmaxGIOPVersion", version});
}

// --- the ends of connections and servers
// ------------------------------------------------------------

TEST(Ends, ServersEndWhileTheClientsWatch)
{
    for (const char* end : {"die", "shut_down"}) {
        const int status = end[0] == 'd' ? 3 : 0;
        Peer omniorb = omniorb_server();
        run_kairos_client(omniorb.reference[0], {"-end", end}, checks_total + 1);
        EXPECT_EQ(omniorb.stop(), status);
        Peer kairos = kairos_server();
        run_omniorb_client(kairos.reference[0], {"-end", end}, checks_total + 1);
        EXPECT_EQ(kairos.stop(), status);
        Peer reactor = kairos_server({"-ORBConcurrency", "reactor"});
        run_omniorb_client(reactor.reference[0], {"-end", end}, checks_total + 1);
        EXPECT_EQ(reactor.stop(), status);
    }
}

// omniORB says CloseConnection and goes; the next server has the same port. Calls of the same ORB
// go on without an error, because what was closed in order is not a failure.
TEST(Ends, ReconnectsToARestartedOmniOrb)
{
    const TestOrb orb;
    const calls::HeldPorts held(1);
    const std::string port = std::to_string(held.port());
    std::unique_ptr<Peer> first(new Peer(omniorb_server({}, port)));
    const Types::Echo_var before = orb.echo(first->reference[0]);
    EXPECT_EQ(before->sum(1, 1), 2u);
    first.reset();
    const Peer second = omniorb_server({}, port);
    // The object is another; the connection is not what fails.
    EXPECT_THROW(before->nothing(), CORBA::OBJECT_NOT_EXIST);
    const Types::Echo_var after = orb.echo(second.reference[0]);
    EXPECT_EQ(after->sum(1, 1), 2u);
}

#endif
