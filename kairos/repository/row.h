// SPDX-License-Identifier: Apache-2.0
//
// A definition as octets, as a database keeps it.
#pragma once

#include "kairos/base/export.h"
#include "kairos/repository/model.h"

#include <optional>
#include <string>
#include <string_view>

namespace kairos::repository {

/// Returns the octets that stand for a definition, its key among them.
[[nodiscard]] KAIROS_API std::string encode(const Definition& definition);
/// Returns the definition; nothing for octets that encode() does not make. Whether it fits the
/// rules of a model is the model's to say.
[[nodiscard]] KAIROS_API std::optional<Definition> decode(std::string_view octets);

} // namespace kairos::repository
