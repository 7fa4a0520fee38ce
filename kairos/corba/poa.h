// SPDX-License-Identifier: Apache-2.0
//
// PortableServer::POA (CORBA 3.3 part 1, 15.3.9): a thin front of poa::Adapter. Any thread. After
// its destruction every operation throws OBJECT_NOT_EXIST.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/owner.h"
#include "kairos/corba/poa_manager.h"
#include "kairos/corba/servant.h"
#include "kairos/corba/servant_manager.h"
#include "kairos/mapping/sequence.h"
#include "kairos/mapping/user_exception.h"

#include <cstdint>
#include <string_view>

namespace kairos::poa {
class Adapter;
class Calling;
struct Identity;
enum class Outcome;
} // namespace kairos::poa

namespace PortableServer {

// CORBA 3.3 part 1, 15.3.8. Their classes are in poa_policy_objects.h.
enum ThreadPolicyValue : CORBA::ULong { ORB_CTRL_MODEL, SINGLE_THREAD_MODEL, MAIN_THREAD_MODEL };
enum LifespanPolicyValue : CORBA::ULong { TRANSIENT, PERSISTENT };
enum IdUniquenessPolicyValue : CORBA::ULong { UNIQUE_ID, MULTIPLE_ID };
enum IdAssignmentPolicyValue : CORBA::ULong { USER_ID, SYSTEM_ID };
enum ImplicitActivationPolicyValue : CORBA::ULong { IMPLICIT_ACTIVATION, NO_IMPLICIT_ACTIVATION };
enum ServantRetentionPolicyValue : CORBA::ULong { RETAIN, NON_RETAIN };
enum RequestProcessingPolicyValue : CORBA::ULong {
    USE_ACTIVE_OBJECT_MAP_ONLY,
    USE_DEFAULT_SERVANT,
    USE_SERVANT_MANAGER
};
class ThreadPolicy;
typedef ThreadPolicy* ThreadPolicy_ptr;
class LifespanPolicy;
typedef LifespanPolicy* LifespanPolicy_ptr;
class IdUniquenessPolicy;
typedef IdUniquenessPolicy* IdUniquenessPolicy_ptr;
class IdAssignmentPolicy;
typedef IdAssignmentPolicy* IdAssignmentPolicy_ptr;
class ImplicitActivationPolicy;
typedef ImplicitActivationPolicy* ImplicitActivationPolicy_ptr;
class ServantRetentionPolicy;
typedef ServantRetentionPolicy* ServantRetentionPolicy_ptr;
class RequestProcessingPolicy;
typedef RequestProcessingPolicy* RequestProcessingPolicy_ptr;

class POAList;
typedef kairos::mapping::VariableVar<POAList> POAList_var;
typedef kairos::mapping::VariableOut<POAList> POAList_out;

class KAIROS_API POA : public virtual CORBA::LocalObject {
  public:
    typedef POA_ptr _ptr_type;
    typedef POA_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableServer/POA:1.0";
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", AdapterAlreadyExists)
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", AdapterNonExistent)
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", NoServant)
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", ObjectAlreadyActive)
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", ObjectNotActive)
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", ServantAlreadyActive)
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", ServantNotActive)
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", WrongAdapter)
    KAIROS_EMPTY_EXCEPTION("PortableServer/POA", WrongPolicy)
    /// `index` in the list that was given, of the first policy that cannot be.
    class InvalidPolicy final : public kairos::mapping::EmptyException<InvalidPolicy> {
      public:
        static constexpr const char* kairos_name = "InvalidPolicy";
        static constexpr const char* _kairos_id =
            "IDL:omg.org/PortableServer/POA/InvalidPolicy:1.0";
        CORBA::UShort index = 0;
        InvalidPolicy() = default;
        explicit InvalidPolicy(CORBA::UShort which) : index(which) {}
        void _marshal(kairos::cdr::Writer& out) const override;
    };

    static POA_ptr _duplicate(POA_ptr poa) { return kairos::corba::duplicate(poa); }
    static POA_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<POA>(object);
    }
    static POA_ptr _nil() { return nullptr; }

