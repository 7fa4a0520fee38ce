// SPDX-License-Identifier: Apache-2.0
//
// What `kairos sched` reads: a TOML file of operations, or IDL whose operations have timing
// annotations (docs/scheduling.md).
#pragma once

#include "kairos/sched/analysis.h"
#include "kairos/sched/operation_set.h"

#include <optional>
#include <string>
#include <vector>

namespace kairos::tools {

struct SchedInput {
    sched::OperationSet set;
    std::vector<std::string> places; ///< "file:line:column" of each operation
    /// What a TOML file may say beside its operations.
    std::optional<sched::Policy> policy;
    std::optional<sched::PriorityRange> priorities;
};

/// "1-99"
[[nodiscard]] std::optional<sched::PriorityRange> parse_priorities(const std::string& text);

/// What the text of a TOML file says, which errors call `path`.
[[nodiscard]] std::optional<SchedInput> parse_tasks(const std::string& text,
                                                    const std::string& path, std::string& errors);
/// A TOML file's operations.
[[nodiscard]] std::optional<SchedInput> read_tasks(const std::string& path, std::string& errors);
/// Of either kind, by the file's name. Nothing where there were errors; `errors` has them, a line
/// each, or as the IDL compiler shows them. A warning may be there without an error.
[[nodiscard]] std::optional<SchedInput>
read_sched_input(const std::string& path, const std::vector<std::string>& include_directories,
                 std::string& errors);

} // namespace kairos::tools
