// SPDX-License-Identifier: Apache-2.0
//
// A trader as its clients meet it, over loopback: types, offers, queries, dynamic properties,
// iterators, and what nobody may have more of.
#include "kairos/trading/CosTradingDynamic_skel.h"
#include "kairos/trading/trader_testing.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace kairos::trading {
namespace {

using namespace CosTrading;
using Modes = Repository;

// --- Types ---------------------------------------------------------------------------------------

class Types : public TraderTest {};

TEST_F(Types, InheritAndAreDescribed)
{
    add_type("Device", {{"id", CORBA::_tc_long, Modes::PROP_MANDATORY}}, {}, "IDL:Device:1.0");
    add_type("Colour", {{"colour", CORBA::_tc_string}});
    add_type("Printer",
             {{"id", CORBA::_tc_long, Modes::PROP_MANDATORY_READONLY},
              {"pages", CORBA::_tc_ulong, Modes::PROP_READONLY}},
             {"Device", "Colour"});
    Repository::TypeStruct_var type = types_->describe_type("Printer");
    EXPECT_EQ(2U, type->props.length());
    EXPECT_EQ(2U, type->super_types.length());
    EXPECT_FALSE(type->masked);
    EXPECT_EQ(3U, type->incarnation.low);
    type = types_->fully_describe_type("Printer");
    ASSERT_EQ(3U, type->props.length());
    EXPECT_STREQ("colour", type->props[0].name.in());
    EXPECT_EQ(Modes::PROP_NORMAL, type->props[0].mode);
    EXPECT_STREQ("id", type->props[1].name.in());
    EXPECT_EQ(Modes::PROP_MANDATORY_READONLY, type->props[1].mode);
    Repository::SpecifiedServiceTypes which;
    Repository::IncarnationNumber second{};
    second.low = 2;
    which.incarnation(second);
    Repository::ServiceTypeNameSeq_var names = types_->list_types(which);
    ASSERT_EQ(2U, names->length());
    EXPECT_STREQ("Colour", names[0U]);
    EXPECT_EQ(3U, types_->incarnation().low);
    EXPECT_THROW(types_->remove_type("Device"), Repository::HasSubTypes);
    types_->remove_type("Printer");
    types_->remove_type("Device");
    EXPECT_THROW(types_->remove_type("Device"), UnknownServiceType);
}

TEST_F(Types, AreRefusedWhereTheyMakeNoSense)
{
    add_type("A", {{"x", CORBA::_tc_long, Modes::PROP_MANDATORY}});
    add_type("B", {{"x", CORBA::_tc_string}});
    add_type("C", {{"x", CORBA::_tc_long, Modes::PROP_READONLY}});
    EXPECT_THROW(add_type("A", {}), Repository::ServiceTypeExists);
    EXPECT_THROW(add_type("", {}), IllegalServiceType);
    EXPECT_THROW(add_type("1st", {}), IllegalServiceType);
    EXPECT_THROW(add_type("a b", {}), IllegalServiceType);
    EXPECT_THROW(add_type(std::string(300, 'n').c_str(), {}), IllegalServiceType);
    EXPECT_THROW(add_type("D", {{"<x", CORBA::_tc_long}}), IllegalPropertyName);
    EXPECT_THROW(add_type("D", {{"y", CORBA::_tc_long}, {"y", CORBA::_tc_long}}),
                 DuplicatePropertyName);
    EXPECT_THROW(add_type("D", {}, {"None"}), UnknownServiceType);
    EXPECT_THROW(add_type("D", {}, {"D"}), UnknownServiceType); // so there are no cycles
    EXPECT_THROW(add_type("D", {}, {"A", "A"}), Repository::DuplicateServiceTypeName);
    EXPECT_THROW(add_type("D", {}, {"A", "B"}), Repository::ValueTypeRedefinition);
    EXPECT_THROW(add_type("D", {{"x", CORBA::_tc_double, Modes::PROP_MANDATORY}}, {"A"}),
                 Repository::ValueTypeRedefinition);
    EXPECT_THROW(add_type("D", {{"x", CORBA::_tc_long}}, {"A"}), Repository::ValueTypeRedefinition);
    EXPECT_THROW(add_type("D", {{"x", CORBA::_tc_long, Modes::PROP_READONLY}}, {"A"}),
                 Repository::ValueTypeRedefinition);
    add_type("D", {}, {"A", "C"}); // whose definitions of x come to one that is stronger
    const Repository::TypeStruct_var type = types_->fully_describe_type("D");
    EXPECT_EQ(Modes::PROP_MANDATORY_READONLY, type->props[0].mode);
}

TEST_F(Types, AreMaskedForExporters)
{
    add_type("A", {{"id", CORBA::_tc_long}});
    (void)offer("A", {{"id", any_of(CORBA::Long(1))}});
    types_->mask_type("A");
    EXPECT_THROW(types_->mask_type("A"), Repository::AlreadyMasked);
    EXPECT_THROW((void)offer("A", {}), UnknownServiceType);
    EXPECT_EQ("1", ask({.type = "A"}));
    types_->unmask_type("A");
    EXPECT_THROW(types_->unmask_type("A"), Repository::NotMasked);
    (void)offer("A", {{"id", any_of(CORBA::Long(2))}});
    EXPECT_EQ("1 2", ask({.type = "A"}));
    types_->remove_type("A"); // and its offers
    OfferIdSeq_var ids;
    OfferIdIterator_var more;
    admin_->list_offers(10, ids.out(), more.out());
    EXPECT_EQ(0U, ids->length());
}

TEST_F(Types, AreAsDeepAsTheyMayBe)
{
    std::string above;
    EXPECT_THROW(
        {
            for (int i = 0; i < 1000; ++i) {
                const std::string name = "T" + std::to_string(i);
                add_type(name.c_str(), {}, above.empty() ? Names{} : Names{above});
                above = name;
            }
        },
        CORBA::IMP_LIMIT);
    EXPECT_EQ("T199", above);
}

// --- Offers --------------------------------------------------------------------------------------

class Offers : public TraderTest {
  protected:
    Offers()
    {
        add_type("Printer", {{"id", CORBA::_tc_long, Modes::PROP_MANDATORY},
                             {"floor", CORBA::_tc_long, Modes::PROP_READONLY},
                             {"name", CORBA::_tc_string}});
    }
};

TEST_F(Offers, FitTheirTypes)
{
    const CORBA::Any one = any_of(CORBA::Long(1));
    EXPECT_THROW((void)offer("None", {}), UnknownServiceType);
    EXPECT_THROW((void)offer("no type", {}), IllegalServiceType);
    EXPECT_THROW((void)offer("Printer", {}), MissingMandatoryProperty);
    EXPECT_THROW((void)offer("Printer", {{"id", any_of("one")}}), PropertyTypeMismatch);
    EXPECT_THROW((void)offer("Printer", {{"id", one}, {"<", one}}), IllegalPropertyName);
    EXPECT_THROW((void)offer("Printer", {{"id", one}, {"id", one}}), DuplicatePropertyName);
    EXPECT_THROW((void)CORBA::String_var(
                     register_->_cxx_export(CORBA::Object::_nil(), "Printer", PropertySeq())),
                 Register::InvalidObjectRef);
    const std::string id = offer("Printer", {{"id", one}, {"weight", any_of("more than it says")}});
    const Register::OfferInfo_var info = register_->describe(id.c_str());
    EXPECT_STREQ("Printer", info->type.in());
    EXPECT_TRUE(info->reference->_is_equivalent(lookup_.in()));
    EXPECT_EQ(2U, info->properties.length());
    register_->withdraw(id.c_str());
    EXPECT_THROW(register_->withdraw(id.c_str()), UnknownOfferId);
    EXPECT_THROW((void)Register::OfferInfo_var(register_->describe("7")), IllegalOfferId);
    EXPECT_THROW((void)Register::OfferInfo_var(register_->describe("")), IllegalOfferId);
    EXPECT_THROW((void)Register::OfferInfo_var(register_->describe("0123456789abcdef-1")),
                 UnknownOfferId); // of another run
}

TEST_F(Offers, AreOfObjectsOfTheirInterfaces)
{
    add_type("Trader", {}, {}, "IDL:omg.org/CosTrading/Lookup:1.0");
    add_type("Clock", {}, {}, "IDL:Clock:1.0");
    (void)offer("Trader", {});
    EXPECT_THROW((void)offer("Clock", {}), Register::InterfaceTypeMismatch);
    // Nobody is there, who could tell: it is believed.
    const CORBA::Object_var gone = client_->string_to_object("corbaloc::127.0.0.1:1/gone");
    (void)CORBA::String_var(register_->_cxx_export(gone.in(), "Clock", PropertySeq()));
}

TEST_F(Offers, AreModified)
{
    const CORBA::Any one = any_of(CORBA::Long(1));
    const CORBA::Any two = any_of(CORBA::Long(2));
    const std::string made = offer("Printer", {{"id", one}, {"floor", one}, {"extra", one}});
    const char* const id = made.c_str();
    const auto modify = [&](const Names& removed, const Values& changed) {
        register_->modify(id, list_of<PropertyNameSeq>(removed), properties_of(changed));
    };
    EXPECT_THROW(modify({"id"}, {}), Register::MandatoryProperty);
    EXPECT_THROW(modify({"floor"}, {}), Register::ReadonlyProperty);
    EXPECT_THROW(modify({}, {{"floor", two}}), Register::ReadonlyProperty);
    EXPECT_THROW(modify({"name"}, {}), Register::UnknownPropertyName);
    EXPECT_THROW(modify({"<"}, {}), IllegalPropertyName);
    EXPECT_THROW(modify({"extra"}, {{"extra", two}}), DuplicatePropertyName);
    EXPECT_THROW(modify({}, {{"name", one}}), PropertyTypeMismatch);
    modify({"extra"}, {{"id", two}, {"name", any_of("laser")}});
    EXPECT_EQ("2", ask({.type = "Printer", .constraint = "name == 'laser' and floor == 1"}));
    EXPECT_EQ("", ask({.type = "Printer", .constraint = "exist extra or id == 1"}));
    (void)admin_->set_supports_modifiable_properties(false);
    EXPECT_THROW(modify({}, {{"id", one}}), NotImplemented);
}

TEST_F(Offers, AreWithdrawnByWhatTheyAre)
{
    for (CORBA::Long i = 0; i < 10; ++i)
        (void)offer("Printer", {{"id", any_of(i)}});
    register_->withdraw_using_constraint("Printer", "id >= 3 and id < 9");
    EXPECT_EQ("0 1 2 9", ask({.type = "Printer"}));
    EXPECT_THROW(register_->withdraw_using_constraint("Printer", "id == 5"),
                 Register::NoMatchingOffers);
    EXPECT_THROW(register_->withdraw_using_constraint("Printer", "id =="), IllegalConstraint);
    EXPECT_THROW((void)Register_var(register_->resolve(TraderName())), Register::IllegalTraderName);
    EXPECT_THROW((void)Register_var(register_->resolve(list_of<TraderName>({"other"}))),
                 Register::UnknownTraderName);
}

// --- Queries -------------------------------------------------------------------------------------

class Queries : public TraderTest {
  protected:
    Queries()
    {
        add_type("Device", {{"id", CORBA::_tc_long, Modes::PROP_MANDATORY_READONLY}});
        add_type("Printer", {{"speed", CORBA::_tc_double, Modes::PROP_READONLY}}, {"Device"});
        (void)offer("Device", {{"id", any_of(CORBA::Long(0))}});
        for (CORBA::Long i = 1; i < 6; ++i)
            (void)offer("Printer",
                        {{"id", any_of(i)}, {"speed", any_of(CORBA::Double(i * 7 % 5))}});
    }
};

TEST_F(Queries, FindOffersOfTypesAndThoseBelow)
{
    EXPECT_EQ("0 1 2 3 4 5", ask({.type = "Device"}));
    EXPECT_EQ("0", ask({.type = "Device", .policies = {{"exact_type_match", truth(true)}}}));
    EXPECT_EQ("2 4 5", ask({.type = "Device", .constraint = "speed != 2 and speed != 1"}));
    EXPECT_EQ("3", ask({.type = "Printer", .constraint = "speed == 1 and id > 2"}));
    EXPECT_THROW((void)ask({.type = "None"}), UnknownServiceType);
    EXPECT_THROW((void)ask({.type = "-"}), IllegalServiceType);
    EXPECT_THROW((void)ask({.type = "Device", .constraint = "speed =="}), IllegalConstraint);
    EXPECT_THROW((void)ask({.type = "Device", .preference = "most speed"}),
                 Lookup::IllegalPreference);
}

TEST_F(Queries, PreferWhatImportersPrefer)
{
    // Speeds of 1 to 5 are 2 4 1 3 0.
    EXPECT_EQ("2 4 1 3 5", ask({.type = "Printer", .preference = "max speed"}));
    EXPECT_EQ("5 3 1 4 2 0", ask({.type = "Device", .preference = "min speed"}));
    EXPECT_EQ("2 3 4 1 5", ask({.type = "Printer", .preference = "with id >= 2 and id <= 4"}));
    EXPECT_EQ("1 2 3 4 5", ask({.type = "Printer", .preference = "first"}));
    EXPECT_EQ(9U, ask({.type = "Printer", .preference = "random"}).size());
    EXPECT_EQ("2 4 return_card", ask({.type = "Printer",
                                      .preference = "max speed",
                                      .policies = {{"return_card", any_of(CORBA::ULong(2))}}}));
    EXPECT_EQ("1 2 match_card", ask({.type = "Printer",
                                     .preference = "min id",
                                     .policies = {{"match_card", any_of(CORBA::ULong(2))}}}));
    EXPECT_EQ("3 search_card", ask({.type = "Printer",
                                    .constraint = "id + 0 >= 3",
                                    .policies = {{"search_card", any_of(CORBA::ULong(3))}}}));
}

TEST_F(Queries, HeedPolicies)
{
    const auto with = [&](const char* name, const CORBA::Any& value) {
        return ask({.type = "Device", .policies = {{name, value}}});
    };
    EXPECT_THROW((void)with("not a name", truth(true)), Lookup::IllegalPolicyName);
    EXPECT_THROW((void)with("search_card", truth(true)), Lookup::PolicyTypeMismatch);
    EXPECT_THROW((void)with("exact_type_match", any_of("yes")), Lookup::PolicyTypeMismatch);
    EXPECT_THROW((void)with("starting_trader", any_of(list_of<TraderName>({"other"}))),
                 Lookup::InvalidPolicyValue);
    EXPECT_EQ("0 1 2 3 4 5", with("starting_trader", any_of(TraderName())));
    EXPECT_EQ("0 1 2 3 4 5", with("link_follow_rule", any_of(always)));
    EXPECT_EQ("0 1 2 3 4 5", with("of_another_trader", truth(true)));
    EXPECT_THROW((void)ask({.type = "Device",
                            .policies = {{"hop_count", any_of(CORBA::ULong(1))},
                                         {"hop_count", any_of(CORBA::ULong(1))}}}),
                 DuplicatePolicyName);
    add_type("Lamp", {{"on", CORBA::_tc_boolean}}, {"Device"});
    (void)offer("Lamp", {{"id", any_of(CORBA::Long(6))}, {"on", truth(true)}});
    EXPECT_EQ("0 1 2 3 4 5", with("use_modifiable_properties", truth(false)));
    EXPECT_EQ("0 1 2 3 4 5 6", with("use_modifiable_properties", truth(true)));
    EXPECT_EQ(100'000U, admin_->set_def_search_card(2));
    EXPECT_EQ("0 1 search_card", with("hop_count", any_of(CORBA::ULong(1))));
    (void)admin_->set_max_search_card(1);
    EXPECT_EQ("0 search_card", with("search_card", any_of(CORBA::ULong(9))));
    (void)admin_->set_max_search_card(100);
    (void)admin_->set_supports_modifiable_properties(false);
    EXPECT_EQ("0 1 2 3 4 5", ask({.type = "Device",
                                  .policies = {{"use_modifiable_properties", truth(true)},
                                               {"search_card", any_of(CORBA::ULong(100))}}}));
}

TEST_F(Queries, ReturnThePropertiesThatAreWanted)
{
    const auto count_of = [&](const Lookup::SpecifiedProps& wanted) {
        OfferSeq_var offers;
        OfferIterator_var rest;
        PolicyNameSeq_var limits;
        lookup_->query("Printer", "id == 1", "", PolicySeq(), wanted, 1, offers.out(), rest.out(),
                       limits.out());
        return offers->length() == 1 ? offers[0U].properties.length() : 99;
    };
    Lookup::SpecifiedProps wanted;
    wanted._d(Lookup::none);
    EXPECT_EQ(0U, count_of(wanted));
    wanted._d(Lookup::all);
    EXPECT_EQ(2U, count_of(wanted));
    wanted.prop_names(list_of<PropertyNameSeq>({"speed", "none"}));
    EXPECT_EQ(1U, count_of(wanted));
    wanted.prop_names(list_of<PropertyNameSeq>({"speed", "speed"}));
    EXPECT_THROW((void)count_of(wanted), DuplicatePropertyName);
    wanted.prop_names(list_of<PropertyNameSeq>({"<"}));
    EXPECT_THROW((void)count_of(wanted), IllegalPropertyName);
}

TEST_F(Queries, GoOnWithIterators)
{
    Lookup::SpecifiedProps wanted;
    wanted.prop_names(list_of<PropertyNameSeq>({"id"}));
    OfferSeq_var offers;
    OfferIterator_var rest;
    PolicyNameSeq_var limits;
    lookup_->query("Printer", "", "max id", PolicySeq(), wanted, 2, offers.out(), rest.out(),
                   limits.out());
    EXPECT_EQ("5 4", ids_in(offers.in()));
    EXPECT_EQ(3U, rest->max_left());
    EXPECT_TRUE(rest->next_n(2, offers.out()));
    EXPECT_EQ("3 2", ids_in(offers.in()));
    EXPECT_FALSE(rest->next_n(2, offers.out()));
    EXPECT_EQ("1", ids_in(offers.in()));
    EXPECT_FALSE(rest->next_n(2, offers.out()));
    EXPECT_EQ(0U, offers->length());
    rest->destroy();
    EXPECT_THROW(rest->destroy(), CORBA::OBJECT_NOT_EXIST);
    OfferIdSeq_var ids;
    OfferIdIterator_var more;
    admin_->list_offers(4, ids.out(), more.out());
    EXPECT_EQ(4U, ids->length());
    EXPECT_THROW((void)more->max_left(), UnknownMaxLeft);
    (void)offer("Device", {{"id", any_of(CORBA::Long(7))}}); // too late to be listed
    EXPECT_FALSE(more->next_n(9, ids.out()));
    EXPECT_EQ(2U, ids->length());
    register_->withdraw(ids[0U]);
    more->destroy();
}

TEST_F(Queries, ListSoManyAsTheAdministratorSays)
{
    (void)admin_->set_max_list(2);
    Lookup::SpecifiedProps wanted;
    wanted.prop_names(list_of<PropertyNameSeq>({"id"}));
    OfferSeq_var offers;
    OfferIterator_var rest;
    PolicyNameSeq_var limits;
    lookup_->query("Device", "", "", PolicySeq(), wanted, 100, offers.out(), rest.out(),
                   limits.out());
    EXPECT_EQ("0 1", ids_in(offers.in()));
    EXPECT_TRUE(rest->next_n(100, offers.out()));
    EXPECT_EQ("2 3", ids_in(offers.in()));
    OfferIdSeq_var ids;
    OfferIdIterator_var more;
    admin_->list_offers(100, ids.out(), more.out());
    EXPECT_EQ(2U, ids->length());
    (void)admin_->set_max_list(0);
    EXPECT_TRUE(rest->next_n(100, offers.out())); // so that whoever goes on comes to an end
    EXPECT_EQ("4", ids_in(offers.in()));
    EXPECT_TRUE(more->next_n(100, ids.out()));
    EXPECT_EQ(1U, ids->length());
    rest->destroy();
    more->destroy();
}

TEST_F(Queries, SayWhatTheTraderIs)
{
    EXPECT_TRUE(lookup_->supports_proxy_offers());
    EXPECT_TRUE(lookup_->supports_dynamic_properties());
    EXPECT_EQ(1'000'000U, lookup_->max_search_card());
    EXPECT_EQ(always, admin_->max_link_follow_policy());
    EXPECT_EQ(if_no_local, lookup_->def_follow_policy());
    EXPECT_EQ(5U, lookup_->def_hop_count());
    EXPECT_THROW((void)CORBA::Object_var(admin_->set_type_repos(lookup_.in())),
                 CORBA::NO_IMPLEMENT);
    EXPECT_EQ(1000U, admin_->set_max_list(1));
    EXPECT_EQ(1U, lookup_->max_list());
    EXPECT_THROW(TradingService(server_.in()), PortableServer::POA::AdapterAlreadyExists);
}

// --- Dynamic properties --------------------------------------------------------------------------

class Evaluator final : public POA_CosTradingDynamic::DynamicPropEval {
  public:
    CORBA::Any* evalDP(const char* name, CORBA::TypeCode_ptr type, const CORBA::Any& info) override
    {
        std::unique_lock lock(mutex_);
        ++calls_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return !holds_; });
        if (fails_) throw CosTradingDynamic::DPEvalFailure(name, type, info);
        return new CORBA::Any(answer_);
    }
    void answer(const CORBA::Any& answer, bool fails = false)
    {
        const std::lock_guard lock(mutex_);
        answer_ = answer;
        fails_ = fails;
        calls_ = 0;
    }
    void hold(bool holds)
    {
        const std::lock_guard lock(mutex_);
        holds_ = holds;
        changed_.notify_all();
    }
    void wait_for_call()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return calls_ != 0; });
    }
    int calls()
    {
        const std::lock_guard lock(mutex_);
        return calls_;
    }

  private:
    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    CORBA::Any answer_;
    int calls_ = 0;
    bool fails_ = false;
    bool holds_ = false;
};

