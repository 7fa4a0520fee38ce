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

template <typename T>
auto at(T& items, ULong index)
{
    if (index >= items.size()) throw Bounds();
    return items.begin() + static_cast<std::ptrdiff_t>(index);
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
    items_.push_back(std::move(owned));
}

TypeCode_ptr ExceptionList::item(ULong index) const { return at(items_, index)->in(); }
void ExceptionList::remove(ULong index) { items_.erase(at(items_, index)); }

// --- ContextList ---------------------------------------------------------------------------------

ContextList_ptr ContextList::_duplicate(ContextList_ptr list)
{
    return kairos::corba::duplicate(list);
}
void release(ContextList_ptr list) { remove_owner(list); }

void ContextList::add(const char* name)
{
    if (name == nullptr) throw BAD_PARAM(0, COMPLETED_NO, "a null name in a ContextList");
    items_.emplace_back(name);
}

void ContextList::add_consume(char* name)
{
    const String_var owned = name;
    add(owned.in());
}

const char* ContextList::item(ULong index) const { return at(items_, index)->c_str(); }
void ContextList::remove(ULong index) { items_.erase(at(items_, index)); }

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
