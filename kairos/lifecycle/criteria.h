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

/// What a list of criteria says. Each may be absent and is then empty.
struct KAIROS_API Wishes {
    CosLifeCycle::Criteria initialization; ///< what the object is made of
    std::string filter;                    ///< an expression over properties of factories
    CosLifeCycle::Criteria location;       ///< "logical location": where it is to be
    std::string preferences;               ///< among factories that would all do
};

/// Throws CosLifeCycle::InvalidCriteria with those that have another name, another type than these,
/// or the name of one before.
[[nodiscard]] KAIROS_API Wishes wishes_in(const CosLifeCycle::Criteria& criteria);

/// The same criteria with this initialization; the values that `criteria` has for it already go
/// before. Throws as wishes_in.
[[nodiscard]] KAIROS_API CosLifeCycle::Criteria
with_initialization(const CosLifeCycle::Criteria& criteria, const CosLifeCycle::Criteria& values);

/// The value of this name, borrowed from the list; or null.
[[nodiscard]] KAIROS_API const CORBA::Any* find(const CosLifeCycle::Criteria& values,
                                                std::string_view name);

/// The same, where it is a string; otherwise `otherwise`.
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
