// SPDX-License-Identifier: Apache-2.0
//
// Who sees each event of a channel that has passed the filters of its supplier: a log, say.
#pragma once

#include "kairos/base/export.h"
#include "kairos/types/any.h"

namespace kairos::notification {

class KAIROS_API Recorder {
  public:
    Recorder() = default;
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    virtual ~Recorder() = default;

    /// Called with each event, as an Any or with a structured event in one, in the thread that
    /// serves its supplier; by several at once. `is_wanted`: it passes the filter of what is to be
    /// recorded. Returns whether the channel's consumers get it. Must not throw.
    [[nodiscard]] virtual bool take(const CORBA::Any& event, bool is_wanted) noexcept = 0;
};

} // namespace kairos::notification