class DynamicProperties : public TraderTest {
  protected:
    static ServiceLimits limits()
    {
        ServiceLimits limits;
        limits.dynamic_timeout = std::chrono::seconds(60);
        limits.dynamic_time_max = std::chrono::seconds(60);
        return limits;
    }
    explicit DynamicProperties(const ServiceLimits& bounds = limits())
        : TraderTest(bounds), exporter_(make_orb())
    {
        const CORBA::Object_var root = exporter_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(root.in());
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        const PortableServer::ObjectId_var id = poa->activate_object(evaluator_.in());
        const CORBA::Object_var object = poa->id_to_reference(id.in());
        const CORBA::String_var text = exporter_->object_to_string(object.in());
        reference_ = text.in();
        add_type("Printer", {{"id", CORBA::_tc_long},
                             {"queue", CORBA::_tc_long},
                             {"floor", CORBA::_tc_long, Modes::PROP_READONLY}});
    }
    ~DynamicProperties() override
    {
        evaluator_->hold(false);
        exporter_->destroy();
    }
    CORBA::Any dynamic(CORBA::TypeCode_ptr type = CORBA::_tc_long) const
    {
        CosTradingDynamic::DynamicProp property;
        const CORBA::Object_var object = client_->string_to_object(reference_.c_str());
        property.eval_if = CosTradingDynamic::DynamicPropEval::_unchecked_narrow(object.in());
        property.returned_type = CORBA::TypeCode::_duplicate(type);
        return any_of(property);
    }
    void offer_one() const
    {
        (void)offer("Printer", {{"id", any_of(CORBA::Long(1))}, {"queue", dynamic()}});
    }

