// SPDX-License-Identifier: Apache-2.0
//
// Built as docs/from-tao.md says; nobody is at the address that it has.
#include "HelloC.h"
#include "tao/debug.h"

#include <iostream>

int main(int argc, char* argv[])
{
    try {
        CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
        CORBA::Object_var tmp = orb->string_to_object("corbaloc:iiop:127.0.0.1:1/Hello");
        Hello_var hello = Hello::_unchecked_narrow(tmp.in());
        try {
            CORBA::String_var the_string = hello->get_string();
        } catch (const CORBA::TRANSIENT&) {
            if (TAO_debug_level == 2) std::cout << "ok" << std::endl;
        }
        orb->destroy();
    } catch (const CORBA::Exception& ex) {
        ex._tao_print_exception("Exception caught:");
        return 1;
    }
    return 0;
}
