// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/leader_followers.h"

#include "kairos/base/log.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/follower.h"
#include "kairos/server/listening.h"

#include <chrono>
#include <thread>
#include <utility>

namespace kairos::orb {

LeaderFollowers::LeaderFollowers(Orb& orb, std::vector<Listener> listeners,
                                 std::unique_ptr<net::SharedPoller> poller, ThreadSettings threads)
    : Server(orb, std::move(listeners)), poller_(std::move(poller)),
      line_(std::move(threads), [this] { serve(); })
{
}

LeaderFollowers::~LeaderFollowers()
{
    stop();
    join();
}

Result<void> LeaderFollowers::start()
{
    for (Listener& listener : listeners_) {
        auto accepting = std::make_unique<Accepting>(*this, listener);
        auto added = poller_->add(listener.acceptor.descriptor(), net::Interest::readable,
                                  static_cast<Watched*>(accepting.get()));
        if (!added) return added;
        accepting_.push_back(std::move(accepting));
    }
    if (auto limited = limit_receiving(); !limited) return limited;
    return line_.start();
}

/// A thread of the line, from its beginning to its end.
void LeaderFollowers::serve() noexcept
{
    Follower follower(*this);
    ThreadStorage::await_current().serving_thread = &follower;
    ThreadStorage::current().priority = line_.priority();
    follower.serve();
    if (line_.is_stopping()) close_idle(); // what this thread was the last to have, too
    if (line_.end()) close_all();          // the server ends, and nobody else is left to
}

void LeaderFollowers::resume() noexcept
{
    const std::lock_guard lock(mutex_);
    std::erase_if(held_, [](WatchedConnection* connection) {
        if (!connection->may_go_on()) return false;
        connection->go_on();
        return true;
    });
}

bool LeaderFollowers::keep_held(WatchedConnection& connection)
{
    const std::lock_guard lock(mutex_);
    if (connection.may_go_on()) return false;
    held_.push_back(&connection);
    return true;
}

void LeaderFollowers::accept(Accepting& accepting) noexcept
{
    for (int i = 0; i < accepted_at_once_max && accept_one(accepting.listener); ++i) {
    }
    const std::lock_guard lock(mutex_); // a server that ends closes the descriptor
    const int descriptor = accepting.listener.acceptor.descriptor();
    accepting.pass_on();
    (void)poller_->watch(descriptor, net::Interest::readable, static_cast<Watched*>(&accepting));
}

/// Whether there may be another.
bool LeaderFollowers::accept_one(Listener& listener) noexcept
{
    auto accepted = accept(listener, orb_);
    switch (accepted.status) {
    case net::Acceptor::Status::accepted:
        add(std::move(accepted.socket), accepted.peer);
        return true;
    case net::Acceptor::Status::closed:
    case net::Acceptor::Status::would_block:
        return false;
    case net::Acceptor::Status::turned_away:
        log_refusal(accepted);
        return true;
    case net::Acceptor::Status::exhausted:
    case net::Acceptor::Status::failed:
        log_refusal(accepted);
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // let some be closed
        return false;
    }
    return false;
}

void LeaderFollowers::add(net::Socket socket, const net::Address& peer) noexcept
{
    const std::lock_guard lock(mutex_);
    if (line_.is_stopping()) return turn_away(std::move(socket));
    if (connections_.size() >= orb_.options().connections_max) {
        log_too_many(peer);
        return turn_away(std::move(socket));
    }
    try {
        connections_.push_front(
            std::make_unique<WatchedConnection>(*this, orb_, std::move(socket), peer));
    } catch (const std::bad_alloc&) { // the connection is closed
        return log_out_of_memory(peer);
    }
    ++connection_count_;
    WatchedConnection& connection = *connections_.front();
    connection.position = connections_.begin();
    if (const auto opened = connection.open(); !opened) {
        log_refusal(peer, opened.error());
        --connection_count_;
        connections_.pop_front();
    }
}

Result<void> LeaderFollowers::limit_receiving()
{
    if (orb_.options().receive_timeout.count() == 0) return {};
    auto alarm = net::Alarm::create();
    if (!alarm) return alarm.error();
    looking_ = std::make_unique<Looking>(*this, std::move(alarm).value());
    return poller_->add(looking_->alarm.descriptor(), net::Interest::readable,
                        static_cast<Watched*>(looking_.get()));
}

void LeaderFollowers::note_unfinished() noexcept
{
    if (!looking_ || will_look_.exchange(true)) return;
    looking_->alarm.set(ReceiveLimit::between_looks(orb_.options().receive_timeout));
}

void LeaderFollowers::look_for_late() noexcept
{
    looking_->alarm.clear();
    will_look_ = false; // before looking: who is not seen yet sets the alarm anew
    {
        const auto now = ReceiveLimit::Clock::now();
        const std::lock_guard lock(mutex_);
        for (const auto& connection : connections_)
            if (connection->look_at_rest(now)) note_unfinished();
    }
    looking_->pass_on();
    (void)poller_->watch(looking_->alarm.descriptor(), net::Interest::readable,
                         static_cast<Watched*>(looking_.get()));
}

unsigned LeaderFollowers::requests_a_turn() const noexcept
{
    const bool alone = connection_count_.load(std::memory_order_relaxed) == 1;
    return alone ? WatchedConnection::served_alone_max : 1;
}

void LeaderFollowers::forget(WatchedConnection& connection) noexcept
{
    std::list<std::unique_ptr<WatchedConnection>> ended; // destroyed without the lock
    const std::lock_guard lock(mutex_);
    --connection_count_;
    ended.splice(ended.begin(), connections_, connection.position);
}

void LeaderFollowers::stop() noexcept
{
    line_.stop();
    close_idle();
    poller_->wake_all();
}

void LeaderFollowers::join() noexcept
{
    const std::lock_guard joining(join_mutex_);
    line_.join();
    close_all();
}

/// Who waits within a request for a call that leads back here waits for ever unless the caller of
/// that is told that nobody will serve it. The memory of connections stays until close_all().
void LeaderFollowers::close_idle() noexcept
{
    const std::lock_guard lock(mutex_);
    for (const auto& accepting : accepting_)
        if (accepting->take_for_ever()) close_listener(accepting->listener, orb_);
    for (const auto& connection : connections_)
        if (connection->take_for_ever()) connection->say_close();
}

void LeaderFollowers::close_all() noexcept
{
    std::list<std::unique_ptr<WatchedConnection>> ended; // closed and destroyed without the lock
    {
        const std::lock_guard lock(mutex_); // it may be stopped once more
        for (Listener& listener : listeners_)
            close_listener(listener, orb_);
        ended.swap(connections_);
    }
    for (const auto& connection : ended)
        connection->say_close();
    ServerConnection::send_rest(ended);
    for (const auto& connection : ended)
        connection->end();
}

Result<std::unique_ptr<Server>> make_leader_followers(Orb& orb, std::vector<Listener> listeners,
                                                      ThreadSettings threads)
{
    auto poller = net::SharedPoller::create();
    if (!poller) return poller.error();
    return std::unique_ptr<Server>(std::make_unique<LeaderFollowers>(
        orb, std::move(listeners), std::move(poller).value(), std::move(threads)));
}

constinit const Opening opening::leader_followers{
    architecture::leader_followers, [](Orb& orb) {
        return open_server(orb, [](Orb& of, std::vector<Listener> listeners) {
            return make_leader_followers(
                of, std::move(listeners),
                {.count = of.options().threads, .options = of.thread_options("kairos-pool")});
        });
    }};

} // namespace kairos::orb
