// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/poa.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/corba/poa_in_use.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/poa/calling.h"
#include "kairos/server/serving.h"

#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace PortableServer {

using kairos::Bytes;
using kairos::mapping::omg_minor;
using kairos::poa::Adapter;
using Found = kairos::poa::Adapters::Found;
using kairos::poa::Identity;
using kairos::poa::Outcome;
namespace minor_code = kairos::orb::minor_code;

namespace {

Bytes octets_of(const ObjectId& id)
{
    return {reinterpret_cast<const std::byte*>(id.get_buffer()), id.length()};
}

ObjectId* id_of(Bytes octets)
{
    ObjectId_var id = new ObjectId;
    id->length(static_cast<CORBA::ULong>(octets.size()));
    if (!octets.empty()) std::memcpy(id->get_buffer(), octets.data(), octets.size());
    return id._retn();
}

/// For servant managers, which keep no id that they do not copy.
ObjectId borrowed_id(Bytes octets)
{
    const auto size = static_cast<CORBA::ULong>(octets.size());
    auto* data = const_cast<std::byte*>(octets.data()); // passed on as const
    return ObjectId(size, size, reinterpret_cast<CORBA::Octet*>(data), false);
}

void require(bool given, const char* what)
{
    if (!given) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, what);
}

template <typename T>
kairos::IntrusivePtr<T> owned(T* made)
{
    return kairos::IntrusivePtr<T>::adopt(made);
}

kairos::orb::LocationForward forward_to(const ForwardRequest& request)
{
    const CORBA::Object_ptr target = request.forward_reference.in();
    if (CORBA::is_nil(target) || !target->_kairos_reference())
        throw CORBA::INV_OBJREF(0, CORBA::COMPLETED_NO, "nobody can be forwarded to this object");
    return {target->_kairos_reference()->ior()};
}

/// The POA of an adapter, owned by the caller; null if that is gone.
POA_ptr face_of(Found found)
{
    const Adapter::Use use(*found.adapter, found.key_id);
    return use ? POA::_duplicate(&POA::_kairos_of(*found.adapter)) : nullptr;
}

// --- what the core calls -------------------------------------------------------------------------

class Activator final : public kairos::poa::ServantActivator {
  public:
    Activator(PortableServer::ServantActivator_ptr activator,
              std::shared_ptr<std::recursive_mutex> serial)
        : activator_(PortableServer::ServantActivator::_duplicate(activator)),
          serial_(std::move(serial))
    {
    }

    kairos::poa::Servant* incarnate(Bytes id, Adapter& adapter) override
    {
        const ObjectId oid = borrowed_id(id);
        try {
            return activator_->incarnate(oid, &POA::_kairos_of(adapter));
        } catch (const ForwardRequest& request) {
            throw forward_to(request);
        }
    }
    void etherealize(Bytes id, Adapter& adapter, kairos::poa::Servant& servant,
                     bool cleanup_in_progress, bool remaining_activations) noexcept override
    {
        try {
            const ObjectId oid = borrowed_id(id);
            activator_->etherealize(oid, &POA::_kairos_of(adapter), static_cast<Servant>(&servant),
                                    cleanup_in_progress, remaining_activations);
        } catch (const std::exception& exception) { // nobody is there to hear it (15.3.6)
            kairos::log::warning(std::string("a servant activator's etherealize threw: ") +
                                 exception.what());
        } catch (...) {
            kairos::log::warning(
                "a servant activator's etherealize threw what is no std::exception");
        }
    }
    std::recursive_mutex& serial() noexcept override { return *serial_; }

  private:
    const ServantActivator_var activator_;
    const std::shared_ptr<std::recursive_mutex> serial_;
};

class Locator final : public kairos::poa::ServantLocator {
  public:
    explicit Locator(PortableServer::ServantLocator_ptr locator)
        : locator_(PortableServer::ServantLocator::_duplicate(locator))
    {
    }

