// SPDX-License-Identifier: Apache-2.0
#include "kairos/properties/service.h"

#include "kairos/base/assert_held.h"
#include "kairos/properties/kept_rows.h"
#include "kairos/properties/service_state.h"

#include <algorithm>
#include <utility>

namespace kairos::properties {
namespace {

using PortableServer::ObjectId_var;
using PortableServer::POA_ptr;
using PortableServer::POA_var;
using PortableServer::Servant_var;
using PortableServer::ServantBase;

constexpr const char* factory_name = "PropertySetFactory";
constexpr const char* def_factory_name = "PropertySetDefFactory";
constexpr std::size_t set_name_octets_max = 255;

/// A POA that does not serve yet.
POA_ptr make_poa(POA_ptr parent, const char* name, PortableServer::LifespanPolicyValue lifespan,
                 PortableServer::IdAssignmentPolicyValue assignment)
{
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0] = parent->create_lifespan_policy(lifespan);
    policies[1] = parent->create_id_assignment_policy(assignment);
    return parent->create_POA(name, PortableServer::POAManager::_nil(), policies);
}

/// As those of numbered references: an object's id is its set's number.
ObjectId_var id_of(std::uint64_t number)
{
    ObjectId_var id = new PortableServer::ObjectId;
    id->length(sizeof number);
    for (CORBA::ULong i = 0; i < sizeof number; ++i)
        id[i] = static_cast<CORBA::Octet>(number >> (56 - 8 * i));
    return id;
}

[[noreturn]] void raise_name_in_use()
{
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "an object of this name is there already");
}

[[noreturn]] void raise_too_many_sets()
{
    throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                           "the property service has as many sets as it may have");
}

} // namespace

ServiceState::ServiceState(CORBA::ORB_ptr orb, const ServiceLimits& bounds,
                           std::unique_ptr<Journal> journal)
    : limits(bounds), octets(std::make_shared<corba::Octets>(bounds.octets_of_all_max)),
      iterations(bounds.iterators_max, bounds.idle_max), orb_(CORBA::ORB::_duplicate(orb)),
      journal_(std::move(journal))
{
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const POA_var root = PortableServer::POA::_narrow(object.in());
    object = orb->resolve_initial_references("IORTable");
    table_ = IORTable::Table::_narrow(object.in());
    named_ =
        make_poa(root.in(), "PropertyService", PortableServer::PERSISTENT, PortableServer::USER_ID);
    try {
        begin();
    } catch (...) {
        if (journal_) journal_->end();
        unbind_names();
        destroy_adapters(); // which lead to this
        throw;
    }
}

void ServiceState::begin()
{
    objects_ =
        journal_
            ? make_poa(named_.in(), "Sets", PortableServer::PERSISTENT, PortableServer::USER_ID)
            : make_poa(named_.in(), "Sets", PortableServer::TRANSIENT, PortableServer::SYSTEM_ID);
    name_iterators =
        corba::make_numbered_poa(named_.in(), "Names", make_name_iterator_servant(*this));
    property_iterators =
        corba::make_numbered_poa(named_.in(), "Properties", make_property_iterator_servant(*this));
    for (const auto& [name, kind] :
         {std::pair(factory_name, Kind::plain), std::pair(def_factory_name, Kind::with_modes)}) {
        const Servant_var<ServantBase> servant = make_factory_servant(*this, kind);
        (void)CORBA::Object_var(activate_named(servant.in(), name));
    }
    // Who comes before waits until all sets are there.
    if (journal_) corba::raise_unless_done(journal_->begin(*this));
    serve(objects_);
    serve(named_);
}

void ServiceState::serve(const POA_var& poa)
{
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
}

ServiceState::~ServiceState()
{
    if (journal_) journal_->end();
    unbind_names();
    destroy_adapters();
}

void ServiceState::unbind_names() noexcept
{
    for (const std::string& name : in_table_)
        try {
            table_->unbind(name.c_str());
        } catch (const CORBA::Exception&) {
            // The ORB was destroyed before, or the program has unbound it.
        }
}

void ServiceState::destroy_adapters() noexcept
{
    try {
        named_->destroy(true, true);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, and its POAs with it.
    }
}

CORBA::Object_ptr ServiceState::activate_named(PortableServer::Servant servant,
                                               const std::string& name)
{
    const ObjectId_var id = PortableServer::string_to_ObjectId(name.c_str());
    try {
        named_->activate_object_with_id(id.in(), servant);
    } catch (const PortableServer::POA::ObjectAlreadyActive&) {
        raise_name_in_use();
    }
    CORBA::Object_var object = named_->id_to_reference(id.in());
    const CORBA::String_var reference = orb_->object_to_string(object.in());
    try {
        table_->bind(name.c_str(), reference.in());
        const std::lock_guard lock(mutex_);
        in_table_.push_back(name);
    } catch (const IORTable::AlreadyBound&) {
        // The program that this service is part of leads its clients to another one.
    }
    return object._retn();
}

