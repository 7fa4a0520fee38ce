// SPDX-License-Identifier: Apache-2.0
//
// TAO_ORB_Manager: an ORB, its RootPOA and one child, as TAO's programs set them up. One thread at
// a time. Operations that return int return 0, or -1 where nothing was set up before.
#pragma once

#include "kairos/base/export.h"
#include "kairos/compat/tao/layer.h"
#include "kairos/corba/CORBA.h"

/// Owns what it sets up: the destructor destroys the RootPOA and the ORB, as fini() does.
class KAIROS_API TAO_ORB_Manager {
  public:
    explicit TAO_ORB_Manager(CORBA::ORB_ptr orb = nullptr, PortableServer::POA_ptr poa = nullptr,
                             PortableServer::POAManager_ptr poa_manager = nullptr);
    TAO_ORB_Manager(const TAO_ORB_Manager&) = delete;
    TAO_ORB_Manager& operator=(const TAO_ORB_Manager&) = delete;
    ~TAO_ORB_Manager();

    /// Makes the ORB and the RootPOA, which does not serve before activate_poa_manager() or run().
    /// Throws what ORB_init throws.
    int init(int& argc, char* argv[], const char* orb_name = nullptr);
    /// As init(), and makes a child of the RootPOA for persistent objects whose ids the program
    /// chooses.
    int init_child_poa(int& argc, char* argv[], const char* poa_name,
                       const char* orb_name = nullptr);
    /// Gives back what init() made. Does nothing the second time.
    int fini();

    int activate_poa_manager();
    /// Activates the servant in the RootPOA and returns its reference as text, owned by the caller.
    char* activate(PortableServer::Servant servant);
    int deactivate(const char* id);
    /// Activates the servant under this name in the child; returns its reference as text, owned by
    /// the caller. Throws BAD_PARAM for a null name.
    char* activate_under_child_poa(const char* object_name, PortableServer::Servant servant);
    int deactivate_under_child_poa(const char* id);

    /// Activates the POAManager and serves until the ORB is shut down.
    int run();
    /// As run(), for this time at the most; `time` becomes what is left of it.
    template <typename Time>
        requires requires(Time& time) { time.set(time.sec(), time.usec()); }
    int run(Time& time)
    {
        if (activate_poa_manager() != 0) return -1;
        orb_->run(time);
        return 0;
    }
    template <typename Time>
        requires requires(Time& time) { time.set(time.sec(), time.usec()); }
    int run(Time* time)
    {
        return time == nullptr ? run() : run(*time);
    }

    // Owned by the caller; nil before init().
    CORBA::ORB_ptr orb();
    PortableServer::POA_ptr root_poa();
    PortableServer::POA_ptr child_poa();
    PortableServer::POAManager_ptr poa_manager();

  private:
    CORBA::ORB_var orb_;
    PortableServer::POA_var poa_;
    PortableServer::POA_var child_poa_;
    PortableServer::POAManager_var poa_manager_;
};
