// SPDX-License-Identifier: Apache-2.0
//
// What the tests of calls share: an ORB of the test's own with options, and an object of a server
// process or of that ORB.
#pragma once

#include "checks.h"
#include "process.h"
#include "servant.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace calls {

/// ORB_init with options as a program gives them. Destroyed with the object.
class TestOrb {
  public:
    explicit TestOrb(std::vector<std::string> options = {})
    {
        static int count = 0; // a destroyed ORB's name may be used again; distinct ones read better
        // The ORB's own warnings about what tests provoke are not news.
        options.insert(options.begin(), {"test", "-ORBDebug", "0"});
        std::vector<char*> argv;
        for (std::string& option : options)
            argv.push_back(option.data());
        int argc = static_cast<int>(argv.size());
        orb_ = CORBA::ORB_init(argc, argv.data(), ("test " + std::to_string(++count)).c_str());
    }
    TestOrb(const TestOrb&) = delete;
    TestOrb& operator=(const TestOrb&) = delete;
    ~TestOrb() { orb_->destroy(); }

    CORBA::ORB_ptr operator->() const { return orb_.in(); }
    [[nodiscard]] CORBA::ORB_ptr in() const { return orb_.in(); }

    [[nodiscard]] PortableServer::POA_var active_poa() const
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        return poa;
    }
    [[nodiscard]] Types::Echo_var make_echo() const
    {
        const PortableServer::POA_var poa = active_poa();
        PortableServer::Servant_var<EchoServant> servant = new EchoServant(orb_.in(), poa.in(), {});
        return servant->_this();
    }
    [[nodiscard]] Types::Echo_var echo(const std::string& reference) const
    {
        const CORBA::Object_var object = orb_->string_to_object(reference.c_str());
        return Types::Echo::_narrow(object.in());
    }

  private:
    CORBA::ORB_var orb_;
};

/// A process that serves an Echo. Ends in order with the object, which checks that. CALLS_SERVER in
/// the environment is another program than the test's own, CALLS_DEMUX an -ORBDemux.
class Server {
  public:
    explicit Server(std::vector<std::string> options = {}) : process_(arguments(options))
    {
        reference = process_.read_line();
        if (reference.empty()) throw std::runtime_error("the server did not start");
    }
    ~Server()
    {
        if (ended_) return;
        EXPECT_EQ(process_.stop(), 0);
    }
    /// A server that the test has ended, or killed: its exit status.
    [[nodiscard]] int wait()
    {
        ended_ = true;
        process_.end_input();
        return process_.wait();
    }
    void kill_now() { process_.kill_now(); }

    std::string reference;

  private:
    static std::vector<std::string> arguments(std::vector<std::string> options)
    {
        const char* other = std::getenv("CALLS_SERVER");
        std::vector<std::string> all{other == nullptr ? CALLS_SERVER : other, "-ORBDebug", "0"};
        if (const char* demux = std::getenv("CALLS_DEMUX"); demux != nullptr)
            all.insert(all.end(), {"-ORBDemux", demux});
        if (std::find(options.begin(), options.end(), "-ORBListenEndpoints") == options.end())
            all.insert(all.end(), {"-ORBListenEndpoints", "iiop://127.0.0.1"});
        all.insert(all.end(), options.begin(), options.end());
        return all;
    }

    Process process_;
    bool ended_ = false;
};

} // namespace calls
