// SPDX-License-Identifier: Apache-2.0
//
// Servants without a skeleton: what stubs and requests get of them, over TCP from every kind of
// server and within the process; in every place of a POA; and what they are told when they do not
// keep to CORBA 3.3 part 1, 12.3.
#include "without_skeleton.h"

namespace kairos::dynamic_testing {
namespace {

using PortableServer::ObjectId;
using PortableServer::POA_ptr;

constexpr const char* arguments_again = "BAD_INV_ORDER 0x4f4d0007 NO";
constexpr const char* ctx_out_of_order = "BAD_INV_ORDER 0x4f4d0008 NO";
constexpr const char* result_out_of_order = "BAD_INV_ORDER 0x4f4d0009 NO";
constexpr const char* context_not_asked_for = "MARSHAL 0x4f4d0002 NO";
constexpr const char* more_than_described = "MARSHAL 0x4f4d0003 NO";
constexpr const char* no_exception = "BAD_PARAM 0x4f4d0015 NO";
constexpr const char* unlisted = "UNKNOWN 0x4f4d0001 YES";
constexpr const char* no_type = "BAD_TYPECODE 0x4f4d0003 NO";
constexpr const char* other_type = "BAD_TYPECODE 0x4f4d0003 YES";
constexpr const char* nothing_said = "BAD_INV_ORDER 0x4b520015 MAYBE";
constexpr const char* over = "BAD_INV_ORDER 0x4b520016 NO";

std::string way_name(const testing::TestParamInfo<const char*>& info)
{
    std::string name = info.param;
    for (char& c : name)
        if (c == ' ' || c == '-') c = '_';
    return name;
}

class WithoutSkeleton : public ::testing::TestWithParam<const char*> {
  protected:
    Unskilled servant_;
    World world_{GetParam()};
    const Dynamic::Target_var target_ = world_.activate(&servant_);
};

// --- values --------------------------------------------------------------------------------------

TEST_P(WithoutSkeleton, ArgumentsAndResultsAreThoseOfAStub)
{
    EXPECT_EQ(42, target_->add(40, 2));
    target_->number(7);
    EXPECT_EQ(7, target_->number());

    Dynamic::Person who;
    who.name = "Ada";
    who.at = {1, 2.5};
    who.marks.length(2000);
    who.marks[1999] = 5;
    Dynamic::Choice choice;
    choice.where(Dynamic::Point{7, 8.5});
    CORBA::Any anything;
    anything <<= "anything";
    const Dynamic::Grid numbers = {{1, 2, 3}, {4, 5, 6}};
    Dynamic::Choice_var chosen;
    CORBA::Any_var back;
    Dynamic::Grid same;
    Dynamic::Target_var other;
    const Dynamic::Person_var before =
        target_->change(9, who, choice, chosen.out(), anything, back.out(), numbers, same,
                        target_.in(), other.out(), "code");
    EXPECT_STREQ("Ada", before->name);
    ASSERT_EQ(2000u, before->marks.length());
    EXPECT_EQ(5, before->marks[1999]);
    EXPECT_STREQ("code", who.name);
    ASSERT_EQ(1u, who.marks.length());
    EXPECT_EQ(9, who.marks[0]);
    EXPECT_EQ(2.5, who.at.y);
    EXPECT_EQ(8.5, chosen->where().y);
    const char* text = nullptr;
    ASSERT_TRUE(back.in() >>= text);
    EXPECT_STREQ("anything", text);
    EXPECT_EQ(6, same[1][2]);
    EXPECT_TRUE(other->_is_equivalent(target_.in()));
}

TEST_P(WithoutSkeleton, LargeArgumentsComeWhole)
{
    Dynamic::Octets octets;
    octets.length(1 << 20);
    CORBA::ULong sum = 0;
    for (CORBA::ULong i = 0; i < octets.length(); ++i) {
        octets[i] = static_cast<CORBA::Octet>(i * 7);
        sum += octets[i];
    }
    EXPECT_EQ(sum, target_->large(octets));
}

TEST_P(WithoutSkeleton, LargeResultsAreSentFromWhereTheyAre)
{
    servant_.actions["produce"] = [](CORBA::ServerRequest_ptr request) {
        arguments_of(request, {});
        Dynamic::Octets octets;
        octets.length(1 << 20);
        octets[(1 << 20) - 1] = 3;
        request->set_result(as_any(octets));
    };
    const CORBA::Request_var request = target_->_request("produce");
    request->set_return_type(Dynamic::_tc_Octets);
    request->invoke();
    const Dynamic::Octets* octets = nullptr;
    ASSERT_TRUE(request->return_value() >>= octets);
    ASSERT_EQ(1u << 20, octets->length());
    EXPECT_EQ(3, (*octets)[(1 << 20) - 1]);
}

TEST_P(WithoutSkeleton, ValuesOfParametersAreOneGraph)
{
    const Dynamic::Item_var last = new OBV_Dynamic::Item(2, nullptr);
    const Dynamic::Item_var first = new OBV_Dynamic::Item(1, last.in());
    Dynamic::Pair both; // without values of the other parameters: docs/dynamic.md
    Dynamic::Item_var out;
    const Dynamic::Item_var result = target_->link(first.in(), both, out.out());
    EXPECT_EQ(1, result->number());
    EXPECT_EQ(2, out->number());
    EXPECT_EQ(out.in(), result->next());
}

TEST_P(WithoutSkeleton, RequestsWithoutStubsAreServed)
{
    const CORBA::Request_var request = target_->_request("add");
    request->add_in_arg() <<= CORBA::Long{20};
    request->add_in_arg() <<= CORBA::Long{22};
    request->set_return_type(CORBA::_tc_long);
    for (int round = 0; round < 3; ++round) {
        request->invoke();
        CORBA::Long sum = 0;
        EXPECT_TRUE(request->return_value() >>= sum);
        EXPECT_EQ(42, sum);
    }
    request->send_deferred();
    request->get_response();
    EXPECT_EQ(nullptr, request->env()->exception());
}

TEST_P(WithoutSkeleton, ListsMayBeUsedAgain)
{
    const CORBA::NVList_var kept =
        list_of({{CORBA::ARG_IN, CORBA::_tc_long}, {CORBA::ARG_IN, CORBA::_tc_long}});
    servant_.actions["add"] = [&](CORBA::ServerRequest_ptr request) {
        CORBA::NVList_ptr list = CORBA::NVList::_duplicate(kept.in());
        request->arguments(list);
        request->set_result(as_any(get<CORBA::Long>(list, 0) - get<CORBA::Long>(list, 1)));
    };
    for (CORBA::Long i = 0; i < 10; ++i)
        EXPECT_EQ(i - 1, target_->add(i, 1));
}

TEST_P(WithoutSkeleton, ReferencesAndValuesMayBeOfAnotherTypeThanTheirParameter)
{
    servant_.actions["give"] = [this](CORBA::ServerRequest_ptr request) {
        CORBA::NVList_ptr list = arguments_of(request, {{CORBA::ARG_OUT, Dynamic::_tc_Base}});
        const CORBA::Object_var self = servant_._this();
        const Dynamic::Target_var target = Dynamic::Target::_unchecked_narrow(self.in());
        value_of(list, 0) <<= target.in();
    };
    const CORBA::Request_var request = target_->_request("give");
    CORBA::Any& given = request->add_out_arg();
    given.replace(Dynamic::_tc_Base, nullptr);
    request->invoke();
    CORBA::Object_var object;
    ASSERT_TRUE(given >>= CORBA::Any::to_object(object.out()));
    EXPECT_TRUE(object->_is_equivalent(target_.in()));
}

TEST_P(WithoutSkeleton, OnewaysComeWithoutAnswer)
{
    target_->note(5);
    EXPECT_TRUE(servant_.noted.wait());
    EXPECT_EQ(5, servant_.last_note);
}

TEST_P(WithoutSkeleton, ContextsComeToWhoAsksForThem)
{
    CORBA::Context_var root;
    world_.orb()->get_default_context(root.out());
    CORBA::Context_var context;
    root->create_child("own", context.out());
    context->set_one_value("user", as_any("ada"));
    context->set_one_value("language", as_any("en"));
    context->set_one_value("other", as_any("stays"));
    const CORBA::String_var all = target_->asked(context.in());
    EXPECT_STREQ("language=en;user=ada;", all.in());
    EXPECT_EQ("BAD_CONTEXT", outcome([&] { (void)target_->asked(root.in()); }).substr(0, 11));
}

// --- exceptions ----------------------------------------------------------------------------------

TEST_P(WithoutSkeleton, UserExceptionsAreSetOrThrown)
{
    try {
        target_->refuse("because");
        ADD_FAILURE();
    } catch (const Dynamic::Refused& refused) {
        EXPECT_STREQ("because", refused.why);
        EXPECT_EQ(4.5, refused.where.y);
    }
    EXPECT_EQ("Other", outcome([&] { target_->refuse(""); }));
}

TEST_P(WithoutSkeleton, ExceptionsThatWereReceivedArePassedOn)
{
    servant_.actions["relay"] = [this](CORBA::ServerRequest_ptr request) {
        const CORBA::Request_var onward = target_->_request("refuse");
        onward->add_in_arg() <<= "elsewhere";
        onward->exceptions()->add(Dynamic::_tc_Refused);
        onward->invoke();
        auto* raised = CORBA::UnknownUserException::_downcast(onward->env()->exception());
        ASSERT_NE(nullptr, raised);
        request->set_exception(raised->exception());
    };
    const CORBA::Request_var request = target_->_request("relay");
    request->exceptions()->add(Dynamic::_tc_Refused);
    request->invoke();
    auto* raised = CORBA::UnknownUserException::_downcast(request->env()->exception());
    ASSERT_NE(nullptr, raised);
    const Dynamic::Refused* refused = nullptr;
    ASSERT_TRUE(raised->exception() >>= refused);
    EXPECT_STREQ("elsewhere", refused->why);
}

TEST_P(WithoutSkeleton, WhatTheOperationDoesNotRaiseIsUnknownToTheClient)
{
    servant_.actions["add"] = [](CORBA::ServerRequest_ptr request) {
        request->set_exception(as_any(Dynamic::Other()));
    };
    EXPECT_EQ(unlisted, outcome([&] { (void)target_->add(1, 2); }));
}

TEST_P(WithoutSkeleton, SystemExceptionsAreSetOrThrown)
{
    servant_.actions["add"] = [](CORBA::ServerRequest_ptr request) {
        request->set_exception(as_any(CORBA::NO_PERMISSION(17, CORBA::COMPLETED_MAYBE)));
    };
    EXPECT_EQ("NO_PERMISSION 0x11 MAYBE", outcome([&] { (void)target_->add(1, 2); }));
    servant_.actions["large"] = [](CORBA::ServerRequest_ptr) {
        throw CORBA::NO_RESOURCES(18, CORBA::COMPLETED_NO);
    };
    EXPECT_EQ("NO_RESOURCES 0x12 NO", outcome([&] { (void)target_->large(Dynamic::Octets()); }));
    EXPECT_EQ("BAD_OPERATION 0x4f4d0002 NO", outcome([&] { (void)target_->hold(1); }));
    servant_.actions["refuse"] = [](CORBA::ServerRequest_ptr) { throw 5; };
    EXPECT_EQ("UNKNOWN 0x4b520009 MAYBE", outcome([&] { target_->refuse("why"); }));
}

TEST_P(WithoutSkeleton, TheLastExceptionCountsAlsoAfterAResult)
{
    servant_.actions["add"] = [](CORBA::ServerRequest_ptr request) {
        Unskilled::add(request);
        request->set_exception(as_any(CORBA::NO_PERMISSION(1, CORBA::COMPLETED_NO)));
        request->set_exception(as_any(CORBA::NO_PERMISSION(2, CORBA::COMPLETED_NO)));
    };
    EXPECT_EQ("NO_PERMISSION 0x2 NO", outcome([&] { (void)target_->add(1, 2); }));
}

// --- misuse --------------------------------------------------------------------------------------

/// What the servant of `add` was told, and then the client.
class Misuse : public WithoutSkeleton {
  protected:
    using Steps = std::function<void(CORBA::ServerRequest_ptr)>;

