// SPDX-License-Identifier: Apache-2.0
//
// How large the parts of an object file are: its functions and constants by name, read from the
// ELF symbol table. What several object files have in common (templates, inline functions) is told
// apart, because a linker keeps one of each.
#pragma once

#include "kairos/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kairos::bench {

struct ObjectSymbol {
    std::string name; ///< demangled, without "[clone …]"; empty for what has no symbol, as literals
    std::uint64_t bytes = 0;
    bool code = false;   ///< else a constant or a variable
    bool shared = false; ///< a linker keeps one of that name
};

struct ObjectFile {
    std::vector<ObjectSymbol> symbols; ///< each byte of code and constants is in exactly one
    std::uint64_t unwind_bytes = 0;    ///< what exceptions need to find their way
};

/// Of a 64-bit ELF file in this machine's byte order: an object file, a library or a program.
[[nodiscard]] Result<ObjectFile> read_object_file(const std::filesystem::path& path);

} // namespace kairos::bench
