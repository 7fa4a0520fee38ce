// SPDX-License-Identifier: Apache-2.0
//
// Core references in messages, for the files that make objects of them.
#pragma once

#include "kairos/base/export.h"
#include "kairos/cdr/reader.h"
#include "kairos/corba/object.h"

namespace kairos::corba {

/// The core reference of a reference in a message; null for nil or when the reader has failed.
[[nodiscard]] KAIROS_API ReferencePtr decode_core_reference(cdr::Reader& in);

} // namespace kairos::corba
