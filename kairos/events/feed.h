// SPDX-License-Identifier: Apache-2.0
//
// A way into a channel that is no client's: for what came by another bus, say.
#pragma once

#include "kairos/base/export.h"
#include "kairos/types/any.h"

namespace kairos::events {

class KAIROS_API Feed {
  public:
    Feed() = default;
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;
    virtual ~Feed() = default;

    /// Gives the event to all consumers that are connected now, and not to the channel's recorder.
    /// Never waits for any of them. Throws what a supplier's push throws: IMP_LIMIT if the event is
    /// too large, NO_RESOURCES where too much waits. Does nothing once the channel has ended. Any
    /// thread.
    virtual void publish(const CORBA::Any& event) = 0;
    /// Returns whether the channel has ended, by its destruction or its service's. Any thread.
    [[nodiscard]] virtual bool has_ended() const noexcept = 0;
};

} // namespace kairos::events
