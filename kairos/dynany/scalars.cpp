// SPDX-License-Identifier: Apache-2.0
//
// insert_… and get_… of one value (CORBA 3.3 part 1, 16.2.3.8 and 16.2.3.9): the DynAny's own, or
// that of its current component.
#include "kairos/corba/abstract_base.h"
#include "kairos/corba/any_object.h"
#include "kairos/corba/valuetypes.h"
#include "kairos/dynany/leaf.h"
#include "kairos/dynany/value_node.h"
#include "kairos/types/any_access.h"

#include <string_view>

namespace kairos::dynany {

using CORBA::Any;

Leaf& Node::leaf(CORBA::TCKind kind)
{
    (void)tree();
    Leaf* leaf = as_leaf();
    if (leaf == nullptr) leaf = current().as_leaf();
    if (leaf == nullptr || leaf->kind() != kind) raise_type_mismatch();
    return *leaf;
}

ValueNode& Node::value()
{
    (void)tree();
    ValueNode* value = as_value();
    if (value == nullptr) value = current().as_value();
    if (value == nullptr) raise_type_mismatch();
    return *value;
}

template <typename T>
void Node::insert(CORBA::TCKind kind, const T& value)
{
    leaf(kind).set(value);
}

template <typename T>
T Node::get(CORBA::TCKind kind)
{
    T value{};
    if (!(leaf(kind).value() >>= value)) raise_invalid_value();
    return value;
}

void Node::insert_boolean(CORBA::Boolean value)
{
    insert(CORBA::tk_boolean, Any::from_boolean(value));
}
void Node::insert_octet(CORBA::Octet value) { insert(CORBA::tk_octet, Any::from_octet(value)); }
void Node::insert_char(CORBA::Char value) { insert(CORBA::tk_char, Any::from_char(value)); }
void Node::insert_short(CORBA::Short value) { insert(CORBA::tk_short, value); }
void Node::insert_ushort(CORBA::UShort value) { insert(CORBA::tk_ushort, value); }
void Node::insert_long(CORBA::Long value) { insert(CORBA::tk_long, value); }
void Node::insert_ulong(CORBA::ULong value) { insert(CORBA::tk_ulong, value); }
void Node::insert_float(CORBA::Float value) { insert(CORBA::tk_float, value); }
void Node::insert_double(CORBA::Double value) { insert(CORBA::tk_double, value); }
void Node::insert_longlong(CORBA::LongLong value) { insert(CORBA::tk_longlong, value); }
void Node::insert_ulonglong(CORBA::ULongLong value) { insert(CORBA::tk_ulonglong, value); }
void Node::insert_longdouble(CORBA::LongDouble value) { insert(CORBA::tk_longdouble, value); }
void Node::insert_wchar(CORBA::WChar value) { insert(CORBA::tk_wchar, Any::from_wchar(value)); }
void Node::insert_typecode(CORBA::TypeCode_ptr value) { insert(CORBA::tk_TypeCode, value); }
void Node::insert_any(const CORBA::Any& value) { insert(CORBA::tk_any, value); }

CORBA::Short Node::get_short() { return get<CORBA::Short>(CORBA::tk_short); }
CORBA::UShort Node::get_ushort() { return get<CORBA::UShort>(CORBA::tk_ushort); }
CORBA::Long Node::get_long() { return get<CORBA::Long>(CORBA::tk_long); }
CORBA::ULong Node::get_ulong() { return get<CORBA::ULong>(CORBA::tk_ulong); }
CORBA::Float Node::get_float() { return get<CORBA::Float>(CORBA::tk_float); }
CORBA::Double Node::get_double() { return get<CORBA::Double>(CORBA::tk_double); }
CORBA::LongLong Node::get_longlong() { return get<CORBA::LongLong>(CORBA::tk_longlong); }
CORBA::ULongLong Node::get_ulonglong() { return get<CORBA::ULongLong>(CORBA::tk_ulonglong); }
CORBA::LongDouble Node::get_longdouble() { return get<CORBA::LongDouble>(CORBA::tk_longdouble); }

CORBA::Boolean Node::get_boolean()
{
    CORBA::Boolean value = false;
    (void)(leaf(CORBA::tk_boolean).value() >>= Any::to_boolean(value));
    return value;
}

CORBA::Octet Node::get_octet()
{
    CORBA::Octet value = 0;
    (void)(leaf(CORBA::tk_octet).value() >>= Any::to_octet(value));
    return value;
}

CORBA::Char Node::get_char()
{
    CORBA::Char value = 0;
    (void)(leaf(CORBA::tk_char).value() >>= Any::to_char(value));
    return value;
}

CORBA::WChar Node::get_wchar()
{
    CORBA::WChar value = 0;
    (void)(leaf(CORBA::tk_wchar).value() >>= Any::to_wchar(value));
    return value;
}

// --- Texts ---------------------------------------------------------------------------------------

void Node::insert_string(const char* value)
{
    Leaf& text = leaf(CORBA::tk_string);
    const CORBA::ULong bound = text.data().count;
    if (value == nullptr || (bound != 0 && std::string_view(value).size() > bound))
        raise_invalid_value();
    text.set(Any::from_string(value, bound));
}

void Node::insert_wstring(const CORBA::WChar* value)
{
    Leaf& text = leaf(CORBA::tk_wstring);
    const CORBA::ULong bound = text.data().count;
    if (value == nullptr || (bound != 0 && std::wstring_view(value).size() > bound))
        raise_invalid_value();
    text.set(Any::from_wstring(value, bound));
}

char* Node::get_string()
{
    const Leaf& text = leaf(CORBA::tk_string);
    const char* value = "";
    (void)(text.value() >>= Any::to_string(value, text.data().count));
    return CORBA::string_dup(value);
}

CORBA::WChar* Node::get_wstring()
{
    const Leaf& text = leaf(CORBA::tk_wstring);
    const CORBA::WChar* value = L"";
    (void)(text.value() >>= Any::to_wstring(value, text.data().count));
    return CORBA::wstring_dup(value);
}

// --- References, TypeCodes, Anys -----------------------------------------------------------------

void Node::insert_reference(CORBA::Object_ptr value)
{
    Leaf& reference = leaf(CORBA::tk_objref);
    Any any;
    corba::insert_object(any, &reference.declared_type(), CORBA::Object::_duplicate(value));
    reference.set_any(any);
}

CORBA::Object_ptr Node::get_reference()
{
    CORBA::Object_var value;
    (void)(leaf(CORBA::tk_objref).value() >>= Any::to_object(value.out()));
    return value._retn();
}

CORBA::TypeCode_ptr Node::get_typecode()
{
    return CORBA::TypeCode::_duplicate(get<CORBA::TypeCode_ptr>(CORBA::tk_TypeCode));
}

CORBA::Any* Node::get_any() { return new Any(*get<const Any*>(CORBA::tk_any)); }

void Node::insert_dyn_any(DynamicAny::DynAny_ptr value) { insert_any(node_of(value).store()); }

DynamicAny::DynAny_ptr Node::get_dyn_any()
{
    const Any& inner = *get<const Any*>(CORBA::tk_any);
    try {
        return DynAny::_duplicate(dynany::make_root(tree().core(), inner).get());
    } catch (const DynamicAny::DynAnyFactory::InconsistentTypeCode&) {
        raise_type_mismatch(); // there are no DynAnys of it
    }
}

// --- Values and abstract interfaces --------------------------------------------------------------

void Node::insert_val(CORBA::ValueBase* value)
{
    ValueNode& place = this->value();
    const std::string_view wanted = place.data().id;
    const values::Type* type = value == nullptr ? nullptr : &value->_kairos_type();
    while (type != nullptr && wanted != type->id) {
        type = type->truncated;
        if (type == nullptr) raise_type_mismatch();
    }
    Any any;
    values::insert_value(any, &place.declared_type(), value);
    place.load(any);
}

CORBA::ValueBase* Node::get_val()
{
    const Any any = value().store();
    CORBA::ValueBase* found = nullptr;
    (void)(any >>= Any::to_value(found));
    return found;
}

void Node::insert_abstract(CORBA::AbstractBase_ptr value)
{
    Leaf& place = leaf(CORBA::tk_abstract_interface);
    Any any;
    corba::insert_abstract(any, &place.declared_type(), value);
    place.set_any(any);
}

CORBA::AbstractBase_ptr Node::get_abstract()
{
    CORBA::AbstractBase_ptr found = nullptr;
    (void)(leaf(CORBA::tk_abstract_interface).value() >>= Any::to_abstract_base(found));
    return found;
}

} // namespace kairos::dynany
