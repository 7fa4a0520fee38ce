// SPDX-License-Identifier: Apache-2.0
//
//     tao_server [-ORB…]        prints its reference, serves until it is told to shut down
//
// Written as servers for TAO are: its ORB manager, its table of names for corbaloc, its helpers.
#include "Hello.h"
#include "tao/IORTable/IORTable.h"
#include "tao/ORB_Constants.h"
#include "tao/Utils/ORB_Manager.h"
#include "tao/Utils/PolicyList_Destroyer.h"
#include "tao/Utils/RIR_Narrow.h"
#include "tao/Utils/Servant_Var.h"
#include "tao/debug.h"

#include <iostream>

int main(int argc, char* argv[])
{
    TAO_ORB_Manager orb_manager;
    try {
        if (orb_manager.init_child_poa(argc, argv, "child_poa") == -1) return 1;
        CORBA::ORB_var orb = orb_manager.orb();
        PortableServer::POA_var root =
            TAO::Utils::RIR_Narrow<PortableServer::POA>::narrow(orb.in(), "RootPOA");
        {
            TAO::Utils::PolicyList_Destroyer policies(1);
            policies.length(1);
            policies[0] = root->create_thread_policy(PortableServer::ORB_CTRL_MODEL);
        }
        TAO::Utils::Servant_Var<Hello> hello(new Hello(orb.in()));
        CORBA::String_var ior = orb_manager.activate_under_child_poa("hello", hello.in());
        IORTable::Table_var table =
            TAO::Utils::RIR_Narrow<IORTable::Table>::narrow(orb.in(), "IORTable");
        table->bind("Hello", ior.in());
        if (TAO_debug_level > 0) std::cerr << "debug level " << TAO_debug_level << std::endl;
        std::cout << ior.in() << std::endl;
        orb_manager.run();
        hello = TAO::Utils::Servant_Var<Hello>();
        root = PortableServer::POA::_nil();
    } catch (const CORBA::Exception& ex) {
        ex._tao_print_exception("Exception caught in server:");
        return 1;
    }
    return 0;
}
