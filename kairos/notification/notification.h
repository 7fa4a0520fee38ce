// SPDX-License-Identifier: Apache-2.0
//
// One event on its way from a supplier to any number of consumers, in the form that it came in, and
// in the other one where a consumer wants that (CosNotification 1.1, 2.1): a structured event in an
// Any, an Any in a structured event of the type %ANY. What calls have as arguments is encoded once.
// What is set here at all is set before it is shared; any thread may read.
#pragma once

#include "kairos/cdr/writer.h"
#include "kairos/events/event.h"
#include "kairos/notification/CosNotification.h"
#include "kairos/types/any.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace kairos::notification {

/// Type and domain names have as many octets at most.
inline constexpr std::size_t type_name_max = 1024;
inline constexpr const char* any_type_name = "%ANY";

/// What a supplier's proxy says of events that say nothing of it themselves.
struct EventDefaults {
    std::int16_t priority = 0;
    std::chrono::nanoseconds timeout{0}; ///< 0 for none
    std::chrono::nanoseconds age{0};     ///< of one that has come before this process began
};

/// What the mapping filters of a consumer make of an event, where they do.
struct Mapped {
    std::optional<std::int16_t> priority{};
    /// From when the event has come; 0: without an end.
    std::optional<std::chrono::nanoseconds> lifetime{};
};

class Notification {
  public:
    using Clock = std::chrono::steady_clock;

    /// Copy the event. Throw what encoding it throws, and IMP_LIMIT for names that are too long.
    Notification(const CORBA::Any& data, const EventDefaults& defaults);
    Notification(const CosNotification::StructuredEvent& event, const EventDefaults& defaults);
    Notification(const Notification&) = delete;
    Notification& operator=(const Notification&) = delete;

    [[nodiscard]] std::string_view domain_name() const noexcept;
    [[nodiscard]] std::string_view type_name() const noexcept;
    [[nodiscard]] std::int16_t priority() const noexcept { return priority_; }
    /// From when it is of no use; the clock's end for one that says nothing of that.
    [[nodiscard]] Clock::time_point deadline() const noexcept { return deadline_; }
    [[nodiscard]] Clock::time_point received() const noexcept { return received_; }
    /// StopTime; the clock's end for one that has none.
    [[nodiscard]] Clock::time_point stop_time() const noexcept { return stop_time_; }
    /// Whether it says its priority itself, and its lifetime.
    [[nodiscard]] bool says_priority() const noexcept { return says_priority_; }
    [[nodiscard]] bool says_timeout() const noexcept { return says_timeout_; }
    /// Whether it is to be kept until its consumers have it: as it says itself, or else this.
    [[nodiscard]] bool is_persistent(bool otherwise) const noexcept
    {
        return is_persistent_.value_or(otherwise);
    }
    /// Whether a store has had it, for one of its consumers at least.
    [[nodiscard]] bool was_kept() const noexcept { return was_kept_; }
    void note_kept() const noexcept { was_kept_ = true; }
    [[nodiscard]] const EventDefaults& defaults() const noexcept { return defaults_; }
    [[nodiscard]] bool came_structured() const noexcept { return came_structured_; }
    /// As it came.
    [[nodiscard]] const events::EncodedArgument& encoded() const noexcept { return encoded_; }

    /// What filters look at: the Any, or an Any with the structured event.
    [[nodiscard]] const CORBA::Any& filterable() const;
    /// What consumers of Anys get, and consumers of structured events. Throw what making it throws.
    [[nodiscard]] const CORBA::Any& any() const;
    [[nodiscard]] const CosNotification::StructuredEvent& structured() const;
    /// Write it as an argument of a request.
    void encode_any(cdr::Writer& out) const;
    void encode_structured(cdr::Writer& out) const;

    /// How much it is as the argument of a request, about.
    [[nodiscard]] std::size_t encoded_octets() const noexcept { return octets_; }
    /// Counts what memory it may take, in all its forms, as long as it lives; and as one of the
    /// events of its channel that wait, by its place. To be called until it is true; false, and
    /// nothing is done, if that is too much.
    [[nodiscard]] bool charge(const std::shared_ptr<events::Allowance>& octets,
                              events::Portion& place) noexcept;

  private:
    void read_header();
    [[nodiscard]] bool wraps_any() const noexcept;

    const EventDefaults defaults_;
    const Clock::time_point received_ = Clock::now() - defaults_.age;
    const bool came_structured_;
    CORBA::Any data_;                                               // as it came, or null
    std::unique_ptr<const CosNotification::StructuredEvent> event_; // as it came, or null
    events::EncodedArgument encoded_;                               // of the form that it came in
    std::size_t octets_ = 0;
    std::int16_t priority_ = 0;
    std::optional<bool> is_persistent_; // if it says that
    bool says_priority_ = false;
    bool says_timeout_ = false;
    Clock::time_point stop_time_ = Clock::time_point::max();
    Clock::time_point deadline_ = Clock::time_point::max();
    events::Portion octets_charge_;
    events::Portion place_;
    mutable std::atomic<bool> was_kept_{false};
    // Made by who asks first.
    mutable std::once_flag any_made_;
    mutable CORBA::Any made_any_;
    mutable std::once_flag structured_made_;
    mutable std::unique_ptr<const CosNotification::StructuredEvent> made_event_;
};

using NotificationPtr = std::shared_ptr<const Notification>;

/// The time that a UtcT means, by this process's clock now.
[[nodiscard]] std::chrono::steady_clock::time_point time_of(std::uint64_t utc_ticks);
/// A TimeT, which has 100 ns; what is longer than 100 years is that.
[[nodiscard]] std::chrono::nanoseconds duration_of(std::uint64_t ticks) noexcept;

} // namespace kairos::notification
