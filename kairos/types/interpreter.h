// SPDX-License-Identifier: Apache-2.0
//
// Encodes and decodes C++ values as their tables say, makes and destroys them. The same bytes and
// the same errors as compiled code (mapping/marshal.h), by other means. Stations 1 and 10 of the
// request walk (docs/TOUR.md) where code is interpreted. Used by one thread at a time per value.
#pragma once

#include "kairos/base/export.h"
#include "kairos/types/table.h"

namespace kairos::types {

/// Writes a value of the type that `table` describes. Throws what Marshal<T>::encode throws.
KAIROS_API void encode(cdr::Writer& out, const Table& table, const void* value);
/// Reads a value of the type that `table` describes into a constructed object. Never throws but
/// std::bad_alloc: the reader fails. With an arena, which is for viewable types only, the value
/// becomes a view: what it refers to is in the message or in the arena. It has to be new or mere
/// storage before, and is not to be destroyed.
KAIROS_API void decode(cdr::Reader& in, const Table& table, void* value, Arena* arena = nullptr);

/// Constructs a value of the type that `table` describes in `storage`, as T() does.
KAIROS_API void construct_value(const Table& table, void* storage);
/// Ends the life of a value of the type that `table` describes, as ~T() does.
KAIROS_API void destroy_value(const Table& table, void* value) noexcept;
/// `new T()`, or `new T[n]()` where T is an array. Owned by the caller.
[[nodiscard]] KAIROS_API void* new_value(const Table& table);
/// Deletes what `new_value`, `new` or `new[]` of the type has made; nothing for null.
KAIROS_API void delete_value(const Table& table, void* value) noexcept;

} // namespace kairos::types
