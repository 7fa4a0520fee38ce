// SPDX-License-Identifier: Apache-2.0
//
// What programs for omniORB include instead of omniORB's header of this name.
#pragma once

#include "omniORB4/CORBA_sysdep.h"

#include "kairos/corba/BiDirPolicy.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/IOP.h"
#include "kairos/corba/skel.h"
#include "kairos/orb/reference.h"
#include "omniORB4/IIOP.h"
#include "omniORB4/cdrStream.h"
#include "omniORB4/minorCode.h"
#include "omniORB4/omniIOR.h"
#include "omniORB4/omniORB.h"

#if __has_include("kairos/naming/CosNaming_skel.h")
#include "kairos/naming/CosNaming.h"
#include "kairos/naming/CosNaming_skel.h"
#endif
#if __has_include(<omnithread.h>)
#include <omnithread.h>
#endif

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace kairos::omniorb {

/// What omniORB's programs derive their servant managers and adapter activators from.
template <typename Local>
class LocalServant : public virtual Local {
  public:
    /// Returns the object, counted for the caller.
    typename Local::_ptr_type _this() { return Local::_duplicate(this); }
};

} // namespace kairos::omniorb

namespace POA_PortableServer {

typedef kairos::omniorb::LocalServant<PortableServer::AdapterActivator> AdapterActivator;
typedef kairos::omniorb::LocalServant<PortableServer::ServantActivator> ServantActivator;
typedef kairos::omniorb::LocalServant<PortableServer::ServantLocator> ServantLocator;

} // namespace POA_PortableServer

// Whether what a program takes for a reference is one, which nobody can tell here: always true.
#define _PR_is_valid(reference) _kairos_id[(static_cast<void>(reference), 0)]
// The type that a reference says its object has, as long as the reference is there:
// `object->_PR_getobj()->_mostDerivedRepoId()`.
#define _PR_getobj() _kairos_reference()
#define _mostDerivedRepoId() ior().type_id.c_str()
// The elements of a sequence, for classes that derive from it.
#define pd_buf get_buffer()
