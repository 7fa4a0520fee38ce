// SPDX-License-Identifier: Apache-2.0
//
// The thread of an ORB that goes on with the oneways of SYNC_NONE which peers did not take at once
// (backlog.h). There from the first such oneway on. Owned by the ORB. Any thread.
#pragma once

#include "kairos/client/backlog.h"
#include "kairos/net/thread.h"
#include "kairos/net/waker.h"

#include <list>
#include <mutex>
#include <optional>

namespace kairos::orb {

class Orb;

class Backlogs {
  public:
    explicit Backlogs(Orb& orb) noexcept : orb_(orb) {}
    ~Backlogs() { stop(); }
    Backlogs(const Backlogs&) = delete;
    Backlogs& operator=(const Backlogs&) = delete;

    /// Makes the backlog of a connection, with what is left of a message, which it takes out of
    /// `output`; starts the thread if need be. The error says that nobody can look after it.
    [[nodiscard]] Result<std::shared_ptr<Backlog>> make(const net::Socket& socket,
                                                        OutputQueue& output) noexcept;
    /// Has the thread send what the backlog keeps, as the peer takes it, and keeps the backlog
    /// until then. Returns false if there is no memory for that.
    [[nodiscard]] bool attend(const std::shared_ptr<Backlog>& backlog) noexcept;
    /// Starts over in a child of the process that has called: what is kept is the parent's to send.
    void start_over() noexcept;
    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; } ///< held while the process forks
    /// Ends the thread; what backlogs still keep then is lost.
    void stop() noexcept;

  private:
    using List = std::list<std::shared_ptr<Backlog>>;
    [[nodiscard]] Result<void> start();
    void run() noexcept;
    void wait_and_flush(List& watched);

    Orb& orb_;
    std::mutex mutex_; // guards what follows; inside nobody's
    std::optional<net::Waker> waker_;
    List newcomers_;
    bool stopping_ = false;
    std::mutex join_mutex_; // guards that one thread ends it
    net::Thread thread_;
};

} // namespace kairos::orb
