// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/invocation.h"

#include "kairos/base/limits.h"
#include "kairos/client/readdress.h"
#include "kairos/client/thread_connections.h"
#include "kairos/mapping/marshal.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/priority_context.h"
#include "kairos/orb/real_time.h"
#include "kairos/orb/timing_context.h"

#include <algorithm>

namespace kairos::orb {

using Outcome = ClientConnection::Outcome;

namespace {

/// Whether client and server have no code set in common for one kind of text.
bool is_incompatible(const cdr::TextForm* form) noexcept
{
    return form != nullptr && (form->characters_refused == cdr::TextError::incompatible ||
                               form->wide_refused == cdr::TextError::incompatible);
}

/// A forward to a server with which text cannot be exchanged. Whoever sent us there may know better
/// by now, and can be asked only before the arguments are encoded.
[[gnu::cold]] const Reference& ask_again(Reference& target)
{
    target.forget_forwards();
    return target;
}

/// Says how the arguments are encoded, before it is known where they will go.
const Reference& first_place_of(Reference& target)
{
    const Reference* forward = target.forward();
    if (forward == nullptr) return target;
    if (is_incompatible(forward->text_form()) && !is_incompatible(target.text_form())) [[unlikely]]
        return ask_again(target);
    return *forward;
}

std::uint8_t giop_minor_of(const cdr::TextForm* text) noexcept
{
    return text == nullptr ? 2 : text->giop_minor;
}

} // namespace

CallLimits limits_of_call(const Reference& reference)
{
    Orb& orb = reference.orb();
    if (orb.is_inherited()) [[unlikely]]
        orb.start_over();
    CallPolicies policies = orb.call_policies();
    if (const CallPolicies* of_thread = Lane::current().call_policies(orb); of_thread != nullptr)
        policies = policies.overridden_by(*of_thread);
    if (reference.overrides()) policies = policies.overridden_by(reference.overrides()->calls());
    return CallLimits::of(policies);
}

inline CallBodies::CallBodies(Reference& target, Lane& lane)
    : lane_(lane), environment_{.orb = &target.orb(),
                                .text = first_place_of(target).text_form(),
                                .value_factories = first_place_of(target).value_factories(),
                                .orb_owner = &target.orb(),
                                .exception_id_in_any = target.orb().options().exception_id_in_any},
      buffer_(lane.buffers.take()), out_(*buffer_, headroom)
{
    environment_.giop_minor = giop_minor_of(environment_.text);
    out_.set_environment(&environment_);
}

inline CallBodies::~CallBodies()
{
    if (buffer_->capacity() > limits::receive_buffer_kept) buffer_->clear();
    lane_.buffers.give_back(std::unique_ptr<cdr::Buffer>(buffer_.release()));
}

Invocation::Invocation(Reference& target, const Operation& operation)
    : CallBodies(target, Lane::current()), reference_(target), operation_(operation)
{
}

Invocation::Invocation(Reference& target, const Operation& operation, Lane& lane)
    : CallBodies(target, lane), reference_(target), operation_(operation)
{
}

Invocation::~Invocation()
{
    if (connection_) ThreadConnections::of(lane_).give_back(std::move(connection_));
}

void Invocation::invoke()
{
    if (!reference_.orb().has_plain_calls()) [[unlikely]] {
        limits_ = limits_of_call(reference_);
        return invoke_limited();
    }
    run<Way::plain>();
}

void Invocation::invoke(std::chrono::nanoseconds deadline)
{
    limits_ = limits_of_call(reference_);
    const Deadline due = Deadline::after(deadline);
    limits_.due_by_idl = due.at().time_since_epoch();
    if (reference_.orb().options().late_calls == WhenLate::timeout) {
        limits_.reply = earlier(limits_.reply, due);
        limits_.request = earlier(limits_.request, due);
    }
    invoke_limited();
}

void Invocation::invoke_limited()
{
    if (reference_.orb().is_shut_down())
        raise<CORBA::BAD_INV_ORDER>(minor_code::orb_shut_down, CORBA::COMPLETED_NO);
    run<Way::limited>();
}

template <Invocation::Way way>
void Invocation::run()
{
    Reference* forwarded = reference_.forward();
    ReferencePtr current(forwarded);
    for (std::size_t forwards = 0; forwards <= limits::forwards_max; ++forwards) {
        following_ = current.get();
        const Step step = call<way>(current ? *current : reference_);
        if (step == Step::done) [[likely]]
            return;
        if constexpr (way == Way::limited) {
            if (limits_.request.has_passed()) raise_lost(Outcome::not_sent);
            if (step == Step::forward || current) refuse_to_rebind();
        }
        if (step == Step::forward) {
            current = follow_forward();
            if constexpr (way == Way::plain) {
                // Where it leads may want calls to say their priority.
                if (current->propagates_priority()) {
                    limits_ = limits_of_call(reference_);
                    return invoke_limited();
                }
            }
        } else if (current) {
            // The place we were sent to is gone: ask again where the object is now.
            current = fall_back();
        } else {
            raise<CORBA::TRANSIENT>(failure_.empty() ? minor_code::no_usable_profile
                                                     : minor_code::connect_failed,
                                    CORBA::COMPLETED_NO, failure_);
        }
    }
    reference_.forget_forwards();
    raise<CORBA::TRANSIENT>(minor_code::forward_loop, CORBA::COMPLETED_NO,
                            "too many location forwards");
}

template <Invocation::Way way>
Invocation::Step Invocation::call(Reference& reference)
{
    return reference.is_local() ? call_local(reference) : call_remote<way>(reference);
}

template <Invocation::Way way>
Invocation::Step Invocation::call_remote(Reference& reference)
{
    const Target* other_text = nullptr;
    const auto& targets =
        reference.has_priorities() ? targets_by_priority(reference) : reference.targets();
    if constexpr (way == Way::limited) propagates_priority_ = reference.propagates_priority();
    for (const Target& target : targets) {
        if (target.text != environment_.text && !text_suits(target)) [[unlikely]] {
            if (other_text == nullptr) other_text = &target;
            continue;
        }
        if constexpr (way == Way::limited) {
            if (shares_connections(limits_, Lane::current())) {
                if (const auto step = call_shared(reference, target)) return *step;
                continue;
            }
        }
        for (int attempt = 0; attempt < 2; ++attempt) {
            if constexpr (way == Way::limited)
                connection_ = ThreadConnections::of(lane_).take_open(*target.endpoint);
            else
                connection_ = ThreadConnections::of(lane_).take(*target.endpoint);
            if (!connection_ && !make_connection<way>(target)) [[unlikely]]
                break;
            Outcome outcome = exchange<way>(target.by_key);
            const bool answered = response_flags<way>() != giop::response_flags::none;
            if (outcome == Outcome::ok && answered &&
                reply_.status == giop::ReplyStatus::needs_addressing_mode) [[unlikely]]
                outcome = exchange<way>(readdressed(reference, target));
            if constexpr (way == Way::limited) {
                if (outcome == Outcome::ok && answered) note_bound();
                if (outcome == Outcome::ok) note_end_of_use();
            }
            if (outcome == Outcome::ok) [[likely]]
                return answered ? accept() : Step::done;
            if constexpr (way == Way::limited) {
                if (outcome == Outcome::late) raise_late(lane_, target.by_key.version());
                // Behind oneways that the peer does not take: the connection is as it was.
                if (outcome == Outcome::no_room ||
                    (outcome == Outcome::not_sent && connection_->has_backlog())) {
                    ThreadConnections::of(lane_).give_back(std::move(connection_));
                    raise_lost(outcome);
                }
            }
            connection_.reset();
            if (outcome != Outcome::not_executed) raise_lost(outcome);
            // Closed before it could execute anything: in order, or because it had been idle for
            // long. So may the others to the same server have been: once more, on a new one.
            failure_ = "connection to " + target.endpoint->text() + " was closed";
            ThreadConnections::of(lane_).close(*target.endpoint);
        }
    }
    if (other_text != nullptr) [[unlikely]] {
        if (is_incompatible(other_text->text))
            raise<CORBA::CODESET_INCOMPATIBLE>(mapping::omg_minor(1), CORBA::COMPLETED_NO,
                                               "no code set in common with " +
                                                   other_text->endpoint->text());
        // docs/decisions/0005: the next call is encoded for where this one should have gone.
        reference.set_text_form(other_text->text);
        raise<CORBA::TRANSIENT>(minor_code::other_code_set, CORBA::COMPLETED_NO,
                                "text was encoded for a server with other code sets; call again");
    }
    if constexpr (way == Way::limited) refuse_to_reconnect();
    return Step::next_target;
}

/// The reply is there: what is left to do needs no connection.
void Invocation::note_end_of_use() noexcept
{
    if (reference_.orb().options().closes_idle_connections) connection_->end_use();
}

const std::vector<Target>& Invocation::targets_by_priority(const Reference& reference) const
{
    return targets_at_priority(lane_, reference);
}

const std::vector<Target>& targets_at_priority(Lane& lane, const Reference& reference)
{
    const Priority priority = thread_priority(lane, reference.orb().priority_mapping());
    const auto& targets = reference.targets_at(priority);
    if (targets.empty()) [[unlikely]]
        raise<CORBA::INV_POLICY>(0, CORBA::COMPLETED_NO,
                                 "the priority is in none of the bands of the connection");
    return targets;
}

Bytes Invocation::contexts_of_call(Bytes contexts)
{
    if (limits_.due_by_idl.count() != 0) {
        const auto now = Deadline::Clock::now().time_since_epoch();
        contexts = with_time_left(contexts, limits_.due_by_idl - now, lane_.contexts);
    }
    if (!propagates_priority_) return contexts;
    Orb& orb = reference_.orb();
    Priority priority = thread_priority(lane_, orb.priority_mapping());
    if (PriorityTransform* transform = orb.priority_transform();
        transform != nullptr && !transform->outbound(priority))
        raise<CORBA::DATA_CONVERSION>(0, CORBA::COMPLETED_NO,
                                      "the priority transform has none for this request");
    return with_priority(contexts, priority, lane_.contexts);
}

bool Invocation::text_suits(const Target& target)
{
    const CodeSets& code_sets = reference_.orb().code_sets();
    if (environment_.wide_text_written && !code_sets.same_wide_text(environment_.text, target.text))
        return false;
    if (!code_sets.same_characters(environment_.text, target.text)) {
        // All sets of characters agree on ASCII, so a body without other octets suits them all.
        const Bytes body = out_.contiguous();
        const bool ascii = std::all_of(body.begin(), body.end(),
                                       [](std::byte octet) { return octet < std::byte{0x80}; });
        if (!ascii || !out_.externals().empty()) return false;
    }
    environment_.text = target.text;
    environment_.giop_minor = giop_minor_of(target.text);
    return true;
}

template <Invocation::Way way>
bool Invocation::make_connection(const Target& target)
{
    if constexpr (way == Way::limited)
        return may_connect() && connect(target, limits_.connection());
    else
        return connect(target, {});
}

bool Invocation::connect(const Target& target, Deadline deadline)
{
    ThreadConnections::of(lane_).close_dead();
    auto opened = ClientConnection::open(reference_.orb(), *target.endpoint, deadline);
    if (opened) {
        connection_ = std::move(opened).value();
        return true;
    }
    failure_ = opened.error().reason;
    return false;
}

template <Invocation::Way way>
std::uint8_t Invocation::response_flags() const noexcept
{
    if (operation_.response() == Response::required) return giop::response_flags::sync_target;
    if constexpr (way == Way::limited) {
        if (limits_.sync_scope == SyncScope::with_server) return giop::response_flags::sync_server;
        if (limits_.sync_scope == SyncScope::with_target) return giop::response_flags::sync_target;
    }
    return giop::response_flags::none;
}

template <Invocation::Way way>
Outcome Invocation::send(Bytes prefix)
{
    if constexpr (way == Way::limited) {
        const bool is_oneway = operation_.response() == Response::none;
        if (is_oneway && limits_.sync_scope == SyncScope::none)
            return connection_->post(prefix, out_);
        return connection_->send(prefix, out_, limits_.request);
    } else {
        return connection_->send(prefix, out_);
    }
}

template <Invocation::Way way>
Outcome Invocation::exchange(const giop::RequestTemplate& header)
{
    const std::uint32_t request_id = connection_->next_request_id();
    const Bytes prefix = prepend_header<way>(header, request_id);
    connection_->note_contexts_sent();
    if (prefix.empty()) [[unlikely]]
        raise<CORBA::IMP_LIMIT>(minor_code::message_too_large, CORBA::COMPLETED_NO,
                                "the request exceeds 4 GiB");
    if (const Outcome sent = send<way>(prefix); sent != Outcome::ok) [[unlikely]]
        return sent;
    if (response_flags<way>() == giop::response_flags::none) return Outcome::ok;
    try {
        return receive<way>(request_id);
    } catch (const std::bad_alloc&) { // for a large reply; half of it may have been read
        connection_.reset();
        raise<CORBA::NO_MEMORY>(0, CORBA::COMPLETED_MAYBE, "no memory for the reply");
    }
}

template <Invocation::Way way>
Bytes Invocation::prepend_header(const giop::RequestTemplate& header, std::uint32_t request_id)
{
    const std::uint8_t flags = response_flags<way>();
    const auto body = giop::Body::of(out_, headroom);
    const Bytes contexts = [&] {
        if constexpr (way == Way::limited)
            return contexts_of_call(connection_->contexts());
        else
            return connection_->contexts();
    }();
    const Bytes prefix = header.prepend(body, request_id, flags, operation_.name(), contexts);
    if (!prefix.empty()) [[likely]]
        return prefix;
    // An object key or operation name of hundreds of octets: a segment of its own.
    const std::size_t size = header.headroom(operation_.name().size(), contexts.size());
    long_header_ = std::make_unique_for_overwrite<std::byte[]>(size);
    return header.prepend({long_header_.get() + size, size, body.size}, request_id, flags,
                          operation_.name(), contexts);
}

template <Invocation::Way way>
Outcome Invocation::receive(std::uint32_t request_id)
{
    if constexpr (way == Way::limited)
        return connection_->receive(request_id, reply_, limits_.reply, lane_.serving_thread);
    else
        return connection_->receive(request_id, reply_, lane_.serving_thread);
}

// For DeferredInvocation, and for shared_call.cpp.
template bool Invocation::make_connection<Invocation::Way::limited>(const Target& target);
template std::uint8_t Invocation::response_flags<Invocation::Way::limited>() const noexcept;
template Bytes
Invocation::prepend_header<Invocation::Way::limited>(const giop::RequestTemplate& header,
                                                     std::uint32_t request_id);
template Outcome
Invocation::exchange<Invocation::Way::limited>(const giop::RequestTemplate& header);
template Outcome Invocation::receive<Invocation::Way::limited>(std::uint32_t request_id);

giop::RequestTemplate Invocation::readdressed(const Reference& reference, const Target& target)
{
    return orb::readdressed(reply_.body, reference, target);
}

Invocation::Step Invocation::call_local(Reference& reference)
{
    if (environment_.text != nullptr && !text_suits(Target{})) [[unlikely]]
        raise<CORBA::TRANSIENT>(minor_code::other_code_set, CORBA::COMPLETED_NO,
                                "text was encoded for a server with other code sets; call again");
    collocated_.emplace(lane_);
    collocated_->call(reference.orb(), reference.object_key(), operation_, out_);
    if (operation_.response() == Response::none) return Step::done;
    giop::Message message;
    if (giop::message_of(collocated_->message(), message) != giop::Fault::none ||
        giop::parse(message, reply_) != cdr::Fault::none)
        raise<CORBA::INTERNAL>(minor_code::malformed_reply, CORBA::COMPLETED_MAYBE);
    return accept();
}

Invocation::Step Invocation::accept()
{
    in_ = reply_.body;
    in_.set_environment(&environment_);
    switch (reply_.status) {
    case giop::ReplyStatus::no_exception:
        return Step::done;
    case giop::ReplyStatus::user_exception:
        raise_user_exception();
    case giop::ReplyStatus::system_exception:
        if (following_ != nullptr && forward_is_stale()) {
            if (connection_) ThreadConnections::of(lane_).give_back(std::move(connection_));
            return Step::next_target;
        }
        raise_system_exception();
    case giop::ReplyStatus::location_forward:
    case giop::ReplyStatus::location_forward_perm:
        take_forward();
        if (connection_) ThreadConnections::of(lane_).give_back(std::move(connection_));
        return Step::forward;
    case giop::ReplyStatus::needs_addressing_mode:
        break;
    }
    raise_readdressed_again();
}

/// Whether the place we were sent to does not know the object: where we came from may know better
/// by now. Asked once a call. The place that has replaced the original address is believed.
bool Invocation::forward_is_stale()
{
    if (following_ == reference_.permanent_forward()) return false;
    cdr::Reader body = in_;
    const auto exception = giop::SystemExceptionBody::read(body);
    if (asked_again_ || exception.completion != CORBA::COMPLETED_NO ||
        exception.repository_id != CORBA::OBJECT_NOT_EXIST::kairos_id)
        return false;
    asked_again_ = true;
    return true;
}

void Invocation::take_forward()
{
    ior::Ior ior;
    if (!ior::decode(in_, ior))
        raise<CORBA::MARSHAL>(minor_code::malformed_reply, CORBA::COMPLETED_NO,
                              "location forward without a valid reference");
    if (ior.is_nil())
        raise<CORBA::INV_OBJREF>(minor_code::malformed_reply, CORBA::COMPLETED_NO,
                                 "location forward to nil");
    forward_ = reference_.orb().make_reference(std::move(ior));
}

/// CORBA 3.3 part 2, 9.6: a client may replace the old reference by a permanent one, but both stay
/// valid. Only the reference itself, or what has replaced it, can say that it is replaced: what
/// another place says for good lasts no longer than the forward to that place.
ReferencePtr Invocation::follow_forward()
{
    const bool permanent = reply_.status == giop::ReplyStatus::location_forward_perm &&
                           following_ == reference_.permanent_forward();
    return reference_.set_forward(std::exchange(forward_, {}), permanent);
}

ReferencePtr Invocation::fall_back() { return reference_.fall_back(following_); }

void Invocation::raise_user_exception()
{
    cdr::Reader ahead = in_;
    const std::string_view id = ahead.read_string();
    if (!ahead.ok()) {
        in_ = ahead;
        raise_malformed_results();
    }
    for (const ExceptionType& type : operation_.exceptions())
        if (type.repository_id == id) type.raise(type, in_);
    raise<CORBA::UNKNOWN>(minor_code::unlisted_user_exception, CORBA::COMPLETED_YES, id);
}

void Invocation::raise_system_exception()
{
    const auto exception = giop::SystemExceptionBody::read(in_);
    if (!in_.ok()) raise_malformed_results();
    mapping::raise_system_exception(exception.repository_id, exception.minor,
                                    static_cast<CORBA::CompletionStatus>(exception.completion));
}

void Invocation::raise_lost(Outcome outcome)
{
    switch (outcome) {
    case Outcome::message_error:
        raise<CORBA::COMM_FAILURE>(minor_code::message_error, CORBA::COMPLETED_MAYBE,
                                   "the peer answered MessageError");
    case Outcome::malformed:
        raise<CORBA::COMM_FAILURE>(minor_code::malformed_reply, CORBA::COMPLETED_MAYBE,
                                   "the peer sent a malformed message");
    case Outcome::not_sent:
        raise<CORBA::TIMEOUT>(minor_code::not_sent_in_time, CORBA::COMPLETED_NO,
                              failure_.empty() ? "the request could not be sent in time"
                                               : failure_);
    case Outcome::no_memory:
        raise<CORBA::NO_MEMORY>(0, CORBA::COMPLETED_MAYBE, "no memory for the reply");
    case Outcome::no_room:
        raise<CORBA::TRANSIENT>(minor_code::no_room_for_oneway, CORBA::COMPLETED_NO,
                                "the peer does not take what it is sent");
    case Outcome::late:
        raise<CORBA::TIMEOUT>(minor_code::no_reply_in_time, CORBA::COMPLETED_MAYBE,
                              "no reply in time");
    default:
        raise<CORBA::COMM_FAILURE>(minor_code::connection_closed, CORBA::COMPLETED_MAYBE,
                                   "the connection was closed before the reply");
    }
}

void Invocation::raise_late(Lane& lane, giop::Version version)
{
    connection_->give_up_reply(version);
    ThreadConnections::of(lane).give_back(std::move(connection_));
    raise_lost(Outcome::late);
}

void CallBodies::raise_malformed_results()
{
    mapping::raise_if_text_refused(in_, CORBA::COMPLETED_YES);
    raise<CORBA::MARSHAL>(minor_code::malformed_reply, CORBA::COMPLETED_YES,
                          cdr::describe(in_.fault()));
}

// --- As stubs see it -----------------------------------------------------------------------------

namespace {

Invocation& invocation_in(std::byte* memory) noexcept
{
    return *std::launder(reinterpret_cast<Invocation*>(memory));
}

} // namespace

StubCall::StubCall(Reference& target, const Operation& operation)
{
    static_assert(sizeof(Invocation) <= size && alignof(Invocation) <= 16);
    auto* const made = ::new (static_cast<void*>(memory_)) Invocation(target, operation);
    // What `bodies` relies on.
    if (static_cast<void*>(static_cast<CallBodies*>(made)) != memory_) __builtin_unreachable();
}

StubCall::~StubCall() { invocation_in(memory_).~Invocation(); }
void StubCall::invoke() { invocation_in(memory_).invoke(); }
void StubCall::invoke_within(std::int64_t nanoseconds)
{
    invocation_in(memory_).invoke(std::chrono::nanoseconds(nanoseconds));
}

} // namespace kairos::orb
