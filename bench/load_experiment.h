// SPDX-License-Identifier: Apache-2.0
//
// What the priority and concurrency experiments have in common.
#pragma once

#include "bench/experiment.h"
#include "bench/load.h"

namespace kairos::bench {

/// Gives the load the bytes of a call of the first ORB that takes part, else an estimate, for raw
/// sockets to move as many.
[[nodiscard]] Result<Load> with_message_bytes(Load load, std::vector<Contestant>& contestants);

/// The figures of one load and system, a round each.
struct Rounds {
    std::vector<RunningSystem::Figures> rounds;

    [[nodiscard]] std::vector<double> values(const std::string& figure) const;
    [[nodiscard]] double middle(const std::string& figure) const;
    /// Round by round, so that both sides of a ratio saw the machine in the same state; 0 if
    /// there is nothing to compare.
    [[nodiscard]] double ratio_to(const Rounds& other, const std::string& figure) const;
};

} // namespace kairos::bench
