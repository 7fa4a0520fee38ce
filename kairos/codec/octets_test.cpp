// SPDX-License-Identifier: Apache-2.0
//
// Values as octets outside of calls: in order, as encapsulations that other code reads, with
// references, and malformed.
#include "kairos/codec/octets.h"

#include "kairos/codec/Codec.h"
#include "kairos/corba/CORBA.h"

#include <gtest/gtest.h>

namespace kairos::codec {
namespace {

TEST(Octets, ComeBackInOrder)
{
    OctetWriter out;
    CORBA::Any any;
    any <<= CORBA::Double{2.5};
    const CORBA::String_var owned = CORBA::string_dup("owned");
    out.put(CORBA::ULong{7}).put("text").put(any).put(owned).put(true);
    OctetReader in(out.octets(), native_little_endian);
    CORBA::ULong number = 0;
    CORBA::String_var text;
    CORBA::Any any_read;
    CORBA::String_var owned_read;
    CORBA::Boolean flag = false;
    in.get(number).get(text).get(any_read).get(owned_read).get(flag);
    EXPECT_EQ(7u, number);
    EXPECT_STREQ("text", text.in());
    CORBA::Double value = 0;
    EXPECT_TRUE(any_read >>= value);
    EXPECT_EQ(2.5, value);
    EXPECT_STREQ("owned", owned_read.in());
    EXPECT_TRUE(flag);
    EXPECT_EQ(0u, in.left());
    EXPECT_THROW(in.get(number), CORBA::MARSHAL);
    out.clear();
    EXPECT_TRUE(out.octets().empty());
}

TEST(Octets, LargeOnesAreCopied)
{
    OctetWriter out;
    {
        CORBA::OctetSeq large;
        large.length(1 << 20);
        large[1'000'000] = 9;
        out.put(large);
    }
    CORBA::OctetSeq read;
    OctetReader(out.octets(), native_little_endian).get(read);
    ASSERT_EQ(1u << 20, read.length());
    EXPECT_EQ(9, read[1'000'000]);
}

TEST(Octets, EncapsulationsAreThoseOfCodecs)
{
    int argc = 0;
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, "octets");
    const CORBA::Object_var object = orb->resolve_initial_references("CodecFactory");
    const IOP::CodecFactory_var factory = IOP::CodecFactory::_narrow(object);
    const IOP::Codec_var codec = factory->create_codec({IOP::ENCODING_CDR_ENCAPS, 1, 2});
    CORBA::StringSeq names;
    names.length(2);
    names[0] = "one";
    names[1] = "two";
    const CORBA::OctetSeq_var octets = encapsulate(names);
    const CORBA::Any_var decoded = codec->decode_value(octets.in(), CORBA::_tc_StringSeq);
    const CORBA::StringSeq* read = nullptr;
    ASSERT_TRUE(decoded.in() >>= read);
    EXPECT_STREQ("two", (*read)[1].in());
    CORBA::StringSeq back;
    decapsulate(octets.in(), back);
    EXPECT_STREQ("one", back[0].in());
    orb->destroy();
}

TEST(Octets, ReferencesBelongToAnOrb)
{
    int argc = 0;
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, "octets");
    const CORBA::Object_var object = orb->string_to_object("corbaloc::127.0.0.1:1/x");
    const CORBA::OctetSeq_var octets = encapsulate(object, orb.in());
    CORBA::Object_var read;
    decapsulate(octets.in(), read, orb.in());
    EXPECT_TRUE(read->_is_equivalent(object.in()));
    EXPECT_THROW(decapsulate(octets.in(), read), CORBA::SystemException);
    orb->destroy();
}

TEST(Octets, MalformedOnesAreRefused)
{
    CORBA::OctetSeq empty;
    CORBA::ULong number = 0;
    EXPECT_THROW(decapsulate(empty, number), CORBA::MARSHAL);
    CORBA::OctetSeq claims; // a sequence of 4,000 million strings
    claims.length(8);
    claims[0] = native_little_endian ? 1 : 0;
    for (CORBA::ULong i = 4; i < 8; ++i)
        claims[i] = 0xEE;
    CORBA::StringSeq names;
    EXPECT_THROW(decapsulate(claims, names), CORBA::MARSHAL);
    claims[0] = 7; // no byte order
    EXPECT_THROW(decapsulate(claims, number), CORBA::MARSHAL);
    const char* const null = nullptr;
    EXPECT_THROW(OctetWriter().put(null), CORBA::BAD_PARAM);
}

} // namespace
} // namespace kairos::codec
