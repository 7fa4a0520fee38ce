// SPDX-License-Identifier: Apache-2.0
//
// omniORB's streams of CDR as programs use them: values of every kind, others' octets, classes that
// derive from them and move their cursors, and octets that are not what is asked for.
#include "omniORB4/IIOP.h"
#include "omniORB4/cdrStream.h"
#include "omniORB4/omniIOR.h"
#include "omniORB4/omniURI.h"

#include "streams.h"

#include <array>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace {

Streams::Sample sample(const char* name, double value)
{
    Streams::Sample made;
    made.name = name;
    made.value = value;
    made.quality = Streams::invalid;
    return made;
}

TEST(CdrMemoryStream, ValuesOfEveryKindComeBack)
{
    cdrMemoryStream stream;
    const CORBA::ULong number = 7;
    number >>= stream;
    "text" >>= stream;
    sample("roof", 2.5) >>= stream;
    Streams::Samples samples;
    samples.length(2);
    samples[0] = sample("one", 1);
    samples[1] = sample("two", 2);
    samples >>= stream;
    Streams::Either either;
    either.text("or");
    either >>= stream;
    const Streams::Grid grid = {{1, 2}, {3, 4}};
    grid >>= stream;
    CORBA::Any any;
    any <<= CORBA::Long{42};
    any >>= stream;
    Streams::invalid >>= stream;
    const CORBA::String_var owned = CORBA::string_dup("owned");
    owned >>= stream;

    CORBA::ULong number_read = 0;
    number_read <<= stream;
    EXPECT_EQ(7u, number_read);
    const CORBA::String_var text = stream.unmarshalString();
    EXPECT_STREQ("text", text.in());
    Streams::Sample sample_read;
    sample_read <<= stream;
    EXPECT_STREQ("roof", sample_read.name.in());
    EXPECT_EQ(2.5, sample_read.value);
    EXPECT_EQ(Streams::invalid, sample_read.quality);
    Streams::Samples samples_read;
    samples_read <<= stream;
    ASSERT_EQ(2u, samples_read.length());
    EXPECT_STREQ("two", samples_read[1].name.in());
    Streams::Either either_read;
    either_read <<= stream;
    EXPECT_STREQ("or", either_read.text());
    Streams::Grid grid_read = {};
    grid_read <<= stream;
    EXPECT_EQ(3, grid_read[1][0]);
    CORBA::Any any_read;
    any_read <<= stream;
    CORBA::Long value = 0;
    EXPECT_TRUE(any_read >>= value);
    EXPECT_EQ(42, value);
    Streams::Quality quality = Streams::valid;
    quality <<= stream;
    EXPECT_EQ(Streams::invalid, quality);
    CORBA::String_var owned_read;
    owned_read <<= stream;
    EXPECT_STREQ("owned", owned_read.in());
    EXPECT_THROW((void)stream.unmarshalOctet(), CORBA::MARSHAL); // the end
}

TEST(CdrMemoryStream, OctetsAreThoseOfCdr)
{
    cdrMemoryStream stream;
    stream.marshalOctet(1);
    stream.marshalULong(0x01020304);
    stream.marshalString("ab");
    ASSERT_EQ(15u, stream.bufSize());
    const auto* const octets = static_cast<const unsigned char*>(stream.bufPtr());
    EXPECT_EQ(1, octets[0]);
    EXPECT_EQ(0, octets[1]);
    EXPECT_EQ(3, octets[8]);
    EXPECT_EQ('b', octets[13]);
    stream.rewindPtrs();
    EXPECT_EQ(0u, stream.bufSize());
    EXPECT_THROW((void)stream.unmarshalOctet(), CORBA::MARSHAL);
}

