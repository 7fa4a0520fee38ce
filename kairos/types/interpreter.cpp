// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/interpreter.h"

namespace kairos::types {

void encode(cdr::Writer& out, const Table& table, const void* value)
{
    switch (table.op) {
    case Op::functions:
        return table.functions->encode(out, value);
    }
}

void decode(cdr::Reader& in, const Table& table, void* value)
{
    switch (table.op) {
    case Op::functions:
        return table.functions->decode(in, value);
    }
}

} // namespace kairos::types
