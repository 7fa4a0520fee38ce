// SPDX-License-Identifier: Apache-2.0
//
// Records that are looked for: by a constraint over them (Telecom Log Service 1.1.2, 2.1.12), or by
// their time; and records as clients get them.
#pragma once

#include "kairos/constraints/constraint.h"
#include "kairos/corba/octet_charge.h"
#include "kairos/logs/log.h"

#include <memory>
#include <mutex>
#include <vector>

namespace kairos::logs {

/// Throws InvalidGrammar and InvalidConstraint.
[[nodiscard]] constraints::Constraint parse_query(const char* grammar, const char* text,
                                                  const ServiceLimits& limits);

/// What a search has found: the numbers, in its order.
using Numbers = std::vector<std::uint64_t>;

/// Those that fulfil the constraint, the oldest first. The first of them are put into `rows`, if
/// that is given, as many as go into one reply. Throws NO_RESOURCES where that takes too long or
/// finds too many.
[[nodiscard]] Numbers search(Log& log, const constraints::Constraint& constraint,
                             std::vector<RowPtr>* rows = nullptr);
/// Returns how many fulfil it.
[[nodiscard]] std::size_t count(Log& log, const constraints::Constraint& constraint);
/// From this time on; or from there back, if `how_many` is negative, the newest first.
[[nodiscard]] Numbers retrieve(Log& log, std::uint64_t from, std::int32_t how_many);

/// The records of these numbers from one position on: as many as go into one reply, and at most
/// `how_many`. Numbers whose records are gone or damaged are taken out of `numbers`, so that a list
/// that is empty is the end, and the next one begins where this one has ended. `rows` are the first
/// ones where they are known already. Owned by the caller.
[[nodiscard]] DsLogAdmin::RecordList* records(Log& log, Numbers& numbers, std::size_t position,
                                              std::size_t how_many,
                                              const std::vector<RowPtr>& rows = {});
/// Throws InvalidRecordId. Owned by the caller.
[[nodiscard]] DsLogAdmin::NVList* attributes_of(Log& log, std::uint64_t number);

/// What an iterator goes through.
struct RecordIteration {
    LogPtr log;
    std::mutex mutex; // guards numbers, one call at a time; outside Log::mutex_ and the store's
    Numbers numbers;  // without those that were found to be gone
    std::unique_ptr<const corba::Charge> charge;
};

} // namespace kairos::logs
