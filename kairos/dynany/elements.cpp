// SPDX-License-Identifier: Apache-2.0
#include "kairos/dynany/elements.h"

#include "kairos/dynany/bounds.h"
#include "kairos/dynany/input.h"
#include "kairos/dynany/output.h"
#include "kairos/dynany/transfer.h"
#include "kairos/types/any_access.h"

#include <algorithm>

namespace kairos::dynany {

using types::AnyAccess;

namespace {

/// Octets of a number whose values are all valid but for booleans', one behind the other; 0 for
/// other kinds.
std::size_t packed_size(CORBA::TCKind kind) noexcept
{
    switch (kind) {
    case CORBA::tk_boolean:
    case CORBA::tk_char:
    case CORBA::tk_octet:
        return 1;
    case CORBA::tk_short:
    case CORBA::tk_ushort:
        return 2;
    case CORBA::tk_long:
    case CORBA::tk_ulong:
    case CORBA::tk_float:
        return 4;
    case CORBA::tk_longlong:
    case CORBA::tk_ulonglong:
    case CORBA::tk_double:
        return 8;
    default:
        return 0;
    }
}

} // namespace

Elements::Elements(Tree& tree, const CORBA::TypeCode& type)
    : Node(tree, type), form_(is_array() ? Form::defaults : Form::components)
{
}

CORBA::TCKind Elements::element_kind() const { return types::resolved(*data().content).kind(); }

void Elements::require_length(CORBA::ULong length) const
{
    const CORBA::ULong bound = data().count;
    if (is_array() ? length != bound : bound != 0 && length > bound) raise_invalid_value();
}

void Elements::read(Input& in)
{
    if (packed_size(element_kind()) != 0) {
        CORBA::Any packed;
        AnyAccess::decode_value(in.data(), CORBA::TypeCode::_duplicate(&declared_type()), packed);
        if (!in.data().ok()) return;
        components_.clear();
        packed_ = std::move(packed);
        form_ = Form::packed;
        return;
    }
    const CORBA::ULong length = is_array() ? data().count : in.data().read<std::uint32_t>();
    if (!in.data().ok()) return;
    components_.clear();
    form_ = Form::components;
    tree().require_room(length);
    for (CORBA::ULong i = 0; i < length && in.data().ok(); ++i) {
        components_.emplace_back(make_node(tree(), *data().content));
        components_.back()->read(in);
    }
}

void Elements::write(Output& out)
{
    if (form_ == Form::defaults && packed_size(element_kind()) != 0) pack_defaults();
    if (form_ == Form::packed) return AnyAccess::encode_value(out.data(), packed_);
    require_stack();
    const Components& components = expanded();
    if (!is_array()) out.data().write(static_cast<std::uint32_t>(components.size()));
    for (const Component& component : components)
        component->write(out);
}

void Elements::pack_defaults()
{
    const std::size_t size = packed_size(element_kind());
    if (data().count > default_octets_max / size)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "an array of too many elements");
    Transfer transfer(tree());
    const std::size_t octets = size * data().count;
    std::fill_n(transfer.out().claim(octets, size), octets, std::byte{0});
    packed_ = transfer.any(declared_type());
    form_ = Form::packed;
}

Components& Elements::expanded()
{
    if (form_ == Form::components) return components_;
    const CORBA::ULong length = count();
    tree().require_room(length);
    Components components;
    components.reserve(length);
    for (CORBA::ULong i = 0; i < length; ++i)
        components.emplace_back(make_node(tree(), *data().content));
    if (form_ == Form::packed) {
        AnyAccess::with_reader(packed_, [&](cdr::Reader& reader) {
            Input in(reader);
            if (!is_array()) (void)reader.read<std::uint32_t>();
            for (const Component& component : components)
                component->read(in);
            in.finish();
        });
        packed_ = CORBA::Any();
    }
    components_ = std::move(components);
    form_ = Form::components;
    return components_;
}

