// SPDX-License-Identifier: Apache-2.0
//
// The leader/followers architecture: a pool of threads shares all connections. The one whose turn
// it is waits for them; it serves what it finds itself, without hand-over, while the next one
// waits. The line of followers is the system's: they all wait in one epoll set, of which each
// readiness wakes one. A thread whose servant makes a call does not count meanwhile: another takes
// its place. If there is none, it stays in line, and serves what it finds within the call.
#include "kairos/base/log.h"
#include "kairos/net/shared_poller.h"
#include "kairos/orb/lane.h"
#include "kairos/orb/nested_wait.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/server.h"
#include "kairos/orb/server_connection.h"
#include "kairos/orb/thread_set.h"
#include "kairos/orb/unsent.h"

#include <array>
#include <condition_variable>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>

namespace kairos::orb {
namespace {

class LeaderFollowers;
class SharedConnection;

/// What a thread of the pool can find ready. Belongs to the thread that found it until it is
/// watched again.
class Watched {
  public:
    virtual void on_ready(net::Readiness readiness, UpcallMemory& memory) noexcept = 0;
    /// Which one it is; null for none.
    [[nodiscard]] virtual SharedConnection* connection() noexcept { return nullptr; }

    /// Before it is watched: what was done with it is seen by who finds it ready. (The system keeps
    /// that order, but the language does not know.)
    void pass_on() noexcept { state_.store(State::nobodys, std::memory_order_release); }
    /// By who has found it. False: the server, which ends, was faster.
    [[nodiscard]] bool take_over() noexcept { return take(State::taken); }
    /// By the server, which ends. False: some thread has it.
    [[nodiscard]] bool take_for_ever() noexcept { return take(State::closed); }

  protected:
    ~Watched() = default;

  private:
    enum class State : std::uint8_t { nobodys, taken, closed };

    bool take(State next) noexcept
    {
        State expected = State::nobodys;
        return state_.compare_exchange_strong(expected, next, std::memory_order_acquire);
    }

    std::atomic<State> state_{State::nobodys};
};

class SharedConnection final : public ServerConnection, public Watched {
  public:
    SharedConnection(LeaderFollowers& server, Orb& orb, net::Socket socket,
                     const net::Address& peer)
        : ServerConnection(orb, std::move(socket), peer), server_(server)
    {
    }
    [[nodiscard]] Result<void> open();
    void on_ready(net::Readiness readiness, UpcallMemory& memory) noexcept override;
    [[nodiscard]] SharedConnection* connection() noexcept override { return this; }
    void send(Bytes header, const cdr::Writer& body) noexcept override
    {
        unsent_.put(socket_, header, body, orb_.options().fragment_size);
        note_unsent();
    }
    // While a request of this connection waits for a call, by the thread that serves it:
    using ServerConnection::From;
    using ServerConnection::may_serve_nested;
    using ServerConnection::serve_nested;
    [[nodiscard]] const net::Socket& socket() const noexcept { return socket_; }
    /// Guarded by the server: whether its hold has ended.
    [[nodiscard]] bool may_go_on() const noexcept { return hold.may_go_on(); }
    /// Has some thread go on with what was held.
    void go_on() noexcept;
    void close_in_order() noexcept;

    std::list<std::unique_ptr<SharedConnection>>::iterator position;

  private:
    [[nodiscard]] bool receive();
    void serve(UpcallMemory& memory) noexcept;
    void after(Next next) noexcept;
    [[nodiscard]] bool watch(net::Interest interest) noexcept;
    void send_control(Bytes message) noexcept override
    {
        unsent_.put(socket_, message);
        note_unsent();
    }
    void note_unsent() noexcept
    {
        if (unsent_.broken()) broken_ = true;
        if (congested_ == unsent_.empty()) congested_ = !unsent_.empty(); // seldom: it is a barrier
    }

    LeaderFollowers& server_;
    Unsent unsent_;
    bool held_ = false;
    bool closing_ = false; // when nothing is unsent any more
};

class LeaderFollowers final : public Server {
  public:
    LeaderFollowers(Orb& orb, std::vector<Listener> listeners,
                    std::unique_ptr<net::SharedPoller> poller, ServingThreads threads)
        : Server(orb, std::move(listeners)), poller_(std::move(poller)), wanted_(std::move(threads))
    {
    }
    ~LeaderFollowers() override
    {
        stop();
        join();
    }

