// SPDX-License-Identifier: Apache-2.0
//
// What the servers here have in common: an object that a loop's own timer changes and remote calls
// read, in the same thread, so without locks; and the loop's way to the ORB.
#pragma once

#include "clock_skel.h"

#include <iostream>
#include <vector>

class Ticks : public POA_Clock {
  public:
    CORBA::ULong ticks() override { return ticks_; }
    void tick() { ++ticks_; }

  private:
    CORBA::ULong ticks_ = 0;
};

class TickingServer {
  public:
    TickingServer(int argc, char** argv) : orb_(initialise(argc, argv))
    {
        CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
        Clock_var clock = ticks_->_this();
        CORBA::String_var reference = orb_->object_to_string(clock);
        PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        std::cout << reference << std::endl;
    }
    ~TickingServer() { orb_->destroy(); }
    TickingServer(const TickingServer&) = delete;
    TickingServer& operator=(const TickingServer&) = delete;

    /// What the loop is to watch: readable when `serve` has something to do.
    [[nodiscard]] int descriptor() { return orb_->_kairos_descriptor(); }
    void serve() { orb_->perform_work(); }
    void tick() { ticks_->tick(); }

  private:
    static CORBA::ORB_ptr initialise(int argc, char** argv)
    {
        std::vector<char*> arguments(argv, argv + argc);
        char option[] = "-ORBConcurrency=reactor";
        arguments.push_back(option);
        arguments.push_back(nullptr);
        int count = argc + 1;
        return CORBA::ORB_init(count, arguments.data());
    }

    CORBA::ORB_var orb_;
    PortableServer::Servant_var<Ticks> ticks_ = new Ticks;
};
