// SPDX-License-Identifier: Apache-2.0
//
// What all architectures with a reactor share: one thread at a time that waits for listeners and
// connections, accepts, and lets each connection read when it can. What becomes of requests is the
// connections' business. Used by the thread that turns it, but for what says otherwise.
#pragma once

#include "kairos/base/intrusive_list.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/net/alarm.h"
#include "kairos/net/reactor.h"
#include "kairos/orb/lane.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/server/server.h"
#include "kairos/server/server_connection.h"
#include "kairos/server/stream_pause.h"

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace kairos::orb {

class ReactorLoop;

/// One connection of a reactor. What the peer does not take at once is queued, and the connection
/// is not read until it does: so it delays nobody else. Where there are others, one request of what
/// was read at once is served, and then those others have their turn.
class ReactorConnection : public ServerConnection, public net::EventHandler, public RefCounted {
  public:
    [[nodiscard]] Result<void> open();
    void on_ready(net::Readiness readiness) noexcept final;
    /// Goes on with what it could not go on with.
    void resume() noexcept;
    /// The peer is told CloseConnection behind what is queued for it.
    void say_close() noexcept;
    /// The same behind the replies to what others are serving, while these still do; until then it
    /// is read. To be called until it is true: nobody serves anything of it any more.
    [[nodiscard]] bool close_when_quiet() noexcept;
    void stop_listening() noexcept;

  protected:
    ReactorConnection(ReactorLoop& loop, Orb& orb, net::Socket socket, const net::Address& peer)
        : ServerConnection(orb, std::move(socket), peer), loop_(loop)
    {
    }

    /// How many requests may be served before others have their turn.
    [[nodiscard]] unsigned requests_a_turn() const noexcept;
    /// Does what is to be done with the messages received. `hold`: resume() says when to go on.
    [[nodiscard]] virtual Next take_received(UpcallMemory& memory) = 0;
    /// Nobody reads it any more; it is about to be destroyed, if nobody else has it.
    virtual void abandon() noexcept {}
    /// It is to end. Whether it may: every request that was taken is answered. If not,
    /// after_sending() follows when they are.
    [[nodiscard]] virtual bool become_quiet() noexcept { return true; }
    /// Another thread has sent, or failed to, or is done.
    void after_sending() noexcept;

    /// Sends now what can be sent, queues the rest.
    void put(Bytes header, const cdr::Writer& body) noexcept;
    void put(Bytes bytes) noexcept
    {
        unsent_.put(socket_, bytes);
        note_unsent();
    }

    /// Something that it had put aside was taken since it was resumed.
    void note_going_on() noexcept { went_on_ = true; }
    /// What it holds for, if others may hold for the same: they go on in the order in which they
    /// began to. Else null.
    [[nodiscard]] virtual const void* place_awaited() const noexcept { return nullptr; }

    ReactorLoop& loop_;

  private:
    friend class ReactorLoop;

    /// It has waited for it.
    void take_turn() noexcept;

    void read() noexcept;
    [[nodiscard]] std::size_t read_once() noexcept;
    /// What was received. Whether to read more; false also when it was forgotten.
    bool take() noexcept;
    /// While a request of this connection waits for a reply: what came together with it.
    void take_rest() noexcept;
    void run_out_of_memory() noexcept;
    [[nodiscard]] bool may_be_late(ReceiveLimit::Clock::time_point now) noexcept;
    /// What came while the loop was busy is read before.
    void end_if_late(ReceiveLimit::Clock::time_point now) noexcept;
    void after(Next next) noexcept;
    void begin_to_close() noexcept;
    void listen_for() noexcept;
    [[nodiscard]] bool reads_no_more() const noexcept { return closing_ && !reads_on_; }

    net::Reactor::Registration registration_;
    std::list<IntrusivePtr<ReactorConnection>>::iterator position_;
    net::Interest interest_ = net::Interest::readable;
    bool holding_ = false;
    bool went_on_ = false;                    // since it was resumed
    bool closing_ = false;                    // when nothing is queued any more, and it is quiet
    bool reads_on_ = false;                   // until it is
    bool ends_ = false;                       // with its server
    bool was_told_ = false;                   // … at once
    bool forgotten_ = false;                  // by the loop
    ListLinks<ReactorConnection> turn_links_; // while it waits for its turn
    ListLinks<ReactorConnection> hold_links_; // while it holds
};

class ReactorLoop final : public ServingThread {
  public:
    /// Makes the connections of one architecture.
    class Maker {
      public:
        [[nodiscard]] virtual IntrusivePtr<ReactorConnection>
        make(ReactorLoop& loop, net::Socket socket, const net::Address& peer) = 0;
        /// In the loop's thread, after wake().
        virtual void on_wake() noexcept {}

      protected:
        ~Maker() = default;
    };

    /// Over these listeners, which must outlive it, as `maker`.
    [[nodiscard]] static Result<std::unique_ptr<ReactorLoop>>
    create(Orb& orb, std::vector<Listener*> listeners, Maker& maker);

    // --- any thread ---
    /// Begins to accept connections, at the next turn.
    void start() noexcept;
    /// Connections that hold go on.
    void resume() noexcept;
    void stop() noexcept;
    void wake() noexcept { reactor_->wake(); }
    [[nodiscard]] bool stopping() const noexcept { return stopping_.load(); }
    [[nodiscard]] bool work_pending() const noexcept;

    // --- the thread that turns it ---
    /// Turns until stop(), on the calling thread.
    void run() noexcept;
    /// One turn without waiting.
    void turn() noexcept;
    /// After run(), while others still serve: nothing is accepted any more, and connections end in
    /// order behind the replies to what is being served. Turns until there is none of that.
    void close_when_quiet() noexcept;
    /// Ends every connection in order, accepts nothing any more. Waits for peers that take what is
    /// queued for them (ServerConnection::send_rest).
    void close_all() noexcept;
    void bind_to_this_thread() noexcept { reactor_->bind_to_this_thread(); }
    /// For a foreign loop, which turns it when this is readable.
    [[nodiscard]] Result<int> descriptor()
    {
        bind_to_this_thread();
        return reactor_->descriptor_with_timers();
    }
    void wait(const Awaited& awaited, Deadline deadline) noexcept override;
    [[nodiscard]] bool has_holders() const noexcept { return !holders_.empty(); }
    [[nodiscard]] bool has_one_connection() const noexcept { return connections_.size() == 1; }
    /// From now on it sleeps for a moment within a stream of oneways, as long as it has one
    /// connection only: it delays nobody else.
    void pause_in_streams(const StreamPause& pause) noexcept { stream_pause_ = pause; }
    void note_reply() noexcept { stream_pause_.note_reply(); }

  private:
    friend class ReactorConnection;

    /// After a read of a connection, which may just have been forgotten.
    [[gnu::noinline]] void pause_after_read(std::size_t bytes, bool all) noexcept
    {
        if (taking_ != nullptr || connections_.size() != 1) return;
        const ReactorConnection& connection = *connections_.front();
        stream_pause_.pause_after_read({.bytes = bytes,
                                        .all = all,
                                        .queue_max = connection.queue_max_,
                                        .in_part = connection.message_in_part()});
    }

    /// A connection whose messages are being taken, on the stack of who does: perhaps nested in
    /// another's.
    struct Taking {
        Taking(ReactorLoop& taken_by, ReactorConnection& taken) noexcept
            : loop(taken_by), connection(&taken), outer(std::exchange(taken_by.taking_, this))
        {
        }
        ~Taking() { loop.taking_ = outer; }
        Taking(const Taking&) = delete;
        Taking& operator=(const Taking&) = delete;

        ReactorLoop& loop;
        ReactorConnection* connection; // null: forgotten meanwhile, and kept until it is done
        IntrusivePtr<ReactorConnection> kept;
        Taking* const outer;
    };

    struct AcceptHandler final : net::EventHandler, net::Timer {
        AcceptHandler(ReactorLoop& owner, net::Acceptor& listening)
            : loop(owner), acceptor(listening)
        {
        }
        void on_ready(net::Readiness) noexcept override { loop.accept(*this); }
        void on_timeout() noexcept override
        {
            (void)loop.reactor_->set_interest(registration, net::Interest::readable);
        }
        ReactorLoop& loop;
        net::Acceptor& acceptor;
        net::Reactor::Registration registration;
    };
    struct WakeHandler final : net::EventHandler {
        explicit WakeHandler(ReactorLoop& woken) : loop(woken) {}
        void on_ready(net::Readiness) noexcept override { loop.on_wake(); }
        ReactorLoop& loop;
    };

    struct LookHandler final : net::EventHandler {
        explicit LookHandler(ReactorLoop& looking) : loop(looking) {}
        void on_ready(net::Readiness) noexcept override { loop.look_for_late(); }
        ReactorLoop& loop;
    };

    ReactorLoop(Orb& orb, std::vector<Listener*> listeners, Maker& maker,
                std::unique_ptr<net::Reactor> reactor);
    /// One turn of the reactor, and one of each connection that waits for it.
    void turn_once(std::optional<std::chrono::nanoseconds> max_wait) noexcept;
    void await_turn(ReactorConnection& connection) noexcept;
    void end_turn(ReactorConnection& connection) noexcept;
    void begin_hold(ReactorConnection& connection) noexcept;
    void end_hold(ReactorConnection& connection) noexcept;
    [[nodiscard]] bool is_taking_within(const ReactorConnection& connection) const noexcept
    {
        return taking_ != nullptr && taking_->outer != nullptr && is_taking(connection);
    }
    [[nodiscard]] Result<void> limit_receiving();
    /// Some connection has a message that is not whole: from here on they are looked at, while
    /// there is one.
    [[gnu::cold]] void note_unfinished() noexcept;
    /// Ends connections whose peers owe the rest of a message for too long.
    void look_for_late() noexcept;
    void open_acceptors() noexcept;
    void close_acceptors() noexcept;
    void accept(AcceptHandler& handler) noexcept;
    /// Whether there may be another.
    [[nodiscard]] bool accept_one(AcceptHandler& handler) noexcept;
    void on_wake() noexcept;
    [[nodiscard]] bool is_taking(const ReactorConnection& connection) const noexcept;
    void forget(ReactorConnection& connection) noexcept;

    Orb& orb_;
    const std::vector<Listener*> listeners_;
    Maker& maker_;
    const std::unique_ptr<net::Reactor> reactor_;
    WakeHandler wake_;
    LookHandler look_;
    std::optional<net::Alarm> look_again_; // not a timer of the reactor: that has each turn ask the
                                           // clock. None without -ORBReceiveTimeout
    bool will_look_ = false;
    UpcallMemory memory_;
    StreamPause stream_pause_{std::chrono::microseconds(0)};
    Taking* taking_ = nullptr;
    std::list<IntrusivePtr<ReactorConnection>> connections_;
    IntrusiveList<ReactorConnection, &ReactorConnection::turn_links_> turns_; // who has more to do
    std::size_t turns_waiting_ = 0;                                           // how many these are
    IntrusiveList<ReactorConnection, &ReactorConnection::hold_links_> holders_; // first come first
    std::size_t holders_waiting_ = 0;
    std::vector<std::unique_ptr<AcceptHandler>> acceptors_;
    std::atomic<bool> has_turns_{false}; // that is, turns_ is not empty
    std::atomic<bool> start_requested_{false};
    std::atomic<bool> resume_requested_{false};
    std::atomic<bool> stopping_{false};
};

} // namespace kairos::orb
