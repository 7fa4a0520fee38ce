// SPDX-License-Identifier: Apache-2.0
//
// The Property Service's interfaces as servants: what PropertySet finds wrong becomes the OMG's
// exceptions, and what a reply may have is bounded.
#include "kairos/properties/CosPropertyService_skel.h"
#include "kairos/properties/service_state.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kairos::properties {
namespace {

using namespace CosPropertyService;
using Kind = ServiceState::Kind;

[[noreturn]] void raise(ExceptionReason reason)
{
    switch (reason) {
    case conflicting_property:
        throw ConflictingProperty();
    case property_not_found:
        throw PropertyNotFound();
    case unsupported_type_code:
        throw UnsupportedTypeCode();
    case unsupported_property:
        throw UnsupportedProperty();
    case unsupported_mode:
        throw UnsupportedMode();
    case fixed_property:
        throw FixedProperty();
    case read_only_property:
        throw ReadOnlyProperty();
    default:
        throw InvalidPropertyName();
    }
}

void raise_if(const Failure& failure)
{
    if (failure) raise(*failure);
}

/// What failed of a batch, of which all else is done.
class Failures {
  public:
    /// Borrows the name.
    void note(const Failure& failure, const char* name)
    {
        if (failure) failures_.emplace_back(*failure, name);
    }
    void raise_if_any() const
    {
        if (failures_.empty()) return;
        MultipleExceptions all;
        all.exceptions.length(static_cast<CORBA::ULong>(failures_.size()));
        for (CORBA::ULong i = 0; i < all.exceptions.length(); ++i) {
            all.exceptions[i].reason = failures_[i].first;
            all.exceptions[i].failing_property_name = failures_[i].second;
        }
        throw all;
    }

  private:
    std::vector<std::pair<ExceptionReason, const char*>> failures_;
};

/// Does the same to each element of a batch. Where the service's limits end it, what is done stays
/// done.
template <typename Sequence, typename Change>
void do_batch(const Sequence& batch, Change change)
{
    Failures failures;
    for (CORBA::ULong i = 0; i < batch.length(); ++i) {
        try {
            change(failures, batch[i]);
        } catch (CORBA::SystemException& exception) {
            if (i != 0) exception.completed(CORBA::COMPLETED_MAYBE);
            throw;
        }
    }
    failures.raise_if_any();
}

void define_all(PropertySet& set, const Properties& properties)
{
    do_batch(properties, [&](Failures& failures, const Property& property) {
        const char* const name = property.property_name.in();
        failures.note(set.define(name, property.property_value, std::nullopt), name);
    });
}

void define_all(PropertySet& set, const PropertyDefs& properties)
{
    do_batch(properties, [&](Failures& failures, const PropertyDef& property) {
        const char* const name = property.property_name.in();
        failures.note(set.define(name, property.property_value, property.property_mode), name);
    });
}

// --- What replies have ---------------------------------------------------------------------------

/// How many of the records from `at` on go into one reply.
template <typename List>
std::size_t portion(const ServiceLimits& limits, const Records& records, std::size_t at,
                    std::size_t wanted)
{
    const std::size_t end = at + std::min({records.size() - at, wanted, limits.reply_count_max});
    std::size_t octets = 0;
    std::size_t next = at;
    for (; next < end; ++next) {
        octets += std::is_same_v<List, PropertyNames> ? records[next]->name.size()
                                                      : records[next]->octets.count();
        if (octets > limits.reply_octets_max && next != at) break;
    }
    return next - at;
}

void set_element(PropertyNames& list, CORBA::ULong index, const Record& record)
{
    list[index] = record.name.c_str();
}

void set_element(Properties& list, CORBA::ULong index, const Record& record)
{
    list[index].property_name = record.name.c_str();
    list[index].property_value = record.value;
}

/// The first portion of what is wanted. Owned by the caller.
template <typename List>
List* take(const ServiceLimits& limits, const Records& records, std::size_t& at, std::size_t wanted)
{
    const std::size_t count = portion<List>(limits, records, at, wanted);
    auto list = std::make_unique<List>();
    list->length(static_cast<CORBA::ULong>(count));
    for (CORBA::ULong i = 0; i < list->length(); ++i)
        set_element(*list, i, *records[at + i]);
    at += count;
    return list.release();
}

/// Bounds what is asked for by name: a few octets may ask for a large value again and again.
class ReplyBound {
  public:
    ReplyBound(const ServiceLimits& limits, CORBA::ULong count) : left_(limits.reply_octets_max)
    {
        if (count > limits.reply_count_max)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                                   "more is asked for than one reply may have");
    }
    void take(std::size_t octets)
    {
        if (octets > left_ && !is_first_)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                                   "more is asked for than one reply may have");
        left_ -= std::min(left_, octets);
        is_first_ = false;
    }

  private:
    std::size_t left_;
    bool is_first_ = true;
};