    CORBA::ORB_var exporter_;
    const PortableServer::Servant_var<Evaluator> evaluator_ = new Evaluator;
    std::string reference_;
};

TEST_F(DynamicProperties, AreAskedFor)
{
    offer_one();
    evaluator_->answer(any_of(CORBA::Long(3)));
    EXPECT_EQ("", ask({.type = "Printer", .constraint = "queue > 3"}));
    EXPECT_EQ("1", ask({.type = "Printer", .constraint = "queue < 4 and queue > 2"}));
    EXPECT_EQ(2, evaluator_->calls()); // once a query
    EXPECT_EQ("1", ask({.type = "Printer", .constraint = "id == 1"}));
    EXPECT_EQ(2, evaluator_->calls()); // only where it matters
    EXPECT_EQ("", ask({.type = "Printer", .policies = {{"use_dynamic_properties", truth(false)}}}));
    evaluator_->answer(any_of("of another type"));
    EXPECT_EQ("", ask({.type = "Printer", .constraint = "exist queue"}));
    evaluator_->answer(any_of(CORBA::Long(3)), true);
    EXPECT_EQ("", ask({.type = "Printer", .constraint = "queue == 3"}));
    EXPECT_EQ("1", ask({.type = "Printer", .constraint = "not exist queue"}));
}

