// SPDX-License-Identifier: Apache-2.0
//
// What an event service gives its clients at most, so that none of them costs more than it may.
#pragma once

#include <chrono>
#include <cstddef>

namespace kairos::events {

struct ServiceLimits {
    /// Events that wait for one consumer. When there are as many, the oldest is dropped.
    std::size_t queue_max = 1000;
    /// Octets of them, about; a single event may have more.
    std::size_t queue_octets_max = std::size_t{16} << 20;
    /// Octets of one event, as it is encoded.
    std::size_t event_octets_max = std::size_t{16} << 20;
    /// Octets, about, of all events of all channels that wait, each counted once; and as many of
    /// their copies in the calls that are under way.
    std::size_t octets_of_all_max = std::size_t{256} << 20;
    /// Channels, proxies of each, and of all of them.
    std::size_t channels_max = 1000;
    std::size_t proxies_max = 1000;
    std::size_t proxies_of_all_max = 10'000;
    /// A proxy that nobody has used for so long makes room for another one, where there are as many
    /// as may be: one that was never connected, a supplier's that pushes or a consumer's that
    /// pulls.
    std::chrono::milliseconds proxy_idle_max{600'000};
    /// How long a call of a consumer or a supplier may take.
    std::chrono::milliseconds call_timeout{3000};
    /// Calls of one consumer or supplier that fail one after the other: then it is disconnected.
    unsigned failures_max = 5;
    /// How often an event is sent to a consumer that can be reached and does not take it: then that
    /// event is dropped. With fewer failures than that the consumer goes first.
    unsigned event_tries_max = 3;
    /// From a call that failed as nobody answered to the next; twice as long each time.
    std::chrono::milliseconds retry_pause{100};
    /// From when a supplier had no event until it is asked again.
    std::chrono::milliseconds poll_interval{100};
    /// How long a pull waits for an event, and how many of a channel, and of all, may wait.
    std::chrono::milliseconds pull_max{60'000};
    std::size_t pulls_max = 100;
    std::size_t pulls_of_all_max = 1000;
    /// How many typed consumers of all channels may be asked at once which object takes their
    /// events; each has a thread of the server wait for it.
    std::size_t connects_of_all_max = 16;
    /// Threads that call consumers and suppliers: those which have answered lately; those which
    /// were not called yet, or are in this process; and those which have failed. Connecting, and a
    /// call within the process, keeps one of them. One of each at least.
    std::size_t quick_threads = 2;
    std::size_t fresh_threads = 4;
    std::size_t patient_threads = 2;
};

} // namespace kairos::events
