// SPDX-License-Identifier: Apache-2.0
//
// Who writes into a service's store: one thread, which makes all changes that have come meanwhile
// durable together. And what keeps an event in the store: the claims of those who have still to get
// it, which are what their queues hold. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/notification/notification.h"
#include "kairos/notification/service_limits.h"
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
#include <utility>
#include <vector>

namespace kairos::notification {

class Keeper : public std::enable_shared_from_this<Keeper> {
  private:
    struct EventRow;
    struct Claim;
    struct Request {
        std::vector<StoreChange> changes;
        bool is_waited_for = false;
        std::function<void()> over;       // of the thread that writes, once it is shared
        std::condition_variable answered; // for who waits: nobody is woken for others' answers
        // What follows is guarded by mutex_; once it is at work the thread alone changes it.
        enum class Stage : std::uint8_t { queued, at_work, over } stage{};
        StoreStatus status = StoreStatus::broken;
    };
    using RequestPtr = std::shared_ptr<Request>;

  public:
    /// Events that are entered together, all of them or none. Used by one thread at a time.
    class Keeping {
      public:
        explicit Keeping(std::shared_ptr<Keeper> keeper) noexcept : keeper_(std::move(keeper)) {}
        /// An event that waits for these objects. Returns what each of them is to hold, once the
        /// event is kept, until it does not wait any more.
        [[nodiscard]] std::vector<NotificationPtr> add(const NotificationPtr& event,
                                                       std::span<const std::uint64_t> objects);
        [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

      private:
        friend class Keeper;
        void note_written() noexcept;

        const std::shared_ptr<Keeper> keeper_;
        std::vector<std::shared_ptr<EventRow>> rows_;
        std::vector<StoreChange> changes_;
        RequestPtr request_;
    };

    /// Begins the thread. As the limits say, so many changes at most are waited for, and so long.
    Keeper(std::unique_ptr<Store> store, CORBA::ORB_ptr orb, const NotificationLimits& limits);
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
    // not changed; and PERSIST_STORE where it has failed, or has not answered in time: nobody knows
    // what it has.
    /// `state` is asked while no other change is taken in by this function: so the last one says
    /// how it is. Nothing is changed where it gives nothing. It calls nobody who waits.
    void save(const std::function<std::optional<StoreChange>()>& state);
    void write(StoreChange change);
    void keep(Keeping& events);

    /// As keep(), but waits for nobody: it throws where it would not even begin. When it is known
    /// what came of it `over` is called, by the thread that writes.
    void begin_to_keep(Keeping& events, std::function<void()> over);
    /// False: nobody knows yet. Throws as keep().
    [[nodiscard]] bool is_kept(Keeping& events);

    /// As save(), of the key of an object that has ended, which `take` gives, or 0; made some time.
    void forget_later(const std::function<std::uint64_t()>& take) noexcept;
    /// Has the change made some time, which is one that makes room.
    void write_later(StoreChange change) noexcept;
    /// As keep(), of one that is in the store.
    [[nodiscard]] std::vector<NotificationPtr> keep_on(const NotificationPtr& event,
                                                       std::uint64_t number,
                                                       std::span<const std::uint64_t> objects);
    /// Whatever is let go from here on stays in the store. Waits until it has what was to be
    /// written before.
    void close() noexcept;
    /// As close(), and then closes the store, though events may still be held somewhere.
    void let_store_go() noexcept;
    [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }

  private:
    using Lock = std::unique_lock<std::mutex>;
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] RequestPtr enter(std::vector<StoreChange> changes, std::function<void()> over);
    [[nodiscard]] std::optional<StoreStatus> status_of(const RequestPtr& request);
    void finish(const RequestPtr& request);
    void run() noexcept;
    /// Must hold mutex_.
    [[nodiscard]] bool has_work() const noexcept;
    void take_work() noexcept;
    void work() noexcept;
    void work_apart(StoreStatus of_all) noexcept;
    [[nodiscard]] bool is_erased_since(std::size_t which) const noexcept;
    void answer(std::span<const RequestPtr> those, StoreStatus status) noexcept;
    void end_later(StoreStatus status) noexcept;
    [[nodiscard]] StoreStatus attempt(std::span<const RequestPtr> together,
                                      std::span<const StoreChange> later) noexcept;

    std::unique_ptr<Store> store_; // of the thread, after load(); until let_store_go()
    const CORBA::ORB_var orb_;
    const std::size_t waiting_max_;
    const std::chrono::milliseconds patience_;
    const std::chrono::milliseconds retry_pause_;
    std::atomic<std::uint64_t> last_key_{0};
    std::atomic<std::uint64_t> last_event_{0};
    std::atomic<bool> is_closed_{false};
    // Of the thread: what it is at work on, of those below.
    std::vector<RequestPtr> together_;
    std::vector<StoreChange> later_now_;
    bool has_later_failed_ = false;   // the last time
    std::mutex saving_;               // guards the order of states that are saved; outside mutex_
    std::mutex mutex_;                // guards what follows; not held while anything is called
    std::condition_variable changed_; // for the thread
    std::condition_variable idle_;    // for who ends this
    std::deque<RequestPtr> requests_;
    std::deque<StoreChange> later_;  // that nobody waits for: each makes room
    std::size_t later_at_once_;      // of them
    Clock::time_point not_before_{}; // are they tried again
    std::chrono::milliseconds pause_{0};
    std::size_t waited_for_ = 0; // of all requests
    Clock::time_point begun_{};  // with what the thread is at work on
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
