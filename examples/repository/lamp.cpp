// SPDX-License-Identifier: Apache-2.0
//
// A server with an Interface Repository of its own: the program says what a lamp is, and whoever
// has the reference of a lamp can ask it what it can do, without having its IDL.
#include "lamp_skel.h"

#include <iostream>
#include <kairos/repository/repository.h>

namespace {

class LampServant : public POA_Lamp {
  public:
    CORBA::Boolean is_on() override { return is_on_; }
    void turn(CORBA::Boolean on) override { is_on_ = on; }

  private:
    bool is_on_ = false;
};

/// What lamp.idl says, by the calls that create it; `kairos ifr load lamp.idl` makes the same
/// calls.
void define_lamp(CORBA::Repository_ptr repository)
{
    CORBA::PrimitiveDef_var flag = repository->get_primitive(CORBA::pk_boolean);
    CORBA::PrimitiveDef_var nothing = repository->get_primitive(CORBA::pk_void);
    CORBA::InterfaceDefSeq bases;
    CORBA::InterfaceDef_var lamp =
        repository->create_interface("IDL:Lamp:1.0", "Lamp", "1.0", bases);
    CORBA::AttributeDef_var is_on =
        lamp->create_attribute("IDL:Lamp/is_on:1.0", "is_on", "1.0", flag, CORBA::ATTR_READONLY);
    CORBA::ParDescriptionSeq parameters;
    parameters.length(1);
    parameters[0].name = "on";
    parameters[0].type = CORBA::TypeCode::_duplicate(CORBA::_tc_void); // type_def counts
    parameters[0].type_def = CORBA::IDLType::_duplicate(flag);
    parameters[0].mode = CORBA::PARAM_IN;
    CORBA::OperationDef_var turn =
        lamp->create_operation("IDL:Lamp/turn:1.0", "turn", "1.0", nothing, CORBA::OP_NORMAL,
                               parameters, CORBA::ExceptionDefSeq(), CORBA::ContextIdSeq());
}

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    {
        kairos::repository::InterfaceRepository types(orb);
        CORBA::Repository_var repository = types.reference();
        define_lamp(repository);
        orb->register_initial_reference("InterfaceRepository", repository);

        CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
        PortableServer::POAManager_var states = poa->the_POAManager();
        states->activate();
        PortableServer::Servant_var<LampServant> servant = new LampServant;
        CORBA::Object_var lamp = servant->_this();

        // As a client does it that knows nothing of lamps.
        CORBA::InterfaceDef_var interface = lamp->_get_interface();
        CORBA::InterfaceDef::FullInterfaceDescription_var described =
            interface->describe_interface();
        std::cout << described->name << '\n';
        for (CORBA::ULong i = 0; i < described->attributes.length(); ++i)
            std::cout << "  attribute " << described->attributes[i].name << '\n';
        for (CORBA::ULong i = 0; i < described->operations.length(); ++i)
            std::cout << "  operation " << described->operations[i].name << '\n';
    }
    orb->destroy();
} catch (const CORBA::Exception& exception) {
    std::cerr << "repository_lamp: " << exception.what() << '\n';
    return 1;
}
