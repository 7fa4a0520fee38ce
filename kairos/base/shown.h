// SPDX-License-Identifier: Apache-2.0
//
// Text from outside on its way to people: what peers, files and name servers say is shown on
// terminals and written to logs only through `shown`. Any thread.
#pragma once

#include "kairos/base/export.h"

#include <string>
#include <string_view>

namespace kairos {

/// `text` with everything that a terminal or the reader of a log would take for more than text as
/// \xNN of its octets: control characters (line ends, too), those of Unicode and the ones that
/// change the direction of what follows, and whatever is not UTF-8. The rest stays as it is, so
/// that what was shown may be shown again.
[[nodiscard]] KAIROS_API std::string shown(std::string_view text);

/// Returns `text` with each of its lines as `shown` returns it; the line feeds between them stay.
[[nodiscard]] std::string shown_lines(std::string_view text);
/// Whether `shown` would return `text` unchanged.
[[nodiscard]] bool is_shown_as_it_is(std::string_view text) noexcept;

} // namespace kairos
