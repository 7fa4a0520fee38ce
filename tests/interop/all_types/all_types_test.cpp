// SPDX-License-Identifier: Apache-2.0
//
// Every type of IDL in every direction, in an Any and in an exception: between two processes of
// Kairos, and with omniORB as client and as server, over every GIOP version; with stubs and
// skeletons, and without.
#include "peer.h"

using namespace interop;

namespace {

constexpr int checks_total = 353;
constexpr int dynamic_checks_total = 161;
constexpr int checks_without_skeleton = 325;

/// What has wide characters is refused, by this exception.
Arguments wide_refused(const std::string& exception)
{
    Arguments options;
    for (const char* name :
         {"Wide", "Prose", "OnBoolean", "OnUnsignedLongLong", "Person", "exception_in_any"})
        options = options + Arguments{'-' + exception, name};
    return options;
}
// omniORB 4.2 aborts where it copies a fixed member or element, has no custom valuetypes, and its
// TypeCodes of sequences of a valuetype that contains itself are incomplete. As a server it cannot
// raise exceptions with some values in chunks.
[[maybe_unused]] const Arguments not_with_omniorb{
    "-without", "Price",    "-without",   "Money_",   "-without",
    "Route",    "-without", "any_Node_s", "-without", "raised_Node_s"};
[[maybe_unused]] const Arguments not_of_its_servers{"-without",      "raise_Base", "-without",
                                                    "raise_Derived", "-without",   "raise_Holding"};

// docs/dynamic.md: what comes back in a struct, union, sequence, array or exception cannot mean
// values of other parameters, nor values of types that its TypeCode does not describe.
const Arguments values_within{"-without", "Holding",  "-without",  "OnValue",     "-without",
                              "Node_s",   "-without", "NameBox_s", "-without",    "Titled_s",
                              "-without", "Node_3",   "-without",  "raise_Titled"};

// What all_dynamic_servant.h does not do, or cannot for the same reason.
const Arguments not_without_skeleton =
    values_within + Arguments{"-without",   "exception_in_any", "-without",
                              "truncation", "-without",         "abstract_in_any"};

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
    const Peer server(Arguments{ALL_PEER, "serve"} + kairos(GetParam()));
    expect_checks(Arguments{ALL_PEER, "check", server.reference[0]} +
                      (GetParam().version == "1.0" ? wide_refused("MARSHAL") : Arguments{}) +
                      kairos(GetParam()),
                  checks_total);
}

TEST_P(AllTypes, KairosCallsKairosWithoutStubs)
{
    const Peer server(Arguments{ALL_PEER, "serve"} + kairos(GetParam()));
    expect_checks(Arguments{ALL_PEER, "dynamic", server.reference[0]} + values_within +
                      (GetParam().version == "1.0" ? wide_refused("MARSHAL") : Arguments{}) +
                      kairos(GetParam()),
                  dynamic_checks_total);
}

TEST_P(AllTypes, KairosCallsKairosWithoutSkeleton)
{
    const Peer server(Arguments{ALL_PEER, "serve-dynamic"} + kairos(GetParam()));
    expect_checks(Arguments{ALL_PEER, "check", server.reference[0]} + not_without_skeleton +
                      (GetParam().version == "1.0" ? wide_refused("MARSHAL") : Arguments{}) +
                      kairos(GetParam()),
                  checks_without_skeleton);
}

TEST_P(AllTypes, KairosCallsKairosWithNeither)
{
    const Peer server(Arguments{ALL_PEER, "serve-dynamic"} + kairos(GetParam()));
    expect_checks(Arguments{ALL_PEER, "dynamic", server.reference[0]} + values_within +
                      (GetParam().version == "1.0" ? wide_refused("MARSHAL") : Arguments{}) +
                      kairos(GetParam()),
                  dynamic_checks_total);
}

#ifdef OMNIORB_ALL_PEER

constexpr int checks_of_omniorb = 331;
constexpr int checks_of_kairos = 328;
constexpr int unchunked_checks = 318;
constexpr int dynamic_checks = 149;
constexpr int unchunked_dynamic_checks = 147;
constexpr int checks_of_omniorb_without_skeleton = 302;
constexpr int checks_of_kairos_without_skeleton = 300;
constexpr int unchunked_checks_without_skeleton = 294;

