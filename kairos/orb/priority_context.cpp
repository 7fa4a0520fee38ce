// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/priority_context.h"

#include "kairos/cdr/reader.h"

#include <array>
#include <cstring>

namespace kairos::orb {

namespace {

/// The data of a context: the flag of the byte order, padding, and the shorts.
template <std::size_t shorts>
std::array<std::byte, 2 + 2 * shorts> encoded(const std::array<Priority, shorts>& values)
{
    std::array<std::byte, 2 + 2 * shorts> data{};
    data[0] = static_cast<std::byte>(native_little_endian);
    std::memcpy(data.data() + 2, values.data(), 2 * shorts);
    return data;
}

} // namespace

void append_priority(ContextList& list, Priority priority)
{
    list.append(priority_context_id, encoded<1>({priority}));
}

void append_priority_range(ContextList& list, const ior::PriorityBand& band)
{
    list.append(priority_range_context_id, encoded<2>({band.low, band.high}));
}

std::optional<Priority> priority_in(const giop::ServiceContexts& contexts) noexcept
{
    if (contexts.empty()) return std::nullopt;
    const auto data = contexts.find(priority_context_id);
    if (!data) return std::nullopt;
    cdr::Reader reader = cdr::Reader::of_encapsulation(*data);
    const auto priority = reader.read<Priority>();
    if (!reader.ok() || priority < 0) return std::nullopt;
    return priority;
}

} // namespace kairos::orb
