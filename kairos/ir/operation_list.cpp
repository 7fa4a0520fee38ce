// SPDX-License-Identifier: Apache-2.0
//
// The one operation of the ORB that needs the Interface Repository's stubs: here, so that no other
// program has them.
#include "kairos/corba/nvlist.h"
#include "kairos/corba/orb.h"
#include "kairos/ir/ir.h"

namespace CORBA {
namespace {

Flags flags_of(ParameterMode mode)
{
    switch (mode) {
    case PARAM_IN:
        return ARG_IN;
    case PARAM_OUT:
        return ARG_OUT;
    default:
        return ARG_INOUT;
    }
}

} // namespace

void ORB::create_operation_list(OperationDef_ptr operation, NVList_out list)
{
    if (is_nil(operation))
        throw BAD_PARAM(0, COMPLETED_NO, "create_operation_list was given no operation");
    const ParDescriptionSeq_var parameters = operation->params();
    NVList_var made;
    create_list(static_cast<Long>(parameters->length()), made.out());
    for (ULong i = 0; i < parameters->length(); ++i) {
        const ParameterDescription& parameter = parameters[i];
        Any type;
        type.replace(parameter.type, nullptr);
        made->add_value(parameter.name, type, flags_of(parameter.mode));
    }
    list = made._retn();
}

} // namespace CORBA
