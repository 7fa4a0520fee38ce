// SPDX-License-Identifier: Apache-2.0
//
// omniORB's functions for URLs and names as text. Programs that use those for names link
// Kairos::naming.
#pragma once

#include "omniORB4/CORBA_sysdep.h"

#include "kairos/ior/name.h"
#include "kairos/naming/name.h"
#include "omniORB4/omniORB.h"

namespace omni {

class omniURI {
  public:
    /// Returns the reference as text, owned by the caller: "IOR:…", of a nil one, too.
    static char* objectToString(CORBA::Object_ptr object)
    {
        if (CORBA::is_nil(object)) return CORBA::string_dup("IOR:01000000010000000000000000000000");
        const CORBA::ORB_var orb = object->_get_orb();
        return orb->object_to_string(object);
    }
    /// Returns the name that "a/b.c" stands for, owned by the caller. Throws InvalidName.
    static CosNaming::Name* stringToName(const char* text)
    {
        return new CosNaming::Name(kairos::naming::to_name(text));
    }
    /// Returns "a/b.c" for a name, owned by the caller. Throws InvalidName.
    static char* nameToString(const CosNaming::Name& name)
    {
        return CORBA::string_dup(kairos::naming::to_string(name).c_str());
    }
    /// Returns "corbaname:address#name", owned by the caller. Throws NamingContextExt's
    /// InvalidAddress, and InvalidName.
    static char* addrAndNameToURI(const char* address, const char* name)
    {
        return CORBA::string_dup(kairos::naming::to_url(address, name).c_str());
    }
};

} // namespace omni
