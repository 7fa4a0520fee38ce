// SPDX-License-Identifier: Apache-2.0
//
// omniORB's streams of CDR outside of calls: `value >>= stream` writes, `stream`'s `value <<=
// stream` reads, for every type of IDL but plain pointers to references and valuetypes, of which a
// _var is written. What is read of these is the process's ORB's. Each stream belongs to one thread.
// Reading throws MARSHAL where the octets are not what is asked for. docs/from-omniorb.md says what
// of omniORB's classes is not here.
#pragma once

#include "omniORB4/CORBA_sysdep.h"

#include "kairos/base/export.h"
#include "kairos/codec/octets.h"
#include "kairos/corba/IOP.h"
#include "omniORB4/omniORB.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace omni {

/// This machine's byte order: 1 for little-endian.
inline constexpr CORBA::Boolean myByteOrder = kairos::native_little_endian;

typedef std::uintptr_t ptr_arith_t;
typedef enum { ALIGN_1 = 1, ALIGN_2 = 2, ALIGN_4 = 4, ALIGN_8 = 8 } alignment_t;

/// Returns the next multiple of the alignment, or this.
inline ptr_arith_t align_to(ptr_arith_t position, alignment_t alignment)
{
    const auto multiple = static_cast<ptr_arith_t>(alignment);
    return (position + multiple - 1) & ~(multiple - 1);
}

} // namespace omni

namespace kairos::omniorb {

/// Says to a reader which ORB references and valuetypes belong to while one value is read: the
/// process's, if there is any; else references are malformed. One thread, on the stack.
class KAIROS_API ReadWithOrb {
  public:
    explicit ReadWithOrb(cdr::Reader& in);
    ReadWithOrb(const ReadWithOrb&) = delete;
    ReadWithOrb& operator=(const ReadWithOrb&) = delete;
    ~ReadWithOrb();
    /// To be called when the value was read and is not malformed.
    void accept() const { environment_.accept_values(); }

  private:
    IntrusivePtr<orb::Orb> core_;
    cdr::Environment environment_;
};

} // namespace kairos::omniorb

/// What all of them have. Classes of programs derive from cdrMemoryStream.
class KAIROS_API cdrStream {
  public:
    virtual ~cdrStream();
    cdrStream(const cdrStream&) = delete;
    cdrStream& operator=(const cdrStream&) = delete;

    template <typename T>
    void _kairos_put(const T& value)
    {
        out_.put(value);
        written();
    }
    template <typename T>
    void _kairos_get(T& value)
    {
        kairos::cdr::Reader in = reader();
        if constexpr (std::is_class_v<std::remove_all_extents_t<T>>) {
            const kairos::omniorb::ReadWithOrb orb(in);
            kairos::mapping::decode(in, value);
            read_by(in);
            orb.accept();
        } else {
            kairos::mapping::decode(in, value);
            read_by(in);
        }
    }

    template <typename Char>
    void _kairos_get(kairos::mapping::TextOwner<Char, false>& text) // a String_var
    {
        kairos::cdr::Reader in = reader();
        kairos::mapping::decode_string(in, text);
        read_by(in);
    }

    void marshalBoolean(CORBA::Boolean value) { _kairos_put(value); }
    void marshalChar(CORBA::Char value) { _kairos_put(value); }
    void marshalWChar(CORBA::WChar value) { _kairos_put(value); }
    void marshalOctet(CORBA::Octet value) { _kairos_put(value); }
    void marshalShort(CORBA::Short value) { _kairos_put(value); }
    void marshalUShort(CORBA::UShort value) { _kairos_put(value); }
    void marshalLong(CORBA::Long value) { _kairos_put(value); }
    void marshalULong(CORBA::ULong value) { _kairos_put(value); }
    void marshalLongLong(CORBA::LongLong value) { _kairos_put(value); }
    void marshalULongLong(CORBA::ULongLong value) { _kairos_put(value); }
    void marshalFloat(CORBA::Float value) { _kairos_put(value); }
    void marshalDouble(CORBA::Double value) { _kairos_put(value); }
    /// Writes a string of at most `bounded` characters; 0: of any number. Throws BAD_PARAM for null
    /// and for more.
    void marshalString(const char* text, int bounded = 0);
    void marshalWString(const CORBA::WChar* text, int bounded = 0);
    // As the octets are, in no code set; so is what marshalString writes.
    void marshalRawString(const char* text) { marshalString(text); }

