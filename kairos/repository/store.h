// SPDX-License-Identifier: Apache-2.0
//
// What keeps an Interface Repository when its server ends. Not shared by threads without a lock.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/repository/model.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kairos::repository {

class KAIROS_API Store {
  public:
    struct Kept {
        std::vector<Definition> definitions{};
        Key next = first_free;
    };

    Store() = default;
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    virtual ~Store() = default;

    /// A number that only this store and its copies have: tells its definitions from those of
    /// others. Not zero.
    [[nodiscard]] virtual std::uint64_t identity() const noexcept = 0;
    /// Reads everything. An Error also for what nobody wrote like this.
    [[nodiscard]] virtual Result<Kept> read() = 0;
    /// Whether a change can be kept, asked before one is made. An Error `unreachable` or `system`
    /// says that the store does not work now, and has what was read, as far as is known; any other
    /// that it must be read again.
    [[nodiscard]] virtual Result<void> check() { return {}; }
    /// Writes definitions and erases others, all or nothing; what it has done survives the end of
    /// the process. When the machine's power fails, the last changes may be missing as well, never
    /// a part of one: definitions come from files of IDL, which can be loaded again. After an Error
    /// it must be read again: whether it has the change is not known.
    [[nodiscard]] virtual Result<void> write(const std::vector<const Definition*>& written,
                                             const std::vector<Key>& erased, Key next) = 0;
};

} // namespace kairos::repository
