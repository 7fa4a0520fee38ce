// SPDX-License-Identifier: Apache-2.0
//
// What `prove` asks of who remembers the valuetypes of a message: to read on for a moment as if
// nothing of it had happened.
#pragma once

#include "kairos/cdr/environment.h"
#include "kairos/cdr/reader.h"

#include <memory>

namespace kairos::mapping {

/// What cdr::Environment::values_read always is.
class ReadAhead : public cdr::Attachment {
  public:
    /// Another for a reader that is where the message's is and whose values will be thrown away: it
    /// knows all that this one knows, and keeps what it meets to itself. This one must outlive it.
    [[nodiscard]] virtual std::unique_ptr<cdr::Attachment> ahead(cdr::Reader& proof) = 0;
};

} // namespace kairos::mapping