CORBA::Object_ptr ServiceState::named(const char* name) const
{
    const ObjectId_var id = PortableServer::string_to_ObjectId(name);
    return named_->id_to_reference(id.in());
}

std::shared_ptr<PropertySet> ServiceState::make_set(Rules rules) const
{
    return std::make_shared<PropertySet>(limits, octets, std::move(rules));
}

/// Takes out sets that nobody seems to need, and throws IMP_LIMIT if there are none. Must hold
/// mutex_.
void ServiceState::make_room(Entries& gone)
{
    if (entries_.size() < limits.sets_max) return;
    const auto now = PropertySet::Clock::now();
    const auto idle = std::ranges::partition(entries_, [&](const Entry& entry) {
        return !entry.name.empty() || !entry.set->is_idle(now);
    });
    std::ranges::move(idle, std::back_inserter(gone));
    entries_.erase(idle.begin(), idle.end());
    if (entries_.size() >= limits.sets_max) raise_too_many_sets();
}

CORBA::Object_ptr ServiceState::enter(std::shared_ptr<PropertySet> set, Kind kind,
                                      const std::string& name)
{
    if (journal_) return enter_kept(set, kind, name, false);
    Entries gone;
    {
        const std::lock_guard lock(mutex_);
        make_room(gone);
        entries_.push_back({set, {}, name});
    }
    for (const Entry& entry : gone)
        deactivate(entry);
    CORBA::Object_var object;
    ObjectId_var id;
    try {
        const Servant_var<ServantBase> servant = make_set_servant(*this, set, kind);
        if (name.empty()) {
            id = objects_->activate_object(servant.in());
            object = objects_->id_to_reference(id.in());
        } else {
            object = activate_named(servant.in(), name);
        }
    } catch (...) {
        const std::lock_guard lock(mutex_);
        std::erase_if(entries_, [&](const Entry& entry) { return entry.set == set; });
        throw;
    }
    const std::lock_guard lock(mutex_);
    const auto mine = std::ranges::find(entries_, set, &Entry::set);
    if (mine != entries_.end()) mine->id = id;
    return object._retn();
}

CORBA::Object_ptr ServiceState::enter_named(const std::string& name)
{
    const auto set = make_set();
    return journal_ && !name.empty() ? enter_kept(set, Kind::with_modes, name, true)
                                     : enter(set, Kind::with_modes, name);
}

void ServiceState::deactivate(const Entry& entry) noexcept
{
    try {
        if (entry.id.operator->() != nullptr) return objects_->deactivate_object(entry.id.in());
        if (entry.set->number() == 0) return; // it was not active yet
        named_->deactivate_object(
            ObjectId_var(PortableServer::string_to_ObjectId(entry.name.c_str())).in());
        table_->unbind(entry.name.c_str());
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, and its POAs with it; or the program has unbound it.
    }
}

// --- Sets that are kept --------------------------------------------------------------------------

ServiceState::Entry ServiceState::kept_entry(std::shared_ptr<PropertySet> set,
                                             const std::string& name) const
{
    ObjectId_var id;
    if (name.empty()) id = id_of(set->number());
    return {std::move(set), id, name};
}

/// An object that is there from now on, owned by the caller.
CORBA::Object_ptr ServiceState::activate(const Entry& entry, Kind kind)
{
    const Servant_var<ServantBase> servant = make_set_servant(*this, entry.set, kind);
    if (!entry.name.empty()) return activate_named(servant.in(), entry.name);
    objects_->activate_object_with_id(entry.id.in(), servant.in());
    return objects_->id_to_reference(entry.id.in());
}

/// Whether a set has this name, if it is one. Must hold mutex_.
bool ServiceState::has_name(const std::string& name) const
{
    assert_held(mutex_);
    return !name.empty() && std::ranges::find(entries_, name, &Entry::name) != entries_.end();
}

/// Those that would go if there were one more set. Throws as make_room().
ServiceState::Entries ServiceState::rooms_for_one() const
{
    const std::lock_guard lock(mutex_);
    if (entries_.size() < limits.sets_max) return {};
    Entries idle;
    const auto now = PropertySet::Clock::now();
    for (const Entry& entry : entries_)
        if (entry.name.empty() && entry.set->is_idle(now)) idle.push_back(entry);
    if (idle.empty()) raise_too_many_sets();
    return idle;
}

CORBA::Object_ptr ServiceState::enter_kept(const std::shared_ptr<PropertySet>& set, Kind kind,
                                           const std::string& name, bool may_be_there)
{
    if (name == factory_name || name == def_factory_name) raise_name_in_use();
    const KeptSet kept{.name = name,
                       .has_modes = kind == Kind::with_modes,
                       .types = set->rules().types(),
                       .properties = set->rules().properties()};
    const std::string row = row_of(kept, orb_.in());
    bool is_there = false;
    Entries gone;
    Entry entry;
    CORBA::Object_var object;
    corba::raise_unless_done(journal_->write(
        [&](JournalChange& change) {
            {
                const std::lock_guard lock(mutex_);
                is_there = has_name(name);
            }
            if (is_there) return false;
            gone = rooms_for_one();
            for (const Entry& idle : gone)
                change.erase(set_key(idle.set->number()));
            set->keep(*journal_, orb_.in(), change.number());
            entry = kept_entry(set, name);
            change.put(set_key(set->number()), row);
            for (const RecordPtr& record : set->all())
                change.put(property_key(set->number(), record->name), row_of(*record, orb_.in()));
            return true;
        },
        [&] {
            for (const Entry& idle : gone)
                take_out(idle.set->number());
            {
                const std::lock_guard lock(mutex_);
                entries_.push_back(entry);
                kept_.emplace(set->number(), set);
            }
            object = activate(entry, kind);
        }));
    if (!is_there) return object._retn();
    if (!may_be_there) raise_name_in_use();
    return named(name.c_str());
}