TEST_F(DynamicProperties, AreReturnedAsTheirValues)
{
    offer_one();
    evaluator_->answer(any_of(CORBA::Long(5)));
    Lookup::SpecifiedProps wanted;
    wanted.prop_names(list_of<PropertyNameSeq>({"queue"}));
    OfferSeq_var offers;
    OfferIterator_var rest;
    PolicyNameSeq_var applied;
    const auto query = [&] {
        lookup_->query("Printer", "", "", PolicySeq(), wanted, 9, offers.out(), rest.out(),
                       applied.out());
        return ids_in(offers.in());
    };
    EXPECT_EQ("5", query());
    evaluator_->answer(any_of(CORBA::Long(5)), true);
    EXPECT_EQ("-1", query()); // the offer without what nobody can tell
}

TEST_F(DynamicProperties, AreCheckedWhenTheyAreOffered)
{
    EXPECT_THROW((void)offer("Printer", {{"queue", dynamic(CORBA::_tc_string)}}),
                 PropertyTypeMismatch);
    EXPECT_THROW((void)offer("Printer", {{"floor", dynamic()}}), ReadonlyDynamicProperty);
    CosTradingDynamic::DynamicProp nobody;
    nobody.returned_type = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
    EXPECT_THROW((void)offer("Printer", {{"queue", any_of(nobody)}}), PropertyTypeMismatch);
    (void)admin_->set_supports_dynamic_properties(false);
    EXPECT_THROW(offer_one(), PropertyTypeMismatch);
}

