// SPDX-License-Identifier: Apache-2.0
//
// What people want to know of a run of the experiments first: the figures that matter, whether each
// reaches its bar, and where the rest is.
#pragma once

#include "bench/stored_report.h"

#include <optional>
#include <span>

namespace kairos::bench {

/// One of the figures that matter, of whichever report has it.
struct Headline {
    std::string title;
    Bar bar;
    int decimals = 2;
    std::optional<double> value; ///< empty: not measured
    std::string beside;          ///< what it was compared with, in units; may be empty

    [[nodiscard]] std::optional<bool> reached() const;
};

/// All of them, in the same order every time, measured or not.
[[nodiscard]] std::vector<Headline> headlines_of(std::span<const StoredReport> reports);

/// "reached", "MISSED" or "not measured".
[[nodiscard]] std::string_view outcome_of(const Headline& headline);

/// Of the headlines alone.
[[nodiscard]] Verdict judge(std::span<const Headline> headlines);
/// Of every report together.
[[nodiscard]] Verdict judge(std::span<const StoredReport> reports);

/// "2026-01-31 23:59 UTC" of a Host's date.
[[nodiscard]] std::string readable_date(const std::string& date);

/// What is said of where reports were made: titles and texts.
[[nodiscard]] std::vector<std::pair<std::string, std::string>>
circumstances_of(std::span<const StoredReport> reports);

/// The most that render_summary() takes of a terminal. Only the path of a folder may be wider.
inline constexpr std::size_t summary_lines_max = 40;
inline constexpr std::size_t summary_columns_max = 100;

/// One screen. `folder` is where the reports were read, and where the page was written.
[[nodiscard]] std::string render_summary(std::span<const StoredReport> reports,
                                         const std::string& folder, bool colored);

} // namespace kairos::bench
