// SPDX-License-Identifier: Apache-2.0
//
// PortableServer as users see it (CORBA 3.3 part 1, 15; C++ mapping 5.34 to 5.38): servants, the
// RootPOA and its manager; a thin front of module poa. Any thread.
#pragma once

#include "kairos/corba/object.h"
#include "kairos/corba/orb.h"
#include "kairos/mapping/marshal.h"
#include "kairos/mapping/sequence.h"
#include "kairos/mapping/user_exception.h"
#include "kairos/orb/upcall.h"
#include "kairos/poa/adapter.h"
#include "kairos/poa/servant.h"

#include <string>

namespace PortableServer {

class POA;
typedef POA* POA_ptr;
typedef kairos::mapping::ObjectVar<POA> POA_var;
class POAManager;
typedef POAManager* POAManager_ptr;
typedef kairos::mapping::ObjectVar<POAManager> POAManager_var;

class ObjectId : public kairos::mapping::UnboundedSequence<CORBA::Octet> {
  public:
    using Unbounded::Unbounded;
};
typedef kairos::mapping::VariableVar<ObjectId> ObjectId_var;
typedef kairos::mapping::VariableOut<ObjectId> ObjectId_out;

/// The characters of the id. Owned by the caller. Throws BAD_PARAM for an id with a NUL.
char* ObjectId_to_string(const ObjectId& id);
/// Owned by the caller.
ObjectId* string_to_ObjectId(const char* text);

/// Base of all skeletons. Counted: starts with one owner, its creator; `_remove_ref` by the last
/// owner deletes it. Servants on the stack are never released by their creator and so never
/// deleted.
class ServantBase : public kairos::poa::Servant {
  public:
    /// The RootPOA of the default ORB. The caller owns the result.
    virtual POA_ptr _default_POA();
    virtual CORBA::Boolean _is_a(const char* repository_id);
    virtual CORBA::Boolean _non_existent() { return false; }

    void _add_ref() override { count_.fetch_add(1, std::memory_order_relaxed); }
    void _remove_ref() override
    {
        if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }
    virtual CORBA::ULong _refcount_value() const { return count_.load(); }

    ~ServantBase() override = default;

  protected:
    ServantBase() = default;
    /// A copy is a servant of its own: it has its creator as only owner and is not active.
    ServantBase(const ServantBase& other) : Servant(other) {}
    ServantBase& operator=(const ServantBase&) { return *this; }

    /// The operations that every object has; BAD_OPERATION for any other.
    void _kairos_dispatch_standard(kairos::orb::Upcall& upcall);

  private:
    std::atomic<CORBA::ULong> count_{1};
};
typedef ServantBase* Servant;

/// For source that was written when counting had to be mixed in.
class RefCountServantBase : public virtual ServantBase {};

/// Counted pointer to a servant of type T (C++ mapping 5.36.3).
template <typename T>
class Servant_var {
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
    [[nodiscard]] T* _retn() noexcept { return std::exchange(servant_, nullptr); }

  private:
    T* servant_ = nullptr;
};

class POAManager : public virtual CORBA::LocalObject {
  public:
    typedef POAManager_ptr _ptr_type;
    typedef POAManager_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableServer/POAManager:1.0";
    KAIROS_EMPTY_EXCEPTION("PortableServer/POAManager", AdapterInactive)
    enum State { HOLDING, ACTIVE, DISCARDING, INACTIVE };

    static POAManager_ptr _duplicate(POAManager_ptr manager)
    {
        return kairos::corba::duplicate(manager);
    }
    static POAManager_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<POAManager>(object);
    }
    static POAManager_ptr _nil() { return nullptr; }

    /// Serve requests. Each throws AdapterInactive after deactivate.
    void activate();
    /// Keep requests waiting.
    void hold_requests(CORBA::Boolean wait_for_completion);
    /// Answer requests with TRANSIENT.
    void discard_requests(CORBA::Boolean wait_for_completion);
    /// Answer requests with OBJ_ADAPTER, for ever.
    void deactivate(CORBA::Boolean etherealize_objects, CORBA::Boolean wait_for_completion);
    State get_state();

    [[nodiscard]] bool _kairos_supports(std::string_view repository_id) const override;

  private:
    friend class POA;
    explicit POAManager(POA& poa);
    ~POAManager() override;
    void change(State state, CORBA::Boolean wait_for_completion);

    POA& poa_; // counted
};

/// The RootPOA: unique, system-assigned ids; retained, transient, implicitly activated objects.
class POA : public virtual CORBA::LocalObject {
  public:
    typedef POA_ptr _ptr_type;
    typedef POA_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableServer/POA:1.0";
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", ServantAlreadyActive)
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", ServantNotActive)
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", ObjectAlreadyActive)
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", ObjectNotActive)
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", WrongAdapter)
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", WrongPolicy)

    static POA_ptr _duplicate(POA_ptr poa) { return kairos::corba::duplicate(poa); }
    static POA_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<POA>(object);
    }
    static POA_ptr _nil() { return nullptr; }

    char* the_name();
    POAManager_ptr the_POAManager();

    /// Owned by the caller. Throws ServantAlreadyActive.
    ObjectId* activate_object(Servant servant);
    /// Requests in progress finish first; then the servant loses an owner. Throws ObjectNotActive.
    void deactivate_object(const ObjectId& id);

    /// Activates the servant if it is not active yet.
    ObjectId* servant_to_id(Servant servant);
    CORBA::Object_ptr servant_to_reference(Servant servant);
    /// The servant with one more owner. Throws ObjectNotActive, WrongAdapter.
    Servant reference_to_servant(CORBA::Object_ptr reference);
    Servant id_to_servant(const ObjectId& id);
    ObjectId* reference_to_id(CORBA::Object_ptr reference);
    /// Throws ObjectNotActive.
    CORBA::Object_ptr id_to_reference(const ObjectId& id);

    [[nodiscard]] bool _kairos_supports(std::string_view repository_id) const override;

    /// For layers of Kairos.
    [[nodiscard]] kairos::orb::Orb& _kairos_orb() const noexcept { return *orb_; }
    [[nodiscard]] kairos::poa::Adapter& _kairos_adapter() noexcept { return adapter_; }
    /// No request is served or held any more.
    void _kairos_end() noexcept;

  private:
    friend class CORBA::ORB;
    explicit POA(kairos::IntrusivePtr<kairos::orb::Orb> orb);
    ~POA() override;

    [[nodiscard]] kairos::poa::ObjectMap::Place place_of_servant(Servant servant);
    [[nodiscard]] CORBA::Object_ptr reference_at(kairos::poa::ObjectMap::Place place,
                                                 const char* repository_id);

    const kairos::IntrusivePtr<kairos::orb::Orb> orb_;
    kairos::poa::Adapter adapter_;
};

} // namespace PortableServer

namespace kairos::corba {

/// The object of this servant: the one being called, or the one it is, or will be, active as in
/// its `_default_POA`.
[[nodiscard]] CORBA::Object_ptr this_object(PortableServer::ServantBase& servant);

/// `_this()` of a skeleton.
template <typename Interface>
[[nodiscard]] Interface* this_reference(PortableServer::ServantBase& servant)
{
    const CORBA::Object_var object = this_object(servant);
    return unchecked_narrow<Interface>(object.in());
}

} // namespace kairos::corba
