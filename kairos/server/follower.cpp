// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/follower.h"

#include "kairos/orb/nested_wait.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/leader_followers.h"

#include <array>
#include <span>
#include <utility>

namespace kairos::orb {

void Follower::serve() noexcept
{
    UpcallMemory memory;
    while (!server_.line().is_stopping() && server_.line().stay()) {
        const net::SharedPoller::Ready ready = server_.poller().wait();
        if (ready.token != nullptr) serve(ready, memory);
    }
}

void Follower::serve(const net::SharedPoller::Ready& ready, UpcallMemory& memory) noexcept
{
    auto& found = *static_cast<Watched*>(ready.token);
    if (!found.take_over()) return;
    WatchedConnection* const before = std::exchange(connection_, found.connection());
    found.on_ready(ready.readiness, memory);
    connection_ = before;
}

/// Who answers us may share its connection with somebody who waits for us, at whatever depth: all
/// of these are listened to.
void Follower::wait(const Awaited& awaited, Deadline deadline) noexcept
{
    const bool replaced = server_.line().leave();
    Waiting waiting{
        .connection = connection_, .listens = connection_ != nullptr, .outer = waiting_};
    waiting_ = &waiting;
    if (waiting.listens) serve_nested(waiting, &WatchedConnection::serve_rest_nested);
    for (;;) {
        Waiting* ready = nullptr;
        const bool in_line = !replaced && !server_.line().is_stopping() && has_stack_to_serve();
        const Found found = wait_for(awaited, in_line, deadline, ready);
        if (found == Found::connection)
            serve_nested(*ready, &WatchedConnection::go_on_nested);
        else if (found == Found::poller)
            serve_found();
        else
            break;
        if (deadline.has_passed()) break;
    }
    waiting_ = waiting.outer;
    if (replaced) server_.line().rejoin();
}

Follower::Found Follower::wait_for(const Awaited& awaited, bool in_line, Deadline deadline,
                                   Waiting*& ready) noexcept
{
    constexpr std::size_t polled_max = 500; // with so many connections it looks for no others
    std::array<pollfd, polled_max> polled;  // what is awaited, the poller, connections
    std::array<Waiting*, polled_max> whose;
    std::size_t count = 2;
    if (!prepare(awaited, polled[0])) return Found::awaited;
    WatchedConnection* last = nullptr;
    for (Waiting* each = waiting_; each != nullptr && count < polled_max; each = each->outer) {
        if (each->connection == nullptr || each->connection == last) continue;
        last = each->connection;
        const int held = last->descriptor_held_nested();
        const net::Interest interest = last->interest_nested(each->listens);
        if (held < 0 && interest == net::Interest::none) continue;
        ready = each;
        if (held >= 0)
            polled[count] = {.fd = held, .events = POLLIN, .revents = 0};
        else if (!prepare({last->socket(), interest}, polled[count]))
            return Found::connection;
        whose[count++] = each;
    }
    in_line = in_line && count < polled_max;
    const int poller = in_line ? server_.poller().descriptor() : -1;
    polled[1] = {.fd = poller, .events = POLLIN, .revents = 0};
    poll_until(std::span(polled).first(count), deadline);
    if (polled[0].revents != 0) return Found::awaited;
    for (std::size_t i = 2; i < count; ++i) {
        ready = whose[i];
        if (polled[i].revents != 0) return Found::connection;
    }
    return polled[1].revents != 0 ? Found::poller : Found::nothing;
}

void Follower::serve_nested(Waiting& waiting, bool (WatchedConnection::*step)() noexcept) noexcept
{
    WatchedConnection* const before = std::exchange(connection_, waiting.connection);
    waiting.listens = (waiting.connection->*step)();
    connection_ = before;
}

void Follower::serve_found() noexcept
{
    const net::SharedPoller::Ready ready = server_.poller().look();
    if (ready.token != nullptr) {
        auto memory = ThreadStorage::current().upcall_memory.try_take();
        if (memory == nullptr) return; // until there is some
        serve(ready, *memory);
        ThreadStorage::current().upcall_memory.give_back(std::move(memory));
    }
    // What was served last is nobody's now, and the one who would close it is this thread.
    if (server_.line().is_stopping()) server_.close_idle();
}

} // namespace kairos::orb
