// SPDX-License-Identifier: Apache-2.0
//
// Object reference templates of arbitrary octets, which make references with arbitrary ids. The
// first octet of the input says how long the id is, which comes next.
#include "kairos/base/check.h"
#include "kairos/codec/Codec.h"
#include "kairos/corba/orb.h"
#include "kairos/interceptors/KairosReferences.h"

#include <algorithm>

namespace {

namespace PI = PortableInterceptor;

class Nothing final : public PI::ORBInitializer {
  public:
    void pre_init(PI::ORBInitInfo_ptr) override {}
    void post_init(PI::ORBInitInfo_ptr) override {}
};

/// An ORB knows templates once there are initializers.
CORBA::ORB_ptr orb()
{
    static const CORBA::ORB_var made = [] {
        const PI::ORBInitializer_var nothing = new Nothing;
        PI::register_orb_initializer(nothing.in());
        int argc = 1;
        char name[] = "fuzz";
        char* argv[] = {name, nullptr};
        return CORBA::ORB_init(argc, argv, "templates");
    }();
    return made.in();
}

IOP::Codec_ptr codec()
{
    static const IOP::Codec_var made = [] {
        const CORBA::Object_var object = orb()->resolve_initial_references("CodecFactory");
        const IOP::CodecFactory_var factory = IOP::CodecFactory::_narrow(object.in());
        return IOP::Codec_var(factory->create_codec({IOP::ENCODING_CDR_ENCAPS, 1, 2}));
    }();
    return made.in();
}

CORBA::OctetSeq octets_of(const std::uint8_t* data, std::size_t size)
{
    CORBA::OctetSeq octets;
    octets.length(static_cast<CORBA::ULong>(size));
    std::copy(data, data + size, octets.get_buffer());
    return octets;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const std::size_t id_size = std::min<std::size_t>(data[0], size - 1);
    const CORBA::OctetSeq id = octets_of(data + 1, id_size);
    const CORBA::OctetSeq octets = octets_of(data + 1 + id_size, size - 1 - id_size);
    CORBA::Any_var any;
    try {
        any = codec()->decode_value(octets, PI::_tc_ObjectReferenceTemplate);
    } catch (const IOP::Codec::FormatMismatch&) { // what most inputs are
        return 0;
    } catch (const CORBA::MARSHAL&) { // values of other types, without a factory
        return 0;
    }
    PI::ObjectReferenceTemplate* made = nullptr;
    if (!(any.in() >>= made) || made == nullptr) return 0;
    const PI::AdapterName_var name = made->adapter_name();
    KAIROS_CHECK(name->length() <= size);
    try {
        const CORBA::Object_var object = made->make_object("IDL:Some/Thing:1.0", id);
        const CORBA::String_var text = orb()->object_to_string(object.in());
        const CORBA::Object_var again = orb()->string_to_object(text.in());
        KAIROS_CHECK(again->_is_equivalent(object.in()));
    } catch (const CORBA::MARSHAL&) { // its reference is nil, or malformed
    }
    return 0;
}
