// SPDX-License-Identifier: Apache-2.0
//
// What an adapter serves, whichever way it came: a request that was encoded, or a call within the
// process. Plain requests for active objects do without (Adapters::dispatch). Used by one thread.
#pragma once

#include "kairos/orb/hold.h"
#include "kairos/orb/priority.h"
#include "kairos/poa/object_map.h"

#include <optional>
#include <string_view>

namespace kairos::orb {
class Upcall;
}

namespace kairos::poa {

class Request {
  public:
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    [[nodiscard]] orb::Hold& hold() const noexcept { return hold_; }
    [[nodiscard]] std::string_view operation() const noexcept { return operation_; }
    /// Returns the upcall of a request that was encoded; null for a call that was not.
    [[nodiscard]] orb::Upcall* upcall() const noexcept { return upcall_; }

    /// Returns the priority of the client, if it is known; of a caller of this process, its
    /// thread's.
    [[nodiscard]] virtual std::optional<orb::Priority> priority() const = 0;
    /// Has the reply, if there is one, say the priority that the client's ORB said.
    virtual void return_priority() = 0;
    /// Calls the servant. `lasting` is the object if later calls may go to it without the adapter;
    /// else null.
    virtual void call(Servant& servant, const ObjectMap::Entry* lasting) = 0;
    /// Has results kept until `send_kept`. To be called before there are any.
    virtual void keep_results() noexcept = 0;
    virtual void send_kept() = 0;

  protected:
    Request(orb::Hold& hold, std::string_view operation, orb::Upcall* upcall) noexcept
        : hold_(hold), operation_(operation), upcall_(upcall)
    {
    }
    ~Request() = default;

  private:
    orb::Hold& hold_;
    const std::string_view operation_;
    orb::Upcall* const upcall_;
};

} // namespace kairos::poa
