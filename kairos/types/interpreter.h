// SPDX-License-Identifier: Apache-2.0
//
// Encodes and decodes C++ values as their tables say. The same bytes and the same errors as
// compiled code (mapping/marshal.h), by other means.
#pragma once

#include "kairos/types/table.h"

namespace kairos::types {

/// Throws what Marshal<T>::encode throws.
void encode(cdr::Writer& out, const Table& table, const void* value);
/// `value` is a constructed object. Never throws but std::bad_alloc: the reader fails.
void decode(cdr::Reader& in, const Table& table, void* value);

} // namespace kairos::types
