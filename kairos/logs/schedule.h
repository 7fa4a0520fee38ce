// SPDX-License-Identifier: Apache-2.0
//
// When a log is on duty (Telecom Log Service 1.1.2, 2.1.7 and 2.1.8): its interval and its week
// mask, in UTC. Pure functions.
#pragma once

#include "kairos/logs/KairosLogs.h"
#include "kairos/logs/service_limits.h"

#include <cstdint>

namespace kairos::logs {

/// Throws InvalidTime and InvalidTimeInterval.
void check_interval(const DsLogAdmin::TimeInterval& interval);
/// Throws InvalidTime, InvalidTimeInterval and InvalidMask; IMP_LIMIT for too many.
void check_week_mask(const DsLogAdmin::WeekMask& mask, const ServiceLimits& limits);
/// Throws InvalidThreshold.
void check_thresholds(const DsLogAdmin::CapacityAlarmThresholdList& thresholds);
/// Throws InvalidLogFullAction.
void check_full_action(DsLogAdmin::LogFullActionType action);

[[nodiscard]] bool is_on_duty(const KairosLogs::Settings& settings, std::uint64_t now) noexcept;

} // namespace kairos::logs
