// SPDX-License-Identifier: Apache-2.0
//
// The criteria by which objects are created (Life Cycle Service 1.2, 1.4.3), of which the service
// names four. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/lifecycle/CosLifeCycle.h"

#include <string>
#include <string_view>

namespace kairos::lifecycle {

/// What a list of criteria says. A criterion that is not in the list is empty here.
struct KAIROS_API Wishes {
    CosLifeCycle::Criteria initialization; ///< what the object is made of
    std::string filter;                    ///< an expression over properties of factories
    CosLifeCycle::Criteria location;       ///< "logical location": where it is to be
    std::string preferences;               ///< among factories that would all do
};

/// Reads a list of criteria. Throws CosLifeCycle::InvalidCriteria with those whose name or type is
/// not one of Wishes, or whose name another had before them.
[[nodiscard]] KAIROS_API Wishes wishes_in(const CosLifeCycle::Criteria& criteria);

/// `criteria` with `values` in its criterion "initialization", except those of a name that has a
/// value there already. Throws as wishes_in.
[[nodiscard]] KAIROS_API CosLifeCycle::Criteria
with_initialization(const CosLifeCycle::Criteria& criteria, const CosLifeCycle::Criteria& values);

/// The first value of this name, borrowed from the list; null if there is none.
[[nodiscard]] KAIROS_API const CORBA::Any* find(const CosLifeCycle::Criteria& values,
                                                std::string_view name);

/// The first value of this name where it is a string; `otherwise` where it is none or missing.
[[nodiscard]] KAIROS_API std::string text_of(const CosLifeCycle::Criteria& values,
                                             std::string_view name, std::string otherwise = {});

/// Appends a value, of anything that goes into an Any with <<=.
template <typename T>
void add(CosLifeCycle::Criteria& values, const char* name, const T& value)
{
    const CORBA::ULong last = values.length();
    values.length(last + 1);
    values[last].name = name;
    values[last].value <<= value;
}

} // namespace kairos::lifecycle
