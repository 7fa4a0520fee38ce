// SPDX-License-Identifier: Apache-2.0
//
// RTCORBA::PriorityMapping and PriorityTransform, which Real-Time CORBA 1.2 (5.4 and 5.6) has as
// native types, and the objects by which programs install their own, as TAO has them.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/portable_server.h"

namespace RTCORBA {

typedef CORBA::Short NativePriority;
typedef CORBA::Short Priority;

/// Maps CORBA's priorities to the system's and back. Derived by programs. Called by any thread; a
/// native priority of 0 is the system's ordinary scheduling, 1 to 99 are those of SCHED_FIFO.
class KAIROS_API PriorityMapping {
  public:
    PriorityMapping() = default;
    PriorityMapping(const PriorityMapping&) = delete;
    PriorityMapping& operator=(const PriorityMapping&) = delete;
    virtual ~PriorityMapping() = default;

    /// Gives out the native priority for a CORBA priority. False where there is none: calls then
    /// end with DATA_CONVERSION.
    virtual CORBA::Boolean to_native(Priority corba_priority, NativePriority& native_priority) = 0;
    virtual CORBA::Boolean to_CORBA(NativePriority native_priority, Priority& corba_priority) = 0;
};

/// Changes the priorities that requests carry. Derived by programs. Called by any thread.
class KAIROS_API PriorityTransform {
  public:
    PriorityTransform() = default;
    PriorityTransform(const PriorityTransform&) = delete;
    PriorityTransform& operator=(const PriorityTransform&) = delete;
    virtual ~PriorityTransform() = default;

    /// Called before a request with a priority is served: changes `the_priority` to what it is to
    /// be served at. False ends the request with DATA_CONVERSION.
    virtual CORBA::Boolean inbound(Priority& the_priority, const PortableServer::ObjectId& oid) = 0;
    /// Called before a request that says its priority is sent while the object of this id is
    /// called: changes `the_priority` to what the request says. False ends the call with
    /// DATA_CONVERSION.
    virtual CORBA::Boolean outbound(Priority& the_priority,
                                    const PortableServer::ObjectId& oid) = 0;
};

class PriorityMappingManager;
typedef PriorityMappingManager* PriorityMappingManager_ptr;
typedef kairos::mapping::ObjectVar<PriorityMappingManager> PriorityMappingManager_var;

/// resolve_initial_references("PriorityMappingManager"). Any thread.
class KAIROS_API PriorityMappingManager : public virtual CORBA::LocalObject {
  public:
    typedef PriorityMappingManager_ptr _ptr_type;
    typedef PriorityMappingManager_var _var_type;
    static constexpr const char* _kairos_id = "IDL:kairos/RTCORBA/PriorityMappingManager:1.0";

    static PriorityMappingManager_ptr _duplicate(PriorityMappingManager_ptr object)
    {
        return kairos::corba::duplicate(object);
    }
    static PriorityMappingManager_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<PriorityMappingManager>(object);
    }
    static PriorityMappingManager_ptr _nil() { return nullptr; }

    /// Sets the mapping of the ORB, which takes it over: best before anything has a priority.
    virtual void mapping(PriorityMapping* mapping) = 0;
    /// The mapping of the ORB, which keeps it.
    virtual PriorityMapping* mapping() = 0;

    bool _kairos_supports(std::string_view repository_id) const override
    {
        return repository_id == _kairos_id || LocalObject::_kairos_supports(repository_id);
    }

  protected:
    PriorityMappingManager() = default;
};

class PriorityTransformManager;
typedef PriorityTransformManager* PriorityTransformManager_ptr;
typedef kairos::mapping::ObjectVar<PriorityTransformManager> PriorityTransformManager_var;

/// resolve_initial_references("PriorityTransformManager"). Any thread.
class KAIROS_API PriorityTransformManager : public virtual CORBA::LocalObject {
  public:
    typedef PriorityTransformManager_ptr _ptr_type;
    typedef PriorityTransformManager_var _var_type;
    static constexpr const char* _kairos_id = "IDL:kairos/RTCORBA/PriorityTransformManager:1.0";

    static PriorityTransformManager_ptr _duplicate(PriorityTransformManager_ptr object)
    {
        return kairos::corba::duplicate(object);
    }
    static PriorityTransformManager_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<PriorityTransformManager>(object);
    }
    static PriorityTransformManager_ptr _nil() { return nullptr; }

    /// Sets the transform of the ORB, which takes it over; null for none.
    virtual void transform(PriorityTransform* transform) = 0;
    /// The transform of the ORB, which keeps it; null for none.
    virtual PriorityTransform* transform() = 0;

    bool _kairos_supports(std::string_view repository_id) const override
    {
        return repository_id == _kairos_id || LocalObject::_kairos_supports(repository_id);
    }

  protected:
    PriorityTransformManager() = default;
};

} // namespace RTCORBA
