// SPDX-License-Identifier: Apache-2.0
//
// What the index is worth, counted, and what it must not change: a query finds what a slow scan
// over all offers finds.
#include "kairos/trading/offer_search.h"
#include "kairos/trading/trader_testing.h"

#include <algorithm>
#include <random>

namespace kairos::trading {
namespace {

class CatalogTest : public ::testing::Test {
  protected:
    void add_type(const char* name, const std::vector<Definition>& properties,
                  const Names& supers = {})
    {
        (void)catalog_.add_type(name, "", definitions_of(properties),
                                list_of<Repository::ServiceTypeNameSeq>(supers));
    }
    std::uint64_t add(const char* type, const Values& values)
    {
        return catalog_.add(make_offer(catalog_.type(type), CORBA::Object::_nil(),
                                       properties_of(values), limits_, octets_));
    }
    [[nodiscard]] Found ask(const char* type, const std::string& text, bool is_exact = false) const
    {
        const auto constraint = constraints::Constraint::parse(text, constraints::Language::trader);
        EXPECT_TRUE(constraint.ok()) << text << ": " << constraint.error().reason;
        SearchPolicies all;
        all.search_card = all.match_card = all.return_card = 0xFFFF'FFFF;
        all.is_exact = is_exact;
        DynamicCalls calls(CORBA::ORB::_nil(), limits_);
        return search(catalog_, *catalog_.type(type), *constraint,
                      *constraints::Preference::parse(""), all, limits_, calls);
    }
    [[nodiscard]] static std::vector<std::uint64_t> numbers_of(const std::vector<OfferPtr>& offers)
    {
        std::vector<std::uint64_t> numbers;
        for (const OfferPtr& offer : offers)
            numbers.push_back(offer->number);
        return numbers;
    }

