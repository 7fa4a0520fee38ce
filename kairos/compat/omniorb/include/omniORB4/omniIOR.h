// SPDX-License-Identifier: Apache-2.0
//
// References as data by omniORB's names: made of profiles, taken apart, and made references again.
#pragma once

#include "omniORB4/IIOP.h"

#include <atomic>
#include <utility>

namespace IOP {

typedef TaggedProfileSeq TaggedProfileList;
typedef TaggedProfileSeq_var TaggedProfileList_var;

/// Returns what a component says as one line of text, owned by the caller: its tag, and what it
/// has, in hexadecimal where the layer does not know better. The form is not omniORB's. Throws
/// MARSHAL for one of those that it does know, but malformed.
KAIROS_API char* dumpComponent(const TaggedComponent& component);

} // namespace IOP

/// A repository id and profiles, counted: born with one owner. Nobody changes it, so any thread may
/// read it.
class KAIROS_API omniIOR {
  public:
    enum interceptorOption { NoInterceptor, DefaultInterceptors, AllInterceptors };

    /// Takes both over. Throws BAD_PARAM for null.
    omniIOR(char* repository_id, IOP::TaggedProfileList* profiles);
    /// Makes one profile: for this key, at the first address and, as components behind those given,
    /// the others. No interceptor is called, whatever the option: nothing else is added. Throws
    /// BAD_PARAM for a null id, without an address, and for components in IIOP 1.0, which has none.
    omniIOR(const char* repository_id, const _CORBA_Unbounded_Sequence_Octet& key,
            const IIOP::Address* addresses, CORBA::ULong count, GIOP::Version version,
            interceptorOption option, const IOP::MultipleComponentProfile* components = nullptr);
    omniIOR(const omniIOR&) = delete;
    omniIOR& operator=(const omniIOR&) = delete;
    ~omniIOR();

    [[nodiscard]] const char* repositoryID() const { return repository_id_.in(); }
    [[nodiscard]] const IOP::TaggedProfileList& iopProfiles() const { return profiles_.in(); }
    /// Adds an owner, and returns the same object.
    omniIOR* duplicate();
    /// Takes an owner back; the last one ends the object.
    void release();

    /// Appends a component without contents, and returns it, for the caller to fill in.
    static IOP::TaggedComponent& newIIOPtaggedComponent(IOP::MultipleComponentProfile& components);

    /// Raise NO_IMPLEMENT: -ORBPublish says what addresses references have.
    [[noreturn]] static void add_IIOP_ADDRESS(const IIOP::Address& address,
                                              void* publish = nullptr);
    [[noreturn]] static void add_TAG_ALTERNATE_IIOP_ADDRESS(const IIOP::Address& address,
                                                            void* publish = nullptr);

  private:
    const CORBA::String_var repository_id_;
    IOP::TaggedProfileList_var profiles_;
    std::atomic<int> owners_{1};
};

/// Owns a count of an omniIOR.
class omniIOR_var {
  public:
    omniIOR_var() = default;
    omniIOR_var(omniIOR* ior) : ior_(ior) {}
    omniIOR_var(const omniIOR_var&) = delete;
    omniIOR_var& operator=(const omniIOR_var&) = delete;
    ~omniIOR_var() { *this = nullptr; }
    omniIOR_var& operator=(omniIOR* ior)
    {
        omniIOR* const before = std::exchange(ior_, ior);
        if (before != nullptr) before->release();
        return *this;
    }
    operator omniIOR*() const { return ior_; }
    omniIOR* operator->() const { return ior_; }
    omniIOR* _retn() { return std::exchange(ior_, nullptr); }

  private:
    omniIOR* ior_ = nullptr;
};

/// A reference that was made of an omniIOR.
class KAIROS_API omniObjRef {
  public:
    explicit omniObjRef(CORBA::Object_ptr object) : object_(object) {}
    /// Returns the reference as text, owned by the caller: "IOR:…"; the nil one's for null.
    static char* _toString(omniObjRef* reference);

  private:
    CORBA::Object_var object_;
};

namespace omni {

/// Makes a reference of the process's ORB, owned by the caller, and takes the omniIOR over. Where
/// that says no type it is `repository_id`. Throws INV_OBJREF where it has no profile,
/// BAD_INV_ORDER where there is no ORB, and BAD_PARAM for null.
KAIROS_API omniObjRef* createObjRef(const char* repository_id, omniIOR* ior,
                                    CORBA::Boolean locked = false);
/// Ends a reference that createObjRef made.
inline void releaseObjRef(omniObjRef* reference) { delete reference; }

} // namespace omni

namespace kairos::omniorb {

struct AsOmniIor {};
inline constexpr AsOmniIor as_omni_ior{};
/// Returns what a reference says, owned by the caller. Throws BAD_PARAM for a local object's.
KAIROS_API omniIOR* operator%(const corba::ReferencePtr& reference, AsOmniIor);

} // namespace kairos::omniorb

// A member of omniORB's references: an omniIOR, owned by the caller. To be assigned, not called
// upon.
#define _getIOR() _kairos_reference() % ::kairos::omniorb::as_omni_ior
