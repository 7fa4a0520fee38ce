// SPDX-License-Identifier: Apache-2.0
//
// Values of IDL types as octets outside of calls: for files, other transports, and service
// contexts. The octets are CDR (CORBA 3.3 part 2, 9.3), as in a message of GIOP 1.2; characters are
// octets as they are, wide ones UTF-16. Each object belongs to one thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/cdr/environment.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/corba/orb.h"
#include "kairos/corba/stub.h"
#include "kairos/mapping/marshal.h"

#include <type_traits>

namespace kairos::codec {

/// Writes values one behind the other, in the byte order of this machine, aligned from the first
/// octet on.
class KAIROS_API OctetWriter {
  public:
    /// Makes an empty one. `orb`, which may be nil, is what valuetypes and references belong to.
    explicit OctetWriter(CORBA::ORB_ptr orb = nullptr);
    OctetWriter(const OctetWriter&) = delete;
    OctetWriter& operator=(const OctetWriter&) = delete;
    ~OctetWriter();

    /// Writes a value: a number, an enumerator, a struct, union, sequence, array or Any, a _var of
    /// a string, reference or valuetype. Throws what a call with it as an argument would throw:
    /// BAD_PARAM for null strings, say.
    template <typename T>
    OctetWriter& put(const T& value)
    {
        mapping::encode(out_, value);
        return *this;
    }
    template <typename Char>
    OctetWriter& put(const mapping::TextOwner<Char, false>& text) // a String_var
    {
        return put(text.in());
    }
    /// Writes a string. Throws BAD_PARAM for null.
    OctetWriter& put(const char* text);
    /// Writes a wide string. Throws BAD_PARAM for null.
    OctetWriter& put(const wchar_t* text);
    /// Writes octets as they are, from the next multiple of `alignment` on: 1, 2, 4 or 8.
    OctetWriter& put_octets(Bytes octets, std::size_t alignment = 1);
    /// Forgets all that was written.
    void clear();

    /// Returns what was written, until the next function of this object is called.
    [[nodiscard]] Bytes octets() const noexcept { return out_.contiguous(); }

  private:
    cdr::Buffer buffer_;
    cdr::Writer out_;
    cdr::Writer::CopyAll copies_;
    IntrusivePtr<orb::Orb> core_;
    cdr::Environment environment_;
};

/// Reads values in the order in which they were written.
class KAIROS_API OctetReader {
  public:
    /// Reads octets, which must outlive it, in this byte order, aligned from the first one on.
    /// `orb`, which may be nil, is what references and valuetypes will belong to: without it they
    /// are malformed.
    OctetReader(Bytes octets, bool little_endian, CORBA::ORB_ptr orb = nullptr);
    OctetReader(const OctetReader&) = delete;
    OctetReader& operator=(const OctetReader&) = delete;
    ~OctetReader();

    /// Reads a value as OctetWriter::put writes it. Throws MARSHAL, COMPLETED_NO, where the octets
    /// are not such a value; nothing more can be read then. What it makes is bounded by the octets
    /// that are there, whatever lengths they claim.
    template <typename T>
    OctetReader& get(T& value)
    {
        mapping::decode(in_, value);
        check();
        return *this;
    }
    template <typename Char>
    OctetReader& get(mapping::TextOwner<Char, false>& text)
    {
        mapping::decode_string(in_, text);
        check();
        return *this;
    }
    /// Returns the next octets in place, from the next multiple of `alignment` on. Throws MARSHAL
    /// if there are not as many.
    [[nodiscard]] Bytes get_octets(std::size_t count, std::size_t alignment = 1);
    /// Returns how many octets are left.
    [[nodiscard]] std::size_t left() const noexcept { return in_.left(); }

  private:
    void check();

    cdr::Reader in_;
    IntrusivePtr<orb::Orb> core_;
    cdr::Environment environment_;
};

/// Returns an encapsulation (9.3.3) of a value, owned by the caller: its byte order first.
template <typename T>
[[nodiscard]] CORBA::OctetSeq* encapsulate(const T& value, CORBA::ORB_ptr orb = nullptr);

/// Reads the value of an encapsulation. Throws MARSHAL where it is none.
template <typename T>
void decapsulate(const CORBA::OctetSeq& octets, T& value, CORBA::ORB_ptr orb = nullptr);

// --- Inside --------------------------------------------------------------------------------------

/// Returns a copy, owned by the caller.
[[nodiscard]] KAIROS_API CORBA::OctetSeq* octet_sequence(Bytes octets);

template <typename T>
CORBA::OctetSeq* encapsulate(const T& value, CORBA::ORB_ptr orb)
{
    OctetWriter out(orb);
    out.put(static_cast<CORBA::Boolean>(native_little_endian)).put(value);
    return octet_sequence(out.octets());
}

template <typename T>
void decapsulate(const CORBA::OctetSeq& octets, T& value, CORBA::ORB_ptr orb)
{
    const Bytes bytes(reinterpret_cast<const std::byte*>(octets.get_buffer()), octets.length());
    const bool little_endian = !bytes.empty() && bytes[0] == std::byte{1};
    CORBA::Boolean flag = false;
    OctetReader(bytes, little_endian, orb).get(flag).get(value);
}

} // namespace kairos::codec
