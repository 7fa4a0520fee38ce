// SPDX-License-Identifier: Apache-2.0
//
// Sets of properties as their clients meet them, over loopback: what each operation answers and
// raises, what constrained sets allow, iterators, and what nobody may have more of.
#include "kairos/properties/service.h"

#include "kairos/corba/numbered_objects.h"
#include "kairos/ior/profile.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace kairos::properties {
namespace {

using namespace CosPropertyService;
using Names = std::vector<std::string>;

CORBA::ORB_ptr make_orb()
{
    static int count = 0;
    std::vector<std::string> options{"test", "-ORBListenEndpoints", "iiop://127.0.0.1"};
    std::vector<char*> argv;
    for (std::string& option : options)
        argv.push_back(option.data());
    int argc = static_cast<int>(argv.size());
    return CORBA::ORB_init(argc, argv.data(), ("properties " + std::to_string(++count)).c_str());
}

template <typename T>
CORBA::Any any_of(const T& value)
{
    CORBA::Any any;
    any <<= value;
    return any;
}

CORBA::Any any_of(CORBA::Long value) { return any_of<CORBA::Long>(value); }

CORBA::Any text_of(std::size_t size) { return any_of(std::string(size, 'x').c_str()); }

PropertyNames list_of(const Names& names)
{
    PropertyNames list;
    list.length(static_cast<CORBA::ULong>(names.size()));
    for (CORBA::ULong i = 0; i < list.length(); ++i)
        list[i] = names[i].c_str();
    return list;
}

PropertyDefs defs_of(const std::vector<std::tuple<std::string, CORBA::Any, PropertyModeType>>& all)
{
    PropertyDefs list;
    list.length(static_cast<CORBA::ULong>(all.size()));
    for (CORBA::ULong i = 0; i < list.length(); ++i) {
        list[i].property_name = std::get<0>(all[i]).c_str();
        list[i].property_value = std::get<1>(all[i]);
        list[i].property_mode = std::get<2>(all[i]);
    }
    return list;
}

PropertyTypes types_of(std::initializer_list<CORBA::TypeCode_ptr> types)
{
    PropertyTypes list;
    list.length(static_cast<CORBA::ULong>(types.size()));
    CORBA::ULong at = 0;
    for (const CORBA::TypeCode_ptr type : types)
        list[at++] = CORBA::TypeCode::_duplicate(type);
    return list;
}

/// "2 name" for each failure: the reason's number and the name.
template <typename Call>
Names failures_of(Call call)
{
    Names all;
    try {
        call();
    } catch (const MultipleExceptions& failures) {
        for (CORBA::ULong i = 0; i < failures.exceptions.length(); ++i)
            all.push_back(std::to_string(failures.exceptions[i].reason) + " " +
                          failures.exceptions[i].failing_property_name.in());
    }
    return all;
}

CORBA::Long number_in(const CORBA::Any& any)
{
    CORBA::Long number = -1;
    (void)(any >>= number);
    return number;
}

CORBA::TCKind kind_of(const CORBA::Any& any) { return CORBA::TypeCode_var(any.type())->kind(); }

class PropertySets : public ::testing::Test {
  protected:
    explicit PropertySets(const ServiceLimits& limits = {})
        : server_(make_orb()), client_(make_orb()), service_(std::in_place, server_.in(), limits),
          factory_(here<PropertySetFactory>(PropertySetFactory_var(service_->factory()).in())),
          def_factory_(
              here<PropertySetDefFactory>(PropertySetDefFactory_var(service_->def_factory()).in()))
    {
    }
    ~PropertySets() override
    {
        service_.reset();
        server_->destroy();
        client_->destroy();
    }

    /// The same object as a client in another process sees it.
    template <typename Interface>
    [[nodiscard]] typename Interface::_var_type here(CORBA::Object_ptr object) const
    {
        const CORBA::String_var text = server_->object_to_string(object);
        const CORBA::Object_var mine = client_->string_to_object(text.in());
        return Interface::_narrow(mine.in());
    }
    [[nodiscard]] static CORBA::Long get(const PropertySet_var& set, const char* name)
    {
        const CORBA::Any_var value = set->get_property_value(name);
        return number_in(value.in());
    }
    [[nodiscard]] PropertySet_var set_of(CORBA::Long count) const
    {
        PropertySet_var set = factory_->create_propertyset();
        Properties properties;
        properties.length(static_cast<CORBA::ULong>(count));
        for (CORBA::Long i = 0; i < count; ++i) {
            const std::string name = "p" + std::to_string(1000 + i);
            properties[static_cast<CORBA::ULong>(i)].property_name = name.c_str();
            properties[static_cast<CORBA::ULong>(i)].property_value = any_of(i);
        }
        set->define_properties(properties);
        return set;
    }

