// SPDX-License-Identifier: Apache-2.0
//
// CosNaming::Name and its texts (Naming Service 1.3, 2.4 and 2.5): what NamingContextExt's to_name,
// to_string and to_url do, without asking a server. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/ior/name.h"
#include "kairos/naming/CosNaming.h"

#include <string>
#include <string_view>

namespace kairos::naming {

[[nodiscard]] KAIROS_API CosNaming::Name to_idl(const ior::Name& name);
[[nodiscard]] KAIROS_API ior::Name from_idl(const CosNaming::Name& name);

/// Makes a name from its text. Throws CosNaming::NamingContext::InvalidName; ior::parse_name says
/// what is wrong instead.
[[nodiscard]] KAIROS_API CosNaming::Name to_name(std::string_view text);

/// The text of a name. Throws CosNaming::NamingContext::InvalidName for one without components.
[[nodiscard]] KAIROS_API std::string to_string(const CosNaming::Name& name);

/// Makes a URL, "corbaname:<address>#<text>"; without "#" for an empty text, which means the
/// context there. Throws CosNaming::NamingContextExt::InvalidAddress and
/// CosNaming::NamingContext::InvalidName.
[[nodiscard]] KAIROS_API std::string to_url(std::string_view address, std::string_view text);

} // namespace kairos::naming
