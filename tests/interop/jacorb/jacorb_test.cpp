// SPDX-License-Identifier: Apache-2.0
//
// Kairos and JacORB, each as client and as server of the other: the whole suite of tests/calls and
// every type of ../all_types, in both byte orders (Java's is big-endian) and every GIOP version.
// JacORB sends no fragments and takes those of GIOP 1.2 only.
#include "jacorb.h"

#include "captured.h"
#include "tap.h"

using namespace interop;

namespace {

// Without those of long double, which Java does not have. JacORB says COMPLETED_NO of a servant
// that threw what no IDL has: one check less where it serves.
constexpr int checks_of_jacorb = 149;
constexpr int checks_of_kairos = 146;

// Of the checks of every type. GIOP 1.0 has no wide characters; in GIOP 1.1 JacORB takes those of a
// little-endian peer for big-endian ones. In an Any JacORB forgets the bounds of strings, and its
// TypeCodes of unions by unsigned long long are wrong. As a server it misreads a wchar or wstring
// that follows another.
const Arguments narrow{
    "Wide",         "Prose", "OnBoolean", "OnUnsignedLongLong", "Person", "exception_in_any",
    "any_ShortName"};
constexpr int narrow_checks_of_jacorb = 274;
constexpr int narrow_checks_of_kairos = 263;
const Arguments wide{"any_ShortName", "any_ShortProse", "any_OnUnsignedLongLong",
                     "raised_OnUnsignedLongLong"};
constexpr int wide_checks_of_jacorb = 318;
const Arguments not_of_kairos{"echo_Wide ", "echo_Prose ", "echo_ShortProse "};
constexpr int wide_checks_of_kairos = 303;

// Of values, JacORB cannot do these. Its boxes of numbers are numbers, which cannot be null. In an
// Any it looks for boxes by the package that a repository id would be in, and writes others than
// IDL's; reads no value without type information, which must not be there if the type is the one of
// the TypeCode; knows no TypeCodes of abstract interfaces; and leaves bases out of TypeCodes.
const Arguments no_values{"echo_NumberBox", "raise_NumberBox", "any_NumberBox", "raised_NumberBox",
                          "any_NameBox",    "raised_NameBox",  "any_ProseBox",  "raised_ProseBox",
                          "any_PointBox",   "raised_PointBox", "any_NamesBox",  "raised_NamesBox",
                          "any_Holding",    "raised_Holding",  "any_OnValue",   "raised_OnValue",
                          "any_Node_",      "raised_Derived",  "raised_Route",  "any_Titled",
                          "raised_Titled"};
// Its skeletons write boxes that are out without a tag, boxed strings that are equal become one,
// and its compiler makes code of boxes of references that Java refuses.
const Arguments no_values_of_kairos{"raised_Node",    "raised_Base",    "raised_Counter",
                                    "raised_Card",    "echo_NameBox",   "raise_NameBox_s",
                                    "echo_PointBox ", "echo_NamesBox ", "echo_ProseBox ",
                                    "ReferenceBox",   "truncation"};

const Arguments kairos_options{"-ORBDebug", "0", "-ORBListenEndpoints", "iiop://127.0.0.1"};

struct Way {
    std::string version;
    bool fragments;
    bool reactor;

    [[nodiscard]] Arguments options() const
    {
        Arguments options{"-ORBGIOPVersion", version};
        if (fragments) options = options + Arguments{"-ORBFragmentSize", "256"};
        if (reactor) options = options + Arguments{"-ORBConcurrency", "reactor"};
        return options;
    }
};

std::string way_name(const testing::TestParamInfo<Way>& info)
{
    std::string name = std::string("giop_1_") + info.param.version.back();
    if (info.param.fragments) name += "_fragments";
    if (info.param.reactor) name += "_reactor";
    return name;
}

class KairosCallsJacorb : public WithJacorb, public testing::WithParamInterface<Way> {};
class JacorbCallsKairos : public WithJacorb, public testing::WithParamInterface<Way> {};
class JacorbCallsPoas : public WithJacorb, public testing::WithParamInterface<Way> {};

} // namespace

TEST_P(KairosCallsJacorb, EveryCheck)
{
    expect_checks(Arguments{CALLS_CLIENT, jacorb().echo, "-without", "F128", "-without",
                            "exception_foreign"} +
                      kairos_options + GetParam().options(),
                  checks_of_kairos);
}

