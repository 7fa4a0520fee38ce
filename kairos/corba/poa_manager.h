// SPDX-License-Identifier: Apache-2.0
//
// PortableServer::POAManager and POAManagerFactory (CORBA 3.3 part 1, 15.3.3 and 15.3.4). Any
// thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/base/owner.h"
#include "kairos/corba/object.h"
#include "kairos/mapping/sequence.h"
#include "kairos/mapping/user_exception.h"

#include <string_view>

namespace kairos::orb {
class Orb;
}
namespace kairos::poa {
class Manager;
}
namespace kairos::corba {
class PoaServices;
}

namespace PortableServer {

class POAManager;
typedef POAManager* POAManager_ptr;
typedef kairos::mapping::ObjectVar<POAManager> POAManager_var;
typedef kairos::mapping::ObjectOut<POAManager> POAManager_out;

class KAIROS_API POAManager : public virtual CORBA::LocalObject {
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

    /// From now on the POAs serve requests. Throws AdapterInactive after deactivate.
    void activate();
    /// From now on requests wait, as many as -ORBHoldLimit says; others are answered with
    /// TRANSIENT. Throws AdapterInactive after deactivate.
    void hold_requests(CORBA::Boolean wait_for_completion);
    /// From now on requests are answered with TRANSIENT. Throws AdapterInactive after deactivate.
    void discard_requests(CORBA::Boolean wait_for_completion);
    /// From now on, for ever, requests are answered with OBJ_ADAPTER; with `etherealize_objects`
    /// servant activators etherealize their objects. Throws AdapterInactive if called before.
    void deactivate(CORBA::Boolean etherealize_objects, CORBA::Boolean wait_for_completion);
    State get_state();
    /// The id that POAManagerFactory knows the manager by. Owned by the caller.
    char* get_id();

    [[nodiscard]] bool _kairos_supports(std::string_view repository_id) const override;
    /// The core's manager, for layers of Kairos.
    [[nodiscard]] kairos::poa::Manager& _kairos_core() const noexcept { return *core_; }

  private:
    friend class kairos::corba::PoaServices;
    POAManager(kairos::IntrusivePtr<kairos::orb::Orb> orb,
               kairos::IntrusivePtr<kairos::poa::Manager> core);
    ~POAManager() override;
    void change(State state, CORBA::Boolean etherealize, CORBA::Boolean wait_for_completion);

    const kairos::IntrusivePtr<kairos::orb::Orb> orb_;
    const kairos::IntrusivePtr<kairos::poa::Manager> core_;
};

class POAManagerFactory;
typedef POAManagerFactory* POAManagerFactory_ptr;
typedef kairos::mapping::ObjectVar<POAManagerFactory> POAManagerFactory_var;
typedef kairos::mapping::ObjectOut<POAManagerFactory> POAManagerFactory_out;

/// The managers of an ORB, by their ids.
class KAIROS_API POAManagerFactory : public virtual CORBA::LocalObject {
  public:
    typedef POAManagerFactory_ptr _ptr_type;
    typedef POAManagerFactory_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableServer/POAManagerFactory:1.0";
    KAIROS_EMPTY_EXCEPTION("PortableServer/POAManagerFactory", ManagerAlreadyExists)
    class POAManagerSeq : public kairos::mapping::UnboundedObjectSequence<POAManager> {
      public:
        using kairos::mapping::UnboundedObjectSequence<POAManager>::Unbounded;
    };
    typedef kairos::mapping::VariableVar<POAManagerSeq> POAManagerSeq_var;
    typedef kairos::mapping::VariableOut<POAManagerSeq> POAManagerSeq_out;

    static POAManagerFactory_ptr _duplicate(POAManagerFactory_ptr factory)
    {
        return kairos::corba::duplicate(factory);
    }
    static POAManagerFactory_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<POAManagerFactory>(object);
    }
    static POAManagerFactory_ptr _nil() { return nullptr; }

    /// Makes a manager of this id, owned by the caller. Throws ManagerAlreadyExists, and
    /// PolicyError for any policy: managers have none.
    POAManager_ptr create_POAManager(const char* id, const CORBA::PolicyList& policies);
    /// All managers of the ORB. Owned by the caller.
    POAManagerSeq* list();
    /// The manager of this id, owned by the caller; nil if there is none.
    POAManager_ptr find(const char* id);

    [[nodiscard]] bool _kairos_supports(std::string_view repository_id) const override;

  private:
    friend class POA;
    struct State;
    explicit POAManagerFactory(kairos::corba::PoaServices& services);
    ~POAManagerFactory() override;

    const kairos::Owner<State> state_;
};

} // namespace PortableServer
