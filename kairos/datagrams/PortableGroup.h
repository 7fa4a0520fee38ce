// SPDX-License-Identifier: Apache-2.0
//
// PortableGroup::GOA, the object adapter of objects in groups (CORBA 3.3 part 2, 11), as
// idl/PortableGroup.idl has it: docs/multicast.md. A program that includes this has
// libkairos-datagrams, however it is linked.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/portable_server.h"
#include "kairos/datagrams/datagrams.h"
#include "kairos/mapping/sequence.h"
#include "kairos/mapping/user_exception.h"

namespace PortableGroup {

/// The reference is of no group.
KAIROS_EMPTY_EXCEPTION("PortableGroup", NotAGroupObject)

class KAIROS_API IDs : public kairos::mapping::UnboundedSequence<PortableServer::ObjectId> {
  public:
    using Unbounded::Unbounded;
};
typedef kairos::mapping::VariableVar<IDs> IDs_var;
typedef kairos::mapping::VariableOut<IDs> IDs_out;

class GOA;
typedef GOA* GOA_ptr;
typedef kairos::mapping::ObjectVar<GOA> GOA_var;
typedef kairos::mapping::ObjectOut<GOA> GOA_out;

/// A POA, and what it knows of groups. Not a class of POA's, as the IDL has it: it has a POA, which
/// `_kairos_poa` returns, and does what that does, by the same names. Any thread.
class KAIROS_API GOA : public CORBA::LocalObject {
  public:
    typedef GOA_ptr _ptr_type;
    typedef GOA_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableGroup/GOA:1.0";

    static GOA_ptr _duplicate(GOA_ptr goa) { return kairos::corba::duplicate(goa); }
    /// Returns the group operations of a POA; nil for what is none. Owned by the caller.
    static GOA_ptr _narrow(CORBA::Object_ptr object);
    static GOA_ptr _nil() { return nullptr; }

    // --- groups ---
    // All throw NotAGroupObject for a reference that is of no group, nil among them.

    /// Makes an id, puts the object that will have it into the group, and returns the id, owned by
    /// the caller: for activate_object_with_id. Throws as associate_reference_with_id.
    PortableServer::ObjectId* create_id_for_reference(CORBA::Object_ptr the_ref);
    /// The ids of this POA's objects in the group. Owned by the caller.
    IDs* reference_to_ids(CORBA::Object_ptr the_ref);
    /// Puts the object of this id, active or not, into the group: messages to that are served by it
    /// while it is active. In it already, it stays so. Throws BAD_PARAM 14 for an id that the POA
    /// would have to make itself and has not; NO_RESOURCES where the group cannot be joined, or the
    /// ORB's architecture has no thread for what comes so.
    void associate_reference_with_id(CORBA::Object_ptr ref, const PortableServer::ObjectId& oid);
    /// Takes the object of this id out of the group, if it is in it.
    void disassociate_reference_with_id(CORBA::Object_ptr ref, const PortableServer::ObjectId& oid);

