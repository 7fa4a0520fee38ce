// SPDX-License-Identifier: Apache-2.0
//
// What programs written for TAO expect of its headers beside the mapping: macros, locks, small
// helpers, names of policies. The headers below include/ are TAO's names for this one and others.
#pragma once

#include "kairos/compat/tao/layer.h"
#include "kairos/compat/tao/synch.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/KairosPolicies.h"

// Programs that use ACE have its headers; the layer needs none of them. TAO's own include these.
#if !defined(KAIROS_TAO_WITHOUT_ACE) && __has_include(<ace/Log_Msg.h>)
#include <ace/CORBA_macros.h>
#include <ace/Guard_T.h>
#include <ace/Log_Msg.h>
#include <ace/OS_main.h>
#include <ace/Time_Value.h>
#endif

// NOLINTBEGIN(cppcoreguidelines-macro-usage): TAO's are macros, and programs ask with #ifdef.
#define TAO_BEGIN_VERSIONED_NAMESPACE_DECL
#define TAO_END_VERSIONED_NAMESPACE_DECL
#define TAO_VERSIONED_NAMESPACE_NAME
#define TAO_ROOT_NAMESPACE
#ifndef ACE_BEGIN_VERSIONED_NAMESPACE_DECL
#define ACE_BEGIN_VERSIONED_NAMESPACE_DECL
#define ACE_END_VERSIONED_NAMESPACE_DECL
#endif
#define TAO_HAS_MINIMUM_CORBA 0
#define TAO_HAS_MINIMUM_POA 0
#define TAO_HAS_CORBA_MESSAGING 1
#define TAO_HAS_AMI_CALLBACK 1
#define TAO_HAS_AMI_POLLER 1
#define TAO_HAS_INTERCEPTORS 1
#define TAO_HAS_RELATIVE_ROUNDTRIP_TIMEOUT_POLICY 1
#define TAO_HAS_CONNECTION_TIMEOUT_POLICY 1
#define TAO_HAS_SYNC_SCOPE_POLICY 1
#define TAO_HAS_BUFFERING_CONSTRAINT_POLICY 0
#define TAO_HAS_VALUETYPE_OUT_INDIRECTION 0
#ifndef ACE_PRINT_EXCEPTION
#define ACE_PRINT_EXCEPTION(exception, text) (exception)._tao_print_exception(text)
#endif
// A member of TAO's SystemException: what its own exceptions have as minor code.
#define _tao_minor_code(location, error)                                                           \
    _downcast(static_cast<CORBA::Exception*>(nullptr))->*::TAO::MinorCode(location, error)
// A member of TAO's Any: the type alone, for what a dynamic invocation is to put in.
#define _tao_set_typecode(type) replace(type, nullptr)
// Names of initial references.
#define TAO_OBJID_NAMESERVICE "NameService"
#define TAO_OBJID_TRADINGSERVICE "TradingService"
#define TAO_OBJID_ROOTPOA "RootPOA"
#define TAO_OBJID_POACURRENT "POACurrent"
#define TAO_OBJID_INTERFACEREP "InterfaceRepository"
#define TAO_OBJID_POLICYMANAGER "ORBPolicyManager"
#define TAO_OBJID_POLICYCURRENT "PolicyCurrent"
#define TAO_OBJID_IORMANIPULATION "IORManipulation"
#define TAO_OBJID_IORTABLE "IORTable"
#define TAO_OBJID_DYNANYFACTORY "DynAnyFactory"
#define TAO_OBJID_CODECFACTORY "CodecFactory"
#define TAO_OBJID_PICURRENT "PICurrent"
#define TAO_OBJID_PICurrent "PICurrent"
#define TAO_OBJID_TYPECODEFACTORY "TypeCodeFactory"
#define TAO_OBJID_PRIORITYMAPPINGMANAGER "PriorityMappingManager"
#define TAO_OBJID_RTORB "RTORB"
#define TAO_OBJID_RTCURRENT "RTCurrent"
// NOLINTEND(cppcoreguidelines-macro-usage)

