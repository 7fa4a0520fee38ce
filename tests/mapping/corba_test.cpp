// SPDX-License-Identifier: Apache-2.0
//
// Module CORBA in users' IDL and programs: policies on references, threads and ORBs; the operations
// of every object that say something of its interface and its domains; pseudo objects as
// parameters.
#include "corba_skel.h"
#include "tests/malformed/black_hole.h"

#include <kairos/corba/CORBA.h>
#include <kairos/corba/policies.h>
#include <kairos/ir/ir.h>
#include <kairos/orb/failure.h>

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace {

using kairos::mapping::omg_minor;

class ColourImpl final : public virtual Painting::Colour, public virtual CORBA::LocalObject {
  public:
    explicit ColourImpl(const char* name, CORBA::PolicyType type = Painting::COLOUR_POLICY)
        : name_(CORBA::string_dup(name)), type_(type)
    {
    }
    CORBA::PolicyType policy_type() override { return type_; }
    CORBA::Policy_ptr copy() override { return new ColourImpl(name_, type_); }
    void destroy() override {}
    char* name() override { return CORBA::string_dup(name_); }

  private:
    const CORBA::String_var name_;
    const CORBA::PolicyType type_;
};

class BrushImpl final : public virtual Painting::Brush, public virtual CORBA::LocalObject {
  public:
    CORBA::Long width() override { return 3; }
};

class PaletteImpl final : public virtual Painting::Palette, public virtual CORBA::LocalObject {
  public:
    CORBA::Environment_ptr mix(CORBA::Environment_ptr env, CORBA::ORB_ptr orb,
                               CORBA::NVList_ptr& list, CORBA::Context_out context) override
    {
        list->add(CORBA::ARG_IN);
        orb->get_default_context(context);
        return CORBA::Environment::_duplicate(env);
    }
};

class PainterImpl : public POA_Painting::Painter {
  public:
    CORBA::TCKind kind(CORBA::TypeCode_ptr type, CORBA::CompletionStatus_out progress) override
    {
        progress = CORBA::COMPLETED_MAYBE;
        return type->kind();
    }
    CORBA::OctetSeq* paint(const Painting::Plan& drawing, CORBA::StringValue*& signature) override
    {
        CORBA::OctetSeq_var picture = new CORBA::OctetSeq;
        picture->length(drawing.colours.length() + drawing.members.length());
        CORBA::add_ref(signature);
        CORBA::StringValue* next = new CORBA::StringValue(drawing.title.in());
        CORBA::remove_ref(signature);
        CORBA::remove_ref(signature);
        signature = next;
        return picture._retn();
    }
    void report(CORBA::Environment_ptr env) override { reported_nil = CORBA::is_nil(env); }
    CORBA::Policy_ptr style(CORBA::PolicyType type) override
    {
        return type == 0 ? CORBA::Policy::_nil() : new ColourImpl("red", type);
    }
    bool reported_nil = false;
};

/// It answers by itself what every object is asked.
class StrangerImpl final : public PainterImpl {
  public:
    CORBA::InterfaceDef_ptr _get_interface() override
    {
        if (CORBA::is_nil(definition.in()))
            throw CORBA::NO_PERMISSION(7, CORBA::COMPLETED_NO, "it does not say");
        return CORBA::InterfaceDef::_duplicate(definition.in());
    }
    CORBA::Boolean _is_a(const char* repository_id) override
    {
        return std::string(repository_id) == "IDL:Stranger:1.0" ||
               PainterImpl::_is_a(repository_id);
    }
    CORBA::Boolean _non_existent() override { return true; }
    CORBA::Object_ptr _get_component() override { return _this(); }

    CORBA::InterfaceDef_var definition;
};

class EntryImpl final : public POA_Repository::Entry {
  public:
    CORBA::Boolean is_a(const char* interface_id) override
    {
        return std::string(interface_id) == Painting::Painter::_kairos_id;
    }
};

class EntriesImpl final : public POA_Repository::Entries {
  public:
    CORBA::Object_ptr lookup_id(const char* search_id) override
    {
        if (std::string(search_id) != Painting::Painter::_kairos_id) return CORBA::Object::_nil();
        return entry_._this();
    }

  private:
    EntryImpl entry_;
};

class OperationImpl final : public POA_Repository::Operation {
  public:
    Repository::Parameters* params() override
    {
        const Repository::Parameter parameters[] = {
            parameter("width", CORBA::_tc_long, Repository::way_in),
            parameter("picture", CORBA::_tc_OctetSeq, Repository::way_out),
            parameter("name", CORBA::_tc_string, Repository::both_ways),
        };
        Repository::Parameters_var list = new Repository::Parameters;
        list->assign(parameters);
        return list._retn();
    }

  private:
    static Repository::Parameter parameter(const char* name, CORBA::TypeCode_ptr type,
                                           Repository::Direction mode)
    {
        Repository::Parameter one;
        one.name = name;
        one.type = CORBA::TypeCode::_duplicate(type);
        one.mode = mode;
        return one;
    }
};

CORBA::ORB_ptr make_orb(const char* id, std::vector<std::string> options)
{
    std::vector<char*> arguments;
    std::string program = "test";
    arguments.push_back(program.data());
    for (std::string& option : options)
        arguments.push_back(option.data());
    arguments.push_back(nullptr);
    int count = static_cast<int>(arguments.size()) - 1;
    return CORBA::ORB_init(count, arguments.data(), id);
}

CORBA::PolicyList colours(std::initializer_list<CORBA::Policy_ptr> policies)
{
    CORBA::PolicyList list(static_cast<CORBA::ULong>(policies.size()));
    list.length(static_cast<CORBA::ULong>(policies.size()));
    CORBA::ULong i = 0;
    for (const CORBA::Policy_ptr policy : policies)
        list[i++] = policy;
    return list;
}

std::string name_of(CORBA::Policy_ptr owned)
{
    const CORBA::Policy_var policy = owned;
    const Painting::Colour_var colour = Painting::Colour::_narrow(policy.in());
    if (CORBA::is_nil(colour.in())) return "nil";
    const CORBA::String_var name = colour->name();
    return name.in();
}

template <typename Exception, typename Call>
CORBA::ULong minor_of(Call call)
{
    try {
        call();
    } catch (const Exception& exception) {
        EXPECT_EQ(exception.completed(), CORBA::COMPLETED_NO);
        return exception.minor();
    } catch (const CORBA::Exception& exception) {
        ADD_FAILURE() << exception.what();
        return 0;
    }
    ADD_FAILURE() << "no exception";
    return 0;
}

/// The parameter: whether the calls leave the ORB.
class ModuleCorba : public testing::TestWithParam<bool> {
  protected:
    ModuleCorba()
        : server_(make_orb("", {"-ORBListenEndpoints", "iiop://127.0.0.1:0"})),
          client_(make_orb("client", {}))
    {
        const CORBA::Object_var object = server_->resolve_initial_references("RootPOA");
        poa_ = PortableServer::POA::_narrow(object.in());
        const PortableServer::POAManager_var manager = poa_->the_POAManager();
        manager->activate();
        const CORBA::Object_var local = reference_of(&servant_);
        painter_ = Painting::Painter::_narrow(local.in());
    }
    ~ModuleCorba() override
    {
        painter_ = Painting::Painter::_nil();
        client_->destroy();
        server_->destroy();
    }
    CORBA::Object_ptr reference_of(PortableServer::Servant servant)
    {
        const CORBA::Object_var local = poa_->servant_to_reference(servant);
        const CORBA::String_var text = server_->object_to_string(local.in());
        return GetParam() ? client_->string_to_object(text) : CORBA::Object::_duplicate(local.in());
    }
    /// The ORB of the client's references.
    CORBA::ORB_ptr orb() { return GetParam() ? client_.in() : server_.in(); }

    const CORBA::ORB_var server_;
    const CORBA::ORB_var client_;
    PainterImpl servant_; // this and the next outlive the server: a request may be leaving them
    EntriesImpl repository_;
    StrangerImpl stranger_;
    PortableServer::POA_var poa_;
    Painting::Painter_var painter_;
};

TEST_P(ModuleCorba, ItsTypesAreMembersAndParameters)
{
    Painting::Plan plan;
    plan.title = "sunset";
    plan.colours = CORBA::StringSeq{"red", "gold"};
    plan.members.length(1);
    plan.members[0].name = "member";
    plan.members[0].type = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
    CORBA::StringValue_var signature = new CORBA::StringValue("me");
    const CORBA::OctetSeq_var picture = painter_->paint(plan, signature.inout());
    EXPECT_EQ(picture->length(), 3u);
    EXPECT_STREQ(signature->_value(), "sunset");

    CORBA::Any any;
    any <<= plan.members;
    const CORBA::StructMemberSeq* members = nullptr;
    ASSERT_TRUE(any >>= members);
    EXPECT_STREQ((*members)[0].name.in(), "member");
    EXPECT_STREQ(CORBA::_tc_StructMember->id(), "IDL:omg.org/CORBA/StructMember:1.0");
}

TEST_P(ModuleCorba, WhatTheOrbDeclaresItselfMayBeNamed)
{
    CORBA::CompletionStatus progress = CORBA::COMPLETED_YES;
    EXPECT_EQ(painter_->kind(CORBA::_tc_string, progress), CORBA::tk_string);
    EXPECT_EQ(progress, CORBA::COMPLETED_MAYBE);

    CORBA::Any any;
    any <<= CORBA::tk_wstring;
    CORBA::TCKind kind = CORBA::tk_null;
    ASSERT_TRUE(any >>= kind);
    EXPECT_EQ(kind, CORBA::tk_wstring);
    EXPECT_STREQ(CORBA::_tc_TCKind->id(), "IDL:omg.org/CORBA/TCKind:1.0");
    EXPECT_STREQ(CORBA::_tc_CompletionStatus->member_name(2), "COMPLETED_MAYBE");
}

// --- policies
// --------------------------------------------------------------------------------------

TEST_P(ModuleCorba, PoliciesOfAReference)
{
    const CORBA::Object_var red =
        painter_->_set_policy_overrides(colours({new ColourImpl("red")}), CORBA::SET_OVERRIDE);
    EXPECT_EQ(name_of(red->_get_client_policy(Painting::COLOUR_POLICY)), "red");
    EXPECT_EQ(name_of(red->_get_policy(Painting::COLOUR_POLICY)), "red");
    EXPECT_EQ(name_of(painter_->_get_client_policy(Painting::COLOUR_POLICY)), "nil")
        << "the old one";
    EXPECT_EQ(minor_of<CORBA::INV_POLICY>([&] { painter_->_get_policy(Painting::COLOUR_POLICY); }),
              0u);
    EXPECT_TRUE(red->_is_equivalent(painter_.in()));

    // A narrowed reference is called as its original is.
    const Painting::Painter_var narrowed = Painting::Painter::_narrow(red.in());
    EXPECT_EQ(name_of(narrowed->_get_client_policy(Painting::COLOUR_POLICY)), "red");
    narrowed->report(CORBA::Environment::_nil());
    EXPECT_TRUE(servant_.reported_nil);

    const CORBA::Object_var both = red->_set_policy_overrides(
        colours({new ColourImpl("wide", Painting::WIDTH_POLICY)}), CORBA::ADD_OVERRIDE);
    const CORBA::PolicyList_var all = both->_get_policy_overrides(CORBA::PolicyTypeSeq());
    ASSERT_EQ(all->length(), 2u);
    EXPECT_EQ(all[0u]->policy_type(), Painting::COLOUR_POLICY);
    CORBA::PolicyTypeSeq one{Painting::WIDTH_POLICY, 1};
    const CORBA::PolicyList_var some = both->_get_policy_overrides(one);
    ASSERT_EQ(some->length(), 1u);
    EXPECT_EQ(some[0u]->policy_type(), Painting::WIDTH_POLICY);

    const CORBA::Object_var blue =
        both->_set_policy_overrides(colours({new ColourImpl("blue")}), CORBA::ADD_OVERRIDE);
    EXPECT_EQ(name_of(blue->_get_client_policy(Painting::COLOUR_POLICY)), "blue");
    EXPECT_EQ(name_of(blue->_get_client_policy(Painting::WIDTH_POLICY)), "wide");
    const CORBA::Object_var none =
        both->_set_policy_overrides(CORBA::PolicyList(), CORBA::SET_OVERRIDE);
    EXPECT_EQ(name_of(none->_get_client_policy(Painting::WIDTH_POLICY)), "nil");

    CORBA::PolicyList_var inconsistent;
    EXPECT_TRUE(red->_validate_connection(inconsistent.out()));
    EXPECT_EQ(inconsistent->length(), 0u);
}

TEST_P(ModuleCorba, WrongPoliciesAreRefused)
{
    try {
        painter_->_set_policy_overrides(
            colours({CORBA::Policy::_nil(), new ColourImpl("red"), CORBA::Policy::_nil()}),
            CORBA::SET_OVERRIDE);
        ADD_FAILURE() << "no exception";
    } catch (const CORBA::InvalidPolicies& invalid) {
        ASSERT_EQ(invalid.indices.length(), 2u);
        EXPECT_EQ(invalid.indices[0], 0);
        EXPECT_EQ(invalid.indices[1], 2);
    }
    EXPECT_EQ(minor_of<CORBA::BAD_PARAM>([&] {
                  painter_->_set_policy_overrides(
                      colours({new ColourImpl("red"), new ColourImpl("blue")}),
                      CORBA::SET_OVERRIDE);
              }),
              omg_minor(30));
}

TEST_P(ModuleCorba, PoliciesOfOrbAndThreadAreBehindThoseOfTheReference)
{
    CORBA::Object_var object = orb()->resolve_initial_references("ORBPolicyManager");
    const CORBA::PolicyManager_var of_orb = CORBA::PolicyManager::_narrow(object.in());
    object = orb()->resolve_initial_references("PolicyCurrent");
    const CORBA::PolicyCurrent_var of_thread = CORBA::PolicyCurrent::_narrow(object.in());
    ASSERT_FALSE(CORBA::is_nil(of_orb.in()));
    ASSERT_FALSE(CORBA::is_nil(of_thread.in()));
    const CORBA::Current_var current = CORBA::Current::_narrow(object.in());
    EXPECT_FALSE(CORBA::is_nil(current.in()));
    const auto seen = [&] {
        return name_of(painter_->_get_client_policy(Painting::COLOUR_POLICY));
    };

    of_orb->set_policy_overrides(colours({new ColourImpl("grey")}), CORBA::SET_OVERRIDE);
    EXPECT_EQ(seen(), "grey");
    of_thread->set_policy_overrides(colours({new ColourImpl("green")}), CORBA::ADD_OVERRIDE);
    EXPECT_EQ(seen(), "green");
    std::string elsewhere;
    std::thread([&] { elsewhere = seen(); }).join();
    EXPECT_EQ(elsewhere, "grey");
    const CORBA::PolicyList_var listed = of_thread->get_policy_overrides(CORBA::PolicyTypeSeq());
    EXPECT_EQ(listed->length(), 1u);
    const CORBA::Object_var red =
        painter_->_set_policy_overrides(colours({new ColourImpl("red")}), CORBA::SET_OVERRIDE);
    EXPECT_EQ(name_of(red->_get_client_policy(Painting::COLOUR_POLICY)), "red");
    of_thread->set_policy_overrides(CORBA::PolicyList(), CORBA::SET_OVERRIDE);
    EXPECT_EQ(seen(), "grey");

    // Another ORB has policies of its own.
    const CORBA::ORB_var other = make_orb("other", {});
    object = other->resolve_initial_references("ORBPolicyManager");
    const CORBA::PolicyManager_var of_other = CORBA::PolicyManager::_narrow(object.in());
    const CORBA::PolicyList_var nothing = of_other->get_policy_overrides(CORBA::PolicyTypeSeq());
    EXPECT_EQ(nothing->length(), 0u);
    EXPECT_THROW(other->register_initial_reference("PolicyCurrent", painter_.in()),
                 CORBA::ORB::InvalidName);
    other->destroy();
}

TEST_P(ModuleCorba, PoliciesAreCreatedByWhoAddedTheirType)
{
    const auto make = [](CORBA::PolicyType type, const CORBA::Any& value) -> CORBA::Policy_ptr {
        const char* name = nullptr;
        if (!(value >>= name)) throw CORBA::PolicyError(CORBA::BAD_POLICY_VALUE);
        return new ColourImpl(name, type);
    };
    EXPECT_TRUE(orb()->_kairos_policies().add_factory(Painting::COLOUR_POLICY, make));
    EXPECT_FALSE(orb()->_kairos_policies().add_factory(Painting::COLOUR_POLICY, make));
    CORBA::Any value;
    value <<= "red";
    EXPECT_EQ(name_of(orb()->create_policy(Painting::COLOUR_POLICY, value)), "red");
    const auto reason = [&](CORBA::PolicyType type, const CORBA::Any& what) {
        try {
            orb()->create_policy(type, what);
        } catch (const CORBA::PolicyError& error) {
            return error.reason;
        }
        return CORBA::PolicyErrorCode{-1};
    };
    EXPECT_EQ(reason(Painting::WIDTH_POLICY, value), CORBA::BAD_POLICY_TYPE);
    EXPECT_EQ(reason(Painting::COLOUR_POLICY, CORBA::Any()), CORBA::BAD_POLICY_VALUE);
}

TEST_P(ModuleCorba, PoliciesDoNotLeaveTheProcess)
{
    const CORBA::Policy_var nil = painter_->style(0);
    EXPECT_TRUE(CORBA::is_nil(nil.in()));
    EXPECT_THROW(painter_->style(Painting::COLOUR_POLICY), CORBA::MARSHAL);
}

// --- interface and domains
// -------------------------------------------------------------------------

TEST_P(ModuleCorba, ObjectsKnowTheirInterfaceWhereThereIsARepository)
{
    EXPECT_EQ(minor_of<CORBA::INTF_REPOS>([&] { painter_->_get_interface(); }), omg_minor(1));
    const CORBA::Object_var entries = poa_->servant_to_reference(&repository_);
    server_->register_initial_reference("InterfaceRepository", entries.in());
    const CORBA::InterfaceDef_var definition = painter_->_get_interface();
    ASSERT_FALSE(CORBA::is_nil(definition.in()));
    EXPECT_TRUE(definition->is_a(Painting::Painter::_kairos_id));
    EXPECT_FALSE(definition->is_a("IDL:Other:1.0"));
    const CORBA::Object_var unknown = reference_of(&repository_);
    EXPECT_EQ(minor_of<CORBA::INTF_REPOS>([&] { unknown->_get_interface(); }), omg_minor(2));
    // The servant knows without being called.
    const CORBA::InterfaceDef_var same = servant_._get_interface();
    EXPECT_TRUE(same->_is_equivalent(definition.in()));
    EXPECT_EQ(minor_of<CORBA::INTF_REPOS>([&] { repository_._get_interface(); }), omg_minor(2));
}

TEST_P(ModuleCorba, ServantsMayAnswerWhatEveryObjectIsAsked)
{
    const CORBA::Object_var object = reference_of(&stranger_);
    EXPECT_EQ(minor_of<CORBA::NO_PERMISSION>([&] { object->_get_interface(); }), 7u);
    const CORBA::Object_var entry = poa_->servant_to_reference(&repository_);
    stranger_.definition = CORBA::InterfaceDef::_unchecked_narrow(entry.in());
    const CORBA::InterfaceDef_var definition = object->_get_interface();
    EXPECT_TRUE(definition->_is_equivalent(entry.in()));

    EXPECT_TRUE(object->_is_a("IDL:Stranger:1.0"));
    EXPECT_TRUE(object->_is_a(Painting::Painter::_kairos_id));
    EXPECT_FALSE(object->_is_a("IDL:Other:1.0"));
    EXPECT_FALSE(painter_->_is_a("IDL:Stranger:1.0"));
    EXPECT_TRUE(object->_non_existent());
    EXPECT_FALSE(painter_->_non_existent());
    const CORBA::Object_var component = object->_get_component();
    EXPECT_TRUE(component->_is_equivalent(object.in()));
    EXPECT_TRUE(CORBA::is_nil(CORBA::Object_var(painter_->_get_component()).in()));
    const PortableServer::ObjectId_var id = poa_->servant_to_id(&stranger_);
    poa_->deactivate_object(id.in());
}

TEST_P(ModuleCorba, ARepositoryThatIsGoneIsNotAvailable)
{
    const CORBA::Object_var gone = server_->string_to_object("corbaloc::127.0.0.1:1/gone");
    server_->register_initial_reference("InterfaceRepository", gone.in());
    EXPECT_EQ(minor_of<CORBA::INTF_REPOS>([&] { painter_->_get_interface(); }), omg_minor(1));
}

/// Who asks an object for its interface makes its server call the repository.
TEST_P(ModuleCorba, ARepositoryThatNeverAnswersIsNotWaitedForForEver)
{
    const kairos::orb_testing::BlackHole hole;
    const auto silent = hole.object<CORBA::Object>(server_.in());
    server_->register_initial_reference("InterfaceRepository", silent.in());
    EXPECT_EQ(minor_of<CORBA::INTF_REPOS>([&] { painter_->_get_interface(); }), omg_minor(1));
}

TEST_P(ModuleCorba, ThereAreNoDomains)
{
    EXPECT_EQ(minor_of<CORBA::NO_IMPLEMENT>([&] { painter_->_get_domain_managers(); }),
              kairos::orb::minor_code::no_domains);
}

// --- local and pseudo objects
// ----------------------------------------------------------------------

TEST_P(ModuleCorba, LocalObjectsImplementNoneOfIt)
{
    const Painting::Brush_var brush = new BrushImpl; // local, though its IDL does not say so
    EXPECT_EQ(brush->width(), 3);
    const CORBA::Current_var current = CORBA::Current::_narrow(brush.in());
    EXPECT_FALSE(CORBA::is_nil(current.in()));
    const auto refused = [](auto call) { return minor_of<CORBA::NO_IMPLEMENT>(call); };
    EXPECT_EQ(refused([&] { brush->_get_interface(); }), omg_minor(8));
    EXPECT_EQ(refused([&] { brush->_get_domain_managers(); }), omg_minor(8));
    EXPECT_EQ(refused([&] { brush->_get_policy(Painting::COLOUR_POLICY); }), omg_minor(8));
    EXPECT_EQ(refused([&] { brush->_get_client_policy(Painting::COLOUR_POLICY); }), omg_minor(8));
    EXPECT_EQ(refused([&] { brush->_get_policy_overrides(CORBA::PolicyTypeSeq()); }), omg_minor(8));
    EXPECT_EQ(
        refused([&] { brush->_set_policy_overrides(CORBA::PolicyList(), CORBA::SET_OVERRIDE); }),
        omg_minor(8));
    CORBA::PolicyList_var inconsistent;
    EXPECT_EQ(refused([&] { brush->_validate_connection(inconsistent.out()); }), omg_minor(8));
    EXPECT_TRUE(brush->_validate_connection());
}

TEST_P(ModuleCorba, PseudoObjectsArePassedButNotSent)
{
    const Painting::Palette_var palette = new PaletteImpl;
    CORBA::Environment_var env;
    client_->create_environment(env.out());
    CORBA::NVList_var list;
    client_->create_list(0, list.out());
    CORBA::Context_var context;
    const CORBA::Environment_var same =
        palette->mix(env.in(), client_.in(), list.inout(), context.out());
    EXPECT_EQ(same.in(), env.in());
    EXPECT_EQ(list->count(), 1u);
    EXPECT_FALSE(CORBA::is_nil(context.in()));
    EXPECT_EQ(minor_of<CORBA::MARSHAL>([&] { painter_->report(env.in()); }), omg_minor(4));
    painter_->report(CORBA::Environment::_nil());
    EXPECT_TRUE(servant_.reported_nil);
}

// CORBA 3.3 part 1, 8.2.5.
TEST_P(ModuleCorba, ListsOfArgumentsAreMadeOfWhatARepositoryKnows)
{
    OperationImpl servant;
    const CORBA::Object_var object = reference_of(&servant);
    const CORBA::OperationDef_var operation = CORBA::OperationDef::_unchecked_narrow(object.in());
    CORBA::NVList_var list;
    orb()->create_operation_list(operation.in(), list.out());
    ASSERT_EQ(list->count(), 3u);
    EXPECT_STREQ(list->item(0)->name(), "width");
    EXPECT_EQ(list->item(0)->flags(), CORBA::ARG_IN);
    EXPECT_STREQ(list->item(1)->name(), "picture");
    EXPECT_EQ(list->item(1)->flags(), CORBA::ARG_OUT);
    EXPECT_STREQ(list->item(2)->name(), "name");
    EXPECT_EQ(list->item(2)->flags(), CORBA::ARG_INOUT);
    const CORBA::TypeCode_var type = list->item(1)->value()->type();
    EXPECT_TRUE(type->equal(CORBA::_tc_OctetSeq));
    EXPECT_EQ(minor_of<CORBA::BAD_PARAM>(
                  [&] { orb()->create_operation_list(CORBA::OperationDef::_nil(), list.out()); }),
              0u);
}

INSTANTIATE_TEST_SUITE_P(Both, ModuleCorba, testing::Bool(),
                         [](const auto& each) { return each.param ? "remote" : "collocated"; });

} // namespace
