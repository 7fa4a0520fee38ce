// SPDX-License-Identifier: Apache-2.0
#include "kairos/nameserver/row.h"

#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/nameserver/checksum.h"

namespace kairos::nameserver {

Columns<std::string> columns_of(ContextId context, const ior::NameComponent& component,
                                const Entry& entry)
{
    Columns<std::string> columns{
        .type = static_cast<std::int64_t>(entry.kind), .target = 0, .reference = {}, .checksum = 0};
    if (entry.kind == Entry::Kind::context) {
        columns.target = static_cast<std::int64_t>(entry.context);
    } else {
        cdr::Buffer buffer;
        cdr::Writer out(buffer);
        out.write(native_little_endian);
        ior::encode(out, entry.reference);
        columns.reference = as_text(out.contiguous());
    }
    columns.checksum = checksum_of(context, component.id, component.kind, columns.type,
                                   columns.target, columns.reference);
    return columns;
}

std::optional<Entry> entry_of(ContextId context, std::string_view id, std::string_view kind,
                              const Columns<std::string_view>& columns)
{
    const std::int64_t checksum =
        checksum_of(context, id, kind, columns.type, columns.target, columns.reference);
    if (columns.checksum != checksum || columns.type < 0 ||
        columns.type > static_cast<std::int64_t>(Entry::Kind::foreign_context))
        return std::nullopt;
    Entry entry;
    entry.kind = static_cast<Entry::Kind>(columns.type);
    if (entry.kind == Entry::Kind::context) {
        entry.context = static_cast<ContextId>(columns.target);
        return columns.target > 0 && columns.reference.empty() ? std::optional(entry)
                                                               : std::nullopt;
    }
    cdr::Reader in = cdr::Reader::of_encapsulation(as_bytes(columns.reference));
    if (columns.target != 0 || !ior::decode(in, entry.reference) || in.left() != 0)
        return std::nullopt;
    return entry;
}

} // namespace kairos::nameserver
