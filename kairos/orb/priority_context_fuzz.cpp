// SPDX-License-Identifier: Apache-2.0
//
// Drives the reader of priorities with arbitrary service contexts. What is found is a priority of
// CORBA's, and is found again when it is written behind others.
#include "kairos/base/check.h"
#include "kairos/orb/priority_context.h"
#include "kairos/orb/service_contexts_fuzz.h"

using namespace kairos;
using namespace kairos::orb;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const auto priority = found_in(data, size, priority_in);
    if (!priority) return 0;
    KAIROS_CHECK(*priority >= 0);
    ContextList list;
    append_priority(list, *priority);
    KAIROS_CHECK(found_in(list.bytes(), native_little_endian, priority_in) == priority);
    list.clear();
    append_priority_range(list, {0, *priority});
    append_priority(list, *priority);
    KAIROS_CHECK(found_in(list.bytes(), native_little_endian, priority_in) == priority);
    return 0;
}
