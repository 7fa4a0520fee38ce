// SPDX-License-Identifier: Apache-2.0
//
// The reactor architecture: one thread, whichever is in ORB::run or perform_work, waits for all
// connections and serves what is ready. Three system calls a request. A peer that does not read its
// replies delays nobody: what it does not take is queued and it is not read until it does.
#include "kairos/base/log.h"
#include "kairos/giop/fragments.h"
#include "kairos/net/reactor.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/server.h"
#include "kairos/orb/server_connection.h"

#include <atomic>
#include <list>
#include <mutex>
#include <poll.h>

namespace kairos::orb {
namespace {

class ReactorServer;

/// One connection of the reactor. Used by the reactor's thread only.
class ReactorConnection final : public ServerConnection, public net::EventHandler {
  public:
    ReactorConnection(ReactorServer& server, Orb& orb, net::Socket socket, const net::Address& peer)
        : ServerConnection(orb, std::move(socket), peer), server_(server)
    {
    }
    ~ReactorConnection() override;

    [[nodiscard]] Result<void> open();
    void on_ready(net::Readiness readiness) noexcept override;
    /// Offers a held request again.
    void resume() noexcept;
    /// Ends in order: what is queued and a CloseConnection are sent as far as the peer takes them.
    void close_in_order() noexcept;

    void send(Bytes header, const cdr::Writer& body) noexcept override;

    std::list<std::unique_ptr<ReactorConnection>>::iterator position;

  private:
    void read() noexcept;
    void serve() noexcept;
    void run_out_of_memory() noexcept;
    void after(Next next) noexcept;
    void listen_for() noexcept;
    void send_control(Bytes message) noexcept override { put(message); }
    /// Sends now what can be sent, queues the rest.
    void put(Bytes bytes) noexcept;
    void flush() noexcept;

    ReactorServer& server_;
    net::Reactor::Registration registration_;
    net::Interest interest_ = net::Interest::readable;
    std::vector<std::byte> queue_; // what the peer did not take yet
    std::size_t queue_sent_ = 0;
    bool holding_ = false;
    bool closing_ = false; // when the queue is empty
};

class ReactorServer final : public Server {
  public:
    ReactorServer(Orb& orb, std::vector<Listener> listeners, std::unique_ptr<net::Reactor> reactor)
        : Server(orb, std::move(listeners)), reactor_(std::move(reactor)), wake_(*this)
    {
        reactor_->set_wake_handler(&wake_);
    }
    ~ReactorServer() override
    {
        stop();
        join();
    }

    void start() override
    {
        // From any thread: the turns of the reactor begin by looking at start_requested_.
        start_requested_ = true;
        reactor_->wake();
    }

    bool run() override
    {
        const std::lock_guard serving(serving_mutex_);
        reactor_->bind_to_this_thread();
        if (start_requested_.exchange(false)) open_acceptors();
        while (!stopping_)
            reactor_->run_once();
        close_all();
        return true;
    }

    bool work_pending() override
    {
        pollfd ready{.fd = reactor_->descriptor(), .events = POLLIN, .revents = 0};
        return ::poll(&ready, 1, 0) > 0;
    }

    void perform_work() override
    {
        const std::unique_lock serving(serving_mutex_, std::try_to_lock);
        if (!serving) return; // another thread serves, and will go on doing so
        reactor_->bind_to_this_thread();
        reactor_->run_once(std::chrono::nanoseconds{0});
        if (stopping_) close_all();
    }

    void resume() noexcept override
    {
        resume_requested_ = true;
        reactor_->wake();
    }
    void stop() noexcept override
    {
        stopping_ = true;
        reactor_->wake();
    }
    void join() noexcept override
    {
        const std::lock_guard serving(serving_mutex_); // waits for the thread in run()
        reactor_->bind_to_this_thread();
        close_all();
    }

    [[nodiscard]] net::Reactor& reactor() noexcept { return *reactor_; }
    [[nodiscard]] UpcallMemory& memory() noexcept { return memory_; }
    void forget(ReactorConnection& connection) { connections_.erase(connection.position); }

  private:
    struct AcceptHandler final : net::EventHandler, net::Timer {
        AcceptHandler(ReactorServer& owner, net::Acceptor& listening)
            : server(owner), acceptor(listening)
        {
        }
        void on_ready(net::Readiness) noexcept override { server.accept(*this); }
        void on_timeout() noexcept override
        {
            (void)server.reactor().set_interest(registration, net::Interest::readable);
        }
        ReactorServer& server;
        net::Acceptor& acceptor;
        net::Reactor::Registration registration;
    };
    struct WakeHandler final : net::EventHandler {
        explicit WakeHandler(ReactorServer& server) : server_(server) {}
        void on_ready(net::Readiness) noexcept override { server_.on_wake(); }
        ReactorServer& server_;
    };

