// SPDX-License-Identifier: Apache-2.0
//
// --profile: from what was measured to what is compiled (docs/marshalling.md). Annotations and
// pragmas win. Of the rest, without a budget what makes up nine tenths of the measured time is
// compiled; with one, whatever saves most time a byte, as long as it fits. What is left is
// interpreted. The same input always gives the same choices.
#pragma once

#include "idlc/marshal_choice.h"
#include "idlc/model.h"
#include "idlc/profile.h"
#include "idlc/request.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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

/// What an operation or a struct adds to the object files of its stubs and skeletons.
struct CodeSize {
    CodeBytes bytes{};
    /// The elements of the sequences whose compiled code is shared by all who need it: each is
    /// counted once.
    std::vector<std::string> sequences{};
};

/// How large what a back end generates becomes: what a budget is counted in.
struct CodeSizes {
    std::function<std::optional<CodeSize>(const Request&)> of_request; ///< none: never interpreted
    std::function<CodeSize(const Struct&)> of_struct;
    std::int64_t sequence_bytes = 0; ///< of each of CodeSize::sequences, compiled
    /// What all compiled operations of a file have in common, if there is one.
    std::int64_t operations_bytes = 0;
};

enum class Reason {
    hot,
    cold,
    not_measured,
    over_budget,
    annotated,
    fixed_layout,    ///< data in both engines: there is nothing to choose
    always_compiled, ///< there is no interpreted form
};

/// One operation or type of the main file.
struct Choice {
    std::string_view kind; ///< "operation", "struct", "union", …
    std::string name;      ///< "Demo::Echo::add", "Demo::Echo::_get_size"
    const Declaration* declaration = nullptr;
    std::string wire_name{}; ///< of an operation, else empty
    Measured measured{};
    CodeSize size{};
    Engine engine = Engine::compiled;
    Reason reason = Reason::not_measured;
};

struct ProfileChoices {
    std::vector<Choice> list{};      ///< in the order of the IDL
    std::int64_t bytes = 0;          ///< of all that there is a choice of
    std::size_t unknown_entries = 0; ///< of the profile: they name nothing in the IDL
    /// What was chosen and why, for people: what took longest comes first.
    std::string table{};
};

[[nodiscard]] ProfileChoices choose(const Unit& unit, const Profile& profile,
                                    const CodeSizes& sizes,
                                    std::optional<std::uint32_t> budget_bytes);

} // namespace kairos::idlc
