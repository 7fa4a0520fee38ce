// SPDX-License-Identifier: Apache-2.0
//
// Drives the decoder of rows with arbitrary columns, as a damaged or forged database has them. The
// input: whether the checksum is right, type and target as signed octets, the lengths of id and
// kind, and these; the rest is the reference. A row is accepted with its own checksum only, and
// says the same when it is written again.
#include "kairos/base/bytes.h"
#include "kairos/base/check.h"
#include "kairos/nameserver/checksum.h"
#include "kairos/nameserver/row.h"

using namespace kairos;
using namespace kairos::nameserver;

namespace {

constexpr ContextId context = 7;

/// The first `size` octets, or what there is, leave `text`.
std::string_view take(std::string_view& text, std::size_t size)
{
    const std::string_view taken = text.substr(0, size);
    text.remove_prefix(taken.size());
    return taken;
}

void expect_same_again(const Entry& entry, const ior::NameComponent& component,
                       const Columns<std::string_view>& read)
{
    const Columns<std::string> written = columns_of(context, component, entry);
    KAIROS_CHECK(written.type == read.type && written.target == read.target);
    KAIROS_CHECK(written.reference.empty() == read.reference.empty());
    const auto again = entry_of(context, component.id, component.kind,
                                {.type = written.type,
                                 .target = written.target,
                                 .reference = written.reference,
                                 .checksum = written.checksum});
    KAIROS_CHECK(again && *again == entry);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    constexpr std::size_t head = 5;
    if (size < head) return 0;
    std::string_view rest = as_text(std::as_bytes(std::span(data + head, size - head)));
    const ior::NameComponent component{.id = std::string(take(rest, data[3])),
                                       .kind = std::string(take(rest, data[4]))};
    Columns<std::string_view> columns{.type = static_cast<std::int8_t>(data[1]),
                                      .target = static_cast<std::int8_t>(data[2]),
                                      .reference = rest,
                                      .checksum = 0};
    columns.checksum = checksum_of(context, component.id, component.kind, columns.type,
                                   columns.target, columns.reference);
    const bool is_right = (data[0] & 1) != 0;
    if (!is_right) ++columns.checksum;
    const auto entry = entry_of(context, component.id, component.kind, columns);
    KAIROS_CHECK(is_right || !entry);
    if (entry) expect_same_again(*entry, component, columns);
    return 0;
}
