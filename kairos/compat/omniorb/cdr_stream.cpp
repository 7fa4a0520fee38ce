// SPDX-License-Identifier: Apache-2.0
//
// omniORB's streams (omniORB4/cdrStream.h): a writer of octets, and a cursor in what it wrote.
#include "kairos/compat/omniorb/include/omniORB4/cdrStream.h"

#include "kairos/corba/orb_state.h"
#include "kairos/orb/orb.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace {

using kairos::Bytes;
using kairos::cdr::Reader;

std::byte* at(void* pointer) { return static_cast<std::byte*>(pointer); }

std::size_t misalignment_of(const void* pointer)
{
    return reinterpret_cast<std::uintptr_t>(pointer) % 8;
}

Bytes octets_of(const CORBA::Octet* octets, std::size_t size)
{
    return {reinterpret_cast<const std::byte*>(octets), size};
}

void require_size(int size)
{
    if (size < 0) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a negative number of octets");
}

[[noreturn]] void raise_read_only()
{
    throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, "the octets of this stream are another's");
}

} // namespace

namespace kairos::omniorb {

ReadWithOrb::ReadWithOrb(cdr::Reader& in)
{
    if (CORBA::ORB_ptr found = corba::default_orb()) {
        core_ = IntrusivePtr<orb::Orb>(&found->_kairos_core());
        environment_.orb = core_.get();
        environment_.orb_owner = core_.get();
        environment_.value_factories = core_->value_factories();
    }
    in.set_environment(&environment_);
}

ReadWithOrb::~ReadWithOrb() = default;

} // namespace kairos::omniorb

cdrStream::~cdrStream() = default;

/// Alignment counts by addresses, as omniORB has it: its buffers begin at multiples of eight.
Reader cdrStream::reader() const
{
    const std::size_t begin = misalignment_of(pd_inb_mkr);
    const std::size_t left = pd_inb_mkr == nullptr || pd_inb_mkr > pd_inb_end
                                 ? 0
                                 : static_cast<std::size_t>(at(pd_inb_end) - at(pd_inb_mkr));
    // What is in front of the cursor is never read.
    return {Bytes(at(pd_inb_mkr) - begin, begin + left),
            kairos::native_little_endian != pd_unmarshal_byte_swap, begin};
}

void cdrStream::read_by(const Reader& in)
{
    if (!in.ok()) throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, kairos::cdr::describe(in.fault()));
    pd_inb_mkr = at(pd_inb_mkr) + (in.offset() - misalignment_of(pd_inb_mkr));
}

/// The memory may be elsewhere since more was written.
void cdrStream::written()
{
    if (pd_readonly_and_external_buffer) {
        out_.clear();
        raise_read_only();
    }
    const Bytes octets = out_.octets();
    auto* const begin = const_cast<std::byte*>(octets.data());
    const std::ptrdiff_t read = pd_bufp_8 == nullptr ? 0 : at(pd_inb_mkr) - at(pd_bufp_8);
    pd_bufp_8 = begin;
    pd_inb_mkr = begin + read;
    pd_outb_mkr = pd_outb_end = pd_inb_end = begin + octets.size();
}

void cdrStream::marshalString(const char* text, int bounded)
{
    if (text != nullptr && bounded > 0 && std::strlen(text) > static_cast<std::size_t>(bounded))
        kairos::mapping::raise_string_bound_exceeded();
    out_.put(text);
    written();
}

void cdrStream::marshalWString(const CORBA::WChar* text, int bounded)
{
    if (text != nullptr && bounded > 0 && std::wcslen(text) > static_cast<std::size_t>(bounded))
        kairos::mapping::raise_string_bound_exceeded();
    out_.put(text);
    written();
}

char* cdrStream::unmarshalString(int bounded)
{
    Reader in = reader();
    CORBA::String_var text;
    kairos::mapping::decode_string(in, text, bounded > 0 ? static_cast<CORBA::ULong>(bounded) : 0);
    read_by(in);
    return text._retn();
}

CORBA::WChar* cdrStream::unmarshalWString(int bounded)
{
    Reader in = reader();
    CORBA::WString_var text;
    kairos::mapping::decode_string(in, text, bounded > 0 ? static_cast<CORBA::ULong>(bounded) : 0);
    read_by(in);
    return text._retn();
}

void cdrStream::put_octet_array(const CORBA::Octet* octets, int size, omni::alignment_t alignment)
{
    require_size(size);
    out_.put_octets(octets_of(octets, static_cast<std::size_t>(size)),
                    static_cast<std::size_t>(alignment));
    written();
}

void cdrStream::get_octet_array(CORBA::Octet* octets, int size, omni::alignment_t alignment)
{
    require_size(size);
    Reader in = reader();
    const std::byte* const there =
        in.block(static_cast<std::size_t>(size), static_cast<std::size_t>(alignment));
    read_by(in);
    if (size != 0) std::memcpy(octets, there, static_cast<std::size_t>(size));
}

