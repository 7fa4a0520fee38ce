// SPDX-License-Identifier: Apache-2.0
//
// What a notification service gives its clients at most, so that none of them costs more than it
// may.
#pragma once

#include "kairos/events/service_limits.h"

#include <chrono>
#include <cstddef>

namespace kairos::notification {

/// `queue_max` is what a consumer has that says nothing of MaxEventsPerConsumer, and may ask for.
struct NotificationLimits : events::ServiceLimits {
    /// Admins of each channel, both kinds together.
    std::size_t admins_max = 100;
    /// Filters of all channels, and attachments of them to admins and proxies.
    std::size_t filters_max = 10'000;
    std::size_t attachments_max = 20'000;
    /// Constraints of all filters, each with its event types, and octets of all of
    /// that, about.
    std::size_t constraints_max = 20'000;
    std::size_t constraint_octets_max = std::size_t{256} << 20;
    /// What one constraint may cost for one event, in the steps of constraints::Evaluator.
    std::size_t constraint_steps_max = std::size_t{1} << 14;
    /// How long a service that begins again asks mapping filters of the events that have waited
    /// before: nobody is served meanwhile. Those that they have not seen by then are what they say
    /// themselves.
    std::chrono::milliseconds restored_mapping_max{10'000};
    /// Event types that one client may say it offers or wants.
    std::size_t types_max = 1000;
    /// Octets of the different types that all clients of one side of a channel name, about. Those
    /// that each of them names count as those of constraints, too.
    std::size_t side_types_octets_max = std::size_t{1} << 20;
    /// Events in one sequence that is pushed or pulled.
    std::size_t batch_max = 1000;
    /// Pushes and other calls that wait for the store.
    std::size_t store_waiting_max = 1000;
    /// How long each of them waits until the store begins with it, and then until it has it. While
    /// the store is at work on something for longer, others do not wait at all.
    std::chrono::milliseconds store_patience{10'000};
};

} // namespace kairos::notification
