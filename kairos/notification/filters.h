// SPDX-License-Identifier: Apache-2.0
//
// Filters (CosNotification 1.1, 2.2) without their objects: constraints with the event types that
// they are about, the sets of filters that admins and proxies have, and, for each channel, which
// filters an event passes: found once for it, however many consumers there are. Any thread.
#pragma once

#include "kairos/constraints/index.h"
#include "kairos/events/service_budget.h"
#include "kairos/notification/CosNotifyFilter.h"
#include "kairos/notification/event_types.h"
#include "kairos/notification/notification.h"
#include "kairos/notification/service_limits.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

namespace kairos::notification {

/// What all filters of a service have together.
struct FilterBudget {
    explicit FilterBudget(const NotificationLimits& service_limits)
        : limits(service_limits), filters(std::make_shared<events::Allowance>(limits.filters_max)),
          attachments(std::make_shared<events::Allowance>(limits.attachments_max)),
          constraints(std::make_shared<events::Allowance>(limits.constraints_max)),
          octets(std::make_shared<events::Allowance>(limits.constraint_octets_max))
    {
    }
    const NotificationLimits limits;
    const std::shared_ptr<events::Allowance> filters, attachments, constraints, octets;
    std::atomic<std::uint64_t> last_number{0}; ///< of filters and constraints
};

/// One constraint of a filter. Immutable.
struct FilterConstraint {
    CosNotifyFilter::ConstraintInfo info;
    std::uint64_t key = 0;       ///< its own, of all filters of the service
    std::size_t info_octets = 0; ///< about what the answer takes that says it
    EventTypes types;
    constraints::Constraint constraint;
    constraints::Constraint filed; ///< for the index: with the types where these are few
    events::Portion place, octets;

    [[nodiscard]] bool is_about(const Notification& event) const noexcept
    {
        return types.contain(event.domain_name(), event.type_name());
    }
};
using ConstraintPtr = std::shared_ptr<const FilterConstraint>;

/// Makes one. Throws InvalidConstraint, and IMP_LIMIT where there are as many as may be.
[[nodiscard]] ConstraintPtr make_constraint(FilterBudget& budget,
                                            const CosNotifyFilter::ConstraintExp& expression,
                                            CosNotifyFilter::ConstraintID id);
/// Throws IMP_LIMIT where an answer that says constraints would have more octets than it may.
void require_answer(std::size_t octets);
/// What the calling thread evaluates constraints with, which it keeps.
[[nodiscard]] constraints::Evaluator& thread_evaluator(std::size_t steps_max);

/// An event as constraints see it. Borrows it.
class FilteredEvent final : public constraints::Subject {
  public:
    explicit FilteredEvent(const Notification& event) : event_(event) {}
    [[nodiscard]] constraints::Term find(std::string_view name) const override;
    [[nodiscard]] constraints::Term event() const override
    {
        return constraints::Term(event_.filterable());
    }

  private:
    const Notification& event_;
    mutable CORBA::Any time_; // made when it is asked for
};

/// What has changed of the filters of a channel since it was last looked at.
struct FilterChanges {
    std::atomic<std::uint64_t> count{0};
    std::mutex mutex;                // guards what follows; inside Filter::mutex_, Matcher::mutex_
    std::set<std::uint64_t> filters; ///< their numbers

    void note(std::uint64_t filter)
    {
        const std::lock_guard lock(mutex);
        filters.insert(filter);
        ++count;
    }
};

class Filter {
  public:
    using List = std::vector<ConstraintPtr>; // by id

    /// Throws IMP_LIMIT where there are as many as may be.
    explicit Filter(std::shared_ptr<FilterBudget> budget);

    /// Its own, of all that there have ever been in the service; never 0.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

    /// By which the service's store knows it; 0: it does not.
    [[nodiscard]] std::uint64_t kept() const noexcept { return kept_; }
    /// Returns what it was.
    std::uint64_t set_kept(std::uint64_t key) noexcept { return kept_.exchange(key); }
    /// As it was in an earlier run; before it is shared. Throws what add() throws.
    void restore(const CosNotifyFilter::ConstraintInfoSeq& infos,
                 CosNotifyFilter::ConstraintID last);
    /// The last id that a constraint was given.
    [[nodiscard]] CosNotifyFilter::ConstraintID last();

