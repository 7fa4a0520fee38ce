// SPDX-License-Identifier: Apache-2.0
//
// The thread of an ORB that writes and reads the connections which its threads share, with
// -ORBConnection active (paper 003's active connection architecture): callers leave it their
// messages and wait. Owned by SharedConnections. It calls nobody's code but that of coroutines
// which await calls (messaging/async.h) and of event couriers (events/couriers.h).
#pragma once

#include "kairos/base/intrusive_list.h"
#include "kairos/client/shared_connection.h"
#include "kairos/net/reactor.h"
#include "kairos/net/thread.h"

#include <mutex>
#include <unordered_map>

namespace kairos::orb {

class ConnectionThread final : private net::EventHandler {
  public:
    [[nodiscard]] static Result<std::unique_ptr<ConnectionThread>>
    start(const net::ThreadOptions& options);
    ~ConnectionThread() override;
    ConnectionThread(const ConnectionThread&) = delete;
    ConnectionThread& operator=(const ConnectionThread&) = delete;

    /// Has the thread write what `connection` has to write, and from the first time on read what
    /// comes. Returns false if the thread has stopped. Any thread.
    [[nodiscard]] bool attend(SharedConnection& connection) noexcept;
    /// Ends the connections and the thread; the object stays as it is then. Any thread but this
    /// one.
    void stop() noexcept;

    /// Returns whether the calling thread is one of these, and resumes coroutines: what waits for
    /// it there would wait for ever.
    [[nodiscard]] static bool is_telling() noexcept;

  private:
    class Watched;

    explicit ConnectionThread(std::unique_ptr<net::Reactor> reactor);
    /// Looks after the connections that attend() was called for.
    void on_ready(net::Readiness readiness) noexcept override;
    void serve(SharedConnection& connection) noexcept;
    void serve_attention() noexcept;
    /// Tells of calls whose ends are left to this thread: what hears of one may call
    /// attend(). `connection` is any.
    void tell_ready(SharedConnection& connection) noexcept;
    void tell_last(const SharedConnection& connection) noexcept;
    [[nodiscard]] Watched* watch(SharedConnection& connection) noexcept;
    void drop(SharedConnection& connection) noexcept;
    void end_all() noexcept;

    const std::unique_ptr<net::Reactor> reactor_;                             // the thread's
    std::unordered_map<SharedConnection*, std::unique_ptr<Watched>> watched_; // the thread's
    std::mutex mutex_; // guards what follows; inside nobody's
    IntrusiveList<SharedConnection, &SharedConnection::attention_links> attention_; // owns a count
    bool stopping_ = false;
    std::mutex join_mutex_; // guards that one thread ends it
    net::Thread thread_;    // last: uses the others
};

} // namespace kairos::orb
