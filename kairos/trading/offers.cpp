// SPDX-License-Identifier: Apache-2.0
//
// The Catalog's offers: what makes a good one, and the index that finds those which may fulfil a
// constraint.
#include "kairos/base/assert_held.h"
#include "kairos/cdr/environment.h"
#include "kairos/cdr/writer.h"
#include "kairos/trading/catalog.h"
#include "kairos/trading/kept_rows.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>

namespace kairos::trading {
namespace {

using CosTrading::PropertySeq;
using CosTradingDynamic::DynamicProp;
using Register = CosTrading::Register;

/// What an offer, and each of its properties, has in memory beside what is encoded, about.
constexpr std::size_t octets_beside_offer = 300;
constexpr std::size_t octets_beside_property = 200;

/// Null if the value is not to be asked for.
const DynamicProp* dynamic_in(const CORBA::Any& value)
{
    const DynamicProp* dynamic = nullptr;
    return (value >>= dynamic) ? dynamic : nullptr;
}

/// Throws where the property is not what the type says of it, if it says anything.
void check_value(const ServiceType& type, const char* name, const CORBA::Any& value)
{
    const DynamicProp* const dynamic = dynamic_in(value);
    const auto known = type.properties.find(std::string_view(name));
    const auto mismatch = [&] {
        CosTrading::Property property;
        property.name = name;
        property.value = value;
        return CosTrading::PropertyTypeMismatch(type.name.c_str(), property);
    };
    if (dynamic != nullptr &&
        (CORBA::is_nil(dynamic->eval_if.in()) || CORBA::is_nil(dynamic->returned_type.in())))
        throw mismatch();
    if (known == type.properties.end()) return;
    const ServiceType::Property& defined = known->second;
    if (dynamic != nullptr && defined.is_readonly())
        throw CosTrading::ReadonlyDynamicProperty(type.name.c_str(), name);
    const CORBA::TypeCode_var own = value.type();
    const CORBA::TypeCode_ptr offered = dynamic != nullptr ? dynamic->returned_type.in() : own.in();
    if (!offered->equivalent(defined.type.in())) throw mismatch();
}

using ByName = std::map<std::string_view, const CORBA::Any*>;

std::shared_ptr<Offer> build(TypePtr type, CORBA::Object_ptr reference, const ByName& properties,
                             const ServiceLimits& limits,
                             const std::shared_ptr<corba::Octets>& octets)
{
    for (const auto& [name, defined] : type->properties)
        if (defined.is_mandatory() && !properties.contains(name))
            throw CosTrading::MissingMandatoryProperty(type->name.c_str(), name.c_str());
    auto offer = std::make_shared<Offer>();
    offer->type = std::move(type);
    offer->reference = CORBA::Object::_duplicate(reference);
    // A reference may be as large as any property.
    CORBA::Any object;
    object <<= reference;
    std::size_t size = encoded_octets(object);
    for (const auto& [name, value] : properties) {
        size += name.size() + encoded_octets(*value);
        offer->properties.push_back({.name = std::string(name),
                                     .value = *value,
                                     .is_dynamic = dynamic_in(*value) != nullptr});
    }
    if (size > limits.offer_octets_max || properties.size() > 2 * limits.type_properties_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "an offer is too large");
    offer->charge = std::make_unique<const corba::Charge>(
        octets, octets_beside_offer + 2 * size + octets_beside_property * properties.size());
    return offer;
}

/// What an Any that an index knows is ordered by.
struct Key {
    std::optional<double> number;
    std::optional<std::size_t> text; // its hash
};

template <typename T>
std::optional<double> number_in(const CORBA::Any& value)
{
    T number{};
    if (!(value >>= number)) return std::nullopt;
    return static_cast<double>(number);
}

Key key_of(const CORBA::Any& value)
{
    const CORBA::TypeCode_var type = value.type();
    switch (types::resolved(*type.in()).kind()) {
    case CORBA::tk_short:
        return {.number = number_in<CORBA::Short>(value), .text = {}};
    case CORBA::tk_ushort:
        return {.number = number_in<CORBA::UShort>(value), .text = {}};
    case CORBA::tk_long:
        return {.number = number_in<CORBA::Long>(value), .text = {}};
    case CORBA::tk_ulong:
        return {.number = number_in<CORBA::ULong>(value), .text = {}};
    case CORBA::tk_longlong:
        return {.number = number_in<CORBA::LongLong>(value), .text = {}};
    case CORBA::tk_ulonglong:
        return {.number = number_in<CORBA::ULongLong>(value), .text = {}};
    case CORBA::tk_float:
        return {.number = number_in<CORBA::Float>(value), .text = {}};
    case CORBA::tk_double:
        return {.number = number_in<CORBA::Double>(value), .text = {}};
    case CORBA::tk_boolean: {
        CORBA::Boolean truth = false;
        if (!(value >>= CORBA::Any::to_boolean(truth))) return {};
        return {.number = truth ? 1 : 0, .text = {}};
    }
    case CORBA::tk_string: {
        // What is extracted stays in the copy.
        const CORBA::Any copy(value); // NOLINT(performance-unnecessary-copy-initialization)
        const char* text = nullptr;
        if (!(copy >>= text)) return {};
        return {.number = {}, .text = std::hash<std::string_view>()(text)};
    }
    default:
        return {};
    }
}

[[noreturn]] void raise_too_many_offers()
{
    throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "the trader has as many offers as it may");
}

/// A NaN has no place among numbers.
bool is_ordered(const Key& key) noexcept { return key.number && *key.number == *key.number; }

} // namespace