    void open_acceptors()
    {
        for (Listener& listener : listeners_) {
            auto handler = std::make_unique<AcceptHandler>(*this, listener.acceptor);
            auto registration =
                reactor_->add(listener.acceptor.descriptor(), net::Interest::readable, *handler);
            if (!registration) {
                log::error("cannot serve: " + registration.error().reason);
                continue;
            }
            handler->registration = *registration;
            acceptors_.push_back(std::move(handler));
        }
    }

    void accept(AcceptHandler& handler)
    {
        auto accepted = handler.acceptor.accept();
        if (accepted.status != net::Acceptor::Status::accepted) {
            if (accepted.status == net::Acceptor::Status::would_block) return;
            log_refusal(accepted);
            if (accepted.status == net::Acceptor::Status::turned_away) return;
            // The listener stays readable: look away until descriptors may be free again.
            (void)reactor_->set_interest(handler.registration, net::Interest::none);
            reactor_->schedule(handler, net::Reactor::Clock::now() + std::chrono::milliseconds(50));
            return;
        }
        if (connections_.size() >= orb_.options().connections_max) {
            log::warning("connection from " + accepted.peer.to_text() +
                         " refused: -ORBMaxConnections reached");
            return turn_away(std::move(accepted.socket));
        }
        auto connection = std::make_unique<ReactorConnection>(
            *this, orb_, std::move(accepted.socket), accepted.peer);
        if (const auto opened = connection->open(); !opened) {
            log::error("connection from " + accepted.peer.to_text() +
                       " refused: " + opened.error().reason);
            return;
        }
        connections_.push_front(std::move(connection));
        connections_.front()->position = connections_.begin();
    }

    void on_wake()
    {
        if (start_requested_.exchange(false)) open_acceptors();
        orb_.main_thread().serve_pending();
        if (!resume_requested_.exchange(false)) return;
        for (auto next = connections_.begin(); next != connections_.end();) {
            ReactorConnection& connection = **next++; // resuming may end the connection
            connection.resume();
        }
    }

    void close_all() noexcept
    {
        for (auto& acceptor : acceptors_)
            reactor_->remove(acceptor->registration);
        acceptors_.clear();
        for (Listener& listener : listeners_) {
            // The kernel resets the connections that wait; their clients could not know then
            // whether what they sent was executed.
            for (;;) {
                auto accepted = listener.acceptor.accept();
                if (accepted.status != net::Acceptor::Status::accepted) break;
                turn_away(std::move(accepted.socket));
            }
            listener.acceptor.shut_down();
        }
        for (auto& connection : connections_)
            connection->close_in_order();
        connections_.clear();
    }

