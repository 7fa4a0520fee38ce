// SPDX-License-Identifier: Apache-2.0
//
// References as CDR and as text: what others wrote is kept byte for byte, what nobody could have
// written is refused.
#include "kairos/ior/ior.h"

#include "kairos/base/limits.h"
#include "kairos/ior/sample_references_testing.h"
#include "kairos/ior/text.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace kairos;
using namespace kairos::ior;

OctetVector octets_of(std::initializer_list<int> values)
{
    OctetVector octets;
    for (const int value : values)
        octets.push_back(static_cast<std::byte>(value));
    return octets;
}

/// The encapsulation that follows "IOR:".
OctetVector unhex(std::string_view text)
{
    OctetVector octets;
    for (std::size_t i = 4; i + 1 < text.size(); i += 2)
        octets.push_back(
            static_cast<std::byte>(*hex_digit_value(text[i]) << 4 | *hex_digit_value(text[i + 1])));
    return octets;
}

cdr::Fault fault_of(Bytes encapsulation)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(encapsulation);
    Ior reference{"left over", {{}}};
    const bool decoded = ior::decode(reader, reference);
    EXPECT_EQ(decoded, reader.ok());
    if (!decoded) {
        EXPECT_EQ(reference, Ior{});
    }
    return reader.fault();
}

TEST(Ior, TextOfOmniOrbComesBackByteForByte)
{
    for (const auto text : {sample::omniorb_little_endian, sample::omniorb_1_0, sample::omniorb_nil,
                            sample::bracketed_ipv6}) {
        const auto reference = from_string(text);
        ASSERT_TRUE(reference.ok()) << reference.error().reason;
        if (native_little_endian) {
            EXPECT_EQ(to_string(reference.value()), text);
        }
    }
}

TEST(Ior, OtherByteOrderMeansTheSame)
{
    const auto reference = from_string(sample::omniorb_big_endian);
    ASSERT_TRUE(reference.ok()) << reference.error().reason;
    EXPECT_EQ(reference.value().type_id, "IDL:Demo/Echo:1.0");
    ASSERT_EQ(reference.value().profiles.size(), 1);
    // Profiles keep their own byte order when the reference around them changes its.
    const auto again = from_string(to_string(reference.value()));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again.value(), reference.value());
}

TEST(Ior, UnknownProfilesAreKept)
{
    const auto reference = from_string(sample::four_profiles);
    ASSERT_TRUE(reference.ok());
    ASSERT_EQ(reference.value().profiles.size(), 4);
    EXPECT_EQ(reference.value().profiles[0].tag, 0x54414F00);
    EXPECT_EQ(reference.value().profiles[0].data.size(), 13);
    const auto again = from_string(to_string(reference.value()));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again.value(), reference.value());
}

TEST(Ior, NilHasNoProfiles)
{
    EXPECT_TRUE(Ior{}.is_nil());
    EXPECT_TRUE(from_string(sample::omniorb_nil).value().is_nil());
    EXPECT_FALSE(from_string(sample::omniorb_1_0).value().is_nil());
    if (native_little_endian) {
        EXPECT_EQ(to_string(Ior{}), sample::omniorb_nil);
    }
    // Some peers write "" as a string of length zero.
    const auto lenient = from_string("IOR:000000000000000000000000");
    ASSERT_TRUE(lenient.ok()) << lenient.error().reason;
    EXPECT_EQ(lenient.value(), Ior{});
}

TEST(Ior, TextMayBeInAnyCaseAndBetweenBlanks)
{
    std::string upper(sample::omniorb_big_endian);
    std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    const auto expected = from_string(sample::omniorb_big_endian);
    for (const std::string& text : {upper, "ior:" + upper.substr(4), "\n\t " + upper + " \r\n"}) {
        const auto reference = from_string(text);
        ASSERT_TRUE(reference.ok()) << reference.error().reason;
        EXPECT_EQ(reference.value(), expected.value());
    }
    EXPECT_TRUE(from_string(std::string(sample::omniorb_nil) + "0000").ok()); // padded at the end
}

