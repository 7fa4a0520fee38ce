// SPDX-License-Identifier: Apache-2.0
//
// The Catalog's types (Trading Object Service 1.0, 2.5): names, inheritance, and how a type may
// define again what it inherits.
#include "kairos/base/assert_held.h"
#include "kairos/trading/catalog.h"
#include "kairos/trading/kept_rows.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace kairos::trading {
namespace {

using PropStruct = Repository::PropStruct;

bool is_letter(char c) noexcept { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

bool is_in_word(char c) noexcept
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

Repository::IncarnationNumber to_idl(std::uint64_t number)
{
    Repository::IncarnationNumber made;
    made.high = static_cast<CORBA::ULong>(number >> 32);
    made.low = static_cast<CORBA::ULong>(number);
    return made;
}

[[noreturn]] void raise_limit(const char* what)
{
    throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, what);
}

/// What a type has in memory beside what is encoded, about: each of its properties, and each type
/// above it, which knows it, too.
std::size_t octets_beside(const ServiceType& type)
{
    constexpr std::size_t of_property = 200;
    constexpr std::size_t of_ancestor = 200;
    std::size_t octets = of_property * type.properties.size();
    for (const std::string& ancestor : type.ancestors)
        octets += of_ancestor + ancestor.size() + type.name.size();
    return octets;
}

/// What a type has so far, and who has said so.
class Definitions {
  public:
    explicit Definitions(ServiceType& type) : type_(type) {}

    void inherit(const ServiceType& super)
    {
        for (const auto& [name, property] : super.properties)
            enter(super.name, made(name, property), true);
    }
    /// A type's own definition may only make stronger what it inherits.
    void define(const PropStruct& property) { enter(type_.name, property, false); }

  private:
    static PropStruct made(const std::string& name, const ServiceType::Property& property)
    {
        PropStruct made;
        made.name = name.c_str();
        made.value_type = property.type;
        made.mode = property.mode;
        return made;
    }

    void enter(const std::string& by, const PropStruct& property, bool may_be_weaker)
    {
        const std::string name = property.name.in();
        const auto known = type_.properties.find(name);
        if (known == type_.properties.end()) {
            type_.properties.emplace(
                name, ServiceType::Property{.type = property.value_type, .mode = property.mode});
            by_.emplace(name, by);
            return;
        }
        ServiceType::Property& before = known->second;
        const auto stronger = static_cast<Repository::PropertyMode>(
            static_cast<unsigned>(before.mode) | static_cast<unsigned>(property.mode));
        const bool has_same_type = before.type.in() == property.value_type.in() ||
                                   before.type->equivalent(property.value_type.in());
        if (!has_same_type || (!may_be_weaker && property.mode != stronger))
            throw Repository::ValueTypeRedefinition(by.c_str(), property, by_[name].c_str(),
                                                    made(name, before));
        before.mode = stronger;
        by_[name] = by;
    }

    ServiceType& type_;
    std::map<std::string, std::string> by_; // the type that has defined a property
};

} // namespace

void check_type_name(const char* name, const ServiceLimits& limits)
{
    const std::string_view text = name;
    const bool is_legal = !text.empty() && text.size() <= limits.name_octets_max &&
                          (is_letter(text.front()) || text.starts_with("::")) &&
                          std::ranges::all_of(text, [](char c) {
                              return is_in_word(c) || c == ':' || c == '.' || c == '/' || c == '-';
                          });
    if (!is_legal) throw CosTrading::IllegalServiceType(name);
}

void check_property_name(const char* name, const ServiceLimits& limits)
{
    const std::string_view text = name;
    if (text.empty() || text.size() > limits.name_octets_max || !is_letter(text.front()) ||
        !std::ranges::all_of(text, is_in_word))
        throw CosTrading::IllegalPropertyName(name);
}

/// Must hold mutex_.
const Catalog::Entry& Catalog::entry(const char* name) const
{
    const auto found = entries_.find(std::string_view(name));
    if (found == entries_.end()) throw CosTrading::UnknownServiceType(name);
    return found->second;
}

TypePtr Catalog::type(const char* name, bool for_export) const
{
    check_type_name(name, limits_);
    const std::lock_guard lock(mutex_);
    const Entry& found = entry(name);
    if (found.masked && for_export) throw CosTrading::UnknownServiceType(name);
    return found.type;
}