// --- Sets ----------------------------------------------------------------------------------------

/// What a PropertySet and a PropertySetDef have in common.
template <typename Skeleton>
class SetServant : public Skeleton {
  public:
    SetServant(ServiceState& state, std::shared_ptr<properties::PropertySet> set)
        : state_(state), set_(std::move(set))
    {
    }

    void define_property(const char* name, const CORBA::Any& value) override
    {
        raise_if(set().define(name, value, std::nullopt));
    }
    void define_properties(const Properties& properties) override { define_all(set(), properties); }
    CORBA::ULong get_number_of_properties() override
    {
        return static_cast<CORBA::ULong>(set().size());
    }
    void get_all_property_names(CORBA::ULong how_many, PropertyNames_out names,
                                PropertyNamesIterator_out rest) override
    {
        rest = all<PropertyNamesIterator, PropertyNames>(how_many, names, state_.name_iterators);
    }
    CORBA::Any* get_property_value(const char* name) override
    {
        Failure failure;
        const RecordPtr record = set().find(name, failure);
        raise_if(failure);
        return new CORBA::Any(record->value);
    }
    CORBA::Boolean get_properties(const PropertyNames& names, Properties_out properties) override
    {
        ReplyBound bound(state_.limits, names.length());
        Properties_var list = new Properties;
        list->length(names.length());
        bool has_all = true;
        for (CORBA::ULong i = 0; i < names.length(); ++i) {
            Failure failure;
            const RecordPtr record = set().find(names[i].in(), failure);
            bound.take(record ? record->octets.count() : std::string_view(names[i].in()).size());
            list[i].property_name = names[i].in();
            if (record) {
                list[i].property_value = record->value;
            } else {
                list[i].property_value = CORBA::Any(CORBA::_tc_void, nullptr);
                has_all = false;
            }
        }
        properties = list._retn();
        return has_all;
    }
    void get_all_properties(CORBA::ULong how_many, Properties_out properties,
                            PropertiesIterator_out rest) override
    {
        rest = all<PropertiesIterator, Properties>(how_many, properties, state_.property_iterators);
    }
    void delete_property(const char* name) override { raise_if(set().remove(name)); }
    void delete_properties(const PropertyNames& names) override
    {
        do_batch(names, [&](Failures& failures, const char* name) {
            failures.note(set().remove(name), name);
        });
    }
    CORBA::Boolean delete_all_properties() override { return set().remove_all(); }
    CORBA::Boolean is_property_defined(const char* name) override
    {
        Failure failure;
        const RecordPtr record = set().find(name, failure);
        if (failure == invalid_property_name) throw InvalidPropertyName();
        return record != nullptr;
    }

  protected:
    [[nodiscard]] properties::PropertySet& set() const
    {
        set_->note_use();
        return *set_;
    }
    [[nodiscard]] const ServiceLimits& limits() const noexcept { return state_.limits; }

