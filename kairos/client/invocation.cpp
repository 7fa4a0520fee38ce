// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/invocation.h"

#include "kairos/orb/orb.h"
#include "kairos/orb/real_time.h"

namespace kairos::orb {
namespace {

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

} // namespace

inline CallBodies::CallBodies(Reference& target, ThreadStorage& storage)
    : storage_(storage),
      environment_{.orb = &target.orb(),
                   .orb_owner = &target.orb(),
                   .exception_id_in_any = target.orb().options().exception_id_in_any},
      buffer_(storage.buffers.take()), out_(*buffer_, headroom)
{
    const Reference& place = first_place_of(target);
    environment_.text = place.text_form();
    environment_.value_factories = place.value_factories();
    environment_.giop_minor = giop_minor_of(environment_.text);
    out_.set_environment(&environment_);
}

inline CallBodies::~CallBodies()
{
    if (buffer_->capacity() > limits::receive_buffer_kept) buffer_->clear();
    storage_.buffers.give_back(std::unique_ptr<cdr::Buffer>(buffer_.release()));
}

Invocation::Invocation(Reference& target, const Operation& operation)
    : CallBodies(target, ThreadStorage::current()), reference_(target), operation_(operation),
      own_(storage_)
{
}

Invocation::Invocation(Reference& target, const Operation& operation, ThreadStorage& storage)
    : CallBodies(target, storage), reference_(target), operation_(operation), own_(storage)
{
}

Invocation::~Invocation() { own_.release(); }

[[gnu::always_inline]] inline Bytes Invocation::header(const giop::RequestTemplate& target,
                                                       std::uint32_t request_id, std::uint8_t flags,
                                                       Bytes contexts)
{
    const Bytes prefix = target.prepend(giop::Body::of(out_, headroom), request_id, flags,
                                        operation_.name(), contexts);
    if (prefix.empty()) [[unlikely]]
        return long_header(target, request_id, flags, contexts);
    return prefix;
}

void Invocation::invoke()
{
    if (!reference_.orb().has_plain_calls()) [[unlikely]]
        return invoke_otherwise();
    Reference* const forward = reference_.forward(); // which keeps it
    const Reference& place = forward == nullptr ? reference_ : *forward;
    if (place.is_local()) return invoke_collocated(forward);
    const auto& targets =
        place.has_priorities() ? targets_at_priority(storage_, place) : place.targets();
    if (targets.empty()) [[unlikely]]
        return go_on(forward);
    const Target& target = targets.front();
    ClientConnection* connection = nullptr;
    if (target.text == environment_.text) [[likely]]
        connection = own_.take(*target.endpoint);
    if (connection == nullptr) [[unlikely]]
        return go_on(forward);
    const std::uint32_t request_id = connection->next_request_id();
    if (operation_.response() == Response::required) [[likely]] {
        const Bytes before = header(target.by_key, request_id, giop::response_flags::sync_target,
                                    connection->contexts());
        const Outcome outcome =
            connection->exchange(before, out_, request_id, reply_, storage_.serving_thread);
        if (outcome == Outcome::ok && reply_.status == giop::ReplyStatus::no_exception) [[likely]]
            return read_results();
        return go_on(forward, own_, outcome);
    }
    const Bytes before =
        header(target.by_key, request_id, giop::response_flags::none, connection->contexts());
    if (const Outcome outcome = connection->send(before, out_); outcome != Outcome::ok) [[unlikely]]
        go_on(forward, own_, outcome);
}

void Invocation::invoke_otherwise()
{
    if (reference_.orb().has_plain_observed_calls()) return invoke_observed();
    limits_ = limits_of_call(reference_);
    invoke_limited();
}

/// The same straight line as in invoke(), with a point before the request and one after the reply.
[[gnu::always_inline]] inline bool Invocation::try_observed(Reference& place, const Target& target,
                                                            CallObservation& seen,
                                                            std::optional<Outcome>& outcome)
{
    seen.begin(place, &place.ior().profiles[target.profile_index]);
    ClientConnection* const connection = own_.take(*target.endpoint);
    if (connection == nullptr) [[unlikely]]
        return false;
    Bytes contexts = connection->contexts();
    if (const Bytes added = seen.added_contexts(); !added.empty())
        contexts = contexts.empty() ? added : both_contexts(contexts, added);
    const std::uint32_t request_id = connection->next_request_id();
    if (operation_.response() != Response::required) {
        const Bytes before =
            header(target.by_key, request_id, giop::response_flags::none, contexts);
        outcome = connection->send(before, out_);
        if (outcome != Outcome::ok) return false;
        seen.end_unanswered();
        return true;
    }
    const Bytes before =
        header(target.by_key, request_id, giop::response_flags::sync_target, contexts);
    outcome = connection->exchange(before, out_, request_id, reply_, storage_.serving_thread);
    if (outcome != Outcome::ok || reply_.status != giop::ReplyStatus::no_exception) [[unlikely]]
        return false;
    read_results();
    seen.answered(reply_);
    seen.end({.status = Ending::Status::successful});
    return true;
}

void Invocation::invoke_observed()
{
    Reference* const forward = reference_.forward(); // which keeps it
    Reference& place = forward == nullptr ? reference_ : *forward;
    const auto& targets = place.has_priorities() && !place.is_local()
                              ? targets_at_priority(storage_, place)
                              : place.targets();
    if (place.is_local() || targets.empty() || targets.front().text != environment_.text)
        [[unlikely]] {
        limits_ = limits_of_call(reference_);
        return invoke_limited();
    }
    const bool is_answered = operation_.response() == Response::required;
    CallObservation seen(reference_, operation_,
                         is_answered ? giop::response_flags::sync_target
                                     : giop::response_flags::none,
                         SyncScope::with_transport);
    std::optional<Outcome> outcome;
    try {
        const auto go = [&] { return try_observed(place, targets.front(), seen, outcome); };
        if (seen.during(go)) [[likely]]
            return;
    } catch (const LocationForward& elsewhere) { // an observer's
        return go_on(forward, seen, elsewhere.target);
    }
    go_on(forward, seen, outcome);
}

void Invocation::invoke_collocated(Reference* forward)
{
    if (environment_.text != nullptr) [[unlikely]]
        return go_on(forward);
    const Reference& place = forward == nullptr ? reference_ : *forward;
    collocated_.emplace(storage_);
    collocated_->call(place.orb(), place.object_key(), operation_, out_, reply_);
    if (operation_.response() == Response::none) return;
    if (reply_.status == giop::ReplyStatus::no_exception) [[likely]]
        return read_results();
    go_on(forward, *collocated_, Outcome::ok);
}

Bytes Invocation::Request::header(const giop::RequestTemplate& target, std::uint32_t request_id,
                                  Bytes contexts)
{
    return call_.header(target, request_id, call_.response_flags(),
                        call_.contexts_of_call(route_.place(), contexts, added_contexts));
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
