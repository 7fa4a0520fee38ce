// SPDX-License-Identifier: Apache-2.0
#include "kairos/trading/links.h"

#include "kairos/trading/catalog.h"

#include <algorithm>
#include <random>

namespace kairos::trading {
namespace {

using CosTrading::FollowOption;
using Link = CosTrading::Link;

} // namespace

Following following(const LinkInfo& link, std::optional<FollowOption> asked,
                    FollowOption def_follow_policy, FollowOption max_follow_policy) noexcept
{
    const FollowOption most = std::min(max_follow_policy, link.limiting_follow_rule);
    return {.when = std::min(most, asked.value_or(def_follow_policy)),
            .passed_on = std::min(most, asked.value_or(link.def_pass_on_follow_rule))};
}

bool is_link_name(std::string_view name, const ServiceLimits& limits) noexcept
{
    return !name.empty() && name.size() <= limits.name_octets_max &&
           std::ranges::all_of(name, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '.' || c == ':' || c == '-';
           });
}

// --- Links ---------------------------------------------------------------------------------------

void Links::check_name(const char* name) const
{
    if (!is_link_name(name, limits_)) throw Link::IllegalLinkName(name);
}

std::shared_ptr<const corba::Charge> Links::charge_of(const LinkInfo& info) const
{
    constexpr std::size_t octets_beside_link = 500;
    CORBA::Any any;
    any <<= info;
    const std::size_t size = encoded_octets(any);
    if (size > limits_.offer_octets_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "a link's references are too large");
    return std::make_shared<const corba::Charge>(octets_, octets_beside_link + 2 * size);
}

/// Must hold mutex_.
void Links::enter(const std::string& name, Entry entry)
{
    if (!entries_.contains(name) && entries_.size() >= limits_.links_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "the trader has as many links as it may");
    entries_.insert_or_assign(name, std::move(entry));
}

void Links::add(const char* name, const LinkInfo& info)
{
    Entry entry{.info = info, .charge = charge_of(info)};
    const std::lock_guard lock(mutex_);
    if (entries_.contains(std::string_view(name))) throw Link::DuplicateLinkName(name);
    enter(name, std::move(entry));
}

void Links::put(const std::string& name, const LinkInfo& info) { put(name, info, charge_of(info)); }

void Links::put(const std::string& name, const LinkInfo& info,
                std::shared_ptr<const corba::Charge> charge)
{
    Entry entry{.info = info, .charge = std::move(charge)};
    const std::lock_guard lock(mutex_);
    enter(name, std::move(entry));
}

void Links::modify(const char* name, FollowOption def_pass_on, FollowOption limiting)
{
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(std::string_view(name));
    if (found == entries_.end()) throw Link::UnknownLinkName(name);
    found->second.info.def_pass_on_follow_rule = def_pass_on;
    found->second.info.limiting_follow_rule = limiting;
}

void Links::remove(const char* name)
{
    decltype(entries_)::node_type gone; // ends without the lock
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(std::string_view(name));
    if (found == entries_.end()) throw Link::UnknownLinkName(name);
    gone = entries_.extract(found);
}

std::optional<LinkInfo> Links::find(std::string_view name) const
{
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end()) return std::nullopt;
    return found->second.info;
}

std::vector<std::string> Links::names() const
{
    std::vector<std::string> all;
    const std::lock_guard lock(mutex_);
    all.reserve(entries_.size());
    for (const auto& [name, entry] : entries_)
        all.push_back(name);
    return all;
}

std::vector<Links::Known> Links::all() const
{
    std::vector<Known> known;
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    for (const bool silent : {false, true})
        for (const auto& [name, entry] : entries_)
            if (entry.is_silent == silent)
                known.push_back(
                    {name, entry.info, silent && now < entry.silent_since + limits_.rest_time});
    return known;
}

void Links::note_register(std::string_view name, CosTrading::Register_ptr target_register)
{
    std::optional<LinkInfo> info = find(name);
    if (!info) return;
    info->target_reg = CosTrading::Register::_duplicate(target_register);
    try {
        Entry changed{.info = *info, .charge = charge_of(*info)}; // what was there ends with this
        const std::lock_guard lock(mutex_);
        const auto found = entries_.find(name);
        if (found == entries_.end()) return;
        std::swap(found->second.info.target_reg, changed.info.target_reg);
        std::swap(found->second.charge, changed.charge);
    } catch (const CORBA::SystemException&) {
        // It is too large to be kept: it is asked for again.
    }
}

bool Links::note_answer(std::string_view name, bool answers)
{
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end()) return false;
    if (!answers) found->second.silent_since = std::chrono::steady_clock::now();
    if (found->second.is_silent == !answers) return false;
    found->second.is_silent = !answers;
    return true;
}

// --- Request ids ---------------------------------------------------------------------------------

bool RequestIds::note(const std::string& id, Clock::time_point now)
{
    const std::lock_guard lock(mutex_);
    while (!by_age_.empty() && (by_age_.size() >= limits_.request_ids_max ||
                                now - by_age_.front()->second > limits_.request_id_time)) {
        seen_.erase(by_age_.front());
        by_age_.pop_front();
    }
    const auto [place, is_new] = seen_.emplace(id, now);
    if (is_new) by_age_.push_back(place);
    return is_new;
}

std::string RequestIds::make(std::string_view stem)
{
    // Who could foretell an id could have others think that they have seen it.
    std::random_device random;
    std::string id(stem);
    for (int i = 0; i < 4; ++i) {
        std::uint32_t bits = random();
        for (int digit = 0; digit < 8; ++digit, bits >>= 4)
            id += "0123456789abcdef"[bits & 15];
    }
    (void)note(id);
    return id;
}

} // namespace kairos::trading
