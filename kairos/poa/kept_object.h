// SPDX-License-Identifier: Apache-2.0
//
// An object that stays as it is until a request to it is answered, after its servant's operation
// has returned (orb/owed_answer.h).
#pragma once

#include "kairos/base/export.h"
#include "kairos/orb/owed_answer.h"

#include <memory>
#include <utility>

namespace kairos::poa {

class Servant;

/// Returns what keeps the object that the calling thread serves a request of: if it is deactivated
/// meanwhile it is not etherealized, and its adapter does not end, until this is gone. Null where
/// the thread serves none.
[[nodiscard]] KAIROS_API std::unique_ptr<orb::OwedAnswer::Kept> keep_called();

/// Counts the servant that the calling thread was serving a request with when this was made, if
/// any: also when its ORB is destroyed, which releases the object, it lives until this lets it go.
class KAIROS_API CalledServant {
  public:
    CalledServant();
    CalledServant(CalledServant&& other) noexcept : servant_(std::exchange(other.servant_, nullptr))
    {
    }
    CalledServant& operator=(CalledServant&&) = delete;
    ~CalledServant() { let_go(); }

    /// Releases the servant before this is gone.
    void let_go() noexcept;

  private:
    Servant* servant_; // null: none
};

} // namespace kairos::poa
