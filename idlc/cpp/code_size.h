// SPDX-License-Identifier: Apache-2.0
//
// How many bytes an operation or a struct adds to the object files of its stubs and skeletons,
// compiled and interpreted: what --code-budget is counted in. An estimate from what it is made of,
// for x86-64 and -O2; tests/profile/code_size_test.py holds it against real object files.
#pragma once

#include "idlc/cpp/emitters.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kairos::idlc {

struct CodeBytes {
    std::int64_t compiled = 0;
    std::int64_t interpretive = 0;

    [[nodiscard]] std::int64_t of(Engine engine) const noexcept
    {
        return engine == Engine::compiled ? compiled : interpretive;
    }
    /// What compiled code costs more.
    [[nodiscard]] std::int64_t difference() const noexcept { return compiled - interpretive; }
};

[[nodiscard]] CodeBytes estimated_bytes(const Call& call);
[[nodiscard]] CodeBytes estimated_bytes(const Struct& composite);
/// What all compiled operations of a file have in common, if there is one.
inline constexpr std::int64_t compiled_operations_bytes = 400;

/// The elements of the sequences whose compiled code is shared by all who need it: each is counted
/// once.
[[nodiscard]] std::vector<std::string> counted_sequences(const Call& call);
[[nodiscard]] std::vector<std::string> counted_sequences(const Struct& composite);
inline constexpr std::int64_t compiled_sequence_bytes = 890;

} // namespace kairos::idlc
