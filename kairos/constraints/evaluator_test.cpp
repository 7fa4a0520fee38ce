// SPDX-License-Identifier: Apache-2.0
//
// What constraints are true of, rule by rule: values as they are inserted and as they are received.
#include "kairos/constraints/evaluator.h"

#include "kairos/base/heap_testing.h"
#include "kairos/constraints/constraints_testing.h"
#include "kairos/mapping/fixed_point.h"
#include "kairos/types/types_testing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>

namespace {

using namespace testing_constraints;
using testing_types::Person;
using testing_types::Point;

/// An offer.
class Offer : public Subject {
  public:
    explicit Offer(std::map<std::string, CORBA::Any, std::less<>> properties)
        : properties_(std::move(properties))
    {
    }
    [[nodiscard]] Term find(std::string_view name) const override
    {
        const auto found = properties_.find(name);
        return found == properties_.end() ? Term() : Term(found->second);
    }

  private:
    const std::map<std::string, CORBA::Any, std::less<>> properties_;
};

Person person()
{
    Person person;
    person.name = "Ada";
    person.numbers.length(3);
    for (CORBA::ULong i = 0; i < 3; ++i)
        person.numbers[i] = static_cast<CORBA::Long>(10 * i);
    person.color = testing_types::green;
    person.good = true;
    person.at = {-3, 2.5};
    for (int i = 0; i < 6; ++i)
        person.grid[i / 3][i % 3] = static_cast<CORBA::Short>(i);
    person.nick = "a'b";
    person.path.length(2);
    person.path[0] = {1, 0.5};
    person.path[1] = {2, 0.25};
    return person;
}

/// union Choice with a discriminator of this value.
template <typename T>
CORBA::Any choice(CORBA::Short discriminator, const T& value)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    out.write(discriminator);
    kairos::mapping::encode(out, value);
    return any_of(testing_types::detail::choice, out);
}

TEST(Evaluator, MatchesAnythingByAnEmptyConstraint)
{
    EXPECT_TRUE(matches(CORBA::Any(), ""));
    EXPECT_TRUE(matches(any_of(CORBA::Long{1}), " "));
    Evaluator evaluator;
    EXPECT_FALSE(evaluator.evaluate(parsed("TRUE"))) << "nothing is looked at";
}

