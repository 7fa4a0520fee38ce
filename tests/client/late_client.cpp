// SPDX-License-Identifier: Apache-2.0
//
//     late_client REFERENCE keep|none|destroy|exit|thread [-ORB…]
//
// Calls from destructors that run when nobody expects calls any more: of a static object, of a
// thread-local one, and from atexit. late_test.py says what each has to print.
#include "hello.h"

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

namespace {

void call(const char* who, Hello_ptr hello)
{
    std::cout << who << ": ";
    try {
        const CORBA::String_var greeting = hello->greet(who);
        std::cout << greeting.in() << std::endl;
    } catch (const CORBA::SystemException& exception) {
        std::cout << exception._name() << ' ' << (exception.minor() & 0xFFF) << std::endl;
    }
}

struct Caller {
    const char* name;
    Hello_var hello{};
    CORBA::ORB_var orb{};
    CORBA::Any value{};
    ~Caller()
    {
        if (!CORBA::is_nil(hello)) call(name, hello);
    }
};

Caller in_static_storage{"static"};

void at_exit() { call("atexit", in_static_storage.hello); }

} // namespace

int main(int argc, char** argv)
{
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    const std::string_view how = argv[2];
    CORBA::Object_var object = orb->string_to_object(argv[1]);
    Hello_var hello = Hello::_narrow(object);
    call("main", hello);
    if (how == "thread") {
        std::thread([&] {
            thread_local Caller in_thread{"thread"};
            in_thread.hello = hello;
            call("before", hello); // what a thread has of ours is younger than its object
        }).join();
        return 0;
    }
    in_static_storage.hello = hello;
    in_static_storage.value <<= "text";
    std::atexit(at_exit);
    if (how == "keep") in_static_storage.orb = orb;
    if (how == "destroy") orb->destroy();
    if (how == "exit") std::exit(0); // with what main holds
}