/// What is to be a type, as far as that depends on no other; and how many octets it has, encoded.
std::shared_ptr<ServiceType> Catalog::made_type(const char* name, const char* interface,
                                                const Repository::PropStructSeq& properties,
                                                const Repository::ServiceTypeNameSeq& supers,
                                                std::size_t& size) const
{
    check_type_name(name, limits_);
    if (std::string_view(interface).size() > limits_.name_octets_max ||
        properties.length() > limits_.type_properties_max ||
        supers.length() > limits_.ancestors_max)
        raise_limit("a service type has too much");
    std::set<std::string_view> names;
    for (CORBA::ULong i = 0; i < properties.length(); ++i) {
        check_property_name(properties[i].name.in(), limits_);
        if (!names.insert(properties[i].name.in()).second)
            throw CosTrading::DuplicatePropertyName(properties[i].name.in());
    }
    names.clear();
    for (CORBA::ULong i = 0; i < supers.length(); ++i) {
        check_type_name(supers[i], limits_);
        if (!names.insert(supers[i].in()).second)
            throw Repository::DuplicateServiceTypeName(supers[i]);
    }

    CORBA::Any encoded;
    encoded <<= properties;
    size = encoded_octets(encoded);
    if (size > limits_.type_octets_max) raise_limit("a service type's properties are too large");

    auto made = std::make_shared<ServiceType>();
    made->name = name;
    made->own.if_name = interface;
    made->own.props = properties;
    made->own.super_types = supers;
    made->ancestors.emplace(name);
    return made;
}

/// What a type inherits of those that are there. Must hold mutex_.
void Catalog::complete(ServiceType& made, std::size_t size) const
{
    assert_held(mutex_);
    if (entries_.contains(made.name)) throw Repository::ServiceTypeExists(made.name.c_str());
    if (entries_.size() >= limits_.types_max) raise_limit("the trader has as many types as it may");
    Definitions definitions(made);
    const Repository::ServiceTypeNameSeq& supers = made.own.super_types;
    for (CORBA::ULong i = 0; i < supers.length(); ++i) {
        const ServiceType& super = *entry(supers[i]).type;
        definitions.inherit(super);
        made.ancestors.insert(super.ancestors.begin(), super.ancestors.end());
    }
    for (CORBA::ULong i = 0; i < made.own.props.length(); ++i)
        definitions.define(made.own.props[i]);
    if (made.properties.size() > limits_.type_properties_max ||
        made.ancestors.size() > limits_.ancestors_max)
        raise_limit("a service type inherits too much");
    made.charge = std::make_unique<const corba::Charge>(octets_, 2 * size + octets_beside(made));
}

/// Must hold mutex_.
void Catalog::enter(const std::shared_ptr<ServiceType>& made, std::uint64_t incarnation,
                    bool masked)
{
    assert_held(mutex_);
    incarnation_ = std::max(incarnation_, incarnation);
    made->own.incarnation = to_idl(incarnation);
    names_.emplace(incarnation, made->name);
    entries_.emplace(made->name, Entry{.type = made, .masked = masked});
    for (const std::string& ancestor : made->ancestors)
        entries_.find(ancestor)->second.descendants.insert(made->name);
}

std::uint64_t Catalog::add_type(const char* name, const char* interface,
                                const Repository::PropStructSeq& properties,
                                const Repository::ServiceTypeNameSeq& supers)
{
    std::size_t size = 0;
    const auto made = made_type(name, interface, properties, supers, size);
    std::uint64_t incarnation = 0;
    const auto decide = [&](std::uint64_t next, JournalChange* rows) {
        complete(*made, size);
        incarnation = next;
        if (rows != nullptr) rows->put(type_key(incarnation), row_of(*made, false, orb_.in()));
        return true;
    };
    change(incarnation_, decide, [&] { enter(made, incarnation, false); });
    return incarnation;
}

bool Catalog::restore_type(std::uint64_t incarnation, const char* name,
                           const Repository::TypeStruct& type)
{
    try {
        std::size_t size = 0;
        const auto made = made_type(name, type.if_name.in(), type.props, type.super_types, size);
        const std::lock_guard lock(mutex_);
        if (const auto known = names_.find(incarnation); known != names_.end()) {
            if (known->second != name) return false;
            entries_.find(known->second)->second.masked = type.masked;
            return true;
        }
        if (incarnation == 0) return false;
        complete(*made, size);
        enter(made, incarnation, type.masked);
        return true;
    } catch (const CORBA::UserException&) {
        return false; // what it inherits is not there, or does not go together
    }
}

