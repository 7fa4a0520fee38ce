// SPDX-License-Identifier: Apache-2.0
//
// The architectures in which one thread reads and others serve: a request leaves its connection
// with a copy of its bytes, waits in a queue and is answered from whichever thread served it. What
// differs between them is the dispatcher.
#pragma once

#include "kairos/server/architectures.h"
#include "kairos/server/dispatcher.h"
#include "kairos/server/listening.h"
#include "kairos/server/reactor_loop.h"
#include "kairos/server/thread_set.h"

#include <mutex>
#include <vector>

namespace kairos::orb {

class HandoverServer;

/// A connection that a reactor reads and any thread answers on.
class HandoverConnection final : public ReactorConnection {
  public:
    HandoverConnection(HandoverServer& server, ReactorLoop& loop, Orb& orb, net::Socket socket,
                       const net::Address& peer)
        : ReactorConnection(loop, orb, std::move(socket), peer), server_(server)
    {
    }

    [[nodiscard]] Orb& orb() const noexcept { return orb_; }
    [[nodiscard]] const net::Address& peer() const noexcept { return peer_; }
    [[nodiscard]] RequestSource& source() const noexcept;
    /// Sends a reply, or queues what the peer does not take now. Any thread.
    void send(Bytes header, const cdr::Writer& body) noexcept override;
    /// Takes the memory over that the connection's last message is in. The loop's thread.
    [[nodiscard]] giop::Connection::Kept keep_messages() { return protocol_.keep_messages(); }
    /// Notes that arguments of a request could not be understood. Any thread.
    void note_malformed() { note_malformed_arguments(); }
    /// Ends the connection, for this reason: a request could not be answered at all. Any thread.
    void fail(std::string_view why) noexcept;
    /// Notes that one request less is under way. Any thread.
    void request_done() noexcept;
    /// Notes, when the server ends, that so many more of the requests under way are being
    /// discarded. Any thread.
    void note_discarded(int change) noexcept { discarded_ += change; }
    /// Returns whether requests are under way that are not being discarded. Any thread.
    [[nodiscard]] bool serves_others() const noexcept { return under_way_ > discarded_; }
    /// Looks at what became of replies that other threads have sent. The loop's thread.
    void after_sending() noexcept { ReactorConnection::after_sending(); }
    /// Returns whether the peer does not take its replies, so that no more of them are to be made.
    /// Any thread.
    [[nodiscard]] bool is_congested() const noexcept { return congested_ && !broken_; }

  private:
    ~HandoverConnection() override = default;
    [[nodiscard]] Next take_received(UpcallMemory& memory) override;
    [[nodiscard]] Next hand_over(const giop::Message& message, UpcallMemory& memory);
    [[nodiscard]] Next offer(UpcallMemory& memory);
    [[nodiscard]] bool gives_way() noexcept;
    [[nodiscard]] const void* place_awaited() const noexcept override;
    void ask_adapter(UpcallMemory& memory);
    [[nodiscard]] bool become_quiet() noexcept override;
    void abandon() noexcept override;
    void flush() noexcept override;
    void send_control(Bytes message) noexcept override;

    HandoverServer& server_;
    QueuedRequestPtr waiting_;           // what there was no place for
    std::mutex send_mutex_;              // guards writing, what is queued for the peer, last_words_
    std::vector<std::byte> last_words_;  // behind the replies to what is under way
    std::atomic<int> under_way_{0};      // requests that the dispatcher has
    std::atomic<int> discarded_{0};      // those of them that are never served
    std::atomic<bool> is_to_end_{false}; // when there are none
};

class HandoverServer final : public Server, public ReactorLoop::Maker, public RequestSource {
  public:
    /// Makes a server of these listeners, which `reader`, one thread, reads.
    HandoverServer(Orb& orb, std::vector<Listener> listeners, ServingThreads reader);
    ~HandoverServer() override;
    [[nodiscard]] Result<void> open(std::unique_ptr<Dispatcher> dispatcher);

    [[nodiscard]] Result<void> start() override;
    bool run() override { return false; }
    bool work_pending() override { return false; }
    void perform_work() override {}
    void resume() noexcept override;
    void stop() noexcept override { loop_->stop(); }
    void join() noexcept override;

    // RequestSource, any thread:
    void on_space() noexcept override { loop_->resume(); }

    [[nodiscard]] IntrusivePtr<ReactorConnection> make(ReactorLoop& loop, net::Socket socket,
                                                       const net::Address& peer) override;
    void on_wake() noexcept override;
    [[nodiscard]] Dispatcher& dispatcher() noexcept { return *dispatcher_; }
    [[nodiscard]] RequestStore& requests() noexcept { return requests_; }
    /// Has the loop look at what became of sending on this connection. Any thread.
    void attend(HandoverConnection& connection) noexcept;

  private:
    void serve() noexcept;

    const ServingThreads reader_;
    RequestStore requests_;
    std::unique_ptr<ReactorLoop> loop_;
    std::unique_ptr<Dispatcher> dispatcher_;
    std::mutex attention_mutex_; // guards attention_
    std::vector<IntrusivePtr<HandoverConnection>> attention_;
    std::atomic<bool> has_started_{false};
    std::mutex join_mutex_; // guards that one thread ends the server
    net::Thread thread_;
};

/// Makes the dispatcher of a server that hands requests over, which come from `source`.
using MakeDispatcher = std::unique_ptr<Dispatcher> (*)(Orb& orb, RequestSource& source);
/// Makes a server of these listeners that hands requests over to the dispatcher that `make` makes.
[[nodiscard]] Result<std::unique_ptr<Server>>
make_handover(Orb& orb, std::vector<Listener> listeners, MakeDispatcher make);

/// Opens a server of an architecture that hands requests over (Opening::open).
template <MakeDispatcher make>
[[nodiscard]] Result<std::unique_ptr<Server>> open_handover(Orb& orb)
{
    return open_server(orb, [](Orb& of, std::vector<Listener> listeners) {
        return make_handover(of, std::move(listeners), make);
    });
}

/// Makes the pool that requests are handed over to where neither the options nor thread pools say
/// more.
[[nodiscard]] std::unique_ptr<Dispatcher> make_worker_pool(Orb& orb, RequestSource& source);

} // namespace kairos::orb
