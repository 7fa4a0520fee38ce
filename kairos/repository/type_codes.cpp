// SPDX-License-Identifier: Apache-2.0
#include "kairos/repository/type_codes.h"

#include "kairos/ir/ir.h"
#include "kairos/types/typecode_factory.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kairos::repository {
namespace {

/// In the order of PrimitiveKind; pk_Principal and pk_null are nil.
const std::array<CORBA::TypeCode_ptr, primitives>& primitive_type_codes()
{
    static const std::array<CORBA::TypeCode_ptr, primitives> all{
        nullptr,
        CORBA::_tc_void,
        CORBA::_tc_short,
        CORBA::_tc_long,
        CORBA::_tc_ushort,
        CORBA::_tc_ulong,
        CORBA::_tc_float,
        CORBA::_tc_double,
        CORBA::_tc_boolean,
        CORBA::_tc_char,
        CORBA::_tc_octet,
        CORBA::_tc_any,
        CORBA::_tc_TypeCode,
        nullptr,
        CORBA::_tc_string,
        CORBA::_tc_Object,
        CORBA::_tc_longlong,
        CORBA::_tc_ulonglong,
        CORBA::_tc_longdouble,
        CORBA::_tc_wchar,
        CORBA::_tc_wstring,
        CORBA::_tc_ValueBase,
    };
    return all;
}

} // namespace

CORBA::TypeCode_ptr primitive_type_code(Key key) noexcept
{
    return primitive_type_codes()[key - first_primitive];
}

/// Members and the types that they borrow.
struct TypeCodes::Made {
    Made(const Definition& definition, TypeCodes& codes)
    {
        types.reserve(definition.members.size());
        for (const Member& member : definition.members) {
            types.push_back(codes.of(member.type));
            list.push_back({.name = member.name.c_str(),
                            .type = types.back().in(),
                            .number = member.is_default ? 0 : member.label});
            if (member.is_default) default_index = static_cast<CORBA::Long>(list.size()) - 1;
        }
    }

    std::vector<CORBA::TypeCode_var> types;
    std::vector<types::NewMember> list;
    CORBA::Long default_index = -1;
};

CORBA::TypeCode_var TypeCodes::of(Key key)
{
    if (const auto found = made_.find(key); found != made_.end()) return found->second;
    const Definition* const definition = model_.find(key);
    if (definition == nullptr) throw CORBA::BAD_TYPECODE();
    if (const auto open = std::ranges::find(open_, key); open != open_.end()) {
        refers_to_ = std::min(refers_to_, static_cast<std::size_t>(open - open_.begin()));
        return types::make_recursive(definition->id.c_str());
    }
    // A TypeCode leads back to these alone.
    const bool may_recur = definition->kind == Kind::struct_ || definition->kind == Kind::union_ ||
                           definition->kind == Kind::value;
    const std::size_t own = open_.size();
    const std::size_t before = std::exchange(refers_to_, own);
    if (may_recur) open_.push_back(key);
    CORBA::TypeCode_var type;
    try {
        type = make(*definition);
    } catch (...) {
        open_.resize(own);
        refers_to_ = before;
        throw;
    }
    open_.resize(own);
    if (refers_to_ >= own) {
        made_.emplace(key, type);
        refers_to_ = before;
    } else {
        refers_to_ = std::min(refers_to_, before);
    }
    return type;
}

