// SPDX-License-Identifier: Apache-2.0
//
// The list of idiom_list.h with omniORB's headers: each is what that ORB takes.
#include "idioms.hh"

#define IDIOMS_OF_OMNIORB
#include "tests/mapping/idiom_list.h"

int main(int argc, char** argv)
{
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    const bool holds = Idioms::all(orb);
    orb->destroy();
    return holds ? 0 : 1;
}
