// SPDX-License-Identifier: Apache-2.0
//
// --profile: from what was measured to what is compiled (docs/marshalling.md). Annotations and
// pragmas win. Of the rest, without a budget what makes up nine tenths of the measured time is
// compiled; with one, whatever saves most time a byte, as long as it fits. What is left is
// interpreted. The same input always gives the same choices.
#pragma once

#include "idlc/cpp/code_size.h"
#include "idlc/profile.h"

#include <string>
#include <vector>

namespace kairos::idlc {

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
    CodeBytes bytes{};
    std::vector<std::string> sequences{}; ///< counted_sequences()
    Engine engine = Engine::compiled;
    Reason reason = Reason::not_measured;
};

struct ProfileChoices {
    std::vector<Choice> list;        ///< in the order of the IDL
    std::int64_t bytes = 0;          ///< of all that there is a choice of
    std::size_t unknown_entries = 0; ///< of the profile: they name nothing in the IDL
};

[[nodiscard]] ProfileChoices choose(const Source& source, const Profile& profile);

/// What was chosen and why, for people: what took longest comes first.
[[nodiscard]] std::string table_of(const Source& source, const ProfileChoices& choices);

} // namespace kairos::idlc
