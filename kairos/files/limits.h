// SPDX-License-Identifier: Apache-2.0
//
// How closely files are watched.
#pragma once

#include <chrono>
#include <cstddef>

namespace kairos::files {

/// How long files are taken for unchanged, without a look.
inline constexpr std::chrono::seconds watch_interval{1};
/// In steps of which a system may say when a file was changed.
inline constexpr std::chrono::seconds stamp_step{2};
/// Files of a folder that are looked at.
inline constexpr std::size_t watched_in_folder_max = 4096;

} // namespace kairos::files
