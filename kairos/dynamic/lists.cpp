// SPDX-License-Identifier: Apache-2.0
//
// What a Request is made of, and the ORB's functions that make it.
#include "kairos/corba/orb.h"
#include "kairos/corba/request.h"
#include "kairos/types/typecode.h"

namespace CORBA {

namespace {

template <typename T>
void remove_owner(T* object)
{
    if (object != nullptr) object->_remove_ref();
}

template <typename Items>
auto at(Items& items, ULong index)
{
    if (index >= items.length()) throw Bounds();
    return items[index];
}

template <typename Items>
void remove_at(Items& items, ULong index)
{
    if (index >= items.length()) throw Bounds();
    kairos::corba::remove_element(items, index);
}

/// `adopted` is given up once there is room for it.
template <typename Items, typename Owned>
void append(Items& items, Owned& adopted)
{
    const ULong index = items.length();
    items.length(index + 1);
    items[index] = adopted._retn();
}

} // namespace

// --- ExceptionList -------------------------------------------------------------------------------

ExceptionList_ptr ExceptionList::_duplicate(ExceptionList_ptr list)
{
    return kairos::corba::duplicate(list);
}
void release(ExceptionList_ptr list) { remove_owner(list); }

void ExceptionList::add(TypeCode_ptr type) { add_consume(TypeCode::_duplicate(type)); }

void ExceptionList::add_consume(TypeCode_ptr type)
{
    TypeCode_var owned = type;
    if (is_nil(type) || kairos::types::resolved(*type).kind() != tk_except)
        throw BAD_TYPECODE(0, COMPLETED_NO, "not the TypeCode of an exception");
    append(items_, owned);
}

TypeCode_ptr ExceptionList::item(ULong index) const { return at(items_, index); }
void ExceptionList::remove(ULong index) { remove_at(items_, index); }

// --- ContextList ---------------------------------------------------------------------------------

ContextList_ptr ContextList::_duplicate(ContextList_ptr list)
{
    return kairos::corba::duplicate(list);
}
void release(ContextList_ptr list) { remove_owner(list); }

void ContextList::add(const char* name) { add_consume(string_dup(name)); }

void ContextList::add_consume(char* name)
{
    String_var owned = name;
    if (name == nullptr) throw BAD_PARAM(0, COMPLETED_NO, "a null name in a ContextList");
    append(items_, owned);
}

const char* ContextList::item(ULong index) const { return at(items_, index); }
void ContextList::remove(ULong index) { remove_at(items_, index); }

// --- UnknownUserException ------------------------------------------------------------------------

void UnknownUserException::_raise() const { throw UnknownUserException(*this); }
Exception* UnknownUserException::_duplicate() const { return new UnknownUserException(*this); }

void UnknownUserException::_marshal(kairos::cdr::Writer& out) const
{
    out.write_string(_kairos_id);
    kairos::mapping::encode(out, exception_.in());
}

// --- ORB -----------------------------------------------------------------------------------------

void ORB::create_exception_list(ExceptionList_out list)
{
    require_running();
    list = new ExceptionList;
}

void ORB::create_context_list(ContextList_out list)
{
    require_running();
    list = new ContextList;
}

} // namespace CORBA
