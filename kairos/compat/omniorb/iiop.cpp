// SPDX-License-Identifier: Apache-2.0
//
// Profiles by omniORB's names (omniORB4/IIOP.h), read and written as the ORB does it.
#include "kairos/compat/omniorb/include/omniORB4/IIOP.h"
#include "kairos/compat/omniorb/include/omniORB4/cdrStream.h"
#include "kairos/compat/omniorb/include/omniORB4/omniIOR.h"

#include "kairos/corba/orb.h"
#include "kairos/ior/profile.h"
#include "kairos/orb/reference.h"

#include <cstring>
#include <memory>
#include <string>

namespace {

using kairos::Bytes;
using kairos::ior::TaggedComponent;

template <typename Sequence>
Bytes bytes_in(const Sequence& octets)
{
    return {reinterpret_cast<const std::byte*>(octets.get_buffer()), octets.length()};
}

template <typename Sequence>
void assign(Sequence& sequence, Bytes octets)
{
    sequence.length(static_cast<CORBA::ULong>(octets.size()));
    if (!octets.empty()) std::memcpy(sequence.get_buffer(), octets.data(), octets.size());
}

template <typename Sequence>
kairos::ior::OctetVector vector_of(const Sequence& octets)
{
    const Bytes bytes = bytes_in(octets);
    return {bytes.begin(), bytes.end()};
}

[[noreturn]] void refuse_address()
{
    throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO,
                              "-ORBPublish host=HOST:PORT adds an address to all references");
}

} // namespace

omniIOR::omniIOR(char* repository_id, IOP::TaggedProfileList* profiles)
    : repository_id_(repository_id), profiles_(profiles)
{
    if (repository_id == nullptr || profiles == nullptr)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a reference without type or profiles");
}

omniIOR::omniIOR(const char* repository_id, const _CORBA_Unbounded_Sequence_Octet& key,
                 const IIOP::Address* addresses, CORBA::ULong count, GIOP::Version version,
                 interceptorOption /*option*/, const IOP::MultipleComponentProfile* components)
    : repository_id_(CORBA::string_dup(repository_id)), profiles_(new IOP::TaggedProfileList(1))
{
    if (count == 0 || addresses == nullptr)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a reference without an address");
    if (repository_id == nullptr)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a reference without a repository id");
    const bool has_components = count > 1 || (components != nullptr && components->length() > 0);
    if (version.major == 1 && version.minor == 0 && has_components)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "IIOP 1.0 has no components");
    IIOP::ProfileBody body;
    body.version = version;
    body.address = addresses[0];
    body.object_key = key;
    if (components != nullptr) body.components = *components;
    for (CORBA::ULong i = 1; i < count; ++i) {
        IOP::TaggedComponent& other = newIIOPtaggedComponent(body.components);
        cdrEncapsulationStream stream;
        stream.marshalRawString(addresses[i].host.in());
        stream.marshalUShort(addresses[i].port);
        other.tag = IOP::TAG_ALTERNATE_IIOP_ADDRESS;
        assign(other.component_data,
               {static_cast<const std::byte*>(stream.bufPtr()), stream.bufSize()});
    }
    profiles_->length(1);
    IIOP::encodeProfile(body, profiles_[0U]);
}

omniIOR::~omniIOR() = default;

omniIOR* omniIOR::duplicate()
{
    owners_.fetch_add(1, std::memory_order_relaxed);
    return this;
}

void omniIOR::release()
{
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

IOP::TaggedComponent& omniIOR::newIIOPtaggedComponent(IOP::MultipleComponentProfile& components)
{
    const CORBA::ULong index = components.length();
    components.length(index + 1);
    return components[index];
}

void omniIOR::add_IIOP_ADDRESS(const IIOP::Address& /*address*/, void* /*publish*/)
{
    refuse_address();
}

void omniIOR::add_TAG_ALTERNATE_IIOP_ADDRESS(const IIOP::Address& /*address*/, void* /*publish*/)
{
    refuse_address();
}

void IIOP::encodeProfile(const ProfileBody& body, IOP::TaggedProfile& profile)
{
    kairos::ior::IiopProfile made;
    made.version = {body.version.major, body.version.minor};
    made.host = body.address.host.in();
    made.port = body.address.port;
    made.object_key = vector_of(body.object_key);
    for (CORBA::ULong i = 0; i < body.components.length(); ++i) {
        const IOP::TaggedComponent& component = body.components[i];
        made.components.push_back(
            TaggedComponent{component.tag, vector_of(component.component_data)});
    }
    const kairos::ior::TaggedProfile encoded = kairos::ior::encode_iiop(made);
    profile.tag = encoded.tag;
    assign(profile.profile_data, encoded.data);
}

void IIOP::unmarshalProfile(const IOP::TaggedProfile& profile, ProfileBody& body)
{
    if (profile.tag != IOP::TAG_INTERNET_IOP)
        throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, "the profile is none of IIOP");
    const auto read = kairos::ior::decode_iiop(bytes_in(profile.profile_data));
    if (!read) throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, read.error().reason);
    body.version = Version{read->version.major, read->version.minor};
    body.address.host = read->host.c_str();
    body.address.port = read->port;
    assign(body.object_key, read->object_key);
    body.components.length(static_cast<CORBA::ULong>(read->components.size()));
    for (CORBA::ULong i = 0; i < body.components.length(); ++i) {
        body.components[i].tag = read->components[i].tag;
        assign(body.components[i].component_data, read->components[i].data);
    }
}

