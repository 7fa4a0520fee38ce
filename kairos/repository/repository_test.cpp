// SPDX-License-Identifier: Apache-2.0
//
// The Interface Repository through its interfaces, in the process and by clients of another ORB.
#include "kairos/repository/repository.h"

#include "kairos/corba/CORBA.h"
#include "kairos/repository/sqlite_store.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace kairos::repository {
namespace {

CORBA::ORB_var make_orb(std::vector<std::string> options)
{
    options.insert(options.begin(), "program"); // which ORB_init does not look at
    std::vector<char*> pointers;
    for (std::string& option : options)
        pointers.push_back(option.data());
    int count = static_cast<int>(pointers.size());
    pointers.push_back(nullptr);
    return CORBA::ORB_init(count, pointers.data(), "");
}

template <typename Exception>
CORBA::ULong minor_of(const std::function<void()>& call)
{
    try {
        call();
    } catch (const Exception& exception) {
        EXPECT_EQ(exception.completed(), CORBA::COMPLETED_NO);
        return exception.minor() & 0xFFF;
    }
    return 0xFFF;
}

class RepositoryTest : public testing::Test {
  protected:
    RepositoryTest()
        : server(make_orb({"-ORBListenEndpoints", "iiop://127.0.0.1:0"})), client(make_orb({}))
    {
    }
    ~RepositoryTest() override
    {
        service.reset();
        client->destroy();
        server->destroy();
    }

    CORBA::Repository_var start(std::unique_ptr<Store> store = {})
    {
        service.reset();
        service.emplace(server.in(), std::move(store));
        const CORBA::Repository_var own = service->reference();
        const CORBA::String_var text = server->object_to_string(own.in());
        const CORBA::Object_var object = client->string_to_object(text.in());
        return CORBA::Repository::_narrow(object.in());
    }

    static CORBA::IDLType_var primitive(CORBA::Repository_ptr repository, CORBA::PrimitiveKind kind)
    {
        const CORBA::PrimitiveDef_var type = repository->get_primitive(kind);
        return CORBA::IDLType::_duplicate(type.in());
    }

    static CORBA::InterfaceDef_var make_echo(CORBA::Repository_ptr repository)
    {
        const CORBA::InterfaceDef_var echo =
            repository->create_interface("IDL:Echo:1.0", "Echo", "1.0", {});
        const CORBA::IDLType_var text = primitive(repository, CORBA::pk_string);
        CORBA::ParDescriptionSeq parameters;
        parameters.length(1);
        parameters[0].name = "what";
        parameters[0].type = CORBA::TypeCode::_duplicate(CORBA::_tc_void);
        parameters[0].type_def = text;
        parameters[0].mode = CORBA::PARAM_IN;
        const CORBA::OperationDef_var say = echo->create_operation(
            "IDL:Echo/say:1.0", "say", "1.0", text.in(), CORBA::OP_NORMAL, parameters, {}, {});
        return echo;
    }

