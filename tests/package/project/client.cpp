// SPDX-License-Identifier: Apache-2.0
//
// A client in the classic mapping, as a user writes it against the installed package. Its exit
// status says whether the server's greeting was the one expected.
#include "hello.h"

#include <iostream>
#include <string>

int main(int argc, char** argv)
{
    try {
        CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
        if (argc != 2) {
            std::cerr << "usage: hello_client REFERENCE\n";
            return 2;
        }
        CORBA::Object_var object = orb->string_to_object(argv[1]);
        Hello_var hello = Hello::_narrow(object.in());
        if (CORBA::is_nil(hello.in())) {
            std::cerr << "client: the reference is not a Hello\n";
            return 1;
        }
        CORBA::String_var greeting = hello->greet("world");
        std::cout << greeting.in() << '\n';
        const bool expected = std::string(greeting.in()) == "Hello, world!";
        orb->destroy();
        return expected ? 0 : 1;
    } catch (const CORBA::Exception& exception) {
        std::cerr << "client: " << exception._name() << '\n';
        return 1;
    }
}
