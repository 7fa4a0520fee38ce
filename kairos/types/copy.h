// SPDX-License-Identifier: Apache-2.0
//
// CDR to CDR by TypeCode: values of types known only at run time are checked as compiled decoding
// checks them, passed over or written again in this machine's byte order and at any alignment.
// What Any does with values that nobody extracts. One thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/owner.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/types/typecode.h"

#include <string_view>

namespace kairos::types {

/// Reads a value and writes it. If `in` has failed afterwards, what was written is worth nothing.
/// Throws std::bad_alloc, BAD_TYPECODE for a recursive type that nothing encloses, and where text
/// cannot be written what Marshal throws.
KAIROS_API void copy_value(cdr::Reader& in, cdr::Writer& out, const CORBA::TypeCode& type);

/// What a copy is to change, and knows beyond the TypeCodes that it is made by.
class KAIROS_API CopyRules {
  public:
    CopyRules() = default;
    CopyRules(const CopyRules&) = delete;
    CopyRules& operator=(const CopyRules&) = delete;
    virtual ~CopyRules() = default;

    /// Reads an object reference and writes what takes its place. Fails the reader where there is
    /// none; what it throws ends the copy.
    virtual void copy_reference(cdr::Reader& in, cdr::Writer& out) = 0;
    /// Returns the type of values that say this repository id, where they may be of a type derived
    /// from the TypeCode's; null where it is not known. It must live as long as the copy.
    [[nodiscard]] virtual const CORBA::TypeCode* value_type(std::string_view repository_id) = 0;
};

class Walk;

/// Copies the values of one message, one after the other, from where the reader is to where the
/// writer is. They may share values of valuetypes. Borrows all that it is made of.
class KAIROS_API Copier {
  public:
    Copier(cdr::Reader& in, cdr::Writer& out, CopyRules& rules);
    Copier(const Copier&) = delete;
    Copier& operator=(const Copier&) = delete;
    ~Copier();

    /// Copies a value of this type. Fails and throws as copy_value does.
    void value(const CORBA::TypeCode& type);

  private:
    const Owner<Walk> walk_;
};

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
