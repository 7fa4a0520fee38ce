// SPDX-License-Identifier: Apache-2.0
//
// Drives the reader of datagrams with arbitrary octets. What is to be served is a whole Request
// that expects no answer, which means the same when it is read again.
#include "kairos/base/check.h"
#include "kairos/datagrams/oneway.h"
#include "kairos/datagrams/profiles.h"

#include <vector>

using namespace kairos;
using namespace kairos::datagrams;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const Bytes input = std::as_bytes(std::span(data, size));
    std::vector<std::byte> octets(input.begin(), input.end());
    giop::Request request{};
    if (!read_oneway(octets, request).empty()) return 0;
    KAIROS_CHECK(size >= giop::header_size && !request.response_expected());
    giop::Request again{};
    KAIROS_CHECK(read_oneway(octets, again).empty());
    KAIROS_CHECK(again.operation == request.operation && again.request_id == request.request_id);
    if (request.version == giop::version_1_2)
        KAIROS_CHECK(look_at(input.first(std::min<std::size_t>(size, 24))) == Sendable::yes);
    octets.pop_back(); // never a prefix of a message that is one
    KAIROS_CHECK(!read_oneway(octets, again).empty());
    return 0;
}
