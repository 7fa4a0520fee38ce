// SPDX-License-Identifier: Apache-2.0
//
// The one client call that a generated stub makes: orb::StubCall on a CORBA::Object.
#pragma once

#include "kairos/base/export.h"
#include "kairos/client/stub_call.h"
#include "kairos/corba/object.h"
#include "kairos/mapping/exception.h"
#include "kairos/mapping/marshal.h"

namespace kairos::corba {

/// Throws NO_IMPLEMENT: a local object has no reference to send requests to.
[[noreturn, gnu::cold]] KAIROS_API void raise_local_object();
/// Throws MARSHAL, or what is wrong with text, for a user exception that could not be read.
[[noreturn, gnu::cold]] KAIROS_API void raise_malformed_exception(const cdr::Reader& body);

/// What a stub calls.
[[nodiscard]] inline orb::Reference& reference_of(CORBA::Object& target)
{
    const ReferencePtr& reference = target._kairos_reference();
    if (!reference) [[unlikely]]
        raise_local_object();
    return *reference;
}

class KAIROS_API Invocation : public orb::StubCall {
  public:
    using orb::StubCall::StubCall;
    Invocation(CORBA::Object& target, const orb::Operation& operation)
        : orb::StubCall(reference_of(target), operation)
    {
    }
};

namespace detail {
template <typename Exception>
void raise_user_exception(const orb::ExceptionType&, cdr::Reader& body)
{
    (void)body.read_string(); // its repository id
    Exception exception;
    mapping::decode(body, exception);
    if (!body.ok()) [[unlikely]]
        raise_malformed_exception(body);
    body.environment()->accept_values();
    throw exception;
}
} // namespace detail

/// An entry of a raises clause.
template <typename Exception>
[[nodiscard]] constexpr orb::ExceptionType exception_type()
{
    return {Exception::_kairos_id, &detail::raise_user_exception<Exception>};
}

} // namespace kairos::corba
