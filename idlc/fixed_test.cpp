// SPDX-License-Identifier: Apache-2.0
//
// Decimal arithmetic of fixed-point constants.
#include "idlc/fixed.h"

#include <gtest/gtest.h>

namespace kairos::idlc {
namespace {

Decimal decimal(std::string_view text)
{
    const bool negative = text.starts_with('-');
    const auto value = Decimal::parse(negative ? text.substr(1) : text);
    EXPECT_TRUE(value.has_value()) << text;
    return negative ? value->negated() : *value;
}

std::string text(const std::optional<Decimal>& value)
{
    return value ? value->value().text : "overflow";
}

TEST(Decimal, ParsesAndDropsZerosThatSayNothing)
{
    EXPECT_EQ(text(decimal("001.500")), "1.5");
    EXPECT_EQ(text(decimal(".05")), "0.05");
    EXPECT_EQ(text(decimal("0")), "0");
    EXPECT_EQ(text(decimal("5.")), "5");
    EXPECT_EQ(decimal("0.05").value().digits, 2);
    EXPECT_EQ(decimal("0.05").value().scale, 2);
    EXPECT_EQ(decimal("120").value().digits, 3);
    EXPECT_FALSE(Decimal::parse("1.2.3"));
    EXPECT_FALSE(Decimal::parse("."));
    EXPECT_FALSE(Decimal::parse("1e5"));
    EXPECT_FALSE(Decimal::parse(std::string(32, '9')));
    EXPECT_TRUE(Decimal::parse(std::string(31, '9')));
}

TEST(Decimal, AddsWithSigns)
{
    EXPECT_EQ(text(Decimal::add(decimal("0.1"), decimal("0.2"))), "0.3");
    EXPECT_EQ(text(Decimal::add(decimal("5"), decimal("-7.25"))), "-2.25");
    EXPECT_EQ(text(Decimal::add(decimal("-7.25"), decimal("7.25"))), "0");
    EXPECT_EQ(text(Decimal::add(decimal("-1"), decimal("-0.5"))), "-1.5");
    EXPECT_EQ(text(Decimal::add(decimal("0"), decimal("0.25"))), "0.25");
    EXPECT_EQ(text(Decimal::add(decimal(std::string(31, '9')), decimal("1"))), "overflow");
}

TEST(Decimal, MultipliesAndDividesAndCutsTheRest)
{
    EXPECT_EQ(text(Decimal::multiply(decimal("-1.5"), decimal("0.5"))), "-0.75");
    EXPECT_EQ(text(Decimal::multiply(decimal("0"), decimal("12.5"))), "0");
    EXPECT_EQ(
        text(Decimal::multiply(decimal("99999999999999999999"), decimal("99999999999999999999"))),
        "overflow");
    EXPECT_EQ(text(Decimal::divide(decimal("10"), decimal("4"))), "2.5");
    EXPECT_EQ(text(Decimal::divide(decimal("2"), decimal("3"))), "0." + std::string(31, '6'));
    EXPECT_EQ(text(Decimal::divide(decimal("1"), decimal("-8"))), "-0.125");
    EXPECT_EQ(text(Decimal::divide(decimal("1"), decimal("0.001"))), "1000");
}

TEST(Decimal, KeepsItsValueThroughTheModel)
{
    for (const std::string_view value : {"-0.05", "1234567890.0987654321", "0", "-31"})
        EXPECT_EQ(text(Decimal::from(decimal(value).value())), value);
    EXPECT_EQ(text(decimal("-12.39").truncated(1)), "-12.3");
    EXPECT_EQ(text(decimal("-0.09").truncated(1)), "0");
}

} // namespace
} // namespace kairos::idlc
