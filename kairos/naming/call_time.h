// SPDX-License-Identifier: Apache-2.0
//
// What a service may spend on other servers for one request of a client, who often chose which they
// are: a time for all of its calls together. Internal to the services. Used by one thread.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/corba/object.h"
#include "kairos/naming/CosNaming.h"

#include <chrono>
#include <functional>

namespace kairos::naming {

class CallTime {
  public:
    /// How long calls may take where the program sets no limit.
    static constexpr std::chrono::seconds time_default{3};

    /// From now on. A program that has set a limit for `whose`, for the thread or for the ORB, or
    /// none by a policy of zero, knows better. Nil is for who makes no calls.
    explicit CallTime(CORBA::Object_ptr whose);

    /// The reference, whose calls end with all that is left. What the program has set for this
    /// reference stays. Throws TIMEOUT when nothing is left.
    template <typename Interface>
    [[nodiscard]] typename Interface::_var_type limited(Interface* reference)
    {
        return Interface::_unchecked_narrow(CORBA::Object_var(limit(reference, 1)).in());
    }
    /// For a question that others can answer as well: with half of what is left, so that who does
    /// not answer leaves time for who does.
    template <typename Interface>
    [[nodiscard]] typename Interface::_var_type briefly(Interface* reference)
    {
        return Interface::_unchecked_narrow(CORBA::Object_var(limit(reference, 2)).in());
    }

  private:
    [[nodiscard]] CORBA::Object_ptr limit(CORBA::Object_ptr reference, int share);

    Deadline deadline_;
};

/// Calls `each` with every binding of the context (for_each_binding of listing.h), in the time that
/// is left.
void for_each_binding(CosNaming::NamingContext_ptr context,
                      const std::function<void(const CosNaming::Binding&)>& each, CallTime& time);

} // namespace kairos::naming
