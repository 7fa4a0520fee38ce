// SPDX-License-Identifier: Apache-2.0
//
// Beside a thread that reads datagrams: one for each lane of the thread pools that these lead to,
// which waits until a thread of the lane has served a request. So the one that reads goes on, and
// what is for a high lane does not wait for what a low one does.
#pragma once

#include "kairos/base/arena.h"
#include "kairos/giop/request.h"
#include "kairos/net/thread.h"
#include "kairos/net/waker.h"
#include "kairos/orb/priority.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace kairos::orb {
class Orb;
class ThreadPool;
} // namespace kairos::orb

namespace kairos::datagrams {

class Upcalls;

class LaneThreads {
  public:
    /// Octets of the messages that wait for one lane, and what each takes beside; one always may.
    static constexpr std::size_t waiting_octets_max = std::size_t{1} << 20;
    static constexpr std::size_t message_octets = 256;
    /// Lanes that have a thread; others have none.
    static constexpr std::size_t lanes_max = 32;

    /// `ends` is set before stop() is called.
    LaneThreads(orb::Orb& orb, const std::atomic<bool>& ends) : orb_(orb), ends_(ends) {}
    ~LaneThreads();
    LaneThreads(const LaneThreads&) = delete;
    LaneThreads& operator=(const LaneThreads&) = delete;

    enum class Taken : std::uint8_t {
        no,   ///< it is for no lane
        yes,  ///< it will be served
        full, ///< too many wait for its lane, or there is no thread for it
    };
    /// Takes a copy of a message that was read as this request, whose target may be another key
    /// than the message has; one copy for all objects of a lane that the same message is for, which
    /// are told one after the other (`is_same`: as the one before). By one thread. Throws
    /// std::bad_alloc.
    [[nodiscard]] Taken take(const giop::Request& request, Bytes message, bool is_same = false);

    /// Has the threads end, without waiting. Any thread.
    void stop() noexcept;
    /// In a child of the process, where there are none of the threads: nothing is done any more.
    void leave_to_parent() noexcept;
    /// Waits for that. Nothing is taken any more.
    void join() noexcept;

  private:
    struct Waiting {
        std::uint64_t number = 0; ///< of the message, among those that were taken
        std::vector<std::byte> message;
        std::vector<std::vector<std::byte>> keys; ///< of the objects that it is for
        std::size_t octets = 0;                   ///< what it counts as
    };
    struct Lane {
        const orb::ThreadPool* pool; ///< compared only
        orb::Priority priority;
        net::Waker waker;
        net::Thread thread{}; // of who takes, until it is joined
        // guards what follows; inside LaneThreads::mutex_, and nothing is called in it
        std::mutex mutex;
        std::condition_variable changed;
        std::deque<Waiting> waiting;
        std::size_t octets = 0; // of these
    };

    [[nodiscard]] Lane* lane_of(orb::ThreadPool& pool, orb::Priority priority);
    void run(Lane& lane) noexcept;
    void serve(Waiting& next, Upcalls& upcalls) noexcept;

    orb::Orb& orb_;
    const std::atomic<bool>& ends_;
    std::atomic<bool> is_left_{false};
    Arena arena_;              // of who takes, as the next
    std::uint64_t number_ = 0; // of the message that was taken last
    std::mutex mutex_; // guards what follows, which only grows; inside GroupReceiver::mutex_
    using Lanes = std::vector<std::unique_ptr<Lane>>;
    std::unique_ptr<Lanes> lanes_ = std::make_unique<Lanes>(); // null once it is left
};

} // namespace kairos::datagrams
