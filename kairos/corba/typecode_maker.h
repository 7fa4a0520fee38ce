// SPDX-License-Identifier: Apache-2.0
//
// The operations that make TypeCodes at run time (CORBA 3.3 part 1, 8.11.3), which CORBA::ORB and
// the TypeCodeFactory have in common. A thin front of
// types/typecode_factory.h. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/object.h"
#include "kairos/types/typecode.h"

namespace CORBA {

// Of orb_types.h, which programs include as part of CORBA.h.
class StructMemberSeq;
class UnionMemberSeq;
class EnumMemberSeq;
class ValueMemberSeq;

} // namespace CORBA

namespace kairos::corba {

/// Results are owned by the caller. Types given are shared, not copied. What is wrong is refused as
/// types/typecode_factory.h says: BAD_PARAM 15 to 20, BAD_TYPECODE 2.
class KAIROS_API TypeCodeMaker {
  public:
    CORBA::TypeCode_ptr create_struct_tc(const char* id, const char* name,
                                         const CORBA::StructMemberSeq& members);
    CORBA::TypeCode_ptr create_exception_tc(const char* id, const char* name,
                                            const CORBA::StructMemberSeq& members);
    /// Several labels of one member are as many members of its name, one after the other. Labels
    /// of another type than the discriminator's: BAD_PARAM 19.
    CORBA::TypeCode_ptr create_union_tc(const char* id, const char* name,
                                        CORBA::TypeCode_ptr discriminator_type,
                                        const CORBA::UnionMemberSeq& members);
    CORBA::TypeCode_ptr create_enum_tc(const char* id, const char* name,
                                       const CORBA::EnumMemberSeq& members);
    CORBA::TypeCode_ptr create_alias_tc(const char* id, const char* name,
                                        CORBA::TypeCode_ptr original_type);
    CORBA::TypeCode_ptr create_interface_tc(const char* id, const char* name);
    CORBA::TypeCode_ptr create_abstract_interface_tc(const char* id, const char* name);
    CORBA::TypeCode_ptr create_local_interface_tc(const char* id, const char* name);
    CORBA::TypeCode_ptr create_component_tc(const char* id, const char* name);
    CORBA::TypeCode_ptr create_home_tc(const char* id, const char* name);
    CORBA::TypeCode_ptr create_native_tc(const char* id, const char* name);
    /// The type of strings of at most `bound` characters; 0 means no bound. Owned by the caller.
    CORBA::TypeCode_ptr create_string_tc(CORBA::ULong bound);
    CORBA::TypeCode_ptr create_wstring_tc(CORBA::ULong bound);
    CORBA::TypeCode_ptr create_fixed_tc(CORBA::UShort digits, CORBA::Short scale);
    CORBA::TypeCode_ptr create_sequence_tc(CORBA::ULong bound, CORBA::TypeCode_ptr element_type);
    CORBA::TypeCode_ptr create_array_tc(CORBA::ULong length, CORBA::TypeCode_ptr element_type);
    CORBA::TypeCode_ptr create_value_tc(const char* id, const char* name,
                                        CORBA::ValueModifier type_modifier,
                                        CORBA::TypeCode_ptr concrete_base,
                                        const CORBA::ValueMemberSeq& members);
    CORBA::TypeCode_ptr create_event_tc(const char* id, const char* name,
                                        CORBA::ValueModifier type_modifier,
                                        CORBA::TypeCode_ptr concrete_base,
                                        const CORBA::ValueMemberSeq& members);
    CORBA::TypeCode_ptr create_value_box_tc(const char* id, const char* name,
                                            CORBA::TypeCode_ptr boxed_type);
    /// A place holder, owned by the caller, that stands for the struct, union or value type of this
    /// id once it is within that type.
    CORBA::TypeCode_ptr create_recursive_tc(const char* id);

  protected:
    TypeCodeMaker() = default;
    ~TypeCodeMaker() = default;
};

} // namespace kairos::corba

namespace CORBA {

class TypeCodeFactory;
typedef TypeCodeFactory* TypeCodeFactory_ptr;
typedef kairos::mapping::ObjectVar<TypeCodeFactory> TypeCodeFactory_var;

/// What resolve_initial_references("TypeCodeFactory") gives.
class KAIROS_API TypeCodeFactory : public virtual LocalObject, public kairos::corba::TypeCodeMaker {
  public:
    typedef TypeCodeFactory_ptr _ptr_type;
    typedef TypeCodeFactory_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/CORBA/TypeCodeFactory:1.0";

    TypeCodeFactory() = default;
    static TypeCodeFactory_ptr _duplicate(TypeCodeFactory_ptr object)
    {
        return kairos::corba::duplicate(object);
    }
    static TypeCodeFactory_ptr _narrow(Object_ptr object)
    {
        return kairos::corba::narrow_local<TypeCodeFactory>(object);
    }
    static TypeCodeFactory_ptr _nil() { return nullptr; }

    bool _kairos_supports(std::string_view repository_id) const override
    {
        return repository_id == _kairos_id || LocalObject::_kairos_supports(repository_id);
    }

  protected:
    ~TypeCodeFactory() override = default;
};

} // namespace CORBA
