// SPDX-License-Identifier: Apache-2.0
//
// Invocation over connections that threads share: the same rules as invocation.cpp's for a
// connection of the caller's own.
#include "kairos/client/client.h"
#include "kairos/client/invocation.h"
#include "kairos/client/shared_connections.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"

namespace kairos::orb {

using Outcome = ClientConnection::Outcome;

/// Who waits within an upcall must go on serving, which one of those that wait for each other
/// cannot: its calls have connections of their own.
bool shares_connections(const CallLimits& limits, const Lane& lane) noexcept
{
    return limits.architecture != ConnectionArchitecture::non_multiplexed &&
           lane.serving_thread == nullptr;
}

namespace {

/// One that is there, or else one that is made if that may be.
Result<IntrusivePtr<SharedConnection>> take(Orb& orb, Endpoint& endpoint, const CallLimits& limits,
                                            bool may_connect)
{
    SharedConnections& connections = Client::of(orb).shared_connections();
    if (may_connect) return connections.take(endpoint, limits.architecture, limits.connection());
    auto open = connections.take_open(endpoint, limits.architecture);
    if (!open) return Error{ErrorCode::unreachable, "no connection to " + endpoint.text()};
    return open;
}

} // namespace

std::optional<Invocation::Step> Invocation::call_shared(Reference& reference, const Target& target)
{
    const bool answered = response_flags<Way::limited>() != giop::response_flags::none;
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto connection = take(reference_.orb(), *target.endpoint, limits_, may_connect());
        if (!connection) {
            failure_ = connection.error().reason;
            break;
        }
        Outcome outcome = exchange_shared(**connection, target.by_key);
        if (outcome == Outcome::ok && answered &&
            reply_.status == giop::ReplyStatus::needs_addressing_mode)
            outcome = exchange_shared(**connection, readdressed(reference, target));
        if (outcome == Outcome::ok && answered) note_bound();
        if (outcome == Outcome::ok) return answered ? accept() : Step::done;
        if (outcome != Outcome::not_executed) raise_lost(outcome);
        failure_ = "connection to " + target.endpoint->text() + " was closed";
    }
    return std::nullopt;
}

Outcome Invocation::exchange_shared(SharedConnection& connection,
                                    const giop::RequestTemplate& header)
{
    SharedCall call(connection.next_request_id());
    const Bytes contexts = connection.contexts();
    call.header = prepend_shared_header(header, call.request_id, contexts_of_call(contexts));
    if (call.header.empty())
        raise<CORBA::IMP_LIMIT>(minor_code::message_too_large, CORBA::COMPLETED_NO,
                                "the request exceeds 4 GiB");
    call.body = &out_;
    call.has_contexts = !contexts.empty();
    call.send_by = limits_.request;
    call.answer_by = limits_.reply;
    if (response_flags<Way::limited>() == giop::response_flags::none) {
        if (limits_.sync_scope == SyncScope::none && connection.has_thread())
            return connection.post(call.header, out_, call.has_contexts);
        return connection.exchange(call);
    }
    collocated_.emplace(lane_);
    call.answer = giop::MessageType::reply;
    call.reply = &*collocated_;
    const Outcome outcome = connection.exchange(call);
    if (outcome != Outcome::ok) return outcome;
    const bool parsed = giop::parse(collocated_->taken(), reply_) == cdr::Fault::none;
    return parsed ? Outcome::ok : Outcome::malformed;
}

Bytes Invocation::prepend_shared_header(const giop::RequestTemplate& header,
                                        std::uint32_t request_id, Bytes contexts)
{
    const std::uint8_t flags = response_flags<Way::limited>();
    const auto body = giop::Body::of(out_, headroom);
    const Bytes prefix = header.prepend(body, request_id, flags, operation_.name(), contexts);
    if (!prefix.empty()) return prefix;
    // As in prepend_header: an object key or operation name of hundreds of octets.
    const std::size_t size = header.headroom(operation_.name().size(), contexts.size());
    long_header_ = std::make_unique_for_overwrite<std::byte[]>(size);
    return header.prepend({long_header_.get() + size, size, body.size}, request_id, flags,
                          operation_.name(), contexts);
}

} // namespace kairos::orb
