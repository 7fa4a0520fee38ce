// SPDX-License-Identifier: Apache-2.0
//
// What a log service gives its clients at most, so that none of them costs more than it may.
#pragma once

#include <chrono>
#include <cstddef>

namespace kairos::logs {

struct ServiceLimits {
    /// Logs, of all kinds together.
    std::size_t logs_max = 1000;
    /// Octets of one record, encoded, and octets of all records where they are in memory.
    std::size_t record_octets_max = std::size_t{16} << 20;
    std::size_t memory_octets_max = std::size_t{256} << 20;
    /// Records that one call may write, and attributes that may be set of a record by a call.
    std::size_t written_max = 10'000;
    std::size_t attributes_max = 1000;
    /// Items of a week mask, and intervals of each.
    std::size_t week_mask_max = 100;
    std::size_t intervals_max = 100;
    /// Octets of a constraint; what evaluating one may cost for one record, in the steps of
    /// constraints::Evaluator; and how long an operation may look through a log.
    std::size_t constraint_octets_max = std::size_t{16} << 10;
    std::size_t work_max = std::size_t{1} << 14;
    std::chrono::milliseconds query_time_max{60'000};
    /// Records that one query or retrieval may find, beyond what it returns at once; and those that
    /// all iterators together have.
    std::size_t found_max = 1'000'000;
    std::size_t found_of_all_max = 16'000'000;
    /// Iterators that clients have begun and not destroyed. The one that was not used for the
    /// longest time makes room for another; so does each that nobody has used for `idle_max`.
    std::size_t iterators_max = 250;
    std::chrono::milliseconds idle_max{600'000};
    /// Records in one reply, however many the client wants, and octets of them, unless one alone
    /// has more; the rest is the iterator's.
    std::size_t reply_count_max = 1000;
    std::size_t reply_octets_max = std::size_t{4} << 20;
};

} // namespace kairos::logs
