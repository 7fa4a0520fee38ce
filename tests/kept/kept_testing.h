// SPDX-License-Identifier: Apache-2.0
//
// What every journal has to do, and what a property service and a trader promise that have one: the
// tests are the same for all databases. A backend makes journals: each backend object has an empty
// one of each kind, which `open` opens, again and again, and `damage` changes behind their backs.
#pragma once

#include "kairos/base/journal.h"
#include "kairos/corba/CORBA.h"
#include "kairos/properties/service.h"
#include "kairos/trading/CosTradingDynamic.h"
#include "kairos/trading/trader_testing.h"
#include "tests/calls/held_ports.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kairos::kept {

namespace Cos = CosPropertyService;

constexpr JournalKind test_kind{
    .owner = "test", .table = "kairos_test", .application_id = 0x4b725474};

/// Rows as they are. What begins with "bad" it does not understand.
class MapReplica final : public JournalReplica {
  public:
    bool put(std::string_view key, std::string_view value) override
    {
        if (value.starts_with("bad")) return false;
        if (value.starts_with("much")) throw std::runtime_error("too much");
        rows[std::string(key)] = value;
        order.emplace_back(key);
        return true;
    }
    void erase(std::string_view key) override
    {
        if (rows.erase(std::string(key)) != 0) order.push_back("-" + std::string(key));
    }
    std::vector<std::string> keys() const override
    {
        std::vector<std::string> all;
        for (const auto& [key, value] : rows)
            all.push_back(key);
        return all;
    }

    std::map<std::string, std::string> rows;
    std::vector<std::string> order;
};

/// A journal and its replica, changed row by row.
struct MapService {
    explicit MapService(std::unique_ptr<Journal> opened) : journal(std::move(opened))
    {
        JournalStatus status = JournalStatus::busy;
        while (status == JournalStatus::busy)
            status = journal->begin(replica);
        if (status != JournalStatus::done) throw std::runtime_error("cannot begin");
    }
    MapService(const MapService&) = delete;
    MapService& operator=(const MapService&) = delete;
    ~MapService() { journal->end(); }

    JournalStatus write(const std::vector<JournalRow>& rows)
    {
        return journal->write(
            [&](JournalChange& change) {
                for (const JournalRow& row : rows)
                    row.is_erased ? change.erase(row.key) : change.put(row.key, row.value);
                return true;
            },
            [&] {
                for (const JournalRow& row : rows)
                    if (row.is_erased)
                        replica.rows.erase(row.key);
                    else
                        replica.rows[row.key] = row.value;
            });
    }

    MapReplica replica;
    const std::unique_ptr<Journal> journal;
};

using Rows = std::map<std::string, std::string>;

template <typename Backend>
class Kept : public ::testing::Test {
  protected:
    Backend backend_;
};

TYPED_TEST_SUITE_P(Kept);

