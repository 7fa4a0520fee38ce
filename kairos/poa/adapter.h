// SPDX-License-Identifier: Apache-2.0
//
// A Portable Object Adapter with the policies of the RootPOA: unique and system-assigned ids,
// retained, transient, implicit activation (CORBA 3.3 part 1, 15.3.8). Between dispatch and servant
// it does one thing: key to servant. Station 9 of the request walk (docs/TOUR.md). Any thread.
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/ior/object_key.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/orb.h"
#include "kairos/poa/manager.h"
#include "kairos/poa/object_map.h"

namespace kairos::poa {

class Adapter final : public orb::Adapter {
  public:
    /// `index` is its number in object keys. `orb` must outlive it.
    Adapter(orb::Orb& orb, std::uint32_t index) : orb_(orb), index_(index) {}

    [[nodiscard]] bool dispatch(orb::Upcall& upcall) override;
    void wait_while_holding() override { manager_.wait_while_holding(); }
    [[nodiscard]] bool locates(Bytes object_key) override;

    [[nodiscard]] Manager& manager() noexcept { return manager_; }
    [[nodiscard]] ObjectMap& objects() noexcept { return objects_; }
    [[nodiscard]] const ObjectMap& objects() const noexcept { return objects_; }
    [[nodiscard]] orb::Orb& orb() const noexcept { return orb_; }

    /// Blocks until no request is inside any object. Looks again and again: for states that
    /// change a few times in the life of a process no call should pay for a counter.
    void wait_until_idle() const;

    /// The key under which the object at this place is known to clients.
    [[nodiscard]] ior::ObjectKey key_of(ObjectMap::Place place) const noexcept
    {
        return {.incarnation = orb_.incarnation(),
                .adapter = index_,
                .slot = place.slot,
                .generation = place.generation};
    }
    /// Where the object of this key is, or was; nothing for keys of others.
    [[nodiscard]] std::optional<ObjectMap::Place> place_of(Bytes object_key) const noexcept;

  private:
    /// Throws what the manager's state calls for; false if the request is to be held.
    [[gnu::cold]] bool refuse() const;

    orb::Orb& orb_;
    const std::uint32_t index_;
    Manager manager_;
    ObjectMap objects_;
};

} // namespace kairos::poa
