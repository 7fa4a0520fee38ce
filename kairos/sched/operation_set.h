// SPDX-License-Identifier: Apache-2.0
//
// The operations that are scheduled together, each with a name and a number. What breaks the limits
// of rt_info.h is refused here, so the analysis need not look. Not thread-safe.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/sched/rt_info.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::sched {

/// Whether one descriptor makes sense by itself, its dependencies apart.
[[nodiscard]] KAIROS_API Result<void> check(const RtInfo& info);

class KAIROS_API OperationSet {
  public:
    /// Adds an operation. `info` comes without dependencies (add_dependency).
    Result<OperationIndex> add(RtInfo info);
    /// Gives an operation, which keeps its name and dependencies, another descriptor.
    Result<void> replace(OperationIndex operation, RtInfo info);
    Result<void> add_dependency(OperationIndex caller, const Dependency& dependency);

    [[nodiscard]] std::optional<OperationIndex> find(std::string_view name) const;
    [[nodiscard]] std::size_t size() const noexcept { return operations_.size(); }
    /// The operation of an index below size().
    [[nodiscard]] const RtInfo& operator[](OperationIndex operation) const
    {
        return operations_[operation];
    }
    [[nodiscard]] auto begin() const noexcept { return operations_.begin(); }
    [[nodiscard]] auto end() const noexcept { return operations_.end(); }

  private:
    std::vector<RtInfo> operations_;
    std::map<std::string, OperationIndex, std::less<>> names_;
};

} // namespace kairos::sched
