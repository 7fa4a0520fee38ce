// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/context_list.h"

#include <algorithm>
#include <cstring>

namespace kairos::orb {

std::uint32_t count_of_contexts(Bytes contexts) noexcept
{
    std::uint32_t count = 0;
    if (contexts.size() >= sizeof count) std::memcpy(&count, contexts.data(), sizeof count);
    return count;
}

Bytes with_context(Bytes others, std::uint32_t id, Bytes data, ContextList& list)
{
    const std::uint32_t count = count_of_contexts(others) + 1;
    const auto length = static_cast<std::uint32_t>(data.size());
    const std::size_t begin = align_up(std::max(others.size(), sizeof count), 4);
    const std::size_t end = begin + sizeof id + sizeof length + data.size();
    if (others.data() == list.data())
        list.resize(others.size());
    else
        list.assign(others.begin(), others.end());
    list.resize(end);
    std::byte* const first = list.data();
    std::memcpy(first, &count, sizeof count);
    std::memcpy(first + begin, &id, sizeof id);
    std::memcpy(first + begin + sizeof id, &length, sizeof length);
    std::memcpy(first + begin + sizeof id + sizeof length, data.data(), data.size());
    return list;
}

} // namespace kairos::orb
