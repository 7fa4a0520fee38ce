// SPDX-License-Identifier: Apache-2.0
//
// Sets of event types, with wildcards: what constraints are about, and what clients say they offer
// or want (CosNotification 1.1, 2.1.3, 2.4.4). Values.
#pragma once

#include "kairos/notification/CosNotification.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::notification {

/// A type of events: domain and type name, where `*` stands for any number of characters.
using TypePattern = std::pair<std::string, std::string>;

/// Returns the pattern; "%ALL" and empty names mean all, each for itself.
[[nodiscard]] TypePattern pattern_of(const CosNotification::EventType& type);
/// What finding an event's type in one set of types may cost, in characters that are compared.
/// Clients say the patterns and the names, and stars make for the product of their lengths.
constexpr std::size_t type_steps_max = std::size_t{1} << 15;

/// Says whether the name is one of those that the pattern means; false where that takes more than
/// `steps`, of which it takes away what it has done.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name,
                           std::size_t& steps) noexcept;

/// Used by one thread at a time.
class EventTypes {
  public:
    /// Means all types.
    EventTypes() = default;
    /// The same as it says; none means all.
    explicit EventTypes(const CosNotification::EventTypeSeq& types);

    /// What a client says that it offers or wants from now on, and what no more. Who has said
    /// nothing before, and adds some, means no more all of them.
    void change(const CosNotification::EventTypeSeq& added,
                const CosNotification::EventTypeSeq& removed);
    [[nodiscard]] bool are_all() const noexcept { return all_; }
    [[nodiscard]] bool has_spoken() const noexcept { return has_spoken_; }
    /// Patterns that are left over after type_steps_max contain nothing; names without stars are
    /// always found.
    [[nodiscard]] bool contain(std::string_view domain, std::string_view type) const noexcept;
    [[nodiscard]] const std::vector<TypePattern>& patterns() const noexcept { return patterns_; }

  private:
    bool all_ = true;
    bool has_spoken_ = false;           // else it means all without having said so
    std::vector<TypePattern> patterns_; // that it has said, in order; with "*" for all, too
    std::vector<std::size_t> wild_;     // those of them with stars
};

/// Throws IMP_LIMIT for names that are too long, or too many of them.
void require_types(const CosNotification::EventTypeSeq& types, std::size_t count_max);

} // namespace kairos::notification
