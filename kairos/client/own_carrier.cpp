// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/own_carrier.h"

#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"

#include <new>

namespace kairos::orb {

Result<void> OwnCarrier::reach(const Route& route)
{
    Endpoint& endpoint = route.endpoint();
    ThreadConnections& connections = ThreadConnections::of(*storage_);
    connection_ = connections.take_open(endpoint);
    if (connection_) return {};
    if (!route.may_connect())
        return Error{ErrorCode::unreachable, "no connection to " + endpoint.text()};
    connections.close_dead();
    auto opened = ClientConnection::open(route.orb(), endpoint, route.limits().connection());
    if (!opened) return opened.error();
    connection_ = std::move(opened).value();
    return {};
}

giop::Outcome OwnCarrier::send(Question& question, const Route& route, std::uint32_t& request_id)
{
    request_id = connection_->next_request_id();
    const bool is_request = question.operation != nullptr; // LocateRequests have no contexts
    const Bytes header =
        question.header(route.header(), request_id, is_request ? connection_->contexts() : Bytes());
    if (!is_request) return connection_->send(header, route.limits().request);
    connection_->note_contexts_sent();
    if (question.is_posted) return connection_->post(header, *question.arguments);
    return connection_->send(header, *question.arguments, route.limits().request);
}

template <typename Answer>
giop::Outcome OwnCarrier::receive(std::uint32_t request_id, Answer& answer, Deadline deadline)
{
    try {
        return connection_->receive(request_id, answer, deadline,
                                    ThreadStorage::current().serving_thread);
    } catch (const std::bad_alloc&) { // for a large one; half of it may have been read
        return Outcome::no_memory;
    }
}
template giop::Outcome OwnCarrier::receive(std::uint32_t, giop::Reply&, Deadline);

giop::Outcome OwnCarrier::exchange(Question& question, const Route& route)
{
    std::uint32_t request_id = 0;
    Outcome outcome = send(question, route, request_id);
    if (outcome == Outcome::ok && question.reply != nullptr)
        outcome = receive(request_id, *question.reply, route.limits().reply);
    else if (outcome == Outcome::ok && question.locate_reply != nullptr)
        outcome = receive(request_id, *question.locate_reply, route.limits().reply);
    return conclude(outcome, question.operation != nullptr, route);
}

giop::Outcome OwnCarrier::conclude(Outcome outcome, bool is_request, const Route& route)
{
    if (outcome == Outcome::ok) {
        // What is left to do needs no connection.
        if (route.orb().options().closes_idle_connections) connection_->end_use();
        return outcome;
    }
    if (is_request && outcome == Outcome::late) {
        connection_->give_up_reply(route.header().version());
        release();
    } else if (is_request && (outcome == Outcome::no_room ||
                              (outcome == Outcome::not_sent && connection_->has_backlog()))) {
        release(); // behind oneways that the peer does not take: it is as it was
    } else {
        drop();
        // So may the others to the same server have been.
        if (is_request && outcome == Outcome::not_executed)
            ThreadConnections::of(*storage_).close(route.endpoint());
    }
    return outcome;
}

} // namespace kairos::orb
