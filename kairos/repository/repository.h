// SPDX-License-Identifier: Apache-2.0
//
// The Interface Repository (CORBA 3.3 part 1, 14) as objects of an ORB: embedded in any process by
// making one of these, or alone as `kairos ifr serve`. One default servant serves all definitions
// of a kind, however many there are. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/ir/ir.h"
#include "kairos/repository/model.h"
#include "kairos/repository/store.h"

#include <memory>

namespace kairos::repository {

class State;

class KAIROS_API InterfaceRepository {
  public:
    /// Its definitions can be called from now on, the repository also by
    /// "corbaloc::host:port/InterfaceRepository", unless that is bound in the ORB's IORTable. With
    /// a store it has what that keeps, and references to it are valid in later runs of the server
    /// at the same address, too; without one it is empty and ends with the process. The ORB must
    /// outlive it. Throws PERSIST_STORE for a store that cannot be read, and what create_POA
    /// throws: AdapterAlreadyExists for a second one in the same ORB.
    explicit InterfaceRepository(CORBA::ORB_ptr orb, std::unique_ptr<Store> store = {},
                                 const Limits& limits = {});
    InterfaceRepository(const InterfaceRepository&) = delete;
    InterfaceRepository& operator=(const InterfaceRepository&) = delete;
    /// Waits for the calls in progress. Not within a call on one of its objects.
    ~InterfaceRepository();

    /// Returns the repository, owned by the caller: what servers register as their ORB's initial
    /// reference "InterfaceRepository", so that their objects answer _get_interface.
    [[nodiscard]] CORBA::Repository_ptr reference() const;
    /// Returns a copy of what it holds at the moment.
    [[nodiscard]] Model model() const;

  private:
    const std::unique_ptr<State> state_;
};

} // namespace kairos::repository
