// SPDX-License-Identifier: Apache-2.0
#include "kairos/properties/kept_rows.h"

namespace kairos::properties {
namespace {

/// What `read` makes of a row; none where that is malformed.
template <typename Kept, typename Read>
std::optional<Kept> kept_in(std::string_view row, CORBA::ORB_ptr orb, Read read)
{
    try {
        Kept kept;
        corba::RowReader in(row, orb);
        read(in, kept);
        if (in.is_whole()) return kept;
    } catch (const CORBA::SystemException&) { // of a type or value that is none
    }
    return std::nullopt;
}

} // namespace

std::string set_key(std::uint64_t number) { return corba::row_key(set_rows, number); }

std::string property_key(std::uint64_t number, std::string_view name)
{
    return corba::row_key(property_rows, number).append(1, ' ').append(name);
}

std::string row_of(const KeptSet& set, CORBA::ORB_ptr orb)
{
    return corba::RowWriter(orb)
        .put(set.name)
        .put(static_cast<CORBA::Boolean>(set.has_modes))
        .put(set.types)
        .put(set.properties)
        .row();
}

std::string row_of(const Record& record, CORBA::ORB_ptr orb)
{
    return corba::RowWriter(orb)
        .put(static_cast<CORBA::ULong>(record.mode))
        .put(record.value)
        .row();
}

std::optional<KeptSet> kept_set(std::string_view row, CORBA::ORB_ptr orb)
{
    return kept_in<KeptSet>(row, orb, [](corba::RowReader& in, KeptSet& kept) {
        CORBA::Boolean has_modes = false;
        in.get(kept.name).get(has_modes).get(kept.types).get(kept.properties);
        kept.has_modes = has_modes;
    });
}

std::optional<KeptProperty> kept_property(std::string_view row, CORBA::ORB_ptr orb)
{
    auto kept = kept_in<KeptProperty>(row, orb, [](corba::RowReader& in, KeptProperty& read) {
        CORBA::ULong mode = 0;
        in.get(mode).get(read.value);
        if (mode <= CosPropertyService::fixed_readonly)
            read.mode = static_cast<Mode>(mode);
        else
            read.mode = CosPropertyService::undefined;
    });
    if (kept && kept->mode == CosPropertyService::undefined) return std::nullopt;
    return kept;
}

} // namespace kairos::properties
