// SPDX-License-Identifier: Apache-2.0
//
// States of objects in a store: the byte order, which kind of object it is, and a value of
// KairosNotificationStore's.
#pragma once

#include "kairos/codec/octets.h"
#include "kairos/notification/channel.h"

#include <string>

namespace kairos::notification {

/// The change by which an object's state is in the store.
template <typename State>
[[nodiscard]] StoreChange put_object(std::uint64_t key, std::uint64_t channel, StoredKind kind,
                                     const State& state)
{
    codec::OctetWriter out;
    out.put(static_cast<CORBA::Boolean>(native_little_endian))
        .put(static_cast<CORBA::Octet>(kind))
        .put(state);
    const Bytes octets = out.octets();
    return {.action = StoreChange::Action::put_object,
            .key = key,
            .other = channel,
            .state = {reinterpret_cast<const char*>(octets.data()), octets.size()}};
}

/// Which kind of object it is, as far as that can be said before it is read.
[[nodiscard]] inline StoredKind kind_of(const StoredObject& object) noexcept
{
    return object.state.size() < 2 ? StoredKind::proxy : StoredKind(object.state[1]);
}

/// Throws MARSHAL where it is not such a state.
template <typename State>
[[nodiscard]] State state_of(const StoredObject& object)
{
    const Bytes octets(reinterpret_cast<const std::byte*>(object.state.data()),
                       object.state.size());
    codec::OctetReader in(octets, !octets.empty() && octets[0] == std::byte{1});
    CORBA::Boolean little_endian = false;
    CORBA::Octet kind = 0;
    State state;
    in.get(little_endian).get(kind).get(state);
    return state;
}

} // namespace kairos::notification