std::size_t encoded_octets(const CORBA::Any& value)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Environment environment;
    out.set_environment(&environment);
    mapping::encode(out, value);
    return out.size();
}

const Offer::Property* Offer::find(std::string_view name) const noexcept
{
    const auto found = std::ranges::lower_bound(
        properties, name, {}, [](const Property& each) { return std::string_view(each.name); });
    return found != properties.end() && found->name == name ? &*found : nullptr;
}

std::shared_ptr<Offer> make_offer(TypePtr type, CORBA::Object_ptr reference,
                                  const PropertySeq& properties, const ServiceLimits& limits,
                                  const std::shared_ptr<corba::Octets>& octets)
{
    ByName by_name;
    for (CORBA::ULong i = 0; i < properties.length(); ++i) {
        const char* const name = properties[i].name.in();
        check_property_name(name, limits);
        if (!by_name.emplace(name, &properties[i].value).second)
            throw CosTrading::DuplicatePropertyName(name);
        check_value(*type, name, properties[i].value);
    }
    return build(std::move(type), reference, by_name, limits, octets);
}

std::shared_ptr<Offer> modified(const Offer& offer, const CosTrading::PropertyNameSeq& removed,
                                const PropertySeq& changed, const ServiceLimits& limits,
                                const std::shared_ptr<corba::Octets>& octets)
{
    const ServiceType& type = *offer.type;
    ByName by_name;
    for (const Offer::Property& property : offer.properties)
        by_name.emplace(property.name, &property.value);
    std::set<std::string_view> seen;
    const auto definition = [&](const char* name) -> const ServiceType::Property* {
        check_property_name(name, limits);
        if (!seen.insert(name).second) throw CosTrading::DuplicatePropertyName(name);
        const auto known = type.properties.find(std::string_view(name));
        return known == type.properties.end() ? nullptr : &known->second;
    };
    for (CORBA::ULong i = 0; i < removed.length(); ++i) {
        const char* const name = removed[i];
        const auto* const defined = definition(name);
        if (!by_name.contains(name)) throw Register::UnknownPropertyName(name);
        if (defined != nullptr && defined->is_mandatory())
            throw Register::MandatoryProperty(type.name.c_str(), name);
        if (defined != nullptr && defined->is_readonly())
            throw Register::ReadonlyProperty(type.name.c_str(), name);
        by_name.erase(name);
    }
    for (CORBA::ULong i = 0; i < changed.length(); ++i) {
        const char* const name = changed[i].name.in();
        const auto* const defined = definition(name);
        if (defined != nullptr && defined->is_readonly() && by_name.contains(name))
            throw Register::ReadonlyProperty(type.name.c_str(), name);
        check_value(type, name, changed[i].value);
        by_name[name] = &changed[i].value;
    }
    return build(offer.type, offer.reference.in(), by_name, limits, octets);
}

