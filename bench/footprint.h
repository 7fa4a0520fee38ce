// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the footprint experiment share: an IDL file becomes object files, and these
// become numbers. The compiler does the work, so nothing here is in a hurry.
#pragma once

#include "bench/experiment.h"
#include "bench/object_file.h"
#include "bench/toolchain.h"

#include <map>
#include <string>
#include <vector>

namespace kairos::bench {

enum class CodeKind { compiled, interpretive, omniorb };

/// One way to generate code of an IDL file.
struct CodeVariant {
    CodeKind kind = CodeKind::compiled;
    bool any = false;  ///< with TypeCodes and insertion into Any
    std::string level; ///< "-O2", "-Os"

    [[nodiscard]] std::string system() const;
    [[nodiscard]] std::string description() const; ///< the variant of its rows
    auto operator<=>(const CodeVariant&) const = default;
};

/// The generated code of one IDL file as objects. omniORB's stubs hold the skeletons, too.
struct GeneratedObjects {
    ObjectFile stubs;
    ObjectFile skeletons;
    std::map<std::string, std::string> operation_of; ///< names of generated classes, to operations
};

/// Generates code of `idl` in a folder of its own below `work` and compiles it.
[[nodiscard]] Result<GeneratedObjects> generate_objects(
    const Toolchain& tools, const std::filesystem::path& work, const std::filesystem::path& idl,
    const std::vector<std::filesystem::path>& included_from, const CodeVariant& variant);

/// What is left of several object files in a program.
struct LinkedSize {
    std::uint64_t code = 0;
    std::uint64_t constants = 0; ///< tables, literals, virtual tables
    std::uint64_t unwind = 0;

    [[nodiscard]] std::uint64_t total() const { return code + constants; }
};
[[nodiscard]] LinkedSize linked_size(const GeneratedObjects& objects);

/// The sizes of the OMG's services, as far as their IDL is installed (the paper's table XVIII).
[[nodiscard]] Result<void> add_services(Report& report, const FootprintOptions& options,
                                        const Toolchain& tools, const std::filesystem::path& work);

/// The sizes of a minimal client and server and of the libraries behind them.
[[nodiscard]] Result<void> add_programs(Report& report, const FootprintOptions& options,
                                        const Toolchain& tools, const std::filesystem::path& work);

} // namespace kairos::bench
