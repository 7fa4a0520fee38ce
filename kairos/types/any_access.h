// SPDX-License-Identifier: Apache-2.0
//
// The inside of CORBA::Any, for the files that implement it (any*.cpp, corba/any_object.*) and
// those that send its value alone (kairos/dynamic): how a value is kept and reached. Not for users
// or generated code.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/cdr/environment.h"
#include "kairos/types/any.h"
#include "kairos/types/any_value.h"

namespace kairos::types {

/// A received value in CDR. Immutable; shared by the copies of an Any.
struct alignas(16) KAIROS_API_TYPE AnyBytes {
    RefCount count;
    std::uint32_t size = 0;
    std::uint8_t begin = 0; ///< where the value begins, as alignment counts: below eight
    bool little_endian = native_little_endian;
    bool has_characters = false; ///< chars or strings, in the program's code set
    bool has_wide = false;       ///< wide ones, as GIOP 1.2 has UTF-16
    orb::Orb* orb = nullptr;     ///< of the message; what references inside belong to
    const RefCounted* orb_owner = nullptr;
    cdr::Attachment* value_factories = nullptr; ///< the ORB's

    /// `begin` bytes of padding, then the value: aligned as CDR was.
    [[nodiscard]] std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    [[nodiscard]] const std::byte* data() const noexcept
    {
        return reinterpret_cast<const std::byte*>(this + 1);
    }
    [[nodiscard]] Bytes value() const noexcept { return {data() + begin, size}; }
    [[nodiscard]] cdr::Environment environment() const;
    [[nodiscard]] cdr::Reader reader(const cdr::Environment& environment) const
    {
        cdr::Reader in({data(), std::size_t{begin} + size}, little_endian, begin);
        in.set_environment(&environment);
        return in;
    }
};

/// A value of a C++ type; the value itself follows in memory unless it was adopted.
struct alignas(16) KAIROS_API_TYPE AnyValue {
    const ValueClass* of;
    void* value = nullptr;
    AnyValue* next = nullptr;
};

/// What reads values of valuetypes and abstract interfaces, which only layers above this one can
/// make: the value factories of a message's cdr::Environment.
class KAIROS_API ValueReader : public cdr::Attachment {
  public:
    /// Reads a value and puts it into the Any. Throws what making it throws. Returns false, with
    /// nothing read, where nothing in the process makes values of the type: then they are kept as
    /// they came.
    [[nodiscard]] virtual bool read_value(cdr::Reader& in, CORBA::TypeCode_ptr type,
                                          CORBA::Any& any) = 0;
};

class KAIROS_API AnyAccess {
  public:
    using Form = CORBA::Any::Form;

    static void reset(CORBA::Any& any, CORBA::TypeCode_ptr owned_type, Form form) noexcept;
    static void set_scalar(CORBA::Any& any, CORBA::TypeCode_ptr type, const void* value,
                           std::size_t size);
    static void set_value(CORBA::Any& any, CORBA::TypeCode_ptr type, AnyValue* value) noexcept;
    static void set_string(CORBA::Any& any, CORBA::TypeCode_ptr owned_type, char* owned) noexcept;
    static void set_wstring(CORBA::Any& any, CORBA::TypeCode_ptr owned_type,
                            CORBA::WChar* owned) noexcept;
    static void set_bytes(CORBA::Any& any, CORBA::TypeCode_ptr owned_type,
                          AnyBytes* owned) noexcept;

    [[nodiscard]] static const CORBA::TypeCode& type(const CORBA::Any& any) noexcept;
    /// Whether there is a value of a type equivalent to this.
    [[nodiscard]] static bool holds(const CORBA::Any& any, CORBA::TypeCode_ptr type);
    [[nodiscard]] static bool get_scalar(const CORBA::Any& any, CORBA::TypeCode_ptr type,
                                         void* value, std::size_t size);
    /// The value, which stays the Any's, if it is held as a string; else null.
    [[nodiscard]] static const char* string(const CORBA::Any& any) noexcept;
    [[nodiscard]] static const CORBA::WChar* wstring(const CORBA::Any& any) noexcept;
    [[nodiscard]] static const AnyBytes* bytes(const CORBA::Any& any) noexcept;
    /// The value that was inserted in its C++ type. To be asked only where there is one.
    [[nodiscard]] static const AnyValue* inserted(const CORBA::Any& any) noexcept;
    /// The value as this C++ type if it was inserted or extracted as such; else null.
    [[nodiscard]] static const void* find(const CORBA::Any& any, const ValueClass& of) noexcept;
    [[nodiscard]] static const void* extract_new(const CORBA::Any& any, const ValueClass& of);

    /// All that was inserted or extracted, the inserted value last; null for nothing.
    [[nodiscard]] static const AnyValue* first(const CORBA::Any& any) noexcept
    {
        return any.values_.load_acquire();
    }
    /// Keeps a copy of what was made of the value. Any thread that extracts.
    static void add_copy(const CORBA::Any& any, const ValueClass& of, const void* value);

    /// Writes the value without its TypeCode.
    static void encode_value(cdr::Writer& out, const CORBA::Any& any);
    /// Reads a TypeCode and a value of that type. Failure is the reader's.
    static void decode(cdr::Reader& in, CORBA::Any& any);
    /// Writes the value as that of a parameter, whose TypeCode does not travel: the bytes are those
    /// of compiled stubs, which let the values of all parameters share what they have in common.
    static void encode_parameter(cdr::Writer& out, const CORBA::Any& any);
    /// Writes an exception as replies have it: its repository id, whatever Anys are to say of that,
    /// and its members.
    static void encode_exception(cdr::Writer& out, const CORBA::Any& any);
    /// Reads a value of this type, the TypeCode of which did not come with it. Failure is the
    /// reader's.
    static void decode_value(cdr::Reader& in, CORBA::TypeCode_var type, CORBA::Any& any);

    /// The value of a writer that began with `begin` bytes of padding.
    [[nodiscard]] static AnyBytes* bytes_of(const cdr::Writer& out, std::size_t begin);

    /// Calls `read` with a reader of the value, however it is held.
    template <typename Read>
    static void with_reader(const CORBA::Any& any, Read&& read)
    {
        if (const AnyBytes* received = bytes(any)) {
            const cdr::Environment environment = received->environment();
            cdr::Reader in = received->reader(environment);
            read(in);
            return environment.accept_values();
        }
        const OwnedBytes encoded(any);
        const cdr::Environment environment = encoded.bytes->environment();
        cdr::Reader in = encoded.bytes->reader(environment);
        read(in);
        environment.accept_values();
    }

  private:
    /// The value in CDR, for the time of one extraction.
    struct OwnedBytes {
        explicit OwnedBytes(const CORBA::Any& any);
        OwnedBytes(const OwnedBytes&) = delete;
        OwnedBytes& operator=(const OwnedBytes&) = delete;
        ~OwnedBytes();
        AnyBytes* bytes;
    };

    static void add(const CORBA::Any& any, AnyValue* value) noexcept;
    static void encode_bytes(cdr::Writer& out, const AnyBytes& bytes, const CORBA::TypeCode& type);
    [[nodiscard]] static AnyBytes* take_value(cdr::Reader& in, const CORBA::TypeCode& type);
};

} // namespace kairos::types
