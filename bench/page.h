// SPDX-License-Identifier: Apache-2.0
//
// One page with everything that a folder of reports holds: the summary, every picture and every
// table. It is self-contained: pictures and style are in it, it refers to nothing else, runs no
// script, and can be sent to somebody as a file.
#pragma once

#include "bench/stored_report.h"

#include <span>

namespace kairos::bench {

/// Text as it stands in HTML, between tags and within quotes.
[[nodiscard]] std::string html(std::string_view text);

/// An SVG file as gnuplot has written it.
struct StoredPicture {
    std::string name; ///< of the file, without .svg
    std::string svg;
};

/// Those of a folder, by their names.
[[nodiscard]] Result<std::vector<StoredPicture>> read_pictures(const std::string& folder);

/// The picture as an element of an HTML page, with identifiers that begin with its name, so that
/// several pictures can be on one page. An error when it would run something or load it.
[[nodiscard]] Result<std::string> inline_svg(const StoredPicture& picture,
                                             const std::string& title);

/// The page, as HTML that XML parsers read, too.
[[nodiscard]] Result<std::string> render_page(std::span<const StoredReport> reports,
                                              std::span<const StoredPicture> pictures);

} // namespace kairos::bench
