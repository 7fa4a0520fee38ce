// SPDX-License-Identifier: Apache-2.0
//
// Built as docs/from-omniorb.md says: its server is itself.
#include <echo.hh>

#include <iostream>

class Echo_i : public POA_Echo {
  public:
    virtual char* echoString(const char* mesg) { return CORBA::string_dup(mesg); }
};

int main(int argc, char** argv)
{
    const char* options[][2] = {{"clientCallTimeOutPeriod", "5000"}, {0, 0}};
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "omniORB4", options);
    CORBA::Object_var obj = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(obj);
    PortableServer::POAManager_var pman = poa->the_POAManager();
    pman->activate();
    Echo_i* servant = new Echo_i;
    Echo_var echo = servant->_this();
    servant->_remove_ref();
    CORBA::String_var said = echo->echoString("ok");
    std::cout << said << std::endl;
    echo = Echo::_nil();
    orb->destroy();
    return 0;
}
