// SPDX-License-Identifier: Apache-2.0
//
// Names of the Naming Service as text (Naming Service 1.3, 2.4 and 2.5.3): "a/b.c" and the URL
// "corbaname:…#a/b.c". Only text: here beside the object URLs because string_to_object reads names,
// too. kairos/naming/name.h has CosNaming's types. Cold path only.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::ior {

struct NameComponent {
    std::string id;
    std::string kind;
    friend bool operator==(const NameComponent&, const NameComponent&) = default;
};
using Name = std::vector<NameComponent>;

/// A name of at least one component, separated by '/'; '.' between id and kind; a backslash before
/// one of the three takes its meaning. Errors say what is wrong and at which character, counted
/// from 1.
[[nodiscard]] KAIROS_API Result<Name> parse_name(std::string_view text);

/// The only text that parse_name makes this name from. Empty for a name without components.
[[nodiscard]] KAIROS_API std::string to_string(const Name& name);
[[nodiscard]] KAIROS_API std::string to_string(const NameComponent& component);

/// "corbaname:<address>#<name>", the name with the escapes of URLs; without "#" for the name
/// without components, which is the context itself. `address` is what stands behind "corbaloc:":
/// one or more addresses and, if it is not NameService, "/" and a key.
[[nodiscard]] KAIROS_API Result<std::string> to_corbaname(std::string_view address,
                                                          const Name& name);

} // namespace kairos::ior
