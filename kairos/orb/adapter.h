// SPDX-License-Identifier: Apache-2.0
//
// What the ORB needs of the object adapters above it: one virtual call a request. Implemented by
// poa; station 8 of the request walk (docs/TOUR.md). Any thread.
#pragma once

#include "kairos/base/bytes.h"

namespace kairos::orb {

class Upcall;

class Adapter {
  public:
    /// Finds the servant and calls it. Throws CORBA exceptions for the caller. False: the adapter
    /// holds requests at present; nothing was done, the same request is to be offered again.
    [[nodiscard]] virtual bool dispatch(Upcall& upcall) = 0;
    /// Blocks while requests are held.
    virtual void wait_while_holding() = 0;
    /// Whether the object of this key is here.
    [[nodiscard]] virtual bool locates(Bytes object_key) = 0;

  protected:
    ~Adapter() = default;
};

} // namespace kairos::orb
