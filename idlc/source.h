// SPDX-License-Identifier: Apache-2.0
//
// Texts of source files for diagnostics: loaded from disk on first use, or given by the caller when
// an IDL text has no file (tests, fuzzing, tools). Below the preprocessor and the lexer.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kairos::idlc {

/// One text with an index of its lines.
class SourceText {
  public:
    explicit SourceText(std::string text);
    /// Line `number`, which starts at 1, without its end; empty where there is no such line.
    [[nodiscard]] std::string_view line(std::size_t number) const noexcept;
    [[nodiscard]] std::string_view text() const noexcept { return text_; }
    [[nodiscard]] std::size_t line_count() const noexcept { return starts_.size(); }

  private:
    std::string text_;
    std::vector<std::size_t> starts_; ///< offset of each line
};

class SourceTexts {
  public:
    /// From now on the text of `path` is this, and no file is opened for any path.
    void give(const std::string& path, std::string text);
    /// Null where there is no such file, or it cannot be read. The pointer stays valid.
    [[nodiscard]] const SourceText* find(const std::string& path);

  private:
    bool disk_ = true;
    std::unordered_map<std::string, std::unique_ptr<SourceText>> texts_;
};

} // namespace kairos::idlc