TEST_P(JacorbCallsKairos, EveryCheck)
{
    const Peer server(Arguments{CALLS_SERVER} + kairos_options + GetParam().options());
    jacorb().expect_checks("echo", GetParam().version, server.reference[0], checks_of_jacorb);
}

// A servant locator, an activator, a default servant; a name in the IORTable; and a locator that
// forwards to JacORB, which says COMPLETED_NO there, too.
TEST_P(JacorbCallsPoas, ServantsAreFoundInEveryWay)
{
    const Peer server(Arguments{POA_SERVER, jacorb().echo} + kairos_options + GetParam().options(),
                      5);
    const std::string& version = GetParam().version;
    for (std::size_t way = 0; way < 4; ++way)
        jacorb().expect_checks("echo", version, server.reference[way], checks_of_jacorb);
    jacorb().expect_checks("echo", version, server.reference[4], checks_of_jacorb - 1,
                           {"exception_foreign"});
}

TEST_P(JacorbCallsPoas, KeysThatPeopleWrite)
{
    const Peer server(
        Arguments{POA_SERVER, "-ORBPlainKeys", "1"} + kairos_options + GetParam().options(), 4);
    std::string url = server.reference[3]; // of the IORTable
    url.replace(url.rfind('/'), std::string::npos, "/Located/echo");
    jacorb().expect_checks("echo", GetParam().version, url, checks_of_jacorb);
}

TEST_P(KairosCallsJacorb, EveryType)
{
    const bool is_wide = GetParam().version == "1.2";
    Arguments client{ALL_PEER, "check", jacorb().everything};
    for (const std::string& name :
         (is_wide ? wide + not_of_kairos : narrow) + no_values + no_values_of_kairos)
        client = client + Arguments{"-without", name};
    expect_checks(client + kairos_options + GetParam().options(),
                  is_wide ? wide_checks_of_kairos : narrow_checks_of_kairos);
}

TEST_P(JacorbCallsKairos, EveryType)
{
    const bool is_wide = GetParam().version == "1.2";
    const Peer server(Arguments{ALL_PEER, "serve"} + kairos_options + GetParam().options());
    jacorb().expect_checks("all", GetParam().version, server.reference[0],
                           is_wide ? wide_checks_of_jacorb : narrow_checks_of_jacorb,
                           (is_wide ? wide : narrow) + no_values);
}

namespace {
constexpr int checks_both_ways = 4;
constexpr int message_request = 0;
} // namespace

TEST_F(WithJacorb, ServesAClientThatListensNowhere)
{
    expect_checks({BOTH_PEER, "-ORBListenEndpoints", "none", "client", jacorb().hub},
                  checks_both_ways);
}

TEST_F(WithJacorb, IsCalledBackOverItsConnection)
{
    const Peer server({BOTH_PEER, "-ORBListenEndpoints", "iiop://127.0.0.1"});
    const TemporaryFile file("kairos_both");
    calls::Tap tap(port_of(server.reference[0]), file.path);
    jacorb().expect_checks("both", "1.2", at_port(server.reference[0], tap.port()),
                           checks_both_ways);
    tap.stop();
    // Those back are on the same connection, until their nested calls have made another one, for
    // which the Hub says its own address.
    EXPECT_GT(tap.messages().at(message_request), checks_both_ways);
}

INSTANTIATE_TEST_SUITE_P(Ways, KairosCallsJacorb,
                         testing::Values(Way{"1.0", false, false}, Way{"1.1", false, false},
                                         Way{"1.2", false, false}, Way{"1.2", true, false}),
                         way_name);
INSTANTIATE_TEST_SUITE_P(Ways, JacorbCallsKairos,
                         testing::Values(Way{"1.0", false, false}, Way{"1.1", false, false},
                                         Way{"1.2", false, false}, Way{"1.2", true, false},
                                         Way{"1.0", false, true}, Way{"1.2", true, true}),
                         way_name);
INSTANTIATE_TEST_SUITE_P(Ways, JacorbCallsPoas,
                         testing::Values(Way{"1.0", false, false}, Way{"1.2", true, true}),
                         way_name);