// omniORB before 4.3 leaves the repository id out of an exception in an Any.
const Arguments no_exception_id{"-ORBExceptionIdInAny", "0"};
// omniORB has wide text in GIOP 1.2 only: its references of GIOP 1.1 name no code set for it. As a
// client it says the same of 1.0, but BAD_PARAM of a wchar in an Any.
Arguments wide_of_kairos(const Way& way)
{
    if (way.version == "1.0") return wide_refused("MARSHAL");
    return way.version == "1.1" ? wide_refused("INV_OBJREF") : Arguments{};
}
Arguments wide_of_omniorb(const Way& way)
{
    if (way.version == "1.2") return {};
    return Arguments{"-without", "any_Wide "} + wide_refused("INV_OBJREF");
}

// omniORB 4.2 refuses chunks that lie in more than one of its buffers, so also those in fragments.
Arguments chunks_with_omniorb(const Way& way)
{
    if (!way.fragments) return {};
    return {"-without", "Base",    "-without", "Derived",
            "-without", "Holding", "-without", "truncation"};
}

TEST_P(AllTypes, KairosCallsOmniOrb)
{
    const Peer server(Arguments{OMNIORB_ALL_PEER, "serve"} + omniorb(GetParam()));
    expect_checks(Arguments{ALL_PEER, "check", server.reference[0]} + not_with_omniorb +
                      not_of_its_servers + chunks_with_omniorb(GetParam()) +
                      wide_of_kairos(GetParam()) + kairos(GetParam()) + no_exception_id,
                  GetParam().fragments ? unchunked_checks : checks_of_kairos);
}

TEST_P(AllTypes, KairosCallsOmniOrbWithoutStubs)
{
    const Peer server(Arguments{OMNIORB_ALL_PEER, "serve"} + omniorb(GetParam()));
    expect_checks(Arguments{ALL_PEER, "dynamic", server.reference[0]} + values_within +
                      not_with_omniorb + not_of_its_servers + chunks_with_omniorb(GetParam()) +
                      wide_of_kairos(GetParam()) + kairos(GetParam()),
                  GetParam().fragments ? unchunked_dynamic_checks : dynamic_checks);
}

TEST_P(AllTypes, OmniOrbCallsKairos)
{
    const Peer server(Arguments{ALL_PEER, "serve"} + kairos(GetParam()) + no_exception_id);
    expect_checks(Arguments{OMNIORB_ALL_PEER, "check", server.reference[0]} + not_with_omniorb +
                      wide_of_omniorb(GetParam()) + chunks_with_omniorb(GetParam()) +
                      omniorb(GetParam()),
                  GetParam().fragments          ? unchunked_checks
                  : GetParam().version == "1.2" ? checks_of_omniorb
                                                : checks_of_omniorb - 1);
}

// omniORB does not take a reference out of an Any whose TypeCode is an alias of Object.
const Arguments no_aliased_objects{"-without",         "any_Reference ", "-without",
                                   "raise_Reference ", "-without",       "raised_Reference "};

TEST_P(AllTypes, OmniOrbCallsKairosWithoutSkeleton)
{
    const Peer server(Arguments{ALL_PEER, "serve-dynamic"} + kairos(GetParam()) + no_exception_id);
    expect_checks(Arguments{OMNIORB_ALL_PEER, "check", server.reference[0]} + not_without_skeleton +
                      not_with_omniorb + no_aliased_objects + wide_of_omniorb(GetParam()) +
                      chunks_with_omniorb(GetParam()) + omniorb(GetParam()),
                  GetParam().fragments          ? unchunked_checks_without_skeleton
                  : GetParam().version == "1.2" ? checks_of_omniorb_without_skeleton
                                                : checks_of_omniorb_without_skeleton - 1);
}

TEST_P(AllTypes, KairosCallsOmniOrbWithoutSkeleton)
{
    const Peer server(Arguments{OMNIORB_ALL_PEER, "serve-dynamic"} + omniorb(GetParam()));
    expect_checks(Arguments{ALL_PEER, "check", server.reference[0]} + not_without_skeleton +
                      not_with_omniorb + not_of_its_servers + no_aliased_objects +
                      chunks_with_omniorb(GetParam()) + wide_of_kairos(GetParam()) +
                      kairos(GetParam()) + no_exception_id,
                  GetParam().fragments ? unchunked_checks_without_skeleton
                                       : checks_of_kairos_without_skeleton);
}

#endif

INSTANTIATE_TEST_SUITE_P(Ways, AllTypes,
                         testing::Values(Way{"1.0", false, false}, Way{"1.1", false, false},
                                         Way{"1.2", false, false}, Way{"1.2", true, false},
                                         Way{"1.2", false, true}),
                         way_name);
