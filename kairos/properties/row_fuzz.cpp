// SPDX-License-Identifier: Apache-2.0
//
// What a database gives for rows of sets and properties. The input: which of the two, then the row.
// What is accepted says the same when it is written again, and becomes a set that answers.
#include "kairos/base/bytes.h"
#include "kairos/base/check.h"
#include "kairos/properties/kept_rows.h"

using namespace kairos;
using namespace kairos::properties;

namespace {

constexpr ServiceLimits fuzzed_limits{};

std::shared_ptr<corba::Octets> fuzzed_octets()
{
    return std::make_shared<corba::Octets>(fuzzed_limits.octets_of_all_max);
}

void try_set(std::string_view row)
{
    const auto set = kept_set(row, nullptr);
    if (!set) return;
    const std::string written = row_of(*set, nullptr);
    const auto again = kept_set(written, nullptr);
    KAIROS_CHECK(again && again->name == set->name && again->has_modes == set->has_modes);
    KAIROS_CHECK(row_of(*again, nullptr) == written);
    try {
        PropertySet made(fuzzed_limits, fuzzed_octets(),
                         Rules(set->types, set->properties, fuzzed_limits, fuzzed_octets()));
        CORBA::Any value;
        value <<= CORBA::Long(1);
        (void)made.define("a", value, std::nullopt);
    } catch (const CORBA::Exception&) { // of rules that contradict themselves
    }
}

void try_property(std::string_view row)
{
    const auto property = kept_property(row, nullptr);
    if (!property) return;
    PropertySet set(fuzzed_limits, fuzzed_octets());
    KAIROS_CHECK(set.restore("a", property->value, property->mode));
    Failure failure;
    const RecordPtr record = set.find("a", failure);
    KAIROS_CHECK(record != nullptr && record->mode == property->mode);
    const std::string written = row_of(*record, nullptr);
    const auto again = kept_property(written, nullptr);
    KAIROS_CHECK(again && again->mode == property->mode);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const std::string_view row = as_text(std::as_bytes(std::span(data + 1, size - 1)));
    if ((data[0] & 1) != 0)
        try_set(row);
    else
        try_property(row);
    return 0;
}
