// SPDX-License-Identifier: Apache-2.0
//
// The front end as one object: a file or a text in, its model and its diagnostics out. What tools,
// back ends and main.cpp use.
#pragma once

#include "idlc/diagnostics.h"
#include "idlc/model.h"
#include "idlc/options.h"
#include "idlc/preprocess.h"
#include "idlc/source.h"
#include "idlc/timing.h"

#include <string>
#include <vector>

namespace kairos::idlc {

class Compilation {
  public:
    /// The options are borrowed.
    explicit Compilation(const Options& options) : options_(options) {}
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    /// Preprocesses, parses and checks one file. True where there was no error. Once per object.
    [[nodiscard]] bool compile_file(const std::string& path);
    /// The same for a text that needs no preprocessing; `path` is how diagnostics call it.
    [[nodiscard]] bool compile_text(std::string text, const std::string& path);
    /// For -E: only preprocesses. The text is in `out` where there was no error.
    [[nodiscard]] bool preprocess_file(const std::string& path, std::string& out);

    [[nodiscard]] const Unit& unit() const noexcept { return unit_; }
    /// What it says about the timing of operations.
    [[nodiscard]] const std::vector<Timing>& timings() const noexcept { return timings_; }
    [[nodiscard]] Diagnostics& diagnostics() noexcept { return diagnostics_; }

  private:
    bool parse();

    const Options& options_;
    SourceTexts texts_;
    Unit unit_;
    std::vector<Timing> timings_;
    Diagnostics diagnostics_{unit_.files, texts_};
    PreprocessedText preprocessed_;
};

} // namespace kairos::idlc
