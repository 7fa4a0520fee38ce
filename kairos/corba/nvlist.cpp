// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/nvlist.h"

namespace CORBA {

namespace {

template <typename T>
T* add_owner(T* object)
{
    if (object != nullptr) object->_add_ref();
    return object;
}

template <typename T>
void remove_owner(T* object)
{
    if (object != nullptr) object->_remove_ref();
}

void require(const void* argument)
{
    if (argument == nullptr) throw BAD_PARAM(0, COMPLETED_NO, "a null argument of an NVList");
}

} // namespace

NamedValue::NamedValue(String_var name, Any_var value, Flags flags)
    : name_(std::move(name)), value_(std::move(value)), flags_(flags)
{
}

NamedValue_ptr NamedValue::_duplicate(NamedValue_ptr value) { return add_owner(value); }
NVList_ptr NVList::_duplicate(NVList_ptr list) { return add_owner(list); }
void release(NamedValue_ptr value) { remove_owner(value); }
void release(NVList_ptr list) { remove_owner(list); }

NamedValue_ptr NVList::append(String_var name, Any_var value, Flags flags)
{
    NamedValue_var item = new NamedValue(std::move(name), std::move(value), flags);
    const ULong index = items_.length();
    items_.length(index + 1);
    items_[index] = item._retn();
    return items_[index];
}

NamedValue_ptr NVList::add(Flags flags) { return append(string_dup(""), new Any, flags); }

NamedValue_ptr NVList::add_item(const char* name, Flags flags)
{
    require(name);
    return append(string_dup(name), new Any, flags);
}

NamedValue_ptr NVList::add_value(const char* name, const Any& value, Flags flags)
{
    require(name);
    return append(string_dup(name), new Any(value), flags);
}

NamedValue_ptr NVList::add_item_consume(char* name, Flags flags)
{
    require(name);
    return append(name, new Any, flags);
}

NamedValue_ptr NVList::add_value_consume(char* name, Any* value, Flags flags)
{
    String_var own_name = name;
    Any_var own_value = value;
    require(name);
    require(value);
    return append(std::move(own_name), std::move(own_value), flags);
}

NamedValue_ptr NVList::item(ULong index) const
{
    if (index >= items_.length()) throw Bounds();
    return items_[index];
}

void NVList::remove(ULong index)
{
    if (index >= items_.length()) throw Bounds();
    kairos::corba::remove_element(items_, index);
}

} // namespace CORBA