    Result<void> start() override;
    bool run() override { return false; }
    bool work_pending() override { return false; }
    void perform_work() override {}
    void resume() noexcept override;
    void stop() noexcept override
    {
        stopping_ = true;
        close_idle();
        poller_->wake_all();
        const std::lock_guard lock(mutex_);
        replaced_.notify_all();
    }
    void join() noexcept override;

    [[nodiscard]] net::SharedPoller& poller() noexcept { return *poller_; }
    void accept(net::Acceptor& acceptor) noexcept;
    void forget(SharedConnection& connection) noexcept;
    /// Takes a connection that holds a request: somebody goes on with it when it may. False: that
    /// is now.
    [[nodiscard]] bool keep_held(SharedConnection& connection);
    /// The calling thread waits for a call of its own; another serves in its place until `rejoin`.
    /// False: there is none, so it stays in line.
    [[nodiscard]] bool leave() noexcept;
    void rejoin() noexcept { ++in_line_; }
    [[nodiscard]] bool is_stopping() const noexcept { return stopping_; }
    /// By one of its threads: ends what nobody serves, after stop().
    void close_idle() noexcept;

  private:
    struct Accepting final : Watched {
        Accepting(LeaderFollowers& owner, net::Acceptor& listening)
            : server(owner), acceptor(listening)
        {
        }
        void on_ready(net::Readiness, UpcallMemory&) noexcept override { server.accept(acceptor); }
        LeaderFollowers& server;
        net::Acceptor& acceptor;
    };

    [[nodiscard]] Result<void> add_thread() noexcept;
    void serve() noexcept;
    void close_all() noexcept;
    [[nodiscard]] bool stay_in_line() noexcept;

    const std::unique_ptr<net::SharedPoller> poller_;
    const ServingThreads wanted_;
    std::vector<std::unique_ptr<Accepting>> accepting_; // as the listeners; made by start()
    std::atomic<bool> stopping_{false};
    std::atomic<std::size_t> in_line_{0}; // threads that serve or wait for something to serve
    std::atomic<std::size_t> alive_{0};   // threads there are
    std::mutex join_mutex_;               // one thread ends the server; taken before mutex_
    std::mutex mutex_;                    // guards what follows; not taken while serving
    std::list<std::unique_ptr<SharedConnection>> connections_;
    std::vector<SharedConnection*> held_;
    std::size_t spare_ = 0;  // threads that came in for others which are back
    std::size_t called_ = 0; // … of which so many are to serve again
    bool is_short_ = false;  // of threads, as the log says
    std::condition_variable replaced_;
    ThreadSet threads_;
};

// --- The pool ------------------------------------------------------------------------------------

/// A thread of the pool and what it serves: requests within requests, of one connection or several.
class PoolThread final : public ServingThread {
  public:
    explicit PoolThread(LeaderFollowers& server) : server_(server) {}
    void wait_readable(const net::Socket& reply, Deadline deadline) noexcept override;
    /// Serves what the poller found, if it is still there.
    void serve(const net::SharedPoller::Ready& ready, UpcallMemory& memory) noexcept;

  private:
    /// A request that waits for a call, on the stack of who serves it.
    struct Waiting {
        SharedConnection* connection; // may be null
        bool listens;                 // for more requests of that connection
        Waiting* outer;
    };
    enum class Found : std::uint8_t { reply, connection, poller, nothing };

    [[nodiscard]] Found wait_for(const net::Socket& reply, bool in_line, Deadline deadline,
                                 Waiting*& readable) noexcept;
    void serve_nested(Waiting& waiting, SharedConnection::From from) noexcept;
    void serve_found() noexcept;

