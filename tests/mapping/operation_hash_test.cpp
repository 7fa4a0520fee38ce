// SPDX-License-Identifier: Apache-2.0
//
// The perfect hash that kairos-idl searches and the table that skeletons look into agree.
#include "idlc/operation_search.h"

#include "kairos/base/operation_hash.h"
#include "kairos/corba/hashed_operations.h"
#include "kairos/corba/operation_table.h"
#include "kairos/orb/upcall.h"
#include "kairos/poa/operations.h"

#include <gtest/gtest.h>

#include <bit>
#include <utility>

namespace kairos {
namespace {

std::vector<std::string> names(std::size_t count)
{
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i)
        names.push_back("operation_with_a_long_name_" + std::to_string(i * i));
    return names;
}

TEST(OperationHash, PlacesEveryNameInItsOwnSlot)
{
    for (const std::size_t count : {1u, 2u, 3u, 10u, 40u, 150u, 500u}) {
        const auto list = names(count);
        const auto hash = idlc::search_operation_hash(list);
        ASSERT_TRUE(hash) << count;
        ASSERT_EQ(hash->slots.size(), std::size_t{1} << hash->bits);
        for (std::size_t i = 0; i < count; ++i)
            EXPECT_EQ(hash->slots[operation_slot(operation_digest(list[i]), hash->multiplier,
                                                 hash->bits)],
                      i);
        if (count <= 40) {
            EXPECT_LE(hash->bits, static_cast<unsigned>(std::bit_width(count - 1)) + 3) << count;
        }
    }
}

template <std::size_t... sizes>
void expect_the_same_digests(std::index_sequence<sizes...>)
{
    static constexpr std::string_view text = "_get_the_name_of_an_operation_\xff\x80\x01";
    static constexpr std::uint64_t compiled[] = {operation_digest(text.substr(0, sizes))...};
    for (const std::size_t size : {sizes...}) {
        const std::string name(text.substr(0, size)); // nothing beyond it may matter, or be read
        EXPECT_EQ(operation_digest(name), compiled[size]) << size;
    }
}

TEST(OperationHash, IsTheSameAtRunTime) { expect_the_same_digests(std::make_index_sequence<33>{}); }

TEST(OperationHash, IsTheSameEveryTime)
{
    const auto first = idlc::search_operation_hash(names(20));
    const auto second = idlc::search_operation_hash(names(20));
    EXPECT_EQ(first->multiplier, second->multiplier);
    EXPECT_EQ(first->slots, second->slots);
}

TEST(OperationHash, RefusesNamesThatAreTheSame)
{
    EXPECT_FALSE(idlc::search_operation_hash({"twice", "twice"}));
}

TEST(OperationTable, FindsItsNamesAndNoOthers)
{
    const auto hash = idlc::search_operation_hash({"add", "_get_size"});
    ASSERT_TRUE(hash);
    ASSERT_LE(hash->bits, 2u);
    corba::OperationTable<2, 2> table{0, {"add", "_get_size"}, {2, 2, 2, 2}};
    // A table of four slots whatever the search needed.
    for (table.multiplier = 1;; table.multiplier += 2) {
        const auto one = operation_slot(operation_digest("add"), table.multiplier, 2);
        const auto two = operation_slot(operation_digest("_get_size"), table.multiplier, 2);
        if (one == two) continue;
        table.slots[one] = 0;
        table.slots[two] = 1;
        break;
    }
    EXPECT_EQ(table.find("add"), 0u);
    EXPECT_EQ(table.find("_get_size"), 1u);
    for (const char* other : {"", "ad", "addd", "_set_size", "_is_a", "a name that nobody has"})
        EXPECT_EQ(table.find(other), 2u) << other;
}

TEST(OperationTable, OtherStrategiesAnswerTheSame)
{
    static constexpr corba::LinearOperations<3> linear{{"add", "_get_size", "shout"}};
    const corba::HashedOperations hashed{"add", "_get_size", "shout"};
    for (const char* name : {"add", "_get_size", "shout", "", "ad", "addd", "shouts", "_is_a"})
        EXPECT_EQ(linear.find(name), hashed.find(name)) << name;
    EXPECT_EQ(linear.find("shout"), 2u);
    EXPECT_EQ(linear.find("none"), 3u);
}

// --- what adapters look into ---------------------------------------------------------------------

constexpr std::size_t unknown = 999;

/// Each a function of its own.
template <std::size_t operation>
void serve(void* called, orb::Upcall&)
{
    *static_cast<std::size_t*>(called) = operation;
}

template <std::size_t... indices>
void expect_all_found(std::index_sequence<indices...>)
{
    constexpr std::size_t count = sizeof...(indices);
    const auto list = names(count);
    const auto hash = idlc::search_operation_hash(list);
    ASSERT_TRUE(hash);
    const poa::Operations::Entry entries[] = {{list[indices], serve<indices>}...};
    std::vector<std::uint16_t> slots;
    for (const std::size_t slot : hash->slots)
        slots.push_back(slot == count ? 0 : static_cast<std::uint16_t>(slot));
    const poa::Operations operations{entries, slots.data(), hash->multiplier, hash->bits,
                                     serve<unknown>};
    for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(operations.find(list[i]), entries[i].serve) << list[i];
        EXPECT_EQ(operations.find(list[i] + "0"), operations.others) << list[i];
        EXPECT_EQ(operations.find(list[i].substr(1)), operations.others) << list[i];
    }
    EXPECT_EQ(operations.find(""), operations.others);
}

TEST(Operations, AreFoundAndNoOthers)
{
    expect_all_found(std::make_index_sequence<1>{});
    expect_all_found(std::make_index_sequence<2>{});
    expect_all_found(std::make_index_sequence<10>{});
    expect_all_found(std::make_index_sequence<100>{});
}

} // namespace
} // namespace kairos
