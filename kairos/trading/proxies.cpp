// SPDX-License-Identifier: Apache-2.0
#include "kairos/trading/proxies.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace kairos::trading {
namespace {

using CosTradingDynamic::DynamicProp;
using Proxy = CosTrading::Proxy;

// --- Recipes -------------------------------------------------------------------------------------

/// Takes a recipe to its pieces, which the three functions are told of; those that return false end
/// it. Returns false for what is no recipe, too.
template <typename Text, typename Primary, typename Value>
bool take_apart(std::string_view recipe, Text text, Primary primary, Value value)
{
    while (!recipe.empty()) {
        const std::size_t plain = std::min(recipe.find('$'), recipe.size());
        if (plain != 0 && !text(recipe.substr(0, plain))) return false;
        recipe.remove_prefix(plain);
        if (recipe.empty()) break;
        if (recipe.size() == 1) return false;
        const char what = recipe[1];
        std::size_t length = 2;
        bool goes_on = false;
        if (what == '*') {
            goes_on = primary();
        } else if (what == '(') {
            const std::size_t end = recipe.find(')');
            if (end == std::string_view::npos) return false;
            length = end + 1;
            goes_on = value(recipe.substr(2, end - 2));
        } else {
            goes_on = text(recipe.substr(1, 1));
        }
        if (!goes_on) return false;
        recipe.remove_prefix(length);
    }
    return true;
}

/// Whether values of the type can stand in a constraint.
bool has_literals(const CORBA::TypeCode& type)
{
    switch (types::resolved(type).kind()) {
    case CORBA::tk_short:
    case CORBA::tk_ushort:
    case CORBA::tk_long:
    case CORBA::tk_ulong:
    case CORBA::tk_longlong:
    case CORBA::tk_ulonglong:
    case CORBA::tk_float:
    case CORBA::tk_double:
    case CORBA::tk_boolean:
    case CORBA::tk_char:
    case CORBA::tk_string:
        return true;
    default:
        return false;
    }
}

std::string quoted(std::string_view text)
{
    std::string literal = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') literal += '\\';
        literal += c;
    }
    return literal + "'";
}

template <typename Number>
std::optional<std::string> number_literal(const CORBA::Any& value)
{
    Number number{};
    if (!(value >>= number)) return std::nullopt;
    if constexpr (std::is_floating_point_v<Number>)
        if (!std::isfinite(number)) return std::nullopt;
    char text[64];
    const auto [end, error] = std::to_chars(std::begin(text), std::end(text), number);
    if (error != std::errc()) return std::nullopt;
    return std::string(text, end);
}

/// A value as constraints write it. What has none has nothing.
std::optional<std::string> literal_of(const CORBA::Any& value)
{
    const CORBA::TypeCode_var type = value.type();
    switch (types::resolved(*type.in()).kind()) {
    case CORBA::tk_short:
        return number_literal<CORBA::Short>(value);
    case CORBA::tk_ushort:
        return number_literal<CORBA::UShort>(value);
    case CORBA::tk_long:
        return number_literal<CORBA::Long>(value);
    case CORBA::tk_ulong:
        return number_literal<CORBA::ULong>(value);
    case CORBA::tk_longlong:
        return number_literal<CORBA::LongLong>(value);
    case CORBA::tk_ulonglong:
        return number_literal<CORBA::ULongLong>(value);
    case CORBA::tk_float:
        return number_literal<CORBA::Float>(value);
    case CORBA::tk_double:
        return number_literal<CORBA::Double>(value);
    case CORBA::tk_boolean: {
        CORBA::Boolean truth = false;
        if (!(value >>= CORBA::Any::to_boolean(truth))) return std::nullopt;
        return truth ? "TRUE" : "FALSE";
    }
    case CORBA::tk_char: {
        CORBA::Char one = 0;
        if (!(value >>= CORBA::Any::to_char(one))) return std::nullopt;
        return quoted({&one, 1});
    }
    case CORBA::tk_string: {
        // What is extracted stays in the copy.
        const CORBA::Any copy(value); // NOLINT(performance-unnecessary-copy-initialization)
        const char* text = nullptr;
        const CORBA::ULong bound = types::resolved(*type.in()).length();
        if (!(copy >>= CORBA::Any::to_string(text, bound))) return std::nullopt;
        return quoted(text);
    }
    default:
        return std::nullopt;
    }
}

[[noreturn]] void raise_too_many_proxies()
{
    throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "the trader has as many proxy offers as it may");
}

void check_recipe(const char* recipe, const Offer& offer, const ServiceLimits& limits)
{
    const auto goes_on = [] { return true; };
    const auto is_good_value = [&](std::string_view name) {
        const Offer::Property* const property = offer.find(name);
        if (property == nullptr) return false;
        // What is extracted stays in the copy.
        const CORBA::Any copy(property->value);
        const DynamicProp* dynamic = nullptr;
        if (property->is_dynamic && (copy >>= dynamic))
            return has_literals(*dynamic->returned_type.in());
        const CORBA::TypeCode_var type = copy.type();
        return has_literals(*type.in());
    };
    if (std::string_view(recipe).size() > limits.constraint_octets_max ||
        !take_apart(
            recipe, [](std::string_view) { return true; }, goes_on, is_good_value))
        throw Proxy::IllegalRecipe(recipe);
}

} // namespace

