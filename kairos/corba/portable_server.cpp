// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/portable_server.h"

#include "kairos/corba/invocation.h"
#include "kairos/orb/failure.h"

#include <algorithm>
#include <cstring>

namespace PortableServer {

using kairos::mapping::omg_minor;
using kairos::poa::ManagerState;
using kairos::poa::ObjectMap;

// --- ids -----------------------------------------------------------------------------------------

namespace {

/// System ids are places: slot and generation.
constexpr CORBA::ULong system_id_size = 8;

ObjectId* id_of(ObjectMap::Place place)
{
    ObjectId_var id = new ObjectId;
    id->length(system_id_size);
    std::memcpy(id->get_buffer(), &place.slot, 4);
    std::memcpy(id->get_buffer() + 4, &place.generation, 4);
    return id._retn();
}

std::optional<ObjectMap::Place> place_of(const ObjectId& id)
{
    if (id.length() != system_id_size) return std::nullopt;
    ObjectMap::Place place;
    std::memcpy(&place.slot, id.get_buffer(), 4);
    std::memcpy(&place.generation, id.get_buffer() + 4, 4);
    return place;
}

} // namespace

char* ObjectId_to_string(const ObjectId& id)
{
    const CORBA::Octet* octets = id.get_buffer();
    if (std::find(octets, octets + id.length(), 0) != octets + id.length())
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "an ObjectId with a NUL is no string");
    char* text = CORBA::string_alloc(id.length());
    if (id.length() != 0) std::memcpy(text, octets, id.length());
    text[id.length()] = '\0';
    return text;
}

ObjectId* string_to_ObjectId(const char* text)
{
    if (text == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "null string");
    ObjectId_var id = new ObjectId;
    id->length(static_cast<CORBA::ULong>(std::strlen(text)));
    if (id->length() != 0) std::memcpy(id->get_buffer(), text, id->length());
    return id._retn();
}

// --- ServantBase ---------------------------------------------------------------------------------

POA_ptr ServantBase::_default_POA()
{
    CORBA::ORB_ptr orb = kairos::corba::default_orb();
    if (orb == nullptr)
        throw CORBA::BAD_INV_ORDER(kairos::orb::minor_code::orb_shut_down, CORBA::COMPLETED_NO,
                                   "there is no ORB");
    return POA::_duplicate(orb->_kairos_root_poa());
}

CORBA::Boolean ServantBase::_is_a(const char* repository_id)
{
    return _kairos_supports(repository_id) ||
           std::strcmp(repository_id, CORBA::Object::_kairos_id) == 0;
}

namespace {

/// The definition of an interface, by what the servant's ORB knows as "InterfaceRepository".
CORBA::Object_ptr interface_of(kairos::orb::Orb& core, const char* repository_id)
{
    static constexpr kairos::orb::Operation lookup{"lookup_id"};
    CORBA::Object_var definition;
    try {
        const CORBA::ORB_var orb = kairos::corba::orb_of(core);
        const CORBA::Object_var repository = orb->resolve_initial_references("InterfaceRepository");
        kairos::corba::Invocation call(*repository.in(), lookup);
        call.out().write_string(repository_id);
        call.invoke();
        definition = kairos::corba::decode_reference<CORBA::Object>(call.in());
        call.finish();
    } catch (const CORBA::Exception&) { // InvalidName, or it cannot be reached
        kairos::orb::raise<CORBA::INTF_REPOS>(omg_minor(1), CORBA::COMPLETED_NO,
                                              "the Interface Repository is not available");
    }
    if (CORBA::is_nil(definition.in()))
        kairos::orb::raise<CORBA::INTF_REPOS>(omg_minor(2), CORBA::COMPLETED_NO,
                                              "the Interface Repository has no such interface");
    return definition._retn();
}

} // namespace

void ServantBase::_kairos_dispatch_standard(kairos::orb::Upcall& upcall)
{
    static constexpr kairos::orb::Operation standard{"standard"};
    const std::string_view operation = upcall.operation();
    if (operation == "_is_a") {
        const std::string_view id = upcall.in().read_string();
        upcall.arguments_read(standard);
        upcall.out().write(_is_a(id.data()));
    } else if (operation == "_non_existent" || operation == "_not_existent") { // GIOP 1.0 and 1.1
        upcall.arguments_read(standard);
        upcall.out().write(_non_existent());
    } else if (operation == "_repository_id") {
        upcall.arguments_read(standard);
        upcall.out().write_string(_kairos_id());
    } else if (operation == "_component") {
        upcall.arguments_read(standard);
        kairos::mapping::encode_object(upcall.out(), CORBA::Object::_nil());
    } else if (operation == "_interface") {
        upcall.arguments_read(standard);
        const CORBA::Object_var definition = interface_of(upcall.orb(), _kairos_id());
        kairos::mapping::encode_object(upcall.out(), definition.in());
    } else if (operation == "_domain_managers") {
        // An object has at least one domain (CORBA 3.3 part 1, 8.3.11): none is no answer.
        kairos::orb::raise<CORBA::NO_IMPLEMENT>(kairos::orb::minor_code::no_domains,
                                                CORBA::COMPLETED_NO, "there are no domains");
    } else {
        kairos::orb::raise<CORBA::BAD_OPERATION>(kairos::orb::minor_code::unknown_operation,
                                                 CORBA::COMPLETED_NO,
                                                 "the object has no such operation");
    }
    upcall.reply();
}

