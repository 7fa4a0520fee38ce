// SPDX-License-Identifier: Apache-2.0
//
// Which request the calling thread serves, for those who ask from within: by which connection it
// came is known to its upcall, which neither a servant nor PortableServer::Current has. An ORB
// notes that from when somebody has asked for it (Orb::note_upcalls), by an adapter in front of its
// own; all others know nothing of it. Used by one thread.
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
    /// Says, for as long as it lives, that the calling thread serves this; null: what came by no
    /// message, such as a call within the process.
    explicit UpcallNote(Upcall* upcall) noexcept : outer_(std::exchange(innermost_, upcall)) {}
    ~UpcallNote() { innermost_ = outer_; }
    UpcallNote(const UpcallNote&) = delete;
    UpcallNote& operator=(const UpcallNote&) = delete;

    /// Returns the upcall of the request that the calling thread is serving, the innermost if they
    /// are nested; null where there is none, and where its ORB does not note it.
    [[nodiscard]] static Upcall* innermost() noexcept { return innermost_; }

  private:
    KAIROS_NEAR static inline constinit thread_local Upcall* innermost_ = nullptr;
    Upcall* const outer_;
};

/// Returns an adapter that notes the upcalls of the requests that it passes on to `adapter`, which
/// must outlive it.
[[nodiscard]] std::unique_ptr<Adapter> noting(Adapter& adapter);

} // namespace kairos::orb
