// SPDX-License-Identifier: Apache-2.0
//
// What a database gives for rows of a trader: rows behind their sizes, each of two octets, and the
// kind in front of these. They become types and offers of a small catalog, which answers whatever
// they say; what is accepted of them is the same when it is written again.
#include "kairos/base/bytes.h"
#include "kairos/base/check.h"
#include "kairos/trading/kept_rows.h"
#include "kairos/trading/trader_state.h"

using namespace kairos;
using namespace kairos::trading;

namespace {

constexpr ServiceLimits few{.types_max = 50, .offers_max = 50};

/// That references in rows belong to; it calls nobody.
CORBA::ORB_ptr fuzzed_orb()
{
    static int argc = 0;
    static const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr);
    return orb.in();
}

std::string_view take(std::string_view& text, std::size_t size)
{
    const std::string_view taken = text.substr(0, size);
    text.remove_prefix(taken.size());
    return taken;
}

std::size_t octet_of(std::string_view text) { return static_cast<unsigned char>(text.front()); }

void try_attributes(std::string_view row)
{
    const auto attributes = kept_attributes(row);
    if (!attributes) return;
    const std::string written = row_of(*attributes);
    const auto again = kept_attributes(written);
    KAIROS_CHECK(again && row_of(*again) == written);
}

void try_type(Catalog& catalog, std::uint64_t incarnation, std::string_view row)
{
    const auto kept = kept_type(row, fuzzed_orb());
    if (!kept || !catalog.restore_type(incarnation, kept->name.c_str(), kept->type)) return;
    const TypePtr type = catalog.type(kept->name.c_str());
    const auto again = kept_type(row_of(*type, kept->type.masked, fuzzed_orb()), fuzzed_orb());
    KAIROS_CHECK(again && again->name == kept->name);
    (void)catalog.describe(kept->name.c_str(), true);
}

void try_proxy(const Catalog& catalog, std::string_view row)
{
    const auto kept = kept_proxy(row, fuzzed_orb());
    if (!kept) return;
    try {
        const auto proxy = make_proxy(catalog.type(kept->type.in()), *kept, few,
                                      std::make_shared<corba::Octets>(few.octets_of_all_max));
        KAIROS_CHECK(kept_proxy(row_of(proxy->info, fuzzed_orb()), fuzzed_orb()));
    } catch (const CORBA::UserException&) { // the type is not there, or does not allow it
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string_view left = as_text(std::as_bytes(std::span(data, size)));
    Catalog catalog(few, std::make_shared<corba::Octets>(few.octets_of_all_max));
    std::uint64_t number = 0;
    while (left.size() >= 3) {
        const std::size_t kind = octet_of(take(left, 1));
        const std::size_t high = octet_of(take(left, 1));
        const std::string_view row = take(left, high << 8 | octet_of(take(left, 1)));
        ++number;
        try {
            if (kind == 1) try_attributes(row);
            if (kind == 2) try_type(catalog, number, row);
            if (kind == 3) {
                const auto kept = kept_offer(row, fuzzed_orb());
                if (!kept || !catalog.restore_offer(number, kept->type, kept->reference.in(),
                                                    kept->properties))
                    continue;
                const std::string written = row_of(*catalog.find(number), fuzzed_orb());
                const auto again = kept_offer(written, fuzzed_orb());
                KAIROS_CHECK(again && again->type == kept->type);
            }
            if (kind == 4) catalog.forget_type(row.size());
            if (kind == 5)
                if (const auto link = kept_link(row, fuzzed_orb()))
                    KAIROS_CHECK(kept_link(row_of(*link, fuzzed_orb()), fuzzed_orb()));
            if (kind == 6) try_proxy(catalog, row);
        } catch (const CORBA::SystemException&) { // there are as many as may be
        }
    }
    for (const std::uint64_t incarnation : catalog.all_incarnations())
        catalog.forget_type(incarnation);
    KAIROS_CHECK(catalog.all_incarnations().empty() && catalog.types_since(0).empty());
    return 0;
}
