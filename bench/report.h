// SPDX-License-Identifier: Apache-2.0
//
// What an experiment found: rows of named figures, in one form for every experiment; as JSON for
// programs and as a table for people. A bar is the value a figure has to reach, printed beside it.
#pragma once

#include "kairos/base/result.h"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::bench {

/// What a figure must reach. Counts are compared after rounding to the two decimals that the table
/// shows, so that one call's tail in thousands of calls does not decide.
struct Bar {
    enum class Relation { at_most, at_least, below };
    std::string figure; ///< the name of a figure of the same row
    Relation relation = Relation::at_most;
    double limit = 0;
};

struct Row {
    std::string system;
    std::string variant; ///< architecture, pinning, queue size: what was chosen for this run
    std::string direction;
    std::string payload_type;
    std::uint64_t payload_bytes = 0;
    std::string side;   ///< "client", "server" or "both" where sides are told apart, else empty
    std::string status; ///< why there are no figures, such as "not installed"; else empty
    std::vector<std::pair<std::string, double>> figures; ///< named with their unit, in print order
    std::map<std::string, double> system_calls;          ///< per call, by name
    std::vector<Bar> bars;

    [[nodiscard]] std::optional<double> figure(std::string_view name) const;
    void set(std::string name, double value);
};

struct Report {
    std::string experiment;
    std::vector<Row> rows;
    std::vector<std::string> notes; ///< for people, below the table
};

/// Whether the row reaches the bar; nothing when it has no such figure.
[[nodiscard]] std::optional<bool> reached(const Row& row, const Bar& bar);

/// How many bars of the report are not reached.
[[nodiscard]] std::size_t missed_bars(const Report& report);

/// An array: first the host, then one object per row.
[[nodiscard]] nlohmann::ordered_json to_json(const Report& report);
[[nodiscard]] Result<void> write_json(const Report& report, const std::string& path);

/// One column of a table: which figure and how it is shown.
struct Column {
    std::string figure;
    std::string title; ///< with the unit
    int decimals = 2;
};

/// Aligned columns without those that would be empty; what all variants have in common is said
/// once, above.
[[nodiscard]] std::string render_table(const Report& report, const std::vector<Column>& columns);

[[nodiscard]] Result<void> write_file(const std::string& path, std::string_view text);

} // namespace kairos::bench
