// SPDX-License-Identifier: Apache-2.0
//
// The files of TAO's service configurator (svc.conf) as data: one directive on a line, and strings
// in quotation marks that may go on over several.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kairos::compat::tao {

/// static Resource_Factory "-ORBReactorType select"
struct Directive {
    bool is_static = false;
    std::string name;                   ///< of the object; empty where the directive has none
    std::vector<std::string> arguments; ///< of a static one: the words of its string
    std::string text;                   ///< what was read, for messages; at most 200 octets
};

/// Parses the text of a file, whose name is for messages; at most 1 MiB and 1000 directives. Throws
/// CORBA::BAD_PARAM for what is longer, for files in XML, and for strings that do not end.
[[nodiscard]] std::vector<Directive> parse_directives(std::string_view text, std::string_view file);

/// Whether options of this object mean something here: TAO's factories and loaders.
[[nodiscard]] bool is_known_factory(std::string_view name);

} // namespace kairos::compat::tao
