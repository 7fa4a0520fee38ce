// SPDX-License-Identifier: Apache-2.0
//
// The one client call that a generated stub makes: orb::Invocation on a CORBA::Object.
#pragma once

#include "kairos/corba/object.h"
#include "kairos/mapping/exception.h"
#include "kairos/mapping/marshal.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/invocation.h"

namespace kairos::corba {

/// What a stub calls.
[[nodiscard]] inline orb::Reference& reference_of(CORBA::Object& target)
{
    const orb::ReferencePtr& reference = target._kairos_reference();
    if (!reference) [[unlikely]]
        orb::raise<CORBA::NO_IMPLEMENT>(mapping::omg_minor(8), CORBA::COMPLETED_NO,
                                        "a local object does not implement this operation");
    return *reference;
}

class Invocation : public orb::Invocation {
  public:
    using orb::Invocation::Invocation;
    Invocation(CORBA::Object& target, const orb::Operation& operation)
        : orb::Invocation(reference_of(target), operation)
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
    if (!body.ok()) {
        mapping::raise_if_text_refused(body, CORBA::COMPLETED_YES);
        orb::raise<CORBA::MARSHAL>(orb::minor_code::malformed_reply, CORBA::COMPLETED_YES,
                                   cdr::describe(body.fault()));
    }
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
