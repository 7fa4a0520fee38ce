// SPDX-License-Identifier: Apache-2.0
//
// Profiles by omniORB's names (omniORB4/IIOP.h), read and written as the ORB does it.
#include "kairos/compat/omniorb/include/omniORB4/IIOP.h"
#include "kairos/compat/omniorb/include/omniORB4/cdrStream.h"
#include "kairos/compat/omniorb/include/omniORB4/omniIOR.h"

#include "kairos/ior/profile.h"

#include <cstring>

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
