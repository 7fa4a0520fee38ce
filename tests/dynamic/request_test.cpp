// SPDX-License-Identifier: Apache-2.0
//
// Requests that are made, filled, sent and sent again: over TCP to both kinds of server, and to an
// object of the process.
#include "fixture.h"

namespace kairos::dynamic_testing {
namespace {

class Requests : public ::testing::TestWithParam<const char*> {
  protected:
    Requests()
    {
        add_factories(client_.orb());
        const CORBA::Object_var object = client_.orb()->string_to_object(server_.reference.c_str());
        target_ = std::string_view(GetParam()) == "collocated"
                      ? Dynamic::Target::_duplicate(server_.collocated())
                      : Dynamic::Target::_unchecked_narrow(object);
    }
    [[nodiscard]] CORBA::Request_var add(CORBA::Long left, CORBA::Long right)
    {
        CORBA::Request_var request = target_->_request("add");
        request->add_in_arg() <<= left;
        request->add_in_arg("right") <<= right;
        request->set_return_type(CORBA::_tc_long);
        return request;
    }
    static CORBA::Long result(CORBA::Request_ptr request)
    {
        CORBA::Long value = -1;
        EXPECT_TRUE(request->return_value() >>= value);
        return value;
    }
    [[nodiscard]] CORBA::Request_var refuse(const char* why)
    {
        CORBA::Request_var request = target_->_request("refuse");
        request->add_in_arg("why") <<= why;
        return request;
    }

