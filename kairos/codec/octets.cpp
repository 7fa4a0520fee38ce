// SPDX-License-Identifier: Apache-2.0
#include "kairos/codec/octets.h"

#include "kairos/corba/orb_state.h"
#include "kairos/orb/orb.h"

#include <cstring>

namespace kairos::codec {
namespace {

IntrusivePtr<orb::Orb> core_of(CORBA::ORB_ptr orb)
{
    return IntrusivePtr<orb::Orb>(orb == nullptr ? nullptr : &orb->_kairos_core());
}

cdr::Environment environment_with(const IntrusivePtr<orb::Orb>& core)
{
    cdr::Environment environment;
    environment.orb = core.get();
    environment.orb_owner = core.get();
    if (core) environment.value_factories = core->value_factories();
    return environment;
}

} // namespace

OctetWriter::OctetWriter(CORBA::ORB_ptr orb)
    : out_(buffer_), copies_(out_), core_(core_of(orb)), environment_(environment_with(core_))
{
    out_.set_environment(&environment_);
}

OctetWriter::~OctetWriter() = default;

OctetWriter& OctetWriter::put(const char* text)
{
    mapping::encode_string(out_, text);
    return *this;
}

OctetWriter& OctetWriter::put(const wchar_t* text)
{
    mapping::encode_string(out_, text);
    return *this;
}

OctetWriter& OctetWriter::put_octets(Bytes octets, std::size_t alignment)
{
    std::byte* const place = out_.claim(octets.size(), alignment);
    if (!octets.empty()) std::memcpy(place, octets.data(), octets.size());
    return *this;
}

void OctetWriter::clear()
{
    out_.reset(0);
    environment_.values_written.reset();
}

OctetReader::OctetReader(Bytes octets, bool little_endian, CORBA::ORB_ptr orb)
    : in_(octets, little_endian), core_(core_of(orb)), environment_(environment_with(core_))
{
    in_.set_environment(&environment_);
}

OctetReader::~OctetReader() = default;

void OctetReader::check()
{
    if (!in_.ok()) throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, cdr::describe(in_.fault()));
    environment_.accept_values();
}

Bytes OctetReader::get_octets(std::size_t count, std::size_t alignment)
{
    const std::byte* const octets = in_.block(count, alignment);
    check();
    return {octets, count};
}

CORBA::OctetSeq* octet_sequence(Bytes octets)
{
    CORBA::OctetSeq_var sequence = new CORBA::OctetSeq;
    sequence->length(static_cast<CORBA::ULong>(octets.size()));
    if (!octets.empty()) std::memcpy(sequence->get_buffer(), octets.data(), octets.size());
    return sequence._retn();
}

} // namespace kairos::codec
