// SPDX-License-Identifier: Apache-2.0
//
// What a notification service keeps over its end: objects of its channels and events that wait for
// some of them, as octets, behind an interface without CORBA's calls.
#pragma once

#include "kairos/base/export.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kairos::notification {

enum class StoreStatus : std::uint8_t {
    done,
    full,   ///< no room for the change: nothing happened
    broken, ///< the store cannot be read or written
    busy,   ///< others took too long before: nothing happened
};

/// One thing of those that are changed together. Keys of objects, and numbers of events, are chosen
/// by the service, which does not use them twice while they are in the store.
struct StoreChange {
    enum class Action : std::uint8_t {
        put_object,    ///< enters `state` of the object `key` of the channel `other`, or changes it
        erase_object,  ///< the object `key`, and what waits for it
        erase_channel, ///< all objects of the channel `key`, and what waits for them
        add_event,     ///< enters `state` of the event `key`
        add_waiting,   ///< the event `other` waits for the object `key`
        erase_waiting, ///< the event `other` waits for the object `key` no more
        erase_event,   ///< the event `key`, for which nobody waits
    };

    Action action{};
    std::uint64_t key = 0;
    std::uint64_t other = 0;
    std::string state{};

    /// Whether there is more room after it.
    [[nodiscard]] bool makes_room() const noexcept
    {
        return action == Action::erase_object || action == Action::erase_channel ||
               action == Action::erase_waiting || action == Action::erase_event;
    }
};

struct StoredObject {
    std::uint64_t key = 0;
    std::uint64_t channel = 0;
    std::string state{};
};

struct StoredEvent {
    std::uint64_t number = 0;
    std::string state{};
};

struct StoredWait {
    std::uint64_t object = 0;
    std::uint64_t event = 0;
};

/// All that a store has.
struct Stored {
    std::vector<StoredObject> objects; ///< by key
    std::vector<StoredEvent> events;   ///< by number
    std::vector<StoredWait> waits;     ///< of each object by event
};

/// Used by one thread at a time.
class KAIROS_API Store {
  public:
    Store() = default;
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    virtual ~Store() = default;

    /// Fills in what was there when the store was opened. To be called once, before anything else.
    [[nodiscard]] virtual StoreStatus load(Stored& all) = 0;
    /// Makes the changes in their order, all of them or none. If it is to be `safe`, it returns
    /// when they outlast a loss of power, with all that was changed before; else when they outlast
    /// the process. To erase what is not there is no failure.
    [[nodiscard]] virtual StoreStatus write(std::span<const StoreChange> changes, bool safe) = 0;
};

} // namespace kairos::notification
