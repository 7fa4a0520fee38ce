// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/typecode.h"

#include "kairos/mapping/exception.h"
#include "kairos/types/typecode_graph.h"
#include "kairos/types/typecode_kinds.h"

#include <cstring>
#include <set>
#include <utility>
#include <vector>

using kairos::types::TypeCodeData;

namespace kairos::types {
namespace {

void require(bool has_parameter)
{
    if (!has_parameter) throw CORBA::TypeCode::BadKind();
}

/// Whether two TypeCodes are equal or equivalent. Iterative, and a pair is looked at once, so that
/// recursive types end and those that share parts cost no more than they are large.
class Comparison {
  public:
    explicit Comparison(bool exact) : exact_(exact) {}

    bool operator()(const CORBA::TypeCode* left, const CORBA::TypeCode* right)
    {
        later(left, right);
        while (!pairs_.empty()) {
            const auto [a, b] = pairs_.back();
            pairs_.pop_back();
            if (!compare(*a, *b)) return false;
        }
        return true;
    }

  private:
    using Pair = std::pair<const CORBA::TypeCode*, const CORBA::TypeCode*>;

    void later(const CORBA::TypeCode* left, const CORBA::TypeCode* right)
    {
        if (left != right) pairs_.emplace_back(left, right);
    }
    bool compare(const CORBA::TypeCode& left, const CORBA::TypeCode& right);
    bool compare_members(const TypeCodeData& left, const TypeCodeData& right);

    const bool exact_; // names and aliases matter
    std::vector<Pair> pairs_;
    std::set<Pair> seen_;
};

bool same(const char* left, const char* right)
{
    return left == right || std::strcmp(left, right) == 0;
}

/// CORBA 3.3 part 1, 8.11.1: the rules of equal and equivalent, in their order.
bool Comparison::compare(const CORBA::TypeCode& left, const CORBA::TypeCode& right)
{
    const TypeCodeData& a = (exact_ ? left : resolved(left))._kairos_data();
    const TypeCodeData& b = (exact_ ? right : resolved(right))._kairos_data();
    if (&a == &b) return true;
    if (a.kind != b.kind) return false;
    if (has_id(a.kind)) {
        if (exact_) {
            if (!same(a.id, b.id) || !same(a.name, b.name)) return false;
        } else if (*a.id != '\0' && *b.id != '\0') {
            return same(a.id, b.id);
        }
    }
    if (a.count != b.count || a.detail != b.detail) return false;
    if ((a.content == nullptr) != (b.content == nullptr)) return false;
    if (a.content != nullptr) later(a.content, b.content);
    return !has_members(a.kind) || !seen_.emplace(&left, &right).second || compare_members(a, b);
}

bool Comparison::compare_members(const TypeCodeData& left, const TypeCodeData& right)
{
    for (CORBA::ULong i = 0; i < left.count; ++i) {
        if (exact_ && !same(left.members[i].name, right.members[i].name)) return false;
        if (left.numbers != nullptr && left.numbers[i] != right.numbers[i] &&
            !(left.kind == CORBA::tk_union && is_default_member(left, i)))
            return false;
        if (left.members[i].type != nullptr) later(left.members[i].type, right.members[i].type);
    }
    return true;
}

} // namespace

const CORBA::TypeCode& resolved(const CORBA::TypeCode& type)
{
    const CORBA::TypeCode* actual = &type;
    for (;;) {
        if (actual->_kairos_is_recursive()) actual = &actual->_kairos_bound();
        const TypeCodeData& data = actual->_kairos_raw();
        if (data.kind != CORBA::tk_alias) return *actual;
        actual = data.content;
    }
}

} // namespace kairos::types