// --- POAManager ----------------------------------------------------------------------------------

POAManager::POAManager(POA& poa) : poa_(poa) { poa_._add_ref(); }

POAManager::~POAManager() { poa_._remove_ref(); }

bool POAManager::_kairos_supports(std::string_view repository_id) const
{
    return repository_id == _kairos_id || Object::_kairos_supports(repository_id);
}

void POAManager::change(State state, CORBA::Boolean wait_for_completion)
{
    if (wait_for_completion && kairos::orb::in_upcall())
        throw CORBA::BAD_INV_ORDER(kairos::orb::minor_code::would_deadlock, CORBA::COMPLETED_NO,
                                   "waiting for requests within an upcall would deadlock");
    if (!poa_._kairos_adapter().manager().set_state(static_cast<ManagerState>(state)))
        throw AdapterInactive();
    poa_._kairos_orb().resume_held_requests();
    if (wait_for_completion) poa_._kairos_adapter().wait_until_idle();
}

void POAManager::activate()
{
    change(ACTIVE, false);
    poa_._kairos_orb().start_serving();
}

void POAManager::hold_requests(CORBA::Boolean wait_for_completion)
{
    change(HOLDING, wait_for_completion);
}

void POAManager::discard_requests(CORBA::Boolean wait_for_completion)
{
    change(DISCARDING, wait_for_completion);
}

void POAManager::deactivate(CORBA::Boolean etherealize_objects, CORBA::Boolean wait_for_completion)
{
    (void)etherealize_objects; // concerns servant managers, which the RootPOA does not have
    change(INACTIVE, wait_for_completion);
}

POAManager::State POAManager::get_state()
{
    return static_cast<State>(poa_._kairos_adapter().manager().state());
}

// --- POA -----------------------------------------------------------------------------------------

POA::POA(kairos::IntrusivePtr<kairos::orb::Orb> orb) : orb_(std::move(orb)), adapter_(*orb_, 0)
{
    orb_->set_adapter(&adapter_);
}

POA::~POA() = default;

void POA::_kairos_end() noexcept { adapter_.manager().set_state(ManagerState::inactive); }

bool POA::_kairos_supports(std::string_view repository_id) const
{
    return repository_id == _kairos_id || Object::_kairos_supports(repository_id);
}

char* POA::the_name() { return CORBA::string_dup("RootPOA"); }

POAManager_ptr POA::the_POAManager() { return new POAManager(*this); }

ObjectId* POA::activate_object(Servant servant)
{
    if (servant == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "null servant");
    const auto activated = adapter_.objects().activate(*servant, true);
    if (!activated) throw ServantAlreadyActive();
    return id_of(activated.place);
}

void POA::deactivate_object(const ObjectId& id)
{
    const auto place = place_of(id);
    if (!place || !adapter_.objects().deactivate(*place)) throw ObjectNotActive();
}

ObjectMap::Place POA::place_of_servant(Servant servant)
{
    if (servant == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "null servant");
    for (;;) { // another thread may activate or deactivate it in between
        if (const auto place = adapter_.objects().find(*servant)) return *place;
        if (const auto object = adapter_.objects().activate(*servant, true)) return object.place;
    }
}

ObjectId* POA::servant_to_id(Servant servant) { return id_of(place_of_servant(servant)); }

CORBA::Object_ptr POA::servant_to_reference(Servant servant)
{
    const ObjectMap::Place place = place_of_servant(servant);
    return reference_at(place, servant->_kairos_id());
}

CORBA::Object_ptr POA::reference_at(ObjectMap::Place place, const char* repository_id)
{
    const auto key = adapter_.key_of(place).encode();
    return kairos::corba::StubFactory::make<CORBA::Object>(
        orb_->make_reference(orb_->make_ior(repository_id, key)));
}

Servant POA::reference_to_servant(CORBA::Object_ptr reference)
{
    const ObjectId_var id = reference_to_id(reference);
    return id_to_servant(id.in());
}

Servant POA::id_to_servant(const ObjectId& id)
{
    const auto place = place_of(id);
    auto entry = place ? adapter_.objects().enter(*place) : std::nullopt;
    if (!entry) throw ObjectNotActive();
    auto* servant = static_cast<Servant>(&entry->servant());
    servant->_add_ref();
    return servant;
}

ObjectId* POA::reference_to_id(CORBA::Object_ptr reference)
{
    if (reference == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "nil reference");
    if (!reference->_kairos_reference()) throw WrongAdapter();
    const auto place = adapter_.place_of(reference->_kairos_reference()->object_key());
    if (!place) throw WrongAdapter();
    return id_of(*place);
}

CORBA::Object_ptr POA::id_to_reference(const ObjectId& id)
{
    const auto place = place_of(id);
    const auto entry = place ? adapter_.objects().enter(*place) : std::nullopt;
    if (!entry) throw ObjectNotActive();
    return reference_at(*place, entry->servant()._kairos_id());
}

} // namespace PortableServer

namespace kairos::corba {

CORBA::Object_ptr this_object(PortableServer::ServantBase& servant)
{
    const PortableServer::POA_var poa = servant._default_POA();
    return poa->servant_to_reference(&servant);
}

} // namespace kairos::corba
