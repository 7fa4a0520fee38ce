// SPDX-License-Identifier: Apache-2.0
//
// Every type of IDL in every direction, in an Any and in an exception: between two processes of
// Kairos, and with omniORB as client and as server, over every GIOP version.
#include "peer.h"

using namespace interop;

namespace {

constexpr int checks_total = 273;
constexpr int narrow_checks = 228;
[[maybe_unused]] constexpr int checks_of_omniorb = 212;

// What has wide characters: GIOP 1.0 has none.
const Arguments narrow{"-without", "Wide",      "-without", "Prose",
                       "-without", "OnBoolean", "-without", "OnUnsignedLongLong",
                       "-without", "Person",    "-without", "exception_in_any"};
// omniORB 4.2 aborts where it copies a fixed member or element.
[[maybe_unused]] const Arguments not_with_omniorb{"-without", "Price", "-without", "Money_"};

struct Way {
    std::string version;
    bool fragments;
    bool reactor;
};

std::string way_name(const testing::TestParamInfo<Way>& info)
{
    std::string name = std::string("giop_1_") + info.param.version.back();
    if (info.param.fragments) name += "_fragments";
    if (info.param.reactor) name += "_reactor";
    return name;
}

Arguments kairos(const Way& way)
{
    Arguments options{"-ORBDebug",       "0",        "-ORBListenEndpoints", "iiop://127.0.0.1",
                      "-ORBGIOPVersion", way.version};
    if (way.fragments) options = options + Arguments{"-ORBFragmentSize", "256"};
    if (way.reactor) options = options + Arguments{"-ORBConcurrency", "reactor"};
    return options;
}

[[maybe_unused]] Arguments omniorb(const Way& way)
{
    return {"-ORBtraceLevel",     "0",        "-ORBendPoint", "giop:tcp:127.0.0.1:",
            "-ORBmaxGIOPVersion", way.version};
}

class AllTypes : public testing::TestWithParam<Way> {};

} // namespace

TEST_P(AllTypes, KairosCallsKairos)
{
    const bool wide = GetParam().version != "1.0";
    const Peer server(Arguments{ALL_PEER, "serve"} + kairos(GetParam()));
    expect_checks(Arguments{ALL_PEER, "check", server.reference[0]} +
                      (wide ? Arguments{} : narrow) + kairos(GetParam()),
                  wide ? checks_total : narrow_checks);
}

#ifdef OMNIORB_ALL_PEER

// omniORB before 4.3 leaves the repository id out of an exception in an Any.
const Arguments no_exception_id{"-ORBExceptionIdInAny", "0"};

TEST_P(AllTypes, KairosCallsOmniOrb)
{
    const Peer server(Arguments{OMNIORB_ALL_PEER, "serve"} + omniorb(GetParam()));
    expect_checks(Arguments{ALL_PEER, "check", server.reference[0]} + not_with_omniorb + narrow +
                      kairos(GetParam()) + no_exception_id,
                  checks_of_omniorb);
}

TEST_P(AllTypes, OmniOrbCallsKairos)
{
    const Peer server(Arguments{ALL_PEER, "serve"} + kairos(GetParam()) + no_exception_id);
    expect_checks(Arguments{OMNIORB_ALL_PEER, "check", server.reference[0]} + not_with_omniorb +
                      narrow + omniorb(GetParam()),
                  checks_of_omniorb);
}

#endif

INSTANTIATE_TEST_SUITE_P(Ways, AllTypes,
                         testing::Values(Way{"1.0", false, false}, Way{"1.1", false, false},
                                         Way{"1.2", false, false}, Way{"1.2", true, false},
                                         Way{"1.2", false, true}),
                         way_name);
