// SPDX-License-Identifier: Apache-2.0
//
// IOP::Codec: encapsulations octet by octet, every exception, versions and code sets.
#include "kairos/codec/Codec.h"
#include "kairos/corba/CORBA.h"

#include <gtest/gtest.h>

#include <string>

namespace {

class CodecTest : public testing::Test {
  protected:
    CodecTest()
    {
        int argc = 1;
        char name[] = "test";
        char* argv[] = {name, nullptr};
        orb_ = CORBA::ORB_init(argc, argv, "codec");
        const CORBA::Object_var object = orb_->resolve_initial_references("CodecFactory");
        factory_ = IOP::CodecFactory::_narrow(object);
    }
    ~CodecTest() override { orb_->destroy(); }

    IOP::Codec_ptr codec(CORBA::Octet minor)
    {
        return factory_->create_codec({IOP::ENCODING_CDR_ENCAPS, 1, minor});
    }

    CORBA::ORB_var orb_;
    IOP::CodecFactory_var factory_;
};

CORBA::OctetSeq octets(std::string_view text)
{
    CORBA::OctetSeq made;
    made.length(static_cast<CORBA::ULong>(text.size()));
    std::copy(text.begin(), text.end(), made.get_buffer());
    return made;
}
std::string text(const CORBA::OctetSeq& octets)
{
    return {reinterpret_cast<const char*>(octets.get_buffer()), octets.length()};
}

TEST_F(CodecTest, EncapsulationsOctetByOctet)
{
    using namespace std::string_literals;
    const IOP::Codec_var used = codec(2);
    CORBA::Any any;
    any <<= CORBA::Short(-2);
    const bool little = kairos::native_little_endian;
    const CORBA::OctetSeq_var whole = used->encode(any);
    EXPECT_EQ(text(whole.in()), little ? "\1\0\0\0\2\0\0\0\xfe\xff"s : "\0\0\0\0\0\0\0\2\xff\xfe"s);
    const CORBA::OctetSeq_var value = used->encode_value(any);
    EXPECT_EQ(text(value.in()), little ? "\1\0\xfe\xff"s : "\0\0\xff\xfe"s);
    // Either byte order is read.
    for (const std::string& data : {"\1\0\0\0\2\0\0\0\xfe\xff"s, "\0\0\0\0\0\0\0\2\xff\xfe"s}) {
        const CORBA::Any_var decoded = used->decode(octets(data));
        CORBA::Short number = 0;
        ASSERT_TRUE(decoded.in() >>= number);
        EXPECT_EQ(number, -2);
    }
    for (const std::string& data : {"\1\0\xfe\xff"s, "\0\0\xff\xfe"s}) {
        const CORBA::Any_var decoded = used->decode_value(octets(data), CORBA::_tc_short);
        CORBA::Short number = 0;
        ASSERT_TRUE(decoded.in() >>= number);
        EXPECT_EQ(number, -2);
    }
}

TEST_F(CodecTest, EveryVersionTakesTextsAndSequences)
{
    for (const CORBA::Octet minor : std::initializer_list<CORBA::Octet>{0, 1, 2}) {
        const IOP::Codec_var used = codec(minor);
        CORBA::StringSeq words;
        words.length(2);
        words[0] = "one";
        words[1] = "two";
        CORBA::Any any;
        any <<= words;
        const CORBA::OctetSeq_var data = used->encode(any);
        const CORBA::Any_var decoded = used->decode(data.in());
        const CORBA::StringSeq* found = nullptr;
        ASSERT_TRUE(decoded.in() >>= found);
        EXPECT_STREQ((*found)[1], "two");
        const CORBA::OctetSeq_var value = used->encode_value(any);
        const CORBA::Any_var alone = used->decode_value(value.in(), CORBA::_tc_StringSeq);
        ASSERT_TRUE(alone.in() >>= found);
        EXPECT_STREQ((*found)[0], "one");
    }
}

TEST_F(CodecTest, WideTextIsForGiop11AndLater)
{
    CORBA::Any any;
    any <<= L"wide \u20ac";
    for (const CORBA::Octet minor : std::initializer_list<CORBA::Octet>{1, 2}) {
        const IOP::Codec_var used = codec(minor);
        const CORBA::OctetSeq_var data = used->encode(any);
        const CORBA::Any_var decoded = used->decode(data.in());
        const CORBA::WChar* found = nullptr;
        ASSERT_TRUE(decoded.in() >>= found);
        EXPECT_EQ(std::wstring(found), L"wide \u20ac");
    }
    const IOP::Codec_var old = codec(0);
    EXPECT_THROW((void)old->encode(any), IOP::Codec::InvalidTypeForEncoding);
    EXPECT_THROW((void)old->encode_value(any), IOP::Codec::InvalidTypeForEncoding);
}

TEST_F(CodecTest, CodeSetsOfTheProgramsChoice)
{
    using namespace std::string_literals;
    constexpr CORBA::ULong latin_1 = 0x00010001;
    constexpr CORBA::ULong utf_8 = 0x05010001;
    constexpr CORBA::ULong utf_16 = 0x00010109;
    const auto with = [&](CORBA::ULong characters, CORBA::ULong wide) {
        return factory_->create_codec_with_codesets(
            {IOP::ENCODING_CDR_ENCAPS, 1, 2, characters, wide});
    };
    const IOP::Codec_var used = with(utf_8, utf_16);
    CORBA::Any any;
    any <<= "plain";
    const CORBA::OctetSeq_var data = used->encode_value(any);
    EXPECT_EQ(text(data.in()).substr(8), "plain\0"s);
    EXPECT_FALSE(CORBA::is_nil(IOP::Codec_var(with(latin_1, utf_8))));
    EXPECT_THROW((void)with(1, utf_16), IOP::CodecFactory::UnsupportedCodeset);
    try {
        (void)with(utf_8, 7);
        FAIL();
    } catch (const IOP::CodecFactory::UnsupportedCodeset& refused) {
        EXPECT_EQ(refused.codeset, 7u);
    }
}

TEST_F(CodecTest, EncodingsThatNobodyKnows)
{
    using Unknown = IOP::CodecFactory::UnknownEncoding;
    EXPECT_THROW((void)factory_->create_codec({1, 1, 2}), Unknown);
    EXPECT_THROW((void)factory_->create_codec({IOP::ENCODING_CDR_ENCAPS, 2, 0}), Unknown);
    EXPECT_THROW((void)factory_->create_codec({IOP::ENCODING_CDR_ENCAPS, 1, 3}), Unknown);
}

TEST_F(CodecTest, WhatCannotBeEncoded)
{
    const IOP::Codec_var used = codec(2);
    CORBA::Any any;
    any.replace(CORBA::_tc_long, nullptr); // a type without a value
    EXPECT_THROW((void)used->encode(any), IOP::Codec::InvalidTypeForEncoding);
    any <<= CORBA::Object_ptr(factory_.in()); // local
    EXPECT_THROW((void)used->encode_value(any), IOP::Codec::InvalidTypeForEncoding);
}

TEST_F(CodecTest, WhatCannotBeDecoded)
{
    using namespace std::string_literals;
    const IOP::Codec_var used = codec(2);
    for (const std::string& data : {""s, "\2"s, "\1"s, "\1\0\0\0\2\0\0\0"s, "\1\0\0\0\x7f\0\0\0"s})
        EXPECT_THROW((void)used->decode(octets(data)), IOP::Codec::FormatMismatch);
    EXPECT_THROW((void)used->decode_value(octets(""), CORBA::_tc_short),
                 IOP::Codec::FormatMismatch);
    EXPECT_THROW((void)used->decode_value(octets("\2\0\0\0"s), CORBA::_tc_short),
                 IOP::Codec::FormatMismatch);
    EXPECT_THROW((void)used->decode_value(octets("\1\2"s), CORBA::_tc_boolean),
                 IOP::Codec::TypeMismatch);
    EXPECT_THROW((void)used->decode_value(octets("\1\0\0\0"s), CORBA::_tc_long),
                 IOP::Codec::TypeMismatch);
    EXPECT_THROW((void)used->decode_value(octets("\1\0\0\0\xff\xff\xff\xff"s), CORBA::_tc_OctetSeq),
                 IOP::Codec::TypeMismatch);
    EXPECT_THROW((void)used->decode_value(octets("\1"s), nullptr), CORBA::BAD_PARAM);
}

} // namespace