    kairos::poa::Servant* preinvoke(Bytes id, Adapter& adapter, std::string_view operation,
                                    void*& cookie) override
    {
        const ObjectId oid = borrowed_id(id);
        try {
            return locator_->preinvoke(oid, &POA::_kairos_of(adapter), operation.data(), cookie);
        } catch (const ForwardRequest& request) {
            throw forward_to(request);
        }
    }
    void postinvoke(Bytes id, Adapter& adapter, std::string_view operation, void* cookie,
                    kairos::poa::Servant& servant) override
    {
        const ObjectId oid = borrowed_id(id);
        locator_->postinvoke(oid, &POA::_kairos_of(adapter), operation.data(), cookie,
                             static_cast<Servant>(&servant));
    }

  private:
    const ServantLocator_var locator_;
};

class ChildActivator final : public kairos::poa::AdapterActivator {
  public:
    explicit ChildActivator(PortableServer::AdapterActivator_ptr activator)
        : activator_(PortableServer::AdapterActivator::_duplicate(activator))
    {
    }

    bool unknown_adapter(Adapter& parent, std::string_view name) override
    {
        return activator_->unknown_adapter(&POA::_kairos_of(parent), std::string(name).c_str());
    }

  private:
    const AdapterActivator_var activator_;
};

} // namespace

void ForwardRequest::_marshal(kairos::cdr::Writer& out) const
{
    out.write_string(_kairos_id);
    kairos::mapping::encode_object(out, forward_reference.in());
}

// --- POA -----------------------------------------------------------------------------------------

POA::POA(kairos::corba::PoaServices& services) : state_(new State(*this, services)) {}

POA::~POA() = default;

void POA::check(Outcome outcome)
{
    switch (outcome) {
    case Outcome::ok:
        return;
    case Outcome::gone:
        raise_gone();
    case Outcome::being_destroyed:
        throw CORBA::BAD_INV_ORDER(omg_minor(17), CORBA::COMPLETED_NO,
                                   "the POA is being destroyed");
    case Outcome::adapter_exists:
        throw AdapterAlreadyExists();
    case Outcome::wrong_policy:
        throw WrongPolicy();
    case Outcome::wrong_adapter:
        throw WrongAdapter();
    case Outcome::servant_active:
        throw ServantAlreadyActive();
    case Outcome::servant_not_active:
        throw ServantNotActive();
    case Outcome::object_active:
    case Outcome::object_leaving:
        throw ObjectAlreadyActive();
    case Outcome::object_not_active:
        throw ObjectNotActive();
    case Outcome::bad_id:
        throw CORBA::BAD_PARAM(omg_minor(14), CORBA::COMPLETED_NO, "the id is none of this POA's");
    case Outcome::bad_priority:
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO,
                               "no priority of CORBA's, or of a lane of the POA's thread pool");
    case Outcome::other_priority:
        throw CORBA::BAD_INV_ORDER(omg_minor(18), CORBA::COMPLETED_NO,
                                   "the object has another priority");
    case Outcome::already_set:
        throw CORBA::BAD_INV_ORDER(omg_minor(6), CORBA::COMPLETED_NO,
                                   "the POA has a servant manager already");
    case Outcome::would_deadlock:
        throw CORBA::BAD_INV_ORDER(minor_code::would_deadlock, CORBA::COMPLETED_NO,
                                   "waiting for requests within an upcall would deadlock");
    }
}

kairos::orb::Orb& POA::_kairos_orb() const noexcept { return state_->services->core(); }

POA& POA::_kairos_of(const Adapter& adapter) noexcept
{
    return static_cast<State&>(adapter.face()).poa;
}

bool POA::_kairos_supports(std::string_view repository_id) const
{
    return repository_id == _kairos_id || CORBA::Object::_kairos_supports(repository_id);
}

