// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/priority_context.h"

#include "kairos/cdr/reader.h"

#include <cstring>
#include <span>

namespace kairos::orb {

namespace {

/// A context as an encoded list has it: id, length, flag and padding, and up to two shorts.
template <std::size_t shorts>
std::array<std::byte, 12 + 4 * (shorts / 2)> encoded(std::uint32_t id,
                                                     const std::array<Priority, shorts>& values)
{
    constexpr std::uint32_t length = 2 + 2 * shorts;
    std::array<std::byte, 12 + 4 * (shorts / 2)> context{};
    std::memcpy(context.data(), &id, 4);
    std::memcpy(context.data() + 4, &length, 4);
    context[8] = static_cast<std::byte>(native_little_endian);
    std::memcpy(context.data() + 10, values.data(), 2 * shorts);
    return context;
}

std::uint32_t count_of(Bytes contexts) noexcept
{
    std::uint32_t count = 0;
    if (contexts.size() >= sizeof count) std::memcpy(&count, contexts.data(), sizeof count);
    return count;
}

} // namespace

Bytes with_priority(Bytes others, Priority priority, ContextsBuffer& buffer) noexcept
{
    const auto context = encoded<1>(priority_context_id, {priority});
    const std::uint32_t count = count_of(others) + 1;
    const std::size_t size = align_up(std::max(others.size(), sizeof count), 4);
    if (size + context.size() > buffer.size()) return others;
    std::memset(buffer.data(), 0, size);
    if (!others.empty()) std::memcpy(buffer.data(), others.data(), others.size());
    std::memcpy(buffer.data(), &count, sizeof count);
    std::memcpy(buffer.data() + size, context.data(), context.size());
    return {buffer.data(), size + context.size()};
}

void append_priority_range(std::vector<std::byte>& contexts, const ior::PriorityBand& band)
{
    const auto context = encoded<2>(priority_range_context_id, {band.low, band.high});
    const std::uint32_t count = count_of(contexts) + 1;
    contexts.resize(align_up(std::max(contexts.size(), sizeof count), 4));
    std::memcpy(contexts.data(), &count, sizeof count);
    // Without the padding at its end, as all lists are.
    contexts.insert(contexts.end(), context.begin(), context.begin() + 14);
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
