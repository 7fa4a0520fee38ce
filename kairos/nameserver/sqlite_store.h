// SPDX-License-Identifier: Apache-2.0
//
// The store of one name server in one SQLite file (and, while it runs, its write-ahead log beside
// it). Nothing is loaded at the start; a change is durable when it is answered. Reads go on beside
// changes, and after the disk is full or refuses to be written. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/nameserver/store.h"

#include <cstddef>
#include <memory>
#include <string>

namespace kairos::nameserver {

struct KAIROS_API SqliteOptions {
    std::string path;            ///< made if it is not there; its folder must be
    std::size_t readers = 4;     ///< reads that may run at the same time
    std::uint32_t pages_max = 0; ///< of 4 KiB, beyond which the store is full; 0: the disk's limit
};

/// Fails for a file that is somebody else's or a later version's, that cannot be written, or that
/// another name server has open.
[[nodiscard]] KAIROS_API Result<std::unique_ptr<Store>>
open_sqlite_store(const SqliteOptions& options);

} // namespace kairos::nameserver
