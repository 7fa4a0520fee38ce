// SPDX-License-Identifier: Apache-2.0
//
// A client of omniORB's that reads and changes an Interface Repository. Prints a line for each
// check.
#include <iostream>
#include <omniORB4/CORBA.h>
#include <string>

namespace {

void expect(bool holds, const char* what)
{
    std::cout << (holds ? "ok " : "wrong: ") << what << std::endl;
}

void read(CORBA::Repository_ptr repository)
{
    CORBA::Contained_var found = repository->lookup_id("IDL:Library/Shelf:1.0");
    CORBA::InterfaceDef_var shelf = CORBA::InterfaceDef::_narrow(found);
    expect(!CORBA::is_nil(shelf), "lookup_id finds the interface");
    expect(shelf->def_kind() == CORBA::dk_Interface, "which is one");
    CORBA::InterfaceDef::FullInterfaceDescription_var described = shelf->describe_interface();
    expect(described->operations.length() == 1 &&
               std::string(described->operations[0].name) == "put",
           "it has its operation");
    const CORBA::ParameterDescription& parameter = described->operations[0].parameters[0];
    expect(parameter.type->kind() == CORBA::tk_alias &&
               std::string(parameter.type->id()) == "IDL:Library/Books:1.0",
           "with the type of its parameter");
    CORBA::AliasDef_var books = CORBA::AliasDef::_narrow(parameter.type_def);
    CORBA::String_var name = books->absolute_name();
    expect(std::string(name) == "::Library::Books", "whose definition it is");
    expect(described->operations[0].exceptions.length() == 1, "and its exception");
    expect(described->attributes.length() == 1 &&
               described->attributes[0].mode == CORBA::ATTR_READONLY,
           "and its attribute");
    found = repository->lookup("Library::Choice");
    CORBA::UnionDef_var choice = CORBA::UnionDef::_narrow(found);
    CORBA::UnionMemberSeq_var members = choice->members();
    CORBA::Long label = 0;
    expect(members->length() == 2 && (members[0].label >>= label) && label == -3,
           "a union has its labels");
    found = repository->lookup("Library::most");
    CORBA::ConstantDef_var most = CORBA::ConstantDef::_narrow(found);
    CORBA::Any_var value = most->value();
    expect((value >>= label) && label == 42, "a constant has its value");
    CORBA::ModuleDef_var module;
    found = repository->lookup("Library");
    module = CORBA::ModuleDef::_narrow(found);
    CORBA::Container::DescriptionSeq_var all = module->describe_contents(CORBA::dk_all, 1, -1);
    expect(all->length() == 6, "a module describes what it contains");
}

void change(CORBA::Repository_ptr repository)
{
    CORBA::ModuleDef_var module = repository->create_module("IDL:New:1.0", "New", "1.0");
    CORBA::PrimitiveDef_var number = repository->get_primitive(CORBA::pk_long);
    CORBA::StructMemberSeq members;
    members.length(1);
    members[0].name = CORBA::string_dup("children");
    members[0].type = CORBA::TypeCode::_duplicate(CORBA::_tc_void);
    CORBA::StructMemberSeq none;
    CORBA::StructDef_var tree = module->create_struct("IDL:New/Tree:1.0", "Tree", "1.0", none);
    CORBA::SequenceDef_var sequence = repository->create_sequence(0, tree);
    members[0].type_def = CORBA::IDLType::_duplicate(sequence);
    tree->members(members);
    CORBA::TypeCode_var type = tree->type();
    CORBA::TypeCode_var member = type->member_type(0);
    CORBA::TypeCode_var element = member->content_type();
    expect(std::string(element->id()) == "IDL:New/Tree:1.0", "a type within itself");
    CORBA::ULong minor = 0;
    try {
        CORBA::ModuleDef_var again = repository->create_module("IDL:New:1.0", "Other", "1.0");
    } catch (const CORBA::BAD_PARAM& exception) {
        minor = exception.minor() & 0xFFF;
    }
    expect(minor == 2, "an id is defined once");
    CORBA::AliasDef_var alias = repository->create_alias("IDL:Number:1.0", "Number", "1.0", number);
    alias->move(module, "Moved", "2.0");
    CORBA::String_var name = alias->absolute_name();
    expect(std::string(name) == "::New::Moved", "a definition moves");
    module->destroy();
    CORBA::Contained_var gone = repository->lookup_id("IDL:New/Tree:1.0");
    expect(CORBA::is_nil(gone), "a module is destroyed with what it contains");
}

} // namespace

int main(int argc, char** argv)
{
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    try {
        CORBA::Object_var object = orb->string_to_object(argv[1]);
        CORBA::Repository_var repository = CORBA::Repository::_narrow(object);
        expect(!CORBA::is_nil(repository), "it is a repository");
        read(repository);
        change(repository);
    } catch (const CORBA::Exception& exception) {
        std::cout << "wrong: " << exception._name() << std::endl;
    }
    std::cout << "end" << std::endl;
    orb->destroy();
}
