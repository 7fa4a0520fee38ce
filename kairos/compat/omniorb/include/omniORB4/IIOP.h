// SPDX-License-Identifier: Apache-2.0
//
// IIOP profiles as omniORB's programs take them apart: what is in a reference's TaggedProfile.
#pragma once

#include "omniORB4/CORBA_sysdep.h"

#include "kairos/corba/IOP.h"
#include "omniORB4/omniORB.h"

/// Sequences of octets as omniORB has them.
class _CORBA_Unbounded_Sequence_Octet : public CORBA::OctetSeq {
  public:
    using CORBA::OctetSeq::OctetSeq;
    using CORBA::OctetSeq::operator=;
    [[nodiscard]] CORBA::Octet* NP_data() { return get_buffer(); }
    [[nodiscard]] const CORBA::Octet* NP_data() const { return get_buffer(); }
};
typedef CORBA::StringSeq _CORBA_Unbounded_Sequence_String;

namespace GIOP {

/// The highest version that the server accepts.
struct Version {
    CORBA::Octet major;
    CORBA::Octet minor;
};

} // namespace GIOP

class KAIROS_API IIOP {
  public:
    typedef GIOP::Version Version;

    struct Address {
        CORBA::String_member host;
        CORBA::UShort port = 0;
    };
    struct ProfileBody {
        Version version{1, 2};
        Address address;
        _CORBA_Unbounded_Sequence_Octet object_key;
        IOP::MultipleComponentProfile components; ///< none in 1.0
    };

    static constexpr CORBA::UShort DEFAULT_CORBALOC_PORT = 2809;

    /// Makes a profile of what is in `body`.
    static void encodeProfile(const ProfileBody& body, IOP::TaggedProfile& profile);
    /// Reads a profile. Throws MARSHAL for one that is none of IIOP, or malformed.
    static void unmarshalProfile(const IOP::TaggedProfile& profile, ProfileBody& body);
    /// Makes a profile of components alone (TAG_MULTIPLE_COMPONENTS).
    static void encodeMultiComponentProfile(const IOP::MultipleComponentProfile& components,
                                            IOP::TaggedProfile& profile);
    /// Reads one. Throws MARSHAL for one that is none of components, or malformed.
    static void unmarshalMultiComponentProfile(const IOP::TaggedProfile& profile,
                                               IOP::MultipleComponentProfile& components);
};
