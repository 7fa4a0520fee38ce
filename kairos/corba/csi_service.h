// SPDX-License-Identifier: Apache-2.0
//
// What the core knows of CSIv2 (-ORBCsi), which is a library of its own (kairos/csiv2): a function
// that it calls by a weak reference.
#pragma once

#include "kairos/base/export.h"

#include <string>

namespace kairos::corba {

/// Of kairos/csiv2: sees to it that ORBs made from now on do what their -ORBCsi says, and looks
/// whether this one's file can be used; throws BAD_PARAM if not.
KAIROS_API void prepare_csi(const std::string& file);

} // namespace kairos::corba
