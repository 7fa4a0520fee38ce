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
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
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
    std::atomic<std::uint64_t> changes{0}; ///< of any filter's constraints
    std::atomic<std::uint64_t> last_key{0};
};

/// One constraint of a filter. Immutable.
struct FilterConstraint {
    CosNotifyFilter::ConstraintInfo info;
    std::uint64_t key = 0; ///< its own, of all filters of the service
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

class Filter {
  public:
    using List = std::vector<ConstraintPtr>; // by id

    /// Throws IMP_LIMIT where there are as many as may be.
    explicit Filter(std::shared_ptr<FilterBudget> budget);

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
    /// Says whether the event fulfils one of the constraints.
    [[nodiscard]] bool passes(const Notification& event) const;

    /// What there is now; never null.
    [[nodiscard]] std::shared_ptr<const List> list() const;

  private:
    [[nodiscard]] ConstraintPtr make(const CosNotifyFilter::ConstraintExp& expression,
                                     CosNotifyFilter::ConstraintID id) const;
    /// Must hold changing_.
    void put(List changed);

    const std::shared_ptr<FilterBudget> budget_;
    const events::Portion place_;
    std::mutex changing_; // guards what follows, and who changes it; outside mutex_
    CosNotifyFilter::ConstraintID last_ = 0;
    bool has_ended_ = false;
    mutable std::mutex mutex_; // guards list_; inside changing_ and Matcher::mutex_
    std::shared_ptr<const List> list_;
};
using FilterPtr = std::shared_ptr<Filter>;

/// The filters that one event passes, in order.
using Passed = std::vector<const Filter*>;

/// The filters that are attached anywhere in a channel.
class Matcher {
  public:
    explicit Matcher(std::shared_ptr<FilterBudget> budget) : budget_(std::move(budget)) {}
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;

    /// A filter may be attached several times, and counts as attached as long as it is once.
    void attach(const FilterPtr& filter);
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
        const Filter* filter = nullptr;
        ConstraintPtr constraint;
    };
    void look_again();
    /// Must hold mutex_. Null: nothing of it remains.
    void file(Attached& attached, std::shared_ptr<const Filter::List> list);

    const std::shared_ptr<FilterBudget> budget_;
    std::atomic<std::size_t> count_{0};
    std::shared_mutex mutex_; // guards what follows; outside Filter::mutex_
    std::map<const Filter*, Attached> attached_;
    constraints::ConstraintIndex index_;
    std::map<std::uint64_t, Filed> filed_; // by key
    std::uint64_t seen_ = 0;               // of FilterBudget::changes
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
    [[nodiscard]] CosNotifyFilter::Filter_ptr find(CosNotifyFilter::FilterID id) const;
    [[nodiscard]] CosNotifyFilter::FilterIDSeq* ids() const;
    void clear() noexcept;

    enum class Verdict : std::uint8_t {
        none, ///< there are no filters
        passes,
        stays,
    };
    [[nodiscard]] Verdict judge(const Passed& passed) const;

  private:
    struct Member {
        FilterPtr filter;
        CosNotifyFilter::Filter_var object;
        events::Portion place;
    };
    const std::shared_ptr<Matcher> matcher_;
    std::atomic<bool> is_empty_{true};
    mutable std::mutex mutex_; // guards what follows; not held while anything is called
    std::map<CosNotifyFilter::FilterID, Member> members_;
    std::multiset<const Filter*> filters_; // of the members
    CosNotifyFilter::FilterID last_ = 0;
};

/// Whether what passes the filters of an admin and of its proxy goes on (CosNotification 1.1,
/// 3.4.15: InterFilterGroupOperator); a set without filters says nothing.
[[nodiscard]] bool goes_on(FilterSet::Verdict admin, FilterSet::Verdict proxy, bool both) noexcept;

} // namespace kairos::notification
