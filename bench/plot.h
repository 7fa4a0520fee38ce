// SPDX-License-Identifier: Apache-2.0
//
// Pictures of reports, drawn by gnuplot as SVG. The script is made here and is plain text, so that
// it can be tested without gnuplot.
#pragma once

#include "bench/report.h"

#include <string>
#include <vector>

namespace kairos::bench {

struct Picture {
    std::string path;
    std::string script; ///< for gnuplot, data included
};

/// The pictures of a report: one; for ttcp one per socket queue ("x.svg" becomes "x-8K.svg" …), for
/// demux another of calls ("x-calls.svg").
[[nodiscard]] std::vector<Picture> pictures_of(const Report& report, const std::string& path);

/// Draws them; says plainly when gnuplot is not installed. Returns the paths written.
[[nodiscard]] Result<std::vector<std::string>> draw(const Report& report, const std::string& path);

} // namespace kairos::bench
