// SPDX-License-Identifier: Apache-2.0
//
// Calls that are not plain, or do not end as plain ones do: along a route.
#include "kairos/client/client.h"
#include "kairos/client/invocation.h"

#include "kairos/mapping/marshal.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/priority_context.h"
#include "kairos/orb/real_time.h"
#include "kairos/orb/timing_context.h"

#include <algorithm>

namespace kairos::orb {

void Invocation::go_on(Reference* forward)
{
    limits_ = limits_of_call(reference_);
    Route route = route_from(forward);
    run(route, nullptr);
}

void Invocation::go_on(Reference* forward, Carrier& carrier, Outcome outcome)
{
    limits_ = limits_of_call(reference_);
    Route route = route_from(forward);
    route.next(); // where it was tried
    if (&carrier == &own_ && outcome != Outcome::ok) own_.conclude(outcome, true, route);
    if (!settle(route, carrier, outcome, nullptr)) run(route, nullptr);
}

void Invocation::go_on(Reference* forward, CallObservation& seen,
                       const std::optional<Outcome>& outcome)
{
    limits_ = limits_of_call(reference_);
    Route route = route_from(forward);
    Request request(*this, route);
    const auto go = [&] {
        route.next(); // where it was tried
        request.added_contexts = seen.added_contexts();
        if (!outcome) return attempt(route, request, &seen);
        if (*outcome != Outcome::ok) own_.conclude(*outcome, true, route);
        return settle(route, own_, *outcome, &seen);
    };
    if (!observed(route, seen, go)) run(route, &seen);
}

void Invocation::go_on(Reference* forward, CallObservation& seen, const ior::Ior& target)
{
    limits_ = limits_of_call(reference_);
    Route route = route_from(forward);
    route.next();
    go_elsewhere(route, target);
    run(route, &seen);
}

Bytes Invocation::both_contexts(Bytes of_connection, Bytes added)
{
    ContextList& list = storage_.contexts;
    list.clear();
    list.append(of_connection);
    list.append(added);
    return list.bytes();
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
    if (reference_.orb().call_observers().empty()) return invoke_limited(nullptr);
    CallObservation seen(reference_, operation_, response_flags(), limits_.sync_scope);
    invoke_limited(&seen);
}

void Invocation::invoke_limited(CallObservation* seen)
{
    if (reference_.orb().is_shut_down())
        raise<CORBA::BAD_INV_ORDER>(minor_code::orb_shut_down, CORBA::COMPLETED_NO);
    Route route = route_from(reference_.forward());
    run(route, seen);
}

Route Invocation::route_from(Reference* forward) noexcept
{
    return {reference_, forward, limits_, storage_, Route::Purpose::call};
}

Invocation::Request::Request(Invocation& call, const Route& route) noexcept
    : call_(call), route_(route)
{
    operation = &call.operation_;
    arguments = &call.out_;
    if (call.response_flags() != giop::response_flags::none)
        reply = &call.reply_;
    else
        is_posted = call.limits_.sync_scope == SyncScope::none;
}

void Invocation::run(Route& route, CallObservation* seen)
{
    Request request(*this, route);
    const auto go = [&] { return go_next(route, request, seen); };
    while (!(seen == nullptr ? go() : observed(route, *seen, go))) {
    }
}

bool Invocation::go_next(Route& route, Request& request, CallObservation* seen)
{
    if (seen != nullptr) seen->unanswered(); // its connection may have been given back
    route.next();
    const cdr::TextForm* const text = route.is_local() ? nullptr : route.target().text;
    if (text != environment_.text && !text_suits(text)) {
        route.unsuitable();
        return false;
    }
    if (seen != nullptr) {
        seen->begin(route);
        request.added_contexts = seen->added_contexts();
    }
    return attempt(route, request, seen);
}

bool Invocation::attempt(Route& route, Request& request, CallObservation* seen)
{
    Carrier& carrier = carrier_to(route);
    if (const auto reached = carrier.reach(route); !reached) {
        route.unreachable(reached.error());
        return false;
    }
    return settle(route, carrier, carrier.exchange(request, route), seen);
}

/// Where an observer sends the call.
void Invocation::go_elsewhere(Route& route, const ior::Ior& target)
{
    if (target.is_nil())
        raise<CORBA::INV_OBJREF>(minor_code::malformed_reply, CORBA::COMPLETED_NO,
                                 "an observer forwards to nil");
    own_.release();
    if (shared_) shared_->release();
    route.forwarded(route.orb().make_reference(target), false);
}

Carrier& Invocation::carrier_to(const Route& route)
{
    if (route.is_local()) return collocated_.emplace(storage_);
    if (!SharedCarrier::carries(limits_, ThreadStorage::current()) &&
        !Client::of(route.orb()).bidirectional().carries(route))
        return own_;
    return shared_ ? *shared_ : shared_.emplace(storage_);
}

bool Invocation::settle(Route& route, Carrier& carrier, Outcome outcome, CallObservation* seen)
{
    if (outcome == Outcome::not_executed) {
        route.closed();
        return false;
    }
    if (outcome != Outcome::ok) route.raise(outcome);
    const bool answered = route.is_local() ? operation_.response() != Response::none
                                           : response_flags() != giop::response_flags::none;
    if (!answered) {
        if (seen != nullptr) seen->end_unanswered();
        return true;
    }
    if (seen != nullptr) seen->answered(reply_);
    const bool was_called = reply_.status == giop::ReplyStatus::no_exception ||
                            reply_.status == giop::ReplyStatus::user_exception;
    if (was_called && !route.is_local() && limits_.rebind != RebindMode::transparent)
        reference_.note_bound();
    return accept(route, carrier, seen);
}

bool Invocation::accept(Route& route, Carrier& carrier, CallObservation* seen)
{
    read_results();
    switch (reply_.status) {
    case giop::ReplyStatus::no_exception:
        if (seen != nullptr) seen->end({.status = Ending::Status::successful});
        return true;
    case giop::ReplyStatus::user_exception:
        raise_user_exception();
    case giop::ReplyStatus::system_exception:
        if (!says_unknown() || !route.unknown()) raise_system_exception();
        break;
    case giop::ReplyStatus::location_forward:
    case giop::ReplyStatus::location_forward_perm: {
        ReferencePtr to = decode_forward(route.orb(), in_);
        if (seen != nullptr)
            seen->end({.status = Ending::Status::location_forward, .forward = &to->ior()});
        carrier.release();
        route.forwarded(std::move(to), reply_.status == giop::ReplyStatus::location_forward_perm);
        return false;
    }
    case giop::ReplyStatus::needs_addressing_mode:
        route.readdress(reply_.body);
        break;
    }
    carrier.release();
    return false;
}

/// Whether the object is not known where the call was sent.
bool Invocation::says_unknown() const
{
    cdr::Reader body = in_;
    const auto exception = giop::SystemExceptionBody::read(body);
    return exception.completion == CORBA::COMPLETED_NO &&
           exception.repository_id == CORBA::OBJECT_NOT_EXIST::kairos_id;
}

// --- the request ---------------------------------------------------------------------------------

std::uint8_t Invocation::response_flags() const noexcept
{
    if (operation_.response() == Response::required) return giop::response_flags::sync_target;
    if (limits_.sync_scope == SyncScope::with_server) return giop::response_flags::sync_server;
    if (limits_.sync_scope == SyncScope::with_target) return giop::response_flags::sync_target;
    return giop::response_flags::none;
}

Bytes Invocation::long_header(const giop::RequestTemplate& target, std::uint32_t request_id,
                              std::uint8_t flags, Bytes contexts)
{
    const auto body = giop::Body::of(out_, headroom);
    const std::size_t size = target.headroom(operation_.name().size(), contexts.size());
    long_header_ = std::make_unique_for_overwrite<std::byte[]>(size);
    const Bytes prefix = target.prepend({long_header_.get() + size, size, body.size}, request_id,
                                        flags, operation_.name(), contexts);
    if (prefix.empty())
        raise<CORBA::IMP_LIMIT>(minor_code::message_too_large, CORBA::COMPLETED_NO,
                                "the request exceeds 4 GiB");
    return prefix;
}

Bytes Invocation::contexts_of_call(const Reference& place, Bytes contexts, Bytes added)
{
    ContextList& list = storage_.contexts;
    list.clear();
    list.append(contexts);
    if (limits_.due_by_idl.count() != 0) {
        const auto now = Deadline::Clock::now().time_since_epoch();
        append_time_left(list, limits_.due_by_idl - now);
    }
    if (place.propagates_priority()) append_priority(list, priority_to_say());
    list.append(added);
    return list.bytes();
}

/// The priority that a request of the calling thread carries.
Priority Invocation::priority_to_say() const
{
    Orb& orb = reference_.orb();
    Priority priority = thread_priority(storage_, orb.priority_mapping());
    if (PriorityTransform* transform = orb.priority_transform();
        transform != nullptr && !transform->outbound(priority))
        raise<CORBA::DATA_CONVERSION>(0, CORBA::COMPLETED_NO,
                                      "the priority transform has none for this request");
    return priority;
}

bool Invocation::text_suits(const cdr::TextForm* text)
{
    const CodeSets& code_sets = reference_.orb().code_sets();
    if (environment_.wide_text_written && !code_sets.same_wide_text(environment_.text, text))
        return false;
    if (!code_sets.same_characters(environment_.text, text)) {
        // All sets of characters agree on ASCII, so a body without other octets suits them all.
        const Bytes body = out_.contiguous();
        const bool ascii = std::all_of(body.begin(), body.end(),
                                       [](std::byte octet) { return octet < std::byte{0x80}; });
        if (!ascii || !out_.externals().empty()) return false;
    }
    environment_.text = text;
    environment_.giop_minor = giop_minor_of(text);
    return true;
}

/// An entry without a repository id takes whatever comes: who passes exceptions on has one.
void Invocation::raise_user_exception()
{
    cdr::Reader ahead = in_;
    const std::string_view id = ahead.read_string();
    if (!ahead.ok()) {
        in_ = ahead;
        raise_malformed_results();
    }
    for (const ExceptionType& type : operation_.exceptions())
        if (type.repository_id == id || type.repository_id.empty()) type.raise(type, in_);
    raise<CORBA::UNKNOWN>(minor_code::unlisted_user_exception, CORBA::COMPLETED_YES, id);
}

void Invocation::raise_system_exception()
{
    const auto exception = giop::SystemExceptionBody::read(in_);
    if (!in_.ok()) raise_malformed_results();
    mapping::raise_system_exception(exception.repository_id, exception.minor,
                                    static_cast<CORBA::CompletionStatus>(exception.completion));
}

void CallBodies::raise_malformed_results()
{
    mapping::raise_if_text_refused(in_, CORBA::COMPLETED_YES);
    raise<CORBA::MARSHAL>(minor_code::malformed_reply, CORBA::COMPLETED_YES,
                          cdr::describe(in_.fault()));
}

} // namespace kairos::orb
