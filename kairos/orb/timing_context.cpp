// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/timing_context.h"

#include "kairos/cdr/reader.h"
#include "kairos/giop/message.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace kairos::orb {

namespace {

constexpr std::uint64_t time_unit_ns = 100;                         // of TimeBase::TimeT
constexpr std::uint64_t time_max = 366ull * 24 * 3600 * 10'000'000; // the IDL can say no more

} // namespace

void append_time_left(ContextList& list, std::chrono::nanoseconds left)
{
    // The flag of the byte order, padding, and the time.
    std::array<std::byte, 16> data{};
    data[0] = static_cast<std::byte>(native_little_endian);
    const std::uint64_t time =
        left.count() <= 0 ? 0 : static_cast<std::uint64_t>(left.count()) / time_unit_ns;
    std::memcpy(data.data() + 8, &time, sizeof time);
    list.append(timing_context_id, data);
}

std::optional<std::chrono::nanoseconds> time_left_in(const giop::ServiceContexts& contexts) noexcept
{
    if (contexts.empty()) return std::nullopt;
    const auto data = contexts.find(timing_context_id);
    if (!data) return std::nullopt;
    cdr::Reader reader = cdr::Reader::of_encapsulation(*data);
    const auto time = reader.read<std::uint64_t>();
    if (!reader.ok()) return std::nullopt;
    return std::chrono::nanoseconds(std::min(time, time_max) * time_unit_ns);
}

std::chrono::steady_clock::time_point release_of(std::chrono::steady_clock::time_point arrived,
                                                 const OperationTiming& timing,
                                                 const giop::ServiceContexts& contexts) noexcept
{
    const std::chrono::nanoseconds deadline(timing.deadline);
    const auto left = time_left_in(contexts);
    return left && *left < deadline ? arrived - (deadline - *left) : arrived;
}

} // namespace kairos::orb
