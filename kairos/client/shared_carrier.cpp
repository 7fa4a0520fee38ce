// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/shared_carrier.h"

#include "kairos/client/client.h"
#include "kairos/client/connection_thread.h"
#include "kairos/orb/thread_storage.h"

namespace kairos::orb {

/// Who waits within an upcall must go on serving, which one of those that wait for each other
/// cannot: its calls have connections of their own. So have those of coroutines that the thread
/// resumes which would have to read the answers.
bool SharedCarrier::carries(const CallLimits& limits, const ThreadStorage& storage) noexcept
{
    return limits.architecture != ConnectionArchitecture::non_multiplexed &&
           storage.serving_thread == nullptr &&
           (limits.architecture != ConnectionArchitecture::active ||
            !ConnectionThread::is_telling());
}

Result<void> SharedCarrier::reach(const Route& route)
{
    release();
    if (Client::of(route.orb()).bidirectional().carries(route)) return reach_both_ways(route);
    // What has just ended was to carry it: exchange() says so.
    if (!carries(route.limits(), ThreadStorage::current())) return {};
    return reach_shared(route);
}

Result<void> SharedCarrier::reach_for_later(const Route& route)
{
    release();
    if (Client::of(route.orb()).bidirectional().carries(route)) return reach_both_ways(route);
    return reach_shared(route);
}

Result<void> SharedCarrier::reach_shared(const Route& route)
{
    SharedConnections& connections = Client::of(route.orb()).shared_connections();
    const CallLimits& limits = route.limits();
    if (!route.may_connect()) {
        connection_ = connections.take_open(route.endpoint(), limits.architecture);
        if (connection_) return {};
        return Error{ErrorCode::unreachable, "no connection to " + route.endpoint().text()};
    }
    auto taken = connections.take(route.endpoint(), limits.architecture, limits.connection());
    if (!taken) return taken.error();
    connection_ = std::move(taken).value();
    return {};
}

void SharedCarrier::prepare(SharedCall& call, Question& question, const Route& route)
{
    const bool is_request = question.operation != nullptr; // LocateRequests have no contexts
    const Bytes contexts = is_request ? connection_->contexts() : Bytes();
    call.header = question.header(route.header(), call.request_id, contexts);
    call.body = question.arguments;
    call.has_contexts = !contexts.empty();
    call.send_by = route.limits().request;
    call.answer_by = route.limits().reply;
    if (!question.is_answered()) return;
    call.answer = is_request ? giop::MessageType::reply : giop::MessageType::locate_reply;
    call.reply = &memory_;
}

giop::Outcome SharedCarrier::exchange(Question& question, const Route& route)
{
    if (both_ways_) return exchange_both_ways(question, route);
    if (!connection_) return Outcome::not_executed;
    SharedCall call(connection_->next_request_id());
    prepare(call, question, route);
    if (!question.is_answered()) {
        if (question.is_posted && connection_->has_thread())
            return connection_->post(call.header, *call.body, call.has_contexts);
        return connection_->exchange(call);
    }
    const Outcome outcome = connection_->exchange(call);
    if (outcome != Outcome::ok) return outcome;
    const bool is_request = question.operation != nullptr;
    const cdr::Fault fault = is_request ? giop::parse(memory_.taken(), *question.reply)
                                        : giop::parse(memory_.taken(), *question.locate_reply);
    return fault == cdr::Fault::none ? Outcome::ok : Outcome::malformed;
}

bool SharedCarrier::begin(SharedCall& call, Question& question, const Route& route)
{
    prepare(call, question, route);
    // Whoever hears of the end may release it while this is still in it.
    const IntrusivePtr<SharedConnection> connection = connection_;
    return connection->begin(call);
}

giop::Outcome SharedCarrier::conclude(const SharedCall& call, giop::Reply& reply) const
{
    if (call.result() != Outcome::ok) return call.result();
    const cdr::Fault fault = giop::parse(memory_.taken(), reply);
    return fault == cdr::Fault::none ? Outcome::ok : Outcome::malformed;
}

} // namespace kairos::orb
