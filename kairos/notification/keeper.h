// SPDX-License-Identifier: Apache-2.0
//
// Who writes into a service's store: one thread, which makes all changes that have come meanwhile
// durable together. And what keeps an event in the store: the claims of those who have still to get
// it, which are what their queues hold. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/notification/notification.h"
#include "kairos/notification/store.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace kairos::notification {

class Keeper : public std::enable_shared_from_this<Keeper> {
  public:
    /// Begins the thread. So many changes at most are waited for.
    Keeper(std::unique_ptr<Store> store, CORBA::ORB_ptr orb, std::size_t waiting_max);
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;
    ~Keeper();

    /// What there was; before anything is written. Throws PERSIST_STORE.
    [[nodiscard]] Stored load();
    /// What references in the store belong to.
    [[nodiscard]] CORBA::ORB_ptr orb() const noexcept { return orb_.in(); }
    /// The store has the key, if only as that of something that is not there any more: no object
    /// is given it. Before anything is written; throws PERSIST_STORE for one that nobody wrote.
    void note_key(std::uint64_t key);
    /// A key for an object that is new.
    [[nodiscard]] std::uint64_t next_key() noexcept { return ++last_key_; }

    // These return when the change is durable. They throw NO_RESOURCES where there is no room and
    // TRANSIENT where others take too long, or are too many, or after close(): then the store has
    // not changed; and PERSIST_STORE where it has failed, of which nobody knows what it has.
    /// `state` is asked while no other change is taken in by this function: so the last one says
    /// how it is. Nothing is changed where it gives nothing. It calls nobody who waits.
    void save(const std::function<std::optional<StoreChange>()>& state);
    void write(StoreChange change);
    /// Enters an event that waits for these objects; returns what each of them is to hold until it
    /// does not wait any more.
    [[nodiscard]] std::vector<NotificationPtr> keep(const NotificationPtr& event,
                                                    std::span<const std::uint64_t> objects);

    /// As save(), of the key of an object that has ended, which `take` gives, or 0; made some time.
    void forget_later(const std::function<std::uint64_t()>& take) noexcept;
    /// Has the change made some time.
    void write_later(StoreChange change) noexcept;
    /// As keep(), of one that is in the store.
    [[nodiscard]] std::vector<NotificationPtr> keep_on(const NotificationPtr& event,
                                                       std::uint64_t number,
                                                       std::span<const std::uint64_t> objects);
    /// Whatever is let go from here on stays in the store. Waits until it has what was to be
    /// written before.
    void close() noexcept;
    [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }

  private:
    struct EventRow;
    struct Claim;
    struct Request {
        std::vector<StoreChange> changes;
        bool is_waited_for = true;
        // What follows is guarded by mutex_.
        bool is_over = false;
        StoreStatus status = StoreStatus::broken;
    };
    using RequestPtr = std::shared_ptr<Request>;
    using Lock = std::unique_lock<std::mutex>;
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] RequestPtr enter(std::vector<StoreChange> changes);
    void wait(const RequestPtr& request);
    [[nodiscard]] std::vector<NotificationPtr> claims(const NotificationPtr& event,
                                                      const std::shared_ptr<EventRow>& row,
                                                      std::span<const std::uint64_t> objects) const;
    void run() noexcept;
    [[nodiscard]] bool work(const std::vector<RequestPtr>& together) noexcept;
    [[nodiscard]] StoreStatus attempt(std::span<const RequestPtr> together);

    const std::unique_ptr<Store> store_; // of the thread, after load()
    const CORBA::ORB_var orb_;
    const std::size_t waiting_max_;
    std::atomic<std::uint64_t> last_key_{0};
    std::atomic<std::uint64_t> last_event_{0};
    std::atomic<bool> is_closed_{false};
    std::mutex saving_;               // guards the order of states that are saved; outside mutex_
    std::mutex mutex_;                // guards what follows; not held while anything is called
    std::condition_variable changed_; // for the thread
    std::condition_variable made_;    // for those who wait
    std::deque<RequestPtr> requests_;
    std::size_t waited_for_ = 0;     // of them
    Clock::time_point not_before_{}; // are those tried again that nobody waits for
    bool is_at_work_ = false;
    bool has_ended_ = false;
    std::thread thread_; // of who makes and ends this
};

/// An event as a store has it.
[[nodiscard]] std::string stored_state(const Notification& event, CORBA::ORB_ptr orb);
/// Throws MARSHAL where that is none, and what Notification's constructors throw.
[[nodiscard]] std::shared_ptr<Notification> stored_event(const std::string& state,
                                                         CORBA::ORB_ptr orb);

} // namespace kairos::notification