namespace CORBA {
namespace {

using namespace kairos::types;

TypeCode_ptr owned(const TypeCode* type)
{
    return type == nullptr ? nullptr : TypeCode::_duplicate(pointer(*type));
}

} // namespace

TypeCode_ptr TypeCode::_duplicate(TypeCode_ptr type)
{
    if (type != nullptr && type->data_.graph != nullptr) type->data_.graph->retain();
    return type;
}

void release(TypeCode_ptr type)
{
    if (type == nullptr) return;
    TypeCodeGraph* const graph = type->_kairos_raw().graph;
    if (graph != nullptr) TypeCodeGraph::release(graph);
}

const TypeCode& TypeCode::_kairos_bound() const
{
    const TypeCode* const bound = data_.graph->bound();
    if (bound == nullptr)
        throw BAD_TYPECODE(kairos::mapping::omg_minor(1), COMPLETED_NO,
                           "a recursive TypeCode that no type of its id encloses yet");
    return *bound;
}

Boolean TypeCode::equal(TypeCode_ptr other) const
{
    if (other == nullptr) throw BAD_PARAM(0, COMPLETED_NO, "nil TypeCode");
    return Comparison(true)(this, other);
}

Boolean TypeCode::equivalent(TypeCode_ptr other) const
{
    if (other == nullptr) throw BAD_PARAM(0, COMPLETED_NO, "nil TypeCode");
    return Comparison(false)(this, other);
}

TypeCode_ptr TypeCode::get_compact_typecode() const
{
    const GraphPtr graph(new TypeCodeGraph);
    GraphCopy copy(*graph, GraphCopy::Mode::compact);
    const TypeCode* const compact = copy(this);
    copy.finish();
    return owned(compact);
}

const char* TypeCode::id() const
{
    const TypeCodeData& data = _kairos_data();
    require(has_id(data.kind));
    return data.id;
}

const char* TypeCode::name() const
{
    const TypeCodeData& data = _kairos_data();
    require(has_id(data.kind));
    return data.name;
}

ULong TypeCode::member_count() const
{
    const TypeCodeData& data = _kairos_data();
    require(has_members(data.kind));
    return data.count;
}

const TypeCodeMember& TypeCode::member(ULong index) const
{
    if (index >= member_count()) throw Bounds();
    return _kairos_data().members[index];
}

const char* TypeCode::member_name(ULong index) const { return member(index).name; }

TypeCode_ptr TypeCode::member_type(ULong index) const
{
    require(kind() != tk_enum);
    return owned(member(index).type);
}

Visibility TypeCode::member_visibility(ULong index) const
{
    const TypeCodeData& data = _kairos_data();
    require(is_value(data.kind));
    if (index >= data.count) throw Bounds();
    return static_cast<Visibility>(data.numbers[index]);
}

TypeCode_ptr TypeCode::discriminator_type() const
{
    const TypeCodeData& data = _kairos_data();
    require(data.kind == tk_union);
    return owned(data.content);
}

Long TypeCode::default_index() const
{
    const TypeCodeData& data = _kairos_data();
    require(data.kind == tk_union);
    return data.detail;
}

LongLong TypeCode::_kairos_label(ULong index) const
{
    const TypeCodeData& data = _kairos_data();
    require(data.kind == tk_union);
    if (index >= data.count) throw Bounds();
    return data.numbers[index];
}

ULong TypeCode::length() const
{
    const TypeCodeData& data = _kairos_data();
    require(data.kind == tk_string || data.kind == tk_wstring || data.kind == tk_sequence ||
            data.kind == tk_array);
    return data.count;
}

TypeCode_ptr TypeCode::content_type() const
{
    const TypeCodeData& data = _kairos_data();
    require(has_content(data.kind));
    return owned(data.content);
}

UShort TypeCode::fixed_digits() const
{
    const TypeCodeData& data = _kairos_data();
    require(data.kind == tk_fixed);
    return static_cast<UShort>(data.count);
}

Short TypeCode::fixed_scale() const
{
    const TypeCodeData& data = _kairos_data();
    require(data.kind == tk_fixed);
    return static_cast<Short>(data.detail);
}

ValueModifier TypeCode::type_modifier() const
{
    const TypeCodeData& data = _kairos_data();
    require(is_value(data.kind));
    return static_cast<ValueModifier>(data.detail);
}

TypeCode_ptr TypeCode::concrete_base_type() const
{
    const TypeCodeData& data = _kairos_data();
    require(is_value(data.kind));
    return owned(data.content);
}

} // namespace CORBA