TEST_F(DynamicProperties, AreNoneWhereTheAdministratorSaysSo)
{
    offer_one();
    evaluator_->answer(any_of(CORBA::Long(3)));
    Lookup::SpecifiedProps wanted;
    wanted.prop_names(list_of<PropertyNameSeq>({"queue"}));
    OfferSeq_var offers;
    OfferIterator_var rest;
    PolicyNameSeq_var applied;
    lookup_->query("Printer", "", "", PolicySeq(), wanted, 0, offers.out(), rest.out(),
                   applied.out());
    (void)admin_->set_supports_dynamic_properties(false);
    EXPECT_EQ("", ask({.type = "Printer",
                       .constraint = "queue == 3",
                       .policies = {{"use_dynamic_properties", truth(true)}}}));
    EXPECT_THROW(register_->withdraw_using_constraint("Printer", "queue == 3"),
                 Register::NoMatchingOffers);
    EXPECT_FALSE(rest->next_n(9, offers.out())); // begun before
    EXPECT_EQ("-1", ids_in(offers.in()));
    EXPECT_EQ(0, evaluator_->calls());
    // What an offer had before does not keep anybody from changing the rest of it.
    OfferIdSeq_var ids;
    OfferIdIterator_var more;
    admin_->list_offers(9, ids.out(), more.out());
    ASSERT_EQ(1U, ids->length());
    register_->modify(ids[0U], PropertyNameSeq(), properties_of({{"id", any_of(CORBA::Long(2))}}));
    EXPECT_THROW(
        register_->modify(ids[0U], PropertyNameSeq(), properties_of({{"queue", dynamic()}})),
        PropertyTypeMismatch);
    (void)admin_->set_supports_dynamic_properties(true);
    EXPECT_EQ("2", ask({.type = "Printer", .constraint = "queue == 3"}));
}

