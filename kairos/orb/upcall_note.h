// SPDX-License-Identifier: Apache-2.0
//
// Which request the calling thread serves, for those who ask from within: by which connection it
// came is known to its upcall, which neither a servant nor PortableServer::Current has. Calls
// within the process come by none, but are made for whoever sent the request that they are made
// from. An ORB notes that from when somebody has asked for it (Orb::note_upcalls), by an adapter in
// front of its own; all others know nothing of it. Used by one thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/thread_local.h"

#include <memory>
#include <utility>

namespace kairos::orb {

class Adapter;
class Upcall;

class KAIROS_API UpcallNote {
  public:
    /// What one thread has noted, for another that works for it.
    struct Noted {
        Upcall* upcall;
        bool is_within_process; ///< a call is served that was made while that was
    };

    /// Says, for as long as it lives, that the calling thread serves this; null: what came by no
    /// message.
    explicit UpcallNote(Upcall* upcall) noexcept : UpcallNote(Noted{upcall, false}) {}
    explicit UpcallNote(const Noted& noted) noexcept : outer_(std::exchange(noted_, noted)) {}
    ~UpcallNote() { noted_ = outer_; }
    UpcallNote(const UpcallNote&) = delete;
    UpcallNote& operator=(const UpcallNote&) = delete;

    /// Returns the upcall of the request that the calling thread is serving, the innermost if they
    /// are nested; null where there is none, where its ORB does not note it, and in a call within
    /// the process.
    [[nodiscard]] static Upcall* innermost() noexcept
    {
        return noted_.is_within_process ? nullptr : noted_.upcall;
    }
    /// Returns the same, but in a call within the process what the calling thread served when it
    /// made it.
    [[nodiscard]] static Upcall* asked_by() noexcept { return noted_.upcall; }
    [[nodiscard]] static Noted noted() noexcept { return noted_; }

  private:
    KAIROS_NEAR static inline constinit thread_local Noted noted_{};
    const Noted outer_;
};

/// Returns an adapter that notes the upcalls of the requests that it passes on to `adapter`, which
/// must outlive it.
[[nodiscard]] std::unique_ptr<Adapter> noting(Adapter& adapter);

} // namespace kairos::orb
