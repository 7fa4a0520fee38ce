// SPDX-License-Identifier: Apache-2.0
#include "kairos/interceptors/reference_template.h"

#include "kairos/corba/invocation.h"
#include "kairos/ior/object_key.h"
#include "kairos/ior/plain_key.h"
#include "kairos/ior/profile.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/reference.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace kairos::interceptors {

PortableServer::POA_ptr TemplatePoa::poa() const
{
    const std::lock_guard lock(mutex_);
    return PortableServer::POA::_duplicate(poa_.in());
}

void TemplatePoa::end() noexcept
{
    PortableServer::POA_var ended; // released without the lock
    const std::lock_guard lock(mutex_);
    std::swap(ended, poa_);
}

PortableInterceptor::AdapterName* name_of(PortableServer::POA& poa)
{
    std::vector<CORBA::String_var> names;
    PortableServer::POA_var at = PortableServer::POA::_duplicate(&poa);
    while (!CORBA::is_nil(at.in())) {
        names.emplace_back(at->the_name());
        at = at->the_parent();
    }
    auto* const name = new PortableInterceptor::AdapterName;
    CORBA::StringSeq_var owned = name;
    name->length(static_cast<CORBA::ULong>(names.size()));
    for (CORBA::ULong i = 0; i < name->length(); ++i)
        (*name)[i] = names[names.size() - 1 - i].in();
    return owned._retn();
}

namespace {

Bytes octets_of(const PortableInterceptor::ObjectId& id)
{
    return {reinterpret_cast<const std::byte*>(id.get_buffer()), id.length()};
}

PortableServer::ObjectId id_for_poa(Bytes octets)
{
    PortableServer::ObjectId id;
    id.length(static_cast<CORBA::ULong>(octets.size()));
    if (!octets.empty()) std::memcpy(id.get_buffer(), octets.data(), octets.size());
    return id;
}

/// Puts the id of an object into the key of one whose id is empty.
void put_id(ior::OctetVector& key, Bytes id, bool places_are_ids)
{
    using ior::ObjectKey;
    constexpr std::size_t adapter_at = 12;
    constexpr std::size_t slot_at = 16;
    const bool is_transient = ObjectKey::parse(key).has_value();
    if (is_transient && places_are_ids && id.size() == ObjectKey::size - adapter_at &&
        std::equal(id.begin(), id.begin() + (slot_at - adapter_at), key.begin() + adapter_at)) {
        std::ranges::copy(id, key.begin() + adapter_at);
        return;
    }
    Arena arena;
    const bool is_ours = is_transient || ior::PersistentKey::parse(key).has_value();
    const auto plain = is_ours ? std::nullopt : ior::parse_plain_key(key, arena);
    if (!plain) {
        key.insert(key.end(), id.begin(), id.end());
        return;
    }
    ior::OctetVector whole(plain->id.begin(), plain->id.end());
    whole.insert(whole.end(), id.begin(), id.end());
    key = ior::plain_key({plain->path, whole});
}

/// Makes the templates that messages have.
class TemplateFactory final : public CORBA::ValueFactoryBase {
  public:
    CORBA::ValueBase* create_for_unmarshal() override { return new ReferenceTemplate; }
};

} // namespace

ReferenceTemplate::ReferenceTemplate(std::shared_ptr<const TemplatePoa> of,
                                     const std::string& orb_id, const std::string& server_id)
    : poa_(std::move(of))
{
    const PortableServer::POA_var poa = poa_->poa();
    of_server(server_id.c_str());
    of_orb(orb_id.c_str());
    const CORBA::StringSeq_var name = name_of(*poa.in());
    of_adapter(name.in());
    bool ids = false;
    const CORBA::Object_var object = poa->_kairos_sample(ids);
    sample(object.in());
    places_are_ids(ids);
}

char* ReferenceTemplate::server_id() { return CORBA::string_dup(of_server()); }

char* ReferenceTemplate::orb_id() { return CORBA::string_dup(of_orb()); }

PortableInterceptor::AdapterName* ReferenceTemplate::adapter_name()
{
    return new PortableInterceptor::AdapterName(of_adapter());
}

CORBA::Object_ptr ReferenceTemplate::make_object(const char* repository_id,
                                                 const PortableInterceptor::ObjectId& id)
{
    if (repository_id == nullptr)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "null repository id");
    if (poa_) {
        const PortableServer::POA_var poa = poa_->poa();
        if (!CORBA::is_nil(poa.in()))
            return poa->_kairos_make_object(repository_id, id_for_poa(octets_of(id)));
    }
    return from_sample(repository_id, id);
}

CORBA::Object_ptr ReferenceTemplate::from_sample(const char* repository_id,
                                                 const PortableInterceptor::ObjectId& id)
{
    CORBA::Object_ptr object = sample();
    if (CORBA::is_nil(object) || !object->_kairos_reference())
        throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, "the template has no reference");
    const orb::Reference& reference = corba::reference_of(*object);
    ior::Ior made = reference.ior();
    made.type_id = repository_id;
    for (ior::TaggedProfile& profile : made.profiles) {
        if (profile.tag != ior::tag_internet_iop) continue;
        auto decoded = ior::decode_iiop(profile.data);
        if (!decoded)
            throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, "the template's reference is malformed");
        put_id(decoded->object_key, octets_of(id), places_are_ids());
        profile = ior::encode_iiop(*decoded);
    }
    return corba::StubFactory::make<CORBA::Object>(reference.orb().make_reference(std::move(made)));
}

void know_templates(CORBA::ORB& orb)
{
    const CORBA::ValueFactoryBase_var factory = new TemplateFactory;
    const CORBA::ValueFactoryBase_var former =
        orb.register_value_factory(KairosReferences::Template::_kairos_id, factory.in());
}

} // namespace kairos::interceptors
