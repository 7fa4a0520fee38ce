// SPDX-License-Identifier: Apache-2.0
//
// A client without a stub: it calls the server of examples/hello, whose IDL it has never seen.
#include "kairos/corba/CORBA.h"

#include <iostream>

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::Object_var object = orb->string_to_object(argv[1]);
    CORBA::Request_var request = object->_request("greet");
    request->add_in_arg("name") <<= "world";
    request->set_return_type(CORBA::_tc_string);
    request->invoke();
    const char* greeting = nullptr;
    if (request->return_value() >>= greeting) std::cout << greeting << '\n';
} catch (const CORBA::Exception& exception) {
    std::cerr << "dynamic_client: " << exception.what() << '\n';
    return 1;
}
