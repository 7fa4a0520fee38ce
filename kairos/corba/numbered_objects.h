// SPDX-License-Identifier: Apache-2.0
//
// Objects that are entries of a table, found by the number that their id is: iterators above all,
// which clients begin and may never destroy. One servant serves all objects of a POA, so that what
// ends an entry need not deactivate anything. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/poa/calling.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace kairos::corba {

/// What such objects stand for, by their numbers: how many there may be, and which go when there
/// are more.
template <typename Thing>
class NumberedThings {
  public:
    using Clock = std::chrono::steady_clock;

    NumberedThings(std::size_t count_max, Clock::duration idle_max)
        : count_max_(count_max), idle_max_(idle_max)
    {
    }

    /// Enters a thing; returns the number by which it is found. Those that were idle for too long
    /// go, and if there are too many, those that were not used for the longest time.
    [[nodiscard]] std::uint64_t begin(std::shared_ptr<Thing> thing,
                                      Clock::time_point now = Clock::now())
    {
        ByUse gone; // ends without the lock
        const std::lock_guard lock(mutex_);
        while (!by_use_.empty() &&
               (by_use_.size() >= count_max_ || now - by_use_.front().used > idle_max_)) {
            by_number_.erase(by_use_.front().number);
            gone.splice(gone.end(), by_use_, by_use_.begin());
        }
        by_use_.push_back({++last_number_, std::move(thing), now});
        by_number_.emplace(last_number_, std::prev(by_use_.end()));
        return last_number_;
    }
    /// Returns the thing of this number; null if it ended, or was idle for too long, and then ends.
    [[nodiscard]] std::shared_ptr<Thing> find(std::uint64_t number,
                                              Clock::time_point now = Clock::now())
    {
        ByUse gone; // ends without the lock
        const std::lock_guard lock(mutex_);
        const auto known = by_number_.find(number);
        if (known == by_number_.end()) return nullptr;
        if (now - known->second->used > idle_max_) {
            gone.splice(gone.end(), by_use_, known->second);
            by_number_.erase(known);
            return nullptr;
        }
        known->second->used = now;
        by_use_.splice(by_use_.end(), by_use_, known->second);
        return known->second->thing;
    }
    /// Ends the thing of this number. False if it had ended.
    bool end(std::uint64_t number)
    {
        ByUse gone; // ends without the lock
        const std::lock_guard lock(mutex_);
        const auto known = by_number_.find(number);
        if (known == by_number_.end()) return false;
        gone.splice(gone.end(), by_use_, known->second);
        by_number_.erase(known);
        return true;
    }
    /// Ends the one that was not used for the longest time. False if there is none.
    bool end_least_used()
    {
        ByUse gone; // ends without the lock
        const std::lock_guard lock(mutex_);
        if (by_use_.empty()) return false;
        by_number_.erase(by_use_.front().number);
        gone.splice(gone.end(), by_use_, by_use_.begin());
        return true;
    }
    [[nodiscard]] std::size_t size() const
    {
        const std::lock_guard lock(mutex_);
        return by_use_.size();
    }

  private:
    struct Known {
        std::uint64_t number;
        std::shared_ptr<Thing> thing;
        Clock::time_point used;
    };
    using ByUse = std::list<Known>;

    const std::size_t count_max_;
    const Clock::duration idle_max_;
    mutable std::mutex mutex_; // guards what follows; nothing is called while it is held
    ByUse by_use_;             // the one that was not used for the longest time first
    std::map<std::uint64_t, typename ByUse::iterator> by_number_;
    std::uint64_t last_number_ = 0;
};

/// Makes a POA for such objects, below `parent`, and has it serve. Their references end with it.
/// Takes the caller's count of the servant. Owned by the caller.
[[nodiscard]] inline PortableServer::POA_ptr
make_numbered_poa(PortableServer::POA_ptr parent, const char* name, PortableServer::Servant servant)
{
    const PortableServer::Servant_var<PortableServer::ServantBase> owner = servant;
    CORBA::PolicyList policies;
    policies.length(4);
    policies[0] = parent->create_id_assignment_policy(PortableServer::USER_ID);
    policies[1] = parent->create_id_uniqueness_policy(PortableServer::MULTIPLE_ID);
    policies[2] = parent->create_servant_retention_policy(PortableServer::NON_RETAIN);
    policies[3] = parent->create_request_processing_policy(PortableServer::USE_DEFAULT_SERVANT);
    PortableServer::POA_var poa =
        parent->create_POA(name, PortableServer::POAManager::_nil(), policies);
    poa->set_servant(servant);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    return poa._retn();
}

/// Returns a reference to the object of this number, owned by the caller.
template <typename Interface>
[[nodiscard]] typename Interface::_ptr_type numbered_reference(PortableServer::POA_ptr poa,
                                                               std::uint64_t number)
{
    PortableServer::ObjectId id;
    id.length(sizeof number);
    for (CORBA::ULong i = 0; i < sizeof number; ++i)
        id[i] = static_cast<CORBA::Octet>(number >> (56 - 8 * i));
    const CORBA::Object_var object = poa->create_reference_with_id(id, Interface::_kairos_id);
    return Interface::_unchecked_narrow(object.in());
}

[[noreturn]] inline void raise_no_such_object()
{
    throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
}

/// Returns the number of the object that the calling thread serves. Throws OBJECT_NOT_EXIST for an
/// id that is no number.
[[nodiscard]] inline std::uint64_t called_number()
{
    const poa::Calling* const calling = poa::Calling::innermost();
    if (calling == nullptr || calling->servant() == nullptr) raise_no_such_object();
    const Bytes id = calling->entry() == nullptr ? calling->id() : calling->entry()->id();
    std::uint64_t number = 0;
    if (id.size() != sizeof number) raise_no_such_object();
    for (const std::byte octet : id)
        number = number << 8 | std::to_integer<std::uint64_t>(octet);
    return number;
}

/// Returns the thing whose object the calling thread serves. Throws OBJECT_NOT_EXIST if it ended.
template <typename Thing>
[[nodiscard]] std::shared_ptr<Thing> called_thing(NumberedThings<Thing>& things)
{
    auto thing = things.find(called_number());
    if (thing == nullptr) raise_no_such_object();
    return thing;
}

} // namespace kairos::corba
