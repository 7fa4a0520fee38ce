// SPDX-License-Identifier: Apache-2.0
//
// What generated valuetypes need of the ORB: the environment that a copy is made in, and the
// streams of custom ones.
#pragma once

#include "kairos/base/export.h"
#include "kairos/values/any.h"
#include "kairos/values/custom.h"
#include "kairos/values/marshal.h"

namespace kairos::corba {

/// The registry of value factories of an ORB, whose messages are in TAO's form or not.
[[nodiscard]] KAIROS_API Owner<cdr::Attachment> make_value_factories(bool tao_chunks);
/// A registry for messages in TAO's form, with the factories of another registry, which outlives
/// it.
[[nodiscard]] KAIROS_API Owner<cdr::Attachment> make_tao_value_factories(cdr::Attachment& of);

/// `_copy_value` of a valuetype: a deep copy, owned by the caller, made by the factories of the
/// default ORB. Throws MARSHAL 1 where there is none.
[[nodiscard]] KAIROS_API CORBA::ValueBase* copy_value(const CORBA::ValueBase& value);

/// The state of a custom valuetype. Throw what the program throws.
KAIROS_API void encode_custom(cdr::Writer& out, const CORBA::CustomMarshal& value);
KAIROS_API void decode_custom(cdr::Reader& in, CORBA::CustomMarshal& value);

} // namespace kairos::corba
