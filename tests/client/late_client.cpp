// SPDX-License-Identifier: Apache-2.0
//
//     late_client REFERENCE keep|none|destroy|exit|thread [-ORB…]
//     late_client SOCKET served|served-static
//
// Calls from destructors that run when nobody expects calls any more: of a static object, of a
// thread-local one, and from atexit. And servers that nobody ends: whether they still serve when
// static objects go. late_test.py says what each has to print.
#include "hello_skel.h"

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

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

/// Says as it goes whether somebody listens at a Unix socket.
struct Watcher {
    std::string path{};
    ~Watcher()
    {
        if (path.empty()) return;
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const bool listens =
            ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
        ::close(socket);
        std::cout << (listens ? "served" : "not served") << std::endl;
    }
};

Watcher older; // goes after what holds the ORB
Caller in_static_storage{"static"};

void at_exit() { call("atexit", in_static_storage.hello); }

/// Serves at a Unix socket, until the process ends.
void serve(CORBA::ORB_ptr orb)
{
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var root = PortableServer::POA::_narrow(object);
    PortableServer::POAManager_var manager = root->the_POAManager();
    manager->activate();
    object = root->create_reference("IDL:Nobody:1.0");
}

int end_serving(int argc, char** argv, std::string_view how)
{
    const std::string endpoint = std::string("uiop://") + argv[1];
    std::vector<char*> arguments(argv, argv + argc);
    std::string option = "-ORBListenEndpoints";
    std::string value = endpoint;
    arguments.insert(arguments.end(), {option.data(), value.data(), nullptr});
    int count = argc + 2;
    CORBA::ORB_var orb = CORBA::ORB_init(count, arguments.data());
    serve(orb);
    if (how == "served") {
        static Watcher younger; // goes before what was there at ORB_init
        younger.path = argv[1];
    } else {
        older.path = argv[1];
        in_static_storage.orb = orb;
    }
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    const std::string_view how = argv[2];
    if (how.starts_with("served")) return end_serving(argc, argv, how);
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
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