/// With its offers; those below it are gone. Must hold mutex_.
void Catalog::take_out_type(Entries::iterator place, Entries& gone)
{
    assert_held(mutex_);
    const ServiceType& type = *place->second.type;
    for (const std::string& ancestor : type.ancestors)
        entries_.find(ancestor)->second.descendants.erase(type.name);
    for (const auto& [number, offer] : place->second.shelf.offers)
        offers_.erase(number);
    const Repository::IncarnationNumber& number = type.own.incarnation;
    names_.erase(std::uint64_t{number.high} << 32 | number.low);
    gone.insert(entries_.extract(place));
}

void Catalog::forget_type(std::uint64_t incarnation)
{
    Entries gone; // end without the lock
    const std::lock_guard lock(mutex_);
    for (;;) {
        const auto name = names_.find(incarnation);
        if (name == names_.end()) return;
        auto place = entries_.find(name->second);
        // Whoever wrote the journal has forgotten those below it before.
        while (place->second.descendants.size() > 1) {
            const std::set<std::string, std::less<>>& below = place->second.descendants;
            place = entries_.find(*below.begin() != place->first ? *below.begin()
                                                                 : *std::next(below.begin()));
        }
        take_out_type(place, gone);
    }
}

std::vector<std::uint64_t> Catalog::all_incarnations() const
{
    const std::lock_guard lock(mutex_);
    std::vector<std::uint64_t> all;
    all.reserve(names_.size());
    for (const auto& [incarnation, name] : names_)
        all.push_back(incarnation);
    return all;
}

void Catalog::note_numbers(std::uint64_t last)
{
    const std::lock_guard lock(mutex_);
    incarnation_ = std::max(incarnation_, last);
    last_number_ = std::max(last_number_, last);
}

void Catalog::remove_type(const char* name, const std::function<void(JournalChange&)>& others,
                          const std::function<void()>& apply)
{
    check_type_name(name, limits_);
    Entries gone; // end without the lock
    const auto decide = [&](std::uint64_t, JournalChange* rows) {
        const Entry& found = entry(name);
        for (const std::string& below : found.descendants)
            if (below != name) throw Repository::HasSubTypes(name, below.c_str());
        if (rows == nullptr) return true;
        const Repository::IncarnationNumber& number = found.type->own.incarnation;
        rows->erase(type_key(std::uint64_t{number.high} << 32 | number.low));
        for (const auto& [offer_number, offer] : found.shelf.offers)
            rows->erase(offer_key(offer_number));
        if (others) others(*rows);
        return true;
    };
    change(incarnation_, decide, [&] {
        take_out_type(entries_.find(std::string_view(name)), gone);
        if (apply) apply();
    });
}

std::vector<std::string> Catalog::types_since(std::uint64_t incarnation) const
{
    std::vector<std::string> names;
    const std::lock_guard lock(mutex_);
    for (const auto& [name, each] : entries_) {
        const Repository::IncarnationNumber& number = each.type->own.incarnation;
        if ((std::uint64_t{number.high} << 32 | number.low) >= incarnation) names.push_back(name);
    }
    return names;
}

std::uint64_t Catalog::incarnation() const
{
    const std::lock_guard lock(mutex_);
    return incarnation_;
}

Repository::TypeStruct Catalog::describe(const char* name, bool fully) const
{
    const TypePtr found = type(name);
    Repository::TypeStruct described = found->own;
    {
        const std::lock_guard lock(mutex_);
        described.masked = entry(name).masked;
    }
    if (!fully) return described;
    described.props.length(static_cast<CORBA::ULong>(found->properties.size()));
    CORBA::ULong at = 0;
    for (const auto& [property_name, property] : found->properties) {
        described.props[at].name = property_name.c_str();
        described.props[at].value_type = property.type;
        described.props[at++].mode = property.mode;
    }
    described.super_types.length(static_cast<CORBA::ULong>(found->ancestors.size() - 1));
    at = 0;
    for (const std::string& ancestor : found->ancestors)
        if (ancestor != found->name) described.super_types[at++] = ancestor.c_str();
    return described;
}

void Catalog::set_masked(const char* name, bool masked)
{
    check_type_name(name, limits_);
    const auto decide = [&](std::uint64_t, JournalChange* rows) {
        const Entry& found = entry(name);
        if (found.masked == masked && masked) throw Repository::AlreadyMasked(name);
        if (found.masked == masked) throw Repository::NotMasked(name);
        const Repository::IncarnationNumber& number = found.type->own.incarnation;
        if (rows != nullptr)
            rows->put(type_key(std::uint64_t{number.high} << 32 | number.low),
                      row_of(*found.type, masked, orb_.in()));
        return true;
    };
    change(incarnation_, decide,
           [&] { entries_.find(std::string_view(name))->second.masked = masked; });
}

} // namespace kairos::trading
