// SPDX-License-Identifier: Apache-2.0
//
// The servant of bench.idl's Latency, which does nothing. Classic C++ mapping alone, so it is
// included behind the generated headers of whichever ORB is measured.
#pragma once

namespace kairos::bench {

class LatencyServant : public POA_Bench::Latency {
  public:
    void ping() override {}
    void ping_oneway() override {}
    void octets(const Bench::OctetSeq&) override {}
    void chars(const Bench::CharSeq&) override {}
    void shorts(const Bench::ShortSeq&) override {}
    void longs(const Bench::LongSeq&) override {}
    void doubles(const Bench::DoubleSeq&) override {}
    void structs(const Bench::StructSeq&) override {}
    void text(const char*) override {}
    void strings(const Bench::StringSeq&) override {}
};

} // namespace kairos::bench