TEST_F(DynamicProperties, HoldNobodyUpWhoDoesNotAsk)
{
    offer_one();
    evaluator_->answer(any_of(CORBA::Long(3)));
    evaluator_->hold(true);
    std::string answer = "none";
    std::atomic<bool> has_answer{false};
    std::thread asking([&] {
        answer = ask({.type = "Printer", .constraint = "queue == 3"});
        has_answer = true;
    });
    evaluator_->wait_for_call();
    // Another client, while that one waits.
    const CORBA::ORB_var orb = make_orb();
    const CORBA::String_var text = client_->object_to_string(register_.in());
    const CORBA::Object_var object = orb->string_to_object(text.in());
    const Register_var other = Register::_narrow(object.in());
    const CORBA::String_var id =
        other->_cxx_export(other.in(), "Printer", properties_of({{"id", any_of(CORBA::Long(2))}}));
    other->withdraw(id.in());
    EXPECT_FALSE(has_answer);
    evaluator_->hold(false);
    asking.join();
    EXPECT_EQ("1", answer);
    orb->destroy();
}

/// Where nobody answers: it waits so long, asks so often, and for so many.
class ImpatientTrader : public DynamicProperties {
  protected:
    static ServiceLimits limits()
    {
        ServiceLimits limits;
        limits.dynamic_timeout = std::chrono::milliseconds(200);
        limits.dynamic_time_max = std::chrono::seconds(60);
        limits.dynamic_calls_max = 3;
        limits.query_time_max = std::chrono::milliseconds(0);
        return limits;
    }
    ImpatientTrader() : DynamicProperties(limits()) {}
};

