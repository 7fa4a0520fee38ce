// SPDX-License-Identifier: Apache-2.0
//
// The parts that a channel is made of, without objects: types of events with wildcards, properties
// and what is wrong with them, queues in every order, events in both forms, filters and which of
// them an event passes.
#include "kairos/notification/filters.h"
#include "kairos/notification/notification_testing.h"
#include "kairos/notification/properties.h"
#include "kairos/notification/queue.h"

#include <gtest/gtest.h>

#include <optional>

namespace kairos::notification {
namespace {

using namespace CosNotification;

NotificationPtr made(std::int16_t priority, CORBA::Long number,
                     std::chrono::nanoseconds timeout = {})
{
    return std::make_shared<Notification>(event_of("Lab", "Reading", number),
                                          EventDefaults{.priority = priority, .timeout = timeout});
}

std::vector<CORBA::Long> numbers_of(const std::vector<Queue::Item>& items)
{
    std::vector<CORBA::Long> numbers;
    for (const Queue::Item& one : items)
        numbers.push_back(number_in(one.event->structured()));
    return numbers;
}

// --- Types ---------------------------------------------------------------------------------------

bool is_one_of(std::string_view pattern, std::string_view name)
{
    std::size_t steps = type_steps_max;
    return matches(pattern, name, steps);
}

TEST(EventTypes, HaveWildcards)
{
    EXPECT_TRUE(is_one_of("*", ""));
    EXPECT_TRUE(is_one_of("Al*m", "Alarm"));
    EXPECT_TRUE(is_one_of("*a*a*", "banana"));
    EXPECT_TRUE(is_one_of("a**", "a"));
    EXPECT_TRUE(is_one_of("b*", "banana"));
    EXPECT_FALSE(is_one_of("a*b", "abc"));
    EXPECT_FALSE(is_one_of("", "a"));
    EXPECT_FALSE(is_one_of("Alarm", "Alarms"));
    EXPECT_FALSE(is_one_of(std::string(1000, '*') + "b", std::string(1000, 'a')));
}

TEST(EventTypes, CostNoMoreThanTheyMay)
{
    const std::string name(1000, 'a');
    const std::string costly = "*" + std::string(500, 'a') + "b";
    std::size_t steps = 1000;
    EXPECT_FALSE(matches(costly, name, steps));
    EXPECT_EQ(0U, steps);
    std::vector<std::pair<std::string, std::string>> many{{"Lab", name}, {"z*", name + "*"}};
    for (int i = 0; i < 100; ++i)
        many.emplace_back("Lab", costly + std::to_string(i));
    const EventTypes types(types_of(many));
    EXPECT_TRUE(types.contain("Lab", name)) << "what is said without stars is always found";
    EXPECT_FALSE(types.contain("zoo", name)) << "the others before it have used up the steps";
    EXPECT_TRUE(types.contain("Lab", std::string(510, 'a') + "b0"));
}

TEST(EventTypes, RememberThatTheyAreAll)
{
    EventTypes types;
    types.change({}, types_of({{"Lab", "Reading"}})); // of which nothing was said
    types.change(types_of({{"*", "*"}}), {});
    types.change(types_of({{"Lab", "Reading"}}), {});
    EXPECT_TRUE(types.contain("any", "thing"));
    types.change({}, types_of({{"Lab", "Reading"}}));
    EXPECT_TRUE(types.contain("any", "thing"));
    types.change(types_of({{"Lab", "Alarm"}}), types_of({{"*", "*"}}));
    EXPECT_TRUE(types.contain("Lab", "Alarm"));
    EXPECT_FALSE(types.contain("any", "thing"));

    EventTypes other;
    other.change({}, types_of({{"Lab", "Reading"}}));
    EXPECT_TRUE(other.contain("any", "thing"));
    other.change(types_of({{"Lab", "Reading"}}), {});
    EXPECT_FALSE(other.contain("any", "thing")) << "it had never said that it means all";
}

TEST(EventTypes, AreAllUntilSomebodySaysWhich)
{
    EventTypes types;
    EXPECT_TRUE(types.contain("any", "thing"));
    types.change(types_of({{"Lab", "Reading"}}), {});
    EXPECT_TRUE(types.contain("Lab", "Reading"));
    EXPECT_FALSE(types.contain("Lab", "Alarm"));
    types.change(types_of({{"", "%ALL"}}), {});
    EXPECT_TRUE(types.are_all());
    types.change({}, types_of({{"*", "*"}}));
    EXPECT_TRUE(types.contain("Lab", "Reading")) << "which was said, too";
    EXPECT_FALSE(types.contain("Lab", "Alarm"));
    types.change({}, types_of({{"Lab", "Reading"}}));
    EXPECT_FALSE(types.contain("Lab", "Reading"));
    EXPECT_TRUE(EventTypes(types_of({{"*", "%ALL"}})).are_all());
}

// --- Properties ----------------------------------------------------------------------------------

template <typename T>
QoSProperties property(const char* name, const T& value)
{
    QoSProperties all;
    all.length(1);
    all[0].name = name;
    all[0].value <<= value;
    return all;
}

std::optional<QoSError_code> code_of(const QoSProperties& wanted, Level level,
                                     PropertyError* error = nullptr)
{
    static const NotificationLimits limits;
    Qos qos;
    try {
        change(qos, wanted, level, limits);
        return std::nullopt;
    } catch (const UnsupportedQoS& raised) {
        EXPECT_EQ(1U, raised.qos_err.length());
        if (error != nullptr) *error = raised.qos_err[0];
        return raised.qos_err[0].code;
    }
}

TEST(Properties, SayWhatIsWrong)
{
    PropertyError error;
    EXPECT_EQ(UNSUPPORTED_VALUE,
              code_of(property(EventReliability, Persistent), Level::channel, &error));
    CORBA::Short high = -1;
    EXPECT_TRUE(error.available_range.high_val >>= high);
    EXPECT_EQ(BestEffort, high);
    EXPECT_STREQ("EventReliability", error.name.in());
    EXPECT_EQ(UNSUPPORTED_VALUE,
              code_of(property(ConnectionReliability, Persistent), Level::proxy));
    EXPECT_EQ(BAD_PROPERTY, code_of(property("Colour", BestEffort), Level::channel));
    EXPECT_EQ(BAD_TYPE, code_of(property(Priority, CORBA::Long{3}), Level::proxy));
    EXPECT_EQ(BAD_TYPE, code_of(property(Timeout, "soon"), Level::proxy));
    EXPECT_EQ(BAD_VALUE, code_of(property(Priority, CORBA::Short{-32768}), Level::proxy));
    EXPECT_EQ(BAD_VALUE, code_of(property(OrderPolicy, LifoOrder), Level::proxy, &error));
    EXPECT_TRUE((error.available_range.high_val >>= high) && high == DeadlineOrder);
    EXPECT_EQ(BAD_VALUE, code_of(property(MaximumBatchSize, CORBA::Long{0}), Level::admin));
    EXPECT_EQ(UNSUPPORTED_VALUE,
              code_of(property(MaximumBatchSize, CORBA::Long{1'000'000}), Level::admin, &error));
    CORBA::Long batch = -1;
    EXPECT_TRUE((error.available_range.high_val >>= batch) && batch == 1000);
    EXPECT_EQ(UNSUPPORTED_PROPERTY, code_of(property(EventReliability, BestEffort), Level::proxy));
    EXPECT_EQ(UNSUPPORTED_PROPERTY, code_of(property(OrderPolicy, FifoOrder), Level::event));
    EXPECT_EQ(UNSUPPORTED_PROPERTY, code_of(property(StartTime, TimeBase::UtcT()), Level::event));
    EXPECT_EQ(std::nullopt, code_of(property(StopTime, TimeBase::UtcT()), Level::event));
    EXPECT_EQ(std::nullopt, code_of(property(DiscardPolicy, LifoOrder), Level::proxy));
    QoSProperties many;
    many.length(1000);
    EXPECT_THROW((void)code_of(many, Level::proxy), CORBA::IMP_LIMIT);
}

TEST(Properties, AreSetTogetherOrNotAtAll)
{
    const NotificationLimits limits;
    QoSProperties both = property(Priority, CORBA::Short{7});
    both.length(2);
    both[1].name = "Colour";
    Qos qos;
    EXPECT_THROW(change(qos, both, Level::proxy, limits), UnsupportedQoS);
    EXPECT_EQ(0, qos.priority);
    both.length(1);
    change(qos, both, Level::proxy, limits);
    EXPECT_EQ(7, qos.priority);
    const QoSProperties_var all = properties_of(qos, Level::proxy);
    EXPECT_EQ(10U, all->length());
    const NamedPropertyRangeSeq_var ranges = validate(qos, both, Level::proxy, limits);
    EXPECT_EQ(9U, ranges->length());
}

TEST(Properties, OfAdministration)
{
    AdminProperties properties;
    change(properties, property(MaxConsumers, CORBA::Long{3}));
    EXPECT_EQ(3, properties.consumers);
    QoSProperties flag = property(RejectNewEvents, CORBA::Long{1});
    EXPECT_THROW(change(properties, flag), UnsupportedAdmin);
    flag[0].value <<= CORBA::Any::from_boolean(true);
    change(properties, flag);
    EXPECT_TRUE(properties.reject_new_events);
    try {
        change(properties, property(MaxQueueLength, CORBA::Long{-1}));
        FAIL() << "a negative length";
    } catch (const UnsupportedAdmin& raised) {
        EXPECT_EQ(BAD_VALUE, raised.admin_err[0].code);
    }
    const AdminProperties_var all = properties_of(properties);
    EXPECT_EQ(4U, all->length());
}

// --- Queues --------------------------------------------------------------------------------------

std::vector<CORBA::Long> all_of(Queue& queue)
{
    std::vector<Queue::Item> taken;
    queue.pop(1000, taken);
    return numbers_of(taken);
}

TEST(Queues, HaveOrders)
{
    const NotificationLimits limits;
    const auto order_of = [&limits](CORBA::Short policy) {
        Qos qos;
        qos.order = policy;
        Queue queue(qos, limits);
        EXPECT_EQ(0U, queue.push(made(1, 1, std::chrono::hours(3))));
        EXPECT_EQ(0U, queue.push(made(5, 2, std::chrono::hours(2))));
        EXPECT_EQ(0U, queue.push(made(5, 3, std::chrono::hours(1))));
        EXPECT_EQ(0U, queue.push(made(-9, 4)));
        return all_of(queue);
    };
    EXPECT_EQ((std::vector<CORBA::Long>{1, 2, 3, 4}), order_of(FifoOrder));
    EXPECT_EQ((std::vector<CORBA::Long>{1, 2, 3, 4}), order_of(AnyOrder));
    EXPECT_EQ((std::vector<CORBA::Long>{2, 3, 1, 4}), order_of(PriorityOrder));
    EXPECT_EQ((std::vector<CORBA::Long>{3, 2, 1, 4}), order_of(DeadlineOrder));
}

TEST(Queues, DiscardAsTheyAreTold)
{
    const NotificationLimits limits;
    const auto left_of = [&limits](CORBA::Short policy) {
        Qos qos;
        qos.order = FifoOrder;
        qos.discard = policy;
        qos.events_per_consumer = 3;
        Queue queue(qos, limits);
        std::size_t discarded = 0;
        discarded += queue.push(made(5, 1, std::chrono::hours(2)));
        discarded += queue.push(made(1, 2, std::chrono::hours(1)));
        discarded += queue.push(made(3, 3, std::chrono::hours(3)));
        discarded += queue.push(made(2, 4, std::chrono::hours(4)));
        EXPECT_EQ(1U, discarded);
        return all_of(queue);
    };
    EXPECT_EQ((std::vector<CORBA::Long>{2, 3, 4}), left_of(FifoOrder));
    EXPECT_EQ((std::vector<CORBA::Long>{2, 3, 4}), left_of(AnyOrder));
    EXPECT_EQ((std::vector<CORBA::Long>{1, 2, 3}), left_of(LifoOrder));
    EXPECT_EQ((std::vector<CORBA::Long>{1, 3, 4}), left_of(PriorityOrder));
    EXPECT_EQ((std::vector<CORBA::Long>{1, 3, 4}), left_of(DeadlineOrder));
}

TEST(Queues, ForgetWhatHasExpired)
{
    const NotificationLimits limits;
    Queue queue({}, limits);
    (void)queue.push(made(0, 1, std::chrono::nanoseconds(1)));
    (void)queue.push(made(0, 2));
    std::vector<Queue::Item> taken;
    EXPECT_EQ(1U, queue.pop(10, taken));
    EXPECT_EQ((std::vector<CORBA::Long>{2}), numbers_of(taken));
}

TEST(Queues, KeepNothingThatHasExpiredInPlaceOfWhatHasNot)
{
    const NotificationLimits limits;
    Qos qos;
    qos.events_per_consumer = 2;
    qos.timeout = 1;
    Queue queue(qos, limits);
    EXPECT_EQ(0U, queue.expire());
    EXPECT_EQ(0U, queue.push(made(0, 1)));
    EXPECT_EQ(0U, queue.push(made(0, 2, std::chrono::hours(1))));
    const NotificationPtr third = made(0, 3);
    while (Queue::Clock::now() < queue.deadline_of(*third)) {
    }
    EXPECT_EQ(1U, queue.expire());
    EXPECT_EQ(0U, queue.push(made(0, 4, std::chrono::hours(1))));
    EXPECT_EQ((std::vector<CORBA::Long>{2, 4}), all_of(queue));
}

TEST(Queues, AreChanged)
{
    const NotificationLimits limits;
    Queue queue({}, limits);
    for (CORBA::Long i = 0; i < 5; ++i)
        (void)queue.push(made(static_cast<std::int16_t>(-i), i));
    Qos qos;
    qos.order = FifoOrder;
    qos.discard = LifoOrder;
    qos.events_per_consumer = 3;
    EXPECT_EQ(2U, queue.change(qos));
    EXPECT_EQ(1U, queue.push(made(9, 9), true)); // itself
    EXPECT_EQ((std::vector<CORBA::Long>{0, 1, 2}), all_of(queue));
    EXPECT_EQ(0U, queue.push(made(9, 9), true)); // where nothing waits there is room
    EXPECT_EQ(1U, queue.clear());
}

TEST(Queues, HaveThePriorityAndTheLifetimeThatMappingFiltersGive)
{
    const NotificationLimits limits;
    Queue queue({}, limits);
    EXPECT_EQ(0U, queue.push(made(5, 1)));
    EXPECT_EQ(0U, queue.push(made(1, 2), false, {.priority = std::int16_t{9}}));
    EXPECT_EQ(0U, queue.push(made(8, 3), false, {.priority = std::int16_t{-1}}));
    EXPECT_EQ(0U, queue.push(made(9, 4), false, {.lifetime = std::chrono::nanoseconds(1)}));
    EXPECT_EQ(0U, queue.push(made(0, 5, std::chrono::nanoseconds(1)), false,
                             {.lifetime = std::chrono::nanoseconds(0)}));
    Qos qos;
    qos.discard = PriorityOrder;
    EXPECT_EQ(0U, queue.change(qos)); // which leaves that as it is
    EXPECT_EQ(1U, queue.expire());
    qos.events_per_consumer = 3;
    EXPECT_EQ(1U, queue.change(qos));
    EXPECT_EQ((std::vector<CORBA::Long>{2, 1, 5}), all_of(queue));
}

// --- Events --------------------------------------------------------------------------------------

TEST(Notifications, HaveBothForms)
{
    CORBA::Any number;
    number <<= CORBA::Long{7};
    const Notification from_any(number, {});
    EXPECT_EQ("%ANY", from_any.type_name());
    EXPECT_STREQ("%ANY", from_any.structured().header.fixed_header.event_type.type_name.in());
    CORBA::Long value = 0;
    EXPECT_TRUE((from_any.structured().remainder_of_body >>= value) && value == 7);
    // What was an Any becomes that Any again.
    const Notification back(from_any.structured(), {});
    EXPECT_TRUE((back.any() >>= value) && value == 7);

    const Notification structured(event_of("Lab", "Reading", 9), {});
    const StructuredEvent* inside = nullptr;
    ASSERT_TRUE(structured.any() >>= inside);
    EXPECT_EQ(9, number_in(*inside));
    // What is a structured event in an Any is that structured event again.
    const Notification unwrapped(structured.any(), {});
    EXPECT_EQ("Reading", unwrapped.type_name());
    EXPECT_EQ(9, number_in(unwrapped.structured()));
}

TEST(Notifications, SayWhatTheirHeadersSay)
{
    StructuredEvent event = event_of("Lab", "Reading", 1);
    event.header.variable_header.length(3);
    event.header.variable_header[0].name = Priority;
    event.header.variable_header[0].value <<= CORBA::Short{12};
    event.header.variable_header[1].name = Timeout;
    event.header.variable_header[1].value <<= TimeBase::TimeT{10'000'000};
    event.header.variable_header[2].name = StopTime; // in 1582
    TimeBase::UtcT time{};
    event.header.variable_header[2].value <<= time;
    const Notification made(event, {.priority = 3, .timeout = {}});
    EXPECT_EQ(12, made.priority());
    EXPECT_LT(made.deadline(), made.received());
    event.header.variable_header.length(2);
    const Notification later(event, {});
    EXPECT_EQ(later.received() + std::chrono::seconds(1), later.deadline());
    event.header.variable_header[1].value <<= ~TimeBase::TimeT{0};
    EXPECT_GT(Notification(event, {}).deadline(), Notification::Clock::now());
    event.header.fixed_header.event_type.type_name = std::string(type_name_max + 1, 'x').c_str();
    EXPECT_THROW(Notification(event, {}), CORBA::IMP_LIMIT);
}

// --- Filters -------------------------------------------------------------------------------------

CosNotifyFilter::ConstraintExpSeq constraint(const EventTypeSeq& types, const char* text)
{
    CosNotifyFilter::ConstraintExpSeq all;
    all.length(1);
    all[0].event_types = types;
    all[0].constraint_expr = text;
    return all;
}

class Filters : public ::testing::Test {
  protected:
    [[nodiscard]] FilterPtr filter(const EventTypeSeq& types, const char* text) const
    {
        auto made = std::make_shared<Filter>(budget_);
        const CosNotifyFilter::ConstraintInfoSeq_var infos = made->add(constraint(types, text));
        return made;
    }
    [[nodiscard]] bool passes(Matcher& matcher, const FilterPtr& filter,
                              const StructuredEvent& event) const
    {
        const Notification notification(event, {});
        const Passed passed = matcher.match(notification);
        const bool found =
            std::ranges::find(passed.filters, filter->number()) != passed.filters.end();
        EXPECT_EQ(found, filter->passes(notification)); // alone, as among all
        return found;
    }