TEST(Ior, RefusedTextSaysWhy)
{
    const std::pair<std::string_view, std::string_view> cases[] = {
        {"", "text does not begin with 'IOR:'"},
        {"corbaloc::h/K", "text does not begin with 'IOR:'"},
        {"IOR:", "no hexadecimal digits follow 'IOR:'"},
        {"IOR:0", "an odd number of hexadecimal digits: the text is incomplete"},
        {"IOR:010g", "'g' is not a hexadecimal digit at character 8"},
        {"  IOR:01\x01", "'\\x01' is not a hexadecimal digit at character 9"},
        {"IOR:02", "not an object reference: value is outside its type"},
        {"IOR:01", "not an object reference: data ends before the value"},
        {"IOR:000000000000000f", "not an object reference: length exceeds the data"},
        {"IOR:000000000000000161000000", "not an object reference: string is not terminated"},
        {"IOR:00000000000000020000000000000000",
         "not an object reference: value is outside its type"},
        {"IOR:00000000000000010000000000000001", "not an object reference: length exceeds the "
                                                 "data"},
    };
    for (const auto& [text, reason] : cases) {
        const auto reference = from_string(text);
        ASSERT_FALSE(reference.ok()) << text;
        EXPECT_EQ(reference.error().reason, reason) << text;
    }
}

TEST(Ior, TruncatedAnywhereIsRefused)
{
    for (const auto text : {sample::omniorb_little_endian, sample::four_profiles}) {
        const OctetVector whole = unhex(text);
        ASSERT_EQ(fault_of(whole), cdr::Fault::none);
        for (std::size_t size = 0; size < whole.size(); ++size)
            // A vector of its own, so that AddressSanitizer sees a read behind the end.
            EXPECT_NE(fault_of(OctetVector(whole.begin(),
                                           whole.begin() + static_cast<std::ptrdiff_t>(size))),
                      cdr::Fault::none)
                << size;
    }
}

TEST(Ior, CountsBeyondTheBytesAreRefused)
{
    // 2^32 - 1 profiles, then a profile of 2^32 - 1 octets.
    EXPECT_EQ(fault_of(octets_of({1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255})),
              cdr::Fault::length_beyond_end);
    EXPECT_EQ(fault_of(octets_of({1, 0, 0, 0, 1, 0, 0, 0, 0,   0,   0,   0,
                                  1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255})),
              cdr::Fault::length_beyond_end);
}

TEST(Ior, LimitsHold)
{
    Ior reference;
    reference.profiles.resize(limits::profiles_max);
    EXPECT_TRUE(from_string(to_string(reference)).ok());
    reference.profiles.emplace_back();
    EXPECT_EQ(fault_of(unhex(to_string(reference))), cdr::Fault::bound_exceeded);

    Ior named{std::string(limits::operation_name_max - 1, 'x'), {}};
    EXPECT_TRUE(from_string(to_string(named)).ok());
    named.type_id += 'x';
    EXPECT_EQ(fault_of(unhex(to_string(named))), cdr::Fault::bound_exceeded);
}

TEST(Ior, EncodingCopiesLargeProfiles)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer);
    Ior reference{"IDL:X:1.0", {{7, OctetVector(cdr::Writer::external_bytes_min, std::byte{5})}}};
    encode(writer, reference);
    EXPECT_TRUE(writer.externals().empty());
    const Ior before = reference;
    reference.profiles[0].data.assign(1, std::byte{9});
    cdr::Reader reader(writer.contiguous(), native_little_endian);
    Ior decoded;
    ASSERT_TRUE(ior::decode(reader, decoded));
    EXPECT_EQ(decoded, before);
}

TEST(Ior, ReadsAtAnyOffsetOfAMessage)
{
    for (int offset = 0; offset < 8; ++offset) {
        cdr::Buffer buffer;
        cdr::Writer writer(buffer);
        for (int i = 0; i < offset; ++i)
            writer.write(std::uint8_t{1});
        const Ior reference = from_string(sample::four_profiles).value();
        encode(writer, reference);
        writer.write(std::uint8_t{42});
        cdr::Reader reader(writer.contiguous(), native_little_endian,
                           static_cast<std::size_t>(offset));
        Ior decoded;
        ASSERT_TRUE(ior::decode(reader, decoded));
        EXPECT_EQ(decoded, reference);
        EXPECT_EQ(reader.read<std::uint8_t>(), 42);
        EXPECT_EQ(reader.left(), 0);
    }
}

} // namespace
