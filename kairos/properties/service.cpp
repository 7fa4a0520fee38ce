// SPDX-License-Identifier: Apache-2.0
#include "kairos/properties/service.h"

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

/// A POA that begins to serve.
POA_ptr make_poa(POA_ptr parent, const char* name, PortableServer::LifespanPolicyValue lifespan,
                 PortableServer::IdAssignmentPolicyValue assignment)
{
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0] = parent->create_lifespan_policy(lifespan);
    policies[1] = parent->create_id_assignment_policy(assignment);
    POA_var made = parent->create_POA(name, PortableServer::POAManager::_nil(), policies);
    const PortableServer::POAManager_var manager = made->the_POAManager();
    manager->activate();
    return made._retn();
}

[[noreturn]] void raise_name_in_use()
{
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "an object of this name is there already");
}

} // namespace

ServiceState::ServiceState(CORBA::ORB_ptr orb, const ServiceLimits& bounds)
    : limits(bounds), octets(std::make_shared<corba::Octets>(bounds.octets_of_all_max)),
      iterations(bounds.iterators_max, bounds.idle_max), orb_(CORBA::ORB::_duplicate(orb))
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
        destroy_adapters(); // which lead to this
        throw;
    }
}

void ServiceState::begin()
{
    objects_ = make_poa(named_.in(), "Sets", PortableServer::TRANSIENT, PortableServer::SYSTEM_ID);
    name_iterators =
        corba::make_numbered_poa(named_.in(), "Names", make_name_iterator_servant(*this));
    property_iterators =
        corba::make_numbered_poa(named_.in(), "Properties", make_property_iterator_servant(*this));
    for (const auto& [name, kind] :
         {std::pair(factory_name, Kind::plain), std::pair(def_factory_name, Kind::with_modes)}) {
        const Servant_var<ServantBase> servant = make_factory_servant(*this, kind);
        (void)CORBA::Object_var(activate_named(servant.in(), name));
    }
}

ServiceState::~ServiceState()
{
    for (const std::string& name : in_table_)
        try {
            table_->unbind(name.c_str());
        } catch (const CORBA::Exception&) {
            // The ORB was destroyed before, or the program has unbound it.
        }
    destroy_adapters();
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
void ServiceState::make_room(std::vector<Entry>& gone)
{
    if (entries_.size() < limits.sets_max) return;
    const auto now = PropertySet::Clock::now();
    const auto idle = std::ranges::partition(entries_, [&](const Entry& entry) {
        return !entry.name.empty() || !entry.set->is_idle(now);
    });
    std::ranges::move(idle, std::back_inserter(gone));
    entries_.erase(idle.begin(), idle.end());
    if (entries_.size() >= limits.sets_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                               "the property service has as many sets as it may have");
}

CORBA::Object_ptr ServiceState::enter(std::shared_ptr<PropertySet> set, Kind kind,
                                      const std::string& name)
{
    std::vector<Entry> gone;
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

void ServiceState::deactivate(const Entry& entry) noexcept
{
    try {
        if (entry.id.operator->() != nullptr) objects_->deactivate_object(entry.id.in());
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, and its POAs with it.
    }
}

PropertyService::PropertyService(CORBA::ORB_ptr orb, const ServiceLimits& limits)
    : state_(std::make_unique<ServiceState>(orb, limits))
{
}

PropertyService::~PropertyService() = default;

CosPropertyService::PropertySetDef_ptr PropertyService::create_set(const std::string& name)
{
    if (name.size() > set_name_octets_max)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a set's name is too long");
    const CORBA::Object_var object =
        state_->enter(state_->make_set(), ServiceState::Kind::with_modes, name);
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
