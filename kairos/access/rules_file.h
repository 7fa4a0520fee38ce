// SPDX-License-Identifier: Apache-2.0
//
// Rules from their file, which is TOML. Everything that is wrong with it is found at once.
#pragma once

#include "kairos/access/rules.h"
#include "kairos/base/result.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace kairos::access {

/// What is wrong, and where; lines and columns count from 1.
struct Problem {
    std::size_t line = 0; ///< 0: the file as a whole
    std::size_t column = 0;
    std::string reason;
    /// Returns it as "line 7: …".
    [[nodiscard]] std::string text() const;
};

/// Users and groups by their names.
struct Accounts {
    struct Group {
        gid_t id = 0;
        std::vector<uid_t> members{};
    };
    std::optional<uid_t> (*user)(const std::string& name);
    std::optional<Group> (*group)(const std::string& name);

    /// Returns those that the system knows.
    [[nodiscard]] static const Accounts& of_system();
};

/// Reads the text of a file. Nothing, and problems, where something is wrong with it.
[[nodiscard]] std::optional<Rules> parse_rules(std::string_view text, const std::string& file,
                                               const Accounts& accounts,
                                               std::vector<Problem>& problems);
/// Reads a file, and the system's accounts.
[[nodiscard]] std::optional<Rules> read_rules(const std::string& file,
                                              std::vector<Problem>& problems);

/// Reads what a rule says of who calls: "anyone", "local", "user:name", "group:name",
/// "network:192.0.2.0/24", "certificate:CN=client", "login:name", "subject:CN=press". An error
/// where it says no such thing.
[[nodiscard]] Result<Who> parse_who(const std::string& text, const Accounts& accounts);

} // namespace kairos::access
