// SPDX-License-Identifier: Apache-2.0
//
// TAO_IOP::TAO_IOR_Manipulation: references with several profiles, put together and taken apart.
// resolve_initial_references("IORManipulation") gives one. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/compat/tao/layer.h"
#include "kairos/corba/CORBA.h"

namespace TAO_IOP {

#define KAIROS_TAO_IOP_EXCEPTION(name)                                                             \
    class KAIROS_API name final : public kairos::mapping::EmptyException<name> {                   \
      public:                                                                                      \
        static constexpr const char* kairos_name = #name;                                          \
        static constexpr const char* _kairos_id = "IDL:TAO_IOP/" #name ":1.0";                     \
    };
KAIROS_TAO_IOP_EXCEPTION(NotFound)
KAIROS_TAO_IOP_EXCEPTION(Duplicate)
KAIROS_TAO_IOP_EXCEPTION(Invalid_IOR)
KAIROS_TAO_IOP_EXCEPTION(EmptyProfileList)
KAIROS_TAO_IOP_EXCEPTION(MultiProfileList)
#undef KAIROS_TAO_IOP_EXCEPTION

class TAO_IOR_Property;
typedef TAO_IOR_Property* TAO_IOR_Property_ptr;
class TAO_IOR_Manipulation;
typedef TAO_IOR_Manipulation* TAO_IOR_Manipulation_ptr;
typedef kairos::mapping::ObjectVar<TAO_IOR_Manipulation> TAO_IOR_Manipulation_var;

class KAIROS_API TAO_IOR_Manipulation : public virtual CORBA::LocalObject {
  public:
    typedef TAO_IOR_Manipulation_ptr _ptr_type;
    typedef TAO_IOR_Manipulation_var _var_type;
    static constexpr const char* _kairos_id = "IDL:TAO_IOP/TAO_IOR_Manipulation:1.0";

    typedef TAO_IOP::NotFound NotFound;
    typedef TAO_IOP::Duplicate Duplicate;
    typedef TAO_IOP::Invalid_IOR Invalid_IOR;
    typedef TAO_IOP::EmptyProfileList EmptyProfileList;
    typedef TAO_IOP::MultiProfileList MultiProfileList;
    class IORList : public kairos::mapping::UnboundedObjectSequence<CORBA::Object> {
      public:
        using Unbounded::Unbounded;
    };
    typedef kairos::mapping::VariableVar<IORList> IORList_var;

    static TAO_IOR_Manipulation_ptr _duplicate(TAO_IOR_Manipulation_ptr object)
    {
        return kairos::corba::duplicate(object);
    }
    static TAO_IOR_Manipulation_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<TAO_IOR_Manipulation>(object);
    }
    static TAO_IOR_Manipulation_ptr _nil() { return nullptr; }

    /// A reference with the profiles of all these, in their order, owned by the caller. Throws
    /// EmptyProfileList for no reference, Invalid_IOR for nil and local objects, Duplicate for a
    /// profile that is there twice.
    CORBA::Object_ptr merge_iors(const IORList& iors);
    /// merge_iors of two references.
    CORBA::Object_ptr add_profiles(CORBA::Object_ptr to, CORBA::Object_ptr from);
    /// The first reference without the profiles of the second, owned by the caller. Throws NotFound
    /// if it lacks one of them, EmptyProfileList if nothing is left, Invalid_IOR.
    CORBA::Object_ptr remove_profiles(CORBA::Object_ptr from, CORBA::Object_ptr what);
    /// How many profiles of the second reference the first has. Throws NotFound for none,
    /// Invalid_IOR.
    CORBA::ULong is_in_ior(CORBA::Object_ptr in, CORBA::Object_ptr what);
    CORBA::ULong get_profile_count(CORBA::Object_ptr object);

    // Groups of fault tolerance: not here; NO_IMPLEMENT.
    CORBA::Boolean set_property(TAO_IOR_Property_ptr property, CORBA::Object_ptr group);
    CORBA::Boolean set_primary(TAO_IOR_Property_ptr property, CORBA::Object_ptr primary,
                               CORBA::Object_ptr group);
    CORBA::Object_ptr get_primary(TAO_IOR_Property_ptr property, CORBA::Object_ptr group);
    CORBA::Boolean is_primary_set(TAO_IOR_Property_ptr property, CORBA::Object_ptr group);
    CORBA::Boolean remove_primary_tag(TAO_IOR_Property_ptr property, CORBA::Object_ptr group);

    bool _kairos_supports(std::string_view repository_id) const override;
};

} // namespace TAO_IOP

namespace kairos::corba {

/// What the core's resolve_initial_references("IORManipulation") asks. Owned by the caller.
KAIROS_API CORBA::Object_ptr tao_ior_manipulation_service(CORBA::ORB& orb);

/// Never read: one reference in a program that is not weak.
[[gnu::used]] inline CORBA::Object_ptr (*const ior_manipulation_is_linked)(CORBA::ORB&) =
    &tao_ior_manipulation_service;

} // namespace kairos::corba
