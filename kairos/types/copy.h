// SPDX-License-Identifier: Apache-2.0
//
// CDR to CDR by TypeCode: values of types known only at run time are checked as compiled decoding
// checks them, passed over or written again in this machine's byte order and at any alignment.
// What Any does with values that nobody extracts. One thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/types/typecode.h"

namespace kairos::types {

/// Reads a value and writes it. If `in` has failed afterwards, what was written is worth nothing.
/// Throws std::bad_alloc, BAD_TYPECODE for a recursive type that nothing encloses, and where text
/// cannot be written what Marshal throws.
KAIROS_API void copy_value(cdr::Reader& in, cdr::Writer& out, const CORBA::TypeCode& type);

/// Whether exceptions in Anys have their repository ids in front on this message.
[[nodiscard]] bool writes_exception_id(const cdr::Writer& out) noexcept;

/// What was seen on the way through a value.
struct Found {
    /// Whether the bytes alone are the value: they can be copied to where alignment and byte order
    /// are the same.
    bool is_free = true;
    bool has_characters = false; ///< chars and strings, which a message may have to convert
    bool has_wide = false;       ///< wide ones
    /// Whether a value of a valuetype is one of a derived type, of which its base is kept.
    bool is_truncated = false;
};

/// Passes over a value; `in` fails where it is not valid.
[[nodiscard]] KAIROS_API Found inspect_value(cdr::Reader& in, const CORBA::TypeCode& type);

} // namespace kairos::types
