// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/priority_context.h"

#include "kairos/cdr/reader.h"

#include <algorithm>
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

Bytes with_priority(Bytes others, Priority priority, ContextList& list)
{
    return with_context(others, priority_context_id, encoded<1>({priority}), list);
}

std::array<std::byte, priority_contexts_size> priority_contexts(Priority priority) noexcept
{
    const auto data = encoded<1>({priority});
    const std::uint32_t head[] = {1, priority_context_id, data.size()};
    std::array<std::byte, priority_contexts_size> list{};
    static_assert(sizeof head + data.size() == priority_contexts_size);
    std::memcpy(list.data(), head, sizeof head);
    std::memcpy(list.data() + sizeof head, data.data(), data.size());
    return list;
}

void append_priority_range(std::vector<std::byte>& contexts, const ior::PriorityBand& band)
{
    const auto data = encoded<2>({band.low, band.high});
    constexpr std::uint32_t length = data.size();
    const std::uint32_t count = count_of_contexts(contexts) + 1;
    contexts.resize(align_up(std::max(contexts.size(), sizeof count), 4));
    std::memcpy(contexts.data(), &count, sizeof count);
    const auto add = [&contexts](const void* octets, std::size_t size) {
        const auto* const first = static_cast<const std::byte*>(octets);
        contexts.insert(contexts.end(), first, first + size);
    };
    add(&priority_range_context_id, sizeof priority_range_context_id);
    add(&length, sizeof length);
    add(data.data(), data.size()); // without padding at the end, as all lists are
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
