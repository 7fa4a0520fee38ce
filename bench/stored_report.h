// SPDX-License-Identifier: Apache-2.0
//
// Reports as JSON files: an array, first an object with what was measured where and how the table
// shows it, then one object per row. Who reads such a file needs no knowledge of the experiment.
#pragma once

#include "bench/report.h"

#include <nlohmann/json_fwd.hpp>

namespace kairos::bench {

/// Where and with what a report was made. Members are empty where a file does not say.
struct Host {
    std::string kairos; ///< the version
    std::string name;
    std::string kernel;
    std::string machine; ///< the architecture
    std::string cpu;
    unsigned cpus = 0; ///< that the experiment could use
    std::string compiler;
    std::string build;
    std::string date; ///< UTC, as 2026-01-31T23:59:59Z

    /// Whether figures of both may stand beside each other.
    [[nodiscard]] bool same_place(const Host& other) const;
};

struct StoredReport {
    std::string name; ///< of the file, without .json
    Host host;
    Report report;
};

[[nodiscard]] Host this_host();

[[nodiscard]] nlohmann::ordered_json to_json(const Report& report);
[[nodiscard]] Result<void> write_json(const Report& report, const std::string& path);

/// An error for what write_json() did not write.
[[nodiscard]] Result<StoredReport> read_report(const std::string& path);

/// Those of a folder's .json files, in the order in which the experiments are best read. An error
/// when there is none.
[[nodiscard]] Result<std::vector<StoredReport>> read_reports(const std::string& folder);

} // namespace kairos::bench