    [[nodiscard]] CORBA::Boolean unmarshalBoolean() { return got<CORBA::Boolean>(); }
    [[nodiscard]] CORBA::Char unmarshalChar() { return got<CORBA::Char>(); }
    [[nodiscard]] CORBA::WChar unmarshalWChar() { return got<CORBA::WChar>(); }
    [[nodiscard]] CORBA::Octet unmarshalOctet() { return got<CORBA::Octet>(); }
    [[nodiscard]] CORBA::Short unmarshalShort() { return got<CORBA::Short>(); }
    [[nodiscard]] CORBA::UShort unmarshalUShort() { return got<CORBA::UShort>(); }
    [[nodiscard]] CORBA::Long unmarshalLong() { return got<CORBA::Long>(); }
    [[nodiscard]] CORBA::ULong unmarshalULong() { return got<CORBA::ULong>(); }
    [[nodiscard]] CORBA::LongLong unmarshalLongLong() { return got<CORBA::LongLong>(); }
    [[nodiscard]] CORBA::ULongLong unmarshalULongLong() { return got<CORBA::ULongLong>(); }
    [[nodiscard]] CORBA::Float unmarshalFloat() { return got<CORBA::Float>(); }
    [[nodiscard]] CORBA::Double unmarshalDouble() { return got<CORBA::Double>(); }
    /// Reads a string, owned by the caller. Throws MARSHAL for one that is longer than `bounded`.
    [[nodiscard]] char* unmarshalString(int bounded = 0);
    [[nodiscard]] CORBA::WChar* unmarshalWString(int bounded = 0);
    [[nodiscard]] char* unmarshalRawString() { return unmarshalString(); }

    /// Write and read octets as they are, from the next multiple of the alignment on.
    virtual void put_octet_array(const CORBA::Octet* octets, int size,
                                 omni::alignment_t alignment = omni::ALIGN_1);
    virtual void get_octet_array(CORBA::Octet* octets, int size,
                                 omni::alignment_t alignment = omni::ALIGN_1);
    /// Returns whether the octets that are read are in the other byte order; those that are written
    /// never are.
    [[nodiscard]] CORBA::Boolean unmarshal_byte_swap() const { return pd_unmarshal_byte_swap; }
    void unmarshal_byte_swap(CORBA::Boolean swaps) { pd_unmarshal_byte_swap = swaps; }
    [[nodiscard]] CORBA::Boolean marshal_byte_swap() const { return false; }
    /// Returns whether as many items of this size are there to be read.
    [[nodiscard]] CORBA::Boolean checkInputOverrun(CORBA::ULong item_size, CORBA::ULong items,
                                                   omni::alignment_t alignment = omni::ALIGN_1);
    void skipInput(CORBA::ULong octets);
    void alignInput(omni::alignment_t alignment);
    void alignOutput(omni::alignment_t alignment);

  protected:
    cdrStream() = default;

    template <typename T>
    [[nodiscard]] T got()
    {
        T value{};
        _kairos_get(value);
        return value;
    }
    [[nodiscard]] kairos::cdr::Reader reader() const;
    void read_by(const kairos::cdr::Reader& in);
    void written();

    // Where the next octet is read, and the end of those that can be; programs may move both.
    void* pd_inb_mkr = nullptr;
    void* pd_inb_end = nullptr;
    void* pd_outb_mkr = nullptr; ///< behind what was written
    void* pd_outb_end = nullptr; ///< the same: there is room for as much as is written
    CORBA::Boolean pd_unmarshal_byte_swap = false;
    CORBA::Boolean pd_readonly_and_external_buffer = false;
    void* pd_bufp_8 = nullptr; ///< the beginning
    kairos::codec::OctetWriter out_;
};

/// Throws MARSHAL: a sequence claims more elements than there are octets.
[[noreturn]] KAIROS_API void _CORBA_marshal_sequence_range_check_error(cdrStream& stream);

