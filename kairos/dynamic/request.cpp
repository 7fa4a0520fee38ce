// SPDX-License-Identifier: Apache-2.0
//
// Request: arguments go from their Anys to the wire and results from there into theirs, by the code
// that an Any's value travels with; the call itself is an orb::Invocation as in every stub.
#include "kairos/corba/request.h"

#include "kairos/dynamic/parameters.h"
#include "kairos/dynamic/under_way.h"
#include "kairos/orb/failure.h"
#include "kairos/types/any_access.h"

#include <memory>
#include <utility>
#include <vector>

namespace CORBA {

using kairos::dynamic::encode_parameter;
using kairos::dynamic::has_value;
using kairos::dynamic::parameter_type;
using kairos::mapping::omg_minor;
using kairos::orb::Response;
using kairos::types::AnyAccess;

namespace {

// CORBA 3.3 part 2, annex A.
constexpr ULong already_sent = omg_minor(10);
constexpr ULong not_sent = omg_minor(11);
constexpr ULong already_fetched = omg_minor(12);
constexpr ULong sent_synchronously = omg_minor(13);

constexpr Flags direction = ARG_INOUT;

/// Thrown where the reply turns out to hold a listed exception; nobody else sees it.
struct ListedException {
    const kairos::orb::ExceptionType* type;
};

void raise_listed(const kairos::orb::ExceptionType& type, kairos::cdr::Reader&)
{
    throw ListedException{&type};
}

Any decoded(kairos::cdr::Reader& in, const TypeCode& type)
{
    Any value;
    AnyAccess::decode_value(in, TypeCode::_duplicate(const_cast<TypeCode_ptr>(&type)), value);
    return value;
}

} // namespace

struct Request::Results {
    std::vector<Any> values;
};

// --- Made ----------------------------------------------------------------------------------------

Request_ptr Object::_request(const char* operation)
{
    return new Request(this, operation, nullptr, nullptr);
}

void Object::_create_request(Context_ptr context, const char* operation, NVList_ptr arguments,
                             NamedValue_ptr result, Request_out request, Flags flags)
{
    _create_request(context, operation, arguments, result, nullptr, nullptr, request, flags);
}

void Object::_create_request(Context_ptr context, const char* operation, NVList_ptr arguments,
                             NamedValue_ptr result, ExceptionList_ptr exceptions,
                             ContextList_ptr contexts, Request_out request, Flags flags)
{
    if ((flags & ~OUT_LIST_MEMORY) != 0) throw INV_FLAG(0, COMPLETED_NO, "not a flag of a request");
    Request_var made = new Request(this, operation, arguments, result);
    made->ctx(context);
    if (exceptions != nullptr) made->exceptions_ = ExceptionList::_duplicate(exceptions);
    if (contexts != nullptr) made->contexts_ = ContextList::_duplicate(contexts);
    request = made._retn();
}

Request::Request(Object_ptr target, const char* operation, NVList_ptr arguments,
                 NamedValue_ptr result)
    : target_(Object::_duplicate(target)), name_(operation == nullptr ? "" : operation),
      arguments_(arguments == nullptr ? new NVList : NVList::_duplicate(arguments)),
      result_(result == nullptr ? new NamedValue(string_dup(""), new Any, 0)
                                : NamedValue::_duplicate(result)),
      environment_(new Environment), contexts_(new ContextList), call_(new UnderWay)
{
    exceptions_ = new ExceptionList;
    if (name_.empty()) throw BAD_PARAM(0, COMPLETED_NO, "a request without an operation");
    if (!target->_kairos_reference())
        throw NO_IMPLEMENT(omg_minor(8), COMPLETED_NO,
                           "a local object does not implement dynamic invocation");
}

/// A call under way is given up with `call_`: its connection is closed.
Request::~Request() = default;

Request_ptr Request::_duplicate(Request_ptr request) { return kairos::corba::duplicate(request); }

void release(Request_ptr request)
{
    if (request != nullptr) request->_remove_ref();
}

// --- Filled --------------------------------------------------------------------------------------

void Request::ctx(Context_ptr context) { context_ = Context::_duplicate(context); }

Any& Request::add_in_arg() { return *arguments_->add(ARG_IN)->value(); }
Any& Request::add_in_arg(const char* name) { return *arguments_->add_item(name, ARG_IN)->value(); }
Any& Request::add_inout_arg() { return *arguments_->add(ARG_INOUT)->value(); }
Any& Request::add_inout_arg(const char* name)
{
    return *arguments_->add_item(name, ARG_INOUT)->value();
}
Any& Request::add_out_arg() { return *arguments_->add(ARG_OUT)->value(); }
Any& Request::add_out_arg(const char* name)
{
    return *arguments_->add_item(name, ARG_OUT)->value();
}

void Request::set_return_type(TypeCode_ptr type) { return_value().replace(type, nullptr); }

// --- Sent ----------------------------------------------------------------------------------------

kairos::orb::Reference& Request::reference() const { return *target_->_kairos_reference(); }

void Request::require_idle() const
{
    if (state_ == State::outstanding)
        throw BAD_INV_ORDER(already_sent, COMPLETED_NO, "the last call is still under way");
}

/// Runs `step` and leaves in `env` what it throws.
template <typename Step>
void Request::noting_exceptions(Step step)
{
    environment_->clear();
    try {
        step();
    } catch (const SystemException& exception) {
        environment_->exception(exception._duplicate());
        throw;
    }
}

void Request::prepare(bool is_oneway)
{
    call_->listed.clear();
    call_->exception_types.clear();
    for (ULong i = 0; i < exceptions_->count(); ++i) {
        call_->listed.emplace_back(TypeCode::_duplicate(exceptions_->item(i)));
        call_->exception_types.push_back(
            {kairos::types::resolved(*call_->listed.back().in()).id(), &raise_listed});
    }
    call_->operation = kairos::orb::Operation(
        name_, is_oneway ? Response::none : Response::required, call_->exception_types);
}

void Request::encode_arguments(kairos::cdr::Writer& out) const
{
    for (ULong i = 0; i < arguments_->count(); ++i) {
        const NamedValue& argument = *arguments_->item(i);
        if ((argument.flags() & direction) == 0)
            throw INV_FLAG(0, COMPLETED_NO, "an argument is neither in nor out");
        const TypeCode& type = parameter_type(*argument.value());
        if ((argument.flags() & ARG_IN) != 0) encode_parameter(out, *argument.value(), type);
    }
    if (contexts_->count() == 0) return;
    std::vector<std::string_view> clause;
    for (ULong i = 0; i < contexts_->count(); ++i)
        clause.emplace_back(contexts_->item(i));
    kairos::corba::encode_context(out, context_.in(), clause);
}

void Request::invoke()
{
    require_idle();
    noting_exceptions([this] {
        prepare(false);
        kairos::orb::Invocation call(reference(), call_->operation);
        encode_arguments(call.out());
        state_ = State::synchronous;
        finish(call, [&] { call.invoke(); });
    });
}

void Request::send_oneway()
{
    require_idle();
    noting_exceptions([this] {
        prepare(true);
        kairos::orb::Invocation call(reference(), call_->operation);
        encode_arguments(call.out());
        state_ = State::synchronous;
        call.invoke();
    });
}

void Request::send_deferred()
{
    require_idle();
    noting_exceptions([this] {
        prepare(false);
        auto call =
            std::make_unique<kairos::orb::DeferredInvocation>(reference(), call_->operation);
        {
            // The arguments may be changed before the reply is there, and the call may have to be
            // sent again then.
            const kairos::cdr::Writer::CopyAll copies(call->out());
            encode_arguments(call->out());
        }
        call->send();
        call_->deferred = std::move(call);
        state_ = State::outstanding;
    });
}

// --- Answered ------------------------------------------------------------------------------------

void Request::require_outstanding() const
{
    switch (state_) {
    case State::outstanding:
        return;
    case State::unsent:
        throw BAD_INV_ORDER(not_sent, COMPLETED_NO, "the request was not sent");
    case State::synchronous:
        throw BAD_INV_ORDER(sent_synchronously, COMPLETED_NO, "the request was not sent deferred");
    case State::fetched:
        throw BAD_INV_ORDER(already_fetched, COMPLETED_NO, "the response was fetched before");
    }
}

Boolean Request::poll_response()
{
    require_outstanding();
    if (!call_->is_answered()) return false;
    const auto call = std::move(call_->deferred);
    if (call == nullptr) return true;
    try {
        noting_exceptions([&] { finish(*call, [&] { call->receive(); }); });
    } catch (const SystemException&) { // env has it, from where get_response throws it
    } catch (...) {
        state_ = State::fetched;
        throw;
    }
    return true;
}

void Request::get_response()
{
    require_outstanding();
    state_ = State::fetched;
    const auto call = std::move(call_->deferred);
    if (call != nullptr) return noting_exceptions([&] { finish(*call, [&] { call->receive(); }); });
    if (const auto* failed = SystemException::_downcast(environment_->exception()))
        failed->_raise();
}

/// Waits for the end of the call and takes what it brings.
template <typename Call, typename Wait>
void Request::finish(Call& call, Wait wait)
{
    try {
        wait();
    } catch (const ListedException& listed) {
        const auto index = static_cast<std::size_t>(listed.type - call_->exception_types.data());
        Any exception = decoded(call.in(), *call_->listed[index].in());
        call.finish();
        return environment_->exception(new UnknownUserException(new Any(std::move(exception))));
    }
    Results results; // given to the program when nothing can fail any more
    take_results(call.in(), results);
    call.finish();
    hand_over(results);
}

void Request::take_results(kairos::cdr::Reader& in, Results& results) const
{
    const TypeCode& result_type = kairos::types::type_of(return_value());
    std::size_t expected = has_value(result_type) ? 1 : 0;
    for (ULong i = 0; i < arguments_->count(); ++i)
        if ((arguments_->item(i)->flags() & ARG_OUT) != 0) ++expected;
    if (expected == 0) return;
    results.values.reserve(expected);
    if (has_value(result_type)) results.values.push_back(decoded(in, result_type));
    for (ULong i = 0; i < arguments_->count() && in.ok(); ++i) {
        const NamedValue& argument = *arguments_->item(i);
        if ((argument.flags() & ARG_OUT) != 0)
            results.values.push_back(decoded(in, parameter_type(*argument.value())));
    }
}

void Request::hand_over(Results& results) const
{
    auto next = results.values.begin();
    if (has_value(kairos::types::type_of(return_value()))) return_value() = std::move(*next++);
    for (ULong i = 0; i < arguments_->count(); ++i) {
        const NamedValue& argument = *arguments_->item(i);
        if ((argument.flags() & ARG_OUT) != 0) *argument.value() = std::move(*next++);
    }
}

const kairos::net::Socket* Request::socket() const
{
    return call_->deferred == nullptr ? nullptr : call_->deferred->socket();
}

kairos::Deadline Request::deadline() const
{
    return call_->deferred == nullptr ? kairos::Deadline{} : call_->deferred->deadline();
}

} // namespace CORBA
