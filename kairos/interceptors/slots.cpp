// SPDX-License-Identifier: Apache-2.0
#include "kairos/interceptors/slots.h"

#include "kairos/base/thread_owned.h"
#include "kairos/corba/orb_state.h"
#include "kairos/interceptors/interceptors.h"

#include <algorithm>

namespace kairos::interceptors {

Slots& slots_of_thread(std::uint64_t orb_serial)
{
    using All =
        std::vector<std::pair<std::uint64_t, std::unique_ptr<Slots>>>; // which stay in place
    All& all = ThreadOwned<All>::get();
    const auto known = std::ranges::find(all, orb_serial, &All::value_type::first);
    if (known != all.end()) return *known->second;
    return *all.emplace_back(orb_serial, std::make_unique<Slots>()).second;
}

CORBA::Any* copy_of_slot(const Slots& slots, PortableInterceptor::SlotId id, std::size_t count)
{
    if (id >= count) throw PortableInterceptor::InvalidSlot();
    return id < slots.size() ? new CORBA::Any(slots[id]) : new CORBA::Any;
}

void set_slot(Slots& slots, PortableInterceptor::SlotId id, const CORBA::Any& data,
              std::size_t count)
{
    if (id >= count) throw PortableInterceptor::InvalidSlot();
    if (slots.size() <= id) slots.resize(std::size_t{id} + 1);
    slots[id] = data;
}

const Interceptors& Current::usable() const
{
    if (!all_) throw PortableInterceptor::InvalidSlot();
    if (all_->is_initializing()) raise_invalid_here();
    return *all_;
}

CORBA::Any* Current::get_slot(PortableInterceptor::SlotId id)
{
    const Interceptors& all = usable();
    return copy_of_slot(slots_of_thread(all.serial), id, all.slot_count());
}

void Current::set_slot(PortableInterceptor::SlotId id, const CORBA::Any& data)
{
    const Interceptors& all = usable();
    interceptors::set_slot(slots_of_thread(all.serial), id, data, all.slot_count());
}

} // namespace kairos::interceptors

namespace kairos::corba {

CORBA::Object_ptr slots_service(CORBA::ORB& orb)
{
    return new interceptors::Current(interceptors::interceptors_of(orb));
}

} // namespace kairos::corba