    // --- the tree ---
    /// Makes a child, owned by the caller, with a POAManager of its own where `manager` is nil.
    /// Throws AdapterAlreadyExists, InvalidPolicy; BAD_INV_ORDER 17 while this POA is being
    /// destroyed.
    POA_ptr create_POA(const char* adapter_name, POAManager_ptr manager,
                       const CORBA::PolicyList& policies);
    /// Returns the child of this name, owned by the caller. With `activate_it` the adapter
    /// activator is asked for a child that is not there. Throws AdapterNonExistent; OBJ_ADAPTER 1
    /// if the activator throws.
    POA_ptr find_POA(const char* adapter_name, CORBA::Boolean activate_it);
    /// Destroys the POA with all its children, at once or when the requests in progress have ended.
    /// `wait_for_completion` waits for that; throws BAD_INV_ORDER 3 for it within an upcall.
    void destroy(CORBA::Boolean etherealize_objects, CORBA::Boolean wait_for_completion);

    /// The name that create_POA was given. Owned by the caller, as all that functions of a POA
    /// return.
    char* the_name();
    POA_ptr the_parent();
    POAList* the_children();
    POAManager_ptr the_POAManager();
    POAManagerFactory_ptr the_POAManagerFactory();
    AdapterActivator_ptr the_activator();
    void the_activator(AdapterActivator_ptr activator);
    /// The id of this POA among those of the process. Owned by the caller.
    ObjectId* id();

    // --- policies ---
    ThreadPolicy_ptr create_thread_policy(ThreadPolicyValue value);
    LifespanPolicy_ptr create_lifespan_policy(LifespanPolicyValue value);
    IdUniquenessPolicy_ptr create_id_uniqueness_policy(IdUniquenessPolicyValue value);
    IdAssignmentPolicy_ptr create_id_assignment_policy(IdAssignmentPolicyValue value);
    ImplicitActivationPolicy_ptr
    create_implicit_activation_policy(ImplicitActivationPolicyValue value);
    ServantRetentionPolicy_ptr create_servant_retention_policy(ServantRetentionPolicyValue value);
    RequestProcessingPolicy_ptr
    create_request_processing_policy(RequestProcessingPolicyValue value);

    // --- who serves objects that are not active ---
    /// The servant manager, owned by the caller; nil if none was set. Throws WrongPolicy.
    ServantManager_ptr get_servant_manager();
    /// Sets the servant manager, once: throws BAD_INV_ORDER 6 later, OBJ_ADAPTER 4 for nil and for
    /// the wrong kind, WrongPolicy.
    void set_servant_manager(ServantManager_ptr manager);
    /// The default servant with one more owner. Throws NoServant, WrongPolicy.
    Servant get_servant();
    /// Sets the default servant. Throws WrongPolicy.
    void set_servant(Servant servant);

    // --- objects ---
    /// Has the servant serve a new object and returns the object's id, owned by the caller. Throws
    /// ServantAlreadyActive, WrongPolicy.
    ObjectId* activate_object(Servant servant);
    /// Has the servant serve the object of this id; waits while that is being deactivated. Throws
    /// ObjectAlreadyActive, ServantAlreadyActive, WrongPolicy; BAD_PARAM 14 for an id that this POA
    /// would have to make itself and has not.
    void activate_object_with_id(const ObjectId& id, Servant servant);
    /// Ends the object's activation. Requests in progress finish first; then the servant loses an
    /// owner, or is etherealized. Throws ObjectNotActive, WrongPolicy.
    void deactivate_object(const ObjectId& id);

    /// A reference, owned by the caller, to a new object that need not be active. Throws
    /// WrongPolicy.
    CORBA::Object_ptr create_reference(const char* repository_id);
    /// A reference, owned by the caller, to the object of this id, which need not be active. Throws
    /// WrongPolicy; BAD_PARAM 14 for an id that this POA would have to make itself and has not.
    CORBA::Object_ptr create_reference_with_id(const ObjectId& id, const char* repository_id);

