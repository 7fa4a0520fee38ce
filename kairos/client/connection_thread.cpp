// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/connection_thread.h"

#include "kairos/base/log.h"

namespace kairos::orb {
namespace {

/// The thread, while it tells of calls that are over: it looks for what those who hear it want sent
/// when they have heard, so that nobody need wake it.
thread_local const ConnectionThread* telling = nullptr;

} // namespace

/// One connection in the reactor.
class ConnectionThread::Watched final : public net::EventHandler, private net::Timer {
  public:
    Watched(ConnectionThread& thread, SharedConnection& connection) noexcept
        : thread_(thread), connection_(&connection)
    {
    }
    ~Watched() override { (void)thread_.reactor_->remove(registration_); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    [[nodiscard]] Result<void> open()
    {
        auto added = thread_.reactor_->add(connection_->socket().descriptor(), interest_, *this);
        if (!added) return added.error();
        registration_ = *added;
        return {};
    }
    void on_ready(net::Readiness readiness) noexcept override
    {
        const bool is_plain = connection_->socket().is_plain();
        if (readiness.readable || readiness.hung_up || !is_plain) connection_->receive();
        if (connection_->is_read_out()) { // and this is gone
            const IntrusivePtr<SharedConnection> connection = connection_;
            ConnectionThread& thread = thread_;
            thread.drop(*connection);
            return thread.tell_ready(*connection);
        }
        if (readiness.writable || !is_plain) write();
        look_at_deadlines();
        thread_.tell_ready(*connection_);
    }
    /// Ends the calls whose time is over, and has the reactor say when to look again.
    void look_at_deadlines() noexcept
    {
        if (!connection_->has_timed()) return;
        const auto next = connection_->end_overdue();
        connection_->announce();
        if (!next) return;
        try {
            thread_.reactor_->schedule(*this, *next);
        } catch (const std::bad_alloc&) {
            log::error("the deadlines of calls cannot be kept: out of memory; connection closed");
            connection_->interrupt(); // which it hears as it is
        }
    }
    /// Writes what there is, and has the reactor say when the rest can be written.
    void write() noexcept
    {
        const auto wanted = interest(connection_->send_waiting());
        if (wanted == interest_) return;
        interest_ = wanted;
        if (!thread_.reactor_->set_interest(registration_, wanted))
            connection_->interrupt(); // which it hears as it is
    }

  private:
    void on_timeout() noexcept override
    {
        look_at_deadlines();
        thread_.tell_ready(*connection_);
    }

    /// Returns what to wait for at the descriptor. What is at hand already is for the next turn: it
    /// can always be written.
    [[nodiscard]] net::Interest interest(bool stalled) const noexcept
    {
        using net::Interest;
        const net::Socket& socket = connection_->socket();
        if (socket.is_plain()) [[likely]]
            return stalled ? Interest::readable_and_writable : Interest::readable;
        const Interest to_read = socket.prepare_poll(Interest::readable);
        const Interest to_write = stalled ? socket.prepare_poll(Interest::writable) : to_read;
        const bool is_ready = to_read == Interest::none || to_write == Interest::none;
        const bool writes = ((net::poll_events(to_read) | net::poll_events(to_write)) &
                             net::poll_events(Interest::writable)) != 0;
        return is_ready || writes ? Interest::readable_and_writable : Interest::readable;
    }

    ConnectionThread& thread_;
    const IntrusivePtr<SharedConnection> connection_;
    net::Interest interest_ = net::Interest::readable;
    net::Reactor::Registration registration_;
};

ConnectionThread::ConnectionThread(std::unique_ptr<net::Reactor> reactor)
    : reactor_(std::move(reactor))
{
}

ConnectionThread::~ConnectionThread() { stop(); }

bool ConnectionThread::is_telling() noexcept { return telling != nullptr; }

Result<std::unique_ptr<ConnectionThread>> ConnectionThread::start(const net::ThreadOptions& options)
{
    auto reactor = net::Reactor::create();
    if (!reactor) return reactor.error();
    std::unique_ptr<ConnectionThread> self(new ConnectionThread(std::move(reactor).value()));
    self->reactor_->set_wake_handler(self.get());
    auto thread = net::Thread::start(options, [owner = self.get()] {
        owner->reactor_->bind_to_this_thread();
        owner->reactor_->run();
    });
    if (!thread) return thread.error();
    self->thread_ = std::move(thread).value();
    return self;
}

bool ConnectionThread::attend(SharedConnection& connection) noexcept
{
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) return false;
        if (connection.attention_links.linked) return true;
        connection.add_ref();
        attention_.push_back(connection);
    }
    if (telling != this) reactor_->wake();
    return true;
}

void ConnectionThread::stop() noexcept
{
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    reactor_->wake();
    const std::lock_guard lock(join_mutex_);
    thread_.join();
}

void ConnectionThread::on_ready(net::Readiness) noexcept
{
    serve_attention();
    bool stopping = false;
    {
        const std::lock_guard lock(mutex_);
        stopping = stopping_ && attention_.empty();
    }
    if (stopping) end_all();
}

void ConnectionThread::serve_attention() noexcept
{
    for (;;) {
        IntrusivePtr<SharedConnection> next;
        {
            const std::lock_guard lock(mutex_);
            if (attention_.empty()) return;
            next = IntrusivePtr<SharedConnection>::adopt(attention_.front());
            attention_.remove(*next);
        }
        serve(*next);
    }
}

/// Once: what comes of it in the meantime has its turn behind what else there is.
void ConnectionThread::tell_ready(SharedConnection& connection) noexcept
{
    if (telling == this || !connection.has_ready()) return;
    const IntrusivePtr<SharedConnection> kept(&connection);
    telling = this;
    connection.tell_ready();
    serve_attention();
    telling = nullptr;
    if (connection.has_ready() && !attend(connection)) tell_last(connection);
}

/// Of all there are, since the thread ends.
void ConnectionThread::tell_last(const SharedConnection& connection) noexcept
{
    telling = this;
    while (connection.has_ready())
        connection.tell_ready();
    telling = nullptr;
}

void ConnectionThread::serve(SharedConnection& connection) noexcept
{
    const auto known = watched_.find(&connection);
    Watched* const watched = known != watched_.end() ? known->second.get() : watch(connection);
    if (watched != nullptr) {
        watched->write();
        watched->look_at_deadlines();
    }
    tell_ready(connection);
}

/// Null if it cannot be: then it has ended.
ConnectionThread::Watched* ConnectionThread::watch(SharedConnection& connection) noexcept
{
    if (connection.has_ended()) return nullptr;
    try {
        auto watched = std::make_unique<Watched>(*this, connection);
        const auto opened = watched->open();
        if (opened) return (watched_[&connection] = std::move(watched)).get();
        log::error(log::Line() << "a connection cannot be watched: " << opened.error().reason);
    } catch (const std::bad_alloc&) {
        log::error("a connection cannot be watched: out of memory");
    }
    watched_.erase(&connection);
    connection.end(ClientConnection::Outcome::lost);
    return nullptr;
}

void ConnectionThread::drop(SharedConnection& connection) noexcept { watched_.erase(&connection); }

void ConnectionThread::end_all() noexcept
{
    while (!watched_.empty()) {
        // It may have been posted to while it was last served, and the peer may take that.
        (void)watched_.begin()->first->send_waiting();
        const IntrusivePtr<SharedConnection> connection(watched_.begin()->first);
        connection->end(ClientConnection::Outcome::lost);
        watched_.erase(watched_.begin());
        tell_last(*connection);
    }
    reactor_->stop();
}

} // namespace kairos::orb