    LeaderFollowers& server_;
    SharedConnection* connection_ = nullptr; // that of the innermost request
    Waiting* waiting_ = nullptr;             // the innermost of those outside it
};

/// Who answers us may share its connection with somebody who waits for us, at whatever depth: all
/// of these are listened to.
void PoolThread::wait_readable(const net::Socket& reply, Deadline deadline) noexcept
{
    const bool replaced = server_.leave();
    Waiting waiting{
        .connection = connection_, .listens = connection_ != nullptr, .outer = waiting_};
    waiting_ = &waiting;
    // Nothing will tell of requests that came together with the one that waits.
    if (waiting.listens) serve_nested(waiting, SharedConnection::From::received);
    for (;;) {
        Waiting* readable = nullptr;
        const bool in_line = !replaced && !server_.is_stopping() && has_stack_to_serve();
        const Found found = wait_for(reply, in_line, deadline, readable);
        if (found == Found::connection)
            serve_nested(*readable, SharedConnection::From::socket);
        else if (found == Found::poller)
            serve_found();
        else
            break;
        if (deadline.has_passed()) break;
    }
    waiting_ = waiting.outer;
    if (replaced) server_.rejoin();
}

/// `readable` is the one whose connection is.
PoolThread::Found PoolThread::wait_for(const net::Socket& reply, bool in_line, Deadline deadline,
                                       Waiting*& readable) noexcept
{
    constexpr std::size_t polled_max = 500; // with so many connections it looks for no others
    std::array<pollfd, polled_max> polled;  // the reply, the poller, connections
    std::array<Waiting*, polled_max> whose;
    std::size_t count = 2;
    if (reply.prepare_poll()) return Found::reply;
    const SharedConnection* last = nullptr;
    for (Waiting* each = waiting_; each != nullptr && count < polled_max; each = each->outer) {
        if (!each->listens || each->connection == last) continue;
        last = each->connection;
        if (!last->may_serve_nested()) continue;
        readable = each;
        if (last->socket().prepare_poll()) return Found::connection;
        polled[count] = {.fd = last->socket().descriptor(), .events = POLLIN, .revents = 0};
        whose[count++] = each;
    }
    in_line = in_line && count < polled_max;
    const int poller = in_line ? server_.poller().descriptor() : -1;
    polled[0] = {.fd = reply.descriptor(), .events = POLLIN, .revents = 0};
    polled[1] = {.fd = poller, .events = POLLIN, .revents = 0};
    poll_until(std::span(polled).first(count), deadline);
    if (polled[0].revents != 0) return Found::reply;
    for (std::size_t i = 2; i < count; ++i) {
        readable = whose[i];
        if (polled[i].revents != 0) return Found::connection;
    }
    return polled[1].revents != 0 ? Found::poller : Found::nothing;
}

void PoolThread::serve_nested(Waiting& waiting, SharedConnection::From from) noexcept
{
    SharedConnection* const before = std::exchange(connection_, waiting.connection);
    waiting.listens = waiting.connection->serve_nested(from);
    connection_ = before;
}

void PoolThread::serve_found() noexcept
{
    const net::SharedPoller::Ready ready = server_.poller().look();
    if (ready.token != nullptr) {
        auto memory = Lane::current().upcall_memory.take();
        serve(ready, *memory);
        Lane::current().upcall_memory.give_back(std::move(memory));
    }
    // What was served last is nobody's now, and the one who would close it is this thread.
    if (server_.is_stopping()) server_.close_idle();
}

void PoolThread::serve(const net::SharedPoller::Ready& ready, UpcallMemory& memory) noexcept
{
    auto& found = *static_cast<Watched*>(ready.token);
    if (!found.take_over()) return;
    SharedConnection* const before = std::exchange(connection_, found.connection());
    found.on_ready(ready.readiness, memory);
    connection_ = before;
}

/// With fewer threads than wanted it goes on, so that it has one; more come when they can.
Result<void> LeaderFollowers::start()
{
    for (Listener& listener : listeners_) {
        auto accepting = std::make_unique<Accepting>(*this, listener.acceptor);
        auto added = poller_->add(listener.acceptor.descriptor(), net::Interest::readable,
                                  static_cast<Watched*>(accepting.get()));
        if (!added) return added;
        accepting_.push_back(std::move(accepting));
    }
    Result<void> started;
    std::size_t count = 0;
    while (count < wanted_.count && (started = add_thread()))
        ++count;
    if (count == 0) return started;
    if (!started) log::warning("fewer threads serve than wanted: " + started.error().reason);
    return {};
}

Result<void> LeaderFollowers::add_thread() noexcept
{
    ++in_line_;
    ++alive_;
    auto started = threads_.start(wanted_.options, [this] { serve(); });
    if (!started) {
        --in_line_;
        --alive_;
    }
    return started;
}

void LeaderFollowers::serve() noexcept
{
    PoolThread thread(*this);
    Lane::current().serving_thread = &thread;
    Lane::current().priority = wanted_.priority;
    UpcallMemory memory;
    while (!stopping_ && stay_in_line()) {
        const net::SharedPoller::Ready ready = poller_->wait();
        if (ready.token != nullptr) thread.serve(ready, memory);
    }
    if (stopping_) close_idle();    // what this thread was the last to have, too
    if (--alive_ == 0) close_all(); // the server ends, and nobody else is left to
}

/// False when the thread is to end. One too many, since others came back, waits until it is needed.
bool LeaderFollowers::stay_in_line() noexcept
{
    if (in_line_ <= wanted_.count) [[likely]]
        return true;
    std::unique_lock lock(mutex_);
    if (in_line_ <= wanted_.count) return true;
    --in_line_;
    if (spare_ >= wanted_.count) return false;
    ++spare_;
    replaced_.wait(lock, [this] { return called_ != 0 || stopping_; });
    --spare_;
    if (called_ == 0) return false;
    --called_;
    return true;
}

bool LeaderFollowers::leave() noexcept
{
    const std::lock_guard lock(mutex_);
    if (stopping_) {
        // nobody is to serve what nobody serves yet
    } else if (spare_ > called_) {
        ++in_line_;
        ++called_;
        replaced_.notify_one();
    } else {
        const auto added = add_thread();
        const bool was_short = std::exchange(is_short_, !added);
        if (!added && !was_short)
            log::warning("threads that wait for calls serve others meanwhile: " +
                         added.error().reason);
        if (!added) return false;
    }
    --in_line_;
    return true;
}

void LeaderFollowers::resume() noexcept
{
    const std::lock_guard lock(mutex_);
    std::erase_if(held_, [](SharedConnection* connection) {
        if (!connection->may_go_on()) return false;
        connection->go_on();
        return true;
    });
}

bool LeaderFollowers::keep_held(SharedConnection& connection)
{
    const std::lock_guard lock(mutex_);
    if (connection.may_go_on()) return false;
    held_.push_back(&connection);
    return true;
}

void LeaderFollowers::accept(net::Acceptor& acceptor) noexcept
{
    auto accepted = acceptor.accept();
    switch (accepted.status) {
    case net::Acceptor::Status::accepted: {
        const std::lock_guard lock(mutex_);
        if (stopping_) {
            turn_away(std::move(accepted.socket));
            break;
        }
        if (connections_.size() >= orb_.options().connections_max) {
            log::warning("connection from " + accepted.peer.to_text() +
                         " refused: -ORBMaxConnections reached");
            turn_away(std::move(accepted.socket));
            break;
        }
        connections_.push_front(std::make_unique<SharedConnection>(
            *this, orb_, std::move(accepted.socket), accepted.peer));
        SharedConnection& connection = *connections_.front();
        connection.position = connections_.begin();
        if (const auto opened = connection.open(); !opened) {
            log::error("connection from " + accepted.peer.to_text() +
                       " refused: " + opened.error().reason);
            connections_.pop_front();
        }
        break;
    }
    case net::Acceptor::Status::closed:
    case net::Acceptor::Status::would_block:
        break;
    case net::Acceptor::Status::turned_away:
        log_refusal(accepted);
        break;
    case net::Acceptor::Status::exhausted:
    case net::Acceptor::Status::failed:
        log_refusal(accepted);
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // let some be closed
        break;
    }
    const std::lock_guard lock(mutex_); // a server that ends closes the descriptor
    for (const auto& accepting : accepting_)
        if (&accepting->acceptor == &acceptor) {
            const int descriptor = acceptor.descriptor();
            accepting->pass_on();
            (void)poller_->watch(descriptor, net::Interest::readable,
                                 static_cast<Watched*>(accepting.get()));
        }
}

void LeaderFollowers::forget(SharedConnection& connection) noexcept
{
    std::list<std::unique_ptr<SharedConnection>> ended; // destroyed without the lock
    const std::lock_guard lock(mutex_);
    ended.splice(ended.begin(), connections_, connection.position);
}

void LeaderFollowers::join() noexcept
{
    const std::lock_guard joining(join_mutex_);
    threads_.join();
    close_all();
}

/// Who waits within a request for a call that leads back here waits for ever unless the caller of
/// that is told that nobody will serve it. The memory of connections stays until close_all().
void LeaderFollowers::close_idle() noexcept
{
    const std::lock_guard lock(mutex_);
    for (const auto& accepting : accepting_)
        if (accepting->take_for_ever()) close_listener(accepting->acceptor);
    for (const auto& connection : connections_)
        if (connection->take_for_ever()) connection->close_in_order();
}

void LeaderFollowers::close_all() noexcept
{
    std::list<std::unique_ptr<SharedConnection>> ended; // closed and destroyed without the lock
    {
        const std::lock_guard lock(mutex_); // it may be stopped once more
        for (Listener& listener : listeners_)
            close_listener(listener.acceptor);
        ended.swap(connections_);
    }
    for (const auto& connection : ended)
        connection->close_in_order();
}

// --- One connection ------------------------------------------------------------------------------

Result<void> SharedConnection::open()
{
    pass_on();
    return server_.poller().add(socket_.descriptor(), net::Interest::readable,
                                static_cast<Watched*>(this));
}

/// Nothing of this may be touched any more unless it fails.
bool SharedConnection::watch(net::Interest interest) noexcept
{
    net::SharedPoller& poller = server_.poller();
    const int descriptor = socket_.descriptor();
    pass_on();
    return poller.watch(descriptor, interest, static_cast<Watched*>(this)).ok();
}

void SharedConnection::on_ready(net::Readiness readiness, UpcallMemory& memory) noexcept
{
    if (!unsent_.empty()) {
        if (readiness.writable) unsent_.flush(socket_);
        note_unsent();
        if (congested_ || closing_) return after(closing_ ? Next::close : Next::read);
        return serve(memory); // requests that came before it was full
    }
    if (std::exchange(held_, false)) return serve(memory);
    if (receive()) serve(memory);
}

/// False: the connection is watched again, or gone.
bool SharedConnection::receive()
{
    try {
        no_request_in_progress();
        const net::IoResult got = socket_.read(protocol_.space());
        if (got.ok()) {
            protocol_.received(got.bytes);
            return true;
        }
        if (got.status == net::IoResult::Status::would_block) {
            after(Next::read);
        } else {
            (void)end_received();
            server_.forget(*this);
        }
    } catch (const std::bad_alloc&) {
        log::error("out of memory for a message from " + peer_.to_text() + "; connection closed");
        server_.forget(*this);
    }
    return false;
}

void SharedConnection::serve(UpcallMemory& memory) noexcept
{
    Next next = Next::close;
    try {
        next = serve_received(memory);
        while (next == Next::hold) {
            held_ = true;
            if (server_.keep_held(*this)) return;
            held_ = false;
            next = serve_received(memory);
        }
    } catch (const std::bad_alloc&) {
        log::error("out of memory for a message from " + peer_.to_text() + "; connection closed");
        return server_.forget(*this);
    }
    after(next);
}

void SharedConnection::go_on() noexcept
{
    // It can always be written: the thread that finds that goes on.
    if (!watch(net::Interest::writable)) socket_.shutdown_both();
}

void SharedConnection::after(Next next) noexcept
{
    if (next == Next::close) closing_ = true;
    if (broken_) return server_.forget(*this);
    if (closing_ && !congested_) {
        drain(socket_);
        return server_.forget(*this);
    }
    if (!watch(congested_ ? net::Interest::writable : net::Interest::readable))
        server_.forget(*this);
}

void SharedConnection::close_in_order() noexcept
{
    if (broken_ || closing_) return;
    send_close_connection();
    if (!unsent_.empty()) unsent_.flush(socket_);
    closing_ = true;
    drain(socket_);
}

} // namespace

Result<std::unique_ptr<Server>> make_leader_followers(Orb& orb, std::vector<Listener> listeners,
                                                      ServingThreads threads)
{
    auto poller = net::SharedPoller::create();
    if (!poller) return poller.error();
    return std::unique_ptr<Server>(std::make_unique<LeaderFollowers>(
        orb, std::move(listeners), std::move(poller).value(), std::move(threads)));
}

} // namespace kairos::orb
