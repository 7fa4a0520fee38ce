// SPDX-License-Identifier: Apache-2.0
//
// The C preprocessor in front of the IDL lexer. Its output is one text plus the origin of each of
// its lines, so that everything later speaks of the user's files. Lines, comments, literals, names,
// macros and chains of inclusions may be as long as memory is; what would never end is refused.
#pragma once

#include "idlc/diagnostics.h"
#include "idlc/model.h"
#include "idlc/options.h"
#include "idlc/source.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kairos::idlc {

/// Where one line of preprocessed text comes from.
struct LineOrigin {
    std::uint32_t file = 0; ///< index of the unit's files
    std::uint32_t line = 1;
};

struct PreprocessedText {
    std::string text;
    std::vector<LineOrigin> origins; ///< one per line of `text`
};

/// Preprocesses the main file. Fills `files` (entry 0 is the main file) and reports what the
/// preprocessor complains of; the text is complete only if no error was added.
[[nodiscard]] PreprocessedText preprocess(const std::string& path, const Options& options,
                                          std::vector<SourceFile>& files, SourceTexts& texts,
                                          Diagnostics& diagnostics);

/// For text that is already preprocessed: only `#line` and `# 1 "file"` markers are interpreted.
[[nodiscard]] PreprocessedText interpret_markers(std::string text, const std::string& path,
                                                 std::vector<SourceFile>& files,
                                                 SourceTexts& texts);

/// The text for -E: with `#line` markers where the origin is not the next line of the same file.
[[nodiscard]] std::string with_markers(const PreprocessedText& preprocessed,
                                       const std::vector<SourceFile>& files);

} // namespace kairos::idlc
