// SPDX-License-Identifier: Apache-2.0
//
// What a policy of another module has an adapter ask of each request, before anything is looked for
// or held, and what it has the adapter's references say. Adapters without one pay nothing; requests
// for one that has a guard are not plain.
#pragma once

#include "kairos/base/intrusive_ptr.h"

namespace kairos::ior {
struct Ior;
} // namespace kairos::ior

namespace kairos::orb {
class ReplyChannel;
} // namespace kairos::orb

namespace kairos::poa {

class Request;

/// Of one adapter or of several. Immutable; any thread.
class Guard : public RefCounted {
  public:
    /// Throws CORBA exceptions for the caller of a request, or of a call within the process, that
    /// may not pass. Requests that are held are asked about each time that they are offered. Called
    /// with no lock held.
    virtual void admit(const Request& request) const = 0;
    /// Returns whether requests by this connection may pass. Called by the thread that reads it.
    [[nodiscard]] virtual bool knows(const orb::ReplyChannel& from) const = 0;
    /// Changes a reference of the adapter, which says all addresses of the server.
    virtual void protect(ior::Ior& reference) const = 0;

  protected:
    Guard() = default;
    ~Guard() override = default;
};

} // namespace kairos::poa
