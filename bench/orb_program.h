// SPDX-License-Identifier: Apache-2.0
//
// What the measured ORB programs share: a server that lives until its standard input ends, and
// CORBA exceptions as what the line protocol knows. Classic C++ mapping alone, so it is included
// behind the generated headers of whichever ORB is measured. Main thread; the server has a second.
#pragma once

#include "bench/peer.h"

#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kairos::bench {

/// Tells the references to the orchestrator and serves them until it says quit, which `wait` waits
/// for.
inline int serve(CORBA::ORB_ptr orb, const std::vector<CORBA::Object_ptr>& objects,
                 const std::function<void()>& wait = wait_for_quit)
{
    CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();

    std::string references;
    for (const CORBA::Object_ptr object : objects) {
        CORBA::String_var reference = orb->object_to_string(object);
        references += (references.empty() ? "" : " ") + std::string(reference.in());
    }
    announce_ready(references);
    std::thread end([orb, &wait] {
        wait();
        orb->shutdown(false);
    });
    try {
        orb->run();
    } catch (const CORBA::BAD_INV_ORDER&) { // told to quit before it came to that
    }
    end.join();
    orb->destroy(); // before the servants, which live on the caller's stack
    return 0;
}

/// What a CORBA exception becomes on the line protocol.
class CallFailed : public std::runtime_error {
  public:
    explicit CallFailed(const CORBA::Exception& raised) : std::runtime_error(raised._name()) {}
};

template <typename Action>
auto reporting(Action&& action)
{
    try {
        return action();
    } catch (const CORBA::Exception& raised) {
        throw CallFailed(raised);
    }
}

/// The main function of a measured program: `run` gets the ORB and what is left of the arguments
/// and returns the exit status.
inline int orb_main(int argc, char** argv,
                    const std::function<int(CORBA::ORB_ptr, const std::vector<std::string>&)>& run)
{
    try {
        CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
        return run(orb, std::vector<std::string>(argv + 1, argv + argc));
    } catch (const CORBA::Exception& raised) {
        std::cerr << argv[0] << ": " << raised._name() << '\n';
    } catch (const std::exception& failure) {
        std::cerr << argv[0] << ": " << failure.what() << '\n';
    }
    return 1;
}

/// Calls `once` so many times.
template <typename Once>
void repeat(std::uint32_t times, Once&& once)
{
    for (std::uint32_t i = 0; i < times; ++i)
        once();
}

/// The bytes of a call on the wire, averaged over ten of them.
template <typename Once>
MessageBytes bytes_of_a_call(Once&& once)
{
    constexpr std::uint32_t calls = 10;
    repeat(2, once); // a first call may carry more, such as code sets
    const MessageBytes before = tcp_bytes_so_far();
    repeat(calls, once);
    const MessageBytes after = tcp_bytes_so_far();
    return {.request = (after.request - before.request) / calls,
            .reply = (after.reply - before.reply) / calls};
}

} // namespace kairos::bench