    /// Those of CosNotifyFilter::Filter; either all is done or nothing. Also throw IMP_LIMIT.
    [[nodiscard]] CosNotifyFilter::ConstraintInfoSeq*
    add(const CosNotifyFilter::ConstraintExpSeq& added);
    void modify(const CosNotifyFilter::ConstraintIDSeq& removed,
                const CosNotifyFilter::ConstraintInfoSeq& changed);
    [[nodiscard]] CosNotifyFilter::ConstraintInfoSeq*
    infos(const CosNotifyFilter::ConstraintIDSeq& ids) const;
    [[nodiscard]] CosNotifyFilter::ConstraintInfoSeq* infos() const;
    void clear();
    /// Nothing passes from here on.
    void end();
    [[nodiscard]] bool has_ended();
    /// Says whether the event fulfils one of the constraints.
    [[nodiscard]] bool passes(const Notification& event) const;

    /// What there is now; never null.
    [[nodiscard]] std::shared_ptr<const List> list() const;
    /// Notes there what changes from here on, until it is forgotten.
    void tell(const std::shared_ptr<FilterChanges>& changes);
    void forget(const std::shared_ptr<FilterChanges>& changes) noexcept;

  private:
    /// Must hold changing_.
    void put(List changed);

    const std::shared_ptr<FilterBudget> budget_;
    const events::Portion place_;
    const std::uint64_t number_;
    std::atomic<std::uint64_t> kept_{0};
    std::mutex changing_; // guards what follows, and who changes it; outside mutex_
    CosNotifyFilter::ConstraintID last_ = 0;
    bool has_ended_ = false;
    mutable std::mutex mutex_; // guards what follows; inside changing_ and Matcher::mutex_
    std::shared_ptr<const List> list_;
    std::set<std::shared_ptr<FilterChanges>> told_; // one for each channel
};
using FilterPtr = std::shared_ptr<Filter>;

struct MappingConstraint;

/// What filters make of one event. Of the thread that passes it on.
struct Passed {
    std::vector<std::uint64_t> filters{}; ///< the numbers of those that it passes, in order
    std::uint64_t attached = 0; ///< the last attachment that was there; later ones were not asked
    /// What mapping filters have found, by their numbers; entered by who asks first, so that each
    /// is asked once, however many consumers have it.
    mutable std::map<std::uint64_t, std::shared_ptr<const MappingConstraint>> mappings{};
    /// Until when they are asked, where there is not more time; whether that was over before one
    /// had answered.
    std::chrono::steady_clock::time_point mapping_end =
        std::chrono::steady_clock::time_point::max();
    mutable bool was_cut = false;
};

/// The filters that are attached anywhere in a channel.
class Matcher {
  public:
    explicit Matcher(std::shared_ptr<FilterBudget> budget) : budget_(std::move(budget)) {}
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;

    /// A filter may be attached several times, and counts as attached as long as it is once.
    /// Returns a number that grows with each attachment of the channel's.
    [[nodiscard]] std::uint64_t attach(const FilterPtr& filter);
    void detach(const Filter& filter) noexcept;
    [[nodiscard]] Passed match(const Notification& event);
    [[nodiscard]] FilterBudget& budget() const noexcept { return *budget_; }

  private:
    struct Attached {
        FilterPtr filter;
        std::size_t times = 0;
        std::shared_ptr<const Filter::List> filed; // in the index
    };
    struct Filed {
        std::uint64_t filter = 0;
        ConstraintPtr constraint;
    };
    void look_again();
    /// Must hold mutex_. All is done or, if it throws, nothing.
    void file(Attached& attached, std::shared_ptr<const Filter::List> list);
    /// Must hold mutex_.
    void file(std::uint64_t filter, const ConstraintPtr& constraint);
    void unfile(const FilterConstraint& constraint) noexcept;

