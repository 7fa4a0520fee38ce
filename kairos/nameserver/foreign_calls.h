// SPDX-License-Identifier: Apache-2.0
//
// The calls that a service makes because a client wants it to: names lead to other servers'
// contexts, and whoever bound those chose whom they make us call. Such calls are made by threads of
// their own, so that who serves goes on serving; there are so many at once, so many to one address,
// and none takes longer than its limit, whatever the other server does. Any thread.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/ior/ior.h"
#include "kairos/orb/orb.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kairos::nameserver {

struct ForeignCallLimits {
    std::size_t calls_max = 0;             ///< at the same time
    std::size_t calls_per_address_max = 0; ///< of these
    std::chrono::milliseconds timeout{0};  ///< of each
};

class ForeignCalls {
  public:
    /// The ORB must outlive it.
    ForeignCalls(orb::Orb& orb, const ForeignCallLimits& limits);
    ForeignCalls(const ForeignCalls&) = delete;
    ForeignCalls& operator=(const ForeignCalls&) = delete;
    /// Waits for the calls in progress, each within its limit.
    ~ForeignCalls();

    /// Has another thread make a call to where `whose` leads. True when it has returned; what it
    /// throws is thrown here. False if there are too many, or it is late: then it may go on, so
    /// `call` owns what it uses. A thread that serves requests does so meanwhile.
    [[nodiscard]] bool run(const ior::Ior& whose, std::function<void()> call);

    /// From here on no call is made, and nobody waits for those in progress.
    void end() noexcept;

  private:
    using Lock = std::unique_lock<std::mutex>;
    struct Call;
    using CallPtr = std::shared_ptr<Call>;

    /// Null: too many.
    [[nodiscard]] CallPtr begin(const std::string& address, std::function<void()> work);
    [[nodiscard]] bool start_thread();
    void wait(Lock& lock, Call& call, Deadline deadline);
    void make_calls() noexcept;
    void make_one(Lock& lock, Call& call) noexcept;
    void limit_calls();

    orb::Orb& orb_;
    const ForeignCallLimits limits_;
    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    std::list<CallPtr> waiting_; // not for long: each for a thread that is idle, or begins
    std::list<CallPtr> running_;
    std::size_t idle_ = 0; // threads, as many as calls wait at least
    bool ended_ = false;
    std::vector<std::thread> threads_; // stay, with their connections, once they are needed
};

} // namespace kairos::nameserver