    CORBA::ORB_var server;
    CORBA::ORB_var client;
    std::optional<InterfaceRepository> service;
};

TEST_F(RepositoryTest, AnswersWhatWasCreated)
{
    const CORBA::Repository_var repository = start();
    EXPECT_EQ(repository->def_kind(), CORBA::dk_Repository);
    const CORBA::InterfaceDef_var echo = make_echo(repository.in());
    const CORBA::Contained_var found = repository->lookup_id("IDL:Echo:1.0");
    EXPECT_TRUE(found->_is_equivalent(echo.in()));
    EXPECT_EQ(found->def_kind(), CORBA::dk_Interface);
    const CORBA::String_var name = found->absolute_name();
    EXPECT_STREQ(name.in(), "::Echo");
    const CORBA::ExtInterfaceDef_var extended = CORBA::ExtInterfaceDef::_narrow(found.in());
    ASSERT_FALSE(CORBA::is_nil(extended.in()));
    const CORBA::InterfaceDef::FullInterfaceDescription_var described =
        extended->describe_interface();
    ASSERT_EQ(described->operations.length(), 1U);
    EXPECT_STREQ(described->operations[0].name.in(), "say");
    EXPECT_STREQ(described->operations[0].defined_in.in(), "IDL:Echo:1.0");
    EXPECT_TRUE(described->operations[0].result->equal(CORBA::_tc_string));
    EXPECT_STREQ(described->operations[0].parameters[0].name.in(), "what");
    const CORBA::TypeCode_var type = echo->type();
    EXPECT_EQ(type->kind(), CORBA::tk_objref);
    const CORBA::Contained_var nothing_there = repository->lookup("Echo::nothing");
    EXPECT_TRUE(CORBA::is_nil(nothing_there.in()));
    const CORBA::Contained_var say = repository->lookup("::Echo::say");
    const CORBA::Contained::Description_var say_described = say->describe();
    EXPECT_EQ(say_described->kind, CORBA::dk_Operation);
    const CORBA::OperationDescription* operation = nullptr;
    ASSERT_TRUE(say_described->value >>= operation);
    EXPECT_STREQ(operation->id.in(), "IDL:Echo/say:1.0");
}

TEST_F(RepositoryTest, RefusesWithTheMinorCodesOfTheSpecification)
{
    const CORBA::Repository_var repository = start();
    const CORBA::InterfaceDef_var echo = make_echo(repository.in());
    EXPECT_EQ(minor_of<CORBA::BAD_PARAM>([&] {
                  const CORBA::ModuleDef_var made =
                      repository->create_module("IDL:Echo:1.0", "M", "1.0");
              }),
              2U);
    EXPECT_EQ(minor_of<CORBA::BAD_PARAM>([&] {
                  const CORBA::ModuleDef_var made =
                      repository->create_module("IDL:M:1.0", "echo", "1.0");
              }),
              3U);
    EXPECT_EQ(minor_of<CORBA::BAD_PARAM>([&] {
                  const CORBA::ModuleDef_var made = echo->create_module("IDL:M:1.0", "M", "1.0");
              }),
              4U);
    CORBA::InterfaceDefSeq bases;
    bases.length(1);
    bases[0] = echo;
    const CORBA::InterfaceDef_var derived =
        repository->create_interface("IDL:D:1.0", "D", "1.0", bases);
    const CORBA::IDLType_var number = primitive(repository.in(), CORBA::pk_long);
    EXPECT_EQ(minor_of<CORBA::BAD_PARAM>([&] {
                  const CORBA::AttributeDef_var made = derived->create_attribute(
                      "IDL:D/say:1.0", "say", "1.0", number.in(), CORBA::ATTR_NORMAL);
              }),
              5U);
    EXPECT_EQ(minor_of<CORBA::BAD_PARAM>([&] {
                  const CORBA::OperationDef_var made = derived->create_operation(
                      "IDL:D/f:1.0", "f", "1.0", number.in(), CORBA::OP_ONEWAY, {}, {}, {});
              }),
              31U);
    EXPECT_EQ(minor_of<CORBA::BAD_INV_ORDER>([&] { echo->destroy(); }), 1U);
    EXPECT_EQ(minor_of<CORBA::BAD_INV_ORDER>([&] { repository->destroy(); }), 2U);
    EXPECT_EQ(minor_of<CORBA::BAD_INV_ORDER>([&] { number->destroy(); }), 2U);
    derived->destroy();
    echo->destroy();
    EXPECT_THROW(static_cast<void>(echo->def_kind()), CORBA::OBJECT_NOT_EXIST);
}

TEST_F(RepositoryTest, HasTypesWithinThemselves)
{
    const CORBA::Repository_var repository = start();
    const CORBA::StructDef_var tree = repository->create_struct("IDL:Tree:1.0", "Tree", "1.0", {});
    const CORBA::SequenceDef_var children = repository->create_sequence(0, tree.in());
    CORBA::StructMemberSeq members;
    members.length(1);
    members[0].name = "children";
    members[0].type = CORBA::TypeCode::_duplicate(CORBA::_tc_void);
    members[0].type_def = CORBA::IDLType::_duplicate(children.in());
    tree->members(members);
    const CORBA::TypeCode_var type = tree->type();
    ASSERT_EQ(type->member_count(), 1U);
    const CORBA::TypeCode_var member = type->member_type(0);
    const CORBA::TypeCode_var element = member->content_type();
    EXPECT_STREQ(element->id(), "IDL:Tree:1.0");
    const CORBA::TypeCode_var compact = type->get_compact_typecode();
    const CORBA::TypeCode_var canonical = repository->get_canonical_typecode(compact.in());
    EXPECT_STREQ(canonical->member_name(0), "children");
}

TEST_F(RepositoryTest, HasUnionsAndConstants)
{
    const CORBA::Repository_var repository = start();
    const CORBA::IDLType_var number = primitive(repository.in(), CORBA::pk_long);
    CORBA::UnionMemberSeq members;
    members.length(2);
    members[0].name = "one";
    members[0].label <<= CORBA::Long(-7);
    members[0].type = CORBA::TypeCode::_duplicate(CORBA::_tc_void);
    members[0].type_def = number;
    members[1] = members[0];
    members[1].name = "other";
    members[1].label <<= CORBA::Any::from_octet(0);
    const CORBA::UnionDef_var choice =
        repository->create_union("IDL:U:1.0", "U", "1.0", number.in(), members);
    const CORBA::UnionMemberSeq_var again = choice->members();
    ASSERT_EQ(again->length(), 2U);
    CORBA::Long label = 0;
    ASSERT_TRUE(again[0].label >>= label);
    EXPECT_EQ(label, -7);
    CORBA::Octet other = 1;
    ASSERT_TRUE(again[1].label >>= CORBA::Any::to_octet(other));
    CORBA::Any value;
    value <<= CORBA::Long(42);
    const CORBA::ConstantDef_var constant =
        repository->create_constant("IDL:C:1.0", "C", "1.0", number.in(), value);
    const CORBA::Any_var read = constant->value();
    ASSERT_TRUE(read.in() >>= label);
    EXPECT_EQ(label, 42);
    value <<= "text";
    EXPECT_THROW(constant->value(value), CORBA::BAD_PARAM);
}

/// A server whose ORB knows the repository answers with what that has of the object's interface.
TEST_F(RepositoryTest, TellsObjectsTheirInterface)
{
    const CORBA::Repository_var repository = start();
    const CORBA::Repository_var own = service->reference();
    server->register_initial_reference("InterfaceRepository", own.in());
    try {
        const CORBA::InterfaceDef_var none = repository->_get_interface();
        FAIL() << "nobody has defined it";
    } catch (const CORBA::INTF_REPOS&) {
    }
    const CORBA::InterfaceDef_var made = repository->create_interface(
        "IDL:omg.org/CORBA/Repository:1.0", "RepositoryItself", "1.0", {});
    const CORBA::InterfaceDef_var answered = repository->_get_interface();
    EXPECT_TRUE(answered->_is_equivalent(made.in()));
    const CORBA::String_var name = answered->name();
    EXPECT_STREQ(name.in(), "RepositoryItself");
}

TEST_F(RepositoryTest, KeepsWhatAStoreHas)
{
    std::string pattern = (std::filesystem::temp_directory_path() / "kairosXXXXXX").string();
    const std::string folder = mkdtemp(pattern.data());
    const auto open = [&] { return std::move(SqliteStore::open(folder + "/types.db")).value(); };
    CORBA::InterfaceDef_var echo;
    {
        const CORBA::Repository_var repository = start(open());
        echo = make_echo(repository.in());
    }
    service.reset(); // which has the file
    const CORBA::Repository_var repository = start(open());
    const CORBA::String_var name = echo->name(); // by its reference of before
    EXPECT_STREQ(name.in(), "Echo");
    const CORBA::Contained_var say = repository->lookup("Echo::say");
    EXPECT_FALSE(CORBA::is_nil(say.in()));
    service.reset();
    std::filesystem::remove_all(folder);
}

TEST_F(RepositoryTest, ServesReadersWhileOneWrites)
{
    const CORBA::Repository_var repository = start();
    const CORBA::InterfaceDef_var echo = make_echo(repository.in());
    std::atomic<bool> is_over = false;
    std::atomic<int> answers = 0;
    std::vector<std::thread> readers;
    for (int i = 0; i < 4; ++i)
        readers.emplace_back([&] {
            while (!is_over) {
                const CORBA::InterfaceDef::FullInterfaceDescription_var described =
                    echo->describe_interface();
                if (described->operations.length() == 1) ++answers;
                const CORBA::ContainedSeq_var all = repository->contents(CORBA::dk_all, false);
                ASSERT_GE(all->length(), 1U);
            }
        });
    for (int i = 0; i < 50 || answers < 8; ++i) {
        const std::string name = "M" + std::to_string(i);
        const CORBA::ModuleDef_var made =
            repository->create_module(("IDL:" + name + ":1.0").c_str(), name.c_str(), "1.0");
        if (i % 2 == 0) made->destroy();
    }
    is_over = true;
    for (std::thread& reader : readers)
        reader.join();
    EXPECT_GE(answers, 8);
}

} // namespace
} // namespace kairos::repository