Outcome POA::State::create(Found parent, const char* name, POAManager_ptr its_manager,
                           kairos::poa::Policies policies, const CORBA::PolicyList& stated)
{
    std::function<void()> establish;
    if (kairos::corba::AdapterListener* const listener = services->listener()) {
        for (CORBA::ULong i = 0; i < stated.length(); ++i)
            stated_policies.emplace_back(stated[i]->copy());
        if (listener->establishes()) {
            is_established = false;
            establish = [this, listener] {
                // Whoever destroys the POA meanwhile, or one above it, waits until this is done;
                // within, as within an upcall, that is not waited for.
                const Adapter::Use use(*found.adapter, found.key_id);
                const kairos::poa::Calling calling(*found.adapter);
                if (!use) return;
                references = listener->adapter_made(poa);
                references->complete();
            };
        }
    }
    manager = POAManager::_duplicate(its_manager);
    services->keep_manager(its_manager);
    const Outcome outcome = services->adapters().create(parent, name, its_manager->_kairos_core(),
                                                        std::move(policies), *this, establish);
    if (outcome == Outcome::ok)
        is_established = true;
    else if (!found) // else end() has done so
        services->let_manager_go(*its_manager);
    return outcome;
}

void POA::State::begin(Adapter& adapter, std::uint32_t key_id) noexcept
{
    poa._add_ref(); // the adapter's
    found = {&adapter, key_id};
}

void POA::State::end() noexcept
{
    services->let_manager_go(*manager.in());
    ServantManager_var former_manager; // released without the lock
    AdapterActivator_var former_activator;
    {
        const std::lock_guard lock(mutex);
        std::swap(former_manager, servant_manager);
        std::swap(former_activator, activator);
    }
    kairos::assert_not_held(mutex); // what is released may be the program's
    if (const auto former_references = std::move(references)) former_references->end();
    poa._remove_ref();
}

// --- the tree ------------------------------------------------------------------------------------

POA_ptr POA::find_POA(const char* adapter_name, CORBA::Boolean activate_it)
{
    require(adapter_name != nullptr, "null name");
    {
        const InUse adapter(*this);
    }
    kairos::assert_not_held(state_->mutex); // an adapter activator may be called
    const Found found =
        state_->services->adapters().child(state_->found, adapter_name, activate_it);
    POA_ptr child = found ? face_of(found) : nullptr;
    if (child == nullptr) throw AdapterNonExistent();
    return child;
}

void POA::destroy(CORBA::Boolean etherealize_objects, CORBA::Boolean wait_for_completion)
{
    // Only the server's end cuts peers off that do not take what requests here wait to send.
    kairos::orb::Orb& core = state_->services->core();
    if (wait_for_completion && core.is_shut_down() && !kairos::poa::in_upcall_of(core))
        core.wait_for_end();
    check(state_->services->adapters().destroy(state_->found, etherealize_objects,
                                               wait_for_completion));
}

char* POA::the_name() { return CORBA::string_dup(InUse(*this)->name().c_str()); }

POA_ptr POA::the_parent()
{
    const InUse adapter(*this);
    Adapter* parent = adapter->parent();
    return parent == nullptr ? nullptr : face_of({parent, adapter->parent_key_id()});
}

POAList* POA::the_children()
{
    {
        const InUse adapter(*this);
    }
    POAList_var list = new POAList;
    for (const Found found : state_->services->adapters().children(state_->found)) {
        POA_var child = face_of(found);
        if (CORBA::is_nil(child.in()) || !child->state_->is_established) continue;
        list->length(list->length() + 1);
        list[list->length() - 1] = child._retn();
    }
    return list._retn();
}

POAManager_ptr POA::the_POAManager()
{
    const InUse adapter(*this);
    return POAManager::_duplicate(state_->manager.in());
}

POAManagerFactory_ptr POA::the_POAManagerFactory()
{
    const InUse adapter(*this);
    return new POAManagerFactory(*state_->services);
}

AdapterActivator_ptr POA::the_activator()
{
    const InUse adapter(*this);
    const std::lock_guard lock(state_->mutex);
    return AdapterActivator::_duplicate(state_->activator.in());
}

