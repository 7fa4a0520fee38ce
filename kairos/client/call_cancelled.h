// SPDX-License-Identifier: Apache-2.0
//
// What a call ends with that its program has cancelled (AsynchronousCall::cancel).
#pragma once

#include "kairos/base/export.h"

#include <exception>

namespace kairos::orb {

/// Thrown in place of results: the program has cancelled the call. No exception of CORBA's, so that
/// what handles those of a call does not take it for one.
class KAIROS_API CallCancelled final : public std::exception {
  public:
    [[nodiscard]] const char* what() const noexcept override;
};

} // namespace kairos::orb
