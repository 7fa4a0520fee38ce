// SPDX-License-Identifier: Apache-2.0
//
// Slots (CORBA 3.3 part 1, 16.4): what the program keeps with a thread, and interceptors with a
// request. An ORB that has allocated none pays nothing for them.
#pragma once

#include "kairos/interceptors/PortableInterceptor.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace kairos::interceptors {

class Interceptors;

/// By their numbers; those behind the last are empty. Belongs to one thread at a time.
using Slots = std::vector<CORBA::Any>;

/// Returns the calling thread's slots of the ORB with this serial number.
[[nodiscard]] Slots& slots_of_thread(std::uint64_t orb_serial);

/// Returns a copy of a slot's value, owned by the caller: an Any of type null if nothing was set.
/// Throws InvalidSlot where `count` slots do not have it.
[[nodiscard]] CORBA::Any* copy_of_slot(const Slots& slots, PortableInterceptor::SlotId id,
                                       std::size_t count);
/// Sets a slot to a copy. Throws InvalidSlot where `count` slots do not have it.
void set_slot(Slots& slots, PortableInterceptor::SlotId id, const CORBA::Any& data,
              std::size_t count);

/// Puts slots in place of the calling thread's, whose own come back at the end.
class SlotsInPlace {
  public:
    SlotsInPlace(Slots& of_thread, Slots instead)
        : of_thread_(of_thread), own_(std::exchange(of_thread, std::move(instead)))
    {
    }
    SlotsInPlace(const SlotsInPlace&) = delete;
    SlotsInPlace& operator=(const SlotsInPlace&) = delete;
    ~SlotsInPlace() { of_thread_ = std::move(own_); }

  private:
    Slots& of_thread_;
    Slots own_;
};

/// "PICurrent". What it tells is the calling thread's.
class Current final : public PortableInterceptor::Current {
  public:
    /// `all` may be null: an ORB without interceptors has no slots.
    explicit Current(std::shared_ptr<const Interceptors> all) : all_(std::move(all)) {}

    CORBA::Any* get_slot(PortableInterceptor::SlotId id) override;
    void set_slot(PortableInterceptor::SlotId id, const CORBA::Any& data) override;

  private:
    /// Throws InvalidSlot, and BAD_INV_ORDER within ORB_init.
    [[nodiscard]] const Interceptors& usable() const;

    const std::shared_ptr<const Interceptors> all_;
};

} // namespace kairos::interceptors
