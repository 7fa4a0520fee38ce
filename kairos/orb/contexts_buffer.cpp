// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/contexts_buffer.h"

#include <algorithm>
#include <cstring>

namespace kairos::orb {

std::uint32_t count_of_contexts(Bytes contexts) noexcept
{
    std::uint32_t count = 0;
    if (contexts.size() >= sizeof count) std::memcpy(&count, contexts.data(), sizeof count);
    return count;
}

Bytes with_context(Bytes others, std::uint32_t id, Bytes data, ContextsBuffer& buffer) noexcept
{
    const std::uint32_t count = count_of_contexts(others) + 1;
    const auto length = static_cast<std::uint32_t>(data.size());
    const std::size_t begin = align_up(std::max(others.size(), sizeof count), 4);
    const std::size_t end = begin + sizeof id + sizeof length + data.size();
    if (end > buffer.size()) return others;
    std::byte* const list = buffer.data();
    if (!others.empty()) std::memmove(list, others.data(), others.size());
    std::memset(list + others.size(), 0, begin - others.size());
    std::memcpy(list, &count, sizeof count);
    std::memcpy(list + begin, &id, sizeof id);
    std::memcpy(list + begin + sizeof id, &length, sizeof length);
    std::memcpy(list + begin + sizeof id + sizeof length, data.data(), data.size());
    return {list, end};
}

} // namespace kairos::orb