    const std::shared_ptr<FilterBudget> budget_;
    const std::shared_ptr<FilterChanges> changes_ = std::make_shared<FilterChanges>();
    std::atomic<std::size_t> count_{0};
    std::shared_mutex mutex_;                    // guards what follows; outside Filter::mutex_
    std::map<std::uint64_t, Attached> attached_; // by the filter's number
    constraints::ConstraintIndex index_;
    std::map<std::uint64_t, Filed> filed_; // by key
    std::uint64_t last_attachment_ = 0;
    std::uint64_t seen_ = 0; // of the changes
};

/// The filters of one admin or proxy.
class FilterSet {
  public:
    explicit FilterSet(std::shared_ptr<Matcher> matcher) : matcher_(std::move(matcher)) {}
    FilterSet(const FilterSet&) = delete;
    FilterSet& operator=(const FilterSet&) = delete;
    ~FilterSet() { clear(); }

    // Those of CosNotifyFilter::FilterAdmin.
    [[nodiscard]] CosNotifyFilter::FilterID add(const FilterPtr& filter,
                                                CosNotifyFilter::Filter_ptr object);
    void remove(CosNotifyFilter::FilterID id);
    /// Whether it is to be removed once the store has forgotten it, which is then as if it had
    /// been. Throws FilterNotFound, also where that was said before.
    void set_leaving(CosNotifyFilter::FilterID id, bool leaves);
    [[nodiscard]] CosNotifyFilter::Filter_ptr find(CosNotifyFilter::FilterID id) const;
    [[nodiscard]] CosNotifyFilter::FilterIDSeq* ids() const;
    void clear() noexcept;
    /// The filters by their ids here, and the last such id: to be restored in a later run.
    struct Attachment {
        CosNotifyFilter::FilterID id = 0;
        FilterPtr filter;
    };
    [[nodiscard]] std::vector<Attachment> attachments(CosNotifyFilter::FilterID& last) const;
    void restore(const Attachment& attachment, CosNotifyFilter::Filter_ptr object);
    /// Whether the service's store knows all of them, but for those which have ended.
    [[nodiscard]] bool are_kept() const;
    void restore_last(CosNotifyFilter::FilterID last);
    /// As clear(), but nothing passes from here on if there were filters: what is under way to who
    /// has them is not let through because they go. No more are added.
    void end() noexcept;

    enum class Verdict : std::uint8_t {
        none, ///< there are no filters
        passes,
        stays,
    };
    /// Filters that were attached after the event was matched say nothing of it.
    [[nodiscard]] Verdict judge(const Passed& passed) const;

  private:
    struct Member {
        FilterPtr filter;
        CosNotifyFilter::Filter_var object;
        std::uint64_t attachment = 0;
        events::Portion place;
        bool is_leaving = false;
    };
    using Members = std::map<CosNotifyFilter::FilterID, Member>;
    static constexpr std::uint64_t never = ~std::uint64_t{0};

    /// Must hold mutex_.
    void enter(Member member);
    void note_oldest() noexcept { oldest_ = attachments_.empty() ? never : *attachments_.begin(); }
    /// Must hold mutex_; the members, to be detached when it is left.
    [[nodiscard]] Members take_all() noexcept;
    void detach(const Members& members) noexcept;

    const std::shared_ptr<Matcher> matcher_;
    std::atomic<std::uint64_t> oldest_{never}; // attachment; 0: they have ended
    mutable std::mutex mutex_; // guards what follows; not held while anything is called
    Members members_;
    // Of the members: their filters' numbers, each with the attachment's; and the attachments'.
    std::set<std::pair<std::uint64_t, std::uint64_t>> filters_;
    std::set<std::uint64_t> attachments_;
    CosNotifyFilter::FilterID last_ = 0;
    bool has_ended_ = false;
};

/// Whether what passes the filters of an admin and of its proxy goes on (CosNotification 1.1,
/// 3.4.15: InterFilterGroupOperator); a set without filters says nothing.
[[nodiscard]] bool goes_on(FilterSet::Verdict admin, FilterSet::Verdict proxy, bool both) noexcept;

} // namespace kairos::notification