/// Octets in memory: its own, which are written and then read, or others', which are read.
class KAIROS_API cdrMemoryStream : public cdrStream {
  public:
    /// Makes an empty one; it grows as needed.
    explicit cdrMemoryStream(CORBA::ULong initial_size = 0, CORBA::Boolean clears_memory = false);
    /// Reads `size` octets where they are, which must outlive it. Alignment counts by addresses.
    cdrMemoryStream(void* octets, std::size_t size);
    /// Copies what the other has, to be read from the beginning.
    cdrMemoryStream(const cdrMemoryStream& other, CORBA::Boolean read_only = false);
    cdrMemoryStream& operator=(const cdrMemoryStream& other);
    ~cdrMemoryStream() override;

    /// Reads from the beginning again.
    void rewindInputPtr();
    /// Forgets what was written; of others' octets, reads from the beginning again.
    void rewindPtrs();
    /// Returns how many octets are in front of the next that is read.
    [[nodiscard]] CORBA::ULong currentInputPtr() const;
    /// Returns how many octets were written.
    [[nodiscard]] CORBA::ULong currentOutputPtr() const { return bufSize(); }
    [[nodiscard]] CORBA::ULong bufSize() const;
    /// Returns where they begin, until more are written.
    [[nodiscard]] void* bufPtr() const { return pd_bufp_8; }
    /// Says in which byte order the octets are that are read; this machine's if nothing is said.
    void setByteSwapFlag(CORBA::Boolean little_endian);
    [[nodiscard]] CORBA::Boolean readOnly() const { return pd_readonly_and_external_buffer; }
};

/// An encapsulation (CORBA 3.3 part 2, 9.3.3): the octet that says the byte order comes first.
class KAIROS_API cdrEncapsulationStream : public cdrMemoryStream {
  public:
    /// Makes an empty one, to be written.
    explicit cdrEncapsulationStream(CORBA::ULong initial_size = 0,
                                    CORBA::Boolean clears_memory = false);
    /// Read octets, of which they have a copy. Throw MARSHAL where there is no flag.
    cdrEncapsulationStream(const CORBA::Octet* octets, CORBA::ULong size,
                           CORBA::Boolean may_be_aligned_to_4 = false);
    explicit cdrEncapsulationStream(const kairos::mapping::UnboundedSequence<CORBA::Octet>& octets,
                                    CORBA::Boolean may_be_aligned_to_4 = false);

    /// Gives a copy of the octets, which the caller frees as a buffer of an octet sequence
    /// (freebuf), how many there is room for, and how many there are.
    void getOctetStream(CORBA::Octet*& octets, CORBA::ULong& room, CORBA::ULong& size) const;
    /// Makes the sequence a copy of the octets.
    void setOctetSeq(CORBA::OctetSeq& octets) const;

  private:
    void take(const CORBA::Octet* octets, CORBA::ULong size);
};

namespace kairos::omniorb {

/// Generated classes, and those of programs, that have these operators as members.
template <typename T>
concept WritesItself = requires(const T& value, cdrStream& stream) { value.operator>>=(stream); };
template <typename T>
concept ReadsItself = requires(T& value, cdrStream& stream) { value.operator<<=(stream); };

} // namespace kairos::omniorb

// What is written and read as text or by reference has overloads; all else is Marshal<T>'s.
template <typename T>
    requires(!std::is_pointer_v<T> && !kairos::omniorb::WritesItself<T>)
void operator>>=(const T& value, cdrStream& stream)
{
    stream._kairos_put(value);
}
inline void operator>>=(const char* text, cdrStream& stream) { stream.marshalString(text); }
template <typename T>
    requires(!std::is_pointer_v<T> && !kairos::omniorb::ReadsItself<T>)
void operator<<=(T& value, cdrStream& stream)
{
    stream._kairos_get(value);
}

namespace kairos::omniorb {

/// Reads the first member of an IOR; the caller owns it.
inline IOP::IOR* read_type_id(cdrStream& stream)
{
    IOP::IOR_var read = new IOP::IOR;
    read->type_id = stream.unmarshalRawString();
    return read._retn();
}

} // namespace kairos::omniorb

// IOP::IOR::unmarshaltype_id(stream) reads a type id, owned by the caller.
#define unmarshaltype_id(stream) _var_type(::kairos::omniorb::read_type_id(stream))->type_id._retn()
