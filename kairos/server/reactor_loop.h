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
#include "kairos/orb/serving_thread.h"
#include "kairos/orb/thread_storage.h"
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

/// One connection of a reactor. Queues what the peer does not take at once, and is not read until
/// the peer has taken that, so that it delays nobody else. Where there are other connections, it
/// serves one request of what it has read, and then the others have their turn.
class ReactorConnection : public ServerConnection, public net::EventHandler, public RefCounted {
  public:
    /// Has the reactor watch the connection.
    [[nodiscard]] Result<void> open();
    void on_ready(net::Readiness readiness) noexcept final;
    /// Goes on with the request that it holds, if any, and what came behind that.
    void resume() noexcept;
    /// Sends CloseConnection behind what is queued for the peer; reads no more.
    void say_close() noexcept;
    /// Ends the connection in order when others may still be serving requests of it: sends
    /// CloseConnection behind their replies, and reads on until then. Returns whether nobody serves
    /// anything of it any more; to be called again until that is so.
    [[nodiscard]] bool close_when_quiet() noexcept;
    /// Has the reactor watch the connection no more.
    void stop_listening() noexcept;

  protected:
    ReactorConnection(ReactorLoop& loop, Orb& orb, net::Socket socket, const net::Address& peer)
        : ServerConnection(orb, std::move(socket), peer), loop_(loop)
    {
    }

    /// Returns how many requests the connection may serve before others have their turn.
    [[nodiscard]] unsigned requests_a_turn() const noexcept;
    /// Serves the messages received, or hands them over. Returning `hold` asks for resume() when to
    /// go on.
    [[nodiscard]] virtual Next take_received(UpcallMemory& memory) = 0;
    /// Notes that nobody reads the connection any more; it is about to be destroyed, if nobody else
    /// has it.
    virtual void abandon() noexcept {}
    /// Notes that the connection is to end. Returns whether it may: every request that was taken is
    /// answered. If not, after_sending() follows when they are.
    [[nodiscard]] virtual bool become_quiet() noexcept { return true; }
    /// Notes that another thread has sent a reply, or failed to, or is done with its request.
    void after_sending() noexcept;

    /// Returns whether the connection does nothing but wait for the next message, so that another
    /// thread may read it, after stop_listening().
    [[nodiscard]] bool may_be_lent() const noexcept;
    /// Why a connection comes back that another thread has read.
    enum class Returned : std::uint8_t {
        unread,       ///< perhaps there is more to take, or to read
        closing,      ///< as Next::close
        out_of_memory ///< for what came
    };
    /// Has the reactor watch a connection again that another thread has read.
    void listen_again(Returned why) noexcept;

    /// Sends of a reply what the peer takes now and queues the rest: `header`, which lies in front
    /// of the body, and `body`, in fragments if the options say so.
    void put(Bytes header, const cdr::Writer& body) noexcept;
    /// Sends of `bytes` what the peer takes now and queues the rest.
    void put(Bytes bytes) noexcept
    {
        output_.put(socket_, bytes);
        note_unsent();
    }

    /// Returns whether the loop has forgotten the connection, which is nobody's then.
    [[nodiscard]] bool is_forgotten() const noexcept { return forgotten_; }

    /// Notes that something that the connection had put aside was taken since it was resumed.
    void note_going_on() noexcept { went_on_ = true; }
    /// Returns what the connection holds for, if others may hold for the same thing: they then go
    /// on in the order in which they began to hold. Else null.
    [[nodiscard]] virtual const void* place_awaited() const noexcept { return nullptr; }

    ReactorLoop& loop_;

  private:
    friend class ReactorLoop;

    /// Serves what was received before, or reads what is at hand, now that it is this connection's
    /// turn.
    void take_turn() noexcept;

    void read() noexcept;
    [[nodiscard]] std::size_t read_once() noexcept;
    /// Takes what was received. Returns whether to read more; false also when the loop has
    /// forgotten the connection.
    bool take() noexcept;
    /// Takes, while a request of this connection waits for a reply, what was read together with it.
    void take_rest() noexcept;
    void run_out_of_memory() noexcept;
    [[nodiscard]] bool may_be_late(ReceiveLimit::Clock::time_point now) noexcept;
    /// Ends the connection if its peer is late, having first read what came while the loop was
    /// busy.
    void end_if_late(ReceiveLimit::Clock::time_point now) noexcept;
    void after(Next next) noexcept;
    void begin_to_close() noexcept;
    void listen_for() noexcept;
    [[nodiscard]] bool reads_no_more() const noexcept { return closing_ && !reads_on_; }

