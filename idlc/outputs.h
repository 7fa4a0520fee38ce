// SPDX-License-Identifier: Apache-2.0
//
// The files that a back end writes: what they are called, who may overwrite which, and the rule by
// which make learns what they were made from. One object for each main file.
#pragma once

#include "idlc/diagnostics.h"
#include "idlc/model.h"
#include "idlc/options.h"

#include <string>
#include <string_view>
#include <vector>

namespace kairos::idlc {

class BackEnd;

/// Returns what becomes of an IDL file: "foo_skel.h" of "x/foo.idl", or "x/foo_skel.h" where --root
/// keeps its folders.
[[nodiscard]] std::string generated_name(const std::string& idl_path, const OutputOptions& options,
                                         std::string_view suffix);

/// Says for each file of the unit whether it, or a file that it includes, declares anything that
/// something is generated for. A file that only defines macros or sets pragmas, or declares what
/// the run time has, becomes nothing.
[[nodiscard]] std::vector<bool> declaring_files(const Unit& unit);

class Outputs {
  public:
    /// Both are borrowed.
    Outputs(const OutputOptions& options, const Unit& unit) : options_(options), unit_(unit) {}

    /// Returns the name of a file that the main file becomes: "foo_skel.h".
    [[nodiscard]] std::string name(std::string_view suffix) const;
    /// Returns the name of a file that an included one becomes: with folders only if it is known to
    /// be generated with them.
    [[nodiscard]] std::string included_name(const std::string& idl_path,
                                            std::string_view suffix) const;
    /// Reports files that the main file includes, itself among them, of which two become one name.
    void check_names(std::string_view suffix, Diagnostics& diagnostics) const;

    void add(std::string name, std::string text);
    /// Something beside the IDL that the files were made from.
    void add_dependency(std::string path);
    /// Adds to what the user is told on standard output where all went well.
    void tell(std::string_view text) { told_ += text; }
    [[nodiscard]] const std::string& told() const noexcept { return told_; }

    /// Writes all files or none. Returns false, with errors reported, where one cannot be written
    /// or another IDL file of the same name has its own there.
    [[nodiscard]] bool write(const BackEnd& generator, Diagnostics& diagnostics) const;

  private:
    struct File {
        std::string name;
        std::string text;
    };

    [[nodiscard]] std::string make_rule() const;

    const OutputOptions& options_;
    const Unit& unit_;
    std::vector<File> files_;
    std::vector<std::string> dependencies_;
    std::string told_;
};

} // namespace kairos::idlc