TEST_F(ImpatientTrader, WaitsForNobodyForLong)
{
    offer_one();
    evaluator_->hold(true);
    EXPECT_EQ("", ask({.type = "Printer", .constraint = "queue == 3"}));
    EXPECT_EQ("1", ask({.type = "Printer", .constraint = "not exist queue"}));
}

TEST_F(ImpatientTrader, SaysWhenItHasAskedTooOften)
{
    for (int i = 0; i < 4; ++i)
        offer_one();
    evaluator_->answer(any_of("of another type, at once"));
    EXPECT_EQ(" search_card", ask({.type = "Printer", .constraint = "queue == 3"}));
    EXPECT_EQ(3, evaluator_->calls());
    // The fourth one may be there, or not: so none is withdrawn.
    EXPECT_THROW(register_->withdraw_using_constraint("Printer", "not exist queue"),
                 CORBA::IMP_LIMIT);
    EXPECT_EQ("1 1 1 1", ask({.type = "Printer"}));
}

TEST_F(ImpatientTrader, WithdrawsAllOrNone)
{
    for (CORBA::Long i = 0; i < 70; ++i)
        (void)offer("Printer", {{"id", any_of(CORBA::Long(1))}});
    EXPECT_THROW(register_->withdraw_using_constraint("Printer", ""), CORBA::IMP_LIMIT);
    OfferIdSeq_var ids;
    OfferIdIterator_var more;
    admin_->list_offers(100, ids.out(), more.out());
    EXPECT_EQ(70U, ids->length());
    EXPECT_NE(std::string::npos,
              ask({.type = "Printer", .preference = "max id"}).find("search_card"));
}

// --- What nobody may have more of ----------------------------------------------------------------

class BoundedTrader : public TraderTest {
  protected:
    static ServiceLimits limits()
    {
        ServiceLimits limits;
        limits.types_max = 3;
        limits.offers_max = 40;
        limits.offer_octets_max = 2500;
        limits.octets_of_all_max = 100'000;
        limits.iterators_max = 5;
        limits.reply_count_max = 10;
        limits.reply_octets_max = 6000;
        return limits;
    }
    BoundedTrader() : TraderTest(limits())
    {
        add_type("A", {{"id", CORBA::_tc_long}, {"text", CORBA::_tc_string}});
    }
    int fill(const Values& values) const
    {
        int count = 0;
        try {
            for (; count < 1000; ++count)
                (void)offer("A", values);
        } catch (const CORBA::IMP_LIMIT&) {
        } catch (const CORBA::NO_RESOURCES&) {
        }
        return count;
    }
};