std::optional<std::string> cooked(std::string_view recipe, std::string_view primary,
                                  const OfferSubject& subject, std::size_t octets_max)
{
    std::string constraint;
    const auto append = [&](std::string_view text) {
        if (text.size() > octets_max - constraint.size()) return false;
        constraint += text;
        return true;
    };
    const auto append_value = [&](std::string_view name) {
        const Offer::Property* const property = subject.offer()->find(name);
        const CORBA::Any* const value = property == nullptr ? nullptr : subject.value(*property);
        const std::optional<std::string> literal =
            value == nullptr ? std::nullopt : literal_of(*value);
        return literal && append(*literal);
    };
    if (!take_apart(
            recipe, append, [&] { return append(primary); }, append_value))
        return std::nullopt;
    return constraint;
}

// --- Proxy offers --------------------------------------------------------------------------------

std::shared_ptr<ProxyOffer> make_proxy(TypePtr type, const Proxy::ProxyInfo& info,
                                       const ServiceLimits& limits,
                                       const std::shared_ptr<corba::Octets>& octets)
{
    if (CORBA::is_nil(info.target.in())) throw CosTrading::InvalidLookupRef(info.target.in());
    auto proxy = std::make_shared<ProxyOffer>();
    proxy->offer =
        make_offer(std::move(type), CORBA::Object::_nil(), info.properties, limits, octets);
    check_recipe(info.recipe.in(), *proxy->offer, limits);
    std::set<std::string_view> names;
    for (CORBA::ULong i = 0; i < info.policies_to_pass_on.length(); ++i)
        if (const char* const name = info.policies_to_pass_on[i].name.in();
            !names.insert(name).second)
            throw CosTrading::DuplicatePolicyName(name);
    CORBA::Any passed;
    passed <<= info.policies_to_pass_on;
    if (encoded_octets(passed) > limits.passed_octets_max / 2)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "a proxy offer's policies are too large");
    CORBA::Any any;
    any <<= info;
    const std::size_t size = encoded_octets(any);
    if (size > limits.offer_octets_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "a proxy offer is too large");
    constexpr std::size_t octets_beside_proxy = 500;
    proxy->charge = std::make_unique<const corba::Charge>(octets, octets_beside_proxy + 2 * size);
    proxy->info = info;
    return proxy;
}

void Proxies::require_room() const
{
    const std::lock_guard lock(mutex_);
    if (proxies_.size() >= limits_.proxies_max) raise_too_many_proxies();
}

std::vector<std::uint64_t> Proxies::numbers_of(std::string_view type) const
{
    std::vector<std::uint64_t> all;
    const std::lock_guard lock(mutex_);
    const auto found = by_type_.find(type);
    if (found == by_type_.end()) return all;
    for (const auto& [number, proxy] : found->second)
        all.push_back(number);
    return all;
}

/// Must hold mutex_.
void Proxies::enter(std::uint64_t number, const std::shared_ptr<ProxyOffer>& proxy)
{
    if (proxies_.size() >= limits_.proxies_max) raise_too_many_proxies();
    proxy->number = number;
    proxies_.insert_or_assign(number, proxy);
    by_type_[proxy->offer->type->name].insert_or_assign(number, proxy);
    last_number_ = std::max(last_number_, number);
}

std::uint64_t Proxies::add(const std::shared_ptr<ProxyOffer>& proxy)
{
    const std::lock_guard lock(mutex_);
    enter(last_number_ + 1, proxy);
    return proxy->number;
}

void Proxies::put(std::uint64_t number, const std::shared_ptr<ProxyOffer>& proxy)
{
    const std::lock_guard lock(mutex_);
    enter(number, proxy);
}

bool Proxies::withdraw(std::uint64_t number)
{
    ProxyPtr gone; // ends without the lock
    const std::lock_guard lock(mutex_);
    const auto found = proxies_.find(number);
    if (found == proxies_.end()) return false;
    gone = std::move(found->second);
    proxies_.erase(found);
    const auto of_type = by_type_.find(gone->offer->type->name);
    of_type->second.erase(number);
    if (of_type->second.empty()) by_type_.erase(of_type);
    return true;
}

void Proxies::withdraw_of(std::string_view type)
{
    decltype(by_type_)::node_type gone; // ends without the lock
    const std::lock_guard lock(mutex_);
    const auto found = by_type_.find(type);
    if (found == by_type_.end()) return;
    for (const auto& [number, proxy] : found->second)
        proxies_.erase(number);
    gone = by_type_.extract(found);
}

ProxyPtr Proxies::find(std::uint64_t number) const
{
    const std::lock_guard lock(mutex_);
    const auto found = proxies_.find(number);
    return found == proxies_.end() ? nullptr : found->second;
}

std::vector<std::uint64_t> Proxies::numbers(std::uint64_t after, std::uint64_t last,
                                            std::size_t count_max) const
{
    std::vector<std::uint64_t> all;
    const std::lock_guard lock(mutex_);
    for (auto each = proxies_.upper_bound(after);
         each != proxies_.end() && each->first <= last && all.size() < count_max; ++each)
        all.push_back(each->first);
    return all;
}

std::uint64_t Proxies::last_number() const
{
    const std::lock_guard lock(mutex_);
    return last_number_;
}

std::vector<ProxyPtr> Proxies::of_type(const ServiceType& type, bool exact) const
{
    std::vector<ProxyPtr> found;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [name, proxies] : by_type_) {
            const ServiceType& own = *proxies.begin()->second->offer->type;
            if (exact ? name != type.name : !own.ancestors.contains(type.name)) continue;
            for (const auto& [number, proxy] : proxies)
                found.push_back(proxy);
        }
    }
    std::ranges::sort(found, {}, [](const ProxyPtr& proxy) { return proxy->number; });
    return found;
}

} // namespace kairos::trading