void POA::the_activator(AdapterActivator_ptr activator)
{
    AdapterActivator_var kept = AdapterActivator::_duplicate(activator); // or the former one
    const std::lock_guard lock(state_->mutex);
    kairos::IntrusivePtr<kairos::poa::AdapterActivator> core;
    if (!CORBA::is_nil(activator))
        core = owned<kairos::poa::AdapterActivator>(new ChildActivator(activator));
    check(state_->services->adapters().set_adapter_activator(state_->found, std::move(core)));
    std::swap(state_->activator, kept);
}

ObjectId* POA::id()
{
    const InUse adapter(*this);
    return id_of(adapter->key_of({}));
}

// --- who serves objects that are not active ------------------------------------------------------

ServantManager_ptr POA::get_servant_manager()
{
    const InUse adapter(*this);
    if (adapter->policies().processing != kairos::poa::Processing::servant_manager)
        throw WrongPolicy();
    const std::lock_guard lock(state_->mutex);
    return ServantManager::_duplicate(state_->servant_manager.in());
}

void POA::set_servant_manager(ServantManager_ptr manager)
{
    const InUse adapter(*this);
    if (adapter->policies().processing != kairos::poa::Processing::servant_manager)
        throw WrongPolicy();
    const std::lock_guard lock(state_->mutex);
    if (!CORBA::is_nil(state_->servant_manager.in())) check(Outcome::already_set);
    set_servant_manager(*adapter, manager);
    state_->servant_manager = ServantManager::_duplicate(manager);
}

void POA::set_servant_manager(Adapter& adapter, ServantManager_ptr manager)
{
    if (adapter.policies().retains()) {
        if (const auto activator = dynamic_cast<ServantActivator_ptr>(manager))
            return check(adapter.set_activator(owned<kairos::poa::ServantActivator>(
                new Activator(activator, state_->services->serial_of(activator)))));
    } else if (const auto locator = dynamic_cast<ServantLocator_ptr>(manager)) {
        return check(adapter.set_locator(owned<kairos::poa::ServantLocator>(new Locator(locator))));
    }
    throw CORBA::OBJ_ADAPTER(omg_minor(4), CORBA::COMPLETED_NO,
                             "the policies want a servant manager of another kind");
}

Servant POA::get_servant()
{
    const InUse adapter(*this);
    if (adapter->policies().processing != kairos::poa::Processing::default_servant)
        throw WrongPolicy();
    kairos::poa::Servant* servant = adapter->default_servant();
    if (servant == nullptr) throw NoServant();
    return static_cast<Servant>(servant);
}

void POA::set_servant(Servant servant)
{
    require(servant != nullptr, "null servant");
    const InUse adapter(*this);
    check(adapter->set_default_servant(*servant));
}

// --- objects -------------------------------------------------------------------------------------

ObjectId* POA::activate_object(Servant servant)
{
    require(servant != nullptr, "null servant");
    const InUse adapter(*this);
    Identity object;
    check(adapter->activate(*servant, object, false));
    return id_of(object.id);
}

void POA::activate_object_with_id(const ObjectId& id, Servant servant)
{
    require(servant != nullptr, "null servant");
    const Bytes octets = octets_of(id);
    Identity object{.id = {octets.begin(), octets.end()}, .place = {}};
    const InUse adapter(*this);
    check(adapter->activate(*servant, object, true));
}

void POA::deactivate_object(const ObjectId& id)
{
    const InUse adapter(*this);
    check(adapter->deactivate(octets_of(id)));
}

CORBA::Object_ptr POA::reference_to(const Identity& object, const char* repository_id)
{
    const kairos::corba::AdapterReferences* const references = state_->references.get();
    if (references != nullptr && references->makes_references()) {
        const kairos::poa::Calling calling(*state_->found.adapter); // of no object
        return references->make_reference(repository_id, object.id);
    }
    return own_reference_to(object, repository_id);
}