    const std::shared_ptr<FilterBudget> budget_ =
        std::make_shared<FilterBudget>(NotificationLimits());
};

TEST_F(Filters, LetThroughWhatTheyMean)
{
    Matcher matcher(budget_);
    const FilterPtr of_type = filter(types_of({{"Lab", "Alarm"}}), "$number > 3");
    const FilterPtr wild = filter(types_of({{"*", "Al*"}, {"Lab", "Reading"}}), "");
    const FilterPtr any = filter({}, "$type_name == 'Reading' and $number == 2");
    const FilterPtr quoted = filter(types_of({{"", "O'Brien\\"}}), "");
    for (const FilterPtr& one : {of_type, wild, any, quoted})
        (void)matcher.attach(one);
    EXPECT_TRUE(passes(matcher, of_type, event_of("Lab", "Alarm", 4)));
    EXPECT_FALSE(passes(matcher, of_type, event_of("Lab", "Alarm", 3)));
    EXPECT_FALSE(passes(matcher, of_type, event_of("Shop", "Alarm", 4)));
    EXPECT_TRUE(passes(matcher, wild, event_of("Shop", "Alarm", 0)));
    EXPECT_FALSE(passes(matcher, wild, event_of("Shop", "Reading", 0)));
    EXPECT_TRUE(passes(matcher, any, event_of("Shop", "Reading", 2)));
    EXPECT_FALSE(passes(matcher, any, event_of("Shop", "Reading", 3)));
    EXPECT_TRUE(passes(matcher, quoted, event_of("Shop", "O'Brien\\", 0)));
}

TEST_F(Filters, AreSeenWhenTheyChange)
{
    Matcher matcher(budget_);
    const FilterPtr changing = filter({}, "$number == 1");
    const std::uint64_t first = matcher.attach(changing);
    EXPECT_LT(first, matcher.attach(changing));
    EXPECT_TRUE(passes(matcher, changing, event_of("Lab", "Reading", 1)));
    CosNotifyFilter::ConstraintInfoSeq infos;
    infos.length(1);
    infos[0].constraint_id = 1;
    infos[0].constraint_expression = constraint({}, "$number == 2")[0];
    changing->modify({}, infos);
    EXPECT_FALSE(passes(matcher, changing, event_of("Lab", "Reading", 1)));
    EXPECT_TRUE(passes(matcher, changing, event_of("Lab", "Reading", 2)));
    matcher.detach(*changing);
    EXPECT_TRUE(passes(matcher, changing, event_of("Lab", "Reading", 2)));
    matcher.detach(*changing);
    EXPECT_TRUE(matcher.match(Notification(event_of("Lab", "Reading", 2), {})).filters.empty());
    changing->end();
    EXPECT_FALSE(changing->passes(Notification(event_of("Lab", "Reading", 2), {})));
    EXPECT_THROW((void)changing->add(constraint({}, "")), CORBA::OBJECT_NOT_EXIST);
}

TEST_F(Filters, RefuseWhatTheyCannotBe)
{
    const FilterPtr one = filter({}, "$number == 1");
    CosNotifyFilter::ConstraintExpSeq two = constraint({}, "$number == 2");
    two.length(2);
    two[1].constraint_expr = "1 < 2 < 3";
    try {
        (void)one->add(two);
        FAIL() << "no constraint";
    } catch (const CosNotifyFilter::InvalidConstraint& raised) {
        EXPECT_STREQ("1 < 2 < 3", raised.constr.constraint_expr.in());
    }
    EXPECT_EQ(1U, one->list()->size()); // all or nothing
    CosNotifyFilter::ConstraintIDSeq ids;
    ids.length(1);
    ids[0] = 9;
    EXPECT_THROW(one->modify(ids, {}), CosNotifyFilter::ConstraintNotFound);
    EXPECT_THROW((void)one->infos(ids), CosNotifyFilter::ConstraintNotFound);
    const CosNotifyFilter::ConstraintInfoSeq_var more = one->add(constraint({}, "$number == 3"));
    ids.length(2);
    ids[0] = ids[1] = 1;
    EXPECT_THROW((void)one->infos(ids), CosNotifyFilter::ConstraintNotFound) << "asked twice";
    EXPECT_THROW(one->modify(ids, {}), CosNotifyFilter::ConstraintNotFound);
    EXPECT_EQ(2U, one->list()->size());
    ids[1] = more[0].constraint_id;
    EXPECT_EQ(2U, CosNotifyFilter::ConstraintInfoSeq_var(one->infos(ids))->length());
    EXPECT_THROW((void)one->add(constraint(types_of({{std::string(2000, 'x'), "y"}}), "")),
                 CORBA::IMP_LIMIT);
}

TEST_F(Filters, AreBounded)
{
    NotificationLimits limits;
    limits.filters_max = 2;
    limits.constraints_max = 3;
    limits.constraint_steps_max = 50;
    const auto budget = std::make_shared<FilterBudget>(limits);
    auto first = std::make_shared<Filter>(budget);
    Filter second(budget);
    EXPECT_THROW(Filter{budget}, CORBA::IMP_LIMIT);
    CosNotifyFilter::ConstraintExpSeq four;
    four.length(4);
    EXPECT_THROW((void)first->add(four), CORBA::IMP_LIMIT);
    four.length(3);
    std::string costly = "$number == 0";
    for (int i = 0; i < 100; ++i)
        costly += " or $number == 0";
    costly += " or TRUE";
    four[0].constraint_expr = costly.c_str();
    four[1].constraint_expr = four[2].constraint_expr = "FALSE";
    const CosNotifyFilter::ConstraintInfoSeq_var infos = first->add(four);
    EXPECT_EQ(3U, infos->length());
    EXPECT_FALSE(first->passes(Notification(event_of("Lab", "Reading", 1), {})));
    EXPECT_THROW((void)second.add(constraint({}, "")), CORBA::IMP_LIMIT);
    first->clear();
    EXPECT_EQ(1U, CosNotifyFilter::ConstraintInfoSeq_var(second.add(constraint({}, "")))->length());
}

TEST_F(Filters, StayFiledWhereTheyAreTheSame)
{
    Matcher matcher(budget_);
    const FilterPtr changing = filter({}, "$number == 1");
    const FilterPtr other = filter({}, "$number > 1");
    (void)matcher.attach(changing);
    (void)matcher.attach(other);
    CosNotifyFilter::ConstraintExpSeq three = constraint({}, "$number == 2");
    three.length(3);
    three[1].constraint_expr = "$number == 3";
    three[2].constraint_expr = "$number == 4";
    const CosNotifyFilter::ConstraintInfoSeq_var added = changing->add(three);
    const auto passing = [&] {
        std::vector<CORBA::Long> numbers;
        for (CORBA::Long i = 1; i < 9; ++i) {
            if (passes(matcher, changing, event_of("Lab", "Reading", i))) numbers.push_back(i);
            EXPECT_EQ(i > 1, passes(matcher, other, event_of("Lab", "Reading", i)));
        }
        return numbers;
    };
    EXPECT_EQ((std::vector<CORBA::Long>{1, 2, 3, 4}), passing());
    CosNotifyFilter::ConstraintInfoSeq infos;
    infos.length(1);
    infos[0].constraint_id = added[1].constraint_id;
    infos[0].constraint_expression = constraint({}, "$number == 7")[0];
    CosNotifyFilter::ConstraintIDSeq removed;
    removed.length(2);
    removed[0] = 1;
    removed[1] = added[2].constraint_id;
    changing->modify(removed, infos);
    EXPECT_EQ((std::vector<CORBA::Long>{2, 7}), passing());
    const auto before = changing->list();
    changing->modify({}, {});
    (void)CosNotifyFilter::ConstraintInfoSeq_var(changing->add({}));
    EXPECT_EQ(before, changing->list()) << "nothing has changed";
    (void)CosNotifyFilter::ConstraintInfoSeq_var(changing->add(constraint({}, "$number == 8")));
    EXPECT_EQ((std::vector<CORBA::Long>{2, 7, 8}), passing());
    changing->clear();
    EXPECT_TRUE(passing().empty());
}

TEST_F(Filters, ThatComeAfterAnEventSayNothingOfIt)
{
    using Verdict = FilterSet::Verdict;
    const auto matcher = std::make_shared<Matcher>(budget_);
    const auto nil = CosNotifyFilter::Filter::_nil();
    const FilterPtr open = filter({}, "");
    const FilterPtr closed = filter({}, "FALSE");
    const Notification event(event_of("Lab", "Reading", 1), {});
    FilterSet set(matcher);
    FilterSet other(matcher);
    const Passed before = matcher->match(event);
    const CosNotifyFilter::FilterID first = set.add(open, nil);
    EXPECT_EQ(Verdict::none, set.judge(before));
    const Passed with_first = matcher->match(event);
    EXPECT_EQ(Verdict::passes, set.judge(with_first));
    EXPECT_EQ(Verdict::none, other.judge(with_first));
    (void)set.add(closed, nil);
    set.remove(first);
    EXPECT_EQ(Verdict::none, set.judge(with_first)) << "only one is left, that was not asked";
    const Passed with_closed = matcher->match(event);
    EXPECT_EQ(Verdict::stays, set.judge(with_closed));
    (void)set.add(open, nil); // again, which is another attachment
    EXPECT_EQ(Verdict::stays, set.judge(with_closed));
    EXPECT_EQ(Verdict::passes, set.judge(matcher->match(event)));
    set.clear();
    EXPECT_EQ(Verdict::none, set.judge(with_closed));
}

TEST_F(Filters, LetNothingThroughBecauseTheyEnd)
{
    using Verdict = FilterSet::Verdict;
    const auto matcher = std::make_shared<Matcher>(budget_);
    const auto nil = CosNotifyFilter::Filter::_nil();
    const FilterPtr one = filter({}, "FALSE");
    const Notification event(event_of("Lab", "Reading", 1), {});
    FilterSet with(matcher);
    FilterSet without(matcher);
    (void)with.add(one, nil);
    const Passed passed = matcher->match(event);
    with.end();
    without.end();
    EXPECT_EQ(Verdict::stays, with.judge(passed));
    EXPECT_EQ(Verdict::stays, with.judge(matcher->match(event)));
    EXPECT_EQ(Verdict::none, without.judge(passed));
    EXPECT_THROW((void)with.add(one, nil), CORBA::OBJECT_NOT_EXIST);
    EXPECT_EQ(0U, CosNotifyFilter::FilterIDSeq_var(with.ids())->length());
    with.clear();
    EXPECT_EQ(Verdict::stays, with.judge(passed));
}

TEST_F(Filters, JoinThoseOfAdminAndProxy)
{
    using Verdict = FilterSet::Verdict;
    EXPECT_TRUE(goes_on(Verdict::none, Verdict::none, true));
    EXPECT_TRUE(goes_on(Verdict::none, Verdict::none, false));
    EXPECT_TRUE(goes_on(Verdict::passes, Verdict::none, true));
    EXPECT_FALSE(goes_on(Verdict::passes, Verdict::stays, true));
    EXPECT_TRUE(goes_on(Verdict::passes, Verdict::stays, false));
    EXPECT_TRUE(goes_on(Verdict::stays, Verdict::passes, false));
    EXPECT_FALSE(goes_on(Verdict::stays, Verdict::none, false));
    EXPECT_FALSE(goes_on(Verdict::none, Verdict::stays, true));
}

} // namespace
} // namespace kairos::notification
