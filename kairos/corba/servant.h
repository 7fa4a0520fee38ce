// SPDX-License-Identifier: Apache-2.0
//
// Servants and object ids as users see them (C++ mapping 5.34 to 5.37). Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/ref_count.h"
#include "kairos/corba/object.h"
#include "kairos/mapping/sequence.h"
#include "kairos/poa/servant.h"

#include <utility>

namespace PortableServer {

class POA;
typedef POA* POA_ptr;
typedef kairos::mapping::ObjectVar<POA> POA_var;
typedef kairos::mapping::ObjectOut<POA> POA_out;

class KAIROS_API ObjectId : public kairos::mapping::UnboundedSequence<CORBA::Octet> {
  public:
    using Unbounded::Unbounded;
};
typedef kairos::mapping::VariableVar<ObjectId> ObjectId_var;
typedef kairos::mapping::VariableOut<ObjectId> ObjectId_out;

/// The characters of the id. Owned by the caller. Throws BAD_PARAM for an id with a NUL.
KAIROS_API char* ObjectId_to_string(const ObjectId& id);
/// The id of these characters, without the terminator. Owned by the caller. Throws BAD_PARAM for
/// null.
KAIROS_API ObjectId* string_to_ObjectId(const char* text);

/// Base of all skeletons. Counted: starts with one owner, its creator; `_remove_ref` by the last
/// owner deletes it. Servants on the stack are never released by their creator and so never
/// deleted.
class KAIROS_API ServantBase : public kairos::poa::Servant {
  public:
    /// The POA that `_this()` activates the servant in: here the RootPOA of the default ORB. The
    /// caller owns the result.
    virtual POA_ptr _default_POA();

    /// Answers Object::_get_interface: by default what the Interface Repository of the ORB knows of
    /// the skeleton's interface (INTF_REPOS if nothing). Programs that override or call this link
    /// Kairos::ir. The caller owns the result.
    virtual CORBA::InterfaceDef_ptr _get_interface();
    virtual CORBA::Boolean _is_a(const char* repository_id);
    virtual CORBA::Boolean _non_existent() { return false; }
    virtual CORBA::Object_ptr _get_component() { return CORBA::Object::_nil(); }

    void _add_ref() override { count_.add(); }
    void _remove_ref() override
    {
        if (count_.drop()) delete this;
    }
    virtual CORBA::ULong _refcount_value() const { return count_.count(); }

    ~ServantBase() override = default;

  protected:
    ServantBase() = default;
    /// A copy is a servant of its own: it has its creator as only owner and is not active.
    ServantBase(const ServantBase& other) : Servant(other) {}
    ServantBase& operator=(const ServantBase&) { return *this; }

    /// The operations that every object has; BAD_OPERATION for any other.
    void _kairos_dispatch_standard(kairos::orb::Upcall& upcall);

  private:
    kairos::RefCount count_;
};
typedef ServantBase* Servant;

/// For source that was written when counting had to be mixed in.
class KAIROS_API RefCountServantBase : public virtual ServantBase {};

/// Counted pointer to a servant of type T (C++ mapping 5.36.3).
template <typename T>
class KAIROS_API Servant_var {
  public:
    Servant_var() = default;
    Servant_var(T* servant) noexcept : servant_(servant) {}
    Servant_var(const Servant_var& other) : servant_(other.servant_)
    {
        if (servant_ != nullptr) servant_->_add_ref();
    }
    Servant_var& operator=(Servant_var other) noexcept
    {
        std::swap(servant_, other.servant_);
        return *this;
    }
    ~Servant_var()
    {
        if (servant_ != nullptr) servant_->_remove_ref();
    }
    T* operator->() const noexcept { return servant_; }
    T& operator*() const noexcept { return *servant_; }
    operator T*() const noexcept { return servant_; }
    [[nodiscard]] T* in() const noexcept { return servant_; }
    [[nodiscard]] T*& inout() noexcept { return servant_; }
    /// Gives back what is held: a callee only assigns.
    T*& out() noexcept
    {
        *this = Servant_var();
        return servant_;
    }
    [[nodiscard]] T* _retn() noexcept { return std::exchange(servant_, nullptr); }

  private:
    T* servant_ = nullptr;
};
typedef Servant_var<ServantBase> ServantBase_var;

} // namespace PortableServer

namespace kairos::corba {

/// The object of this servant: the one being called, or the one it is, or will be, active as in
/// its `_default_POA`.
[[nodiscard]] KAIROS_API CORBA::Object_ptr this_object(PortableServer::ServantBase& servant);

/// `_this()` of a skeleton.
template <typename Interface>
[[nodiscard]] Interface* this_reference(PortableServer::ServantBase& servant)
{
    const CORBA::Object_var object = this_object(servant);
    return Interface::_unchecked_narrow(object.in());
}

} // namespace kairos::corba
