// SPDX-License-Identifier: Apache-2.0
//
//     fork_client REFERENCE inherit|own|thread|exit|destroy|leave [-ORB…]
//     fork_client - serve [-ORB…]
//
// A program that has called, or serves, forks. fork_test.py says with which servers. Exit status 0:
// every call, of the children and of the parent, had its own answer.
#include "hello_skel.h"

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int calls = 100;
constexpr int children = 4;
constexpr unsigned seconds_max = 30; ///< of a child that hangs

/// Whether each call had the answer that is its own.
bool call(std::string_view who, Hello_ptr hello)
{
    for (int i = 0; i < calls; ++i) {
        const std::string name = std::string(who) + ' ' + std::to_string(i);
        try {
            const CORBA::String_var answer = hello->greet(name.c_str());
            if ("Hello, " + name + '!' == answer.in()) continue;
            std::cerr << name << " got " << answer.in() << std::endl;
        } catch (const CORBA::SystemException& exception) {
            std::cerr << name << ": " << exception.what() << std::endl;
        }
        return false;
    }
    return true;
}

bool is_refused(Hello_ptr hello)
{
    try {
        const CORBA::String_var answer = hello->greet("nobody");
    } catch (const CORBA::BAD_INV_ORDER&) {
        return true;
    }
    return false;
}

bool call_by_an_orb_of_its_own(std::string_view who, const char* reference)
{
    int argc = 0;
    const std::string id(who);
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, id.c_str());
    const CORBA::Object_var object = orb->string_to_object(reference);
    const Hello_var hello = Hello::_narrow(object);
    const bool right = call(who, hello);
    orb->destroy();
    return right;
}

/// Whether all have ended well.
bool wait_for(const std::vector<pid_t>& processes)
{
    bool right = true;
    for (const pid_t process : processes) {
        int status = 0;
        if (::waitpid(process, &status, 0) == process && status == 0) continue;
        std::cerr << "a child ended with " << status << std::endl;
        right = false;
    }
    return right;
}

/// What a child does; how main ends there.
int be_child(CORBA::ORB_ptr orb, Hello_ptr hello, std::string_view how, const std::string& name,
             const char* reference)
{
    ::alarm(seconds_max);
    if (how == "leave") return 0;
    if (how == "destroy") {
        orb->destroy();
        return is_refused(hello) ? 0 : 1;
    }
    bool right = false;
    if (how == "own")
        right = call_by_an_orb_of_its_own(name, reference);
    else if (how == "thread")
        std::thread([&] { right = call(name, hello); }).join();
    else
        right = call(name, hello);
    if (how == "exit") std::exit(right ? 0 : 1);
    if (how == "inherit") ::_exit(right ? 0 : 1);
    return right ? 0 : 1; // all that main holds is released
}

class Greeter : public POA_Hello {
  public:
    char* greet(const char* name) override
    {
        return CORBA::string_dup(("Hello, " + std::string(name) + "!").c_str());
    }
};

int serve(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    const PortableServer::Servant_var<Greeter> greeter = new Greeter;
    const Hello_var hello = greeter->_this();
    const CORBA::String_var reference = orb->object_to_string(hello);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    std::thread main_loop([&] { orb->run(); });
    bool right = call("before", hello);
    std::vector<pid_t> processes;
    for (int i = 0; i < children; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::alarm(seconds_max);
            const bool answered = call("child " + std::to_string(i), hello); // by the parent
            orb->destroy();
            ::_exit(answered ? 0 : 1);
        }
        processes.push_back(child);
    }
    right = wait_for(processes) && right;
    right = call("after", hello) && right;
    right = call_by_an_orb_of_its_own("newcomer", reference) && right;
    orb->shutdown(true);
    main_loop.join();
    orb->destroy();
    return right ? 0 : 1;
}

} // namespace

int main(int argc, char** argv)
{
    const std::string_view how = argv[2];
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (how == "serve") return serve(orb);
    const CORBA::Object_var object = orb->string_to_object(argv[1]);
    const Hello_var hello = Hello::_narrow(object);
    bool right = call("before", hello);
    std::vector<pid_t> processes;
    for (int i = 0; i < children; ++i) {
        const pid_t child = ::fork();
        if (child == 0) return be_child(orb, hello, how, "child " + std::to_string(i), argv[1]);
        processes.push_back(child);
    }
    right = call("meanwhile", hello) && right;
    right = wait_for(processes) && right;
    right = call("after", hello) && right;
    return right ? 0 : 1;
}
