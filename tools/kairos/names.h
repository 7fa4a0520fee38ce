// SPDX-License-Identifier: Apache-2.0
//
// What the sub-commands of `kairos names` share: what the user typed, the naming service, and how
// names are shown.
#pragma once

#include "kairos/base/shown.h"
#include "kairos/corba/CORBA.h"
#include "kairos/naming/listing.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kairos::tools {

struct NamesArguments {
    std::string service; ///< URL of the root context; empty: the initial reference NameService
    std::string name;    ///< empty: the root context
    std::string reference;
    bool json = false;
    bool details = false; ///< ls: resolve each binding, too; ls, tree: say what is dead
    bool parents = false; ///< bind, rebind, mkdir: make the contexts that are missing
    bool context = false; ///< bind, rebind: the reference is a context
    bool destroy = false; ///< unbind: destroy the context that is unbound
    bool force = false;   ///< unbind: also a context that has bindings
    unsigned depth = 0;   ///< tree
    CORBA::ULong portion = naming::portion_default;
    double interval_s = 0;   ///< watch
    bool references = false; ///< watch: resolve each binding, too
};

/// The naming service of one command.
struct NamesSession {
    CORBA::ORB_var orb;
    CosNaming::NamingContext_var root;

    /// Throws std::runtime_error for malformed names and names of other objects, CosNaming's
    /// exceptions, and CORBA's.
    [[nodiscard]] CosNaming::NamingContext_var context(const std::string& name) const;
};

/// Throws std::runtime_error for malformed names, with a message for people.
[[nodiscard]] CosNaming::Name parse_name_argument(const std::string& text);

/// A binding's name as text; a context's ends in '/'.
[[nodiscard]] std::string text_of(const CosNaming::Binding& binding);
[[nodiscard]] nlohmann::json json_of(const CosNaming::Binding& binding);
/// On one line; octets that are no UTF-8 are replaced, and what a terminal would obey is escaped.
[[nodiscard]] std::string dump(const nlohmann::json& json);

/// Does not return. Throws what ends it.
[[noreturn]] void watch_names(const NamesSession& session, const NamesArguments& arguments);

} // namespace kairos::tools
