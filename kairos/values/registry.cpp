// SPDX-License-Identifier: Apache-2.0
#include "kairos/values/registry.h"

#include <utility>

namespace kairos::values {

// --- Boxes -------------------------------------------------------------------------------------

namespace {

// Before any initialiser runs, and after all destructors did.
constinit std::mutex boxes_mutex; // guards first_box
constinit KnownBox* first_box = nullptr;

} // namespace

KnownBox::KnownBox(const Type& type) noexcept : type_(type)
{
    const std::lock_guard lock(boxes_mutex);
    next_ = std::exchange(first_box, this);
}

KnownBox::~KnownBox()
{
    const std::lock_guard lock(boxes_mutex);
    KnownBox** place = &first_box;
    while (*place != this)
        place = &(*place)->next_;
    *place = next_;
}

const Type* known_box(std::string_view id) noexcept
{
    const std::lock_guard lock(boxes_mutex);
    for (const KnownBox* box = first_box; box != nullptr; box = box->next_)
        if (box->type_.id == id) return &box->type_;
    return nullptr;
}

// --- Factories ---------------------------------------------------------------------------------

CORBA::ValueFactory Registry::put(std::string_view id, CORBA::ValueFactory factory)
{
    if (shared_ != nullptr) return shared_->put(id, factory);
    factory->_add_ref();
    CORBA::ValueFactoryBase_var added = factory;
    const std::lock_guard lock(mutex_);
    std::swap(factories_[std::string(id)], added);
    return added._retn();
}

bool Registry::remove(std::string_view id)
{
    if (shared_ != nullptr) return shared_->remove(id);
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
    if (shared_ != nullptr) return shared_->find(id);
    const std::lock_guard lock(mutex_);
    const auto found = factories_.find(id);
    if (found == factories_.end()) return nullptr;
    found->second->_add_ref();
    return found->second.in();
}

} // namespace kairos::values
