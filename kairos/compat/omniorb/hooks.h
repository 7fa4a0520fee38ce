// SPDX-License-Identifier: Apache-2.0
//
// What the layer hangs into an ORB for the functions of omniInterceptors.h, and the thread that
// omnithread knows each of the ORB's threads by.
#pragma once

#include "kairos/compat/omniorb/include/omniORB4/omniORB.h"

namespace kairos::orb {
class ObservedCall;
} // namespace kairos::orb

namespace kairos::omniorb {

/// Has an ORB that was just made call the functions that there are, and see to its threads.
void add_hooks(CORBA::ORB_ptr orb);

/// Tells the omniInitialisers that there are of an ORB that was made, and later of its destruction.
/// Throws what they throw.
void attach_initialisers(CORBA::ORB_ptr orb);

/// Calls the functions of clientSendRequest.
void tell_sending(orb::ObservedCall& call);
/// Calls the functions of clientReceiveReply, if the attempt has ended with a reply.
void tell_reply(orb::ObservedCall& call);

} // namespace kairos::omniorb

namespace kairos::corba {

/// What resolve_initial_references("omniINSPOA") returns. Weak in kairos/corba.
KAIROS_API CORBA::Object_ptr omni_ins_poa_service(CORBA::ORB& orb);

} // namespace kairos::corba
