// SPDX-License-Identifier: Apache-2.0
//
// What calls heed of the policies in force (CORBA 3.3 part 1, 17.2): the quality of service that a
// reference, a thread or an ORB asks for, worked out when it is set. Values.
#pragma once

#include "kairos/base/deadline.h"

#include <atomic>
#include <cstdint>

namespace kairos::orb {

/// When a oneway returns. Values of Messaging::SyncScope.
enum class SyncScope : std::int16_t { none, with_transport, with_server, with_target };

/// How a client's threads share connections (paper 003's connection architectures). Values of
/// KairosPolicies::ConnectionArchitecture.
enum class ConnectionArchitecture : std::int16_t {
    non_multiplexed,  ///< each thread has its own: no thread waits for another
    leader_followers, ///< one for all; of the threads that wait for replies, one reads
    active,           ///< one for all, which a thread of the ORB writes and reads
};

/// What may be done unasked for a reference that is bound. Values of Messaging::RebindMode.
enum class RebindMode : std::int16_t {
    transparent,  ///< forwards are followed, connections made
    no_rebind,    ///< connections are made anew, forwards are not followed
    no_reconnect, ///< neither
};

/// Whether connections may carry requests in both directions. Values of
/// BiDirPolicy::BidirectionalPolicyValue.
enum class BidirectionalUse : std::int16_t {
    normal, ///< they carry those of whoever made them
    both,
};

/// The policies that one level, a reference, a thread or an ORB, has for calls; what it does not
/// say is said by the next, more general level. Times are relative to the beginning of a call; zero
/// is no limit.
struct CallPolicies {
    std::optional<std::chrono::nanoseconds> round_trip_max; ///< until the reply is there
    std::optional<std::chrono::nanoseconds> request_max;    ///< until the request is sent
    std::optional<std::chrono::nanoseconds> connect_max;    ///< for making one connection
    std::optional<SyncScope> sync_scope;
    std::optional<ConnectionArchitecture> connection;
    std::optional<RebindMode> rebind;
    std::optional<BidirectionalUse> bidirectional;

    [[nodiscard]] bool is_empty() const noexcept
    {
        return !round_trip_max && !request_max && !connect_max && !sync_scope && !connection &&
               !rebind && !bidirectional;
    }
    /// Returns these policies with those of a more special level in front: what `special` says
    /// counts.
    [[nodiscard]] CallPolicies overridden_by(const CallPolicies& special) const noexcept
    {
        const auto first = [](const auto& one, const auto& other) { return one ? one : other; };
        return {.round_trip_max = first(special.round_trip_max, round_trip_max),
                .request_max = first(special.request_max, request_max),
                .connect_max = first(special.connect_max, connect_max),
                .sync_scope = first(special.sync_scope, sync_scope),
                .connection = first(special.connection, connection),
                .rebind = first(special.rebind, rebind),
                .bidirectional = first(special.bidirectional, bidirectional)};
    }
};

/// The policies that one call heeds, worked out when it begins: CallPolicies with deadlines in
/// place of relative times, and defaults for what no level says.
struct CallLimits {
    Deadline reply;                       ///< of the whole call
    Deadline request;                     ///< of everything until the request is sent
    std::chrono::nanoseconds connect_max; ///< zero: none but the deadline
    SyncScope sync_scope;
    /// When the operation must have ended, as the IDL says, by Deadline::Clock; zero where it says
    /// nothing. Not a Deadline: those are set in calls that have no limits, too.
    std::chrono::nanoseconds due_by_idl;
    ConnectionArchitecture architecture; ///< of the connection
    RebindMode rebind;
    BidirectionalUse bidirectional; ///< of a connection that the call makes

    /// Returns the limits of a call that begins now.
    [[nodiscard]] static CallLimits of(const CallPolicies& policies) noexcept
    {
        const auto deadline = [](const auto& max) {
            return max && max->count() != 0 ? Deadline::after(*max) : Deadline();
        };
        const Deadline reply = deadline(policies.round_trip_max);
        return {.reply = reply,
                .request = earlier(reply, deadline(policies.request_max)),
                .connect_max = policies.connect_max.value_or(std::chrono::nanoseconds::zero()),
                .sync_scope = policies.sync_scope.value_or(SyncScope::with_transport),
                .due_by_idl = std::chrono::nanoseconds::zero(),
                .architecture =
                    policies.connection.value_or(ConnectionArchitecture::non_multiplexed),
                .rebind = policies.rebind.value_or(RebindMode::transparent),
                .bidirectional = policies.bidirectional.value_or(BidirectionalUse::normal)};
    }
    /// Returns the deadline for a connection that is to be made now.
    [[nodiscard]] Deadline connection() const noexcept
    {
        return connect_max.count() == 0 ? request : earlier(request, Deadline::after(connect_max));
    }
};

/// The call policies of an ORB, which threads read while others set them. Each policy is atomic by
/// itself; all of them together are not.
class SharedCallPolicies {
  public:
    [[nodiscard]] CallPolicies load() const noexcept
    {
        const auto time = [](const std::atomic<std::int64_t>& field) {
            const std::int64_t value = field.load(std::memory_order_relaxed);
            return value == unset ? std::nullopt : std::optional(std::chrono::nanoseconds(value));
        };
        const auto choice = []<typename T>(const std::atomic<std::int16_t>& field, T) {
            const std::int16_t value = field.load(std::memory_order_relaxed);
            return value == unset ? std::nullopt : std::optional(T{value});
        };
        return {.round_trip_max = time(round_trip_max_),
                .request_max = time(request_max_),
                .connect_max = time(connect_max_),
                .sync_scope = choice(sync_scope_, SyncScope{}),
                .connection = choice(connection_, ConnectionArchitecture{}),
                .rebind = choice(rebind_, RebindMode{}),
                .bidirectional = choice(bidirectional_, BidirectionalUse{})};
    }
    void store(const CallPolicies& policies) noexcept
    {
        const auto set = [](std::atomic<std::int64_t>& field, const auto& value) {
            field.store(value ? value->count() : unset, std::memory_order_relaxed);
        };
        set(round_trip_max_, policies.round_trip_max);
        set(request_max_, policies.request_max);
        set(connect_max_, policies.connect_max);
        const auto choose = [](std::atomic<std::int16_t>& field, const auto& value) {
            field.store(value ? static_cast<std::int16_t>(*value) : unset,
                        std::memory_order_relaxed);
        };
        choose(sync_scope_, policies.sync_scope);
        choose(connection_, policies.connection);
        choose(rebind_, policies.rebind);
        choose(bidirectional_, policies.bidirectional);
    }

  private:
    static constexpr std::int16_t unset = -1;

    std::atomic<std::int64_t> round_trip_max_{unset};
    std::atomic<std::int64_t> request_max_{unset};
    std::atomic<std::int64_t> connect_max_{unset};
    std::atomic<std::int16_t> sync_scope_{unset};
    std::atomic<std::int16_t> connection_{unset};
    std::atomic<std::int16_t> rebind_{unset};
    std::atomic<std::int16_t> bidirectional_{unset};
};

} // namespace kairos::orb
