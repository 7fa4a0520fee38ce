// SPDX-License-Identifier: Apache-2.0
#include "kairos/values/registry.h"

namespace kairos::values {

CORBA::ValueFactory Registry::put(std::string_view id, CORBA::ValueFactory factory)
{
    factory->_add_ref();
    CORBA::ValueFactoryBase_var added = factory;
    const std::lock_guard lock(mutex_);
    std::swap(factories_[std::string(id)], added);
    return added._retn();
}

bool Registry::remove(std::string_view id)
{
    CORBA::ValueFactoryBase_var removed; // given back after the lock
    const std::lock_guard lock(mutex_);
    const auto found = factories_.find(id);
    if (found == factories_.end()) return false;
    std::swap(found->second, removed);
    factories_.erase(found);
    return true;
}

CORBA::ValueFactory Registry::find(std::string_view id) const
{
    const std::lock_guard lock(mutex_);
    const auto found = factories_.find(id);
    if (found == factories_.end()) return nullptr;
    found->second->_add_ref();
    return found->second.in();
}

} // namespace kairos::values
