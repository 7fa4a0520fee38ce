// SPDX-License-Identifier: Apache-2.0
//
// CDR to CDR by TypeCode: values of types known only at run time are checked as compiled decoding
// checks them, passed over or written again in this machine's byte order and at any alignment.
// What Any does with values that nobody extracts. One thread.
#pragma once

#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/types/typecode.h"

namespace kairos::types {

/// Reads a value and writes it. If `in` has failed afterwards, what was written is worth nothing.
/// Never throws but std::bad_alloc, and BAD_TYPECODE for a recursive type that nothing encloses.
void copy_value(cdr::Reader& in, cdr::Writer& out, const CORBA::TypeCode& type);

/// Whether exceptions in Anys have their repository ids in front on this message.
[[nodiscard]] bool writes_exception_id(const cdr::Writer& out) noexcept;

/// Passes over a value; `in` fails where it is not valid.
void skip_value(cdr::Reader& in, const CORBA::TypeCode& type);

/// Passes over a value and tells whether its bytes alone are the value: whether they can be copied
/// to where alignment and byte order are the same.
[[nodiscard]] bool skip_free_value(cdr::Reader& in, const CORBA::TypeCode& type);

} // namespace kairos::types
