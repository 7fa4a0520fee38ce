// SPDX-License-Identifier: Apache-2.0
//
// A client: calls the object whose reference is its argument.
#include "hello.h"

#include <iostream>

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::Object_var object = orb->string_to_object(argv[1]);
    Hello_var hello = Hello::_narrow(object);
    CORBA::String_var greeting = hello->greet("world");
    std::cout << greeting << '\n';
} catch (const CORBA::Exception& exception) {
    std::cerr << "hello_client: " << exception.what() << '\n';
    return 1;
}