void IIOP::encodeMultiComponentProfile(const IOP::MultipleComponentProfile& components,
                                       IOP::TaggedProfile& profile)
{
    cdrEncapsulationStream stream;
    components >>= stream;
    profile.tag = IOP::TAG_MULTIPLE_COMPONENTS;
    profile.profile_data.length(stream.bufSize());
    std::memcpy(profile.profile_data.get_buffer(), stream.bufPtr(), stream.bufSize());
}

void IIOP::unmarshalMultiComponentProfile(const IOP::TaggedProfile& profile,
                                          IOP::MultipleComponentProfile& components)
{
    if (profile.tag != IOP::TAG_MULTIPLE_COMPONENTS)
        throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, "the profile is none of components");
    cdrEncapsulationStream stream(profile.profile_data.get_buffer(), profile.profile_data.length());
    components <<= stream;
}

char* omniObjRef::_toString(omniObjRef* reference)
{
    if (reference == nullptr) // nil: no type, no profiles
        return CORBA::string_dup(kairos::ior::to_string(kairos::ior::Ior{}).c_str());
    const CORBA::Object_ptr object = reference->object_.in();
    const CORBA::ORB_var orb = object->_get_orb();
    return orb->object_to_string(object);
}

omniObjRef* omni::createObjRef(const char* repository_id, omniIOR* ior, CORBA::Boolean /*locked*/)
{
    if (ior == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "no reference");
    const omniIOR_var taken(ior);
    const CORBA::ORB_ptr orb = kairos::corba::default_orb();
    if (orb == nullptr) throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO, "there is no ORB");
    const std::string_view said = taken->repositoryID();
    kairos::ior::Ior made;
    made.type_id = said.empty() && repository_id != nullptr ? repository_id : said;
    const IOP::TaggedProfileList& profiles = taken->iopProfiles();
    for (CORBA::ULong i = 0; i < profiles.length(); ++i)
        made.profiles.push_back({profiles[i].tag, vector_of(profiles[i].profile_data)});
    CORBA::Object_var object = orb->string_to_object(kairos::ior::to_string(made).c_str());
    if (CORBA::is_nil(object.in()))
        throw CORBA::INV_OBJREF(0, CORBA::COMPLETED_NO, "a reference without profiles");
    return new omniObjRef(object._retn());
}

omniIOR* kairos::omniorb::operator%(const corba::ReferencePtr& reference, AsOmniIor)
{
    if (!reference) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "the reference of no object");
    const ior::Ior& said = reference->ior();
    auto profiles = std::make_unique<IOP::TaggedProfileList>();
    profiles->length(static_cast<CORBA::ULong>(said.profiles.size()));
    for (CORBA::ULong i = 0; i < profiles->length(); ++i) {
        (*profiles)[i].tag = said.profiles[i].tag;
        assign((*profiles)[i].profile_data, said.profiles[i].data);
    }
    CORBA::String_var type = CORBA::string_dup(said.type_id.c_str());
    return new omniIOR(type._retn(), profiles.release());
}

char* IOP::dumpComponent(const TaggedComponent& component)
{
    constexpr std::string_view digits = "0123456789abcdef";
    const auto& data = component.component_data;
    std::string text;
    if (component.tag == TAG_ORB_TYPE) {
        cdrEncapsulationStream stream(data);
        text = "TAG_ORB_TYPE " + std::to_string(stream.unmarshalULong());
    } else if (component.tag == TAG_ALTERNATE_IIOP_ADDRESS) {
        cdrEncapsulationStream stream(data);
        const CORBA::String_var host = stream.unmarshalRawString();
        text = std::string("TAG_ALTERNATE_IIOP_ADDRESS ") + host.in() + " ";
        text += std::to_string(stream.unmarshalUShort());
    } else {
        text = "tag " + std::to_string(component.tag) + " 0x";
        for (CORBA::ULong i = 0; i < data.length(); ++i)
            text.append({digits[data[i] >> 4U], digits[data[i] & 15U]});
    }
    return CORBA::string_dup(text.c_str());
}
