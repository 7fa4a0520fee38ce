// SPDX-License-Identifier: Apache-2.0
#include "kairos/dynany/union_node.h"

#include "kairos/dynany/input.h"
#include "kairos/dynany/output.h"

#include <limits>
#include <string_view>

namespace kairos::dynany {

namespace {

struct Range {
    CORBA::LongLong min;
    CORBA::LongLong max;
};

template <typename T>
constexpr Range range_of() noexcept
{
    return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

/// The values that a discriminator may have.
Range range_of(const types::TypeCodeData& type) noexcept
{
    switch (type.kind) {
    case CORBA::tk_boolean:
        return {0, 1};
    case CORBA::tk_enum:
        return {0, CORBA::LongLong{type.count} - 1};
    case CORBA::tk_char:
    case CORBA::tk_octet:
        return range_of<std::uint8_t>();
    case CORBA::tk_short:
        return range_of<CORBA::Short>();
    case CORBA::tk_ushort:
        return range_of<CORBA::UShort>();
    case CORBA::tk_long:
        return range_of<CORBA::Long>();
    case CORBA::tk_ulong:
        return range_of<CORBA::ULong>();
    case CORBA::tk_wchar:
        return {0, 0xD7FF}; // what every code set for wide text has
    default:
        return range_of<CORBA::LongLong>();
    }
}

} // namespace

UnionNode::UnionNode(Tree& tree, const CORBA::TypeCode& type) : Node(tree, type), active_(none())
{
    components_.emplace_back(make_node(tree, *data().content));
    // CORBA 3.3 part 1, 16.2.2: the first member.
    CORBA::LongLong label = 0;
    if (data().count == 0) return;
    if (!types::is_default_member(data(), 0)) {
        discriminator().set_number(data().numbers[0]);
    } else if (find_unused(label)) {
        discriminator().set_number(label);
    }
    follow();
}

CORBA::ULong UnionNode::selected()
{
    const Tree::Labels& labels = tree().labels(data());
    const auto found = labels.find(discriminator().number());
    if (found != labels.end()) return found->second;
    return has_default() ? static_cast<CORBA::ULong>(data().detail) : none();
}

void UnionNode::follow()
{
    const CORBA::ULong wanted = selected();
    if (wanted == active_) return;
    const types::TypeCodeMember* members = data().members;
    // A member of several labels is there once for each.
    const bool is_same = wanted != none() && active_ != none() &&
                         std::string_view(members[wanted].name) == members[active_].name &&
                         *members[wanted].name != '\0';
    active_ = wanted;
    if (is_same) return;
    components_.erase(components_.begin() + 1, components_.end());
    if (wanted != none()) components_.emplace_back(make_node(tree(), *members[wanted].type));
}

bool UnionNode::find_unused(CORBA::LongLong& label)
{
    const Tree::Labels& labels = tree().labels(data());
    const Range range = range_of(discriminator().data());
    for (label = 0; label <= range.max; ++label)
        if (!labels.contains(label)) return true;
    for (label = -1; label >= range.min; --label)
        if (!labels.contains(label)) return true;
    return false;
}

void UnionNode::read(Input& in)
{
    discriminator().read(in);
    follow();
    if (components_.size() > 1) components_[1]->read(in);
}

void UnionNode::write(Output& out)
{
    follow();
    for (const Component& component : components_)
        component->write(out);
}

bool UnionNode::same(Node& other, Compared& compared)
{
    if (count() != other.count()) return false;
    for (CORBA::ULong i = 0; i < count(); ++i)
        if (!at(i).same(other.at(i), compared)) return false;
    return true;
}

CORBA::ULong UnionNode::count()
{
    follow();
    return static_cast<CORBA::ULong>(components_.size());
}

Node& UnionNode::active()
{
    (void)tree();
    if (count() < 2) raise_invalid_value();
    return at(1);
}

DynamicAny::DynAny_ptr UnionNode::get_discriminator()
{
    (void)tree();
    return DynAny::_duplicate(&at(0));
}

void UnionNode::set_discriminator(DynamicAny::DynAny_ptr d)
{
    (void)tree();
    Node& from = node_of(d);
    at(0).require_type(&from.declared_type());
    if (&from != &at(0)) at(0).take(from);
    (void)seek(count() == 1 ? 0 : 1);
}

void UnionNode::set_to_default_member()
{
    (void)tree();
    CORBA::LongLong label = 0;
    if (!has_default() || !find_unused(label)) raise_type_mismatch();
    if (selected() != static_cast<CORBA::ULong>(data().detail)) discriminator().set_number(label);
    rewind();
}

void UnionNode::set_to_no_active_member()
{
    (void)tree();
    CORBA::LongLong label = 0;
    if (has_default() || !find_unused(label)) raise_type_mismatch();
    discriminator().set_number(label);
    rewind();
}

CORBA::Boolean UnionNode::has_no_active_member()
{
    (void)tree();
    return count() == 1;
}

CORBA::TCKind UnionNode::discriminator_kind()
{
    (void)tree();
    return at(0).kind();
}

DynamicAny::DynAny_ptr UnionNode::member() { return DynAny::_duplicate(&active()); }

char* UnionNode::member_name()
{
    (void)active();
    return CORBA::string_dup(data().members[active_].name);
}

CORBA::TCKind UnionNode::member_kind() { return active().kind(); }

} // namespace kairos::dynany