    net::Reactor::Registration registration_;
    std::list<IntrusivePtr<ReactorConnection>>::iterator position_;
    net::Interest interest_ = net::Interest::readable;
    bool holding_ = false;
    bool went_on_ = false;   // since it was resumed
    bool closing_ = false;   // when nothing is queued any more, and it is quiet
    bool reads_on_ = false;  // until it is
    bool ends_ = false;      // with its server
    bool was_told_ = false;  // … at once
    bool forgotten_ = false; // by the loop
    bool listens_ = false;   // else another thread reads
    bool at_hand_ = false;   // what it waits for is there: no event will tell, so it has a turn
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
        /// Called in the loop's thread after wake().
        virtual void on_wake() noexcept {}

      protected:
        ~Maker() = default;
    };

    /// Makes a loop over these listeners; they and `maker`, which makes its connections, must
    /// outlive it.
    [[nodiscard]] static Result<std::unique_ptr<ReactorLoop>>
    create(Orb& orb, std::vector<Listener*> listeners, Maker& maker);

    // --- any thread ---
    /// Has the loop begin to accept connections, at its next turn.
    void start() noexcept;
    /// Has the connections that hold requests offer them again.
    void resume() noexcept;
    /// Has run() return.
    void stop() noexcept;
    /// Has the loop's thread call Maker::on_wake().
    void wake() noexcept { reactor_->wake(); }
    [[nodiscard]] bool stopping() const noexcept { return stopping_.load(); }
    /// Returns whether turn() would do something.
    [[nodiscard]] bool work_pending() const noexcept;

    // --- the thread that turns it ---
    /// Reads a connection from now on that no listener of its own has accepted, beginning with what
    /// was received before; returns false if it cannot.
    bool add(const IntrusivePtr<ReactorConnection>& connection) noexcept;
    /// Serves on the calling thread until stop().
    void run() noexcept;
    /// Serves what is ready, without waiting.
    void turn() noexcept;
    /// Ends all connections in order, after run(), while others may still be serving requests:
    /// accepts nothing any more, and sends CloseConnection behind the replies to those. Goes on
    /// serving until there are none.
    void close_when_quiet() noexcept;
    /// Ends every connection in order and accepts nothing any more. Waits for peers that take what
    /// is queued for them (ServerConnection::send_rest).
    void close_all() noexcept;
    void bind_to_this_thread() noexcept { reactor_->bind_to_this_thread(); }
    /// Returns a descriptor for a foreign event loop, which calls turn() when it is readable.
    [[nodiscard]] Result<int> descriptor()
    {
        bind_to_this_thread();
        return reactor_->descriptor_with_timers();
    }
    /// Serves until `awaited` is ready or the deadline has passed; only waits if there is too
    /// little stack left to serve (has_stack_to_serve).
    void wait(const Awaited& awaited, Deadline deadline) noexcept override;
    /// Has the handler called while this descriptor can be read; both live as long as the loop.
    [[nodiscard]] Result<void> watch(int descriptor, net::EventHandler& handler)
    {
        const auto added = reactor_->add(descriptor, net::Interest::readable, handler);
        return added ? Result<void>() : added.error();
    }
    [[nodiscard]] bool has_holders() const noexcept { return !holders_.empty(); }
    [[nodiscard]] bool has_one_connection() const noexcept { return connections_.size() == 1; }
    /// Has the loop sleep for a moment within a stream of oneways from now on, as long as it has
    /// one connection only: it delays nobody else then.
    void pause_in_streams(const StreamPause& pause) noexcept { stream_pause_ = pause; }
    void note_reply() noexcept { stream_pause_.note_reply(); }

  private:
    friend class ReactorConnection;

    /// Notes a read of a connection, which may just have been forgotten, and sleeps for a moment if
    /// that was within a stream.
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
        AcceptHandler(ReactorLoop& owner, Listener& listening) : loop(owner), listener(listening) {}
        void on_ready(net::Readiness) noexcept override { loop.accept(*this); }
        void on_timeout() noexcept override
        {
            (void)loop.reactor_->set_interest(registration, net::Interest::readable);
        }
        ReactorLoop& loop;
        Listener& listener;
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
    /// Serves what the reactor finds within `max_wait`, and gives each connection a turn that waits
    /// for one.
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
    /// Notes that some connection has a message that is not whole: connections are looked at from
    /// here on, while there is one.
    [[gnu::cold]] void note_unfinished() noexcept;
    /// Ends connections whose peers owe the rest of a message for too long.
    void look_for_late() noexcept;
    void open_acceptors() noexcept;
    void close_acceptors() noexcept;
    void accept(AcceptHandler& handler) noexcept;
    /// Accepts a connection if one waits; returns whether another may be waiting.
    [[nodiscard]] bool accept_one(AcceptHandler& handler) noexcept;
    [[nodiscard]] bool insert(const IntrusivePtr<ReactorConnection>& connection);
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
    bool closes_when_quiet_ = false;
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
