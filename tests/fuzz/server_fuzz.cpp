// SPDX-License-Identifier: Apache-2.0
//
// A stream of messages through a server (target.h): requests, LocateRequests, fragments, and
// whatever else. The first octet says in which pieces it is read.
#include "fuzz/bounds.h"
#include "tests/fuzz/target.h"

using namespace kairos;

// Values that are there may take 24 octets for 4, or 40 for an any, with its type more; and what is
// returned is a copy.
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {.octets_each = 64, .octets_beside = std::size_t{256} << 10};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    static fuzz::Target target({"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    fuzz::SocketlessConnection connection(target.core());
    connection.serve(std::as_bytes(std::span(data, size)).subspan(1), data[0]);
    return 0;
}