  private:
    /// Returns the iterator for what the list has no room for; nil if there is no more.
    template <typename Iterator, typename List>
    [[nodiscard]] typename Iterator::_ptr_type all(CORBA::ULong how_many,
                                                   mapping::VariableOut<List> list,
                                                   const PortableServer::POA_var& iterators)
    {
        const auto iteration = std::make_shared<Iteration>(set().all());
        list = take<List>(state_.limits, iteration->records, iteration->at, how_many);
        if (iteration->at == iteration->records.size()) return Iterator::_nil();
        return corba::numbered_reference<Iterator>(iterators.in(),
                                                   state_.iterations.begin(iteration));
    }

    ServiceState& state_;
    const std::shared_ptr<properties::PropertySet> set_;
};

class DefServant final : public SetServant<POA_CosPropertyService::PropertySetDef> {
  public:
    using SetServant::SetServant;

    void get_allowed_property_types(PropertyTypes_out types) override
    {
        types = new PropertyTypes(set().rules().types());
    }
    void get_allowed_properties(PropertyDefs_out properties) override
    {
        properties = new PropertyDefs(set().rules().properties());
    }
    void define_property_with_mode(const char* name, const CORBA::Any& value,
                                   PropertyModeType mode) override
    {
        raise_if(set().define(name, value, mode));
    }
    void define_properties_with_modes(const PropertyDefs& properties) override
    {
        define_all(set(), properties);
    }
    PropertyModeType get_property_mode(const char* name) override
    {
        Failure failure;
        const RecordPtr record = set().find(name, failure);
        raise_if(failure);
        return record->mode;
    }
    CORBA::Boolean get_property_modes(const PropertyNames& names, PropertyModes_out modes) override
    {
        ReplyBound bound(limits(), names.length());
        PropertyModes_var list = new PropertyModes;
        list->length(names.length());
        bool has_all = true;
        for (CORBA::ULong i = 0; i < names.length(); ++i) {
            Failure failure;
            const RecordPtr record = set().find(names[i].in(), failure);
            bound.take(std::string_view(names[i].in()).size());
            list[i].property_name = names[i].in();
            list[i].property_mode = record ? record->mode : undefined;
            has_all = has_all && record;
        }
        modes = list._retn();
        return has_all;
    }
    void set_property_mode(const char* name, PropertyModeType mode) override
    {
        raise_if(set().set_mode(name, mode));
    }
    void set_property_modes(const PropertyModes& modes) override
    {
        do_batch(modes, [&](Failures& failures, const PropertyMode& mode) {
            const char* const name = mode.property_name.in();
            failures.note(set().set_mode(name, mode.property_mode), name);
        });
    }
};

// --- Factories -----------------------------------------------------------------------------------

class FactoryServant final : public POA_CosPropertyService::PropertySetFactory {
  public:
    explicit FactoryServant(ServiceState& state) : state_(state) {}

    PropertySet_ptr create_propertyset() override { return enter(state_.make_set()); }
    PropertySet_ptr create_constrained_propertyset(const PropertyTypes& types,
                                                   const Properties& properties) override
    {
        PropertyDefs allowed;
        if (properties.length() > state_.limits.allowed_properties_max)
            throw ConstraintNotSupported();
        allowed.length(properties.length());
        for (CORBA::ULong i = 0; i < properties.length(); ++i) {
            allowed[i].property_name = properties[i].property_name;
            allowed[i].property_value = properties[i].property_value;
            allowed[i].property_mode = undefined;
        }
        return enter(state_.make_set(Rules(types, allowed, state_.limits, state_.octets)));
    }
    PropertySet_ptr create_initial_propertyset(const Properties& properties) override
    {
        const auto set = state_.make_set();
        define_all(*set, properties);
        return enter(set);
    }

  private:
    PropertySet_ptr enter(const std::shared_ptr<properties::PropertySet>& set)
    {
        const CORBA::Object_var object = state_.enter(set, Kind::plain);
        return CosPropertyService::PropertySet::_unchecked_narrow(object.in());
    }

