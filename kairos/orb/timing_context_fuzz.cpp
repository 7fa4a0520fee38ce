// SPDX-License-Identifier: Apache-2.0
//
// Drives the reader of times left with arbitrary service contexts. What is found is a time that can
// be reckoned with, and is found again when it is written, also in front of a priority. The first
// octet says the byte order of the message.
#include "kairos/base/check.h"
#include "kairos/cdr/reader.h"
#include "kairos/orb/priority_context.h"
#include "kairos/orb/timing_context.h"

#include <cstring>

using namespace kairos;
using namespace kairos::orb;

namespace {

std::optional<std::chrono::nanoseconds> time_left_of(Bytes list, bool little_endian)
{
    cdr::Reader reader(list, little_endian);
    const auto contexts = giop::ServiceContexts::read(reader);
    return reader.ok() ? time_left_in(contexts) : std::nullopt;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    // Lists begin at a multiple of four.
    std::vector<std::uint32_t> aligned(size / 4 + 1);
    std::memcpy(aligned.data(), data + 1, size - 1);
    const Bytes list(reinterpret_cast<const std::byte*>(aligned.data()), size - 1);
    const auto left = time_left_of(list, (data[0] & 1) != 0);
    if (!left) return 0;
    KAIROS_CHECK(left->count() >= 0);
    const OperationTiming timing{.operation = {}, .deadline = left->count() + 1};
    ContextsBuffer buffer;
    const Bytes timed = with_time_left({}, *left, buffer);
    KAIROS_CHECK(time_left_of(timed, native_little_endian) == left);
    const Bytes both = with_priority(timed, 7, buffer);
    KAIROS_CHECK(time_left_of(both, native_little_endian) == left);
    cdr::Reader reader(both, native_little_endian);
    const auto contexts = giop::ServiceContexts::read(reader);
    const auto now = std::chrono::steady_clock::now();
    KAIROS_CHECK(release_of(now, timing, contexts) == now - std::chrono::nanoseconds(1));
    return 0;
}