    Server server_{GetParam() == std::string_view("collocated") ? "thread-per-connection"
                                                                : GetParam()};
    Client client_;
    Dynamic::Target_var target_;
};

TEST_P(Requests, KnowWhatTheyAreMadeOf)
{
    const CORBA::Request_var request = add(1, 2);
    EXPECT_EQ(target_.in(), request->target());
    EXPECT_STREQ("add", request->operation());
    ASSERT_EQ(2u, request->arguments()->count());
    EXPECT_STREQ("", request->arguments()->item(0)->name());
    EXPECT_STREQ("right", request->arguments()->item(1)->name());
    EXPECT_EQ(CORBA::ARG_IN, request->arguments()->item(1)->flags());
    EXPECT_EQ(&request->return_value(), request->result()->value());
    EXPECT_EQ(nullptr, request->env()->exception());
    EXPECT_EQ(0u, request->exceptions()->count());
    EXPECT_EQ(0u, request->contexts()->count());
    EXPECT_TRUE(CORBA::is_nil(request->ctx()));
}

TEST_P(Requests, AreSentAgainWithOtherArguments)
{
    const CORBA::Request_var request = add(1, 2);
    request->invoke();
    EXPECT_EQ(3, result(request.in()));
    request->invoke();
    EXPECT_EQ(3, result(request.in()));
    *request->arguments()->item(0)->value() <<= CORBA::Long{40};
    request->invoke();
    EXPECT_EQ(42, result(request.in()));
    request->send_deferred();
    request->get_response();
    EXPECT_EQ(42, result(request.in()));
}

TEST_P(Requests, PassParametersOfEveryShapeInEveryDirection)
{
    Dynamic::Person who;
    who.name = "Ada";
    who.at = {1, 2.5};
    who.marks.length(2);
    who.marks[0] = 5;
    who.marks[1] = 6;
    Dynamic::Choice choice;
    choice.text("chosen");
    CORBA::Any inner;
    inner <<= CORBA::Long{77};
    Dynamic::Grid numbers = {{1, 2, 3}, {4, 5, 6}};

    const CORBA::Request_var request = target_->_request("change");
    request->set_return_type(Dynamic::_tc_Person);
    request->add_in_arg() <<= CORBA::Any::from_octet(9);
    CORBA::Any& inout = request->add_inout_arg();
    inout <<= who;
    request->add_in_arg() <<= choice;
    CORBA::Any& chosen = request->add_out_arg();
    chosen.replace(Dynamic::_tc_Choice, nullptr);
    request->add_in_arg() <<= inner;
    CORBA::Any& back = request->add_out_arg();
    back.replace(CORBA::_tc_any, nullptr);
    request->add_in_arg() <<= Dynamic::Grid_forany(numbers);
    CORBA::Any& same = request->add_out_arg();
    same.replace(Dynamic::_tc_Grid, nullptr);
    request->add_in_arg() <<= target_.in();
    CORBA::Any& other = request->add_out_arg();
    other.replace(Dynamic::_tc_Target, nullptr);
    request->add_in_arg() <<= CORBA::Any::from_string("code", 4);
    request->invoke();

    const Dynamic::Person* before = nullptr;
    ASSERT_TRUE(request->return_value() >>= before);
    EXPECT_STREQ("Ada", before->name);
    EXPECT_EQ(2.5, before->at.y);
    EXPECT_EQ(6, before->marks[1]);
    const Dynamic::Person* after = nullptr;
    ASSERT_TRUE(inout >>= after);
    EXPECT_STREQ("code", after->name);
    ASSERT_EQ(1u, after->marks.length());
    EXPECT_EQ(9, after->marks[0]);
    const Dynamic::Choice* choice_back = nullptr;
    ASSERT_TRUE(chosen >>= choice_back);
    EXPECT_STREQ("chosen", choice_back->text());
    const CORBA::Any* inner_back = nullptr;
    CORBA::Long number = 0;
    ASSERT_TRUE(back >>= inner_back);
    ASSERT_TRUE(*inner_back >>= number);
    EXPECT_EQ(77, number);
    Dynamic::Grid_forany grid;
    ASSERT_TRUE(same >>= grid);
    EXPECT_EQ(6, grid[1][2]);
    Dynamic::Target_ptr peer = nullptr;
    ASSERT_TRUE(other >>= peer);
    EXPECT_EQ(5, peer->add(2, 3));
}

TEST_P(Requests, PassValuesThatParametersShare)
{
    Dynamic::Item_var last = new OBV_Dynamic::Item(2, nullptr);
    const Dynamic::Item_var first = new OBV_Dynamic::Item(1, last.in());
    Dynamic::Pair both;
    both.left = first;
    both.right = last;
    const CORBA::Request_var request = target_->_request("link");
    request->set_return_type(Dynamic::_tc_Item);
    request->add_in_arg() <<= first.in();
    request->add_in_arg() <<= both;
    CORBA::Any& out = request->add_out_arg();
    out.replace(Dynamic::_tc_Item, nullptr);
    request->invoke();
    EXPECT_TRUE(server_.servant.shared);
    Dynamic::Item* first_back = nullptr;
    Dynamic::Item* last_back = nullptr;
    ASSERT_TRUE(request->return_value() >>= first_back);
    ASSERT_TRUE(out >>= last_back);
    EXPECT_EQ(1, first_back->number());
    EXPECT_EQ(2, last_back->number());
    EXPECT_EQ(last_back, first_back->next()); // of one graph, as a stub gives them
}

TEST_P(Requests, ListedUserExceptionsAreInTheEnvironment)
{
    const CORBA::Request_var request = refuse("because");
    request->exceptions()->add(Dynamic::_tc_Other);
    request->exceptions()->add(Dynamic::_tc_Refused);
    for (const bool deferred : {false, true}) {
        if (deferred) {
            request->send_deferred();
            request->get_response();
        } else {
            request->invoke();
        }
        auto* unknown = CORBA::UnknownUserException::_downcast(request->env()->exception());
        ASSERT_NE(nullptr, unknown);
        const Dynamic::Refused* refused = nullptr;
        ASSERT_TRUE(unknown->exception() >>= refused);
        EXPECT_STREQ("because", refused->why);
        EXPECT_EQ(4.5, refused->where.y);
    }
    *request->arguments()->item(0)->value() <<= "";
    request->invoke();
    auto* unknown = CORBA::UnknownUserException::_downcast(request->env()->exception());
    ASSERT_NE(nullptr, unknown);
    const Dynamic::Other* other = nullptr;
    EXPECT_TRUE(unknown->exception() >>= other);
    const std::unique_ptr<CORBA::Exception> copy(unknown->_duplicate());
    EXPECT_THROW(copy->_raise(), CORBA::UnknownUserException);
}

TEST_P(Requests, OtherUserExceptionsAreUnknown)
{
    const CORBA::Request_var request = refuse("because");
    request->exceptions()->add(Dynamic::_tc_Other);
    EXPECT_EQ("UNKNOWN 0x4f4d0001 YES", outcome([&] { request->invoke(); }));
    const auto* unknown = CORBA::UNKNOWN::_downcast(request->env()->exception());
    ASSERT_NE(nullptr, unknown);
    EXPECT_EQ(CORBA::COMPLETED_YES, unknown->completed());
}

TEST_P(Requests, SystemExceptionsAreThrownAndInTheEnvironmentUntilTheNextCall)
{
    const CORBA::Request_var request = target_->_request("no_such_operation");
    EXPECT_EQ("BAD_OPERATION 0x4f4d0002 NO", outcome([&] { request->invoke(); }));
    EXPECT_NE(nullptr, CORBA::BAD_OPERATION::_downcast(request->env()->exception()));
    request->send_deferred();
    EXPECT_EQ(nullptr, request->env()->exception());
    EXPECT_EQ("BAD_OPERATION 0x4f4d0002 NO", outcome([&] { request->get_response(); }));
    EXPECT_NE(nullptr, CORBA::BAD_OPERATION::_downcast(request->env()->exception()));
}

TEST_P(Requests, ArgumentsStayAsTheyWereWhereACallFails)
{
    const CORBA::Request_var request = add(1, 2);
    CORBA::Any& more = request->add_inout_arg(); // which the operation does not have
    more <<= CORBA::Long{3};
    EXPECT_THROW(request->invoke(), CORBA::MARSHAL);
    CORBA::Long kept = 0;
    EXPECT_TRUE(more >>= kept);
    EXPECT_EQ(3, kept);
    EXPECT_FALSE(request->return_value() >>= kept);
}

TEST_P(Requests, ReachAttributesAndInheritedOperations)
{
    const CORBA::Request_var setter = target_->_request("_set_number");
    setter->add_in_arg() <<= CORBA::Long{12};
    setter->invoke();
    const CORBA::Request_var getter = target_->_request("_get_number");
    getter->set_return_type(CORBA::_tc_long);
    getter->invoke();
    EXPECT_EQ(12, result(getter.in()));
}

// The server has no definitions of interfaces (Kairos::ir), nor the program.
TEST_P(Requests, ReachTheOperationsOfEveryObject)
{
    const CORBA::Request_var request = target_->_request("_interface");
    request->set_return_type(CORBA::_tc_Object);
    EXPECT_EQ("INTF_REPOS 0x4f4d0001 NO", outcome([&] { request->invoke(); }));
    const CORBA::Request_var component = target_->_request("_component");
    component->set_return_type(CORBA::_tc_Object);
    component->invoke();
    CORBA::Object_var none;
    EXPECT_TRUE(component->return_value() >>= CORBA::Any::to_object(none.out()));
    EXPECT_TRUE(CORBA::is_nil(none.in()));
}

TEST_P(Requests, OnewaysAreNotAnswered)
{
    const CORBA::Request_var request = target_->_request("note");
    for (const CORBA::Long number : {5, 6}) { // the second time in a request that was sent before
        if (request->arguments()->count() == 0) request->add_in_arg();
        *request->arguments()->item(0)->value() <<= number;
        request->send_oneway();
        EXPECT_TRUE(server_.servant.wait_for_note(number));
    }
    EXPECT_EQ(sent_synchronously, outcome([&] { request->get_response(); }));
}

TEST_P(Requests, ContextsGoAlongWhereTheyAreListed)
{
    CORBA::Context_var context;
    client_.orb()->get_default_context(context.out());
    CORBA::Any value;
    for (const char* name : {"user", "language", "colour"}) {
        value <<= name;
        context->set_one_value(name, value);
    }
    CORBA::ExceptionList_var exceptions;
    client_.orb()->create_exception_list(exceptions.out());
    CORBA::ContextList_var contexts;
    client_.orb()->create_context_list(contexts.out());
    contexts->add("user");
    contexts->add_consume(CORBA::string_dup("lang*"));
    CORBA::NamedValue_var result;
    client_.orb()->create_named_value(result.out());
    result->value()->replace(CORBA::_tc_string, nullptr);
    CORBA::Request_var request;
    target_->_create_request(context.in(), "asked", CORBA::NVList::_nil(), result.in(),
                             exceptions.in(), contexts.in(), request.out(), 0);
    EXPECT_EQ(context.in(), request->ctx());
    EXPECT_EQ(contexts.in(), request->contexts());
    EXPECT_EQ(exceptions.in(), request->exceptions());
    request->invoke();
    const char* text = nullptr;
    ASSERT_TRUE(*result->value() >>= text);
    EXPECT_STREQ("language=language;user=user;", text);
}

TEST_P(Requests, AreMadeOfListsThatTheProgramKeeps)
{
    CORBA::NVList_var arguments;
    client_.orb()->create_list(2, arguments.out());
    CORBA::Any number;
    number <<= CORBA::Long{20};
    arguments->add_value("left", number, CORBA::ARG_IN | CORBA::IN_COPY_VALUE);
    arguments->add_value("right", number, CORBA::ARG_IN);
    CORBA::NamedValue_var result;
    client_.orb()->create_named_value(result.out());
    result->value()->replace(CORBA::_tc_long, nullptr);
    CORBA::Request_var request;
    target_->_create_request(CORBA::Context::_nil(), "add", arguments.in(), result.in(),
                             request.out(), CORBA::OUT_LIST_MEMORY);
    EXPECT_EQ(arguments.in(), request->arguments());
    request->invoke();
    request = CORBA::Request::_nil();
    CORBA::Long sum = 0;
    EXPECT_TRUE(*result->value() >>= sum);
    EXPECT_EQ(40, sum);
}

TEST_P(Requests, AreRefusedWhereTheyMakeNoSense)
{
    EXPECT_EQ("BAD_PARAM 0x0 NO", outcome([&] { (void)target_->_request(nullptr); }));
    EXPECT_EQ("BAD_PARAM 0x0 NO", outcome([&] { (void)target_->_request(""); }));
    CORBA::Request_var request;
    EXPECT_EQ("INV_FLAG 0x0 NO", outcome([&] {
                  target_->_create_request(nullptr, "add", nullptr, nullptr, request.out(), 1);
              }));
    request = target_->_request("add");
    EXPECT_EQ("BAD_PARAM 0x0 NO", outcome([&] { (void)request->add_in_arg(nullptr); }));
    (void)request->add_in_arg();
    EXPECT_EQ("BAD_TYPECODE 0x4f4d0003 NO", outcome([&] { request->invoke(); }));
    request->arguments()->item(0)->value()->replace(CORBA::_tc_long, nullptr);
    EXPECT_EQ("BAD_PARAM 0x0 NO", outcome([&] { request->invoke(); }));
    request->arguments()->remove(0);
    (void)request->arguments()->add(0);
    EXPECT_EQ("INV_FLAG 0x0 NO", outcome([&] { request->send_deferred(); }));
    EXPECT_NE(nullptr, CORBA::INV_FLAG::_downcast(request->env()->exception()));
    EXPECT_EQ(not_sent, outcome([&] { request->get_response(); }));
    EXPECT_EQ("BAD_TYPECODE 0x0 NO", outcome([&] { request->exceptions()->add(CORBA::_tc_long); }));
    EXPECT_EQ("BAD_TYPECODE 0x0 NO", outcome([&] { request->exceptions()->add(nullptr); }));
    EXPECT_EQ("BAD_TYPECODE 0x0 NO", outcome([&] { request->set_return_type(nullptr); }));
}

TEST_P(Requests, MayBeFetchedOnce)
{
    const CORBA::Request_var request = add(1, 2);
    EXPECT_EQ(not_sent, outcome([&] { (void)request->poll_response(); }));
    EXPECT_EQ(not_sent, outcome([&] { request->get_response(); }));
    request->invoke();
    EXPECT_EQ(sent_synchronously, outcome([&] { (void)request->poll_response(); }));
    request->send_deferred();
    EXPECT_EQ(already_sent, outcome([&] { request->send_deferred(); }));
    EXPECT_EQ(already_sent, outcome([&] { request->invoke(); }));
    EXPECT_EQ(already_sent, outcome([&] { request->send_oneway(); }));
    request->get_response();
    EXPECT_EQ(3, result(request.in()));
    EXPECT_EQ(already_fetched, outcome([&] { request->get_response(); }));
    EXPECT_EQ(already_fetched, outcome([&] { (void)request->poll_response(); }));
}

INSTANTIATE_TEST_SUITE_P(Targets, Requests,
                         ::testing::Values("thread-per-connection", "reactor", "collocated"),
                         [](const auto& parameter) {
                             std::string name = parameter.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

class LocalThing final : public CORBA::LocalObject {};

TEST(LocalObjects, HaveNoRequests)
{
    const CORBA::Object_var local = new LocalThing;
    EXPECT_EQ("NO_IMPLEMENT 0x4f4d0008 NO", outcome([&] { (void)local->_request("anything"); }));
    CORBA::Request_var request;
    EXPECT_EQ("NO_IMPLEMENT 0x4f4d0008 NO", outcome([&] {
                  local->_create_request(nullptr, "anything", nullptr, nullptr, request.out(), 0);
              }));
}

TEST(Lists, KeepTheirItems)
{
    const CORBA::ExceptionList_var exceptions = new CORBA::ExceptionList;
    exceptions->add(Dynamic::_tc_Other);
    exceptions->add_consume(CORBA::TypeCode::_duplicate(Dynamic::_tc_Refused));
    ASSERT_EQ(2u, exceptions->count());
    exceptions->remove(0);
    EXPECT_TRUE(exceptions->item(0)->equal(Dynamic::_tc_Refused));
    EXPECT_THROW((void)exceptions->item(1), CORBA::Bounds);
    EXPECT_THROW(exceptions->remove(1), CORBA::Bounds);

    const CORBA::ContextList_var contexts = new CORBA::ContextList;
    contexts->add("one");
    contexts->add("two");
    contexts->remove(0);
    EXPECT_STREQ("two", contexts->item(0));
    EXPECT_THROW((void)contexts->item(1), CORBA::Bounds);
    EXPECT_EQ("BAD_PARAM 0x0 NO", outcome([&] { contexts->add(nullptr); }));
}

} // namespace
} // namespace kairos::dynamic_testing
