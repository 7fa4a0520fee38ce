// SPDX-License-Identifier: Apache-2.0
#include "kairos/lifecycle/criteria.h"

#include "kairos/corba/CORBA.h"

namespace kairos::lifecycle {

using CosLifeCycle::Criteria;

namespace {

constexpr const char* initialization_name = "initialization";
constexpr const char* filter_name = "filter";
constexpr const char* location_name = "logical location";
constexpr const char* preferences_name = "preferences";

bool take(const CORBA::Any& value, Criteria& to)
{
    const Criteria* list = nullptr;
    if (!(value >>= list)) return false;
    to = *list;
    return true;
}

bool take(const CORBA::Any& value, std::string& to)
{
    const char* text = nullptr;
    if (!(value >>= text)) return false;
    to = text;
    return true;
}

bool take(const CosLifeCycle::NameValuePair& criterion, Wishes& to)
{
    const std::string_view name = criterion.name.in();
    if (name == initialization_name) return take(criterion.value, to.initialization);
    if (name == filter_name) return take(criterion.value, to.filter);
    if (name == location_name) return take(criterion.value, to.location);
    return name == preferences_name && take(criterion.value, to.preferences);
}

} // namespace

Wishes wishes_in(const Criteria& criteria)
{
    Wishes wishes;
    CosLifeCycle::InvalidCriteria invalid;
    for (const CosLifeCycle::NameValuePair& criterion : criteria) {
        const bool first = &criterion.value == find(criteria, criterion.name.in());
        if (first && take(criterion, wishes)) continue;
        const CORBA::ULong last = invalid.invalid_criteria.length();
        invalid.invalid_criteria.length(last + 1);
        invalid.invalid_criteria[last] = criterion;
    }
    if (invalid.invalid_criteria.length() != 0) throw invalid;
    return wishes;
}

Criteria with_initialization(const Criteria& criteria, const Criteria& values)
{
    Criteria initialization = wishes_in(criteria).initialization;
    for (const CosLifeCycle::NameValuePair& value : values) {
        if (find(initialization, value.name.in()) != nullptr) continue;
        const CORBA::ULong last = initialization.length();
        initialization.length(last + 1);
        initialization[last] = value;
    }
    Criteria result;
    for (const CosLifeCycle::NameValuePair& criterion : criteria) {
        if (std::string_view(criterion.name.in()) == initialization_name) continue;
        const CORBA::ULong last = result.length();
        result.length(last + 1);
        result[last] = criterion;
    }
    add(result, initialization_name, initialization);
    return result;
}

const CORBA::Any* find(const Criteria& values, std::string_view name)
{
    for (const CosLifeCycle::NameValuePair& value : values)
        if (name == value.name.in()) return &value.value;
    return nullptr;
}

std::string text_of(const Criteria& values, std::string_view name, std::string otherwise)
{
    const CORBA::Any* value = find(values, name);
    if (value != nullptr) (void)take(*value, otherwise);
    return otherwise;
}

} // namespace kairos::lifecycle
