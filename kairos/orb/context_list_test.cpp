// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/context_list.h"

#include "kairos/base/limits.h"
#include "kairos/giop/message.h"
#include "kairos/mapping/exception.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kairos::orb {
namespace {

using Contexts = std::vector<std::pair<std::uint32_t, std::string>>;

/// What a message with this list says, to its last octet.
Contexts contexts_in(const ContextList& list)
{
    Contexts found;
    if (list.empty()) return found;
    cdr::Reader reader(list.bytes(), native_little_endian);
    const auto contexts = giop::ServiceContexts::read(reader);
    EXPECT_TRUE(reader.ok());
    EXPECT_LT(reader.left(), 4u); // padding
    contexts.for_each(
        [&](std::uint32_t id, Bytes data) { found.emplace_back(id, std::string(as_text(data))); });
    return found;
}

Bytes octets(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(ContextList, HasWhatWasAddedOfAnyLength)
{
    ContextList list;
    EXPECT_TRUE(list.bytes().empty());
    Contexts added;
    for (std::uint32_t i = 0; i < 20; ++i) {
        added.emplace_back(100 + i, std::string(i * 1001, static_cast<char>('a' + i)));
        list.append(added.back().first, octets(added.back().second));
        EXPECT_EQ(list.count(), i + 1);
        EXPECT_EQ(contexts_in(list), added);
    }
}

TEST(ContextList, TakesWholeLists)
{
    ContextList first;
    first.append(1, octets("one"));
    ContextList second;
    second.append(2, octets("two"));
    second.append(3, octets("three"));
    first.append(second.bytes());
    first.append(Bytes());
    EXPECT_EQ(contexts_in(first), (Contexts{{1, "one"}, {2, "two"}, {3, "three"}}));
    ContextList empty;
    empty.append(second.bytes());
    EXPECT_EQ(contexts_in(empty), (Contexts{{2, "two"}, {3, "three"}}));
}

TEST(ContextList, RemovesTheFirstOfAnId)
{
    ContextList list;
    for (const auto& [id, text] : Contexts{{1, "a"}, {2, "bcdef"}, {1, "gh"}, {3, "ijk"}})
        list.append(id, octets(text));
    EXPECT_FALSE(list.remove(4));
    EXPECT_TRUE(list.remove(1));
    EXPECT_EQ(contexts_in(list), (Contexts{{2, "bcdef"}, {1, "gh"}, {3, "ijk"}}));
    EXPECT_TRUE(list.remove(3));
    list.append(5, octets("l"));
    EXPECT_EQ(contexts_in(list), (Contexts{{2, "bcdef"}, {1, "gh"}, {5, "l"}}));
    for (const std::uint32_t id : {1u, 2u, 5u})
        EXPECT_TRUE(list.remove(id));
    EXPECT_TRUE(list.empty());
    EXPECT_TRUE(list.bytes().empty());
}

TEST(ContextList, RefusesMoreThanPeersTake)
{
    ContextList list;
    while (list.count() < limits::service_contexts_max - 1)
        list.append(7, {});
    EXPECT_THROW(list.append(7, {}), CORBA::IMP_LIMIT);
    EXPECT_EQ(contexts_in(list).size(), limits::service_contexts_max - 1);
    list.clear();
    list.append(8, octets("again"));
    EXPECT_EQ(contexts_in(list), (Contexts{{8, "again"}}));
}

} // namespace
} // namespace kairos::orb
