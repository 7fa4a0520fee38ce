// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/typecode_factory.h"

#include "kairos/mapping/exception.h"
#include "kairos/types/typecode_graph.h"
#include "kairos/types/typecode_kinds.h"

#include <cstring>
#include <set>
#include <unordered_set>

namespace kairos::types {
namespace {

constexpr CORBA::ULong invalid_name = 15; // BAD_PARAM, CORBA 3.3 part 2, annex A
constexpr CORBA::ULong invalid_id = 16;
constexpr CORBA::ULong invalid_member_name = 17;
constexpr CORBA::ULong duplicate_label = 18;
constexpr CORBA::ULong illegal_discriminator = 20;
constexpr CORBA::ULong illegal_member_type = 2; // BAD_TYPECODE

[[noreturn]] void refuse(CORBA::ULong code, std::string_view reason)
{
    throw CORBA::BAD_PARAM(code == 0 ? 0 : mapping::omg_minor(code), CORBA::COMPLETED_NO, reason);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_identifier(std::string_view name)
{
    if (name.empty() || !(is_letter(name.front()) || name.front() == '_')) return false;
    for (const char c : name)
        if (!is_letter(c) && c != '_' && !(c >= '0' && c <= '9')) return false;
    return true;
}

void check_name(const char* name)
{
    if (name == nullptr) refuse(0, "null name");
    if (*name != '\0' && !is_identifier(name)) refuse(invalid_name, "not an IDL identifier");
}

/// "format:anything" (CORBA 3.3 part 1, 14.7).
void check_id(const char* id)
{
    if (id == nullptr) refuse(0, "null repository id");
    const char* const colon = std::strchr(id, ':');
    if (colon == nullptr || colon == id || colon[1] == '\0')
        refuse(invalid_id, "not a repository id");
}

void check_declaration(const char* id, const char* name)
{
    check_name(name);
    check_id(id);
}

/// A type as content or member: one with values, or a place holder.
void check_type(CORBA::TypeCode_ptr type)
{
    if (type == nullptr) refuse(0, "nil TypeCode");
    const TypeCodeData& data = type->_kairos_raw();
    if (!type->_kairos_is_recursive() && !has_values(data.kind))
        throw CORBA::BAD_TYPECODE(mapping::omg_minor(illegal_member_type), CORBA::COMPLETED_NO,
                                  "a type that has no values cannot be part of another");
}

/// Names are compared as IDL does: case does not tell them apart (CORBA 3.3 part 1, 7.2.3).
std::string lower_case(std::string_view name)
{
    std::string lower(name);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

/// `may_repeat` for unions, whose neighbours of the same name are labels of one member.
void check_members(std::span<const NewMember> members, bool typed, bool may_repeat)
{
    std::unordered_set<std::string> names;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const NewMember& member = members[i];
        if (member.name == nullptr) refuse(0, "null member name");
        if (typed) check_type(member.type);
        if (*member.name == '\0') continue;
        if (!is_identifier(member.name)) refuse(invalid_member_name, "not an IDL identifier");
        const bool again = !names.insert(lower_case(member.name)).second;
        const bool label =
            may_repeat && i > 0 && std::strcmp(member.name, members[i - 1].name) == 0;
        if (again && !label) refuse(invalid_member_name, "two members of one name");
    }
}

/// Builds one type, and what of its parts must be copied because the type is within them.
class Builder {
  public:
    explicit Builder(const TypeCodeData& data)
        : graph_(new TypeCodeGraph), root_(graph_->reserve()), data_(data),
          copy_(*graph_, encloses(data.kind) ? data.id : "", *root_)
    {
        data_.id = graph_->text(data.id);
        data_.name = graph_->text(data.name);
        if (data.content != nullptr) data_.content = copy_(data.content);
    }

    void add(std::span<const NewMember> members, bool numbered)
    {
        auto* const own = graph_->array<TypeCodeMember>(members.size());
        auto* const numbers = numbered ? graph_->array<std::int64_t>(members.size()) : nullptr;
        for (std::size_t i = 0; i < members.size(); ++i) {
            own[i] = {graph_->text(members[i].name),
                      members[i].type == nullptr ? nullptr : copy_(members[i].type)};
            if (numbered) numbers[i] = members[i].number;
        }
        data_.count = static_cast<CORBA::ULong>(members.size());
        data_.members = own;
        data_.numbers = numbers;
    }

    [[nodiscard]] CORBA::TypeCode_ptr finish()
    {
        copy_.finish();
        graph_->make(root_, data_);
        if (!copy_.replaced().empty()) {
            if (any_contains_itself({root_}))
                throw CORBA::BAD_TYPECODE(mapping::omg_minor(illegal_member_type),
                                          CORBA::COMPLETED_NO, "a type that contains itself");
            for (const CORBA::TypeCode* place_holder : copy_.replaced())
                place_holder->_kairos_raw().graph->bind(*root_);
        }
        (void)graph_.release(); // now the caller's
        return root_;
    }

  private:
    /// Whether place holders of its id stand for a type of this kind.
    static bool encloses(CORBA::TCKind kind)
    {
        return is_aggregate(kind) && kind != CORBA::tk_except;
    }

    GraphPtr graph_;
    CORBA::TypeCode* root_;
    TypeCodeData data_;
    GraphCopy copy_;
};

/// Whether not every number is a value of the type.
bool has_few_values(const TypeCodeData& discriminator)
{
    return discriminator.kind == CORBA::tk_boolean || discriminator.kind == CORBA::tk_enum;
}

void check_labels(const TypeCodeData& discriminator, std::span<const NewMember> members,
                  CORBA::Long default_index)
{
    const std::int64_t values = discriminator.kind == CORBA::tk_boolean ? 2 : discriminator.count;
    std::set<std::int64_t> labels;
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (default_index >= 0 && static_cast<std::size_t>(default_index) == i) continue;
        const std::int64_t label = members[i].number;
        if (has_few_values(discriminator) && (label < 0 || label >= values))
            refuse(0, "a label that is no value of the discriminator's type");
        if (!labels.insert(label).second) refuse(duplicate_label, "two members of one label");
    }
}

} // namespace

CORBA::TypeCode_ptr make_struct(CORBA::TCKind kind, const char* id, const char* name,
                                std::span<const NewMember> members)
{
    check_declaration(id, name);
    check_members(members, true, false);
    Builder builder({.kind = kind, .id = id, .name = name});
    builder.add(members, false);
    return builder.finish();
}

CORBA::TypeCode_ptr make_union(const char* id, const char* name, CORBA::TypeCode_ptr discriminator,
                               std::span<const NewMember> members, CORBA::Long default_index)
{
    check_declaration(id, name);
    if (discriminator == nullptr) refuse(0, "nil TypeCode");
    const TypeCodeData& selecting = resolved(*discriminator)._kairos_raw();
    if (!is_discriminator(selecting.kind))
        refuse(illegal_discriminator, "not the type of a discriminator");
    check_members(members, true, true);
    if (default_index < -1 || default_index >= static_cast<std::int64_t>(members.size()))
        refuse(0, "no member has the index of the default member");
    check_labels(selecting, members, default_index);
    Builder builder({.kind = CORBA::tk_union,
                     .detail = default_index,
                     .id = id,
                     .name = name,
                     .content = discriminator});
    builder.add(members, true);
    return builder.finish();
}

CORBA::TypeCode_ptr make_enum(const char* id, const char* name, std::span<const NewMember> members)
{
    check_declaration(id, name);
    check_members(members, false, false);
    Builder builder({.kind = CORBA::tk_enum, .id = id, .name = name});
    builder.add(members, false);
    return builder.finish();
}

CORBA::TypeCode_ptr make_alias(CORBA::TCKind kind, const char* id, const char* name,
                               CORBA::TypeCode_ptr original)
{
    check_declaration(id, name);
    check_type(original);
    return Builder({.kind = kind, .id = id, .name = name, .content = original}).finish();
}

CORBA::TypeCode_ptr make_value(CORBA::TCKind kind, const char* id, const char* name,
                               CORBA::ValueModifier modifier, CORBA::TypeCode_ptr base,
                               std::span<const NewMember> members)
{
    check_declaration(id, name);
    if (modifier < CORBA::VM_NONE || modifier > CORBA::VM_TRUNCATABLE)
        refuse(0, "not a ValueModifier");
    if (base != nullptr && base->kind() == CORBA::tk_null) base = nullptr;
    if (base != nullptr && !is_value(base->kind()))
        throw CORBA::BAD_TYPECODE(mapping::omg_minor(illegal_member_type), CORBA::COMPLETED_NO,
                                  "the base of a value type is no value type");
    check_members(members, true, false);
    for (const NewMember& member : members)
        if (member.number != CORBA::PRIVATE_MEMBER && member.number != CORBA::PUBLIC_MEMBER)
            refuse(0, "not a Visibility");
    Builder builder({.kind = kind, .detail = modifier, .id = id, .name = name, .content = base});
    builder.add(members, true);
    return builder.finish();
}

CORBA::TypeCode_ptr make_named(CORBA::TCKind kind, const char* id, const char* name)
{
    check_declaration(id, name);
    return Builder(named_type(kind, id, name)).finish();
}

CORBA::TypeCode_ptr make_text(CORBA::TCKind kind, CORBA::ULong bound)
{
    if (bound == 0) return kind == CORBA::tk_string ? CORBA::_tc_string : CORBA::_tc_wstring;
    return Builder(text_type(kind, bound)).finish();
}

CORBA::TypeCode_ptr make_fixed(CORBA::UShort digits, CORBA::Short scale)
{
    if (!is_fixed(digits, scale)) refuse(0, "IDL has no such fixed-point type");
    return Builder(fixed_type(digits, scale)).finish();
}

CORBA::TypeCode_ptr make_elements(CORBA::TCKind kind, CORBA::ULong length,
                                  CORBA::TypeCode_ptr element)
{
    check_type(element);
    if (kind == CORBA::tk_array && length == 0) refuse(0, "an array of no elements");
    return Builder({.kind = kind, .count = length, .content = element}).finish();
}

CORBA::TypeCode_ptr make_recursive(const char* id)
{
    check_id(id);
    GraphPtr graph(new TypeCodeGraph);
    TypeCodeData data{.kind = CORBA::TypeCode::recursive, .id = graph->text(id)};
    CORBA::TypeCode* const place_holder = graph->reserve();
    graph->make(place_holder, data);
    graph->mark_open();
    (void)graph.release(); // now the caller's
    return place_holder;
}

} // namespace kairos::types