    // --- as PortableServer::POA, whose comments say what each of them does ---
    PortableServer::POA_ptr create_POA(const char* adapter_name,
                                       PortableServer::POAManager_ptr manager,
                                       const CORBA::PolicyList& policies)
    {
        return poa_->create_POA(adapter_name, manager, policies);
    }
    PortableServer::POA_ptr find_POA(const char* adapter_name, CORBA::Boolean activate_it)
    {
        return poa_->find_POA(adapter_name, activate_it);
    }
    void destroy(CORBA::Boolean etherealize_objects, CORBA::Boolean wait_for_completion)
    {
        poa_->destroy(etherealize_objects, wait_for_completion);
    }
    char* the_name() { return poa_->the_name(); }
    PortableServer::POA_ptr the_parent() { return poa_->the_parent(); }
    PortableServer::POAList* the_children() { return poa_->the_children(); }
    PortableServer::POAManager_ptr the_POAManager() { return poa_->the_POAManager(); }
    PortableServer::AdapterActivator_ptr the_activator() { return poa_->the_activator(); }
    void the_activator(PortableServer::AdapterActivator_ptr activator)
    {
        poa_->the_activator(activator);
    }
    PortableServer::ObjectId* id() { return poa_->id(); }
    PortableServer::ThreadPolicy_ptr create_thread_policy(PortableServer::ThreadPolicyValue value)
    {
        return poa_->create_thread_policy(value);
    }
    PortableServer::LifespanPolicy_ptr
    create_lifespan_policy(PortableServer::LifespanPolicyValue value)
    {
        return poa_->create_lifespan_policy(value);
    }
    PortableServer::IdUniquenessPolicy_ptr
    create_id_uniqueness_policy(PortableServer::IdUniquenessPolicyValue value)
    {
        return poa_->create_id_uniqueness_policy(value);
    }
    PortableServer::IdAssignmentPolicy_ptr
    create_id_assignment_policy(PortableServer::IdAssignmentPolicyValue value)
    {
        return poa_->create_id_assignment_policy(value);
    }
    PortableServer::ImplicitActivationPolicy_ptr
    create_implicit_activation_policy(PortableServer::ImplicitActivationPolicyValue value)
    {
        return poa_->create_implicit_activation_policy(value);
    }
    PortableServer::ServantRetentionPolicy_ptr
    create_servant_retention_policy(PortableServer::ServantRetentionPolicyValue value)
    {
        return poa_->create_servant_retention_policy(value);
    }
    PortableServer::RequestProcessingPolicy_ptr
    create_request_processing_policy(PortableServer::RequestProcessingPolicyValue value)
    {
        return poa_->create_request_processing_policy(value);
    }
    PortableServer::ServantManager_ptr get_servant_manager() { return poa_->get_servant_manager(); }
    void set_servant_manager(PortableServer::ServantManager_ptr manager)
    {
        poa_->set_servant_manager(manager);
    }
    PortableServer::Servant get_servant() { return poa_->get_servant(); }
    void set_servant(PortableServer::Servant servant) { poa_->set_servant(servant); }
    PortableServer::ObjectId* activate_object(PortableServer::Servant servant)
    {
        return poa_->activate_object(servant);
    }
    void activate_object_with_id(const PortableServer::ObjectId& oid,
                                 PortableServer::Servant servant)
    {
        poa_->activate_object_with_id(oid, servant);
    }
    void deactivate_object(const PortableServer::ObjectId& oid) { poa_->deactivate_object(oid); }
    CORBA::Object_ptr create_reference(const char* repository_id)
    {
        return poa_->create_reference(repository_id);
    }
    CORBA::Object_ptr create_reference_with_id(const PortableServer::ObjectId& oid,
                                               const char* repository_id)
    {
        return poa_->create_reference_with_id(oid, repository_id);
    }
    PortableServer::ObjectId* servant_to_id(PortableServer::Servant servant)
    {
        return poa_->servant_to_id(servant);
    }
    CORBA::Object_ptr servant_to_reference(PortableServer::Servant servant)
    {
        return poa_->servant_to_reference(servant);
    }
    PortableServer::Servant reference_to_servant(CORBA::Object_ptr reference)
    {
        return poa_->reference_to_servant(reference);
    }
    PortableServer::Servant id_to_servant(const PortableServer::ObjectId& oid)
    {
        return poa_->id_to_servant(oid);
    }
    PortableServer::ObjectId* reference_to_id(CORBA::Object_ptr reference)
    {
        return poa_->reference_to_id(reference);
    }
    CORBA::Object_ptr id_to_reference(const PortableServer::ObjectId& oid)
    {
        return poa_->id_to_reference(oid);
    }

    /// The POA itself, for functions that take one. Borrowed from this.
    [[nodiscard]] PortableServer::POA_ptr _kairos_poa() const noexcept { return poa_.in(); }
    [[nodiscard]] bool _kairos_supports(std::string_view repository_id) const override;

  private:
    explicit GOA(PortableServer::POA_ptr poa) : poa_(PortableServer::POA::_duplicate(poa)) {}
    ~GOA() override = default;

    const PortableServer::POA_var poa_;
};

} // namespace PortableGroup
