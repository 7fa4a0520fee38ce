// SPDX-License-Identifier: Apache-2.0
//
// PortableGroup::GOA: says to the receiver of groups (group_receiver.h) which objects of a POA are
// in which.
#include "kairos/datagrams/PortableGroup.h"
#include "kairos/datagrams/group_receiver.h"
#include "kairos/datagrams/receiver.h"
#include "kairos/mapping/exception.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/reference.h"
#include "kairos/server/serving.h"

#include <atomic>
#include <cstring>
#include <string>

namespace PortableGroup {

namespace {

using kairos::Bytes;
using kairos::datagrams::GroupProfile;
using kairos::datagrams::GroupReceiver;
using kairos::ior::OctetVector;
using PortableServer::ObjectId;
using PortableServer::ObjectId_var;

GroupProfile group_of(CORBA::Object_ptr reference)
{
    if (CORBA::is_nil(reference) || !reference->_kairos_reference()) throw NotAGroupObject();
    auto group = kairos::datagrams::group_of(reference->_kairos_reference()->ior());
    if (!group) throw NotAGroupObject();
    return std::move(*group);
}

Bytes octets_of_id(const ObjectId& id)
{
    return std::as_bytes(std::span(id.get_buffer(), id.length()));
}

ObjectId* id_of_octets(Bytes octets)
{
    ObjectId_var id = new ObjectId;
    id->length(static_cast<CORBA::ULong>(octets.size()));
    if (!octets.empty()) std::memcpy(id->get_buffer(), octets.data(), octets.size());
    return id._retn();
}

OctetVector adapter_of(PortableServer::POA_ptr poa)
{
    const ObjectId_var id = poa->id();
    const Bytes octets = octets_of_id(id.in());
    return {octets.begin(), octets.end()};
}

/// Null before there is a reference to an object of a POA's.
GroupReceiver* receiver_of(PortableServer::POA_ptr poa)
{
    auto* const side = kairos::orb::Serving::of(poa->_kairos_orb()).datagram_side();
    return side == nullptr ? nullptr : &static_cast<kairos::datagrams::Receiver*>(side)->groups();
}

/// An id for a POA whose ids the program makes.
ObjectId* make_id()
{
    static std::atomic<std::uint64_t> made{0};
    const std::string text = "member-" + std::to_string(made.fetch_add(1) + 1);
    return PortableServer::string_to_ObjectId(text.c_str());
}

} // namespace

GOA_ptr GOA::_narrow(CORBA::Object_ptr object)
{
    if (auto* const same = dynamic_cast<GOA*>(object)) return _duplicate(same);
    auto* const poa = dynamic_cast<PortableServer::POA*>(object);
    return poa == nullptr ? nullptr : new GOA(poa);
}

bool GOA::_kairos_supports(std::string_view repository_id) const
{
    return repository_id == _kairos_id || poa_->_kairos_supports(repository_id);
}

ObjectId* GOA::create_id_for_reference(CORBA::Object_ptr the_ref)
{
    (void)group_of(the_ref); // before anything is made
    ObjectId_var id;
    try {
        const CORBA::Object_var object = poa_->create_reference("");
        id = poa_->reference_to_id(object);
    } catch (const PortableServer::POA::WrongPolicy&) {
        id = make_id();
    }
    associate_reference_with_id(the_ref, id.in());
    return id._retn();
}

IDs* GOA::reference_to_ids(CORBA::Object_ptr the_ref)
{
    const GroupProfile group = group_of(the_ref);
    IDs_var ids = new IDs;
    GroupReceiver* const receiver = receiver_of(poa_);
    if (receiver == nullptr) return ids._retn();
    const auto found = receiver->ids(group, adapter_of(poa_));
    ids->length(static_cast<CORBA::ULong>(found.size()));
    for (std::size_t i = 0; i < found.size(); ++i) {
        const ObjectId_var id = id_of_octets(found[i]);
        (*ids.ptr())[static_cast<CORBA::ULong>(i)] = id.in();
    }
    return ids._retn();
}

void GOA::associate_reference_with_id(CORBA::Object_ptr ref, const ObjectId& oid)
{
    const GroupProfile group = group_of(ref);
    if (const std::string why = kairos::datagrams::contradiction(poa_->_kairos_orb().options());
        !why.empty())
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "groups: " + why);
    const CORBA::Object_var object = poa_->_kairos_make_object("", oid);
    const Bytes key = object->_kairos_reference()->object_key();
    const Bytes id = octets_of_id(oid);
    GroupReceiver* const receiver = receiver_of(poa_);
    if (receiver == nullptr)
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "groups: the ORB does not listen");
    const auto added = receiver->add(group, {.adapter = adapter_of(poa_),
                                             .id = {id.begin(), id.end()},
                                             .key = {key.begin(), key.end()}});
    if (!added) throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, added.error().reason);
}

void GOA::disassociate_reference_with_id(CORBA::Object_ptr ref, const ObjectId& oid)
{
    const GroupProfile group = group_of(ref);
    if (GroupReceiver* const receiver = receiver_of(poa_))
        (void)receiver->remove(group, adapter_of(poa_), octets_of_id(oid));
}

} // namespace PortableGroup
