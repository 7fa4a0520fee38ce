// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/reactor_loop.h"

#include "kairos/base/log.h"
#include "kairos/orb/nested_wait.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"

#include <algorithm>
#include <poll.h>

namespace kairos::orb {

Result<std::unique_ptr<ReactorLoop>> ReactorLoop::create(Orb& orb, std::vector<Listener*> listeners,
                                                         Maker& maker)
{
    auto reactor = net::Reactor::create();
    if (!reactor) return reactor.error();
    std::unique_ptr<ReactorLoop> loop(
        new ReactorLoop(orb, std::move(listeners), maker, std::move(reactor).value()));
    if (auto limited = loop->limit_receiving(); !limited) return limited.error();
    return loop;
}

ReactorLoop::ReactorLoop(Orb& orb, std::vector<Listener*> listeners, Maker& maker,
                         std::unique_ptr<net::Reactor> reactor)
    : orb_(orb), listeners_(std::move(listeners)), maker_(maker), reactor_(std::move(reactor)),
      wake_(*this), look_(*this)
{
    reactor_->set_wake_handler(&wake_);
}

void ReactorLoop::start() noexcept
{
    // From any thread: the turns of the reactor begin by looking at start_requested_.
    start_requested_ = true;
    reactor_->wake();
}

void ReactorLoop::resume() noexcept
{
    resume_requested_ = true;
    reactor_->wake();
}

void ReactorLoop::stop() noexcept
{
    stopping_ = true;
    reactor_->wake();
}

bool ReactorLoop::work_pending() const noexcept
{
    if (has_turns_.load(std::memory_order_relaxed)) return true;
    pollfd ready{.fd = reactor_->descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, 0) > 0;
}

void ReactorLoop::run() noexcept
{
    reactor_->bind_to_this_thread();
    ServingThread* const before =
        std::exchange(ThreadStorage::await_current().serving_thread, this);
    if (start_requested_.exchange(false)) open_acceptors();
    while (!stopping_)
        turn_once({});
    ThreadStorage::current().serving_thread = before;
}

void ReactorLoop::turn() noexcept
{
    reactor_->bind_to_this_thread();
    ServingThread* const before =
        std::exchange(ThreadStorage::await_current().serving_thread, this);
    turn_once(std::chrono::nanoseconds{0});
    if (!turns_.empty()) reactor_->wake(); // or a foreign loop would not come again
    ThreadStorage::current().serving_thread = before;
}

/// So a connection whose requests were all read at once has no more turns than one that sends them
/// one by one.
void ReactorLoop::turn_once(std::optional<std::chrono::nanoseconds> max_wait) noexcept
{
    if (turns_.empty()) [[likely]] {
        reactor_->run_once(max_wait);
        return;
    }
    reactor_->run_once(std::chrono::nanoseconds{0});
    for (std::size_t left = turns_waiting_; left != 0 && !turns_.empty(); --left) {
        // Who waits within a request, and who closes when all is quiet, may wait for callers whose
        // requests are to be refused.
        if (stopping_ && taking_ == nullptr && !closes_when_quiet_) return;
        const IntrusivePtr<ReactorConnection> connection(turns_.front()); // it may be forgotten
        end_turn(*connection);
        connection->take_turn();
    }
}

void ReactorLoop::begin_hold(ReactorConnection& connection) noexcept
{
    if (connection.hold_links_.linked) return;
    holders_.push_back(connection);
    ++holders_waiting_;
}

void ReactorLoop::end_hold(ReactorConnection& connection) noexcept
{
    if (!connection.hold_links_.linked) return;
    holders_.remove(connection);
    --holders_waiting_;
}

void ReactorLoop::await_turn(ReactorConnection& connection) noexcept
{
    if (connection.turn_links_.linked) return;
    turns_.push_back(connection);
    ++turns_waiting_;
    has_turns_.store(true, std::memory_order_relaxed);
}

void ReactorLoop::end_turn(ReactorConnection& connection) noexcept
{
    if (!connection.turn_links_.linked) return;
    turns_.remove(connection);
    --turns_waiting_;
    has_turns_.store(!turns_.empty(), std::memory_order_relaxed);
}

namespace {

/// Notes that a descriptor became ready, once.
struct ReadyNote final : net::EventHandler {
    void on_ready(net::Readiness) noexcept override { noted = true; }
    bool noted = false;
};

} // namespace

void ReactorLoop::wait(const Awaited& awaited, Deadline deadline) noexcept
{
    if (!has_stack_to_serve()) {
        (void)wait_either(awaited, nullptr, deadline);
        return;
    }
    if (taking_ != nullptr && taking_->connection != nullptr) taking_->connection->take_rest();
    const net::Interest interest = awaited.socket.prepare_poll(awaited.interest);
    if (interest == net::Interest::none) return;
    ReadyNote ready;
    const auto registration = reactor_->add(awaited.socket.descriptor(), interest, ready);
    if (!registration) { // nobody is served meanwhile; what is awaited still comes
        (void)wait_either(awaited, nullptr, deadline);
        return;
    }
    while (!ready.noted && !deadline.has_passed())
        turn_once(deadline.left());
    reactor_->remove(*registration);
}

void ReactorLoop::open_acceptors() noexcept
{
    for (Listener* listener : listeners_) {
        auto handler = std::make_unique<AcceptHandler>(*this, *listener);
        auto registration =
            reactor_->add(listener->acceptor.descriptor(), net::Interest::readable, *handler);
        if (!registration) {
            log::error(log::Line() << "cannot serve: " << registration.error().reason);
            continue;
        }
        handler->registration = *registration;
        acceptors_.push_back(std::move(handler));
    }
}

/// Those who wait have a turn each.
void ReactorLoop::accept(AcceptHandler& handler) noexcept
{
    for (int i = 0; i < Server::accepted_at_once_max; ++i)
        if (!accept_one(handler)) return;
}

bool ReactorLoop::accept_one(AcceptHandler& handler) noexcept
{
    auto accepted = Server::accept(handler.listener, orb_);
    if (accepted.status != net::Acceptor::Status::accepted) {
        if (accepted.status == net::Acceptor::Status::would_block) return false;
        Server::log_refusal(accepted);
        if (accepted.status == net::Acceptor::Status::turned_away) return true;
        // The listener stays readable: look away until descriptors may be free again.
        (void)reactor_->set_interest(handler.registration, net::Interest::none);
        reactor_->schedule(handler, net::Reactor::Clock::now() + std::chrono::milliseconds(50));
        return false;
    }
    if (connections_.size() >= orb_.options().connections_max) {
        Server::log_too_many(accepted.peer);
        Server::turn_away(std::move(accepted.socket));
        return true;
    }
    try {
        (void)insert(maker_.make(*this, std::move(accepted.socket), accepted.peer));
    } catch (const std::bad_alloc&) { // the connection is closed
        Server::log_out_of_memory(accepted.peer);
    }
    return true;
}

/// Throws std::bad_alloc, and nothing has changed then.
bool ReactorLoop::insert(const IntrusivePtr<ReactorConnection>& connection)
{
    connections_.push_front(connection);
    connection->position_ = connections_.begin();
    const auto opened = connection->open();
    if (opened) return true;
    connections_.pop_front();
    Server::log_refusal(connection->peer_, opened.error());
    return false;
}

bool ReactorLoop::add(const IntrusivePtr<ReactorConnection>& connection) noexcept
{
    if (connections_.size() >= orb_.options().connections_max) {
        Server::log_too_many(connection->peer_);
        return false;
    }
    try {
        if (!insert(connection)) return false;
    } catch (const std::bad_alloc&) {
        Server::log_out_of_memory(connection->peer_);
        return false;
    }
    if (connection->protocol_.has_bytes()) (void)connection->take();
    return true;
}

void ReactorLoop::on_wake() noexcept
{
    if (start_requested_.exchange(false)) open_acceptors();
    maker_.on_wake();
    if (!resume_requested_.exchange(false)) return;
    // The one that has waited longest first, or it would never find a place. Who holds again does
    // so behind the others.
    const void* full = nullptr;
    for (std::size_t left = holders_waiting_; left != 0 && !holders_.empty(); --left) {
        const IntrusivePtr<ReactorConnection> connection(holders_.front()); // it may be forgotten
        const void* const place = connection->place_awaited();
        end_hold(*connection);
        if (place != nullptr && place == full) {
            connection->went_on_ = false;
            begin_hold(*connection);
            continue;
        }
        connection->resume();
        const bool holds = connection->hold_links_.linked && !connection->went_on_;
        if (holds && place != nullptr) full = connection->place_awaited(); // now
    }
    // Who could not go on is before those who did: else one would find every place.
    IntrusiveList<ReactorConnection, &ReactorConnection::hold_links_> went_on;
    for (std::size_t left = holders_waiting_; left != 0; --left) {
        ReactorConnection& connection = *holders_.front();
        holders_.remove(connection);
        (connection.went_on_ ? went_on : holders_).push_back(connection);
    }
    while (ReactorConnection* const connection = went_on.front()) {
        went_on.remove(*connection);
        holders_.push_back(*connection);
    }
}

void ReactorLoop::close_when_quiet() noexcept
{
    closes_when_quiet_ = true;
    close_acceptors();
    for (;;) {
        bool all_are = true;
        for (auto position = connections_.begin(); position != connections_.end();) {
            const IntrusivePtr<ReactorConnection> connection = *position++; // it may be forgotten
            all_are = connection->close_when_quiet() && all_are;
        }
        if (all_are) return;
        turn_once({});
    }
}

void ReactorLoop::close_acceptors() noexcept
{
    for (auto& acceptor : acceptors_)
        reactor_->remove(acceptor->registration);
    acceptors_.clear();
    for (Listener* listener : listeners_)
        Server::close_listener(*listener, orb_);
}

void ReactorLoop::close_all() noexcept
{
    close_acceptors();
    for (const auto& connection : connections_)
        connection->say_close();
    ServerConnection::send_rest(connections_);
    for (const auto& connection : connections_) {
        drain(connection->socket_);
        end_turn(*connection);
        end_hold(*connection);
        connection->stop_listening();
        connection->abandon();
    }
    connections_.clear();
}

Result<void> ReactorLoop::limit_receiving()
{
    if (orb_.options().receive_timeout.count() == 0) return {};
    auto alarm = net::Alarm::create();
    if (!alarm) return alarm.error();
    look_again_.emplace(std::move(alarm).value());
    const auto added = reactor_->add(look_again_->descriptor(), net::Interest::readable, look_);
    return added ? Result<void>() : added.error();
}

void ReactorLoop::note_unfinished() noexcept
{
    if (!look_again_ || std::exchange(will_look_, true)) return;
    look_again_->set(ReceiveLimit::between_looks(orb_.options().receive_timeout));
}

void ReactorLoop::look_for_late() noexcept
{
    look_again_->clear();
    will_look_ = false;
    const auto now = ReceiveLimit::Clock::now();
    // Reading may end the connection, and within its calls others come and go.
    std::vector<IntrusivePtr<ReactorConnection>> late;
    for (const auto& connection : connections_) {
        if (!connection->listens_) continue;
        if (!connection->is_awaited() && !connection->congested_) continue;
        note_unfinished();
        try {
            if (connection->may_be_late(now)) late.push_back(connection);
        } catch (const std::bad_alloc&) { // the others next time
            break;
        }
    }
    for (const auto& connection : late)
        connection->end_if_late(now);
}

bool ReactorLoop::is_taking(const ReactorConnection& connection) const noexcept
{
    for (const Taking* taking = taking_; taking != nullptr; taking = taking->outer)
        if (taking->connection == &connection) return true;
    return false;
}

/// Whoever is just taking its messages finds it forgotten, and has kept it until then.
void ReactorLoop::forget(ReactorConnection& connection) noexcept
{
    end_turn(connection);
    end_hold(connection);
    connection.stop_listening();
    connection.abandon();
    connection.forgotten_ = true;
    for (Taking* taking = taking_; taking != nullptr; taking = taking->outer) {
        if (taking->connection != &connection) continue;
        taking->kept = IntrusivePtr(&connection);
        taking->connection = nullptr;
    }
    connections_.erase(connection.position_);
}

} // namespace kairos::orb