// --- The index -----------------------------------------------------------------------------------

void PropertyIndex::add(const Offer& offer, const Offer::Property& property)
{
    const Key key = key_of(property.value);
    if (is_ordered(key))
        numbers_.emplace(*key.number, &offer);
    else if (key.text)
        texts_.emplace(*key.text, &offer);
    else
        others_.insert(&offer);
}

void PropertyIndex::remove(const Offer& offer, const Offer::Property& property)
{
    const Key key = key_of(property.value);
    if (is_ordered(key))
        numbers_.erase({*key.number, &offer});
    else if (key.text)
        texts_.erase({*key.text, &offer});
    else
        others_.erase(&offer);
}

bool PropertyIndex::find(const constraints::Condition& condition, Range& range) const
{
    using constraints::Relation;
    range.others = &others_;
    if (!condition.number) {
        if (condition.relation != Relation::equal) return false;
        const std::size_t hash = std::hash<std::string_view>()(condition.text);
        range.is_text = true;
        range.text = texts_.lower_bound(hash);
        range.text_end = texts_.upper_bound(hash);
        return true;
    }
    // The bounds are within: what is next to them may be equal to them as a double.
    const double number = *condition.number;
    if (number != number) return false;
    const Relation relation = condition.relation;
    const bool is_below = relation == Relation::less || relation == Relation::less_equal;
    const bool is_above = relation == Relation::greater || relation == Relation::greater_equal;
    range.number = is_below ? numbers_.begin() : numbers_.lower_bound(number);
    range.number_end = is_above ? numbers_.end() : numbers_.upper_bound(number);
    return true;
}

/// Adds what the type defines of the offer to the indexes, or takes it out.
void Catalog::index(Shelf& shelf, const Offer& offer, bool adds)
{
    for (const Offer::Property& property : offer.properties) {
        if (!offer.type->properties.contains(property.name)) continue;
        PropertyIndex& index = shelf.indexes[property.name];
        if (adds)
            index.add(offer, property);
        else
            index.remove(offer, property);
    }
}

namespace {

/// How many conditions an index is asked for at most: one constraint may have thousands, all of
/// which would be walked along while everybody waits.
constexpr std::size_t needs_max = 8;

/// Of each name and relation one, and not too many.
std::vector<constraints::Condition> few_of(std::span<const constraints::Condition> needs)
{
    std::vector<constraints::Condition> few;
    for (const constraints::Condition& need : needs) {
        if (few.size() == needs_max) break;
        const auto is_alike = [&](const constraints::Condition& other) {
            return other.name == need.name && other.relation == need.relation;
        };
        if (std::ranges::none_of(few, is_alike)) few.push_back(need);
    }
    return few;
}

/// Returns the place of the range that has the fewest offers, its others included; none if each
/// has more than `count_max`. All go on together, so it takes as many steps as the shortest has.
std::optional<std::size_t> shortest(std::vector<PropertyIndex::Range> walks, std::size_t count_max)
{
    std::size_t count = count_max;
    for (const PropertyIndex::Range& walk : walks)
        count = std::min(count, walk.others->size());
    for (; count <= count_max; ++count)
        for (std::size_t i = 0; i < walks.size(); ++i) {
            if (walks[i].others->size() > count) continue; // its others alone are more
            if (walks[i].at_end()) return i;
            (void)walks[i].next();
        }
    return std::nullopt;
}

} // namespace