    ServiceLimits limits_;
    std::shared_ptr<corba::Octets> octets_ =
        std::make_shared<corba::Octets>(limits_.octets_of_all_max);
    Catalog catalog_{limits_, octets_};
};

TEST_F(CatalogTest, EvaluatesFewOffersOfMany)
{
    add_type(
        "Printer",
        {{"floor", CORBA::_tc_long}, {"pages", CORBA::_tc_double}, {"paper", CORBA::_tc_string}});
    for (CORBA::Long i = 0; i < 20'000; ++i)
        (void)add("Printer", {{"floor", any_of(i % 100)},
                              {"pages", any_of(CORBA::Double(i))},
                              {"paper", any_of(i % 3 == 0 ? "A3" : "A4")}});
    Found found = ask("Printer", "floor == 7 and pages < 1000");
    EXPECT_EQ(10U, found.offers.size());
    EXPECT_LE(found.evaluated, 200U); // those on the floor
    found = ask("Printer", "floor == 7 and pages >= 100 and pages < 110 and paper == 'A4'");
    EXPECT_EQ(1U, found.offers.size());
    EXPECT_LE(found.evaluated, 200U);
    found = ask("Printer", "pages > 19989 and exist floor");
    EXPECT_EQ(10U, found.offers.size());
    EXPECT_LE(found.evaluated, 11U); // the bound is looked at, too
    EXPECT_EQ(0U, ask("Printer", "floor == 7 and paper == 'A5'").evaluated);
    EXPECT_EQ(20'000U, ask("Printer", "floor + 0 == 7").evaluated); // nothing to look for
}

TEST_F(CatalogTest, LooksAtNoMoreOffersThanItMay)
{
    add_type("Printer", {{"pages", CORBA::_tc_long}});
    for (CORBA::Long i = 0; i < 1000; ++i)
        (void)add("Printer", {{"pages", any_of(i)}});
    std::string text = "pages >= 500";
    for (int i = 0; i < 500; ++i) // more conditions than anybody walks along
        text += " and pages < " + std::to_string(2000 + i) + " and pages <= 9999";
    const auto constraint = constraints::Constraint::parse(text, constraints::Language::trader);
    ASSERT_TRUE(constraint.ok());
    bool was_cut = false;
    const TypePtr type = catalog_.type("Printer");
    std::vector<OfferPtr> offers =
        catalog_.candidates(*type, false, constraint->conditions(), 100, was_cut);
    EXPECT_TRUE(was_cut);
    EXPECT_EQ(100U, offers.size());
    EXPECT_EQ(501U, offers.front()->number); // of those that may match, not of all
    offers = catalog_.candidates(*type, false, constraint->conditions(), 500, was_cut);
    EXPECT_FALSE(was_cut);
    EXPECT_EQ(500U, offers.size());
}

TEST_F(CatalogTest, WithdrawsNothingThatHasChanged)
{
    add_type("Printer", {{"pages", CORBA::_tc_long}});
    for (CORBA::Long i = 0; i < 3; ++i)
        (void)add("Printer", {{"pages", any_of(i)}});
    const Found found = ask("Printer", "");
    ASSERT_EQ(3U, found.offers.size());
    const auto changed =
        modified(*found.offers[1], CosTrading::PropertyNameSeq(),
                 properties_of({{"pages", any_of(CORBA::Long(7))}}), limits_, octets_);
    ASSERT_TRUE(catalog_.replace(found.offers[1], changed));
    EXPECT_EQ(2U, catalog_.withdraw(found.offers));
    EXPECT_EQ(changed, catalog_.find(2));
    EXPECT_EQ(1U, ask("Printer", "pages == 7").offers.size());
    EXPECT_EQ(0U, catalog_.withdraw(found.offers));
}

// Expressions and offers of any kind, against a scan: the constraint asked of each offer.
class RandomOffers : public CatalogTest, public ::testing::WithParamInterface<unsigned> {
  protected:
    int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }

    CORBA::Any value()
    {
        switch (below(9)) {
        case 0:
            return any_of(static_cast<CORBA::Short>(below(6) - 2));
        case 1:
            return any_of(static_cast<CORBA::ULongLong>(9'007'199'254'740'992) + below(3));
        case 2:
            return any_of(below(12) / 2.0 - 1);
        case 3:
            return truth(below(2) == 0);
        case 4:
            return any_of(below(2) == 0 ? "a" : "bcd");
        case 5:
            return any_of(any_of(static_cast<CORBA::Long>(below(4))));
        case 6:
            return any_of(below(4) == 0 ? std::nan("") : 0.0);
        case 7: {
            CORBA::Any octet;
            octet <<= CORBA::Any::from_octet(static_cast<CORBA::Octet>(below(4)));
            return octet;
        }
        default:
            return any_of(static_cast<CORBA::Long>(below(6) - 2));
        }
    }
    Values values()
    {
        Values all;
        for (const char* name : {"p", "q", "r", "extra"})
            if (below(4) != 0) all.emplace_back(name, value());
        return all;
    }
    std::string literal()
    {
        switch (below(5)) {
        case 0:
            return below(2) == 0 ? "'a'" : "'bcd'";
        case 1:
            return below(2) == 0 ? "TRUE" : "FALSE";
        case 2:
            return std::to_string(9'007'199'254'740'992 + below(3));
        case 3:
            return std::to_string(below(12)) + ".5";
        default:
            return std::to_string(below(6));
        }
    }
    std::string comparison()
    {
        const char* const names[] = {"p", "q", "r", "extra", "none"};
        const char* const signs[] = {"==", "<", "<=", ">", ">=", "!="};
        const std::string name = names[below(5)];
        const std::string sign = signs[below(6)];
        if (below(6) == 0) return "exist " + name;
        return below(2) == 0 ? name + " " + sign + " " + literal()
                             : literal() + " " + sign + " " + name;
    }
    std::string expression(int depth)
    {
        if (depth == 0 || below(3) == 0) return comparison();
        const std::string left = expression(depth - 1);
        const std::string right = expression(depth - 1);
        switch (below(5)) {
        case 0:
            return "(" + left + " or " + right + ")";
        case 1:
            return "not (" + left + ") and " + right;
        default:
            return left + " and " + right;
        }
    }
    /// The offers that a scan finds, whatever the index says.
    std::vector<std::uint64_t> scan(const char* type, const std::string& text)
    {
        const auto constraint = constraints::Constraint::parse(text, constraints::Language::trader);
        bool was_cut = false;
        DynamicCalls calls(CORBA::ORB::_nil(), limits_);
        constraints::Evaluator evaluator;
        std::vector<std::uint64_t> numbers;
        for (const OfferPtr& offer :
             catalog_.candidates(*catalog_.type(type), false, {}, 1'000'000, was_cut)) {
            const OfferSubject subject(offer, calls);
            evaluator.look_at(subject);
            if (evaluator.evaluate(*constraint)) numbers.push_back(offer->number);
        }
        return numbers;
    }

    std::mt19937 random_{GetParam()};
};

TEST_P(RandomOffers, AreFoundAsByAScan)
{
    // Types that say nothing of values, so that an index has any mixture of them.
    add_type("Base", {{"p", CORBA::_tc_any}, {"q", CORBA::_tc_any}});
    add_type("Left", {{"r", CORBA::_tc_any}}, {"Base"});
    add_type("Below", {}, {"Left"});
    const char* const types[] = {"Base", "Left", "Below"};
    std::vector<std::uint64_t> numbers;
    std::size_t evaluated = 0;
    std::size_t scanned = 0;
    const auto mixed = [&](const char* type) {
        // As the type would not take them: what is tried is the index, not the check.
        const auto offer = std::make_shared<Offer>();
        offer->type = catalog_.type(type);
        for (auto& [name, any] : values())
            offer->properties.push_back({.name = name, .value = any, .is_dynamic = false});
        std::ranges::sort(offer->properties, {}, &Offer::Property::name);
        return offer;
    };
    for (int round = 0; round < 400; ++round) {
        const int what = below(6);
        if (numbers.size() < 100 || what == 0) {
            numbers.push_back(catalog_.add(mixed(types[below(3)])));
        } else if (what == 1) {
            const std::size_t at =
                static_cast<std::size_t>(below(static_cast<int>(numbers.size())));
            EXPECT_TRUE(catalog_.withdraw(numbers[at]));
            numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(at));
        } else if (what == 2) {
            const OfferPtr offer = catalog_.find(
                numbers[static_cast<std::size_t>(below(static_cast<int>(numbers.size())))]);
            EXPECT_TRUE(catalog_.replace(offer, mixed(offer->type->name.c_str())));
        } else {
            const std::string text = expression(3);
            const char* const type = types[below(3)];
            const Found found = ask(type, text);
            EXPECT_EQ(scan(type, text), numbers_of(found.offers)) << text;
            evaluated += found.evaluated;
            scanned += ask(type, "").evaluated;
        }
    }
    EXPECT_LT(evaluated, scanned);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOffers, ::testing::Range(1U, 13U));

} // namespace
} // namespace kairos::trading
