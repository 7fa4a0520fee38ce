// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/any_object.h"

#include "kairos/corba/core_reference.h"
#include "kairos/orb/reference.h"
#include "kairos/types/any_access.h"

namespace kairos::corba {

namespace {

using types::AnyAccess;

constexpr const types::ValueClass& object_class = types::value_class<CORBA::Object_var>;

bool is_object(CORBA::TCKind kind)
{
    return kind == CORBA::tk_objref || kind == CORBA::tk_local_interface ||
           kind == CORBA::tk_component || kind == CORBA::tk_home;
}

/// A stub like those inside that another interface asked for; null if that is not possible.
CORBA::Object_var make_stub(const CORBA::Any& any, const StubClass& stubs, bool& is_nil)
{
    if (const void* held = AnyAccess::find(any, object_class)) {
        CORBA::Object* object = static_cast<const CORBA::Object_var*>(held)->in();
        is_nil = object == nullptr;
        if (is_nil || stubs.make == nullptr || !object->_kairos_reference()) return {};
        return stubs.make(object->_kairos_reference());
    }
    if (stubs.make == nullptr) return {};
    ReferencePtr reference;
    AnyAccess::with_reader(any, [&](cdr::Reader& in) { reference = decode_core_reference(in); });
    is_nil = !reference;
    if (is_nil) return {};
    return stubs.make(reference);
}

} // namespace

void insert_object(CORBA::Any& any, CORBA::TypeCode_ptr type, CORBA::Object* adopted)
{
    const CORBA::Object_var object = adopted;
    types::insert_copy(any, type, object_class, &object);
}

bool extract_object(const CORBA::Any& any, CORBA::TypeCode_ptr type, const StubClass& stubs,
                    void*& value)
{
    if (!AnyAccess::holds(any, type)) return false;
    for (const types::AnyValue* held = AnyAccess::first(any); held != nullptr; held = held->next) {
        if (held->of != &object_class) continue;
        CORBA::Object* object = static_cast<const CORBA::Object_var*>(held->value)->in();
        void* found = object == nullptr ? nullptr : stubs.cast(object);
        if (object != nullptr && found == nullptr) continue;
        value = found;
        return true;
    }
    bool is_nil = false;
    CORBA::Object_var stub = make_stub(any, stubs, is_nil);
    if (CORBA::is_nil(stub.in()) && !is_nil) return false;
    void* found = is_nil ? nullptr : stubs.cast(stub.in());
    AnyAccess::add_copy(any, object_class, &stub);
    value = found;
    return true;
}

} // namespace kairos::corba

namespace CORBA {

void operator<<=(Any& any, Object_ptr value)
{
    kairos::corba::insert_object(any, _tc_Object, Object::_duplicate(value));
}

void operator<<=(Any& any, Object_ptr* value)
{
    if (value == nullptr) throw BAD_PARAM(0, COMPLETED_NO, "a null pointer inserted into an Any");
    kairos::corba::insert_object(any, _tc_Object, *value);
}

Boolean Any::operator>>=(to_object value) const
{
    if (!kairos::corba::is_object(kairos::types::resolved(kairos::types::type_of(*this)).kind()))
        return false;
    void* found = nullptr;
    if (!kairos::corba::extract_object(*this, type_, kairos::corba::stub_class<Object>, found))
        return false;
    value.ref = Object::_duplicate(static_cast<Object*>(found));
    return true;
}

} // namespace CORBA