    /// The id, owned by the caller, of the object that the servant is active as; activates it if
    /// the policies say so. Throws ServantNotActive, WrongPolicy.
    ObjectId* servant_to_id(Servant servant);
    /// A reference, owned by the caller, to the object that the servant is active as; activates it
    /// if the policies say so. Throws ServantNotActive, WrongPolicy.
    CORBA::Object_ptr servant_to_reference(Servant servant);
    /// The servant of a reference's object, with one more owner. Throws ObjectNotActive,
    /// WrongAdapter, WrongPolicy.
    Servant reference_to_servant(CORBA::Object_ptr reference);
    /// The servant of this id's object, with one more owner. Throws ObjectNotActive, WrongPolicy.
    Servant id_to_servant(const ObjectId& id);
    /// The id of a reference's object, owned by the caller. Throws WrongAdapter.
    ObjectId* reference_to_id(CORBA::Object_ptr reference);
    /// A reference to the active object of this id, owned by the caller. Throws ObjectNotActive,
    /// WrongPolicy.
    CORBA::Object_ptr id_to_reference(const ObjectId& id);

    [[nodiscard]] bool _kairos_supports(std::string_view repository_id) const override;

    // --- for layers of Kairos ---
    [[nodiscard]] kairos::orb::Orb& _kairos_orb() const noexcept;
    /// The reference to the object that is being called.
    [[nodiscard]] CORBA::Object_ptr _kairos_called(const kairos::poa::Calling& calling);
    /// Makes a reference to the object of this id as this POA does where no factory of the
    /// program's makes them. Owned by the caller. Throws as create_reference_with_id.
    [[nodiscard]] CORBA::Object_ptr _kairos_make_object(const char* repository_id,
                                                        const ObjectId& id);
    /// A reference to an object whose id is empty; `places_are_ids` tells whether ids that this POA
    /// makes stand in keys in place of a slot. Owned by the caller.
    [[nodiscard]] CORBA::Object_ptr _kairos_sample(bool& places_are_ids);
    /// The policy of this type that create_POA was given, or has by default. Owned by the caller;
    /// nil if there is none. Not what create_POA was given where the ORB has no interceptors.
    [[nodiscard]] CORBA::Policy_ptr _kairos_policy(CORBA::PolicyType type);
    [[nodiscard]] static POA& _kairos_of(const kairos::poa::Adapter& adapter) noexcept;

  protected:
    explicit POA(kairos::corba::PoaServices& services);
    ~POA() override;

    /// Gives the object this priority from now on, whatever it had before: for
    /// RTPortableServer::POA.
    void reschedule_at(std::int16_t priority, const ObjectId& id);
    /// Activates an object of this priority; where `id` is null the system gives it one. Returns
    /// the id, owned by the caller.
    ObjectId* activate_at(std::int16_t priority, const ObjectId* id, Servant servant);
    /// Makes a reference to an object of this priority that need not be active; where `id` is null
    /// the system gives it one. Owned by the caller.
    CORBA::Object_ptr reference_at(std::int16_t priority, const ObjectId* id,
                                   const char* repository_id);

  private:
    friend class kairos::corba::PoaServices;

    /// The POA's adapter and what the POA keeps for it; in an internal header, as all that knows
    /// adapters.
    class State;
    /// Keeps the POA's adapter from going away. Throws OBJECT_NOT_EXIST when that is gone already.
    class InUse;

    /// Throws the exception that the specification has for an outcome; returns for `ok`.
    static void check(kairos::poa::Outcome outcome);
    [[nodiscard]] CORBA::Object_ptr reference_to(const kairos::poa::Identity& object,
                                                 const char* repository_id);
    [[nodiscard]] CORBA::Object_ptr own_reference_to(const kairos::poa::Identity& object,
                                                     const char* repository_id);
    void set_servant_manager(kairos::poa::Adapter& adapter, ServantManager_ptr manager);

    const kairos::Owner<State> state_;
};

class KAIROS_API POAList : public kairos::mapping::UnboundedObjectSequence<POA> {
  public:
    using kairos::mapping::UnboundedObjectSequence<POA>::Unbounded;
};

} // namespace PortableServer
