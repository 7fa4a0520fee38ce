// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/event_types.h"

#include "kairos/corba/CORBA.h"
#include "kairos/notification/notification.h"

#include <algorithm>

namespace kairos::notification {

TypePattern pattern_of(const CosNotification::EventType& type)
{
    const std::string_view domain = type.domain_name.in();
    const std::string_view name = type.type_name.in();
    TypePattern pattern(domain, name);
    if (domain.empty() || domain == "%ALL") pattern.first = "*";
    if (name.empty() || name == "%ALL") pattern.second = "*";
    return pattern;
}

/// Whatever a star has taken, the last one can take more: so only that is tried again.
bool matches(std::string_view pattern, std::string_view name, std::size_t& steps) noexcept
{
    std::size_t at = 0;
    std::size_t behind_star = std::string_view::npos;
    std::size_t begin = 0; // of the name, that this star has not taken
    for (std::size_t i = 0; i < name.size();) {
        if (steps == 0) return false;
        --steps;
        if (at < pattern.size() && pattern[at] == '*') {
            behind_star = ++at;
            begin = i;
            if (at == pattern.size()) return true;
        } else if (at < pattern.size() && pattern[at] == name[i]) {
            ++at;
            ++i;
        } else if (behind_star != std::string_view::npos) {
            at = behind_star;
            i = ++begin;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

EventTypes::EventTypes(const CosNotification::EventTypeSeq& types)
{
    if (types.length() != 0) change(types, {});
}

void EventTypes::change(const CosNotification::EventTypeSeq& added,
                        const CosNotification::EventTypeSeq& removed)
{
    const TypePattern everything("*", "*");
    std::set<TypePattern> changed(patterns_.begin(), patterns_.end());
    const bool only_removes = !has_spoken_ && added.length() == 0;
    if (only_removes) changed.insert(everything);
    for (CORBA::ULong i = 0; i < added.length(); ++i)
        changed.insert(pattern_of(added[i]));
    for (CORBA::ULong i = 0; i < removed.length(); ++i)
        changed.erase(pattern_of(removed[i]));
    const bool all = changed.contains(everything);
    if (only_removes && all) return; // nothing of that was there
    std::vector<TypePattern> patterns(changed.begin(), changed.end());
    std::vector<std::size_t> wild;
    for (std::size_t i = 0; i < patterns.size(); ++i)
        if (patterns[i].first.find('*') != std::string::npos ||
            patterns[i].second.find('*') != std::string::npos)
            wild.push_back(i);
    patterns_ = std::move(patterns);
    wild_ = std::move(wild);
    all_ = all;
    has_spoken_ = true;
}

bool EventTypes::contain(std::string_view domain, std::string_view type) const noexcept
{
    if (are_all()) return true;
    const auto is_before = [](const TypePattern& one,
                              const std::pair<std::string_view, std::string_view>& name) {
        return std::pair<std::string_view, std::string_view>(one) < name;
    };
    const auto found =
        std::lower_bound(patterns_.begin(), patterns_.end(), std::pair(domain, type), is_before);
    if (found != patterns_.end() && found->first == domain && found->second == type) return true;
    std::size_t steps = type_steps_max;
    return std::ranges::any_of(wild_, [&](std::size_t at) {
        const auto& [domains, types] = patterns_[at];
        return matches(types, type, steps) && matches(domains, domain, steps);
    });
}

void require_types(const CosNotification::EventTypeSeq& types, std::size_t count_max)
{
    bool fits = types.length() <= count_max;
    for (CORBA::ULong i = 0; fits && i < types.length(); ++i)
        fits = std::string_view(types[i].domain_name.in()).size() <= type_name_max &&
               std::string_view(types[i].type_name.in()).size() <= type_name_max;
    if (!fits)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "too many event types, or too long names");
}

} // namespace kairos::notification
