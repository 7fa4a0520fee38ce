// SPDX-License-Identifier: Apache-2.0
//
// Codec::decode and decode_value of arbitrary octets: what was decoded is encoded and decoded again
// and gives the same octets. The first octet of the input says which version of GIOP.
#include "kairos/base/check.h"
#include "kairos/codec/Codec.h"
#include "kairos/corba/orb.h"

#include <cstring>

namespace {

CORBA::ORB_ptr orb()
{
    static const CORBA::ORB_var made = [] {
        int argc = 1;
        char name[] = "fuzz";
        char* argv[] = {name, nullptr};
        return CORBA::ORB_init(argc, argv, "codec");
    }();
    return made.in();
}

IOP::Codec_ptr codec(CORBA::Octet minor)
{
    static const IOP::CodecFactory_var factory = [] {
        const CORBA::Object_var object = orb()->resolve_initial_references("CodecFactory");
        return IOP::CodecFactory::_narrow(object);
    }();
    static const IOP::Codec_var codecs[] = {
        factory->create_codec({IOP::ENCODING_CDR_ENCAPS, 1, 0}),
        factory->create_codec({IOP::ENCODING_CDR_ENCAPS, 1, 1}),
        factory->create_codec({IOP::ENCODING_CDR_ENCAPS, 1, 2})};
    return codecs[minor % 3].in();
}

bool same(const CORBA::OctetSeq& a, const CORBA::OctetSeq& b)
{
    return a.length() == b.length() && std::memcmp(a.get_buffer(), b.get_buffer(), a.length()) == 0;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const IOP::Codec_ptr used = codec(data[0]);
    CORBA::OctetSeq octets;
    octets.length(static_cast<CORBA::ULong>(size - 1));
    std::copy(data + 1, data + size, octets.get_buffer());
    try {
        const CORBA::Any_var any = used->decode(octets);
        const CORBA::OctetSeq_var first = used->encode(any.in());
        const CORBA::Any_var again = used->decode(first.in());
        const CORBA::OctetSeq_var second = used->encode(again.in());
        KAIROS_CHECK(same(first.in(), second.in()));
        const CORBA::TypeCode_var type = any->type();
        const CORBA::OctetSeq_var value = used->encode_value(any.in());
        const CORBA::Any_var alone = used->decode_value(value.in(), type.in());
        const CORBA::OctetSeq_var value_again = used->encode_value(alone.in());
        KAIROS_CHECK(same(value.in(), value_again.in()));
    } catch (const IOP::Codec::FormatMismatch&) { // what most inputs are
    } catch (const CORBA::MARSHAL&) {             // values without a factory
    }
    return 0;
}
