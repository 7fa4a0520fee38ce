// SPDX-License-Identifier: Apache-2.0
//
// What certain ORBs do otherwise than the specification says, and is done with them so that calls
// pass: the one table is in quirks.cpp. Off for everybody else: on for peers whose references say
// that they are such an ORB, and with all peers for what -ORBQuirks names, since requests do not
// say whose they are.
#pragma once

#include "kairos/base/result.h"

#include <span>
#include <string>
#include <string_view>

namespace kairos::ior {
struct TaggedComponent;
} // namespace kairos::ior

namespace kairos::orb {

struct Quirks {
    /// Chunked values are in TAO's form (kairos/values/input.h).
    bool tao_chunks = false;
    friend bool operator==(const Quirks&, const Quirks&) = default;
};

/// Returns the quirks in a list of names with commas between them; none for an empty list. The
/// reason of an error says what names there are.
[[nodiscard]] Result<Quirks> quirks_named(std::string_view names);
/// Returns the names of these quirks, with commas between them.
[[nodiscard]] std::string names_of(const Quirks& quirks);
/// Returns the quirks of the ORB that a profile's TAG_ORB_TYPE names.
[[nodiscard]] Quirks quirks_of(std::span<const ior::TaggedComponent> components);

} // namespace kairos::orb
