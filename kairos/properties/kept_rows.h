// SPDX-License-Identifier: Apache-2.0
//
// Sets and properties as rows of a journal: what a row says comes from a disk or a database, and is
// not believed. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/corba/kept_rows.h"
#include "kairos/properties/property_set.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kairos::properties {

// How keys begin: a set is in front of what it has.
inline constexpr const char* set_rows = "1 set ";
inline constexpr const char* property_rows = "2 property ";

/// What is kept of a set beside its properties.
struct KeptSet {
    std::string name; ///< empty: it has none
    bool has_modes = false;
    CosPropertyService::PropertyTypes types{}; ///< what Rules are made of
    CosPropertyService::PropertyDefs properties{};
};
struct KeptProperty {
    CORBA::Any value;
    Mode mode = CosPropertyService::normal;
};

[[nodiscard]] std::string set_key(std::uint64_t number);
[[nodiscard]] std::string property_key(std::uint64_t number, std::string_view name);

// `orb` is what references and valuetypes belong to; without one there are none.
[[nodiscard]] std::string row_of(const KeptSet& set, CORBA::ORB_ptr orb);
[[nodiscard]] std::string row_of(const Record& record, CORBA::ORB_ptr orb);
/// None for a row that nobody wrote like this.
[[nodiscard]] std::optional<KeptSet> kept_set(std::string_view row, CORBA::ORB_ptr orb);
[[nodiscard]] std::optional<KeptProperty> kept_property(std::string_view row, CORBA::ORB_ptr orb);

} // namespace kairos::properties
