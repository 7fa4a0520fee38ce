// SPDX-License-Identifier: Apache-2.0
#include "kairos/properties/property_set.h"

#include "kairos/base/assert_held.h"
#include "kairos/cdr/environment.h"
#include "kairos/cdr/writer.h"
#include "kairos/corba/numbered_objects.h"
#include "kairos/properties/kept_rows.h"
#include "kairos/types/any.h"

#include <utility>

namespace kairos::properties {
namespace {

using namespace CosPropertyService;

/// What a property, or a part of a constraint, has in memory beside what is encoded, about.
constexpr std::size_t octets_beside = 200;

/// Of the value with its type; in memory they have twice that, about.
std::size_t encoded_octets(const CORBA::Any& value)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Environment environment;
    out.set_environment(&environment);
    mapping::encode(out, value);
    return out.size();
}

bool is_read_only(Mode mode) noexcept { return mode == read_only || mode == fixed_readonly; }

bool is_fixed(Mode mode) noexcept { return mode == fixed_normal || mode == fixed_readonly; }

bool is_mode(Mode mode) noexcept { return mode >= normal && mode <= fixed_readonly; }

[[noreturn]] void raise_too_many()
{
    throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "the set has as many properties as it may have");
}

} // namespace

Rules::Rules(const PropertyTypes& types, const PropertyDefs& properties,
             const ServiceLimits& limits, const std::shared_ptr<corba::Octets>& octets)
    : types_(types), properties_(properties)
{
    if (types.length() > limits.allowed_types_max ||
        properties.length() > limits.allowed_properties_max)
        throw ConstraintNotSupported();
    CORBA::Any all_types;
    all_types <<= types;
    std::size_t size = encoded_octets(all_types);
    for (CORBA::ULong i = 0; i < properties.length(); ++i) {
        const PropertyDef& property = properties[i];
        const std::string_view name = property.property_name.in();
        const std::size_t value_size = encoded_octets(property.property_value);
        const CORBA::TypeCode_var type = property.property_value.type();
        const bool is_sound =
            !name.empty() && name.size() <= limits.name_octets_max &&
            value_size <= limits.value_octets_max &&
            (is_mode(property.property_mode) || property.property_mode == undefined) &&
            (type->kind() == CORBA::tk_null || allows(type.in()));
        if (!is_sound || !by_name_.emplace(name, i).second) throw ConstraintNotSupported();
        size += value_size + name.size();
    }
    // They are told in one reply, without an iterator.
    if (size > limits.reply_octets_max) throw ConstraintNotSupported();
    charge_ = std::make_shared<const corba::Charge>(
        octets, 2 * size + octets_beside * (types.length() + properties.length() + 1));
}

bool Rules::allows(CORBA::TypeCode_ptr type) const
{
    if (types_.length() == 0) return true;
    for (CORBA::ULong i = 0; i < types_.length(); ++i)
        if (type->equivalent(types_[i].in())) return true;
    return false;
}

Failure Rules::check(std::string_view name, CORBA::TypeCode_ptr type,
                     std::optional<Mode>& mode) const
{
    if (properties_.length() != 0) {
        const auto allowed = by_name_.find(name);
        if (allowed == by_name_.end()) return unsupported_property;
        const PropertyDef& property = properties_[allowed->second];
        const CORBA::TypeCode_var wanted = property.property_value.type();
        if (wanted->kind() != CORBA::tk_null && !type->equivalent(wanted.in()))
            return unsupported_type_code;
        const Mode prescribed = property.property_mode;
        if (mode && prescribed != undefined && *mode != prescribed) return unsupported_mode;
        if (!mode && prescribed != undefined) mode = prescribed;
    }
    if (!allows(type)) return unsupported_type_code;
    return std::nullopt;
}

Failure Rules::check_mode(std::string_view name, Mode mode) const
{
    const auto allowed = by_name_.find(name);
    if (allowed == by_name_.end()) return std::nullopt;
    const Mode prescribed = properties_[allowed->second].property_mode;
    if (prescribed == undefined || prescribed == mode) return std::nullopt;
    return unsupported_mode;
}

PropertySet::PropertySet(const ServiceLimits& limits, std::shared_ptr<corba::Octets> octets,
                         Rules rules)
    : limits_(limits), octets_(std::move(octets)), rules_(std::move(rules))
{
}

std::shared_ptr<Record> PropertySet::make(std::string_view name, const CORBA::Any& value,
                                          Mode mode) const
{
    const std::size_t size = encoded_octets(value);
    if (size > limits_.value_octets_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "a property's value is too large");
    return std::make_shared<Record>(name, value, mode, octets_,
                                    2 * size + name.size() + octets_beside);
}

void PropertySet::keep(Journal& journal, CORBA::ORB_ptr orb, std::uint64_t number)
{
    journal_ = &journal;
    orb_ = CORBA::ORB::_duplicate(orb);
    number_ = number;
}

void PropertySet::forget()
{
    std::set<RecordPtr, ByName> gone; // ends without the lock
    const std::lock_guard lock(mutex_);
    is_forgotten_ = true;
    gone.swap(records_);
}

