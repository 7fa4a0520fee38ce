// SPDX-License-Identifier: Apache-2.0
//
// CORBA::Object as users see it (CORBA 3.3 part 1, 8.3; C++ mapping 5.6): a counted handle on a
// core reference. Generated stubs derive from it virtually. Any thread may use, duplicate and
// release one.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/mapping/object_fwd.h"
#include "kairos/mapping/string.h"
#include "kairos/mapping/types.h"
#include "kairos/mapping/var.h"

#include <concepts>
#include <initializer_list>
#include <string_view>

namespace kairos::orb {
class Reference;
} // namespace kairos::orb

namespace kairos::corba {
/// The core reference that an object stands for (orb/reference.h).
using ReferencePtr = IntrusivePtr<orb::Reference>;
/// What a stub is made from. Borrowed: Object takes a count of its own.
using StubArgument = const ReferencePtr&;
class StubFactory;
} // namespace kairos::corba

namespace CORBA {

class ORB;
typedef ORB* ORB_ptr;
class Object;
typedef Object* Object_ptr;
typedef kairos::mapping::ObjectVar<Object> Object_var;
typedef kairos::mapping::ObjectOut<Object> Object_out;

// Of orb_types.h and, of the last, kairos/ir/ir.h.
class Policy;
typedef Policy* Policy_ptr;
typedef ULong PolicyType;
class PolicyList;
typedef kairos::mapping::VariableOut<PolicyList> PolicyList_out;
class PolicyTypeSeq;
enum SetOverrideType : ULong;
class DomainManagersList;
class InterfaceDef;
typedef InterfaceDef* InterfaceDef_ptr;
// What dynamic invocations are made of: context.h, nvlist.h, request.h.
typedef ULong Flags;
class Context;
typedef Context* Context_ptr;
class NamedValue;
typedef NamedValue* NamedValue_ptr;
class NVList;
typedef NVList* NVList_ptr;
class ContextList;
typedef ContextList* ContextList_ptr;
typedef kairos::mapping::ObjectVar<ContextList> ContextList_var;
typedef kairos::mapping::ObjectOut<ContextList> ContextList_out;
class ExceptionList;
typedef ExceptionList* ExceptionList_ptr;
typedef kairos::mapping::ObjectVar<ExceptionList> ExceptionList_var;
typedef kairos::mapping::ObjectOut<ExceptionList> ExceptionList_out;
class Request;
typedef Request* Request_ptr;
typedef kairos::mapping::ObjectVar<Request> Request_var;
typedef kairos::mapping::ObjectOut<Request> Request_out;

class KAIROS_API Object {
  public:
    typedef Object_ptr _ptr_type;
    typedef Object_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/CORBA/Object:1.0";

    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;

    /// Adds an owner to the reference and returns it. Nil stays nil.
    static Object_ptr _duplicate(Object_ptr object);
    static Object_ptr _narrow(Object_ptr object) { return _duplicate(object); }
    static Object_ptr _unchecked_narrow(Object_ptr object) { return _duplicate(object); }
    static Object_ptr _nil() { return nullptr; }

    /// Whether the object has this interface. Asks the object only if neither the stub's type nor
    /// the reference's type id answers yes.
    virtual Boolean _is_a(const char* repository_id);
    /// True if the object is known to exist no more. Throws TRANSIENT and the like if nobody knows.
    virtual Boolean _non_existent();
    /// Whether both references are known to lead to one object: false does not prove that the
    /// objects differ. Asks nobody.
    virtual Boolean _is_equivalent(Object_ptr other);
    /// A hash in 0…maximum, which never changes in the life of the reference. Asks nobody.
    virtual ULong _hash(ULong maximum);
    /// The repository id of the most derived interface, asked of the object. Owned by the caller.
    virtual char* _repository_id();
    /// The component that the object is part of: nil for objects of servants that have none.
    virtual Object_ptr _get_component();
    /// The ORB that the reference belongs to. Owned by the caller.
    virtual ORB_ptr _get_orb();
    /// Connects now rather than at the first call. False if the object is known not to be there.
    virtual Boolean _validate_connection();
    /// Connects now rather than at the first call. False if the object is known not to be there or
    /// policies are in the way: then `inconsistent_policies` is the list of those set for the
    /// reference, else it is empty. Owned by the caller.
    Boolean _validate_connection(PolicyList_out inconsistent_policies);

    /// What the object says of its interface: a definition in some Interface Repository. Programs
    /// that call it link Kairos::ir. Throws INTF_REPOS where the object's ORB knows of none.
    InterfaceDef_ptr _get_interface();
    /// The domains that the object belongs to, asked of the object. Owned by the caller.
    DomainManagersList* _get_domain_managers();

    /// The policy that calls on this reference heed: `_get_client_policy`, or else what the
    /// reference says of its object's. Owned by the caller. Throws INV_POLICY for none.
    Policy_ptr _get_policy(PolicyType type);
    /// What is set for the reference or else for the thread (PolicyCurrent) or else for the ORB
    /// (PolicyManager). Owned by the caller; nil if nobody set any.
    Policy_ptr _get_client_policy(PolicyType type);
    /// The policies of these types that are set for the reference; all for an empty list. Owned by
    /// the caller.
    PolicyList* _get_policy_overrides(const PolicyTypeSeq& types);
    /// A new reference to the object for which these policies are set, instead of those of this
    /// reference or, with ADD_OVERRIDE, beside them. Owned by the caller. Throws InvalidPolicies
    /// with the indices of nil policies, BAD_PARAM 30 for two of one type.
    Object_ptr _set_policy_overrides(const PolicyList& policies, SetOverrideType how);

