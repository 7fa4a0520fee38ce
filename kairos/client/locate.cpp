// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/locate.h"

#include "kairos/base/limits.h"
#include "kairos/client/client.h"
#include "kairos/client/invocation.h"
#include "kairos/client/readdress.h"
#include "kairos/client/shared_connections.h"
#include "kairos/client/thread_connections.h"
#include "kairos/orb/dispatch.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"

namespace kairos::orb {

using Outcome = ClientConnection::Outcome;

namespace {

struct Located {
    giop::LocateStatus status;
    ReferencePtr forward{}; // where it sends us, if anywhere
    /// What it raises, if anything.
    struct Exception {
        std::string repository_id;
        std::uint32_t minor;
        CORBA::CompletionStatus completion;
    };
    std::optional<Exception> exception{};
    /// How it wants to be asked, if otherwise.
    std::optional<giop::RequestTemplate> readdressed{};

    /// Whether it says that there is no such object.
    [[nodiscard]] bool is_unknown() const
    {
        return status == giop::LocateStatus::unknown_object ||
               (exception && exception->completion == CORBA::COMPLETED_NO &&
                exception->repository_id == CORBA::OBJECT_NOT_EXIST::kairos_id);
    }
};

/// How to ask: of one place of a reference.
struct Question {
    const Reference& place;
    const Target& target;
    const giop::RequestTemplate& header;
    const CallLimits& limits;

