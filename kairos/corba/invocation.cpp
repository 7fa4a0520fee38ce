// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong in stubs, out of line: generated code would have it in every object file.
#include "kairos/corba/invocation.h"

#include "kairos/orb/failure.h"

namespace kairos::corba {

void raise_local_object()
{
    orb::raise<CORBA::NO_IMPLEMENT>(mapping::omg_minor(8), CORBA::COMPLETED_NO,
                                    "a local object does not implement this operation");
}

void raise_malformed_exception(const cdr::Reader& body)
{
    mapping::raise_if_text_refused(body, CORBA::COMPLETED_YES);
    orb::raise<CORBA::MARSHAL>(orb::minor_code::malformed_reply, CORBA::COMPLETED_YES,
                               cdr::describe(body.fault()));
}

} // namespace kairos::corba
