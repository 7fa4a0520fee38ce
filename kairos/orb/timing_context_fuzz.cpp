// SPDX-License-Identifier: Apache-2.0
//
// Drives the reader of times left with arbitrary service contexts. What is found is a time that can
// be reckoned with, and is found again when it is written, also in front of a priority.
#include "kairos/base/check.h"
#include "kairos/orb/priority_context.h"
#include "kairos/orb/service_contexts_fuzz.h"
#include "kairos/orb/timing_context.h"

using namespace kairos;
using namespace kairos::orb;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const auto left = found_in(data, size, time_left_in);
    if (!left) return 0;
    KAIROS_CHECK(left->count() >= 0);
    const OperationTiming timing{.operation = {}, .deadline = left->count() + 1};
    ContextList list;
    append_time_left(list, *left);
    KAIROS_CHECK(found_in(list.bytes(), native_little_endian, time_left_in) == left);
    append_priority(list, 7);
    KAIROS_CHECK(found_in(list.bytes(), native_little_endian, time_left_in) == left);
    const auto now = std::chrono::steady_clock::now();
    KAIROS_CHECK(release_of(now, timing, list.contexts()) == now - std::chrono::nanoseconds(1));
    return 0;
}