    const std::unique_ptr<net::Reactor> reactor_;
    WakeHandler wake_;
    UpcallMemory memory_;
    std::list<std::unique_ptr<ReactorConnection>> connections_;
    std::vector<std::unique_ptr<AcceptHandler>> acceptors_;
    std::atomic<bool> start_requested_{false};
    std::atomic<bool> resume_requested_{false};
    std::atomic<bool> stopping_{false};
    std::mutex serving_mutex_; // held by the thread that serves, once for all of its turns
};

ReactorConnection::~ReactorConnection() { server_.reactor().remove(registration_); }

Result<void> ReactorConnection::open()
{
    auto registration = server_.reactor().add(socket_.descriptor(), net::Interest::readable, *this);
    if (!registration) return registration.error();
    registration_ = *registration;
    return {};
}

void ReactorConnection::on_ready(net::Readiness readiness) noexcept
{
    if (readiness.hung_up && !readiness.readable && !readiness.writable)
        return server_.forget(*this); // nobody is left to hear what is held or queued
    if (!queue_.empty()) {
        if (readiness.writable) flush();
        if (!queue_.empty() && !broken_) return;
        return closing_ ? after(Next::close) : serve(); // requests that came before it was full
    }
    if (readiness.readable && !closing_) read();
}

void ReactorConnection::read() noexcept
{
    try {
        const net::IoResult got = socket_.read(protocol_.space());
        if (got.status == net::IoResult::Status::would_block) return;
        if (!got.ok()) {
            (void)end_received();
            return server_.forget(*this);
        }
        protocol_.received(got.bytes);
    } catch (const std::bad_alloc&) {
        return run_out_of_memory();
    }
    serve();
}

void ReactorConnection::serve() noexcept
{
    Next next = Next::close;
    try {
        next = serve_received(server_.memory());
    } catch (const std::bad_alloc&) {
        return run_out_of_memory();
    }
    after(next);
}

void ReactorConnection::run_out_of_memory() noexcept
{
    log::error("out of memory for a message from " + peer_.to_text() + "; connection closed");
    server_.forget(*this);
}

void ReactorConnection::resume() noexcept
{
    if (!holding_) return;
    holding_ = false;
    serve();
}

void ReactorConnection::after(Next next) noexcept
{
    holding_ = next == Next::hold;
    if (next == Next::close) closing_ = true;
    if (broken_) return server_.forget(*this);
    if (closing_ && queue_.empty()) {
        drain(socket_);
        return server_.forget(*this);
    }
    listen_for();
}

void ReactorConnection::listen_for() noexcept
{
    net::Interest interest = net::Interest::readable;
    if (!queue_.empty())
        interest = net::Interest::writable;
    else if (holding_ || closing_)
        interest = net::Interest::none;
    if (interest == interest_) [[likely]]
        return;
    interest_ = interest;
    if (!server_.reactor().set_interest(registration_, interest)) broken_ = true;
}

void ReactorConnection::put(Bytes bytes) noexcept
{
    if (broken_) return;
    std::size_t sent = 0;
    if (queue_.empty()) {
        const net::IoResult written = socket_.write_all(bytes);
        sent = written.bytes;
        if (written.ok()) [[likely]]
            return;
        if (written.status != net::IoResult::Status::would_block) {
            broken_ = true;
            return;
        }
    }
    try {
        queue_.insert(queue_.end(), bytes.begin() + static_cast<std::ptrdiff_t>(sent), bytes.end());
        congested_ = true;
    } catch (const std::bad_alloc&) {
        log::error("out of memory for a reply to " + peer_.to_text() + "; connection closed");
        broken_ = true;
    }
}

void ReactorConnection::flush() noexcept
{
    const net::IoResult written = socket_.write_all(Bytes(queue_).subspan(queue_sent_));
    queue_sent_ += written.bytes;
    if (written.status == net::IoResult::Status::would_block) return;
    if (!written.ok()) broken_ = true;
    queue_ = std::vector<std::byte>(); // not {}, which would keep its memory
    queue_sent_ = 0;
    congested_ = false;
}

void ReactorConnection::send(Bytes header, const cdr::Writer& body) noexcept
{
    const std::size_t fragment_size = orb_.options().fragment_size;
    const std::size_t size = header.size() + body.size();
    if ((fragment_size == 0 || size <= fragment_size) && body.externals().empty())
        return put({header.data(), size}); // the header lies in front of the body
    giop::Segments part;
    giop::Fragmenter fragmenter(giop::gather(header, body),
                                fragment_size == 0 ? size : fragment_size);
    while (fragmenter.next(part)) {
        std::array<iovec, giop::Segments::count_max> vectors;
        for (std::size_t i = 0; i < part.count; ++i)
            vectors[i] = {const_cast<std::byte*>(part.list[i].data()), part.list[i].size()};
        std::size_t sent = 0;
        if (queue_.empty() && !broken_) {
            const auto written = socket_.write(std::span<const iovec>(vectors.data(), part.count));
            sent = written.bytes;
            if (!written.ok() && written.status != net::IoResult::Status::would_block)
                broken_ = true;
        }
        for (const Bytes segment : part.view()) {
            const std::size_t skipped = std::min(sent, segment.size());
            sent -= skipped;
            if (skipped < segment.size()) put(segment.subspan(skipped));
        }
    }
}

void ReactorConnection::close_in_order() noexcept
{
    if (broken_ || closing_) return;
    send_close_connection();
    if (!queue_.empty()) flush();
    drain(socket_);
}

} // namespace

Result<std::unique_ptr<Server>> make_reactor(Orb& orb, std::vector<Listener> listeners)
{
    auto reactor = net::Reactor::create();
    if (!reactor) return reactor.error();
    return std::unique_ptr<Server>(
        std::make_unique<ReactorServer>(orb, std::move(listeners), std::move(reactor).value()));
}

} // namespace kairos::orb
