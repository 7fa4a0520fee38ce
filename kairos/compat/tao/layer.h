// SPDX-License-Identifier: Apache-2.0
//
// Part of every header of TAO's names: a program that includes one has the layer, though the core
// asks for it by weak references, for which a linker takes nothing from an archive.
#pragma once

#include "kairos/base/export.h"

#include <string>
#include <vector>

/// How much programs written for TAO say: -ORBDebugLevel. Set by ORB_init; the program's after
/// that.
extern KAIROS_API unsigned int TAO_debug_level;

namespace kairos::corba {

/// What the core's ORB_init asks; Kairos's options replace TAO's. Returns a line for the log.
/// Throws CORBA::BAD_PARAM for what cannot be had here.
KAIROS_API std::string translate_tao_options(std::vector<std::string>& arguments);

/// Never read: one reference in a program that is not weak.
[[gnu::used]] inline std::string (*const tao_is_linked)(std::vector<std::string>&) =
    &translate_tao_options;

} // namespace kairos::corba