CORBA::TypeCode_var TypeCodes::make(const Definition& definition)
{
    const char* const id = definition.id.c_str();
    const char* const name = definition.name.c_str();
    switch (definition.kind) {
    case Kind::primitive:
        return CORBA::TypeCode::_duplicate(primitive_type_code(definition.key));
    case Kind::string:
        return types::make_text(CORBA::tk_string, definition.bound);
    case Kind::wstring:
        return types::make_text(CORBA::tk_wstring, definition.bound);
    case Kind::fixed:
        return types::make_fixed(definition.digits, definition.scale);
    case Kind::sequence:
    case Kind::array: {
        const CORBA::TypeCode_var element = of(definition.type);
        return types::make_elements(definition.kind == Kind::sequence ? CORBA::tk_sequence
                                                                      : CORBA::tk_array,
                                    definition.bound, element.in());
    }
    case Kind::alias:
    case Kind::value_box: {
        const CORBA::TypeCode_var original = of(definition.type);
        return types::make_alias(definition.kind == Kind::alias ? CORBA::tk_alias
                                                                : CORBA::tk_value_box,
                                 id, name, original.in());
    }
    case Kind::struct_:
    case Kind::exception: {
        const Made made(definition, *this);
        return types::make_struct(definition.kind == Kind::struct_ ? CORBA::tk_struct
                                                                   : CORBA::tk_except,
                                  id, name, made.list);
    }
    case Kind::union_: {
        const CORBA::TypeCode_var discriminator = of(definition.type);
        const Made made(definition, *this);
        return types::make_union(id, name, discriminator.in(), made.list, made.default_index);
    }
    case Kind::enum_: {
        std::vector<types::NewMember> members;
        members.reserve(definition.members.size());
        for (const Member& member : definition.members)
            members.push_back({.name = member.name.c_str()});
        return types::make_enum(id, name, members);
    }
    case Kind::value:
        return make_value(definition);
    case Kind::interface:
        return types::make_named(CORBA::tk_objref, id, name);
    case Kind::abstract_interface:
        return types::make_named(CORBA::tk_abstract_interface, id, name);
    case Kind::local_interface:
        return types::make_named(CORBA::tk_local_interface, id, name);
    case Kind::native:
        return types::make_named(CORBA::tk_native, id, name);
    case Kind::constant:
    case Kind::attribute:
    case Kind::operation:
    case Kind::value_member:
        return of(definition.type);
    default:
        throw CORBA::BAD_TYPECODE();
    }
}

CORBA::TypeCode_var TypeCodes::make_value(const Definition& definition)
{
    CORBA::TypeCode_var base;
    if (definition.base_value != nothing) base = of(definition.base_value);
    std::vector<CORBA::TypeCode_var> types;
    std::vector<types::NewMember> members;
    for (const Key key : model_.contents(definition.key, Kind::value_member, false)) {
        const Definition& member = *model_.find(key);
        types.push_back(of(member.type));
        members.push_back(
            {.name = member.name.c_str(),
             .type = types.back().in(),
             .number = member.is_public ? CORBA::PUBLIC_MEMBER : CORBA::PRIVATE_MEMBER});
    }
    const CORBA::ValueModifier modifier = definition.is_custom        ? CORBA::VM_CUSTOM
                                          : definition.is_abstract    ? CORBA::VM_ABSTRACT
                                          : definition.is_truncatable ? CORBA::VM_TRUNCATABLE
                                                                      : CORBA::VM_NONE;
    return types::make_value(CORBA::tk_value, definition.id.c_str(), definition.name.c_str(),
                             modifier, base.in(), members);
}

Key type_of(CORBA::TypeCode_ptr type, Model& model)
{
    if (CORBA::is_nil(type)) return nothing;
    Definition made;
    switch (const CORBA::TCKind kind = type->kind()) {
    case CORBA::tk_sequence:
    case CORBA::tk_array: {
        const CORBA::TypeCode_var content = type->content_type();
        made.kind = kind == CORBA::tk_sequence ? Kind::sequence : Kind::array;
        made.bound = type->length();
        made.type = type_of(content.in(), model);
        break;
    }
    case CORBA::tk_string:
    case CORBA::tk_wstring:
        if (type->length() != 0) {
            made.kind = kind == CORBA::tk_string ? Kind::string : Kind::wstring;
            made.bound = type->length();
        }
        break;
    case CORBA::tk_fixed:
        made.kind = Kind::fixed;
        made.digits = type->fixed_digits();
        made.scale = type->fixed_scale();
        break;
    case CORBA::tk_null:
        return nothing;
    default:
        break;
    }
    if (made.kind != Kind::none) {
        Key created = nothing;
        return model.create(std::move(made), created) == Refusal::none ? created : nothing;
    }
    for (Key key = first_primitive; key < first_primitive + primitives; ++key)
        if (CORBA::TypeCode_ptr const primitive = primitive_type_code(key))
            if (primitive->equal(type)) return key;
    try {
        return model.find_id(type->id());
    } catch (const CORBA::TypeCode::BadKind&) {
        return nothing;
    }
}

} // namespace kairos::repository
