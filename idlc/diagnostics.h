// SPDX-License-Identifier: Apache-2.0
//
// What the compiler has to say to its user, in the form that editors and people know from C++
// compilers. Collected while a unit is read and rendered at its end. Back ends report here too.
#pragma once

#include "idlc/model.h"
#include "idlc/source.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::idlc {

enum class Severity { error, warning, note };

struct Diagnostic {
    Severity severity = Severity::error;
    Location location{}; ///< line 0: about the file as a whole
    std::string message; ///< lower case, no full stop
};

class Diagnostics {
  public:
    /// Errors beyond this many are not kept: after so many the rest is seldom news.
    static constexpr std::size_t errors_max = 50;

    /// Both are borrowed and must outlive this.
    Diagnostics(const std::vector<SourceFile>& files, SourceTexts& texts)
        : files_(files), texts_(texts)
    {
    }

    void error(Location location, std::string message);
    void warning(Location location, std::string message);
    /// Belongs to the error or warning before it.
    void note(Location location, std::string message);

    [[nodiscard]] std::size_t error_count() const noexcept { return error_count_; }
    [[nodiscard]] bool full() const noexcept { return error_count_ > errors_max; }
    [[nodiscard]] const std::vector<Diagnostic>& list() const noexcept { return list_; }

    /// "file:line:column" as it is shown to the user.
    [[nodiscard]] std::string place(Location location) const;
    /// All of them, with source lines and carets; with escape sequences for colour if asked.
    [[nodiscard]] std::string render(bool colour) const;

  private:
    void add(Severity severity, Location location, std::string message);
    void render_one(const Diagnostic& diagnostic, bool colour, std::string& out) const;
    void render_includers(std::uint32_t file, std::string& out) const;

    const std::vector<SourceFile>& files_;
    SourceTexts& texts_;
    std::vector<Diagnostic> list_;
    std::size_t error_count_ = 0;
    bool dropping_ = false; ///< notes of an error that was not kept
};

} // namespace kairos::idlc