CORBA::Boolean cdrStream::checkInputOverrun(CORBA::ULong item_size, CORBA::ULong items,
                                            omni::alignment_t alignment)
{
    const auto begin = omni::align_to(reinterpret_cast<omni::ptr_arith_t>(pd_inb_mkr), alignment);
    const auto end = reinterpret_cast<omni::ptr_arith_t>(pd_inb_end);
    return begin <= end && (end - begin) / std::max<std::size_t>(item_size, 1) >= items;
}

void _CORBA_marshal_sequence_range_check_error(cdrStream& /*stream*/)
{
    throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, "a sequence claims more than there is");
}

void cdrStream::skipInput(CORBA::ULong octets)
{
    Reader in = reader();
    (void)in.block(octets, 1);
    read_by(in);
}

void cdrStream::alignInput(omni::alignment_t alignment)
{
    Reader in = reader();
    in.align(static_cast<std::size_t>(alignment));
    read_by(in);
}

void cdrStream::alignOutput(omni::alignment_t alignment) { put_octet_array(nullptr, 0, alignment); }

// --- In memory -----------------------------------------------------------------------------------

cdrMemoryStream::cdrMemoryStream(CORBA::ULong /*initial_size*/, CORBA::Boolean /*clears_memory*/)
{
    written();
}

cdrMemoryStream::cdrMemoryStream(void* octets, std::size_t size)
{
    pd_readonly_and_external_buffer = true;
    pd_bufp_8 = pd_inb_mkr = octets;
    pd_inb_end = at(octets) + size;
}

cdrMemoryStream::cdrMemoryStream(const cdrMemoryStream& other, CORBA::Boolean /*read_only*/)
{
    *this = other;
}

cdrMemoryStream& cdrMemoryStream::operator=(const cdrMemoryStream& other)
{
    if (this == &other) return *this;
    const Bytes octets(at(other.pd_bufp_8),
                       static_cast<std::size_t>(at(other.pd_inb_end) - at(other.pd_bufp_8)));
    pd_readonly_and_external_buffer = false;
    pd_unmarshal_byte_swap = other.pd_unmarshal_byte_swap;
    pd_bufp_8 = nullptr;
    out_.clear();
    out_.put_octets(octets);
    written();
    return *this;
}

cdrMemoryStream::~cdrMemoryStream() = default;

void cdrMemoryStream::rewindInputPtr() { pd_inb_mkr = pd_bufp_8; }

void cdrMemoryStream::rewindPtrs()
{
    if (!pd_readonly_and_external_buffer) {
        out_.clear();
        pd_bufp_8 = nullptr;
        written();
    }
    rewindInputPtr();
}

CORBA::ULong cdrMemoryStream::currentInputPtr() const
{
    return pd_bufp_8 == nullptr ? 0 : static_cast<CORBA::ULong>(at(pd_inb_mkr) - at(pd_bufp_8));
}

CORBA::ULong cdrMemoryStream::bufSize() const
{
    return static_cast<CORBA::ULong>(out_.octets().size());
}

void cdrMemoryStream::setByteSwapFlag(CORBA::Boolean little_endian)
{
    pd_unmarshal_byte_swap = little_endian != kairos::native_little_endian;
}

// --- Encapsulations ------------------------------------------------------------------------------

cdrEncapsulationStream::cdrEncapsulationStream(CORBA::ULong initial_size,
                                               CORBA::Boolean clears_memory)
    : cdrMemoryStream(initial_size, clears_memory)
{
    marshalBoolean(kairos::native_little_endian);
    pd_inb_mkr = pd_inb_end;
}

cdrEncapsulationStream::cdrEncapsulationStream(const CORBA::Octet* octets, CORBA::ULong size,
                                               CORBA::Boolean /*may_be_aligned_to_4*/)
{
    take(octets, size);
}

cdrEncapsulationStream::cdrEncapsulationStream(
    const kairos::mapping::UnboundedSequence<CORBA::Octet>& octets,
    CORBA::Boolean /*may_be_aligned_to_4*/)
{
    take(octets.get_buffer(), octets.length());
}

void cdrEncapsulationStream::take(const CORBA::Octet* octets, CORBA::ULong size)
{
    out_.put_octets(octets_of(octets, size));
    written();
    setByteSwapFlag(unmarshalBoolean());
}

void cdrEncapsulationStream::getOctetStream(CORBA::Octet*& octets, CORBA::ULong& room,
                                            CORBA::ULong& size) const
{
    room = size = bufSize();
    octets = CORBA::OctetSeq::allocbuf(size);
    if (size != 0) std::memcpy(octets, bufPtr(), size);
}

void cdrEncapsulationStream::setOctetSeq(CORBA::OctetSeq& octets) const
{
    octets.length(bufSize());
    if (bufSize() != 0) std::memcpy(octets.get_buffer(), bufPtr(), bufSize());
}
