// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/locate.h"

#include "kairos/base/limits.h"
#include "kairos/orb/dispatch.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/invocation.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/shared_connections.h"

namespace kairos::orb {

using Outcome = ClientConnection::Outcome;

namespace {

struct Located {
    giop::LocateStatus status;
    ReferencePtr forward; // where it sends us, if anywhere
};

/// Nothing if it forwards to what is no reference.
std::optional<Located> understand(Orb& orb, giop::LocateReply& reply, std::string& failure)
{
    if (reply.status != giop::LocateStatus::object_forward &&
        reply.status != giop::LocateStatus::object_forward_perm)
        return Located{reply.status, {}};
    ior::Ior ior;
    if (ior::decode(reply.body, ior) && !ior.is_nil())
        return Located{reply.status, orb.make_reference(std::move(ior))};
    failure = "location forward without a valid reference";
    return std::nullopt;
}

/// One LocateRequest over one connection; nothing if this target did not answer.
std::optional<Located> ask(ClientConnection& connection, const Target& target,
                           const CallLimits& limits, std::string& failure)
{
    std::vector<std::byte> request(target.by_key.locate_size());
    const std::uint32_t request_id = connection.next_request_id();
    const Bytes message = target.by_key.locate(request, request_id);
    giop::Message answer;
    Outcome outcome = connection.send(message, limits.request);
    while (outcome == Outcome::ok) {
        outcome = connection.receive(answer, limits.reply, Lane::current().serving_thread);
        giop::LocateReply reply;
        if (outcome != Outcome::ok || answer.type != giop::MessageType::locate_reply) continue;
        if (giop::parse(answer, reply) != cdr::Fault::none) break;
        if (reply.request_id == request_id) return understand(connection.orb(), reply, failure);
    }
    failure = target.endpoint->text() + " did not answer a LocateRequest";
    return std::nullopt;
}

/// The same over a connection that threads share.
std::optional<Located> ask_shared(Orb& orb, const Target& target, const CallLimits& limits,
                                  std::string& failure)
{
    const auto connection =
        orb.shared_connections().take(*target.endpoint, limits.architecture, limits.connection());
    if (!connection) {
        failure = connection.error().reason;
        return std::nullopt;
    }
    std::vector<std::byte> request(target.by_key.locate_size());
    ReplyMemory memory(Lane::current());
    SharedCall call((*connection)->next_request_id());
    call.header = target.by_key.locate(request, call.request_id);
    call.send_by = limits.request;
    call.answer_by = limits.reply;
    call.answer = giop::MessageType::locate_reply;
    call.reply = &memory;
    giop::LocateReply reply;
    if ((*connection)->exchange(call) == Outcome::ok &&
        giop::parse(memory.taken(), reply) == cdr::Fault::none)
        return understand(orb, reply, failure);
    failure = target.endpoint->text() + " did not answer a LocateRequest";
    return std::nullopt;
}

/// The same over the thread's own, which it keeps if the target has answered.
std::optional<Located> ask_alone(Orb& orb, const Target& target, const CallLimits& limits,
                                 std::string& failure)
{
    Lane& lane = Lane::current();
    auto connection = lane.take_open_connection(*target.endpoint);
    if (!connection) {
        auto opened = ClientConnection::open(orb, *target.endpoint, limits.connection());
        if (!opened) {
            failure = opened.error().reason;
            return std::nullopt;
        }
        connection = std::move(opened).value();
    }
    auto located = ask(*connection, target, limits, failure);
    if (!located) return std::nullopt;
    if (orb.options().closes_idle_connections) connection->end_use();
    lane.give_back(std::move(connection));
    return located;
}

std::optional<Located> ask_all(const Reference& place, const CallLimits& limits,
                               std::string& failure)
{
    Orb& orb = place.orb();
    Lane& lane = Lane::current();
    if (place.is_local()) {
        cdr::Buffer buffer;
        cdr::Writer body(buffer);
        giop::LocateReply reply;
        reply.status = location_of(orb, place.object_key(), giop::version_1_2, body);
        reply.body = cdr::Reader(body.contiguous(), native_little_endian);
        return understand(orb, reply, failure);
    }
    const bool shares = shares_connections(limits, lane);
    for (const Target& target :
         place.has_priorities() ? targets_at_priority(lane, place) : place.targets()) {
        auto located = shares ? ask_shared(orb, target, limits, failure)
                              : ask_alone(orb, target, limits, failure);
        if (located) return located;
    }
    return std::nullopt;
}

[[noreturn]] void raise_unreachable(const CallLimits& limits, const std::string& failure)
{
    if (limits.reply.has_passed())
        raise<CORBA::TIMEOUT>(minor_code::no_reply_in_time, CORBA::COMPLETED_NO, failure);
    raise<CORBA::TRANSIENT>(failure.empty() ? minor_code::no_usable_profile
                                            : minor_code::connect_failed,
                            CORBA::COMPLETED_NO, failure);
}

} // namespace

giop::LocateStatus locate(Reference& reference)
{
    if (reference.orb().is_shut_down())
        raise<CORBA::BAD_INV_ORDER>(minor_code::orb_shut_down, CORBA::COMPLETED_NO);
    const CallLimits limits = limits_of_call(reference);
    std::string failure;
    ReferencePtr current(reference.forward());
    bool asked_again = false; // after a forward led to where nobody knows the object
    for (std::size_t forwards = 0; forwards <= limits::forwards_max; ++forwards) {
        const auto located = ask_all(current ? *current : reference, limits, failure);
        if (!located && (!current || limits.reply.has_passed())) raise_unreachable(limits, failure);
        if (located && located->forward) {
            const bool permanent = located->status == giop::LocateStatus::object_forward_perm &&
                                   current.get() == reference.permanent_forward();
            current = reference.set_forward(located->forward, permanent);
        } else if (!located || (located->status == giop::LocateStatus::unknown_object && current &&
                                !asked_again)) {
            asked_again = located.has_value();
            current = reference.fall_back(current.get());
        } else {
            if (located->status == giop::LocateStatus::object_here) reference.note_bound();
            return located->status;
        }
    }
    reference.forget_forwards();
    raise<CORBA::TRANSIENT>(minor_code::forward_loop, CORBA::COMPLETED_NO,
                            "too many location forwards");
}

} // namespace kairos::orb