    [[nodiscard]] std::string told(const Steps& before, const Steps& misuse,
                                   const Steps& after = {})
    {
        std::string servant;
        servant_.actions["add"] = [&](CORBA::ServerRequest_ptr request) {
            if (before) before(request);
            servant = outcome([&] { misuse(request); });
            if (after) after(request);
        };
        client_ = outcome([&] { (void)target_->add(1, 2); });
        return servant;
    }

    static void read(CORBA::ServerRequest_ptr request)
    {
        arguments_of(request, {{CORBA::ARG_IN, CORBA::_tc_long}, {CORBA::ARG_IN, CORBA::_tc_long}});
    }
    static void finish(CORBA::ServerRequest_ptr request)
    {
        request->set_result(as_any(CORBA::Long{3}));
    }
    static void fail(CORBA::ServerRequest_ptr request)
    {
        request->set_exception(as_any(CORBA::NO_PERMISSION(1, CORBA::COMPLETED_NO)));
    }
    static void ask_for_context(CORBA::ServerRequest_ptr request) { (void)request->ctx(); }
    static void add(CORBA::ServerRequest_ptr request) { Unskilled::add(request); }

    std::string client_;
};

TEST_P(Misuse, ArgumentsAreAskedForOnceAndFirst)
{
    EXPECT_EQ(arguments_again, told(
                                   &read,
                                   [](CORBA::ServerRequest_ptr request) {
                                       const CORBA::NVList_var own = list_of({});
                                       CORBA::NVList_ptr list = own.in(); // is not taken over
                                       request->arguments(list);
                                   },
                                   &finish));
    EXPECT_EQ("ok", client_);
    EXPECT_EQ(arguments_again, told(&fail, [](CORBA::ServerRequest_ptr request) {
                  const CORBA::NVList_var own = list_of({});
                  CORBA::NVList_ptr list = own.in();
                  request->arguments(list);
              }));
    EXPECT_EQ("NO_PERMISSION 0x1 NO", client_);
}

TEST_P(Misuse, ArgumentsAreThoseThatWereSent)
{
    const auto asked_for = [](std::initializer_list<Parameter> list) {
        return [parameters = std::vector<Parameter>(list)](CORBA::ServerRequest_ptr request) {
            CORBA::NVList_var made = new CORBA::NVList;
            for (const Parameter& parameter : parameters)
                made->add(parameter.direction)->value()->replace(parameter.type, nullptr);
            CORBA::NVList_ptr given = made._retn();
            request->arguments(given);
        };
    };
    EXPECT_EQ(more_than_described, told({}, asked_for({{CORBA::ARG_IN, CORBA::_tc_long}})));
    EXPECT_EQ(nothing_said, client_);
    EXPECT_EQ("MARSHAL 0x4b520005 NO", told({}, asked_for({{CORBA::ARG_IN, CORBA::_tc_long},
                                                           {CORBA::ARG_IN, CORBA::_tc_long},
                                                           {CORBA::ARG_IN, CORBA::_tc_long}})));
    EXPECT_EQ("MARSHAL 0x4b520005 NO", told({}, asked_for({{CORBA::ARG_IN, CORBA::_tc_string}})));
    EXPECT_EQ(no_type, told({}, asked_for({{CORBA::ARG_IN, CORBA::_tc_null}})));
    EXPECT_EQ(no_type, told({}, asked_for({{CORBA::ARG_OUT, CORBA::_tc_void}})));
    EXPECT_EQ("INV_FLAG 0x0 NO", told({}, asked_for({{0, CORBA::_tc_long}})));
    EXPECT_EQ("BAD_PARAM 0x0 NO", told(
                                      {},
                                      [](CORBA::ServerRequest_ptr request) {
                                          CORBA::NVList_ptr nil = nullptr;
                                          request->arguments(nil);
                                      },
                                      &add));
    EXPECT_EQ("ok", client_);
    // An exception can still be said, and a result not.
    EXPECT_EQ(more_than_described, told({}, asked_for({}), &fail));
    EXPECT_EQ("NO_PERMISSION 0x1 NO", client_);
    EXPECT_EQ(result_out_of_order, told(
                                       [&](CORBA::ServerRequest_ptr request) {
                                           (void)outcome([&] { asked_for({})(request); });
                                       },
                                       &finish));
}

TEST_P(Misuse, ContextsAreAskedForOnceBetweenArgumentsAndResult)
{
    EXPECT_EQ(ctx_out_of_order, told({}, &ask_for_context, &add));
    EXPECT_EQ("ok", client_);
    EXPECT_EQ("ok", told(&read, &ask_for_context, &finish));
    EXPECT_EQ("ok", client_);
    EXPECT_EQ(ctx_out_of_order, told(
                                    [](CORBA::ServerRequest_ptr request) {
                                        read(request);
                                        EXPECT_TRUE(CORBA::is_nil(request->ctx()));
                                    },
                                    &ask_for_context, &finish));
    EXPECT_EQ(ctx_out_of_order, told(&add, &ask_for_context));
    EXPECT_EQ(ctx_out_of_order, told(&fail, &ask_for_context));

    std::string servant;
    servant_.actions["asked"] = [&](CORBA::ServerRequest_ptr request) {
        arguments_of(request, {});
        servant = outcome([&] { request->set_result(as_any("never")); });
        (void)request->ctx();
        request->set_result(as_any("asked"));
    };
    CORBA::Context_var context;
    world_.orb()->get_default_context(context.out());
    context->set_one_value("user", as_any("ada"));
    context->set_one_value("lang", as_any("en"));
    const CORBA::String_var result = target_->asked(context.in());
    EXPECT_EQ(context_not_asked_for, servant);
    EXPECT_STREQ("asked", result.in());
}

TEST_P(Misuse, ResultsAreSetOnceAfterTheArguments)
{
    EXPECT_EQ(result_out_of_order, told({}, &finish, &add));
    EXPECT_EQ("ok", client_);
    EXPECT_EQ(result_out_of_order, told(&add, &finish));
    EXPECT_EQ("ok", client_);
    EXPECT_EQ(result_out_of_order, told(&fail, &finish));
    EXPECT_EQ(no_type,
              told(
                  &read,
                  [](CORBA::ServerRequest_ptr request) { request->set_result(CORBA::Any()); },
                  &finish));
    EXPECT_EQ("ok", client_);
    EXPECT_EQ(no_type, told(
                           &read,
                           [](CORBA::ServerRequest_ptr request) {
                               request->set_result(as_any(Dynamic::Other()));
                           },
                           &finish));
}

TEST_P(Misuse, VoidResultsMayBeSetOrNot)
{
    for (const bool is_set : {true, false}) {
        servant_.actions["refuse"] = [is_set](CORBA::ServerRequest_ptr request) {
            arguments_of(request, {{CORBA::ARG_IN, CORBA::_tc_string}});
            CORBA::Any nothing;
            nothing.replace(CORBA::_tc_void, nullptr);
            if (is_set) request->set_result(nothing);
        };
        target_->refuse("not");
    }
}

TEST_P(Misuse, ExceptionsAreExceptions)
{
    EXPECT_EQ(no_exception, told(
                                {},
                                [](CORBA::ServerRequest_ptr request) {
                                    request->set_exception(as_any(CORBA::Long{5}));
                                },
                                &add));
    EXPECT_EQ("ok", client_);
    EXPECT_EQ(no_exception, told(
                                {},
                                [](CORBA::ServerRequest_ptr request) {
                                    CORBA::Any type_alone;
                                    type_alone.replace(Dynamic::_tc_Refused, nullptr);
                                    request->set_exception(type_alone);
                                },
                                &add));
    EXPECT_EQ(no_exception,
              told(
                  {},
                  [](CORBA::ServerRequest_ptr request) { request->set_exception(CORBA::Any()); },
                  &add));
}

TEST_P(Misuse, WhoSaysNothingHasSaidSo)
{
    (void)told({}, [](CORBA::ServerRequest_ptr) {});
    EXPECT_EQ(nothing_said, client_);
}

TEST_P(Misuse, OutArgumentsAreOfTheTypeThatTheListHad)
{
    const auto with_out = [this](const CORBA::Any* value) {
        servant_.actions["out"] = [value](CORBA::ServerRequest_ptr request) {
            CORBA::NVList_ptr list = arguments_of(request, {{CORBA::ARG_OUT, CORBA::_tc_long}});
            if (value != nullptr) value_of(list, 0) = *value;
        };
        const CORBA::Request_var request = target_->_request("out");
        request->add_out_arg().replace(CORBA::_tc_long, nullptr);
        return outcome([&] { request->invoke(); });
    };
    const CORBA::Any number = as_any(CORBA::Long{1});
    const CORBA::Any text = as_any("1");
    EXPECT_EQ("ok", with_out(&number));
    EXPECT_EQ(other_type, with_out(&text));
    EXPECT_EQ("BAD_PARAM", with_out(nullptr).substr(0, 9));
}

/// Asked by the thread that served it, as it serves another.
TEST_P(Misuse, RequestsEndWithInvoke)
{
    CORBA::ServerRequest_var kept;
    servant_.actions["add"] = [&](CORBA::ServerRequest_ptr request) {
        kept = CORBA::ServerRequest::_duplicate(request);
        Unskilled::add(request);
    };
    std::vector<std::string> told;
    servant_.actions["large"] = [&](CORBA::ServerRequest_ptr request) {
        EXPECT_NE(request, kept.in());
        told = {outcome([&] { (void)kept->operation(); }), outcome([&] {
                    const CORBA::NVList_var own = list_of({});
                    CORBA::NVList_ptr list = own.in();
                    kept->arguments(list);
                }),
                outcome([&] { ask_for_context(kept.in()); }), outcome([&] { finish(kept.in()); }),
                outcome([&] { fail(kept.in()); })};
        Unskilled::large(request);
    };
    EXPECT_EQ(3, target_->add(1, 2));
    EXPECT_EQ(0u, target_->large(Dynamic::Octets()));
    EXPECT_EQ(std::vector<std::string>(5, over), told);
    EXPECT_EQ(7, target_->add(3, 4));
}

// --- objects -------------------------------------------------------------------------------------

TEST_P(WithoutSkeleton, InterfacesAreWhatTheServantSays)
{
    EXPECT_STREQ(target_id, target_->_kairos_reference()->ior().type_id.c_str());
    EXPECT_GT(servant_.asked_for_interface, 0);
    const CORBA::String_var id = target_->_repository_id();
    EXPECT_STREQ(target_id, id.in());
    const CORBA::Object_var object = Dynamic::Target::_duplicate(target_.in());
    EXPECT_TRUE(object->_is_a(target_id));
    EXPECT_TRUE(object->_is_a("IDL:omg.org/CORBA/Object:1.0"));
    EXPECT_FALSE(object->_is_a("IDL:kairos.test/Dynamic/Pair:1.0"));
    EXPECT_FALSE(object->_non_existent());
    servant_.interface = "IDL:Elsewhere:1.0"; // asked again each time
    const CORBA::String_var other = target_->_repository_id();
    EXPECT_STREQ("IDL:Elsewhere:1.0", other.in());
    EXPECT_TRUE(object->_is_a("IDL:Elsewhere:1.0"));
}

TEST_P(WithoutSkeleton, ServantsKnowTheObjectWithinARequestOnly)
{
    EXPECT_EQ("WrongPolicy", outcome([&] { (void)servant_._this(); }));
    EXPECT_EQ("BAD_INV_ORDER 0x0 NO", outcome([&] { (void)servant_._is_a(target_id); }));
    bool was_called = false;
    servant_.actions["add"] = [&](CORBA::ServerRequest_ptr request) {
        Unskilled::add(request);
        const CORBA::Object_var self = servant_._this();
        EXPECT_TRUE(self->_is_equivalent(target_.in()));
        const CORBA::Object_var object = world_.orb()->resolve_initial_references("POACurrent");
        const PortableServer::Current_var current = PortableServer::Current::_narrow(object.in());
        const PortableServer::ObjectId_var oid = current->get_object_id();
        const CORBA::Object_var same = world_.poa()->id_to_reference(oid.in());
        EXPECT_TRUE(same->_is_equivalent(target_.in()));
        was_called = true;
    };
    EXPECT_EQ(3, target_->add(1, 2));
    EXPECT_TRUE(was_called);
}

TEST_P(WithoutSkeleton, ImplicitActivationAsksForTheInterface)
{
    Unskilled other;
    other.interface = "IDL:Implicit:1.0";
    const CORBA::Object_var object = world_.poa()->servant_to_reference(&other);
    EXPECT_EQ("IDL:Implicit:1.0", object->_kairos_reference()->ior().type_id);
    const PortableServer::ObjectId_var id = world_.poa()->servant_to_id(&other);
    world_.poa()->deactivate_object(id.in());
}

TEST_P(WithoutSkeleton, RequestsWithinRequestsAreServed)
{
    servant_.actions["large"] = [this](CORBA::ServerRequest_ptr request) {
        arguments_of(request, {{CORBA::ARG_IN, Dynamic::_tc_Octets}});
        const CORBA::Object_var object = servant_._this();
        const Dynamic::Target_var self = Dynamic::Target::_unchecked_narrow(object.in());
        request->set_result(as_any(static_cast<CORBA::ULong>(self->add(20, 1) + self->add(1, 20))));
    };
    EXPECT_EQ(42u, target_->large(Dynamic::Octets()));
}

// --- in every place of a POA ---------------------------------------------------------------------

/// Serves any object: the object's id is the name of its interface.
class Many final : public Unskilled {
  public:
    char* _primary_interface(const ObjectId& oid, POA_ptr) override
    {
        const CORBA::String_var name = PortableServer::ObjectId_to_string(oid);
        return CORBA::string_dup(("IDL:" + std::string(name.in()) + ":1.0").c_str());
    }
};

class Activator final : public PortableServer::ServantActivator {
  public:
    PortableServer::Servant incarnate(const ObjectId&, POA_ptr) override { return new Many; }
    void etherealize(const ObjectId&, POA_ptr, PortableServer::Servant servant, CORBA::Boolean,
                     CORBA::Boolean) override
    {
        servant->_remove_ref();
    }
};

class Locator final : public PortableServer::ServantLocator {
  public:
    PortableServer::Servant preinvoke(const ObjectId&, POA_ptr, const char*, Cookie&) override
    {
        return new Many;
    }
    void postinvoke(const ObjectId&, POA_ptr, const char*, Cookie,
                    PortableServer::Servant servant) override
    {
        servant->_remove_ref();
    }
};

class Places : public WithoutSkeleton {
  protected:
    /// A POA of ids that the user gives.
    [[nodiscard]] POA_ptr make(PortableServer::ServantRetentionPolicyValue retention,
                               PortableServer::RequestProcessingPolicyValue processing)
    {
        CORBA::PolicyList policies;
        policies.length(4);
        policies[0] = world_.poa()->create_id_assignment_policy(PortableServer::USER_ID);
        policies[1] = world_.poa()->create_servant_retention_policy(retention);
        policies[2] = world_.poa()->create_request_processing_policy(processing);
        policies[3] = world_.poa()->create_id_uniqueness_policy(PortableServer::MULTIPLE_ID);
        const PortableServer::POAManager_var manager = world_.poa()->the_POAManager();
        return world_.poa()->create_POA("places", manager.in(), policies);
    }
    void expect_served(POA_ptr poa)
    {
        for (const char* name : {"One", "Other"}) {
            const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(name);
            const CORBA::Object_var object = poa->create_reference_with_id(id.in(), "");
            const Dynamic::Target_var target = world_.seen(object.in());
            EXPECT_EQ(42, target->add(40, 2));
            EXPECT_EQ("Other", outcome([&] { target->refuse(""); }));
            const std::string expected = "IDL:" + std::string(name) + ":1.0";
            const CORBA::String_var interface = target->_repository_id();
            EXPECT_EQ(expected, interface.in());
            const CORBA::Object_var any = Dynamic::Target::_duplicate(target.in());
            EXPECT_TRUE(any->_is_a(expected.c_str()));
        }
    }
};

TEST_P(Places, ActiveObjects)
{
    const PortableServer::POA_var poa =
        make(PortableServer::RETAIN, PortableServer::USE_ACTIVE_OBJECT_MAP_ONLY);
    const PortableServer::Servant_var<Many> many = new Many;
    for (const char* name : {"One", "Other"}) {
        const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(name);
        poa->activate_object_with_id(id.in(), many.in());
        const CORBA::Object_var object = poa->id_to_reference(id.in());
        EXPECT_EQ("IDL:" + std::string(name) + ":1.0", object->_kairos_reference()->ior().type_id);
    }
    expect_served(poa.in());
}

TEST_P(Places, DefaultServants)
{
    for (const auto retention : {PortableServer::RETAIN, PortableServer::NON_RETAIN}) {
        const PortableServer::POA_var poa = make(retention, PortableServer::USE_DEFAULT_SERVANT);
        const PortableServer::Servant_var<Many> many = new Many;
        poa->set_servant(many.in());
        expect_served(poa.in());
        poa->destroy(true, true);
    }
}

TEST_P(Places, ServantActivators)
{
    const PortableServer::POA_var poa =
        make(PortableServer::RETAIN, PortableServer::USE_SERVANT_MANAGER);
    const PortableServer::ServantManager_var activator = new Activator;
    poa->set_servant_manager(activator.in());
    expect_served(poa.in());
}

TEST_P(Places, ServantLocators)
{
    const PortableServer::POA_var poa =
        make(PortableServer::NON_RETAIN, PortableServer::USE_SERVANT_MANAGER);
    const PortableServer::ServantManager_var locator = new Locator;
    poa->set_servant_manager(locator.in());
    expect_served(poa.in());
}

// --- threads -------------------------------------------------------------------------------------

TEST_P(WithoutSkeleton, ManyThreadsAreServedByOneServant)
{
    std::vector<std::thread> clients;
    for (CORBA::Long client = 0; client < 4; ++client)
        clients.emplace_back([this, client] {
            for (CORBA::Long i = 0; i < 50; ++i) {
                EXPECT_EQ(client + i, target_->add(client, i));
                EXPECT_EQ("Other", outcome([&] { target_->refuse(""); }));
            }
        });
    for (std::thread& client : clients)
        client.join();
}

INSTANTIATE_TEST_SUITE_P(Ways, WithoutSkeleton,
                         testing::Values("thread-per-connection", "thread-per-request", "reactor",
                                         "reactor-per-priority", "leader-followers", "worker-pool",
                                         "delayered", "collocated through-poa", "collocated direct",
                                         "collocated no"),
                         way_name);
INSTANTIATE_TEST_SUITE_P(Ways, Places,
                         testing::Values("reactor", "collocated through-poa", "collocated direct"),
                         way_name);
INSTANTIATE_TEST_SUITE_P(Ways, Misuse, testing::Values("reactor", "collocated through-poa"),
                         way_name);

} // namespace
} // namespace kairos::dynamic_testing