TYPED_TEST_P(Kept, RowsComeBackInTheirOrder)
{
    std::uint64_t identity = 0;
    std::uint64_t number = 0;
    std::map<std::string, std::string> all;
    {
        MapService service(this->backend_.open(test_kind));
        identity = service.journal->identity();
        EXPECT_EQ(0U, service.journal->number());
        std::vector<JournalRow> many;
        for (int i = 0; i < 2500; ++i) {
            many.push_back({.key = "2 " + std::to_string(i),
                            .value = std::string(static_cast<std::size_t>(i) % 7, 'v')});
            all[many.back().key] = many.back().value;
        }
        EXPECT_EQ(JournalStatus::done, service.write(many));
        const std::string zero("1 \0 \xff", 5);
        EXPECT_EQ(JournalStatus::done,
                  service.write({{.key = zero, .value = std::string("\0\n", 2)},
                                 {.key = "2 7", .is_erased = true},
                                 {.key = "3 never there", .is_erased = true},
                                 {.key = "2 8", .value = std::string(100'000, 'x')}}));
        all.erase("2 7");
        all[zero] = std::string("\0\n", 2);
        all["2 8"] = std::string(100'000, 'x');
        number = service.journal->number();
        EXPECT_EQ(2U, number);
        EXPECT_EQ(all, service.replica.rows);
    }
    MapService again(this->backend_.open(test_kind));
    EXPECT_EQ(identity, again.journal->identity());
    EXPECT_EQ(number, again.journal->number());
    EXPECT_EQ(all, again.replica.rows);
    EXPECT_TRUE(std::ranges::is_sorted(again.replica.order));
    EXPECT_EQ(all.size(), again.replica.order.size());
}

TYPED_TEST_P(Kept, WhatIsNotDecidedIsNotThere)
{
    {
        MapService service(this->backend_.open(test_kind));
        EXPECT_EQ(JournalStatus::done, service.write({{.key = "a", .value = "1"}}));
        bool was_applied = false;
        EXPECT_EQ(JournalStatus::done, service.journal->write(
                                           [](JournalChange& change) {
                                               change.put("b", "2");
                                               return false;
                                           },
                                           [&] { was_applied = true; }));
        EXPECT_THROW((void)service.journal->write(
                         [](JournalChange& change) -> bool {
                             change.put("c", "3");
                             throw std::runtime_error("no");
                         },
                         [&] { was_applied = true; }),
                     std::runtime_error);
        EXPECT_FALSE(was_applied);
        EXPECT_EQ(1U, service.journal->number());
        EXPECT_EQ(JournalStatus::done, service.write({{.key = "d", .value = "4"}}));
    }
    EXPECT_EQ((Rows{{"a", "1"}, {"d", "4"}}),
              MapService(this->backend_.open(test_kind)).replica.rows);
}

TYPED_TEST_P(Kept, DamagedRowsAreLeftOutAndNamed)
{
    {
        MapService service(this->backend_.open(test_kind));
        EXPECT_EQ(JournalStatus::done, service.write({{.key = "a", .value = "1"},
                                                      {.key = "b", .value = "2"},
                                                      {.key = "c", .value = "bad"},
                                                      {.key = "d", .value = "4"}}));
    }
    this->backend_.damage(test_kind, "b");
    ::testing::internal::CaptureStderr();
    EXPECT_EQ((Rows{{"a", "1"}, {"d", "4"}}),
              MapService(this->backend_.open(test_kind)).replica.rows);
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(std::string::npos, said.find("the row 'b' is not as it was written")) << said;
    EXPECT_NE(std::string::npos, said.find("the row 'c' says what it cannot")) << said;
    {
        MapService service(this->backend_.open(test_kind));
        EXPECT_EQ(JournalStatus::done, service.write({{.key = "b", .value = "5"}}));
    }
    EXPECT_EQ((Rows{{"a", "1"}, {"b", "5"}, {"d", "4"}}),
              MapService(this->backend_.open(test_kind)).replica.rows);
}

TYPED_TEST_P(Kept, ARowBeyondTheLimitsEndsTheBeginning)
{
    {
        MapService service(this->backend_.open(test_kind));
        EXPECT_EQ(JournalStatus::done, service.write({{.key = "a", .value = "much"}}));
    }
    EXPECT_THROW(MapService(this->backend_.open(test_kind)), std::runtime_error);
}

TYPED_TEST_P(Kept, ManyThreadsAtOnce)
{
    {
        MapService service(this->backend_.open(test_kind));
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&service, t] {
                for (int i = 0; i < 25; ++i)
                    while (service.write({{.key = std::to_string(t) + " " + std::to_string(i),
                                           .value = "v"}}) == JournalStatus::busy) {
                    }
            });
        for (std::thread& thread : threads)
            thread.join();
        EXPECT_EQ(100U, service.journal->number());
        EXPECT_EQ(100U, service.replica.rows.size());
    }
    EXPECT_EQ(100U, MapService(this->backend_.open(test_kind)).replica.rows.size());
}

// --- Services ------------------------------------------------------------------------------------

/// An ORB that listens at the port, or one of the system's; and clients of it.
class Place {
  public:
    explicit Place(std::uint16_t port = 0) : orb_(make(port)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { orb_->destroy(); }
    [[nodiscard]] CORBA::ORB_ptr orb() const { return orb_.in(); }
    [[nodiscard]] std::string text(CORBA::Object_ptr object) const
    {
        return CORBA::String_var(orb_->object_to_string(object)).in();
    }
    template <typename Interface>
    [[nodiscard]] typename Interface::_var_type find(const std::string& text) const
    {
        const CORBA::Object_var object = orb_->string_to_object(text.c_str());
        return Interface::_unchecked_narrow(object.in());
    }

  private:
    static CORBA::ORB_ptr make(std::uint16_t port)
    {
        static int count = 0;
        std::vector<std::string> options{"test", "-ORBListenEndpoints",
                                         "iiop://127.0.0.1:" + std::to_string(port)};
        std::vector<char*> argv;
        for (std::string& option : options)
            argv.push_back(option.data());
        int argc = static_cast<int>(argv.size());
        return CORBA::ORB_init(argc, argv.data(), ("kept " + std::to_string(++count)).c_str());
    }

    const CORBA::ORB_var orb_;
};

template <typename Backend>
struct ServedProperties : Place {
    explicit ServedProperties(const Backend& backend, std::uint16_t port = 0,
                              const properties::ServiceLimits& limits = {})
        : Place(port), service(orb(), limits, backend.open(properties::store_kind))
    {
    }
    properties::PropertyService service;
};

inline CORBA::Any long_any(CORBA::Long value)
{
    CORBA::Any any;
    any <<= value;
    return any;
}

inline CORBA::Long long_in(CosPropertyService::PropertySet_ptr set, const char* name)
{
    CORBA::Long value = -1;
    const CORBA::Any_var any = set->get_property_value(name);
    EXPECT_TRUE(any.in() >>= value);
    return value;
}

TYPED_TEST_P(Kept, SetsAreThereAgainByTheSameReferences)
{
    const calls::HeldPorts ports(1);
    const Place client;
    std::string plant;
    {
        ServedProperties<TypeParam> served(this->backend_, ports.port());
        const Cos::PropertySetDef_var set = served.service.create_set("Plant");
        plant = served.text(set.in());
        set->define_property_with_mode("area", long_any(12), Cos::fixed_readonly);
        set->define_property("port", long_any(80));
        set->define_property("port", long_any(81));
        CORBA::Any reference;
        reference <<= set.in();
        set->define_property("itself", reference);
        set->define_property("gone", long_any(1));
        set->delete_property("gone");
        set->set_property_mode("port", Cos::read_only);
    }
    ServedProperties<TypeParam> served(this->backend_, ports.port());
    const auto set = client.find<Cos::PropertySetDef>(plant);
    EXPECT_EQ(3U, set->get_number_of_properties());
    EXPECT_EQ(12, long_in(set.in(), "area"));
    EXPECT_EQ(Cos::fixed_readonly, set->get_property_mode("area"));
    EXPECT_THROW(set->define_property("area", long_any(13)), Cos::ReadOnlyProperty);
    EXPECT_EQ(81, long_in(set.in(), "port"));
    EXPECT_EQ(Cos::read_only, set->get_property_mode("port"));
    const CORBA::Any_var reference = set->get_property_value("itself");
    CORBA::Object_var object;
    ASSERT_TRUE(reference.in() >>= CORBA::Any::to_object(object.out()));
    EXPECT_TRUE(object->_is_equivalent(set.in()));
    EXPECT_EQ(plant, served.text(Cos::PropertySetDef_var(served.service.create_set("Plant")).in()));
    const auto by_name = client.find<Cos::PropertySet>(
        "corbaloc::127.0.0.1:" + std::to_string(ports.port()) + "/Plant");
    EXPECT_EQ(12, long_in(by_name.in(), "area"));
    EXPECT_FALSE(set->delete_all_properties()); // one is fixed
    EXPECT_EQ(1U, set->get_number_of_properties());
}

TYPED_TEST_P(Kept, SetsOfFactoriesAreWhatTheyWere)
{
    const calls::HeldPorts ports(1);
    const Place client;
    std::string plain;
    std::string constrained;
    {
        ServedProperties<TypeParam> served(this->backend_, ports.port());
        const Cos::PropertySetFactory_var factory = served.service.factory();
        Cos::Properties initial;
        initial.length(1);
        initial[0].property_name = "n";
        initial[0].property_value = long_any(3);
        plain =
            served.text(Cos::PropertySet_var(factory->create_initial_propertyset(initial)).in());

        const Cos::PropertySetDefFactory_var def_factory = served.service.def_factory();
        Cos::PropertyTypes types;
        types.length(1);
        types[0] = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
        Cos::PropertyDefs allowed;
        allowed.length(1);
        allowed[0].property_name = "only";
        allowed[0].property_value = long_any(0);
        allowed[0].property_mode = Cos::fixed_normal;
        const Cos::PropertySetDef_var made =
            def_factory->create_constrained_propertysetdef(types, allowed);
        constrained = served.text(made.in());
        made->define_property("only", long_any(7));
    }
    const ServedProperties<TypeParam> served(this->backend_, ports.port());
    const auto plain_set = client.find<Cos::PropertySet>(plain);
    EXPECT_EQ(3, long_in(plain_set.in(), "n"));
    EXPECT_FALSE(plain_set->_is_a(Cos::PropertySetDef::_kairos_id));

    const auto narrow = client.find<Cos::PropertySetDef>(constrained);
    EXPECT_EQ(7, long_in(narrow.in(), "only"));
    EXPECT_EQ(Cos::fixed_normal, narrow->get_property_mode("only"));
    EXPECT_THROW(narrow->define_property("other", long_any(1)), Cos::UnsupportedProperty);
    Cos::PropertyTypes_var types;
    narrow->get_allowed_property_types(types.out());
    ASSERT_EQ(1U, types->length());
    EXPECT_TRUE(types[0U]->equal(CORBA::_tc_long));
}

TYPED_TEST_P(Kept, EmptySetsThatNobodyUsesMakeRoom)
{
    properties::ServiceLimits limits;
    limits.sets_max = 2;
    limits.idle_max = std::chrono::milliseconds(-1); // at once
    {
        ServedProperties<TypeParam> served(this->backend_, 0, limits);
        const Cos::PropertySetDef_var named = served.service.create_set("Plant");
        const Cos::PropertySetDef_var empty = served.service.create_set();
        const Cos::PropertySetDef_var other = served.service.create_set();
        EXPECT_THROW((void)empty->get_number_of_properties(), CORBA::OBJECT_NOT_EXIST);
        other->define_property("n", long_any(1));
        EXPECT_THROW((void)Cos::PropertySetDef_var(served.service.create_set()), CORBA::IMP_LIMIT);
        EXPECT_THROW((void)Cos::PropertySetDef_var(served.service.create_set("PropertySetFactory")),
                     CORBA::BAD_PARAM);
    }
    {
        ServedProperties<TypeParam> served(this->backend_, 0, limits);
        EXPECT_THROW((void)Cos::PropertySetDef_var(served.service.create_set()), CORBA::IMP_LIMIT);
    }
    limits.sets_max = 1;
    EXPECT_THROW(ServedProperties<TypeParam>(this->backend_, 0, limits), CORBA::IMP_LIMIT);
}

template <typename Backend>
struct ServedTrader : Place {
    explicit ServedTrader(const Backend& backend, std::uint16_t port = 0,
                          const trading::ServiceLimits& limits = {})
        : Place(port), service(orb(), limits, backend.open(trading::store_kind)),
          lookup(service.lookup()), offers(lookup->register_if()), admin(lookup->admin_if())
    {
        const CORBA::Object_var object = lookup->type_repos();
        types = trading::Repository::_narrow(object.in());
    }
    trading::TradingService service;
    CosTrading::Lookup_var lookup;
    CosTrading::Register_var offers;
    CosTrading::Admin_var admin;
    trading::Repository::_var_type types;

    void add_type(const char* name, const std::vector<trading::Definition>& defined,
                  const trading::Names& supers = {})
    {
        (void)types->add_type(name, "", trading::definitions_of(defined),
                              trading::list_of<trading::Repository::ServiceTypeNameSeq>(supers));
    }
    std::string offer(const char* type, const trading::Values& values)
    {
        return CORBA::String_var(
                   offers->_cxx_export(lookup.in(), type, trading::properties_of(values)))
            .in();
    }
    /// The ids of all offers, in their order.
    trading::Names ids()
    {
        CosTrading::OfferIdSeq_var list;
        CosTrading::OfferIdIterator_var rest;
        admin->list_offers(1000, list.out(), rest.out());
        trading::Names all;
        for (CORBA::ULong i = 0; i < list->length(); ++i)
            all.emplace_back(list[i].in());
        return all;
    }
    /// How many offers of the type fulfil the constraint.
    CORBA::ULong count(const char* type, const char* constraint)
    {
        CosTrading::Lookup::SpecifiedProps desired;
        desired._d(CosTrading::Lookup::none);
        CosTrading::OfferSeq_var found;
        CosTrading::OfferIterator_var rest;
        CosTrading::PolicyNameSeq_var limits;
        lookup->query(type, constraint, "", CosTrading::PolicySeq(), desired, 1000, found.out(),
                      rest.out(), limits.out());
        return found->length();
    }
};

TYPED_TEST_P(Kept, TypesAndOffersAreThereAgain)
{
    using Modes = trading::Repository;
    using trading::any_of;
    trading::Names ids;
    std::string withdrawn;
    CORBA::ULong incarnation = 0;
    {
        ServedTrader<TypeParam> served(this->backend_);
        served.add_type("Device", {{"id", CORBA::_tc_long, Modes::PROP_MANDATORY}});
        served.add_type("Printer", {{"pages", CORBA::_tc_long}}, {"Device"});
        served.add_type("Gone", {});
        (void)served.offer("Gone", {});
        served.types->remove_type("Gone");
        served.add_type("Old", {});
        ids.push_back(served.offer("Old", {}));
        served.types->mask_type("Old");
        for (CORBA::Long i = 0; i < 5; ++i)
            ids.push_back(served.offer("Printer", {{"id", any_of(i)}, {"pages", any_of(i * 10)}}));
        withdrawn = ids[1];
        served.offers->withdraw(withdrawn.c_str());
        ids.erase(ids.begin() + 1);
        served.offers->modify(ids[1].c_str(), CosTrading::PropertyNameSeq(),
                              trading::properties_of({{"pages", any_of<CORBA::Long>(500)}}));
        served.offers->withdraw_using_constraint("Printer", "pages == 40");
        ids.pop_back();
        CosTradingDynamic::DynamicProp asked;
        asked.eval_if = CosTradingDynamic::DynamicPropEval::_unchecked_narrow(served.lookup.in());
        asked.returned_type = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
        ids.push_back(
            served.offer("Printer", {{"id", any_of<CORBA::Long>(9)}, {"pages", any_of(asked)}}));
        EXPECT_EQ(1000U, served.admin->set_max_list(77));
        EXPECT_EQ(ids, served.ids());
        incarnation = served.types->incarnation().low;
    }
    ServedTrader<TypeParam> served(this->backend_);
    EXPECT_EQ(ids, served.ids());
    EXPECT_EQ(77U, served.admin->max_list());
    EXPECT_LE(incarnation, served.types->incarnation().low);
    EXPECT_EQ(3U, served.count("Device", "id >= 0 and id < 9"));
    EXPECT_EQ(1U, served.count("Printer", "pages == 500"));
    EXPECT_EQ(0U, served.count("Printer", "pages == 40"));
    EXPECT_THROW(served.offers->withdraw(withdrawn.c_str()), CosTrading::UnknownOfferId);
    EXPECT_THROW(served.offer("Old", {}), CosTrading::UnknownServiceType);
    EXPECT_THROW(served.offer("Gone", {}), CosTrading::UnknownServiceType);
    EXPECT_THROW(served.offer("Printer", {}), CosTrading::MissingMandatoryProperty);
    EXPECT_THROW(served.types->remove_type("Device"), trading::Repository::HasSubTypes);
    const CosTrading::Register::OfferInfo_var info = served.offers->describe(ids.back().c_str());
    ASSERT_EQ(2U, info->properties.length());
    const CosTradingDynamic::DynamicProp* asked = nullptr;
    EXPECT_TRUE(info->properties[1].value >>= asked);
    // Neither numbers of offers nor of types come twice.
    served.types->unmask_type("Old");
    const std::string next = served.offer("Old", {});
    EXPECT_EQ(ids.end(), std::ranges::find(ids, next));
    EXPECT_NE(withdrawn, next);
    served.add_type("Gone", {});
    EXPECT_LT(incarnation, served.types->incarnation().low);
}

TYPED_TEST_P(Kept, LinksAndProxyOffersAreThereAgain)
{
    using CosTrading::always;
    using CosTrading::if_no_local;
    using CosTrading::local_only;
    std::string id;
    std::string gone;
    {
        ServedTrader<TypeParam> served(this->backend_);
        served.add_type("T", {{"n", CORBA::_tc_long}});
        served.add_type("U", {});
        const CosTrading::Link_var link = served.lookup->link_if();
        link->add_link("b", served.lookup.in(), local_only, always);
        link->add_link("c", served.lookup.in(), local_only, always);
        EXPECT_THROW(link->add_link("b", served.lookup.in(), local_only, always),
                     CosTrading::Link::DuplicateLinkName);
        link->modify_link("b", local_only, if_no_local);
        link->remove_link("c");
        EXPECT_THROW(link->remove_link("c"), CosTrading::Link::UnknownLinkName);
        const CosTrading::Proxy_var proxy = served.lookup->proxy_if();
        const auto offer = [&](const char* type) {
            return std::string(
                CORBA::String_var(proxy->export_proxy(served.lookup.in(), type,
                                                      CosTrading::PropertySeq(), true,
                                                      "$* and TRUE", CosTrading::PolicySeq()))
                    .in());
        };
        id = offer("T");
        gone = offer("T");
        proxy->withdraw_proxy(gone.c_str());
        (void)offer("U");
        served.types->remove_type("U"); // with its proxy offer
    }
    ServedTrader<TypeParam> served(this->backend_);
    const CosTrading::Link_var link = served.lookup->link_if();
    const CosTrading::LinkNameSeq_var names = link->list_links();
    ASSERT_EQ(1U, names->length());
    EXPECT_STREQ("b", names[0U].in());
    const CosTrading::Link::LinkInfo_var info = link->describe_link("b");
    EXPECT_EQ(if_no_local, info->limiting_follow_rule);
    const CosTrading::Proxy_var proxy = served.lookup->proxy_if();
    const CosTrading::Proxy::ProxyInfo_var kept = proxy->describe_proxy(id.c_str());
    EXPECT_STREQ("T", kept->type.in());
    EXPECT_STREQ("$* and TRUE", kept->recipe.in());
    EXPECT_THROW(proxy->withdraw_proxy(gone.c_str()), CosTrading::UnknownOfferId);
    CosTrading::OfferIdSeq_var ids;
    CosTrading::OfferIdIterator_var rest;
    served.admin->list_proxies(10, ids.out(), rest.out());
    ASSERT_EQ(1U, ids->length());
    EXPECT_EQ(id, ids[0U].in());
}

TYPED_TEST_P(Kept, ATraderDoesNotBeginWithMoreThanItMayHave)
{
    {
        ServedTrader<TypeParam> served(this->backend_);
        served.add_type("T", {});
        (void)served.offer("T", {});
        (void)served.offer("T", {});
    }
    trading::ServiceLimits limits;
    limits.offers_max = 1;
    EXPECT_THROW(ServedTrader<TypeParam>(this->backend_, 0, limits), CORBA::IMP_LIMIT);
    limits.offers_max = 2;
    EXPECT_EQ(2U, ServedTrader<TypeParam>(this->backend_, 0, limits).ids().size());
}

/// Whatever two traders do, one after the other, a third that reads the journal has the same.
TYPED_TEST_P(Kept, RandomChangesAreThereAgain)
{
    std::mt19937 random(2026);
    trading::Names ids;
    std::string all;
    const auto state = [](ServedTrader<TypeParam>& served) {
        std::string text;
        for (const std::string& id : served.ids()) {
            const CosTrading::Register::OfferInfo_var info = served.offers->describe(id.c_str());
            CORBA::Long value = -1;
            if (info->properties.length() != 0) (void)(info->properties[0].value >>= value);
            text += id + " " + info->type.in() + " " + std::to_string(value) + "\n";
        }
        return text;
    };
    for (int run = 0; run < 3; ++run) {
        ServedTrader<TypeParam> served(this->backend_);
        if (run != 0) EXPECT_EQ(all, state(served));
        for (int i = 0; i < 60; ++i) {
            const std::string type = "T" + std::to_string(random() % 4);
            const auto number = static_cast<CORBA::Long>(random() % 100);
            try {
                switch (random() % 6) {
                case 0:
                    served.add_type(type.c_str(), {{"n", CORBA::_tc_long}});
                    break;
                case 1:
                    if (number < 20) served.types->remove_type(type.c_str());
                    break;
                case 2:
                    served.offers->withdraw(ids.at(random() % (ids.size() + 1)).c_str());
                    break;
                case 3:
                    served.offers->modify(ids.at(random() % (ids.size() + 1)).c_str(),
                                          CosTrading::PropertyNameSeq(),
                                          trading::properties_of({{"n", trading::any_of(number)}}));
                    break;
                default:
                    ids.push_back(served.offer(type.c_str(), {{"n", trading::any_of(number)}}));
                }
            } catch (const CORBA::UserException&) { // there is no such type or offer
            } catch (const std::out_of_range&) {
            }
        }
        all = state(served);
    }
    ServedTrader<TypeParam> served(this->backend_);
    EXPECT_EQ(all, state(served));
    EXPECT_NE("", all);
}

REGISTER_TYPED_TEST_SUITE_P(Kept, RowsComeBackInTheirOrder, WhatIsNotDecidedIsNotThere,
                            DamagedRowsAreLeftOutAndNamed, ARowBeyondTheLimitsEndsTheBeginning,
                            ManyThreadsAtOnce, SetsAreThereAgainByTheSameReferences,
                            SetsOfFactoriesAreWhatTheyWere, EmptySetsThatNobodyUsesMakeRoom,
                            TypesAndOffersAreThereAgain, LinksAndProxyOffersAreThereAgain,
                            ATraderDoesNotBeginWithMoreThanItMayHave, RandomChangesAreThereAgain);

} // namespace kairos::kept
