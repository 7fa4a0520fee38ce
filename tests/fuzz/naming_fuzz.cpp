// SPDX-License-Identifier: Apache-2.0
//
// A stream of messages through the name server: its servants, its listings and its references,
// over a store in memory that begins empty. The first octet says in which pieces it is read. The
// contexts' keys are plain ones: "NameService/", the store's identity, 1, and the context's number,
// which is 1 for the root and 2, 3 … for those that are made, as eight octets each, escaped.
#include "fuzz/bounds.h"
#include "kairos/nameserver/service.h"
#include "tests/faults/faults.h"
#include "tests/fuzz/memory_store.h"
#include "tests/fuzz/socketless.h"

#include <memory>

using namespace kairos;

// A service for each input. What is bound is kept, and what `list` answers is a copy of it.
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {
        .octets_each = 64, .octets_beside = std::size_t{512} << 10, .comparisons_beside = 500'000};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const net::testing::Faults faults(net::testing::no_connections());
    static const CORBA::ORB_var orb =
        kairos::fuzz::make_orb({"-ORBPlainKeys", "1", "-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    if (size == 0) return 0;
    const nameserver::NamingService service(orb.in(), std::make_unique<nameserver::MemoryStore>());
    kairos::fuzz::SocketlessConnection connection(orb->_kairos_core());
    connection.serve(std::as_bytes(std::span(data, size)).subspan(1), data[0]);
    return 0;
}
