// SPDX-License-Identifier: Apache-2.0
//
// Makes a type that no IDL knows, builds a value of it, and prints a value of whatever type: what a
// gateway, a browser or a log does with Anys of others.
#include <kairos/corba/CORBA.h>
#include <kairos/dynany/dynamic_any.h>

#include <iostream>
#include <string>

namespace {

using namespace DynamicAny;

/// struct Reading { string sensor; sequence<double> values; };
CORBA::TypeCode_ptr reading_type(CORBA::ORB_ptr orb)
{
    CORBA::StructMemberSeq members;
    members.length(2);
    members[0].name = "sensor";
    members[0].type = CORBA::TypeCode::_duplicate(CORBA::_tc_string);
    members[1].name = "values";
    members[1].type = orb->create_sequence_tc(0, CORBA::_tc_double);
    return orb->create_struct_tc("IDL:Reading:1.0", "Reading", members);
}

void print(DynAny_ptr value, const std::string& indent);

void print_components(DynAny_ptr value, const std::string& indent)
{
    const DynStruct_var members = DynStruct::_narrow(value);
    value->rewind();
    for (CORBA::ULong i = 0; i < value->component_count(); ++i) {
        const DynAny_var component = value->current_component();
        if (CORBA::is_nil(members)) {
            std::cout << indent << "- ";
        } else {
            const CORBA::String_var name = members->current_member_name();
            std::cout << indent << name << ": ";
        }
        print(component, indent + "  ");
        value->next();
    }
}

void print(DynAny_ptr value, const std::string& indent)
{
    const CORBA::TypeCode_var type = value->type();
    switch (type->kind()) {
    case CORBA::tk_double:
        std::cout << value->get_double() << '\n';
        break;
    case CORBA::tk_string: {
        const CORBA::String_var text = value->get_string();
        std::cout << '"' << text << "\"\n";
        break;
    }
    case CORBA::tk_struct:
    case CORBA::tk_sequence:
        std::cout << '\n';
        print_components(value, indent);
        break;
    default:
        std::cout << "(of kind " << type->kind() << ")\n";
    }
}

} // namespace

int main(int argc, char** argv)
try {
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    const CORBA::Object_var object = orb->resolve_initial_references("DynAnyFactory");
    const DynAnyFactory_var factory = DynAnyFactory::_narrow(object);

    const CORBA::TypeCode_var type = reading_type(orb);
    const DynAny_var reading = factory->create_dyn_any_from_type_code(type);
    reading->insert_string("boiler"); // the first member is the current component
    reading->seek(1);
    CORBA::DoubleSeq values;
    values.length(2);
    values[0] = 71.5;
    values[1] = 72;
    reading->insert_double_seq(values);
    const CORBA::Any_var any = reading->to_any(); // to be sent: a receiver may know the type
    reading->destroy();

    const DynAny_var received = factory->create_dyn_any(any);
    std::cout << "reading:";
    print(received, "  ");
    received->destroy();
    orb->destroy();
    return 0;
} catch (const CORBA::Exception& exception) {
    std::cerr << "dynany_print: " << exception.what() << '\n';
    return 1;
}