void PropertySet::change(const std::function<bool()>& check,
                         const std::function<void(JournalChange&)>& rows,
                         const std::function<void()>& apply)
{
    if (journal_ == nullptr) {
        const std::lock_guard lock(mutex_);
        if (check()) apply();
        return;
    }
    // Between the two nobody else changes the set: others have no turn.
    corba::raise_unless_done(journal_->write(
        [&](JournalChange& made) {
            {
                const std::lock_guard lock(mutex_);
                if (is_forgotten_) corba::raise_no_such_object();
                if (!check()) return false;
            }
            rows(made); // who reads does not wait for that
            return true;
        },
        [&] {
            const std::lock_guard lock(mutex_);
            apply();
        }));
}

/// Must hold mutex_.
void PropertySet::enter(const RecordPtr& record)
{
    assert_held(mutex_);
    const auto known = records_.find(record);
    if (known == records_.end()) {
        records_.insert(record);
        return;
    }
    auto node = records_.extract(known);
    node.value() = record;
    records_.insert(std::move(node));
}

bool PropertySet::restore(std::string_view name, const CORBA::Any& value, Mode mode)
{
    if (!is_valid(name) || !is_mode(mode)) return false;
    const RecordPtr record = make(name, value, mode);
    RecordPtr before; // ends without the lock
    const std::lock_guard lock(mutex_);
    if (const auto known = records_.find(name); known != records_.end())
        before = *known;
    else if (records_.size() >= limits_.properties_max)
        raise_too_many();
    enter(record);
    return true;
}

void PropertySet::forget(std::string_view name)
{
    RecordPtr gone; // ends without the lock
    const std::lock_guard lock(mutex_);
    const auto known = records_.find(name);
    if (known == records_.end()) return;
    gone = *known;
    records_.erase(known);
}

Failure PropertySet::define(std::string_view name, const CORBA::Any& value,
                            std::optional<Mode> mode)
{
    if (!is_valid(name)) return invalid_property_name;
    if (mode && !is_mode(*mode)) return unsupported_mode;
    const CORBA::TypeCode_var type = value.type();
    const bool keeps_mode = !mode;
    if (const Failure failure = rules_.check(name, type.in(), mode)) return failure;
    const std::shared_ptr<Record> record = make(name, value, mode.value_or(normal));
    RecordPtr before; // ends without the lock
    Failure failure;
    const auto check = [&] {
        const auto known = records_.find(name);
        if (known == records_.end()) {
            if (records_.size() >= limits_.properties_max) raise_too_many();
            return true;
        }
        before = *known;
        const CORBA::TypeCode_var type_before = before->value.type();
        if (!type->equivalent(type_before.in()))
            failure = conflicting_property;
        else if (is_read_only(before->mode))
            failure = read_only_property;
        else if (keeps_mode)
            record->mode = before->mode;
        return !failure;
    };
    change(
        check,
        [&](JournalChange& made) {
            made.put(property_key(number_, name), row_of(*record, orb_.in()));
        },
        [&] { enter(record); });
    return failure;
}

Failure PropertySet::set_mode(std::string_view name, Mode mode)
{
    if (!is_valid(name)) return invalid_property_name;
    if (!is_mode(mode)) return unsupported_mode;
    Failure failure;
    // Tried again where somebody has changed the property meanwhile.
    for (RecordPtr before = find(name, failure); before; before = find(name, failure)) {
        if (const Failure wrong = rules_.check_mode(name, mode)) return wrong;
        const std::shared_ptr<Record> record = make(name, before->value, mode);
        bool is_same = false;
        const auto check = [&] {
            const auto known = records_.find(name);
            is_same = known != records_.end() && *known == before;
            return is_same;
        };
        change(
            check,
            [&](JournalChange& made) {
                made.put(property_key(number_, name), row_of(*record, orb_.in()));
            },
            [&] { enter(record); });
        if (is_same) return std::nullopt;
    }
    return failure;
}

Failure PropertySet::remove(std::string_view name)
{
    if (!is_valid(name)) return invalid_property_name;
    RecordPtr gone; // ends without the lock
    Failure failure;
    const auto check = [&] {
        const auto known = records_.find(name);
        if (known == records_.end())
            failure = property_not_found;
        else if (is_fixed((*known)->mode))
            failure = fixed_property;
        else
            gone = *known;
        return !failure;
    };
    change(
        check, [&](JournalChange& made) { made.erase(property_key(number_, name)); },
        [&] { records_.erase(gone); });
    return failure;
}

bool PropertySet::remove_all()
{
    Records gone; // end without the lock
    bool is_empty = false;
    const auto check = [&] {
        for (const RecordPtr& record : records_)
            if (!is_fixed(record->mode)) gone.push_back(record);
        is_empty = gone.size() == records_.size();
        return !gone.empty();
    };
    change(
        check,
        [&](JournalChange& made) {
            for (const RecordPtr& record : gone)
                made.erase(property_key(number_, record->name));
        },
        [&] {
            for (const RecordPtr& record : gone)
                records_.erase(record);
        });
    return is_empty;
}

RecordPtr PropertySet::find(std::string_view name, Failure& failure) const
{
    failure = invalid_property_name;
    if (!is_valid(name)) return nullptr;
    failure = property_not_found;
    const std::lock_guard lock(mutex_);
    const auto known = records_.find(name);
    if (known == records_.end()) return nullptr;
    failure = std::nullopt;
    return *known;
}

Records PropertySet::all() const
{
    const std::lock_guard lock(mutex_);
    return {records_.begin(), records_.end()};
}

std::size_t PropertySet::size() const
{
    const std::lock_guard lock(mutex_);
    return records_.size();
}

} // namespace kairos::properties
