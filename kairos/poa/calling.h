// SPDX-License-Identifier: Apache-2.0
//
// The request that the calling thread is serving, as PortableServer::Current tells of it: on the
// stack of the upcall, one within the other where servants call each other. Used by one thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/orb/orb.h"
#include "kairos/poa/object_map.h"

namespace kairos::poa {

class Adapter;

class Calling final : public orb::UpcallScope {
  public:
    /// Says that the servant of an active object is called. All are borrowed.
    Calling(Adapter& adapter, const ObjectMap::Entry& entry) noexcept
        : adapter_(adapter), entry_(&entry) // what is left out is not read
    {
    }
    /// Says that a servant is called that serves this one request, for the object of this id.
    Calling(Adapter& adapter, Servant& servant, Bytes id) noexcept
        : adapter_(adapter), entry_(nullptr), servant_(&servant), id_data_(id.data()),
          id_size_(id.size())
    {
    }
    /// Says that a servant manager or an adapter activator is called: there is no object to tell
    /// of.
    explicit Calling(Adapter& adapter) noexcept
        : adapter_(adapter), entry_(nullptr), servant_(nullptr)
    {
    }

    [[nodiscard]] static const Calling* innermost() noexcept
    {
        return static_cast<const Calling*>(UpcallScope::innermost());
    }
    [[nodiscard]] const Calling* outer() const noexcept
    {
        return static_cast<const Calling*>(UpcallScope::outer());
    }

    [[nodiscard]] Adapter& adapter() const noexcept { return adapter_; }
    /// Returns the servant that is called; null unless an object is called.
    [[nodiscard]] Servant* servant() const noexcept
    {
        return entry_ != nullptr ? &entry_->servant() : servant_;
    }
    /// Returns the entered object if it is in a map; else null.
    [[nodiscard]] const ObjectMap::Entry* entry() const noexcept { return entry_; }
    /// Returns the id of an object that is in no map.
    [[nodiscard]] Bytes id() const noexcept { return {id_data_, id_size_}; }

  private:
    Adapter& adapter_;
    const ObjectMap::Entry* const entry_;
    Servant* servant_;
    const std::byte* id_data_;
    std::size_t id_size_;
};

/// Returns whether the calling thread is serving a request of this ORB, perhaps from within
/// requests of others.
[[nodiscard]] KAIROS_API bool in_upcall_of(const orb::Orb& orb) noexcept;

} // namespace kairos::poa
