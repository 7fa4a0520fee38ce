// SPDX-License-Identifier: Apache-2.0
//
// Text of all kinds between two processes with every pair of native code sets: ours with ours, and
// with omniORB in both directions. Traps 10 and 11.
#include "peer.h"

using namespace interop;

namespace {

constexpr int checks_total = 8;
[[maybe_unused]] constexpr int narrow_checks = 3; // omniORB has wide text in GIOP 1.2 only

struct Way {
    std::string version;
    std::string client;
    std::string server;
};

std::string way_name(const testing::TestParamInfo<Way>& info)
{
    const auto short_name = [](const std::string& set) {
        return set == "UTF-8" ? std::string("utf_8") : std::string("latin_1");
    };
    return std::string("giop_1_") + info.param.version.back() + "_" +
           short_name(info.param.client) + "_to_" + short_name(info.param.server);
}

class Codesets : public testing::TestWithParam<Way> {
  protected:
    const Way& way() const { return GetParam(); }

    [[nodiscard]] Peer kairos_server(const Arguments& more = {}) const
    {
        return Peer(Arguments{CODESETS_PEER, "serve", "-ORBDebug", "0", "-ORBListenEndpoints",
                              "iiop://127.0.0.1", "-ORBGIOPVersion", way().version,
                              "-ORBNativeCharCodeSet", way().server} +
                    more);
    }
    [[nodiscard]] bool is_1_2() const { return way().version == "1.2"; }
    void run_kairos_client(const std::string& reference, const Arguments& more = {},
                           int expected = checks_total) const
    {
        expect_checks(Arguments{CODESETS_PEER, "call", reference, way().client, way().server,
                                "-ORBDebug", "0", "-ORBNativeCharCodeSet", way().client} +
                          more,
                      expected);
    }
};

} // namespace

TEST_P(Codesets, KairosCallsKairos)
{
    const Peer server = kairos_server();
    run_kairos_client(server.reference[0]);
    run_kairos_client(server.reference[0], {"-ORBNativeWCharCodeSet", "UCS-4"});
}

TEST_P(Codesets, KairosCallsKairosInUcs4)
{
    const Peer server =
        kairos_server({"-ORBNativeWCharCodeSet", "UCS-4", "-ORBConcurrency", "reactor"});
    run_kairos_client(server.reference[0], {"-ORBNativeWCharCodeSet", "UCS-4"});
    run_kairos_client(server.reference[0]);
}

#ifdef OMNIORB_CODESETS_PEER

TEST_P(Codesets, KairosCallsOmniOrb)
{
    const Peer server({OMNIORB_CODESETS_PEER, "serve", "-ORBtraceLevel", "0", "-ORBendPoint",
                       "giop:tcp:127.0.0.1:", "-ORBmaxGIOPVersion", way().version,
                       "-ORBnativeCharCodeSet", way().server});
    run_kairos_client(server.reference[0], {is_1_2() ? "units" : "narrow"},
                      is_1_2() ? checks_total : narrow_checks);
}

TEST_P(Codesets, OmniOrbCallsKairos)
{
    const Peer server = kairos_server();
    expect_checks({OMNIORB_CODESETS_PEER, "call", server.reference[0], way().client, way().server,
                   is_1_2() ? "units" : "narrow", "-ORBtraceLevel", "0", "-ORBmaxGIOPVersion",
                   way().version, "-ORBnativeCharCodeSet", way().client},
                  is_1_2() ? checks_total : narrow_checks);
}

#endif

INSTANTIATE_TEST_SUITE_P(
    Ways, Codesets,
    testing::Values(Way{"1.2", "ISO-8859-1", "ISO-8859-1"}, Way{"1.2", "ISO-8859-1", "UTF-8"},
                    Way{"1.2", "UTF-8", "ISO-8859-1"}, Way{"1.2", "UTF-8", "UTF-8"},
                    Way{"1.1", "ISO-8859-1", "UTF-8"}, Way{"1.1", "UTF-8", "ISO-8859-1"}),
    way_name);
