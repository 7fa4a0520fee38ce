// SPDX-License-Identifier: Apache-2.0
//
// Types and sources of events that mean something to a real-time channel, with the values that TAO
// gives them (ACE_ES_…).
#pragma once

#include "kairos/corba/CORBA.h"

namespace kairos::rtevents {

// --- in events, and in a consumer's dependencies ---
inline constexpr CORBA::Long any_type = 0;     ///< of a dependency: whatever type an event has
inline constexpr CORBA::Long any_source = 0;   ///< of a dependency: whatever source
inline constexpr CORBA::Long timeout_type = 4; ///< once, after `creation_time`
inline constexpr CORBA::Long interval_timeout_type = 5; ///< each time that `creation_time` is over
inline constexpr CORBA::Long deadline_timeout_type = 6; ///< if nothing has come by then
/// The least that a program gives to events of its own.
inline constexpr CORBA::Long own_types_begin = 16;

// --- in dependencies only: what those behind it belong to (filter.h) ---
inline constexpr CORBA::Long global_group = 7;       ///< as disjunction_group, without a count
inline constexpr CORBA::Long conjunction_group = 8;  ///< all of them, one after the other
inline constexpr CORBA::Long disjunction_group = 9;  ///< any of them
inline constexpr CORBA::Long negation = 10;          ///< what the next one does not take
inline constexpr CORBA::Long logical_and_group = 11; ///< all of them take the same event
inline constexpr CORBA::Long bitmask = 12;     ///< then masks, of source and type; then one more
inline constexpr CORBA::Long masked_type = 13; ///< then masks; then what is to be left of both
inline constexpr CORBA::Long everything = 14;  ///< takes every event

} // namespace kairos::rtevents
