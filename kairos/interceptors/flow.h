// SPDX-License-Identifier: Apache-2.0
//
// How a request ends while interceptors are told of that, one after the other: each may have it end
// otherwise for those that are still to be told (CORBA 3.3 part 1, 16.3.2). Used by one thread.
#pragma once

#include "kairos/base/owner.h"
#include "kairos/ior/ior.h"
#include "kairos/mapping/exception.h"
#include "kairos/orb/observed.h"

#include <optional>

namespace kairos::interceptors {

class Flow {
  public:
    /// Begins where nothing has ended yet.
    Flow() = default;
    explicit Flow(const orb::Ending& ending) noexcept : ending_(ending) {}
    Flow(const Flow&) = delete;
    Flow& operator=(const Flow&) = delete;

    [[nodiscard]] const orb::Ending& ending() const noexcept { return ending_; }
    /// Returns whether the end is an exception.
    [[nodiscard]] bool has_exception() const noexcept { return ending_.exception != nullptr; }
    /// Returns what an exception that ORB and interceptor cannot tell apart from a bug says of the
    /// request, if it takes the place of this end.
    [[nodiscard]] CORBA::CompletionStatus completion() const noexcept;

    /// Has the request end with the exception that is being handled, which an interceptor has
    /// thrown. ForwardRequest counts where the point `may_forward`, as system exceptions do; all
    /// else becomes UNKNOWN with this completion.
    void end_with_current(bool may_forward, CORBA::CompletionStatus completed);
    /// Returns whether an interceptor has thrown.
    [[nodiscard]] bool has_changed() const noexcept { return exception_ || forward_; }
    /// Throws what the request ends with instead, if an interceptor has thrown.
    void raise_if_changed() const;

  private:
    void end_with(const CORBA::SystemException& exception);

    orb::Ending ending_;
    Owner<CORBA::Exception> exception_; // an interceptor's
    std::optional<ior::Ior> forward_;   // likewise
};

} // namespace kairos::interceptors