    [[nodiscard]] Orb& orb() const { return place.orb(); }
    [[nodiscard]] std::vector<std::byte> encode(std::uint32_t request_id) const
    {
        std::vector<std::byte> request(header.locate_size());
        request.resize(header.locate(request, request_id).size());
        return request;
    }
};

std::optional<Located> understand_exception(cdr::Reader body, std::string& failure)
{
    const auto exception = giop::SystemExceptionBody::read(body);
    if (body.ok())
        return Located{.status = giop::LocateStatus::system_exception,
                       .exception = {{std::string(exception.repository_id), exception.minor,
                                      static_cast<CORBA::CompletionStatus>(exception.completion)}}};
    failure = "malformed exception in a LocateReply";
    return std::nullopt;
}

std::optional<Located> understand_forward(Orb& orb, giop::LocateReply& reply, std::string& failure)
{
    ior::Ior ior;
    if (ior::decode(reply.body, ior) && !ior.is_nil())
        return Located{.status = reply.status, .forward = orb.make_reference(std::move(ior))};
    failure = "location forward without a valid reference";
    return std::nullopt;
}

/// Nothing if it makes no sense.
std::optional<Located> understand(const Question& question, giop::LocateReply& reply,
                                  std::string& failure)
{
    switch (reply.status) {
    case giop::LocateStatus::object_forward:
    case giop::LocateStatus::object_forward_perm:
        return understand_forward(question.orb(), reply, failure);
    case giop::LocateStatus::system_exception:
        return understand_exception(reply.body, failure);
    case giop::LocateStatus::needs_addressing_mode:
        return Located{.status = reply.status,
                       .readdressed = readdressed(reply.body, question.place, question.target)};
    default:
        return Located{.status = reply.status};
    }
}

/// Sends one LocateRequest over this connection; nothing if this target did not answer.
std::optional<Located> ask(ClientConnection& connection, const Question& question,
                           std::string& failure)
{
    const std::uint32_t request_id = connection.next_request_id();
    const CallLimits& limits = question.limits;
    giop::LocateReply reply;
    if (connection.send(question.encode(request_id), limits.request) == Outcome::ok &&
        connection.receive(request_id, reply, limits.reply, Lane::current().serving_thread) ==
            Outcome::ok)
        return understand(question, reply, failure);
    failure = question.target.endpoint->text() + " did not answer a LocateRequest";
    return std::nullopt;
}

/// Sends one LocateRequest over a connection that threads share; nothing if this target did not
/// answer.
std::optional<Located> ask_shared(const Question& question, std::string& failure)
{
    const CallLimits& limits = question.limits;
    const auto connection =
        Client::of(question.orb())
            .shared_connections()
            .take(*question.target.endpoint, limits.architecture, limits.connection());
    if (!connection) {
        failure = connection.error().reason;
        return std::nullopt;
    }
    ReplyMemory memory(Lane::current());
    SharedCall call((*connection)->next_request_id());
    const std::vector<std::byte> request = question.encode(call.request_id);
    call.header = request;
    call.send_by = limits.request;
    call.answer_by = limits.reply;
    call.answer = giop::MessageType::locate_reply;
    call.reply = &memory;
    giop::LocateReply reply;
    if ((*connection)->exchange(call) == Outcome::ok &&
        giop::parse(memory.taken(), reply) == cdr::Fault::none)
        return understand(question, reply, failure);
    failure = question.target.endpoint->text() + " did not answer a LocateRequest";
    return std::nullopt;
}

/// Sends one LocateRequest over a connection of the thread's own, which it keeps if the target has
/// answered; nothing if it did not.
std::optional<Located> ask_alone(const Question& question, std::string& failure)
{
    Orb& orb = question.orb();
    Lane& lane = Lane::current();
    Endpoint& endpoint = *question.target.endpoint;
    auto connection = ThreadConnections::of(lane).take_open(endpoint);
    if (!connection) {
        auto opened = ClientConnection::open(orb, endpoint, question.limits.connection());
        if (!opened) {
            failure = opened.error().reason;
            return std::nullopt;
        }
        connection = std::move(opened).value();
    }
    auto located = ask(*connection, question, failure);
    if (!located) return std::nullopt;
    if (orb.options().closes_idle_connections) connection->end_use();
    ThreadConnections::of(lane).give_back(std::move(connection));
    return located;
}

/// Asks a target, and once more in the way that it wants to be asked, if it says so; nothing if it
/// did not answer.
std::optional<Located> ask_target(const Reference& place, const Target& target,
                                  const CallLimits& limits, std::string& failure)
{
    const bool shares = shares_connections(limits, Lane::current());
    const auto ask_once = [&](const giop::RequestTemplate& header) {
        const Question question{place, target, header, limits};
        return shares ? ask_shared(question, failure) : ask_alone(question, failure);
    };
    auto located = ask_once(target.by_key);
    if (!located || !located->readdressed) return located;
    located = ask_once(*located->readdressed);
    if (located && located->readdressed) raise_readdressed_again();
    return located;
}

std::optional<Located> ask_all(const Reference& place, const CallLimits& limits,
                               std::string& failure)
{
    Orb& orb = place.orb();
    if (place.is_local()) {
        cdr::Buffer buffer;
        cdr::Writer body(buffer);
        giop::LocateReply reply;
        reply.status = location_of(orb, place.object_key(), giop::version_1_2, body);
        reply.body = cdr::Reader(body.contiguous(), native_little_endian);
        if (reply.status == giop::LocateStatus::object_forward)
            return understand_forward(orb, reply, failure);
        if (reply.status == giop::LocateStatus::system_exception)
            return understand_exception(reply.body, failure);
        return Located{.status = reply.status};
    }
    for (const Target& target :
         place.has_priorities() ? targets_at_priority(Lane::current(), place) : place.targets())
        if (auto located = ask_target(place, target, limits, failure)) return located;
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
        } else if (!located || (located->is_unknown() && current && !asked_again)) {
            asked_again = located.has_value();
            current = reference.fall_back(current.get());
        } else {
            if (const auto& raised = located->exception)
                mapping::raise_system_exception(raised->repository_id, raised->minor,
                                                raised->completion);
            if (located->status == giop::LocateStatus::object_here) reference.note_bound();
            return located->status;
        }
    }
    reference.forget_forwards();
    raise<CORBA::TRANSIENT>(minor_code::forward_loop, CORBA::COMPLETED_NO,
                            "too many location forwards");
}

} // namespace kairos::orb
