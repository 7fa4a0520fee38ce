// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/servant.h"

#include "kairos/base/export.h"
#include "kairos/corba/invocation.h"
#include "kairos/corba/orb.h"
#include "kairos/corba/poa.h"
#include "kairos/mapping/marshal.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/policies.h"
#include "kairos/orb/reference.h"
#include "kairos/orb/upcall.h"
#include "kairos/poa/adapter.h"
#include "kairos/poa/calling.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>

namespace kairos::corba {
/// Of Kairos::ir, which programs link that have definitions of interfaces, and so may have servants
/// with `_get_interface` of their own. The caller owns the results.
[[gnu::weak]] KAIROS_API CORBA::InterfaceDef_ptr interface_definition(CORBA::Object_ptr object);
[[gnu::weak]] KAIROS_API CORBA::Object_ptr interface_of(PortableServer::ServantBase& servant);
} // namespace kairos::corba

namespace PortableServer {

using kairos::mapping::omg_minor;

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
    return orb->_kairos_root_poa();
}

CORBA::Boolean ServantBase::_is_a(const char* repository_id)
{
    return _kairos_supports(repository_id) ||
           std::strcmp(repository_id, CORBA::Object::_kairos_id) == 0;
}

namespace {

/// The limit of calls on the Interface Repository of an ORB without limits of its own: whoever asks
/// an object for its interface makes its server wait for the answer.
class RepositoryTime final : public kairos::orb::PolicyOverrides {
  public:
    RepositoryTime() noexcept { calls_.round_trip_max = std::chrono::seconds(3); }
};

/// Returns the reference to the Interface Repository with which it is called.
kairos::corba::ReferencePtr with_limit(kairos::orb::Reference& repository)
{
    if (repository.orb().call_policies().round_trip_max)
        return kairos::corba::ReferencePtr(&repository);
    return repository.with(kairos::orb::PolicyOverridesPtr::adopt(new RepositoryTime));
}

/// The definition of an interface, by what the ORB knows as "InterfaceRepository".
CORBA::Object_ptr look_up(kairos::orb::Orb& core, const char* repository_id)
{
    static constexpr kairos::orb::Operation lookup{"lookup_id"};
    CORBA::Object_var definition;
    try {
        const CORBA::ORB_var orb = kairos::corba::orb_of(core);
        const CORBA::Object_var repository = orb->resolve_initial_references("InterfaceRepository");
        const kairos::corba::ReferencePtr limited =
            with_limit(kairos::corba::reference_of(*repository.in()));
        kairos::corba::Invocation call(*limited, lookup);
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

/// The ORB of the object that is being called, or else of the one that the servant would be.
kairos::IntrusivePtr<kairos::orb::Orb> orb_of(ServantBase& servant)
{
    const kairos::poa::Calling* calling = kairos::poa::Calling::innermost();
    if (calling != nullptr && calling->servant() == &servant)
        return kairos::IntrusivePtr<kairos::orb::Orb>(&calling->adapter().orb());
    const POA_var poa = servant._default_POA();
    return kairos::IntrusivePtr<kairos::orb::Orb>(&poa->_kairos_orb());
}

} // namespace

CORBA::InterfaceDef_ptr ServantBase::_get_interface()
{
    if (kairos::corba::interface_definition == nullptr)
        throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO, "the program does not link Kairos::ir");
    const CORBA::Object_var definition = look_up(*orb_of(*this), _kairos_id());
    return kairos::corba::interface_definition(definition.in());
}

void ServantBase::_kairos_dispatch_standard(kairos::orb::Upcall& upcall)
{
    const std::string_view operation = upcall.operation();
    if (operation == "_is_a") {
        const std::string_view id = upcall.in().read_string();
        upcall.arguments_read();
        upcall.out().write(_is_a(id.data()));
    } else if (operation == "_non_existent" || operation == "_not_existent") { // GIOP 1.0 and 1.1
        upcall.arguments_read();
        upcall.out().write(_non_existent());
    } else if (operation == "_repository_id") {
        upcall.arguments_read();
        upcall.out().write_string(_kairos_id());
    } else if (operation == "_component") {
        upcall.arguments_read();
        const CORBA::Object_var component = _get_component();
        kairos::mapping::encode_object(upcall.out(), component.in());
    } else if (operation == "_interface") {
        upcall.arguments_read();
        const CORBA::Object_var definition = kairos::corba::interface_of == nullptr
                                                 ? look_up(upcall.orb(), _kairos_id())
                                                 : kairos::corba::interface_of(*this);
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

} // namespace PortableServer

namespace kairos::corba {

CORBA::Object_ptr this_object(PortableServer::ServantBase& servant)
{
    const poa::Calling* calling = poa::Calling::innermost();
    if (calling != nullptr && calling->servant() == &servant)
        return PortableServer::POA::_kairos_of(calling->adapter())._kairos_called(*calling);
    const PortableServer::POA_var poa = servant._default_POA();
    return poa->servant_to_reference(&servant);
}

} // namespace kairos::corba