CORBA::Object_ptr POA::own_reference_to(const Identity& object, const char* repository_id)
{
    kairos::orb::Orb& orb = _kairos_orb();
    const Adapter& adapter = *state_->found.adapter;
    auto components = adapter.components_of(object.id);
    if (const kairos::corba::AdapterReferences* const references = state_->references.get())
        components.insert(components.end(), references->components.begin(),
                          references->components.end());
    kairos::ior::Ior ior =
        kairos::orb::Serving::of(orb).make_ior(repository_id, adapter.key_of(object), components);
    if (const auto& guard = adapter.policies().guard) guard->protect(ior);
    return kairos::corba::StubFactory::make<CORBA::Object>(orb.make_reference(std::move(ior)));
}

CORBA::Object_ptr POA::_kairos_sample(bool& places_are_ids)
{
    const InUse adapter(*this);
    places_are_ids = adapter->places_are_ids();
    return own_reference_to({}, "");
}

CORBA::Object_ptr POA::_kairos_make_object(const char* repository_id, const ObjectId& id)
{
    require(repository_id != nullptr, "null repository id");
    const InUse adapter(*this);
    const Bytes octets = octets_of(id);
    if (adapter->policies().system_ids() && !adapter->may_be_own(octets)) check(Outcome::bad_id);
    Identity object;
    const char* its_interface = nullptr;
    if (adapter->object_of(octets, object, its_interface) != Outcome::ok)
        object = {{octets.begin(), octets.end()}, {}};
    return own_reference_to(object, repository_id);
}

CORBA::Object_ptr POA::_kairos_called(const kairos::poa::Calling& calling)
{
    return reference_to(calling.adapter().called(calling), calling.servant()->_kairos_id());
}

CORBA::Object_ptr POA::create_reference(const char* repository_id)
{
    require(repository_id != nullptr, "null repository id");
    const InUse adapter(*this);
    Identity object;
    check(adapter->new_object(object));
    return reference_to(object, repository_id);
}

CORBA::Object_ptr POA::create_reference_with_id(const ObjectId& id, const char* repository_id)
{
    require(repository_id != nullptr, "null repository id");
    const InUse adapter(*this);
    const Bytes octets = octets_of(id);
    if (adapter->policies().system_ids() && !adapter->may_be_own(octets)) check(Outcome::bad_id);
    return reference_to({{octets.begin(), octets.end()}, {}}, repository_id);
}

ObjectId* POA::servant_to_id(Servant servant)
{
    require(servant != nullptr, "null servant");
    const InUse adapter(*this);
    Identity object;
    check(adapter->id_of(*servant, object));
    return id_of(object.id);
}

CORBA::Object_ptr POA::servant_to_reference(Servant servant)
{
    require(servant != nullptr, "null servant");
    const InUse adapter(*this);
    Identity object;
    check(adapter->object_of(*servant, object));
    // A servant of several interfaces is asked for this object's.
    const kairos::poa::Calling asked(*adapter, *servant, object.id);
    return reference_to(object, servant->_kairos_id());
}

Servant POA::reference_to_servant(CORBA::Object_ptr reference)
{
    {
        const InUse adapter(*this);
        if (!adapter->policies().retains() &&
            adapter->policies().processing != kairos::poa::Processing::default_servant)
            throw WrongPolicy();
    }
    const ObjectId_var id = reference_to_id(reference);
    return id_to_servant(id.in());
}

Servant POA::id_to_servant(const ObjectId& id)
{
    const InUse adapter(*this);
    kairos::poa::Servant* servant = nullptr;
    check(adapter->servant_of(octets_of(id), servant));
    return static_cast<Servant>(servant);
}

ObjectId* POA::reference_to_id(CORBA::Object_ptr reference)
{
    require(reference != nullptr, "nil reference");
    const InUse adapter(*this);
    if (!reference->_kairos_reference()) throw WrongAdapter();
    const auto object = adapter->object_in(reference->_kairos_reference()->object_key());
    if (!object) throw WrongAdapter();
    return id_of(object->id);
}

CORBA::Object_ptr POA::id_to_reference(const ObjectId& id)
{
    const InUse adapter(*this);
    Identity object;
    const char* repository_id = nullptr;
    check(adapter->object_of(octets_of(id), object, repository_id));
    return reference_to(object, repository_id);
}

} // namespace PortableServer