TEST(Evaluator, ReadsSimpleValues)
{
    CORBA::Any any;
    const auto is = [&any](const char* text) {
        return matches(any, text) && matches(received(any), text);
    };
    any <<= CORBA::Short{-5};
    EXPECT_TRUE(is("$ == -5"));
    any <<= CORBA::UShort{65535};
    EXPECT_TRUE(is("$ == 65535"));
    any <<= CORBA::Long{-70'000};
    EXPECT_TRUE(is("$ == -70000"));
    any <<= CORBA::ULong{4'000'000'000};
    EXPECT_TRUE(is("$ == 4000000000"));
    any <<= CORBA::LongLong{INT64_MIN};
    EXPECT_TRUE(is("$ == -9223372036854775808"));
    any <<= CORBA::ULongLong{UINT64_MAX};
    EXPECT_TRUE(is("$ == 18446744073709551615 and $ > -1"));
    any <<= CORBA::Float{0.5F};
    EXPECT_TRUE(is("$ == .5"));
    any <<= CORBA::Double{1e100};
    EXPECT_TRUE(is("$ == 1e100"));
    any <<= CORBA::LongDouble{2.5L};
    EXPECT_TRUE(is("$ == 2.5"));
    any <<= CORBA::Any::from_boolean(true);
    EXPECT_TRUE(is("$ and $ == TRUE and $ == 1"));
    any <<= CORBA::Any::from_octet(255);
    EXPECT_TRUE(is("$ == 255"));
    any <<= CORBA::Any::from_char('c');
    EXPECT_TRUE(is("$ == 'c' and $ < 'd'"));
    any <<= "text";
    EXPECT_TRUE(is("$ == 'text' and 'ex' ~ $"));
    any <<= CORBA::Any::from_string("12345", 5);
    EXPECT_TRUE(is("$ == '12345'"));
    any <<= testing_types::blue;
    EXPECT_TRUE(is("$ == blue and $ == 'blue' and $ == 2 and $ > red and 'green' < $"));
}

TEST(Evaluator, ReadsFixedPointNumbers)
{
    CORBA::Any any;
    any <<= CORBA::Any::from_fixed(CORBA::Fixed("-12.5"), 5, 2);
    EXPECT_TRUE(matches(any, "$ == -12.5") && matches(received(any), "$ == -12.5"));
    any <<= CORBA::Any::from_fixed(CORBA::Fixed("1234"), 4, 0);
    EXPECT_TRUE(matches(any, "$ == 1234") && matches(received(any), "$ / 4 == 308.5"));
}

TEST(Evaluator, FindsMembersOfExceptions)
{
    testing_types::Overflow overflow;
    overflow.size = 3;
    overflow.why = "full";
    const CORBA::Any any = any_of(overflow);
    EXPECT_TRUE(matches(any, "$.size == 3 and $.why == 'full' and $.1 == 'full'"));
    EXPECT_TRUE(matches(received(any), "$.size == 3 and $.why == 'full' and $.1 == 'full'"));
}

TEST(Evaluator, ReadsTheOtherByteOrder)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    for (const unsigned octet : {0x01U, 0x02U, 0U, 0U, 0U, 0U, 0U, 0U, 0x3FU, 0xE0U, 0U, 0U, 0U, 0U,
                                 0U, 0U}) // short 258 and double 0.5, the most significant first
        out.write(static_cast<std::uint8_t>(octet));
    cdr::Reader in(out.contiguous(), false);
    CORBA::Any any;
    kairos::types::AnyAccess::decode_value(
        in, CORBA::TypeCode::_duplicate(testing_types::_tc_Point), any);
    ASSERT_TRUE(in.ok());
    EXPECT_TRUE(matches(any, "$.x == 258 and $.y == .5"));
}

TEST(Evaluator, FollowsTheRulesOfArithmetic)
{
    const CORBA::Any none;
    EXPECT_TRUE(matches(none, "2 + 3 * 4 - 10 / 4 == 12"));
    EXPECT_TRUE(matches(none, "10 / 4 == 2 and -7 / 2 == -3 and 10 / 4.0 == 2.5"));
    EXPECT_TRUE(matches(none, "2.5 * (1 / 2) < 1 and 2.5 * (1.0 / 2) > 1"));
    EXPECT_TRUE(matches(none, "TRUE + TRUE == 2 and -TRUE == -1"));
    EXPECT_TRUE(matches(none, "1 == 1.0 and TRUE > FALSE and 'a' < 'b' and 'a' < 'aa'"));
    EXPECT_TRUE(matches(none, "9223372036854775807 + 1 == 9223372036854775808"));
    EXPECT_TRUE(matches(none, "not (1 == 2) and not FALSE"));
    EXPECT_TRUE(matches(none, "FALSE or FALSE and TRUE or TRUE"));
    EXPECT_TRUE(matches(none, "'' ~ 'x' and not ('xy' ~ 'x') and 'x' ~ 'x'"));
    EXPECT_EQ(fault(none, "1 / 0 == 1"), Fault::arithmetic);
    EXPECT_EQ(fault(none, "1 / 0.0 == 1"), Fault::arithmetic);
    EXPECT_EQ(fault(none, "18446744073709551615 + 1 > 0"), Fault::arithmetic);
    EXPECT_EQ(fault(none, "18446744073709551615 * 18446744073709551615 > 0"), Fault::arithmetic);
    EXPECT_EQ(fault(none, "-9223372036854775808 - 1 < 0"), Fault::arithmetic);
    EXPECT_EQ(fault(none, "-(18446744073709551615 - 0) < 0"), Fault::arithmetic);
}

TEST(Evaluator, ComparesNothingWithNaN)
{
    CORBA::Any any;
    any <<= std::numeric_limits<CORBA::Double>::quiet_NaN();
    EXPECT_FALSE(matches(any, "$ == $ or $ < 1 or $ >= 1"));
    EXPECT_TRUE(matches(any, "$ != $ and $ != 1"));
}

TEST(Evaluator, FindsComponents)
{
    CORBA::Any inserted;
    inserted <<= person();
    for (const CORBA::Any& any : {inserted, received(inserted)}) {
        EXPECT_TRUE(matches(any, "$.name == 'Ada' and $.0 == 'Ada' and $name == 'Ada'"));
        EXPECT_TRUE(matches(any, "$.at.x == -3 and $.at.y == 2.5 and $.4.1 == $.at.y"));
        EXPECT_TRUE(matches(any, "$.good and $.color == green and $.color != 'red'"));
        EXPECT_TRUE(matches(any, "$.numbers[2] == 20 and $.numbers._length == 3"));
        EXPECT_TRUE(matches(any, "$.grid[1][2] == 5 and $.grid[0]._length == 3"));
        EXPECT_TRUE(matches(any, "$.path[1].x == 2 and $.path[1].y == .25"));
        EXPECT_TRUE(matches(any, "$.nick == 'a\\'b' and $._type_id == 'Person'"));
        EXPECT_TRUE(matches(any, "$.at._repos_id == 'IDL:Point:1.0' and $.\\name == 'Ada'"));
        EXPECT_TRUE(matches(any, "10 in $.numbers and not (11 in $.numbers) and 2.0 in $.grid[0]"));
        EXPECT_TRUE(matches(any, "exist $.at.x and exist $ and not exist $.at.z"));
        EXPECT_TRUE(matches(any, "not exist $.numbers[3] and not exist $.name.x"));
        EXPECT_EQ(fault(any, "$.at.z == 3"), Fault::missing);
        EXPECT_EQ(fault(any, "$.8 == 3"), Fault::missing);
        EXPECT_EQ(fault(any, "$.numbers[3] == 3"), Fault::missing);
        EXPECT_EQ(fault(any, "$.numbers._type_id == ''"), Fault::missing);
        EXPECT_EQ(fault(any, "$.at == 3"), Fault::mismatch);
        EXPECT_EQ(fault(any, "$.name.x == 3"), Fault::mismatch);
        EXPECT_EQ(fault(any, "$.name > 3"), Fault::mismatch);
        EXPECT_EQ(fault(any, "$.name"), Fault::mismatch);
        EXPECT_EQ(fault(any, "$.color == purple"), Fault::mismatch);
        EXPECT_EQ(fault(any, "$.name == Ada"), Fault::mismatch);
        EXPECT_EQ(fault(any, "$.at(x) == 3"), Fault::mismatch);
        EXPECT_EQ(fault(any, "'x' in $.numbers"), Fault::mismatch);
        EXPECT_EQ(fault(any, "5 in $.at"), Fault::mismatch);
        EXPECT_EQ(fault(any, "default $.at"), Fault::mismatch);
        EXPECT_EQ(fault(any, "$.at._d == 1"), Fault::mismatch);
    }
}

TEST(Evaluator, SaysWhereItFailed)
{
    CORBA::Any any;
    any <<= person();
    EXPECT_EQ(answer(any, "TRUE and $.at.z == 3").offset, 9u);
    EXPECT_EQ(answer(any, "$.at.x / 0 == 3").offset, 7u);
}

TEST(Evaluator, LooksNoFurtherThanItMust)
{
    CORBA::Any any;
    any <<= person();
    EXPECT_TRUE(matches(any, "TRUE or $.none == 3"));
    EXPECT_FALSE(matches(any, "FALSE and $.none == 3"));
    EXPECT_TRUE(matches(any, "exist $.none and $.none == 3 or $.name == 'Ada'"));
    EXPECT_EQ(fault(any, "$.none == 3 or TRUE"), Fault::missing);
    EXPECT_EQ(fault(any, "TRUE and $.name"), Fault::mismatch);
    EXPECT_EQ(fault(any, "FALSE or $.name"), Fault::mismatch);
    EXPECT_EQ(fault(any, "$.name and TRUE"), Fault::mismatch);
    EXPECT_EQ(fault(any, "not $.name"), Fault::mismatch);
}

TEST(Evaluator, LooksIntoUnions)
{
    const CORBA::Any number = choice(-2, CORBA::Long{7});
    EXPECT_TRUE(matches(number, "$._d == -2 and $.number == 7 and $.(1) == 7 and $.(-2) == 7"));
    EXPECT_TRUE(matches(number, "not exist $.who and not exist $.(3) and not exist $.()"));
    EXPECT_TRUE(matches(number, "not default $ and not exist $.(4)"));
    EXPECT_EQ(fault(number, "$.rest == 1"), Fault::missing);
    EXPECT_EQ(fault(number, "$.('x') == 1"), Fault::mismatch);

    const CORBA::Any rest = choice(9, CORBA::Double{0.5});
    EXPECT_TRUE(matches(rest, "$.rest == .5 and $.() == .5 and default $ and $.(4) == .5"));
    EXPECT_FALSE(matches(rest, "exist $.number or exist $.(1)"));

    const CORBA::Any who = choice(3, person());
    EXPECT_TRUE(matches(who, "$.who.name == 'Ada' and $.(3).path[0].x == 1"));
}

TEST(Evaluator, FindsTheNamesOfStructuredEvents)
{
    Event event;
    event.variable_header = {{"Priority", any_of(CORBA::Short{4})}, {"both", any_of("header")}};
    event.filterable_data = {{"severity", any_of(CORBA::Long{3})},
                             {"both", any_of("data")},
                             {"who", any_of(person())},
                             {"within", any_of(any_of("deep"))}};
    event.remainder_of_body = any_of(person());
    const CORBA::Any any = event.any();
    EXPECT_TRUE(matches(any, "$domain_name == 'Telecom' and $type_name == 'CommunicationsAlarm'"));
    EXPECT_TRUE(matches(any, "$event_name == 'lost_packet' and $Priority > 3 and $severity == 3"));
    EXPECT_TRUE(matches(any, "$both == 'header' and $.filterable_data(both) == 'data'"));
    EXPECT_TRUE(matches(any, "$who.at.x == -3 and $who._type_id == 'Person'"));
    EXPECT_TRUE(matches(any, "$within == 'deep' and $.remainder_of_body.name == 'Ada'"));
    EXPECT_TRUE(
        matches(any, "$.0.0.0.1 == $type_name and $.filterable_data[0].name == 'severity'"));
    EXPECT_TRUE(matches(any, "$._type_id == 'StructuredEvent' and $.filterable_data._length == 4"));
    EXPECT_TRUE(matches(any, "exist $severity and not exist $none and not exist $event_type"));
    EXPECT_EQ(fault(any, "$none == 1"), Fault::missing);
    EXPECT_EQ(fault(any, "$.filterable_data(none) == 1"), Fault::missing);
}

TEST(Evaluator, TellsNothingFromWideText)
{
    CORBA::Any any;
    EXPECT_EQ(fault(any, "$ == 1"), Fault::missing);
    EXPECT_FALSE(matches(any, "exist $"));
    any <<= L"wide";
    EXPECT_TRUE(matches(any, "exist $") && matches(received(any), "exist $"));
    EXPECT_EQ(fault(any, "$ == 'wide'"), Fault::mismatch);
    any <<= CORBA::Any::from_wchar(L'w');
    EXPECT_TRUE(matches(any, "exist $") && matches(received(any), "exist $"));
    EXPECT_EQ(fault(received(any), "$ == 'w'"), Fault::mismatch);
}

TEST(Evaluator, AsksOffersForTheirProperties)
{
    const Offer offer({{"name", any_of("printer")},
                       {"price", any_of(CORBA::Double{2.5})},
                       {"numbers", any_of(person().numbers)},
                       {"in", any_of(CORBA::Long{1})}});
    const auto holds = [&](const char* text) { return answer(offer, text, Language::trader); };
    EXPECT_TRUE(holds("name == 'printer' and price < 3 and 20 in numbers and \\in == 1"));
    EXPECT_TRUE(holds("'int' ~ name and exist price and not exist color"));
    EXPECT_EQ(holds("color == 'red' or TRUE").fault, Fault::missing);
    EXPECT_FALSE(holds("exist color and color == 'red'"));
    EXPECT_EQ(holds("price").fault, Fault::mismatch);
}

/// What a program lays out as it likes.
class Tank : public Structure {
  public:
    [[nodiscard]] Term member(std::string_view name) const override
    {
        if (name == "level") return Term(0.75);
        if (name == "name") return Term("north");
        if (name == "full") return Term(false);
        if (name == "self") return Term(*this);
        if (name == "count") return Term(UINT64_MAX);
        return {};
    }
    [[nodiscard]] Term member_at(std::size_t position) const override
    {
        return position == 1 ? Term(-5) : Term();
    }
    [[nodiscard]] std::optional<std::size_t> length() const override { return 3; }
    [[nodiscard]] Term element(std::size_t index) const override { return Term(index * index); }
    [[nodiscard]] Term named(std::string_view name) const override
    {
        return name == "person" ? Term(person_) : Term();
    }
    [[nodiscard]] std::string_view type_name() const override { return "Tank"; }

  private:
    const CORBA::Any person_ = any_of(person());
};

class TankEvent : public Subject {
  public:
    [[nodiscard]] Term event() const override { return Term(tank_); }
    [[nodiscard]] Term find(std::string_view name) const override
    {
        return name == "curtime" ? Term(12) : Term();
    }

  private:
    const Tank tank_;
};

TEST(Evaluator, AsksStructuresOfTheProgram)
{
    const TankEvent event;
    EXPECT_TRUE(answer(event, "$.level == .75 and $.name == 'north' and not $.full"));
    EXPECT_TRUE(answer(event, "$.self.self.count == 18446744073709551615 and $.1 == -5"));
    EXPECT_TRUE(answer(event, "$[2] == 4 and $._length == 3 and 1 in $ and not (3 in $)"));
    EXPECT_TRUE(answer(event, "$(person).name == 'Ada' and $person.at.x == -3"));
    EXPECT_TRUE(answer(event, "$level == .75 and $curtime == 12 and $._type_id == 'Tank'"));
    EXPECT_TRUE(answer(event, "not exist $.none and not exist $._repos_id and not exist $[3]"));
    EXPECT_EQ(answer(event, "$.level.x == 1").fault, Fault::mismatch);
    EXPECT_EQ(answer(event, "$ == 1").fault, Fault::mismatch);
    EXPECT_EQ(answer(event, "$._d == 1").fault, Fault::mismatch);
}

TEST(Evaluator, EndsWhatCostsTooMuch)
{
    CORBA::Any any;
    testing_types::Points points;
    points.length(100'000);
    for (Point& point : points)
        point = {0, 0.5};
    kairos::types::insert_copy(any, kairos::types::pointer(testing_types::detail::points), points);
    const CORBA::Any event = received(any);
    Evaluator evaluator(1000);
    const AnyEvent subject(event);
    evaluator.look_at(subject);
    EXPECT_TRUE(evaluator.evaluate(parsed("$[10].x == 0")));
    EXPECT_EQ(evaluator.evaluate(parsed("$[99999].x == 0")).fault, Fault::limit);
    EXPECT_EQ(evaluator.evaluate(parsed("exist $[99999]")).fault, Fault::limit);
    EXPECT_TRUE(evaluator.evaluate(parsed("$[10].x == 0"))) << "each has work of its own";

    const CORBA::Any text = any_of(std::string(100'000, 'a').c_str());
    const AnyEvent other(text);
    evaluator.look_at(other);
    EXPECT_EQ(evaluator.evaluate(parsed("'b' ~ $")).fault, Fault::limit);
    EXPECT_EQ(evaluator.evaluate(parsed("$ == $")).fault, Fault::limit);
    std::string chain = "'b' == $";
    for (int i = 0; i < 2000; ++i)
        chain += " or 'b' == $";
    EXPECT_EQ(evaluator.evaluate(parsed(chain)).fault, Fault::limit);
}

TEST(Evaluator, AllocatesNothingForSimpleValues)
{
    Event event;
    event.filterable_data = {{"severity", any_of(CORBA::Long{3})}, {"place", any_of("north")}};
    const CORBA::Any structured = event.any();
    const CORBA::Any inserted = any_of(person());
    const Offer offer({{"name", any_of("printer")}, {"price", any_of(CORBA::Double{2.5})}});
    const Constraint of_event =
        parsed("$type_name == 'CommunicationsAlarm' and $severity + 1 > 3 and 'or' ~ $place and "
               "exist $.header and not exist $none");
    const Constraint of_person =
        parsed("$.name == 'Ada' and $.color == green and $.path[1].x == 2");
    const Constraint of_offer = parsed("name == 'printer' and price < 3", Language::trader);
    const AnyEvent structured_event(structured);
    const AnyEvent person_event(inserted);

    Evaluator evaluator;
    const auto evaluate = [&] {
        evaluator.look_at(structured_event);
        bool all = evaluator.evaluate(of_event).matches;
        evaluator.look_at(person_event);
        all = all && evaluator.evaluate(of_person).matches;
        evaluator.look_at(offer);
        return all && evaluator.evaluate(of_offer).matches;
    };
    EXPECT_TRUE(evaluate()); // the buffer for the person is made
    kairos::heap_testing::has_failed = false;
    kairos::heap_testing::allocations_until_failure = 1;
    const bool all = evaluate();
    kairos::heap_testing::allocations_until_failure = 0;
    EXPECT_TRUE(all);
    EXPECT_FALSE(kairos::heap_testing::has_failed);
}

TEST(Evaluator, KeepsWhatItMadeOfAnEventForTheNextConstraint)
{
    CORBA::Any any;
    any <<= person();
    const AnyEvent event(any);
    Evaluator evaluator;
    evaluator.look_at(event);
    EXPECT_TRUE(evaluator.evaluate(parsed("$.name == 'Ada'")));
    any <<= CORBA::Long{5}; // nobody should: but it shows that another look is needed
    evaluator.look_at(event);
    EXPECT_TRUE(evaluator.evaluate(parsed("$ == 5")));
}

TEST(Evaluator, GivesBackWhatALargeValueNeeded)
{
    testing_types::Points points;
    points.length(500'000);
    CORBA::Any large;
    kairos::types::insert_copy(large, kairos::types::pointer(testing_types::detail::points),
                               points);
    const CORBA::Any small = any_of(person());
    const AnyEvent large_event(large);
    const AnyEvent small_event(small);
    Evaluator evaluator;
    evaluator.look_at(small_event);
    EXPECT_TRUE(evaluator.evaluate(parsed("$.name == 'Ada'")));
    const std::size_t before = kairos::heap_testing::held;
    evaluator.look_at(large_event);
    EXPECT_TRUE(evaluator.evaluate(parsed("$._length == 500000")));
    EXPECT_GT(kairos::heap_testing::held, before + (std::size_t{4} << 20));
    evaluator.look_at(small_event);
    EXPECT_LT(kairos::heap_testing::held, before + (std::size_t{1} << 20));
}

TEST(Evaluator, RefusesAValueThatIsNone)
{
    Person nobody = person();
    CORBA::Any any;
    any <<= nobody;
    EXPECT_TRUE(matches(any, "$.name == 'Ada'"));
    CORBA::Any type_only;
    type_only.replace(testing_types::_tc_Person, nullptr);
    EXPECT_EQ(fault(type_only, "$.name == 'Ada'"), Fault::missing);
}

std::vector<std::size_t> ordered(std::string_view text, const std::vector<const Subject*>& offers)
{
    const auto preference = Preference::parse(text);
    EXPECT_TRUE(preference.ok());
    Evaluator evaluator;
    std::mt19937_64 random(5);
    return order(preference.value(), offers, evaluator, random);
}

TEST(Preference, LeavesLastWhatItHasNoTimeFor)
{
    std::vector<std::unique_ptr<Offer>> offers;
    std::vector<const Subject*> subjects;
    for (int i = 0; i < 3; ++i) {
        offers.push_back(std::make_unique<Offer>(
            std::map<std::string, CORBA::Any, std::less<>>{{"price", any_of(CORBA::Double(i))}}));
        subjects.push_back(offers.back().get());
    }
    const auto preference = Preference::parse("max price");
    ASSERT_TRUE(preference.ok());
    Evaluator evaluator;
    std::mt19937_64 random(5);
    const auto now = std::chrono::steady_clock::now();
    bool was_cut = false;
    EXPECT_EQ((std::vector<std::size_t>{2, 1, 0}), order(*preference, subjects, evaluator, random,
                                                         now + std::chrono::hours(1), &was_cut));
    EXPECT_FALSE(was_cut);
    EXPECT_EQ((std::vector<std::size_t>{0, 1, 2}),
              order(*preference, subjects, evaluator, random, now, &was_cut));
    EXPECT_TRUE(was_cut);
}

TEST(Preference, OrdersOffers)
{
    const auto offer = [](CORBA::Double price, bool fast) {
        return std::make_unique<Offer>(std::map<std::string, CORBA::Any, std::less<>>{
            {"price", any_of(price)}, {"fast", fast ? any_of("yes") : any_of("no")}});
    };
    const auto a = offer(3, true);
    const auto b = std::make_unique<Offer>(std::map<std::string, CORBA::Any, std::less<>>{});
    const auto c = offer(1, false);
    const auto d = offer(7, true);
    const auto e = offer(1, true);
    const std::vector<const Subject*> offers{a.get(), b.get(), c.get(), d.get(), e.get()};
    using Places = std::vector<std::size_t>;
    EXPECT_EQ(ordered("", offers), (Places{0, 1, 2, 3, 4}));
    EXPECT_EQ(ordered("first", offers), (Places{0, 1, 2, 3, 4}));
    EXPECT_EQ(ordered("min price", offers), (Places{2, 4, 0, 3, 1}));
    EXPECT_EQ(ordered("max price", offers), (Places{3, 0, 2, 4, 1}));
    EXPECT_EQ(ordered("max -1 * price", offers), (Places{2, 4, 0, 3, 1}));
    EXPECT_EQ(ordered("with fast == 'yes'", offers), (Places{0, 3, 4, 2, 1}));
    EXPECT_EQ(ordered("max 1 / (price - 1)", offers), (Places{0, 3, 1, 2, 4}));
    // Numbers of both kinds are ordered as doubles, in which these are equal.
    const auto whole = [](CORBA::LongLong price) {
        return std::make_unique<Offer>(
            std::map<std::string, CORBA::Any, std::less<>>{{"price", any_of(price)}});
    };
    const auto larger = whole(9007199254740993);
    const auto smaller = whole(9007199254740992);
    EXPECT_EQ(ordered("min price", {larger.get(), smaller.get()}), (Places{1, 0}));
    EXPECT_EQ(ordered("min price", {larger.get(), smaller.get(), a.get()}), (Places{2, 0, 1}));

    Places places = ordered("random", offers);
    std::ranges::sort(places);
    EXPECT_EQ(places, (Places{0, 1, 2, 3, 4}));
    EXPECT_EQ(ordered("random", {}), Places{});
}

} // namespace
