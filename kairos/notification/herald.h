// SPDX-License-Identifier: Apache-2.0
//
// Which types of events the clients of one side of a channel offer or want, and the courier that
// tells one connected client of the other side which of them there are from now on, and which no
// more: by offer_change or subscription_change (CosNotification 1.1, 2.3). What changes while a
// call is under way is told together by the next one. Who does not want to hear it, or does not
// answer, is told no more. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/events/couriers.h"
#include "kairos/events/outcome.h"
#include "kairos/events/service_budget.h"
#include "kairos/events/service_limits.h"
#include "kairos/notification/event_types.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace kairos::notification {

class TypeTable;

/// A type that somebody offers or wants, counted as long as anybody knows of it. Immutable.
struct TableType {
    TypePattern pattern;
    events::Portion octets;
};
/// In the order of the patterns.
using TypeList = std::vector<std::shared_ptr<const TableType>>;
[[nodiscard]] CosNotification::EventTypeSeq sequence_of(const TypeList& types);

class Herald final : public events::Courier {
  public:
    /// `of_offers`: the client is a consumer. `types` are what it is told of, from when it is to
    /// speak; `call_octets` is what all calls under way have together.
    Herald(const std::shared_ptr<events::Couriers>& couriers, CORBA::Object_ptr client,
           bool of_offers, std::shared_ptr<TypeTable> types,
           std::shared_ptr<events::Allowance> call_octets, const events::ServiceLimits& limits);

    /// There is something to tell, perhaps.
    void tell() noexcept
    {
        if (speaks_) wake();
    }
    /// Whether the client is told of what changes from now on. Returns what there is now; null if
    /// it is not.
    std::shared_ptr<const TypeList> speak(bool speaks);

  private:
    struct Change {
        TypeList added, removed;
        [[nodiscard]] std::size_t octets() const noexcept;
    };

    void called(orb::AsynchronousCall& call) override;
    void idle() override;
    [[nodiscard]] std::optional<Change> next();
    void send(const Change& change);
    void conclude(events::Outcome outcome);

    const CORBA::Object_var client_;
    const bool of_offers_;
    const bool is_here_;
    const std::shared_ptr<TypeTable> types_;
    const std::shared_ptr<events::Allowance> call_octets_;
    const events::ServiceLimits limits_;
    // Of the thread that works.
    events::Portion copy_;                  // of what the call has
    std::shared_ptr<const TypeList> known_; // before the call
    bool stays_connected_ = false;          // the call
    Clock::time_point not_before_{};
    std::atomic<bool> speaks_{false};      // changed with mutex_
    std::mutex mutex_;                     // guards told_; outside TypeTable::mutex_
    std::shared_ptr<const TypeList> told_; // what the client knows; null: it is not told
};

class TypeTable {
  public:
    /// `octets_max` is how much all types may be together, about.
    explicit TypeTable(std::size_t octets_max)
        : octets_(std::make_shared<events::Allowance>(octets_max))
    {
    }
    TypeTable(const TypeTable&) = delete;
    TypeTable& operator=(const TypeTable&) = delete;

    // After these there is something to announce().
    /// Counts what one client says. Throws IMP_LIMIT where it is too much, and has changed nothing.
    void add(const EventTypes& types);
    /// Counts no more what was counted.
    void remove(const EventTypes& types) noexcept;

    /// Has all be told who listen. With no lock held.
    void announce() noexcept;
    /// What there is now; never null.
    [[nodiscard]] std::shared_ptr<const TypeList> present();
    /// Who is told of changes, by the number of the proxy.
    void listen(std::uint64_t proxy, IntrusivePtr<Herald> herald);
    void ignore(std::uint64_t proxy) noexcept;

  private:
    using Type = std::shared_ptr<const TableType>;
    struct Before {
        using is_transparent = void;
        bool operator()(const Type& a, const Type& b) const { return a->pattern < b->pattern; }
        bool operator()(const Type& a, const TypePattern& b) const { return a->pattern < b; }
        bool operator()(const TypePattern& a, const Type& b) const { return a < b->pattern; }
    };

    /// Must hold mutex_.
    void count(const TypePattern& pattern);
    void count_down(const TypePattern& pattern) noexcept;

    const std::shared_ptr<events::Allowance> octets_;
    std::mutex mutex_; // guards what follows; not held while anything is called
    std::map<Type, std::size_t, Before> counts_; // how many clients have it
    std::shared_ptr<const TypeList> present_;    // null: to be made
    std::map<std::uint64_t, IntrusivePtr<Herald>> heralds_;
};

} // namespace kairos::notification