/// Appends offers that may fulfil all conditions: those of the condition that fewest may fulfil.
void Catalog::collect(const Shelf& shelf, std::span<const constraints::Condition> needs,
                      std::size_t count_max, std::vector<OfferPtr>& found)
{
    std::vector<PropertyIndex::Range> ranges;
    for (const constraints::Condition& need : needs) {
        if (shelf.offers.empty()) return;
        if (!shelf.offers.begin()->second->type->properties.contains(need.name)) continue;
        const auto index = shelf.indexes.find(need.name);
        if (index == shelf.indexes.end()) return; // nobody has this property
        PropertyIndex::Range range;
        if (index->second.find(need, range)) ranges.push_back(range);
    }
    std::size_t left = count_max;
    if (ranges.empty()) {
        for (auto each = shelf.offers.begin(); each != shelf.offers.end() && left != 0; ++each) {
            found.push_back(each->second);
            --left;
        }
        return;
    }
    // Where each has more than are wanted, any will do.
    PropertyIndex::Range& range = ranges[shortest(ranges, count_max).value_or(0)];
    for (; !range.at_end() && left != 0; --left)
        found.push_back(range.next()->shared_from_this());
    for (auto other = range.others->begin(); other != range.others->end() && left != 0; ++other) {
        found.push_back((*other)->shared_from_this());
        --left;
    }
}

std::vector<OfferPtr> Catalog::candidates(const ServiceType& type, bool exact,
                                          std::span<const constraints::Condition> needs,
                                          std::size_t count_max, bool& was_cut) const
{
    const std::vector<constraints::Condition> few = few_of(needs);
    std::vector<OfferPtr> found;
    {
        const std::lock_guard lock(mutex_);
        const auto known = entries_.find(type.name);
        if (known == entries_.end()) return found;
        if (exact)
            collect(known->second.shelf, few, count_max + 1, found);
        else
            for (const std::string& below : known->second.descendants)
                collect(entries_.find(below)->second.shelf, few, count_max + 1, found);
    }
    std::ranges::sort(found, {}, [](const OfferPtr& offer) { return offer->number; });
    was_cut = found.size() > count_max;
    if (was_cut) found.resize(count_max);
    return found;
}

// --- Changes -------------------------------------------------------------------------------------

void Catalog::keep(Journal& journal, CORBA::ORB_ptr orb)
{
    journal_ = &journal;
    orb_ = CORBA::ORB::_duplicate(orb);
}

void Catalog::change(const std::uint64_t& last,
                     const std::function<bool(std::uint64_t number, JournalChange* rows)>& decide,
                     const std::function<void()>& apply)
{
    if (journal_ == nullptr) {
        const std::lock_guard lock(mutex_);
        if (decide(last + 1, nullptr)) apply();
        return;
    }
    // Between the two nobody else changes anything: others have no turn.
    corba::raise_unless_done(journal_->write(
        [&](JournalChange& rows) {
            const std::lock_guard lock(mutex_);
            return decide(rows.number(), &rows);
        },
        [&] {
            const std::lock_guard lock(mutex_);
            apply();
        }));
}

/// Before the lock is taken: what it costs is the client's alone.
std::string Catalog::row_if_kept(const Offer& offer) const
{
    return journal_ == nullptr ? std::string() : row_of(offer, orb_.in());
}

std::uint64_t Catalog::add(const std::shared_ptr<Offer>& offer)
{
    const std::string row = row_if_kept(*offer);
    std::uint64_t number = 0;
    const auto decide = [&](std::uint64_t next, JournalChange* rows) {
        const auto known = entries_.find(offer->type->name);
        if (known == entries_.end() || known->second.type != offer->type)
            throw CosTrading::UnknownServiceType(offer->type->name.c_str());
        if (offers_.size() >= limits_.offers_max) raise_too_many_offers();
        number = next;
        if (rows != nullptr) rows->put(offer_key(number), row);
        return true;
    };
    change(last_number_, decide, [&] { enter(offer, number); });
    return number;
}

/// Must hold the mutex.
void Catalog::enter(const std::shared_ptr<Offer>& offer, std::uint64_t number)
{
    assert_held(mutex_);
    offer->number = number;
    last_number_ = std::max(last_number_, number);
    Shelf& shelf = entries_.find(offer->type->name)->second.shelf;
    shelf.offers[number] = offer;
    offers_[number] = offer;
    index(shelf, *offer, true);
}