    /// Requests for dynamic invocations, owned by the caller (request.h). Null operations are
    /// BAD_PARAM; local objects do not implement these. Not virtual: who does not use them does
    /// not link what they need.
    Request_ptr _request(const char* operation);
    /// The request shares the lists, which may be nil, and the result, nil for void. `flags`: 0 or
    /// OUT_LIST_MEMORY, which changes nothing in C++; INV_FLAG for others.
    void _create_request(Context_ptr context, const char* operation, NVList_ptr arguments,
                         NamedValue_ptr result, Request_out request, Flags flags);
    void _create_request(Context_ptr context, const char* operation, NVList_ptr arguments,
                         NamedValue_ptr result, ExceptionList_ptr exceptions,
                         ContextList_ptr contexts, Request_out request, Flags flags);

    /// Counts; `release` and `_duplicate` call them.
    void _add_ref() noexcept { count_.add(); }
    void _remove_ref() noexcept
    {
        if (count_.drop()) delete this;
    }

    /// Whether the stub's static type has this interface. Asks nobody.
    [[nodiscard]] virtual bool _kairos_supports(std::string_view repository_id) const;
    /// The core reference; null for local objects.
    [[nodiscard]] const kairos::corba::ReferencePtr& _kairos_reference() const noexcept
    {
        return reference_;
    }
    /// Whether others than the caller, who owns it, own the object, too.
    [[nodiscard]] bool _kairos_is_shared() const noexcept { return !count_.is_one(); }
    /// Whether stubs are to try a call without a message first: the object is in this process.
    [[nodiscard]] bool _kairos_calls_directly() const noexcept { return calls_directly_; }

  protected:
    friend class kairos::corba::StubFactory;
    Object();
    explicit Object(kairos::corba::StubArgument reference);
    virtual ~Object();

  private:
    const kairos::corba::ReferencePtr reference_;
    kairos::RefCount count_;
    const bool calls_directly_ = false;
};

/// An object without remote access: the POA and its like. Cannot be marshalled.
class KAIROS_API LocalObject : public virtual Object {
  public:
    Boolean _is_a(const char* repository_id) override;
    Boolean _non_existent() override { return false; }
    Boolean _is_equivalent(Object_ptr other) override { return other == this; }
    ULong _hash(ULong maximum) override;
    char* _repository_id() override;
    Object_ptr _get_component() override { return nullptr; }
    ORB_ptr _get_orb() override;
    using Object::_validate_connection;
    Boolean _validate_connection() override { return true; }

  protected:
    LocalObject() = default;
};

inline Boolean is_nil(Object_ptr object) { return object == nullptr; }
KAIROS_API void release(Object_ptr object);

} // namespace CORBA

namespace kairos::corba {

/// What `_kairos_supports` of generated classes asks.
[[nodiscard]] KAIROS_API bool is_one_of(std::string_view repository_id,
                                        std::initializer_list<const char*> ids) noexcept;

/// Makes stubs: the only friend that generated classes need.
class KAIROS_API StubFactory {
  public:
    template <typename T>
    [[nodiscard]] static T* make(StubArgument reference)
    {
        return new T(reference);
    }
};

template <typename T>
[[nodiscard]] T* duplicate(T* object)
{
    if (object != nullptr) object->_add_ref();
    return object;
}

/// A T for the object: its own, or another stub of the same reference. Null if that is not known
/// to be right: where it `may_ask` the object, which is believed then.
template <typename T>
[[nodiscard]] T* narrowed(CORBA::Object* object, bool may_ask)
{
    if (T* same = dynamic_cast<T*>(object)) return duplicate(same);
    if (object == nullptr || (may_ask && !object->_is_a(T::_kairos_id))) return nullptr;
    if (!object->_kairos_reference()) return nullptr; // a local object is what its class says
    return StubFactory::make<T>(object->_kairos_reference());
}

/// T::_unchecked_narrow: believes the caller.
template <typename T>
[[nodiscard]] T* unchecked_narrow(CORBA::Object* object)
{
    return narrowed<T>(object, false);
}

/// T::_narrow: nil if the object does not have the interface. May ask the object.
template <typename T>
[[nodiscard]] T* narrow(CORBA::Object* object)
{
    return narrowed<T>(object, true);
}

/// T::_narrow of a local interface: what the object's class says.
template <typename T>
[[nodiscard]] T* narrow_local(CORBA::Object* object)
{
    return duplicate(dynamic_cast<T*>(object));
}

/// Makes a stub for a reference.
using MakeStub = void* (*)(StubArgument reference);

/// Reads a reference and returns what `make` makes of it; null for nil or when the reader has
/// failed. Without `make`, for local interfaces, anything but nil fails the reader: whatever it is,
/// it is not local.
[[nodiscard]] KAIROS_API void* decode_stub(cdr::Reader& in, MakeStub make);

template <typename T>
[[nodiscard]] T* decode_reference(cdr::Reader& in)
{
    constexpr bool remote = std::derived_from<T, CORBA::Object>; // else a pseudo object
    if constexpr (!remote || std::derived_from<T, CORBA::LocalObject>) {
        return static_cast<T*>(decode_stub(in, nullptr));
    } else {
        return static_cast<T*>(decode_stub(
            in, [](StubArgument reference) -> void* { return StubFactory::make<T>(reference); }));
    }
}

} // namespace kairos::corba
