// SPDX-License-Identifier: Apache-2.0
//
// Who sees each event of a channel on its way: a log, say.
#pragma once

#include "kairos/base/export.h"
#include "kairos/types/any.h"

namespace kairos::events {

class KAIROS_API Recorder {
  public:
    Recorder() = default;
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    virtual ~Recorder() = default;

    /// Called with each event that a supplier has pushed, or was asked for, in the thread that
    /// serves it; by several at once. Returns whether the channel's consumers get it. Must not
    /// throw.
    [[nodiscard]] virtual bool take(const CORBA::Any& event) noexcept = 0;
};

} // namespace kairos::events