std::shared_ptr<PropertySet> ServiceState::kept_set(std::uint64_t number) const
{
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(number);
    return found == kept_.end() ? nullptr : found->second;
}

void ServiceState::take_out(std::uint64_t number)
{
    Entry gone;
    {
        const std::lock_guard lock(mutex_);
        const auto found = kept_.find(number);
        if (found == kept_.end()) return;
        const auto entry = std::ranges::find(entries_, found->second, &Entry::set);
        gone = *entry;
        entries_.erase(entry);
        kept_.erase(found);
        std::erase(in_table_, gone.name);
    }
    gone.set->forget();
    deactivate(gone);
}

bool ServiceState::put(std::string_view key, std::string_view value)
{
    if (const auto number = corba::take_number(key, set_rows))
        return key.empty() && put_set(*number, value);
    const auto number = corba::take_number(key, property_rows);
    if (!number || !key.starts_with(' ')) return false;
    const auto set = kept_set(*number);
    const auto kept = kept_property(value, orb_.in());
    return set && kept && set->restore(key.substr(1), kept->value, kept->mode);
}

bool ServiceState::put_set(std::uint64_t number, std::string_view value)
{
    if (kept_set(number)) return true; // nothing of it changes
    const std::optional<KeptSet> kept = properties::kept_set(value, orb_.in());
    if (!kept || number == 0 || kept->name.size() > set_name_octets_max ||
        kept->name == factory_name || kept->name == def_factory_name)
        return false;
    std::shared_ptr<PropertySet> set;
    try {
        set = make_set(Rules(kept->types, kept->properties, limits, octets));
    } catch (const CosPropertyService::ConstraintNotSupported&) {
        return false;
    }
    set->keep(*journal_, orb_.in(), number);
    const Entry entry = kept_entry(set, kept->name);
    {
        const std::lock_guard lock(mutex_);
        if (has_name(entry.name)) return false;
        if (entries_.size() >= limits.sets_max) raise_too_many_sets();
    }
    (void)CORBA::Object_var(activate(entry, kept->has_modes ? Kind::with_modes : Kind::plain));
    const std::lock_guard lock(mutex_);
    entries_.push_back(entry);
    kept_.emplace(number, set);
    return true;
}

void ServiceState::erase(std::string_view key)
{
    if (const auto number = corba::take_number(key, set_rows)) {
        take_out(*number);
    } else if (const auto of = corba::take_number(key, property_rows)) {
        if (const auto set = kept_set(*of)) set->forget(key.substr(key.empty() ? 0 : 1));
    }
}

std::vector<std::string> ServiceState::keys() const
{
    std::map<std::uint64_t, std::shared_ptr<PropertySet>> sets;
    {
        const std::lock_guard lock(mutex_);
        sets = kept_;
    }
    std::vector<std::string> all;
    all.reserve(sets.size());
    for (const auto& [number, set] : sets)
        all.push_back(set_key(number));
    for (const auto& [number, set] : sets)
        for (const RecordPtr& record : set->all())
            all.push_back(property_key(number, record->name));
    return all;
}

PropertyService::PropertyService(CORBA::ORB_ptr orb, const ServiceLimits& limits)
    : PropertyService(orb, limits, nullptr)
{
}

PropertyService::PropertyService(CORBA::ORB_ptr orb, const ServiceLimits& limits,
                                 std::unique_ptr<Journal> store)
    : state_(std::make_unique<ServiceState>(orb, limits, std::move(store)))
{
}

PropertyService::~PropertyService() = default;

CosPropertyService::PropertySetDef_ptr PropertyService::create_set(const std::string& name)
{
    if (name.size() > set_name_octets_max)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a set's name is too long");
    const CORBA::Object_var object = state_->enter_named(name);
    return CosPropertyService::PropertySetDef::_unchecked_narrow(object.in());
}

CosPropertyService::PropertySetFactory_ptr PropertyService::factory() const
{
    const CORBA::Object_var object = state_->named(factory_name);
    return CosPropertyService::PropertySetFactory::_unchecked_narrow(object.in());
}

CosPropertyService::PropertySetDefFactory_ptr PropertyService::def_factory() const
{
    const CORBA::Object_var object = state_->named(def_factory_name);
    return CosPropertyService::PropertySetDefFactory::_unchecked_narrow(object.in());
}

} // namespace kairos::properties