CORBA::ULong Elements::count()
{
    if (is_array()) return data().count;
    if (form_ == Form::components) return static_cast<CORBA::ULong>(components_.size());
    CORBA::ULong length = 0;
    AnyAccess::with_reader(packed_, [&](cdr::Reader& in) { length = in.read<std::uint32_t>(); });
    return length;
}

bool Elements::same(Node& other, Compared& compared)
{
    require_stack();
    if (count() != other.count()) return false;
    if (packed_size(element_kind()) != 0) {
        Transfer mine(tree());
        Transfer others(other.tree());
        Output out_of_mine(mine.out(), false);
        Output out_of_others(others.out(), false);
        write(out_of_mine);
        other.write(out_of_others);
        return std::ranges::equal(mine.out().contiguous(), others.out().contiguous());
    }
    for (CORBA::ULong i = 0; i < count(); ++i)
        if (!at(i).same(other.at(i), compared)) return false;
    return true;
}

void Elements::resize(CORBA::ULong length)
{
    Components& components = expanded();
    if (length > components.size())
        tree().require_room(length - components.size());
    else
        components.erase(components.begin() + length, components.end());
    while (components.size() < length)
        components.emplace_back(make_node(tree(), *data().content));
}

// --- As sequences of the program's ---------------------------------------------------------------

namespace {

CORBA::TypeCode& type_of(const CORBA::Any& any) { return *types::pointer(AnyAccess::type(any)); }
CORBA::TypeCode& type_of(DynamicAny::DynAny_ptr object) { return node_of(object).declared_type(); }
void set_value(Node& node, const CORBA::Any& any) { node.load(any); }
void set_value(Node& node, DynamicAny::DynAny_ptr object) { node.take(node_of(object)); }

} // namespace

template <typename Sequence>
Sequence* Elements::values()
{
    (void)tree();
    typename Sequence::_var_type list = new Sequence;
    list->length(count());
    for (CORBA::ULong i = 0; i < list->length(); ++i)
        list[i] = at(i).store();
    return list._retn();
}

template <typename Sequence>
Sequence* Elements::nodes()
{
    (void)tree();
    typename Sequence::_var_type list = new Sequence;
    list->length(count());
    for (CORBA::ULong i = 0; i < list->length(); ++i)
        list[i] = DynAny::_duplicate(&at(i));
    return list._retn();
}

template <typename Sequence>
void Elements::set_elements_to(const Sequence& elements)
{
    (void)tree();
    require_length(elements.length());
    Components components;
    components.reserve(elements.length());
    for (CORBA::ULong i = 0; i < elements.length(); ++i) {
        components.emplace_back(make_node(tree(), *data().content));
        components.back()->require_type(&type_of(elements[i]));
        set_value(*components.back(), elements[i]);
    }
    components_ = std::move(components);
    packed_ = CORBA::Any();
    form_ = Form::components;
    rewind();
}

template <typename Interface>
DynamicAny::AnySeq* ElementsOf<Interface>::get_elements()
{
    return values<DynamicAny::AnySeq>();
}

template <typename Interface>
void ElementsOf<Interface>::set_elements(const DynamicAny::AnySeq& value)
{
    set_elements_to(value);
}

template <typename Interface>
DynamicAny::DynAnySeq* ElementsOf<Interface>::get_elements_as_dyn_any()
{
    return nodes<DynamicAny::DynAnySeq>();
}

template <typename Interface>
void ElementsOf<Interface>::set_elements_as_dyn_any(const DynamicAny::DynAnySeq& value)
{
    set_elements_to(value);
}

template class ElementsOf<DynamicAny::DynArray>;
template class ElementsOf<DynamicAny::DynSequence>;

CORBA::ULong Sequence::get_length() { return component_count(); }

void Sequence::set_length(CORBA::ULong len)
{
    (void)tree();
    require_length(len);
    const CORBA::ULong before = count();
    const CORBA::Long at_present = position();
    resize(len);
    // Of no position, the first new element becomes the current one.
    const bool has_new = at_present < 0 && len > before;
    (void)seek(has_new ? static_cast<CORBA::Long>(before) : at_present);
}

} // namespace kairos::dynany
