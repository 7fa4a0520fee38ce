// SPDX-License-Identifier: Apache-2.0
#include "kairos/codec/codec.h"

#include "kairos/types/any_access.h"

#include <cstring>

namespace kairos::codec {

using types::AnyAccess;

namespace {

/// A reader behind the flag that says the byte order. Throws FormatMismatch if there is none.
cdr::Reader reader_of(const CORBA::OctetSeq& data)
{
    const Bytes octets{reinterpret_cast<const std::byte*>(data.get_buffer()), data.length()};
    cdr::Reader in = cdr::Reader::of_encapsulation(octets);
    if (!in.ok()) throw IOP::Codec::FormatMismatch();
    return in;
}

} // namespace

cdr::Environment Codec::environment() const
{
    cdr::Environment environment;
    environment.orb = core_.get();
    environment.orb_owner = core_.get();
    environment.giop_minor = form_.giop_minor;
    environment.text = &form_;
    environment.value_factories = core_->value_factories();
    return environment;
}

/// What cannot be written has no value, is local, or is text that the encoding has not.
template <typename Write>
CORBA::OctetSeq* Codec::written(Write&& write) const
{
    const cdr::Environment environment = this->environment();
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Writer::CopyAll copies(out);
    out.set_environment(&environment);
    out.write(static_cast<std::uint8_t>(native_little_endian));
    try {
        write(out);
    } catch (const CORBA::BAD_PARAM&) {
        throw IOP::Codec::InvalidTypeForEncoding();
    } catch (const CORBA::MARSHAL&) {
        throw IOP::Codec::InvalidTypeForEncoding();
    } catch (const CORBA::INV_OBJREF&) {
        throw IOP::Codec::InvalidTypeForEncoding();
    } catch (const CORBA::CODESET_INCOMPATIBLE&) {
        throw IOP::Codec::InvalidTypeForEncoding();
    }
    const Bytes octets = out.contiguous();
    CORBA::OctetSeq_var data = new CORBA::OctetSeq;
    data->length(static_cast<CORBA::ULong>(octets.size()));
    std::memcpy(data->get_buffer(), octets.data(), octets.size());
    return data._retn();
}

CORBA::OctetSeq* Codec::encode(const CORBA::Any& data)
{
    return written([&](cdr::Writer& out) { mapping::encode(out, data); });
}

CORBA::OctetSeq* Codec::encode_value(const CORBA::Any& data)
{
    return written([&](cdr::Writer& out) { AnyAccess::encode_value(out, data); });
}

CORBA::Any* Codec::decode(const CORBA::OctetSeq& data)
{
    cdr::Reader in = reader_of(data);
    const cdr::Environment environment = this->environment();
    in.set_environment(&environment);
    CORBA::Any_var any = new CORBA::Any;
    mapping::decode(in, any.inout());
    if (!in.ok()) throw FormatMismatch();
    environment.accept_values();
    return any._retn();
}

CORBA::Any* Codec::decode_value(const CORBA::OctetSeq& data, CORBA::TypeCode_ptr tc)
{
    if (tc == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a nil TypeCode");
    cdr::Reader in = reader_of(data);
    const cdr::Environment environment = this->environment();
    in.set_environment(&environment);
    CORBA::Any_var any = new CORBA::Any;
    AnyAccess::decode_value(in, CORBA::TypeCode::_duplicate(tc), any.inout());
    if (!in.ok()) throw TypeMismatch();
    environment.accept_values();
    return any._retn();
}

} // namespace kairos::codec
