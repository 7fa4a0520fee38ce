// SPDX-License-Identifier: Apache-2.0
//
// A journal in one file of SQLite's, which one process at a time has: what was acknowledged
// survives the end of the process, however that comes, and a loss of power.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/journal.h"
#include "kairos/base/result.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace kairos::journal {

struct KAIROS_API SqliteOptions {
    std::string path;            ///< made if it is not there; its folder must be
    std::uint32_t pages_max = 0; ///< of 4 KiB, beyond which it is full; 0: the disk's limit
    /// How long a change waits for its turn, behind others on a slow disk.
    std::chrono::milliseconds patience{2000};
};

/// Opens a journal. Fails for a file that is somebody else's or a later version's, that cannot be
/// written, or that another process has open.
[[nodiscard]] KAIROS_API Result<std::unique_ptr<Journal>>
open_sqlite_journal(const SqliteOptions& options, const JournalKind& kind);

} // namespace kairos::journal
