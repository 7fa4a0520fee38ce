// SPDX-License-Identifier: Apache-2.0
//
// The store of a notification service in one file of SQLite's: what was acknowledged survives the
// end of the process, however that comes, and a loss of power.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/notification/store.h"

#include <cstdint>
#include <memory>
#include <string>

namespace kairos::eventstore {

struct StoreOptions {
    std::string path;            ///< made if it is not there; its folder must be
    std::uint32_t pages_max = 0; ///< of 4 KiB, beyond which the store is full; 0: the disk's limit
};

/// Opens a store. Fails for a file that is somebody else's or a later version's, that cannot be
/// written, or that another notification service has open.
[[nodiscard]] KAIROS_API Result<std::unique_ptr<notification::Store>>
open_sqlite_store(const StoreOptions& options);

} // namespace kairos::eventstore