bool Catalog::restore_offer(std::uint64_t number, std::uint64_t type, CORBA::Object_ptr reference,
                            const CosTrading::PropertySeq& properties)
{
    TypePtr of;
    {
        const std::lock_guard lock(mutex_);
        const auto name = names_.find(type);
        if (name != names_.end()) of = entries_.find(name->second)->second.type;
    }
    if (of == nullptr || number == 0 || CORBA::is_nil(reference)) return false;
    std::shared_ptr<Offer> offer;
    try {
        offer = make_offer(of, reference, properties, limits_, octets_);
    } catch (const CORBA::UserException&) {
        return false; // the type does not allow it
    }
    OfferPtr before; // ends without the lock
    const std::lock_guard lock(mutex_);
    if (const auto known = offers_.find(number); known != offers_.end()) {
        before = known->second;
        take_out(known);
    }
    if (offers_.size() >= limits_.offers_max) raise_too_many_offers();
    enter(offer, number);
    return true;
}

void Catalog::forget_offer(std::uint64_t number)
{
    OfferPtr gone; // ends without the lock
    const std::lock_guard lock(mutex_);
    const auto found = offers_.find(number);
    if (found == offers_.end()) return;
    gone = found->second;
    take_out(found);
}

std::vector<std::uint64_t> Catalog::all_numbers() const
{
    const std::lock_guard lock(mutex_);
    std::vector<std::uint64_t> all;
    all.reserve(offers_.size());
    for (const auto& [number, offer] : offers_)
        all.push_back(number);
    return all;
}

OfferPtr Catalog::find(std::uint64_t number) const
{
    const std::lock_guard lock(mutex_);
    const auto found = offers_.find(number);
    return found == offers_.end() ? nullptr : found->second;
}

bool Catalog::replace(const OfferPtr& offer, const std::shared_ptr<Offer>& by)
{
    const std::string row = row_if_kept(*by);
    bool is_there = false;
    const auto decide = [&](std::uint64_t, JournalChange* rows) {
        const auto found = offers_.find(offer->number);
        is_there = found != offers_.end() && found->second == offer;
        if (is_there && rows != nullptr) rows->put(offer_key(offer->number), row);
        return is_there;
    };
    change(last_number_, decide, [&] {
        index(entries_.find(offer->type->name)->second.shelf, *offer, false);
        enter(by, offer->number);
    });
    return is_there;
}

/// Must hold the mutex; the caller has another count of the offer.
void Catalog::take_out(std::map<std::uint64_t, OfferPtr>::iterator place)
{
    const Offer& offer = *place->second;
    Shelf& shelf = entries_.find(offer.type->name)->second.shelf;
    index(shelf, offer, false);
    shelf.offers.erase(offer.number);
    offers_.erase(place);
}

bool Catalog::withdraw(std::uint64_t number)
{
    OfferPtr offer; // ends without the lock
    const auto decide = [&](std::uint64_t, JournalChange* rows) {
        const auto found = offers_.find(number);
        if (found == offers_.end()) return false;
        offer = found->second;
        if (rows != nullptr) rows->erase(offer_key(number));
        return true;
    };
    change(last_number_, decide, [&] { take_out(offers_.find(number)); });
    return offer != nullptr;
}

std::size_t Catalog::withdraw(std::span<const OfferPtr> offers)
{
    std::vector<std::uint64_t> gone;
    const auto decide = [&](std::uint64_t, JournalChange* rows) {
        for (const OfferPtr& offer : offers) {
            const auto found = offers_.find(offer->number);
            if (found == offers_.end() || found->second != offer) continue;
            gone.push_back(offer->number);
            if (rows != nullptr) rows->erase(offer_key(offer->number));
        }
        return !gone.empty();
    };
    change(last_number_, decide, [&] {
        for (const std::uint64_t number : gone)
            take_out(offers_.find(number));
    });
    return gone.size();
}

std::vector<std::uint64_t> Catalog::numbers(std::uint64_t after, std::uint64_t last,
                                            std::size_t count_max) const
{
    std::vector<std::uint64_t> all;
    const std::lock_guard lock(mutex_);
    for (auto each = offers_.upper_bound(after);
         each != offers_.end() && each->first <= last && all.size() < count_max; ++each)
        all.push_back(each->first);
    return all;
}

std::uint64_t Catalog::last_number() const
{
    const std::lock_guard lock(mutex_);
    return last_number_;
}

} // namespace kairos::trading
