// SPDX-License-Identifier: Apache-2.0
//
// Drives the reader of priorities with arbitrary service contexts. What is found is a priority of
// CORBA's, and is found again when it is written behind others. The first octet says the byte order
// of the message.
#include "kairos/base/check.h"
#include "kairos/orb/priority_context.h"

#include <cstring>

using namespace kairos;
using namespace kairos::orb;

namespace {

std::optional<Priority> priority_of(Bytes list, bool little_endian)
{
    cdr::Reader reader(list, little_endian);
    const auto contexts = giop::ServiceContexts::read(reader);
    return reader.ok() ? priority_in(contexts) : std::nullopt;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    // Lists begin at a multiple of four.
    std::vector<std::uint32_t> aligned(size / 4 + 1);
    std::memcpy(aligned.data(), data + 1, size - 1);
    const Bytes list(reinterpret_cast<const std::byte*>(aligned.data()), size - 1);
    const auto priority = priority_of(list, (data[0] & 1) != 0);
    if (!priority) return 0;
    KAIROS_CHECK(*priority >= 0);
    std::vector<std::byte> others;
    append_priority_range(others, {0, *priority});
    ContextsBuffer buffer;
    for (const Bytes before : {Bytes(), Bytes(others)})
        KAIROS_CHECK(priority_of(with_priority(before, *priority, buffer), native_little_endian) ==
                     priority);
    return 0;
}
