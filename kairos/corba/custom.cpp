// SPDX-License-Identifier: Apache-2.0
//
// The streams that custom valuetypes write to and read from: thin fronts of a message's Writer and
// Reader.
#include "kairos/values/custom.h"

#include "kairos/corba/abstract_base.h"
#include "kairos/corba/orb_types.h"
#include "kairos/corba/valuetypes.h"
#include "kairos/types/typecode_wire.h"

#include <algorithm>

namespace kairos::corba {
namespace {

/// What ValueBase wants of a stream, which is no value: it is on the stack of the call.
template <typename Stream>
class StreamBase : public Stream {
  public:
    void _add_ref() override {}
    void _remove_ref() override {}
    CORBA::ValueBase* _copy_value() override { return nullptr; }
    CORBA::ULong _refcount_value() override { return 1; }
    const values::Type& _kairos_type() const override { return type; }
    void _kairos_encode(cdr::Writer&) const override { refuse(); }
    void _kairos_decode(cdr::Reader&) override { refuse(); }

  private:
    [[noreturn]] static void refuse()
    {
        throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, "a stream cannot be sent");
    }
    static constexpr values::Type type{.id = ""};
};

[[noreturn]] void raise_no_such_elements()
{
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "elements beyond the end of a sequence");
}

class OutputStream final : public StreamBase<CORBA::DataOutputStream> {
  public:
    explicit OutputStream(cdr::Writer& out) : out_(out) {}

#define KAIROS_WRITE(type, name)                                                                   \
    void write_##name(CORBA::type value) override { mapping::encode(out_, value); }                \
    void write_##name##_array(const CORBA::type##Seq& seq, CORBA::ULong offset,                    \
                              CORBA::ULong length) override                                        \
    {                                                                                              \
        write_array<CORBA::type>(seq, offset, length);                                             \
    }
    KAIROS_STREAMED_NUMBERS(KAIROS_WRITE)
#undef KAIROS_WRITE
    void write_any(const CORBA::Any& value) override { mapping::encode(out_, value); }
    void write_any_array(const CORBA::AnySeq& seq, CORBA::ULong offset,
                         CORBA::ULong length) override
    {
        write_array<CORBA::Any>(seq, offset, length);
    }
    void write_string(const char* value) override { mapping::encode_string(out_, value); }
    void write_wstring(const CORBA::WChar* value) override { mapping::encode_string(out_, value); }
    void write_Object(CORBA::Object* value) override { mapping::encode_object(out_, value); }
    void write_Abstract(CORBA::AbstractBase_ptr value) override { encode_abstract(out_, value); }
    void write_Value(CORBA::ValueBase* value) override { values::encode(out_, value, nullptr); }
    void write_TypeCode(CORBA::TypeCode_ptr value) override
    {
        mapping::encode_object(out_, static_cast<const CORBA::TypeCode*>(value));
    }

  private:
    template <typename T, typename Sequence>
    void write_array(const Sequence& sequence, CORBA::ULong offset, CORBA::ULong length)
    {
        if (offset > sequence.length() || length > sequence.length() - offset)
            raise_no_such_elements();
        if (length != 0) mapping::encode_elements(out_, sequence.data() + offset, length);
    }

    cdr::Writer& out_;
};

class InputStream final : public StreamBase<CORBA::DataInputStream> {
  public:
    explicit InputStream(cdr::Reader& in) : in_(in) {}

#define KAIROS_READ(type, name)                                                                    \
    CORBA::type read_##name() override                                                             \
    {                                                                                              \
        CORBA::type value{};                                                                       \
        mapping::decode(in_, value);                                                               \
        return value;                                                                              \
    }                                                                                              \
    void read_##name##_array(CORBA::type##Seq& seq, CORBA::ULong offset, CORBA::ULong length)      \
        override                                                                                   \
    {                                                                                              \
        read_array<CORBA::type>(seq, offset, length);                                              \
    }
    KAIROS_STREAMED_NUMBERS(KAIROS_READ)
#undef KAIROS_READ
    CORBA::Any* read_any() override
    {
        CORBA::Any_var value = new CORBA::Any;
        mapping::decode(in_, value.inout());
        return value._retn();
    }
    void read_any_array(CORBA::AnySeq& seq, CORBA::ULong offset, CORBA::ULong length) override
    {
        read_array<CORBA::Any>(seq, offset, length);
    }
    char* read_string() override
    {
        CORBA::String_var text;
        mapping::decode_string(in_, text);
        return text._retn();
    }
    CORBA::WChar* read_wstring() override
    {
        CORBA::WString_var text;
        mapping::decode_string(in_, text);
        return text._retn();
    }
    CORBA::Object* read_Object() override { return decode_reference<CORBA::Object>(in_); }
    CORBA::AbstractBase_ptr read_Abstract() override
    {
        return AbstractTraits<CORBA::AbstractBase>::decode(in_);
    }
    CORBA::ValueBase* read_Value() override
    {
        return values::ValueTraits<CORBA::ValueBase>::decode(in_);
    }
    CORBA::TypeCode_ptr read_TypeCode() override { return types::decode_type_code(in_); }

  private:
    template <typename T, typename Sequence>
    void read_array(Sequence& sequence, CORBA::ULong offset, CORBA::ULong length)
    {
        if (length > in_.unclaimed() / mapping::Marshal<T>::wire_bytes_min) // not to be believed
            return in_.fail(cdr::Fault::length_beyond_end);
        if (length > ~CORBA::ULong{0} - offset) raise_no_such_elements();
        if (sequence.length() < offset + length) sequence.length(offset + length);
        if (length != 0) mapping::decode_elements(in_, sequence.get_buffer() + offset, length);
    }

    cdr::Reader& in_;
};

} // namespace

void encode_custom(cdr::Writer& out, const CORBA::CustomMarshal& value)
{
    const cdr::Writer::CopyAll copies(out); // what the program writes is perhaps gone afterwards
    OutputStream stream(out);
    const_cast<CORBA::CustomMarshal&>(value).marshal(&stream); // as the mapping declares it
}

void decode_custom(cdr::Reader& in, CORBA::CustomMarshal& value)
{
    InputStream stream(in);
    value.unmarshal(&stream);
}

} // namespace kairos::corba