    CORBA::ORB_var server_;
    CORBA::ORB_var client_;
    std::optional<PropertyService> service_;
    PropertySetFactory_var factory_;
    PropertySetDefFactory_var def_factory_;
};

// --- What sets do --------------------------------------------------------------------------------

TEST_F(PropertySets, DefinesGetsAndDeletes)
{
    const PropertySet_var set = factory_->create_propertyset();
    set->define_property("speed", any_of(7));
    EXPECT_EQ(7, get(set, "speed"));
    set->define_property("speed", any_of(8));
    EXPECT_EQ(8, get(set, "speed"));
    EXPECT_THROW(set->define_property("speed", any_of("fast")), ConflictingProperty);
    EXPECT_THROW(set->define_property("", any_of(1)), InvalidPropertyName);
    EXPECT_EQ(1U, set->get_number_of_properties());
    EXPECT_TRUE(set->is_property_defined("speed"));
    EXPECT_FALSE(set->is_property_defined("colour"));
    EXPECT_THROW((void)set->is_property_defined(""), InvalidPropertyName);
    EXPECT_THROW((void)CORBA::Any_var(set->get_property_value("colour")), PropertyNotFound);
    EXPECT_THROW((void)CORBA::Any_var(set->get_property_value("")), InvalidPropertyName);
    set->delete_property("speed");
    EXPECT_THROW(set->delete_property("speed"), PropertyNotFound);
    EXPECT_THROW(set->delete_property(""), InvalidPropertyName);
    set->define_property("speed", any_of("fast")); // another type, as it is another property
    EXPECT_EQ(1U, set->get_number_of_properties());
}

TEST_F(PropertySets, HaveModes)
{
    const PropertySetDef_var set = def_factory_->create_propertysetdef();
    set->define_property_with_mode("n", any_of(1), normal);
    set->define_property_with_mode("r", any_of(1), read_only);
    set->define_property_with_mode("f", any_of(1), fixed_normal);
    set->define_property_with_mode("fr", any_of(1), fixed_readonly);
    EXPECT_THROW(set->define_property_with_mode("u", any_of(1), undefined), UnsupportedMode);
    EXPECT_THROW(set->define_property("r", any_of(2)), ReadOnlyProperty);
    EXPECT_THROW(set->define_property_with_mode("fr", any_of(2), normal), ReadOnlyProperty);
    set->define_property("f", any_of(2));
    EXPECT_EQ(fixed_normal, set->get_property_mode("f")); // which it keeps
    EXPECT_THROW(set->delete_property("f"), FixedProperty);
    EXPECT_THROW(set->delete_property("fr"), FixedProperty);
    EXPECT_FALSE(set->delete_all_properties());
    EXPECT_EQ(2U, set->get_number_of_properties());
    set->set_property_mode("f", normal);
    set->set_property_mode("fr", read_only);
    EXPECT_TRUE(set->delete_all_properties());
    EXPECT_THROW(set->set_property_mode("f", normal), PropertyNotFound);
    EXPECT_THROW(set->set_property_mode("", normal), InvalidPropertyName);
    EXPECT_THROW((void)set->get_property_mode("f"), PropertyNotFound);
    set->define_property("f", any_of(1));
    EXPECT_EQ(normal, set->get_property_mode("f"));
    EXPECT_THROW(set->set_property_mode("f", undefined), UnsupportedMode);
}

TEST_F(PropertySets, BatchesDoWhatTheyCan)
{
    const PropertySetDef_var set = def_factory_->create_initial_propertysetdef(
        defs_of({{"a", any_of(1), normal}, {"r", any_of(1), fixed_readonly}}));
    EXPECT_EQ((Names{"0 ", "1 a", "7 r", "5 u"}), failures_of([&] {
                  set->define_properties_with_modes(defs_of({{"", any_of(1), normal},
                                                             {"b", any_of(2), fixed_normal},
                                                             {"a", any_of("text"), normal},
                                                             {"r", any_of(2), normal},
                                                             {"u", any_of(2), undefined}}));
              }));
    EXPECT_EQ(fixed_normal, set->get_property_mode("b"));
    EXPECT_EQ((Names{"2 c", "6 b", "0 "}), failures_of([&] {
                  set->delete_properties(list_of({"c", "b", "", "a"}));
              }));
    EXPECT_FALSE(set->is_property_defined("a"));
    PropertyModes modes;
    modes.length(2);
    modes[0].property_name = "none";
    modes[0].property_mode = normal;
    modes[1].property_name = "b";
    modes[1].property_mode = normal;
    EXPECT_EQ((Names{"2 none"}), failures_of([&] { set->set_property_modes(modes); }));
    EXPECT_EQ(normal, set->get_property_mode("b"));
    EXPECT_EQ((Names{"5 x"}), failures_of([&] {
                  (void)PropertySetDef_var(def_factory_->create_initial_propertysetdef(
                      defs_of({{"x", any_of(1), undefined}})));
              }));
}

TEST_F(PropertySets, SaysWhichNamesItDoesNotKnow)
{
    const PropertySetDef_var set = def_factory_->create_initial_propertysetdef(
        defs_of({{"a", any_of(1), read_only}, {"b", any_of(2), normal}}));
    Properties_var properties;
    EXPECT_TRUE(set->get_properties(list_of({"b", "a"}), properties.out()));
    EXPECT_EQ(2, number_in(properties[0U].property_value));
    EXPECT_EQ(1, number_in(properties[1U].property_value));
    EXPECT_FALSE(set->get_properties(list_of({"a", "none", ""}), properties.out()));
    ASSERT_EQ(3U, properties->length());
    EXPECT_EQ(1, number_in(properties[0U].property_value));
    EXPECT_STREQ("none", properties[1U].property_name.in());
    EXPECT_EQ(CORBA::tk_void, kind_of(properties[1U].property_value));
    EXPECT_EQ(CORBA::tk_void, kind_of(properties[2U].property_value));
    PropertyModes_var modes;
    EXPECT_TRUE(set->get_property_modes(list_of({"a"}), modes.out()));
    EXPECT_EQ(read_only, modes[0U].property_mode);
    EXPECT_FALSE(set->get_property_modes(list_of({"none", "b"}), modes.out()));
    EXPECT_EQ(undefined, modes[0U].property_mode);
    EXPECT_EQ(normal, modes[1U].property_mode);
}

TEST_F(PropertySets, AllowWhatTheirMakerSaid)
{
    const PropertySetDef_var set = def_factory_->create_constrained_propertysetdef(
        types_of({CORBA::_tc_long, CORBA::_tc_string}), defs_of({{"size", any_of(0), fixed_normal},
                                                                 {"any", CORBA::Any(), undefined},
                                                                 {"name", any_of(""), normal}}));
    set->define_property("size", any_of(3));
    EXPECT_EQ(fixed_normal, set->get_property_mode("size"));
    EXPECT_THROW(set->define_property_with_mode("size", any_of(3), normal), UnsupportedMode);
    EXPECT_THROW(set->set_property_mode("size", normal), UnsupportedMode);
    EXPECT_THROW(set->define_property("name", any_of(3)), UnsupportedTypeCode);
    EXPECT_THROW(set->define_property("other", any_of(3)), UnsupportedProperty);
    EXPECT_THROW(set->define_property("any", any_of(CORBA::Double{1})), UnsupportedTypeCode);
    set->define_property_with_mode("any", any_of("text"), read_only);
    PropertyTypes_var types;
    set->get_allowed_property_types(types.out());
    ASSERT_EQ(2U, types->length());
    EXPECT_TRUE(types[1U]->equal(CORBA::_tc_string));
    PropertyDefs_var properties;
    set->get_allowed_properties(properties.out());
    ASSERT_EQ(3U, properties->length());
    EXPECT_STREQ("size", properties[0U].property_name.in());
    EXPECT_EQ(fixed_normal, properties[0U].property_mode);

    Properties allowed;
    allowed.length(1);
    allowed[0].property_name = "size";
    allowed[0].property_value = any_of(0);
    const PropertySet_var plain =
        factory_->create_constrained_propertyset(PropertyTypes(), allowed);
    EXPECT_THROW(plain->define_property("other", any_of(1)), UnsupportedProperty);
    plain->define_property("size", any_of(1));
}

TEST_F(PropertySets, RefusesConstraintsThatContradictThemselves)
{
    const auto make = [&](const PropertyTypes& types, const PropertyDefs& properties) {
        (void)PropertySetDef_var(
            def_factory_->create_constrained_propertysetdef(types, properties));
    };
    EXPECT_THROW(make(types_of({CORBA::_tc_long}), defs_of({{"a", any_of(""), normal}})),
                 ConstraintNotSupported);
    EXPECT_THROW(make({}, defs_of({{"", any_of(1), normal}})), ConstraintNotSupported);
    EXPECT_THROW(make({}, defs_of({{"a", any_of(1), normal}, {"a", any_of(1), normal}})),
                 ConstraintNotSupported);
    PropertyTypes many;
    many.length(static_cast<CORBA::ULong>(ServiceLimits().allowed_types_max + 1));
    for (CORBA::ULong i = 0; i < many.length(); ++i)
        many[i] = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
    EXPECT_THROW(make(many, {}), ConstraintNotSupported);
}

TEST_F(PropertySets, AreWhatTheirFactorySays)
{
    const PropertySet_var plain = factory_->create_propertyset();
    const PropertySetDef_var as_def = PropertySetDef::_narrow(plain.in());
    EXPECT_TRUE(CORBA::is_nil(as_def.in()));
    const PropertySetDef_var def = def_factory_->create_propertysetdef();
    const PropertySet_var as_plain = PropertySet::_narrow(def.in());
    EXPECT_FALSE(CORBA::is_nil(as_plain.in()));
}

TEST_F(PropertySets, AreFoundByTheirNames)
{
    const PropertySetDef_var made = service_->create_set("Plant");
    made->define_property("area", any_of(12));
    const CORBA::String_var text = server_->object_to_string(made.in());
    const auto port = ior::targets(ior::from_string(text.in()).value()).front().address.port;
    const std::string server = "corbaloc::127.0.0.1:" + std::to_string(port);
    CORBA::Object_var object = client_->string_to_object((server + "/Plant").c_str());
    const PropertySet_var set = PropertySet::_narrow(object.in());
    EXPECT_EQ(12, get(set, "area"));
    object = client_->string_to_object((server + "/PropertySetFactory").c_str());
    EXPECT_FALSE(CORBA::is_nil(PropertySetFactory_var(PropertySetFactory::_narrow(object)).in()));
    EXPECT_THROW((void)PropertySetDef_var(service_->create_set("Plant")), CORBA::BAD_PARAM);
    EXPECT_THROW((void)PropertySetDef_var(service_->create_set("PropertySetFactory")),
                 CORBA::BAD_PARAM);
    EXPECT_THROW((void)PropertySetDef_var(service_->create_set(std::string(256, 'n'))),
                 CORBA::BAD_PARAM);
    EXPECT_THROW(PropertyService(server_.in()), PortableServer::POA::AdapterAlreadyExists);
}

// --- Iterators -----------------------------------------------------------------------------------

TEST_F(PropertySets, AreListedByIterators)
{
    const PropertySet_var set = set_of(5);
    PropertyNames_var names;
    PropertyNamesIterator_var more_names;
    set->get_all_property_names(5, names.out(), more_names.out());
    EXPECT_EQ(5U, names->length());
    EXPECT_TRUE(CORBA::is_nil(more_names.in()));
    set->get_all_property_names(2, names.out(), more_names.out());
    ASSERT_EQ(2U, names->length());
    EXPECT_STREQ("p1001", names[1U]);
    CORBA::String_var name;
    EXPECT_TRUE(more_names->next_one(name.out()));
    EXPECT_STREQ("p1002", name.in());
    EXPECT_TRUE(more_names->next_n(100, names.out()));
    EXPECT_EQ(2U, names->length());
    EXPECT_FALSE(more_names->next_n(100, names.out()));
    EXPECT_EQ(0U, names->length());
    EXPECT_FALSE(more_names->next_one(name.out()));
    EXPECT_STREQ("", name.in());
    more_names->reset();
    EXPECT_TRUE(more_names->next_one(name.out()));
    EXPECT_STREQ("p1000", name.in()); // of all, not of the rest
    more_names->destroy();
    EXPECT_THROW(more_names->destroy(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW((void)more_names->next_one(name.out()), CORBA::OBJECT_NOT_EXIST);
}

TEST_F(PropertySets, StayAsTheyWereForIterators)
{
    const PropertySet_var set = set_of(3);
    Properties_var properties;
    PropertiesIterator_var more;
    set->get_all_properties(0, properties.out(), more.out());
    EXPECT_EQ(0U, properties->length());
    set->define_property("p1000", any_of(99));
    set->delete_property("p1001");
    Property_var property;
    ASSERT_TRUE(more->next_one(property.out()));
    EXPECT_STREQ("p1000", property->property_name.in());
    EXPECT_EQ(0, number_in(property->property_value));
    ASSERT_TRUE(more->next_n(5, properties.out()));
    ASSERT_EQ(2U, properties->length());
    EXPECT_STREQ("p1001", properties[0U].property_name.in());
    EXPECT_FALSE(more->next_one(property.out()));
    EXPECT_EQ(CORBA::tk_null, kind_of(property->property_value));
    more->destroy();
}

// --- What nobody may have more of ----------------------------------------------------------------

class BoundedSets : public PropertySets {
  protected:
    static ServiceLimits limits()
    {
        ServiceLimits limits;
        limits.sets_max = 3;
        limits.properties_max = 100;
        limits.value_octets_max = 10'000;
        limits.octets_of_all_max = 200'000;
        limits.iterators_max = 10;
        limits.reply_octets_max = 50'000;
        limits.reply_count_max = 20;
        return limits;
    }
    BoundedSets() : PropertySets(limits()) {}
};

class IdleSets : public PropertySets {
  protected:
    static ServiceLimits limits()
    {
        ServiceLimits limits;
        limits.sets_max = 3;
        limits.idle_max = std::chrono::milliseconds(-1); // everything is idle at once
        return limits;
    }
    IdleSets() : PropertySets(limits()) {}
};

TEST_F(BoundedSets, HaveSoManyPropertiesAndOctets)
{
    const PropertySet_var set = set_of(100);
    EXPECT_THROW(set->define_property("another", any_of(1)), CORBA::IMP_LIMIT);
    EXPECT_THROW(set->define_property("p1000", text_of(10'000)), CORBA::IMP_LIMIT);
    EXPECT_THROW(set->define_property(std::string(256, 'n').c_str(), any_of(1)),
                 InvalidPropertyName);
    ASSERT_TRUE(set->delete_all_properties());
    const auto fill = [&] {
        int count = 0;
        try {
            for (; count < 100; ++count)
                set->define_property(std::to_string(count).c_str(), text_of(5000));
        } catch (const CORBA::NO_RESOURCES&) {
        }
        return count;
    };
    const int count = fill();
    EXPECT_GT(count, 10);
    EXPECT_LT(count, 25);
    EXPECT_TRUE(set->delete_all_properties());
    EXPECT_EQ(count, fill()); // nothing was lost
}

TEST_F(BoundedSets, AnswerSoManyNamesAtOnce)
{
    const PropertySetDef_var made = service_->create_set();
    const auto set = here<PropertySetDef>(made.in());
    Properties_var properties;
    PropertyModes_var modes;
    EXPECT_FALSE(set->get_properties(list_of(Names(20, "none")), properties.out()));
    EXPECT_FALSE(set->get_property_modes(list_of(Names(20, "none")), modes.out()));
    EXPECT_THROW((void)set->get_properties(list_of(Names(21, "none")), properties.out()),
                 CORBA::IMP_LIMIT);
    EXPECT_THROW((void)set->get_property_modes(list_of(Names(21, "none")), modes.out()),
                 CORBA::IMP_LIMIT);
    const Names long_ones(20, std::string(5000, 'n'));
    EXPECT_THROW((void)set->get_properties(list_of(long_ones), properties.out()), CORBA::IMP_LIMIT);
    EXPECT_THROW((void)set->get_property_modes(list_of(long_ones), modes.out()), CORBA::IMP_LIMIT);
}

TEST_F(BoundedSets, AllowNoMoreThanOneReplyTells)
{
    Properties allowed;
    allowed.length(6);
    for (CORBA::ULong i = 0; i < allowed.length(); ++i) {
        allowed[i].property_name = std::to_string(i).c_str();
        allowed[i].property_value = text_of(9000);
    }
    EXPECT_THROW(
        (void)PropertySet_var(factory_->create_constrained_propertyset(PropertyTypes(), allowed)),
        ConstraintNotSupported);
    allowed.length(5);
    EXPECT_FALSE(CORBA::is_nil(
        PropertySet_var(factory_->create_constrained_propertyset(PropertyTypes(), allowed)).in()));
}

TEST_F(BoundedSets, AnswerSoMuchAtOnce)
{
    const PropertySet_var set = factory_->create_propertyset();
    set->define_property("large", text_of(9000));
    Properties_var properties;
    EXPECT_TRUE(set->get_properties(list_of({"large", "large"}), properties.out()));
    EXPECT_THROW((void)set->get_properties(list_of(Names(1000, "large")), properties.out()),
                 CORBA::IMP_LIMIT);
    for (int i = 0; i < 5; ++i)
        set->define_property(std::to_string(i).c_str(), text_of(9000));
    PropertiesIterator_var rest;
    set->get_all_properties(0xFFFF'FFFF, properties.out(), rest.out());
    EXPECT_EQ(2U, properties->length()); // of some 18,000 octets each
    CORBA::ULong count = properties->length();
    while (rest->next_n(0xFFFF'FFFF, properties.out()))
        count += properties->length();
    EXPECT_EQ(6U, count);
    const PropertySet_var small = set_of(50);
    PropertyNames_var names;
    PropertyNamesIterator_var more;
    small->get_all_property_names(0xFFFF'FFFF, names.out(), more.out());
    EXPECT_EQ(20U, names->length());
}

TEST_F(BoundedSets, ForgetIteratorsThatNobodyDestroys)
{
    const PropertySet_var set = set_of(30);
    PropertyNames_var names;
    PropertyNamesIterator_var first;
    set->get_all_property_names(1, names.out(), first.out());
    EXPECT_TRUE(first->next_n(1, names.out()));
    PropertyNamesIterator_var last;
    for (int i = 0; i < 200; ++i)
        set->get_all_property_names(1, names.out(), last.out());
    EXPECT_THROW((void)first->next_n(1, names.out()), CORBA::OBJECT_NOT_EXIST);
    EXPECT_TRUE(last->next_n(1, names.out()));
}

TEST_F(IdleSets, ForgetIteratorsThatNobodyUses)
{
    const PropertySet_var set = set_of(3);
    PropertyNames_var names;
    PropertyNamesIterator_var first;
    set->get_all_property_names(1, names.out(), first.out());
    EXPECT_THROW((void)first->next_n(1, names.out()), CORBA::OBJECT_NOT_EXIST);
}

TEST(NumberedThings, EndWhenNobodyUsesThem)
{
    using Things = corba::NumberedThings<int>;
    using std::chrono::seconds;
    Things things(3, seconds(10));
    const Things::Clock::time_point begun{};
    const std::uint64_t used = things.begin(std::make_shared<int>(1), begun);
    const std::uint64_t idle = things.begin(std::make_shared<int>(2), begun);
    EXPECT_NE(nullptr, things.find(used, begun + seconds(8)));
    EXPECT_NE(nullptr, things.find(used, begun + seconds(16)));
    EXPECT_EQ(nullptr, things.find(idle, begun + seconds(16)));
    EXPECT_EQ(1U, things.size());
    (void)things.begin(std::make_shared<int>(3), begun + seconds(30));
    EXPECT_EQ(1U, things.size());
    EXPECT_EQ(nullptr, things.find(used, begun + seconds(30)));
}

TEST_F(IdleSets, MakeRoomWhereTheyAreEmptyAndIdle)
{
    const PropertySetDef_var named = service_->create_set("named");
    const PropertySet_var full = set_of(1);
    const PropertySet_var empty = factory_->create_propertyset();
    const PropertySet_var another = set_of(1);
    EXPECT_THROW((void)empty->get_number_of_properties(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_EQ(1U, full->get_number_of_properties());
    EXPECT_EQ(0U, named->get_number_of_properties());
    EXPECT_THROW((void)PropertySet_var(factory_->create_propertyset()), CORBA::IMP_LIMIT);
}

// --- Many threads --------------------------------------------------------------------------------

TEST_F(PropertySets, AreChangedByManyThreads)
{
    const PropertySetDef_var made = service_->create_set();
    const auto set = here<PropertySetDef>(made.in());
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            const std::string mine = "of " + std::to_string(t);
            for (int i = 0; i < 50; ++i) {
                set->define_property("shared", any_of(i));
                set->set_property_mode("shared", i % 2 == 0 ? normal : fixed_normal);
                set->define_property(mine.c_str(), any_of(i));
                Properties_var properties;
                PropertiesIterator_var rest;
                set->get_all_properties(1, properties.out(), rest.out());
                if (!CORBA::is_nil(rest.in())) rest->destroy();
                EXPECT_TRUE(set->is_property_defined(mine.c_str()));
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(5U, set->get_number_of_properties());
}

} // namespace
} // namespace kairos::properties
