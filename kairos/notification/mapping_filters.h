// SPDX-License-Identifier: Apache-2.0
//
// Mapping filters (CosNotification 1.1, 2.3.1) without their objects: constraints with values, of
// which the best that an event fulfils says what its priority or its lifetime is for who has the
// filter. Any thread.
#pragma once

#include "kairos/notification/filters.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace kairos::notification {

/// What mapping filters are for.
enum class MappedProperty : std::uint8_t { priority, lifetime };

/// A value of a mapping filter. Immutable.
struct MappingValue {
    CORBA::Any any;
    /// What a priority or a lifetime is as a number.
    std::optional<std::int64_t> number;
    std::int64_t rank = 0; ///< larger ones are better
    events::Portion octets;
};

/// A constraint with its value. Immutable.
struct MappingConstraint {
    ConstraintPtr constraint;
    MappingValue value;
    std::size_t info_octets = 0; ///< about what the answer takes that says both
};

class MappingFilter {
  public:
    /// Throws IMP_LIMIT where there are as many filters as may be, and what encoding the value
    /// throws.
    MappingFilter(std::shared_ptr<FilterBudget> budget, const CORBA::Any& default_value);
    MappingFilter(const MappingFilter&) = delete;
    MappingFilter& operator=(const MappingFilter&) = delete;

    /// Its own, of all filters that there have ever been in the service; never 0.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] const CORBA::Any& default_value() const noexcept { return default_.any; }
    /// Whether its values are such as the property has.
    [[nodiscard]] bool is_for(MappedProperty property) const noexcept;

    /// By which the service's store knows it; 0: it does not.
    [[nodiscard]] std::uint64_t kept() const noexcept { return kept_; }
    /// Returns what it was.
    std::uint64_t set_kept(std::uint64_t key) noexcept { return kept_.exchange(key); }
    /// As it was in an earlier run; before it is shared. Throws what add() throws.
    void restore(const CosNotifyFilter::MappingConstraintInfoSeq& infos,
                 CosNotifyFilter::ConstraintID last);
    /// The last id that a constraint was given.
    [[nodiscard]] CosNotifyFilter::ConstraintID last() const;

    /// Those of CosNotifyFilter::MappingFilter; either all is done or nothing. Also throw
    /// IMP_LIMIT.
    [[nodiscard]] CosNotifyFilter::MappingConstraintInfoSeq*
    add(const CosNotifyFilter::MappingConstraintPairSeq& added);
    void modify(const CosNotifyFilter::ConstraintIDSeq& removed,
                const CosNotifyFilter::MappingConstraintInfoSeq& changed);
    [[nodiscard]] CosNotifyFilter::MappingConstraintInfoSeq*
    infos(const CosNotifyFilter::ConstraintIDSeq& ids) const;
    /// `is_answer`: of one call, which must not be too large.
    [[nodiscard]] CosNotifyFilter::MappingConstraintInfoSeq* infos(bool is_answer) const;
    void clear();
    /// It says nothing of any event from here on.
    void end();
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }

    /// The constraint with the best value that the event fulfils; null if there is none.
    [[nodiscard]] std::shared_ptr<const MappingConstraint> find(const Notification& event) const;
    /// What the filter makes of the event's property, which the event itself `is_said` to have:
    /// nothing, if it leaves that. What it finds it notes in `passed`, and looks there first.
    /// Nothing as well where it has no time to find it, and has not found it before.
    [[nodiscard]] std::optional<std::int64_t> map(const Notification& event, bool is_said,
                                                  const Passed& passed) const;

  private:
    using One = std::shared_ptr<const MappingConstraint>;
    using Table = std::map<CosNotifyFilter::ConstraintID, One>;
    struct List {
        Table by_id;
        std::vector<One> by_value; // the best first; of equal ones the older
    };

    [[nodiscard]] MappingValue made_value(const CORBA::Any& any) const;
    [[nodiscard]] One make(const CosNotifyFilter::ConstraintExp& expression,
                           const CORBA::Any& value, CosNotifyFilter::ConstraintID id) const;
    [[nodiscard]] std::shared_ptr<const List> list() const;
    [[nodiscard]] One find(const Notification& event, const Passed& passed) const;
    /// Must hold changing_.
    void put(Table changed);

    const std::shared_ptr<FilterBudget> budget_;
    const events::Portion place_;
    const std::uint64_t number_;
    const MappingValue default_;
    std::atomic<std::uint64_t> kept_{0};
    std::atomic<bool> has_ended_{false};
    mutable std::mutex changing_; // guards what follows, and who changes it; outside mutex_
    CosNotifyFilter::ConstraintID last_ = 0;
    mutable std::mutex mutex_; // guards what follows; inside changing_
    std::shared_ptr<const List> list_;
};
using MappingFilterPtr = std::shared_ptr<MappingFilter>;

} // namespace kairos::notification
