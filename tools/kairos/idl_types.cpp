// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/idl_types.h"

#include "kairos/types/typecode_factory.h"

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace kairos::tools {
namespace {

CORBA::TypeCode_ptr basic(idlc::TypeKind kind)
{
    using enum idlc::TypeKind;
    switch (kind) {
    case void_:
        return CORBA::_tc_void;
    case boolean:
        return CORBA::_tc_boolean;
    case char_:
        return CORBA::_tc_char;
    case wchar:
        return CORBA::_tc_wchar;
    case octet:
    case int8: // as on the wire
    case uint8:
        return CORBA::_tc_octet;
    case short_:
        return CORBA::_tc_short;
    case unsigned_short:
        return CORBA::_tc_ushort;
    case long_:
        return CORBA::_tc_long;
    case unsigned_long:
        return CORBA::_tc_ulong;
    case long_long:
        return CORBA::_tc_longlong;
    case unsigned_long_long:
        return CORBA::_tc_ulonglong;
    case float_:
        return CORBA::_tc_float;
    case double_:
        return CORBA::_tc_double;
    case long_double:
        return CORBA::_tc_longdouble;
    case any:
        return CORBA::_tc_any;
    case object:
        return CORBA::_tc_Object;
    case value_base:
        return CORBA::_tc_ValueBase;
    case type_code:
        return CORBA::_tc_TypeCode;
    default:
        return CORBA::TypeCode::_nil();
    }
}

CORBA::ULong bound_of(std::uint64_t bound)
{
    if (bound > std::numeric_limits<CORBA::ULong>::max()) throw CORBA::BAD_TYPECODE();
    return static_cast<CORBA::ULong>(bound);
}

} // namespace

/// Members and the types that they borrow.
template <typename Members>
struct IdlTypes::Made {
    explicit Made(const Members& members, IdlTypes& idl)
    {
        types.reserve(members.size());
        for (const auto& each : members) {
            const idlc::Member& member = member_of(each);
            types.push_back(idl.of(*member.type));
            list.push_back({.name = member.name.c_str(), .type = types.back().in()});
        }
    }

    static const idlc::Member& member_of(const idlc::Member& member) { return member; }
    static const idlc::Member& member_of(const idlc::StateMember& member) { return member.member; }

    std::vector<CORBA::TypeCode_var> types;
    std::vector<types::NewMember> list;
};

CORBA::TypeCode_var IdlTypes::of(const idlc::Type& type)
{
    using enum idlc::TypeKind;
    switch (type.kind) {
    case string:
        return types::make_text(CORBA::tk_string, bound_of(type.bound));
    case wstring:
        return types::make_text(CORBA::tk_wstring, bound_of(type.bound));
    case fixed:
        return types::make_fixed(type.digits, type.scale);
    case sequence: {
        const CORBA::TypeCode_var element = of(*type.element);
        return types::make_elements(CORBA::tk_sequence, bound_of(type.bound), element.in());
    }
    case array: {
        CORBA::TypeCode_var element = of(*type.element);
        for (auto length = type.dimensions.rbegin(); length != type.dimensions.rend(); ++length)
            element = types::make_elements(CORBA::tk_array, bound_of(*length), element.in());
        return element;
    }
    case declared:
        return of(*type.declaration);
    default:
        return CORBA::TypeCode::_duplicate(basic(type.kind));
    }
}

CORBA::TypeCode_var IdlTypes::of(const idlc::Declaration& declaration)
{
    if (const auto found = made_.find(&declaration); found != made_.end()) return found->second;
    const auto open = std::ranges::find(open_, &declaration);
    if (open != open_.end()) {
        refers_to_ = std::min(refers_to_, static_cast<std::size_t>(open - open_.begin()));
        return types::make_recursive(declaration.repository_id.c_str());
    }
    const std::size_t own = open_.size();
    const std::size_t before = std::exchange(refers_to_, own);
    // A TypeCode leads back to these alone.
    const bool may_recur = declaration.kind == idlc::DeclarationKind::struct_ ||
                           declaration.kind == idlc::DeclarationKind::union_ ||
                           declaration.kind == idlc::DeclarationKind::value_type;
    if (may_recur) open_.push_back(&declaration);
    CORBA::TypeCode_var type = make(declaration);
    if (may_recur) open_.pop_back();
    if (refers_to_ >= own) {
        made_.emplace(&declaration, type);
        refers_to_ = before;
    } else {
        refers_to_ = std::min(refers_to_, before);
    }
    return type;
}

CORBA::TypeCode_var IdlTypes::make(const idlc::Declaration& declaration)
{
    const char* const id = declaration.repository_id.c_str();
    const char* const name = declaration.name.c_str();
    switch (declaration.kind) {
    case idlc::DeclarationKind::struct_: {
        const auto& type = static_cast<const idlc::Struct&>(declaration);
        std::vector<idlc::Member> members; // those of its bases first
        for (const idlc::Struct* from = &type; from != nullptr; from = from->base)
            members.insert(members.begin(), from->members.begin(), from->members.end());
        const Made made(members, *this);
        return types::make_struct(CORBA::tk_struct, id, name, made.list);
    }
    case idlc::DeclarationKind::exception: {
        const Made made(static_cast<const idlc::Exception&>(declaration).members, *this);
        return types::make_struct(CORBA::tk_except, id, name, made.list);
    }
    case idlc::DeclarationKind::union_:
        return make_union(static_cast<const idlc::Union&>(declaration));
    case idlc::DeclarationKind::enum_: {
        std::vector<types::NewMember> members;
        for (const idlc::Enumerator* each : static_cast<const idlc::Enum&>(declaration).enumerators)
            members.push_back({.name = each->name.c_str()});
        return types::make_enum(id, name, members);
    }
    case idlc::DeclarationKind::alias: {
        const CORBA::TypeCode_var original = of(*static_cast<const idlc::Alias&>(declaration).type);
        return types::make_alias(CORBA::tk_alias, id, name, original.in());
    }
    case idlc::DeclarationKind::value_box: {
        const CORBA::TypeCode_var boxed = of(*static_cast<const idlc::ValueBox&>(declaration).type);
        return types::make_alias(CORBA::tk_value_box, id, name, boxed.in());
    }
    case idlc::DeclarationKind::value_type:
        return make_value(static_cast<const idlc::ValueType&>(declaration));
    case idlc::DeclarationKind::interface: {
        const auto& type = static_cast<const idlc::Interface&>(declaration);
        const CORBA::TCKind kind = type.is_abstract ? CORBA::tk_abstract_interface
                                   : type.is_local  ? CORBA::tk_local_interface
                                                    : CORBA::tk_objref;
        return types::make_named(kind, id, name);
    }
    case idlc::DeclarationKind::native:
        return types::make_named(CORBA::tk_native, id, name);
    default:
        throw CORBA::BAD_TYPECODE();
    }
}

CORBA::TypeCode_var IdlTypes::make_union(const idlc::Union& type)
{
    const CORBA::TypeCode_var discriminator = of(*type.discriminator);
    std::vector<CORBA::TypeCode_var> member_types;
    member_types.reserve(type.cases.size());
    std::vector<types::NewMember> members; // one for each label
    CORBA::Long default_index = -1;
    for (const idlc::UnionCase& each : type.cases) {
        member_types.push_back(of(*each.member.type));
        for (const idlc::CaseLabel& label : each.labels) {
            if (label.is_default) default_index = static_cast<CORBA::Long>(members.size());
            members.push_back({.name = each.member.name.c_str(),
                               .type = member_types.back().in(),
                               .number = idlc::label_code(label.value).value_or(0)});
        }
    }
    return types::make_union(type.repository_id.c_str(), type.name.c_str(), discriminator.in(),
                             members, default_index);
}

CORBA::TypeCode_var IdlTypes::make_value(const idlc::ValueType& type)
{
    CORBA::TypeCode_var base;
    if (const idlc::ValueType* concrete = idlc::concrete_base(type)) base = of(*concrete);
    Made made(type.members, *this);
    for (std::size_t i = 0; i < made.list.size(); ++i)
        made.list[i].number =
            type.members[i].is_public ? CORBA::PUBLIC_MEMBER : CORBA::PRIVATE_MEMBER;
    const CORBA::ValueModifier modifier = type.is_custom        ? CORBA::VM_CUSTOM
                                          : type.is_abstract    ? CORBA::VM_ABSTRACT
                                          : type.is_truncatable ? CORBA::VM_TRUNCATABLE
                                                                : CORBA::VM_NONE;
    return types::make_value(CORBA::tk_value, type.repository_id.c_str(), type.name.c_str(),
                             modifier, base.in(), made.list);
}

} // namespace kairos::tools