// Where in TAO an exception comes from, within its minor codes.
inline constexpr CORBA::ULong TAO_INVOCATION_LOCATION_FORWARD_MINOR_CODE = 0x01U << 7U;
inline constexpr CORBA::ULong TAO_INVOCATION_SEND_REQUEST_MINOR_CODE = 0x02U << 7U;
inline constexpr CORBA::ULong TAO_INVOCATION_RECV_REQUEST_MINOR_CODE = 0x06U << 7U;
inline constexpr CORBA::ULong TAO_TIMEOUT_CONNECT_MINOR_CODE = 0x09U << 7U;
inline constexpr CORBA::ULong TAO_TIMEOUT_SEND_MINOR_CODE = 0x0aU << 7U;
inline constexpr CORBA::ULong TAO_TIMEOUT_RECV_MINOR_CODE = 0x0bU << 7U;

namespace TAO {

/// The vendor's part of TAO's minor codes.
inline constexpr CORBA::ULong VMCID = 0x54410000;

/// Returns a minor code: TAO's vendor, where in TAO it came to pass, and why, an errno.
[[nodiscard]] constexpr CORBA::ULong minor_code(CORBA::ULong location, int error) noexcept
{
    return VMCID | location | (static_cast<CORBA::ULong>(error) & 0x7fU);
}

/// What _tao_minor_code makes its number of: the operator binds tighter than any that may stand
/// around the macro.
class MinorCode {
  public:
    constexpr MinorCode(CORBA::ULong location, int error) noexcept
        : code_(minor_code(location, error))
    {
    }
    [[nodiscard]] constexpr CORBA::ULong code() const noexcept { return code_; }

  private:
    CORBA::ULong code_;
};
[[nodiscard]] constexpr CORBA::ULong operator->*(const CORBA::SystemException* /*none*/,
                                                 MinorCode code) noexcept
{
    return code.code();
}

// TAO's policy for the time that connecting may take: create_policy has it by this number.
inline constexpr CORBA::PolicyType CONNECTION_TIMEOUT_POLICY_TYPE =
    KairosPolicies::CONNECTION_TIMEOUT_POLICY_TYPE;
typedef KairosPolicies::ConnectionTimeoutPolicy ConnectionTimeoutPolicy;
typedef KairosPolicies::ConnectionTimeoutPolicy_ptr ConnectionTimeoutPolicy_ptr;
typedef KairosPolicies::ConnectionTimeoutPolicy_var ConnectionTimeoutPolicy_var;

namespace Utils {

/// Owns a count of a servant.
template <typename T>
using Servant_Var = PortableServer::Servant_var<T>;

/// A list of policies that are destroyed with it.
class PolicyList_Destroyer : public CORBA::PolicyList {
  public:
    PolicyList_Destroyer() = default;
    explicit PolicyList_Destroyer(CORBA::ULong maximum) : CORBA::PolicyList(maximum) {}
    PolicyList_Destroyer(const PolicyList_Destroyer&) = delete;
    PolicyList_Destroyer& operator=(const PolicyList_Destroyer&) = delete;
    ~PolicyList_Destroyer()
    {
        for (CORBA::ULong i = 0; i < length(); ++i) {
            const CORBA::Policy_ptr policy = (*this)[i];
            if (!CORBA::is_nil(policy)) policy->destroy();
        }
    }
};

/// Destroys an ORB, of which it owns a count, when it goes.
class ORB_Destroyer {
  public:
    ORB_Destroyer() = default;
    explicit ORB_Destroyer(const CORBA::ORB_var& orb) : orb_(orb) {}
    ORB_Destroyer(const ORB_Destroyer&) = delete;
    ORB_Destroyer& operator=(const ORB_Destroyer&) = delete;
    ~ORB_Destroyer()
    {
        try {
            if (!CORBA::is_nil(orb_.in())) orb_->destroy();
        } catch (const CORBA::Exception&) {
            return; // within a request: whoever ends that one destroys it
        }
    }

  private:
    CORBA::ORB_var orb_;
};

/// The initial reference of this name as a T, owned by the caller. Throws InvalidName, and
/// INV_OBJREF if it is no T.
template <typename T>
struct RIR_Narrow {
    typedef T* _ptr_type;
    static _ptr_type narrow(CORBA::ORB_ptr orb, const char* name)
    {
        const CORBA::Object_var object = orb->resolve_initial_references(name);
        return narrow_object(object.in());
    }
    static _ptr_type narrow_object(CORBA::Object_ptr object)
    {
        _ptr_type found = T::_narrow(object);
        if (CORBA::is_nil(found)) throw CORBA::INV_OBJREF();
        return found;
    }
};

} // namespace Utils
} // namespace TAO