TEST(CdrMemoryStream, WhatIsReadStaysReadWhileMoreIsWritten)
{
    cdrMemoryStream stream;
    stream.marshalLong(1);
    EXPECT_EQ(1, stream.unmarshalLong());
    Streams::Octets large;
    large.length(100'000); // elsewhere in memory
    large[99'999] = 9;
    large >>= stream;
    Streams::Octets read;
    read <<= stream;
    ASSERT_EQ(100'000u, read.length());
    EXPECT_EQ(9, read[99'999]);
    stream.rewindInputPtr();
    EXPECT_EQ(1, stream.unmarshalLong());
}

TEST(CdrMemoryStream, OthersOctetsAreReadInEitherOrder)
{
    alignas(8) std::array<unsigned char, 8> octets = {0, 0, 0, 5, 0, 0, 0, 6};
    cdrMemoryStream stream(octets.data(), octets.size());
    EXPECT_TRUE(stream.readOnly());
    stream.setByteSwapFlag(false); // big endian
    EXPECT_EQ(5, stream.unmarshalLong());
    EXPECT_EQ(6, stream.unmarshalLong());
    stream.rewindInputPtr();
    EXPECT_EQ(5, stream.unmarshalLong());
    EXPECT_THROW(stream.marshalLong(1), CORBA::MARSHAL);
    const cdrMemoryStream copy(stream);
    EXPECT_EQ(8u, copy.bufSize());
}

/// As a program does that passes octets on without a copy.
class Cursor final : public cdrMemoryStream {
  public:
    using cdrMemoryStream::cdrMemoryStream;
    const CORBA::Octet* borrow(CORBA::ULong size, omni::alignment_t alignment)
    {
        const omni::ptr_arith_t begin =
            omni::align_to(reinterpret_cast<omni::ptr_arith_t>(pd_inb_mkr), alignment);
        if (begin + size > reinterpret_cast<omni::ptr_arith_t>(pd_inb_end)) throw CORBA::MARSHAL();
        // NOLINTBEGIN(performance-no-int-to-ptr): as programs do it
        pd_inb_mkr = reinterpret_cast<void*>(begin + size);
        return reinterpret_cast<const CORBA::Octet*>(begin);
        // NOLINTEND(performance-no-int-to-ptr)
    }
};

TEST(CdrMemoryStream, ClassesOfProgramsMoveTheCursor)
{
    cdrMemoryStream written;
    written.marshalULong(3);
    const CORBA::Octet three[] = {7, 8, 9};
    written.put_octet_array(three, 3);
    written.marshalULong(4);
    Cursor stream(written.bufPtr(), written.bufSize());
    const CORBA::ULong length = stream.unmarshalULong();
    const CORBA::Octet* const octets = stream.borrow(length, omni::ALIGN_1);
    EXPECT_EQ(9, octets[2]);
    EXPECT_EQ(4u, stream.unmarshalULong());
    EXPECT_THROW((void)stream.borrow(1, omni::ALIGN_1), CORBA::MARSHAL);
}

TEST(CdrMemoryStream, MalformedOctetsAreRefused)
{
    cdrMemoryStream stream;
    stream.marshalULong(0xFFFFFFFF); // a length
    Streams::Samples samples;
    EXPECT_THROW(samples <<= stream, CORBA::MARSHAL);
    EXPECT_EQ(0u, samples.length());
    EXPECT_TRUE(stream.checkInputOverrun(2, 2));
    EXPECT_FALSE(stream.checkInputOverrun(2, 3));
    EXPECT_FALSE(stream.checkInputOverrun(0xFFFFFFFF, 0xFFFFFFFF, omni::ALIGN_8));
    EXPECT_THROW(_CORBA_marshal_sequence_range_check_error(stream), CORBA::MARSHAL);
    EXPECT_THROW(stream.skipInput(5), CORBA::MARSHAL);
    stream.rewindPtrs();
    stream.marshalString("abc");
    EXPECT_THROW((void)stream.unmarshalString(2), CORBA::MARSHAL);
    EXPECT_THROW(stream.marshalString(nullptr), CORBA::BAD_PARAM);
    EXPECT_THROW(stream.marshalString("abc", 2), CORBA::BAD_PARAM);
}

/// Returns the octets that a reference's text has behind "IOR:".
CORBA::OctetSeq octets_of(std::string_view text)
{
    CORBA::OctetSeq octets;
    octets.length(static_cast<CORBA::ULong>((text.size() - 4) / 2));
    for (CORBA::ULong i = 0; i < octets.length(); ++i)
        octets[i] = static_cast<CORBA::Octet>(
            std::stoul(std::string(text.substr(4 + 2 * std::size_t{i}, 2)), nullptr, 16));
    return octets;
}

TEST(IiopProfiles, AReferenceIsTakenApartAndPutTogether)
{
    int argc = 0;
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, "omniORB4");
    const CORBA::Object_var object = orb->string_to_object("corbaloc::127.0.0.1:2809/key");
    const CORBA::String_var text = omni::omniURI::objectToString(object.in());
    cdrEncapsulationStream stream(octets_of(text.in()));
    IOP::IOR ior;
    ior <<= stream;
    ASSERT_GE(ior.profiles.length(), 1u);
    IIOP::ProfileBody body;
    IIOP::unmarshalProfile(ior.profiles[0], body);
    EXPECT_STREQ("127.0.0.1", body.address.host);
    EXPECT_EQ(2809, body.address.port);
    ASSERT_EQ(3u, body.object_key.length());
    EXPECT_EQ('y', body.object_key.NP_data()[2]);

    body.address.port = 2810;
    IOP::TaggedProfile profile;
    IIOP::encodeProfile(body, profile);
    IIOP::ProfileBody again;
    IIOP::unmarshalProfile(profile, again);
    EXPECT_EQ(2810, again.address.port);
    EXPECT_EQ(body.components.length(), again.components.length());
    profile.profile_data.length(3);
    EXPECT_THROW(IIOP::unmarshalProfile(profile, again), CORBA::MARSHAL);
    profile.tag = 1;
    EXPECT_THROW(IIOP::unmarshalProfile(profile, again), CORBA::MARSHAL);
    orb->destroy();
}

TEST(IiopProfiles, AreEditedInTheTextOfAReference)
{
    int argc = 0;
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, "omniORB4");
    CORBA::Object_var object = orb->string_to_object("corbaloc::127.0.0.1:2809/key");
    CORBA::String_var text = omni::omniURI::objectToString(object.in());
    cdrEncapsulationStream read(octets_of(text.in()));
    IOP::IOR ior;
    ior.type_id = IOP::IOR::unmarshaltype_id(read);
    ior.profiles <<= read;
    EXPECT_EQ(read.currentInputPtr(), read.bufSize());
    IIOP::ProfileBody body;
    IIOP::unmarshalProfile(ior.profiles[0], body);
    body.address.host = "127.0.0.2";
    IOP::TaggedProfile profile;
    IIOP::encodeProfile(body, profile);
    const CORBA::ULong length = profile.profile_data.length();
    ior.profiles[0].profile_data.replace(profile.profile_data.maximum(), length,
                                         profile.profile_data.get_buffer(true), true);

    cdrMemoryStream written;
    written.marshalBoolean(omni::myByteOrder);
    written.marshalRawString(ior.type_id);
    ior.profiles >>= written;
    constexpr const char* digits = "0123456789abcdef";
    std::string edited = "IOR:";
    for (CORBA::ULong i = 0; i < written.bufSize(); ++i) {
        const CORBA::Octet octet = static_cast<const CORBA::Octet*>(written.bufPtr())[i];
        edited += {digits[octet >> 4], digits[octet & 15]};
    }
    object = orb->string_to_object(edited.c_str());
    const CORBA::Object_var expected = orb->string_to_object("corbaloc::127.0.0.2:2809/key");
    EXPECT_TRUE(object->_is_equivalent(expected.in()));
    EXPECT_THROW(omniIOR::add_IIOP_ADDRESS(body.address, nullptr), CORBA::NO_IMPLEMENT);
    orb->destroy();
}

TEST(IiopProfiles, ComponentsAloneAreAProfileToo)
{
    IOP::MultipleComponentProfile components;
    components.length(1);
    components[0].tag = IOP::TAG_ORB_TYPE;
    components[0].component_data.length(2);
    components[0].component_data[1] = 7;
    IOP::TaggedProfile profile;
    IIOP::encodeMultiComponentProfile(components, profile);
    IOP::MultipleComponentProfile again;
    IIOP::unmarshalMultiComponentProfile(profile, again);
    ASSERT_EQ(again.length(), 1u);
    EXPECT_EQ(again[0].tag, IOP::TAG_ORB_TYPE);
    EXPECT_EQ(again[0].component_data[1], 7);
    profile.profile_data.length(9);
    EXPECT_THROW(IIOP::unmarshalMultiComponentProfile(profile, again), CORBA::MARSHAL);
    profile.tag = IOP::TAG_INTERNET_IOP;
    EXPECT_THROW(IIOP::unmarshalMultiComponentProfile(profile, again), CORBA::MARSHAL);
}

IIOP::Address address_at(const char* host, CORBA::UShort port)
{
    IIOP::Address address;
    address.host = host;
    address.port = port;
    return address;
}

TEST(OmniIor, IsMadeOfAddressesAndBecomesAReference)
{
    int argc = 0;
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, "omniORB4");
    _CORBA_Unbounded_Sequence_Octet key;
    key.length(1);
    key[0] = 'k';
    IOP::MultipleComponentProfile components;
    omniIOR::newIIOPtaggedComponent(components).tag = 4711;
    const IIOP::Address addresses[] = {address_at("127.0.0.1", 17), address_at("127.0.0.2", 18)};
    omniIOR_var ior = new omniIOR("IDL:Bank:1.0", key, addresses, 2, GIOP::Version{1, 2},
                                  omniIOR::NoInterceptor, &components);
    ASSERT_EQ(ior->iopProfiles().length(), 1u);
    IIOP::ProfileBody body;
    IIOP::unmarshalProfile(ior->iopProfiles()[0], body);
    EXPECT_STREQ(body.address.host.in(), "127.0.0.1");
    ASSERT_EQ(body.components.length(), 2u);
    EXPECT_EQ(body.components[0].tag, 4711u);
    const CORBA::String_var said = IOP::dumpComponent(body.components[1]);
    EXPECT_STREQ(said.in(), "TAG_ALTERNATE_IIOP_ADDRESS 127.0.0.2 18");

    omniObjRef* const made = omni::createObjRef(CORBA::Object::_PD_repoId, ior->duplicate());
    const CORBA::String_var text = omniObjRef::_toString(made);
    omni::releaseObjRef(made);
    const CORBA::Object_var object = orb->string_to_object(text.in());
    omniIOR_var again;
    again = object->_getIOR();
    EXPECT_STREQ(again->repositoryID(), "IDL:Bank:1.0");
    IIOP::unmarshalProfile(again->iopProfiles()[0], body);
    EXPECT_EQ(body.address.port, 17);
    EXPECT_EQ(body.components.length(), 2u);
    orb->destroy();
}

TEST(OmniIor, NothingIsMadeOfNothing)
{
    const _CORBA_Unbounded_Sequence_Octet key;
    EXPECT_THROW(omniIOR("", key, nullptr, 0, GIOP::Version{1, 2}, omniIOR::NoInterceptor),
                 CORBA::BAD_PARAM);
    EXPECT_THROW(omniIOR(nullptr, new IOP::TaggedProfileList), CORBA::BAD_PARAM);
    const auto empty = [] {
        return new omniIOR(CORBA::string_dup(""), new IOP::TaggedProfileList);
    };
    EXPECT_THROW(omni::createObjRef("", empty()), CORBA::BAD_INV_ORDER) << "without an ORB";
    int argc = 0;
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, "omniORB4");
    EXPECT_THROW(omni::createObjRef("", empty()), CORBA::INV_OBJREF);
    orb->destroy();
    IOP::TaggedComponent broken;
    broken.tag = IOP::TAG_ORB_TYPE;
    EXPECT_THROW(IOP::dumpComponent(broken), CORBA::MARSHAL);
    broken.tag = 4711;
    broken.component_data.length(2);
    broken.component_data[0] = 10;
    broken.component_data[1] = 255;
    const CORBA::String_var text = IOP::dumpComponent(broken);
    EXPECT_STREQ(text.in(), "tag 4711 0x0aff");
}

TEST(OmniUri, NamesAndReferencesAreText)
{
    const CosNaming::Name_var name = omni::omniURI::stringToName("a.b/c");
    ASSERT_EQ(2u, name->length());
    EXPECT_STREQ("b", name[0u].kind.in());
    const CORBA::String_var text = omni::omniURI::nameToString(name.in());
    EXPECT_STREQ("a.b/c", text.in());
    const CORBA::String_var url = omni::omniURI::addrAndNameToURI(":host:1", "a/b");
    EXPECT_STREQ("corbaname::host:1#a/b", url.in());
    const CORBA::String_var nil = omni::omniURI::objectToString(CORBA::Object::_nil());
    int argc = 0;
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, nullptr, "omniORB4");
    const CORBA::Object_var object = orb->string_to_object(nil.in());
    EXPECT_TRUE(CORBA::is_nil(object.in()));
    orb->destroy();
}

TEST(CdrEncapsulationStream, EncapsulationsGoToSequencesAndBack)
{
    cdrEncapsulationStream written;
    written.marshalULong(7);
    sample("roof", 1) >>= written;
    CORBA::OctetSeq octets;
    written.setOctetSeq(octets);
    EXPECT_EQ(kairos::native_little_endian ? 1 : 0, octets[0]);
    cdrEncapsulationStream read(octets);
    EXPECT_EQ(7u, read.unmarshalULong());
    Streams::Sample got;
    got <<= read;
    EXPECT_STREQ("roof", got.name.in());

    const CORBA::Octet big[] = {0, 0, 0, 0, 0, 0, 0, 9};
    cdrEncapsulationStream other(big, 8);
    EXPECT_EQ(9u, other.unmarshalULong());
    EXPECT_THROW(cdrEncapsulationStream(big, 0), CORBA::MARSHAL);
    CORBA::Octet* taken = nullptr;
    CORBA::ULong room = 0;
    CORBA::ULong size = 0;
    written.getOctetStream(taken, room, size);
    EXPECT_EQ(octets.length(), size);
    EXPECT_EQ(octets[4], taken[4]);
    CORBA::OctetSeq::freebuf(taken);
}

} // namespace
