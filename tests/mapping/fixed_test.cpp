// SPDX-License-Identifier: Apache-2.0
//
// What kairos-idl makes of fixed.idl: types, constants and members.
#include "fixed.h"

#include "tests/mapping/octets.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

namespace {

using namespace FixedPoint;

TEST(FixedTypes, TypedefsAndConstants)
{
    static_assert(std::is_same_v<Price, kairos::mapping::FixedPoint<5, 2>>);
    static_assert(std::is_same_v<Amount, Price> && std::is_same_v<Price_out, Price&>);
    static_assert(std::is_same_v<decltype(pi), const CORBA::Fixed>);
    static_assert(std::is_same_v<decltype(fee), const Price>);
    EXPECT_EQ(pi, CORBA::Fixed("3.14159265"));
    EXPECT_EQ(minus, CORBA::Fixed("-6.2831853"));
    EXPECT_EQ(fee, CORBA::Fixed("12.5"));
    EXPECT_EQ(third, CORBA::Fixed(1) / CORBA::Fixed(3));
    EXPECT_EQ(Shop::discount, CORBA::Fixed("0.05"));
}

TEST(FixedTypes, ParametersArePassedLikeStructsOfFixedLength)
{
    using Pass = Price (Shop::*)(const Price&, Price&, Price_out);
    const Pass pass = &Shop::pass_price;
    EXPECT_NE(pass, nullptr);
    const Fraction fraction = "0.5";
    const Whole whole = 1234567890;
    EXPECT_EQ(fraction * whole, CORBA::Fixed(617283945));
}

TEST(Trap17_Fixed, MembersOfStructs)
{
    Item item{1, "123.45", "-9.5", 1.0};
    const Octets octets = encoded(item);
    EXPECT_EQ(octets,
              (Octets{1, 0x12, 0x34, 0x5C, 0x09, 0x5D, 0, 0, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F}));
    Item copy{};
    ASSERT_TRUE(decode(octets, copy));
    EXPECT_EQ(copy.price, item.price);
    EXPECT_EQ(copy.weight, item.weight);
    static_assert(kairos::mapping::Marshal<Item>::wire_bytes_min == 1 + 3 + 2 + 8);

    const Items items{item, item, item};
    Items items_copy;
    ASSERT_TRUE(decode(encoded(items), items_copy));
    EXPECT_EQ(items_copy[2].weight, item.weight);
}

TEST(Trap17_Fixed, SequencesArraysUnionsAndExceptions)
{
    Bill bill;
    bill.name = "bill";
    bill.prices = {fee, Price(-1)};
    bill.rates[1] = "0.25";
    Bill copy;
    ASSERT_TRUE(decode(encoded(bill), copy));
    EXPECT_EQ(copy.prices[1], -1);
    EXPECT_EQ(copy.rates[1], Rate("0.25"));
    EXPECT_EQ(encoded(Rates{Rate(1), Rate("-2.5")}),
              (Octets{2, 0, 0, 0, 0x00, 0x10, 0x0C, 0x00, 0x25, 0x0D}));

    Cost cost;
    cost.exact("-1.5");
    EXPECT_EQ(encoded(cost), (Octets{0, 0x00, 0x01, 0x50, 0x0D}));
    Cost cost_copy;
    ASSERT_TRUE(decode(encoded(cost), cost_copy));
    EXPECT_EQ(cost_copy.exact(), CORBA::Fixed("-1.5"));
    EXPECT_FALSE(decode({0, 0x00, 0x01, 0x50, 0x0F}, cost_copy));

    Prices_var prices = Prices_alloc();
    prices[2] = fee;
    Prices_var duplicate = Prices_dup(prices);
    EXPECT_EQ(duplicate[2], fee);
    const TooDear dear(fee, "0.99");
    EXPECT_EQ(dear.share, CORBA::Fixed("0.99"));
    EXPECT_EQ(dear.limit, fee);
}

} // namespace
