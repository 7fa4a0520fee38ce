// SPDX-License-Identifier: Apache-2.0
//
// A request that observers hear of, and the adapter in front of others that has them hear
// (upcall_observer.h). Used by the thread that serves the request.
#pragma once

#include "kairos/orb/adapter.h"
#include "kairos/orb/hold.h"
#include "kairos/orb/upcall_observer.h"

#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <vector>

namespace kairos::orb {

using UpcallObservers = std::span<const std::unique_ptr<UpcallObserver>>;

class UpcallObservation final : public ObservedUpcall, public Hold::Kept {
  public:
    UpcallObservation(Upcall& upcall, UpcallObservers observers) noexcept
        : ObservedUpcall(upcall), observers_(observers)
    {
    }
    /// Tells of the arrival, unless it was told already. Throws what an observer throws.
    void begin();
    /// Tells that the servant was found. Throws what an observer throws.
    void found(const ServedObject& object);
    /// Tells of results that are about to go out. Throws what an observer throws.
    void end_with_results();
    /// Tells of another end; returns what it is to end with instead, null if that is nothing.
    [[nodiscard]] std::exception_ptr end(const Ending& ending) noexcept { return tell(ending); }
    /// Tells nobody how it ended.
    void forget() noexcept { forget_told(); }
    /// Returns whether anybody is still to be told of the end.
    [[nodiscard]] bool is_open() const noexcept { return has_told(); }

    /// Keeps what the reply is to say until the request is offered again.
    void pause();
    /// Notes that the request may be answered by another thread. Returns what this one releases
    /// when it is done with it (UpcallObserver::leave_thread). Throws std::bad_alloc.
    [[nodiscard, gnu::cold]] std::vector<std::shared_ptr<void>> leave_thread();
    /// Goes on with the request, which is offered again.
    void resume(Upcall& upcall);

  private:
    [[nodiscard]] std::exception_ptr tell(const Ending& ending) noexcept;
    void tell_end(std::size_t observer);

    const UpcallObservers observers_;
    bool begun_ = false;
    std::unique_ptr<ContextList> paused_; // null: nothing
};

/// Returns an adapter that has the observers of `orb`, which are all there, hear of the requests
/// that `adapter` serves; `adapter` itself if there are none.
[[nodiscard]] std::unique_ptr<Adapter> observed(const Orb& orb, std::unique_ptr<Adapter> adapter);

} // namespace kairos::orb
