// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/direct_call.h"

#include "kairos/orb/adapter.h"
#include "kairos/orb/dispatch.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"

#include <algorithm>
#include <new>

namespace kairos::orb {
namespace {

/// False also where there is nobody to ask: the call with a message says why.
bool call_through_adapter(Reference& reference, DirectCall& call)
{
    Orb& orb = reference.orb();
    Adapter* adapter = orb.adapter();
    if (orb.is_shut_down() || adapter == nullptr || reference.forward() != nullptr) [[unlikely]]
        return false;
    while (!adapter->call(call)) [[unlikely]]
        call.hold().wait();
    return call.made();
}

void follow(const LocationForward& elsewhere, Reference& reference)
{
    if (elsewhere.target.is_nil())
        raise<CORBA::INV_OBJREF>(minor_code::malformed_reply, CORBA::COMPLETED_NO,
                                 "location forward to nil");
    (void)reference.set_forward(reference.orb().make_reference(elsewhere.target), false);
}

bool is_listed(const CORBA::UserException& exception, const Operation& operation)
{
    const std::string_view id = exception._rep_id();
    return std::ranges::any_of(operation.exceptions(), [id](const ExceptionType& type) {
        return type.repository_id == id;
    });
}

[[noreturn]] void raise_foreign(const Operation& operation, const char* what)
{
    log_foreign_exception(operation.name(), what);
    raise<CORBA::UNKNOWN>(minor_code::foreign_exception, CORBA::COMPLETED_MAYBE);
}

/// Throws the exception that is being handled as a remote caller would see it.
[[noreturn]] void rethrow(const Operation& operation)
{
    try {
        throw;
    } catch (const LocationForward&) {
        throw;
    } catch (const CORBA::SystemException&) {
        throw;
    } catch (const CORBA::UserException& exception) {
        if (is_listed(exception, operation)) throw;
        raise<CORBA::UNKNOWN>(minor_code::unlisted_user_exception, CORBA::COMPLETED_MAYBE);
    } catch (const std::bad_alloc&) {
        raise<CORBA::NO_MEMORY>(0, CORBA::COMPLETED_MAYBE);
    } catch (const std::exception& exception) {
        raise_foreign(operation, exception.what());
    } catch (...) {
        raise_foreign(operation, "not derived from std::exception");
    }
}

/// Of the exception that is being handled: throws what the caller is told. Returns whether the call
/// is over; if not, it is to be made where the reference leads now.
[[gnu::cold]] bool end_with_exception(Reference& reference, const Operation& operation)
{
    const bool answered = operation.response() == Response::required;
    try {
        rethrow(operation);
    } catch (const LocationForward& elsewhere) {
        if (answered) follow(elsewhere, reference);
        return !answered;
    } catch (const CORBA::Exception&) {
        if (answered) throw;
        return true;
    }
}

} // namespace

Reference* call_directly(Reference& reference, const DirectOperation& operation, void* arguments)
{
    bool over = true;
    try {
        if (const DirectLink* link = reference.linked(operation.interface)) {
            operation.function(link->servant, arguments);
            return nullptr;
        }
        DirectCall call(reference, operation, arguments);
        over = call_through_adapter(reference, call);
    } catch (...) {
        over = end_with_exception(reference, *operation.operation);
    }
    return over ? nullptr : &reference;
}

} // namespace kairos::orb
