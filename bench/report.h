// SPDX-License-Identifier: Apache-2.0
//
// What an experiment found: rows of named figures, in one form for every experiment; as JSON for
// programs (stored_report.h) and as a table for people. A bar is the value a figure has to reach,
// printed beside it.
#pragma once

#include "kairos/base/result.h"

#include <cstdint>
#include <map>
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

/// One column of a table: which figure and how it is shown.
struct Column {
    std::string figure;
    std::string title; ///< with the unit
    int decimals = 2;
};

/// A figure that the experiment judges when it is run whole: some row has a bar for it. Who runs a
/// part of it must not take what is not there for reached.
struct Need {
    std::string figure;
    std::string payload_type = {}; ///< of a row; empty: any
};

struct Report {
    std::string experiment;
    std::vector<Row> rows;
    std::vector<std::string> notes;   ///< for people, below the table
    std::vector<Need> needs = {};     ///< what is judged at least
    std::string title = {};           ///< what the experiment does, in a few words
    std::vector<Column> columns = {}; ///< what the table shows of the figures
};

/// Whether the row reaches the bar; nothing when it has no such figure.
[[nodiscard]] std::optional<bool> reached(const Row& row, const Bar& bar);

/// What became of the bars of a report.
struct Verdict {
    std::size_t reached = 0;
    std::vector<std::string> missed; ///< for people: which row and figure, and what it had to be
    std::vector<std::string> absent; ///< likewise; what was not measured is not reached either

    [[nodiscard]] bool good() const { return missed.empty() && absent.empty(); }
};
[[nodiscard]] Verdict judge(const Report& report);

/// "3 bars reached, 1 missed, 2 not measured".
[[nodiscard]] std::string in_words(const Verdict& verdict);

/// "≤ 1.10"
[[nodiscard]] std::string limit_text(const Bar& bar);

/// The column's title of a figure, or its name where no column shows it.
[[nodiscard]] std::string title_of(const Report& report, const std::string& figure);

/// What a table shows, in text.
struct TextColumn {
    std::string title;
    bool right = false; ///< numbers end below each other
    std::vector<std::string> cells = {};
};
struct Table {
    std::vector<std::string> common; ///< the parts of variants that all rows share
    std::vector<TextColumn> columns; ///< those that would be empty are left out
};
[[nodiscard]] Table table_of(const Report& report);

/// Aligned columns; what all variants have in common is said once, above.
[[nodiscard]] std::string render_table(const Report& report);

/// 1234567.8 → 1,234,567.8
[[nodiscard]] std::string grouped(double value, int decimals);

/// How many columns of a terminal the text takes: code points, not bytes ("µs" is two, not three).
[[nodiscard]] std::size_t width_of(std::string_view text);
/// With spaces up to the width; at its right end if `right`.
[[nodiscard]] std::string padded(const std::string& text, std::size_t width, bool right = false);

[[nodiscard]] Result<void> write_file(const std::string& path, std::string_view text);

} // namespace kairos::bench