    ServiceState& state_;
};

class DefFactoryServant final : public POA_CosPropertyService::PropertySetDefFactory {
  public:
    explicit DefFactoryServant(ServiceState& state) : state_(state) {}

    PropertySetDef_ptr create_propertysetdef() override { return enter(state_.make_set()); }
    PropertySetDef_ptr create_constrained_propertysetdef(const PropertyTypes& types,
                                                         const PropertyDefs& properties) override
    {
        return enter(state_.make_set(Rules(types, properties, state_.limits, state_.octets)));
    }
    PropertySetDef_ptr create_initial_propertysetdef(const PropertyDefs& properties) override
    {
        const auto set = state_.make_set();
        define_all(*set, properties);
        return enter(set);
    }

  private:
    PropertySetDef_ptr enter(const std::shared_ptr<properties::PropertySet>& set)
    {
        const CORBA::Object_var object = state_.enter(set, Kind::with_modes);
        return PropertySetDef::_unchecked_narrow(object.in());
    }

    ServiceState& state_;
};

// --- Iterators -----------------------------------------------------------------------------------

/// One servant for all iterators of a kind.
template <typename Skeleton, typename List>
class IteratorServant : public Skeleton {
  public:
    explicit IteratorServant(ServiceState& state) : state_(state) {}

    void reset() override
    {
        const auto iteration = corba::called_thing(state_.iterations);
        const std::lock_guard lock(iteration->mutex);
        iteration->at = 0;
    }
    CORBA::Boolean next_n(CORBA::ULong how_many, mapping::VariableOut<List> list) override
    {
        const auto iteration = corba::called_thing(state_.iterations);
        const std::lock_guard lock(iteration->mutex);
        const bool has_more = iteration->at < iteration->records.size();
        list = take<List>(state_.limits, iteration->records, iteration->at, how_many);
        return has_more;
    }
    void destroy() override
    {
        if (!state_.iterations.end(corba::called_number())) corba::raise_no_such_object();
    }

  protected:
    /// Null: there is no more.
    [[nodiscard]] RecordPtr next() const
    {
        const auto iteration = corba::called_thing(state_.iterations);
        const std::lock_guard lock(iteration->mutex);
        if (iteration->at == iteration->records.size()) return nullptr;
        return iteration->records[iteration->at++];
    }

  private:
    ServiceState& state_;
};

class NamesServant final
    : public IteratorServant<POA_CosPropertyService::PropertyNamesIterator, PropertyNames> {
  public:
    using IteratorServant::IteratorServant;
    CORBA::Boolean next_one(CORBA::String_out name) override
    {
        const RecordPtr record = next();
        name = CORBA::string_dup(record ? record->name.c_str() : "");
        return record != nullptr;
    }
};

class PropertiesServant final
    : public IteratorServant<POA_CosPropertyService::PropertiesIterator, Properties> {
  public:
    using IteratorServant::IteratorServant;
    CORBA::Boolean next_one(Property_out property) override
    {
        const RecordPtr record = next();
        property = new Property;
        if (!record) return false;
        property->property_name = record->name.c_str();
        property->property_value = record->value;
        return true;
    }
};

} // namespace

PortableServer::Servant make_factory_servant(ServiceState& state, Kind kind)
{
    if (kind == Kind::with_modes) return new DefFactoryServant(state);
    return new FactoryServant(state);
}

PortableServer::Servant make_set_servant(ServiceState& state,
                                         std::shared_ptr<properties::PropertySet> set, Kind kind)
{
    if (kind == Kind::with_modes) return new DefServant(state, std::move(set));
    return new SetServant<POA_CosPropertyService::PropertySet>(state, std::move(set));
}

PortableServer::Servant make_name_iterator_servant(ServiceState& state)
{
    return new NamesServant(state);
}

PortableServer::Servant make_property_iterator_servant(ServiceState& state)
{
    return new PropertiesServant(state);
}

} // namespace kairos::properties