TEST_F(BoundedTrader, HasSoManyTypesAndOffers)
{
    const CORBA::TypeCode_var long_name =
        client_->create_alias_tc("IDL:Long:1.0", std::string(70'000, 'n').c_str(), CORBA::_tc_long);
    EXPECT_THROW(add_type("B", {{"long", long_name.in()}}), CORBA::IMP_LIMIT);
    add_type("B", {});
    add_type("C", {});
    EXPECT_THROW(add_type("D", {}), CORBA::IMP_LIMIT);
    const CORBA::Object_var far =
        client_->string_to_object(("corbaloc::127.0.0.1:1/" + std::string(3000, 'k')).c_str());
    EXPECT_THROW((void)CORBA::String_var(register_->_cxx_export(far.in(), "A", PropertySeq())),
                 CORBA::IMP_LIMIT);
    EXPECT_THROW((void)offer("A", {{"text", any_of(std::string(3000, 'x').c_str())}}),
                 CORBA::IMP_LIMIT);
    EXPECT_EQ(40, fill({{"id", any_of(CORBA::Long(1))}}));
    register_->withdraw_using_constraint("A", "");
    const Values large{{"text", any_of(std::string(1500, 'x').c_str())}};
    const int count = fill(large);
    EXPECT_GT(count, 20);
    EXPECT_LT(count, 33);
    register_->withdraw_using_constraint("A", "");
    EXPECT_EQ(count, fill(large)); // nothing was lost
    Names many;
    for (int i = 0; i < 501; ++i)
        many.push_back("p" + std::to_string(i));
    Lookup::SpecifiedProps wanted;
    wanted.prop_names(list_of<PropertyNameSeq>(many));
    OfferSeq_var offers;
    OfferIterator_var rest;
    PolicyNameSeq_var applied;
    EXPECT_THROW(lookup_->query("A", "", "", PolicySeq(), wanted, 1, offers.out(), rest.out(),
                                applied.out()),
                 CORBA::IMP_LIMIT);
    EXPECT_THROW((void)ask({.type = "A", .constraint = std::string(20'000, ' ').c_str()}),
                 IllegalConstraint);
}

TEST_F(BoundedTrader, AnswersSoMuchAtOnce)
{
    ASSERT_EQ(40, fill({{"id", any_of(CORBA::Long(1))}}));
    Lookup::SpecifiedProps wanted;
    wanted._d(Lookup::all);
    OfferSeq_var offers;
    OfferIterator_var rest;
    PolicyNameSeq_var applied;
    const auto query = [&] {
        lookup_->query("A", "", "", PolicySeq(), wanted, 0xFFFF'FFFF, offers.out(), rest.out(),
                       applied.out());
    };
    query();
    const CORBA::ULong first_reply = offers->length(); // of some 900 octets, as they are counted
    EXPECT_LT(2U, first_reply);
    EXPECT_GT(10U, first_reply);
    CORBA::ULong count = first_reply;
    bool has_more = true;
    while (has_more) {
        has_more = rest->next_n(0xFFFF'FFFF, offers.out());
        count += offers->length();
    }
    EXPECT_EQ(40U, count);
    // Iterators that nobody destroys.
    const OfferIterator_var first = rest;
    for (int i = 0; i < 20; ++i)
        query();
    EXPECT_THROW((void)first->max_left(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_EQ(40U - first_reply, rest->max_left());
}

// --- Many threads --------------------------------------------------------------------------------

TEST_F(Queries, RunBesideChanges)
{
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&, t] {
            for (CORBA::Long i = 0; i < 40; ++i) {
                const std::string id =
                    offer("Printer", {{"id", any_of(static_cast<CORBA::Long>(100 + t))},
                                      {"speed", any_of(CORBA::Double(50 + i))}});
                EXPECT_EQ(std::to_string(100 + t),
                          ask({.type = "Device",
                               .constraint = ("id == " + std::to_string(100 + t)).c_str(),
                               .preference = "max speed"}));
                if (i % 2 == 0)
                    register_->withdraw(id.c_str());
                else
                    register_->withdraw_using_constraint(
                        "Printer", ("speed > 49 and id == " + std::to_string(100 + t)).c_str());
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ("0 1 2 3 4 5", ask({.type = "Device"}));
    EXPECT_GT(service_->evaluated(), 120U);
}

} // namespace
} // namespace kairos::trading
