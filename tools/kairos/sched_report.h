// SPDX-License-Identifier: Apache-2.0
//
// What `kairos sched` found, as a table for people, as JSON, and as pictures of the time line.
#pragma once

#include "kairos/sched/analysis.h"
#include "kairos/sched/operation_set.h"
#include "kairos/sched/time_line.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace kairos::tools {

struct SchedReport {
    std::string title;
    const sched::OperationSet* set = nullptr;
    sched::Analysis analysis;
    sched::PriorityRange priorities;
    std::optional<double> typical_utilisation; ///< where typical times are known
    std::optional<sched::TimeLine> time_line;
    std::string no_time_line; ///< why there is none
    sched::Time drawn{0};     ///< pictures end here, at the end of the time line at the latest
};

/// The response that is shown: what the analysis found, else the worst that the time line has.
[[nodiscard]] std::optional<sched::Time> shown_response(const SchedReport& report,
                                                        std::size_t task);
/// The analysis' verdict; of what it cannot tell a miss if the time line shows one.
[[nodiscard]] sched::Verdict shown_verdict(const SchedReport& report, std::size_t task);

[[nodiscard]] std::string render_table(const SchedReport& report);
/// A line a task, at most `width` columns.
[[nodiscard]] std::string render_time_line(const SchedReport& report, std::size_t width);
[[nodiscard]] nlohmann::ordered_json to_json(const SchedReport& report);
/// A picture of the time line, which must be there.
[[nodiscard]] std::string render_svg(const SchedReport& report);

} // namespace kairos::tools
