// SPDX-License-Identifier: Apache-2.0
#include "kairos/cdr/codeset.h"

#include "kairos/cdr/text_testing.h"

#include <gtest/gtest.h>

#include <vector>

namespace kairos::cdr {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

using namespace cdr::testing;

const CodeSet& set_of(std::string_view name)
{
    const CodeSet* set = find_code_set(name);
    if (set == nullptr) throw std::runtime_error("no code set " + std::string(name));
    return *set;
}

/// The text in another set; "?" if that is not possible.
std::string converted(std::string_view from, std::string_view to, std::string_view text)
{
    std::string result;
    std::size_t characters = 0;
    const bool ok = convert(set_of(from), set_of(to), text, characters,
                            [&](std::string_view piece) { result += piece; });
    return ok ? result : "?";
}

/// A form for tests: text that has an environment.
struct Message {
    TextForm form;
    Environment environment{};
    Buffer buffer{};
    Writer out{buffer};

    explicit Message(int giop_minor, std::string_view wide = "UTF-16",
                     std::string_view native = "ISO-8859-1",
                     std::string_view characters = "ISO-8859-1")
        : form{.giop_minor = static_cast<std::uint8_t>(giop_minor),
               .native = &set_of(native),
               .characters = &set_of(characters),
               .wide = &set_of(wide)}
    {
        environment.text = &form;
        out.set_environment(&environment);
    }
    [[nodiscard]] Reader reader(Bytes bytes, bool little_endian = native_little_endian) const
    {
        Reader in(bytes, little_endian);
        in.set_environment(&environment);
        return in;
    }
    [[nodiscard]] Reader reader() const { return reader(out.contiguous()); }
};

std::string hex(Bytes bytes)
{
    std::string text;
    for (const std::byte octet : bytes) {
        constexpr std::string_view digits = "0123456789abcdef";
        text += digits[std::to_integer<unsigned>(octet) >> 4];
        text += digits[std::to_integer<unsigned>(octet) & 15];
    }
    return text;
}

std::vector<std::byte> octets_of(std::string_view digits)
{
    std::vector<std::byte> octets;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        octets.push_back(
            static_cast<std::byte>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
    return octets;
}

/// What the wide string becomes, in hexadecimal; "error" if it is refused.
std::string written(Message message, std::wstring_view text)
{
    return write_wide_text(message.out, text) == TextError::none ? hex(message.out.contiguous())
                                                                 : "error";
}

/// A little-endian number of four octets as these tests expect it from this machine.
std::string number(std::uint32_t value) { return hex(std::as_bytes(std::span(&value, 1))); }
std::string unit(std::uint16_t value) { return hex(std::as_bytes(std::span(&value, 1))); }

/// What a wstring on the wire means; L"?" if it is refused.
std::wstring read(const Message& message, std::string_view digits, bool little_endian,
                  std::uint32_t bound = 0)
{
    const auto octets = octets_of(digits);
    Reader in = message.reader(octets, little_endian);
    std::wstring text;
    read_wide_text(in, text, bound);
    return in.ok() ? text : L"?";
}

// --- Code sets
// -------------------------------------------------------------------------------------

TEST(CodeSets, AreFoundByNumberAndByNameWhateverItsCase) // trap 10
{
    for (const std::string_view name :
         {"ISO-8859-1", "iso-8859-1", "ISO8859-1", "0x00010001", "65537"})
        EXPECT_EQ(find_code_set(name), find_code_set(code_set::iso_8859_1)) << name;
    for (const std::string_view name : {"UTF-8", "utf8", "Utf_8", "0x05010001"})
        EXPECT_EQ(find_code_set(name), find_code_set(code_set::utf_8)) << name;
    EXPECT_EQ(set_of("ucs-4").id, code_set::ucs_4);
    EXPECT_EQ(set_of("windows-1252").id, 0x100204E4u);
    for (const std::string_view name : {"", "Klingon", "0x", "0x12345678", "-1", "99999999999"})
        EXPECT_EQ(find_code_set(name), nullptr) << name;
}

TEST(CodeSets, OfTheCLibraryAreConvertible)
{
    EXPECT_TRUE(is_convertible(set_of("ISO-8859-15")));
    EXPECT_TRUE(is_convertible(set_of("ISO-8859-5")));
    EXPECT_TRUE(is_convertible(set_of("UTF-8")));
}

TEST(Conversion, GoesThroughUnicode)
{
    EXPECT_EQ(converted("ISO-8859-1", "UTF-8", "na\xEFve"), "na\xC3\xAFve");
    EXPECT_EQ(converted("UTF-8", "ISO-8859-1", "na\xC3\xAFve"), "na\xEFve");
    EXPECT_EQ(converted("ISO-8859-15", "UTF-8", "\xA4"), "\xE2\x82\xAC"); // the euro sign
    EXPECT_EQ(converted("UTF-8", "ISO-8859-15", "\xE2\x82\xAC"), "\xA4");
    EXPECT_EQ(converted("ISO-8859-15", "Windows-1252", "\xA4"), "\x80");
    EXPECT_EQ(converted("ISO-8859-5", "UTF-8", "\xB0"), "\xD0\x90");
    EXPECT_EQ(converted("UTF-8", "UTF-8", "\xF0\x9F\x98\x80"), "\xF0\x9F\x98\x80");
    EXPECT_EQ(converted("UTF-8", "ISO-8859-1", ""), "");
}

TEST(Conversion, RefusesWhatTheOtherSetLacks)
{
    EXPECT_EQ(converted("ISO-8859-15", "ISO-8859-1", "1\xA4"), "?");
    EXPECT_EQ(converted("UTF-8", "ISO-8859-1", "\xE2\x82\xAC"), "?");
    EXPECT_EQ(converted("UTF-8", "ISO-646", "\xC3\xA9"), "?");
    EXPECT_EQ(converted("UTF-8", "ISO-8859-5", "\xC3\xA9"), "?");
}

TEST(Conversion, RefusesInvalidUtf8)
{
    for (const std::string_view text :
         {"\x80"sv, "\xC3"sv, "\xC0\x80"sv, "\xC1\xBF"sv, "\xE0\x80\x80"sv, "\xED\xA0\x80"sv,
          "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv, "\xFF"sv, "a\xE2\x82"sv, "\xE2\x28\xA1"sv,
          "\xF0\x80\x80\x80"sv})
        EXPECT_EQ(converted("UTF-8", "UTF-8", text), "?") << hex(as_bytes(text));
    EXPECT_EQ(converted("ISO-646", "UTF-8", "\xE9"), "?");
}

TEST(Conversion, KnowsNoLimitOfLength)
{
    std::string latin;
    std::string utf_8;
    for (int i = 0; i < 1000; ++i) {
        latin += "x\xE9";
        utf_8 += "x\xC3\xA9";
    }
    EXPECT_EQ(converted("ISO-8859-1", "UTF-8", latin), utf_8);
    EXPECT_EQ(converted("UTF-8", "ISO-8859-1", utf_8), latin);
    EXPECT_EQ(converted("UTF-8", "ISO-8859-15", utf_8), latin);
    EXPECT_EQ(converted("ISO-8859-15", "UTF-8", latin), utf_8);
}

TEST(Conversion, CoversEveryPlane)
{
    for (char32_t point = 0; point <= 0x10FFFF; point += point < 0x3000 ? 1 : 97) {
        if (!is_unicode(point)) continue;
        TextEncoder encoder(set_of("UTF-8"));
        const std::string text(encoder.encode({&point, 1}));
        ASSERT_TRUE(encoder.ok()) << static_cast<unsigned>(point);
        TextDecoder decoder(set_of("UTF-8"), text);
        const auto points = decoder.next();
        ASSERT_TRUE(decoder.ok() && points.size() == 1) << static_cast<unsigned>(point);
        ASSERT_TRUE(points[0] == point) << static_cast<unsigned>(point);
    }
    for (const char32_t invalid : {0xD800u, 0xDFFFu, 0x110000u, 0xFFFFFFFFu}) {
        TextEncoder encoder(set_of("UTF-8"));
        const char32_t point = invalid;
        (void)encoder.encode({&point, 1});
        EXPECT_FALSE(encoder.ok()) << static_cast<unsigned>(invalid);
    }
}

// --- Wide strings
// ----------------------------------------------------------------------------------

// "aé€" and U+1F600, which takes two units of UTF-16
constexpr std::wstring_view sample = L"a\u00E9\u20AC\U0001F600";

TEST(WideText, OfGiop12HasOctetsAndNoTerminator) // trap 11
{
    EXPECT_EQ(written(Message(2), sample), number(10) + "006100e920acd83dde00");
    EXPECT_EQ(written(Message(2), L""), number(0));
    EXPECT_EQ(written(Message(2, "UCS-4"), sample),
              number(16) + "00000061000000e9000020ac0001f600");
    EXPECT_EQ(written(Message(2, "UTF-8"), sample), number(10) + "61c3a9e282acf09f9880");
    EXPECT_EQ(written(Message(2, "UCS-2"), L"a\u20AC"), number(4) + "006120ac");
}

TEST(WideText, WithoutAFormIsThatOfGiop12)
{
    Buffer buffer;
    Writer out(buffer);
    ASSERT_EQ(write_wide_text(out, sample), TextError::none);
    EXPECT_EQ(hex(out.contiguous()), number(10) + "006100e920acd83dde00");
    Reader in(out.contiguous(), native_little_endian);
    std::wstring text;
    read_wide_text(in, text);
    EXPECT_EQ(text, sample);
    EXPECT_TRUE(in.ok());
}

TEST(WideText, OfGiop11HasUnitsOfFixedWidthAndATerminator) // trap 11
{
    EXPECT_EQ(written(Message(1), sample), number(6) + unit(0x61) + unit(0xE9) + unit(0x20AC) +
                                               unit(0xD83D) + unit(0xDE00) + unit(0));
    EXPECT_EQ(written(Message(1), L""), number(1) + unit(0));
    EXPECT_EQ(written(Message(1, "UCS-4"), sample), number(5) + number(0x61) + number(0xE9) +
                                                        number(0x20AC) + number(0x1F600) +
                                                        number(0));
}

TEST(WideText, OfGiop11IsReadInTheMessagesByteOrder) // trap 11
{
    EXPECT_EQ(read(Message(1), "00000003006120ac0000", false), L"a\u20AC");
    EXPECT_EQ(read(Message(1), "030000006100ac200000", true), L"a\u20AC");
    EXPECT_EQ(read(Message(1),
                   "04000000"
                   "3dd800de"
                   "6100"
                   "0000",
                   true),
              L"\U0001F600a");
    EXPECT_EQ(read(Message(1, "UCS-4"), "000000020001f60000000000", false), L"\U0001F600");
    EXPECT_EQ(read(Message(1, "UCS-4"), "0200000000f6010000000000", true), L"\U0001F600");
    // No byte order marks there: U+FEFF is a character like any other.
    EXPECT_EQ(read(Message(1), "00000003feff00610000", false), L"\uFEFFa");
}

TEST(WideText, OfGiop12IsBigEndianUnlessAMarkSaysOtherwise) // trap 11
{
    for (const bool little_endian : {false, true}) {
        const auto length = [little_endian](std::string octets) {
            const std::string digits = "0" + std::to_string(octets.size() / 2); // below ten
            return (little_endian ? digits + "000000" : "000000" + digits) + octets;
        };
        EXPECT_EQ(read(Message(2), length("006120ac"), little_endian), L"a\u20AC");
        EXPECT_EQ(read(Message(2), length("feff006120ac"), little_endian), L"a\u20AC");
        EXPECT_EQ(read(Message(2), length("fffe6100ac20"), little_endian), L"a\u20AC");
        EXPECT_EQ(read(Message(2), length("fffe3dd800de"), little_endian), L"\U0001F600");
        EXPECT_EQ(read(Message(2, "UCS-4"), length("fffe000000f60100"), little_endian),
                  L"\U0001F600");
        EXPECT_EQ(read(Message(2), length("feff"), little_endian), L"");
        EXPECT_EQ(read(Message(2), length("fffe"), little_endian), L"");
        EXPECT_EQ(read(Message(2), length(""), little_endian), L"");
    }
}

TEST(WideText, ThatBeginsLikeAMarkGetsARealOneInFront)
{
    for (const wchar_t first : {L'\uFEFF', wchar_t(0xFFFE)}) {
        for (const char* set : {"UTF-16", "UCS-2", "UCS-4", "UTF-8"}) {
            Message message(2, set);
            const std::wstring text{first, L'x'};
            ASSERT_EQ(write_wide_text(message.out, text), TextError::none);
            ASSERT_EQ(write_wide_character(message.out, first), TextError::none);
            Reader in = message.reader();
            std::wstring back;
            read_wide_text(in, back);
            EXPECT_EQ(back, text) << set;
            EXPECT_EQ(read_wide_character(in), first) << set;
            EXPECT_TRUE(in.ok() && in.left() == 0) << set;
        }
    }
    EXPECT_EQ(written(Message(2), L"\uFEFFx"), number(6) + "fefffeff0078");
}

TEST(WideText, RefusesLoneSurrogatesBothWays) // trap 11
{
    for (const int minor : {1, 2}) {
        for (const char* set : {"UTF-16", "UCS-2", "UCS-4"}) {
            for (const std::uint32_t point : {0xD800u, 0xDBFFu, 0xDC00u, 0xDFFFu, 0x110000u})
                EXPECT_EQ(written(Message(minor, set), std::wstring{static_cast<wchar_t>(point)}),
                          "error");
        }
        // A pair of surrogates in a wchar_t each is not what wchar_t holds here.
        EXPECT_EQ(written(Message(minor), std::wstring{wchar_t(0xD83D), wchar_t(0xDE00)}), "error");
    }
    for (const std::string_view octets : {"d800", "dc00", "d8000061", "dc00d800", "0061d83d"}) {
        const std::string length = "0000000" + std::to_string(octets.size() / 2);
        EXPECT_EQ(read(Message(2), length + std::string(octets), false), L"?") << octets;
        EXPECT_EQ(read(Message(2, "UCS-2"), length + std::string(octets), false), L"?") << octets;
    }
    EXPECT_EQ(read(Message(2, "UCS-4"), "000000040000d800", false), L"?");
    EXPECT_EQ(read(Message(2, "UCS-4"), "0000000400110000", false), L"?");
    EXPECT_EQ(read(Message(1), "00000002d8000000", false), L"?");
}

TEST(WideText, OfUcs2HasOnePlane)
{
    EXPECT_EQ(written(Message(2, "UCS-2"), sample), "error");
    EXPECT_EQ(written(Message(1, "UCS-2"), sample), "error");
    EXPECT_EQ(read(Message(2, "UCS-2"), "00000004d83dde00", false), L"?");
}

TEST(WideText, IsRefusedWhenCutWithinACharacter)
{
    EXPECT_EQ(read(Message(2), "00000003006100", false), L"?");
    EXPECT_EQ(read(Message(2),
                   "00000001"
                   "61",
                   false),
              L"?");
    EXPECT_EQ(read(Message(2, "UCS-4"), "00000006000000610000", false), L"?");
    EXPECT_EQ(read(Message(2, "UTF-8"), "00000002e282", false), L"?");
    EXPECT_EQ(read(Message(2, "UTF-8"), "00000002c080", false), L"?");
}

TEST(WideText, IsRefusedWithoutItsLengthOrTerminator)
{
    EXPECT_EQ(read(Message(2),
                   "00000004"
                   "0061",
                   false),
              L"?");
    EXPECT_EQ(read(Message(2),
                   "ffffffff"
                   "0061",
                   false),
              L"?");
    EXPECT_EQ(read(Message(2), "0000", false), L"?");
    EXPECT_EQ(read(Message(1), "00000000", false), L"?");
    EXPECT_EQ(read(Message(1), "0000000100610000", false), L"?");
    EXPECT_EQ(read(Message(1), "800000010061", false), L"?");
    EXPECT_EQ(read(Message(1, "UCS-4"), "0000000200000061", false), L"?");
}

TEST(WideText, HasABoundOfCharacters) // trap 11
{
    // Two characters, in three units of two octets.
    EXPECT_EQ(read(Message(2), "000000060061d83dde00", false, 2), L"a\U0001F600");
    EXPECT_EQ(read(Message(2), "000000060061d83dde00", false, 1), L"?");
    EXPECT_EQ(read(Message(1), "000000040061d83dde000000", false, 2), L"a\U0001F600");
    EXPECT_EQ(read(Message(1), "000000040061d83dde000000", false, 1), L"?");
}

TEST(WideText, OfEveryPlaneComesBack)
{
    std::wstring text;
    for (char32_t point = 1; point <= 0x10FFFF; point += point < 0x800 ? 1 : 257)
        if (is_unicode(point)) text += static_cast<wchar_t>(point);
    for (const int minor : {1, 2}) {
        for (const char* set : {"UTF-16", "UCS-4", "UTF-8"}) {
            if (minor == 1 && set == "UTF-8"sv) continue; // not of fixed width
            Message message(minor, set);
            ASSERT_EQ(write_wide_text(message.out, text), TextError::none);
            EXPECT_TRUE(message.environment.wide_text_written);
            Reader in = message.reader();
            std::wstring back;
            read_wide_text(in, back);
            EXPECT_TRUE(in.ok() && in.left() == 0) << set;
            EXPECT_TRUE(back == text) << minor << set;
        }
    }
}

// --- Wide characters
// -------------------------------------------------------------------------------

std::string written(Message message, wchar_t character)
{
    return write_wide_character(message.out, character) == TextError::none
               ? hex(message.out.contiguous())
               : "error";
}

wchar_t read_one(const Message& message, std::string_view digits, bool little_endian = false)
{
    const auto octets = octets_of(digits);
    Reader in = message.reader(octets, little_endian);
    const wchar_t character = read_wide_character(in);
    return in.ok() && in.left() == 0 ? character : L'?';
}

TEST(WideCharacter, OfGiop12HasItsLengthInFront) // trap 11
{
    EXPECT_EQ(written(Message(2), L'\u20AC'), "0220ac");
    EXPECT_EQ(written(Message(2), L'\U0001F600'), "04d83dde00");
    EXPECT_EQ(written(Message(2, "UCS-4"), L'\U0001F600'), "040001f600");
    EXPECT_EQ(written(Message(2, "UTF-8"), L'\u20AC'), "03e282ac");
    EXPECT_EQ(written(Message(2), wchar_t(0xD800)), "error");
    EXPECT_EQ(read_one(Message(2), "0220ac"), L'\u20AC');
    EXPECT_EQ(read_one(Message(2), "0220ac", true), L'\u20AC');
    EXPECT_EQ(read_one(Message(2), "04feff20ac"), L'\u20AC');
    EXPECT_EQ(read_one(Message(2), "04fffeac20"), L'\u20AC');
    EXPECT_EQ(read_one(Message(2), "04d83dde00"), L'\U0001F600');
    EXPECT_EQ(read_one(Message(2), "06fffe3dd800de"), L'\U0001F600');
}

TEST(WideCharacter, OfGiop11IsOneUnit) // trap 11
{
    EXPECT_EQ(written(Message(1), L'\u20AC'), unit(0x20AC));
    EXPECT_EQ(written(Message(1, "UCS-4"), L'\U0001F600'), number(0x1F600));
    EXPECT_EQ(written(Message(1), L'\U0001F600'), "error");
    EXPECT_EQ(read_one(Message(1), "20ac"), L'\u20AC');
    EXPECT_EQ(read_one(Message(1), "ac20", true), L'\u20AC');
    EXPECT_EQ(read_one(Message(1), "d83d"), L'?');
}

TEST(WideCharacter, IsExactlyOne)
{
    for (const std::string_view octets : {"00", "0161", "0400610062", "02feff", "02fffe", "02d800",
                                          "04d8000061", "0361", "03006100"})
        EXPECT_EQ(read_one(Message(2), octets), L'?') << octets;
}

// --- Refusals
// --------------------------------------------------------------------------------------

TEST(WideText, MayBeRefusedAltogether)
{
    Message message(0);
    message.form.wide = nullptr;
    for (const TextError why : {TextError::wide_in_giop_1_0, TextError::wide_not_offered,
                                TextError::wide_not_negotiated, TextError::incompatible}) {
        message.form.wide_refused = why;
        EXPECT_EQ(write_wide_text(message.out, sample), why);
        EXPECT_EQ(write_wide_character(message.out, L'a'), why);
        const auto octets = octets_of("0000000200610000");
        Reader in = message.reader(octets, false);
        (void)find_wide_text(in);
        EXPECT_EQ(in.fault(), Fault::wide_text_refused);
        Reader one = message.reader(octets, false);
        (void)read_wide_character(one);
        EXPECT_EQ(one.fault(), Fault::wide_text_refused);
    }
    EXPECT_EQ(message.out.size(), 0u);
}

// --- Characters
// ------------------------------------------------------------------------------------

TEST(Text, IsConvertedToTheWireAndBack)
{
    Message message(2, "UTF-16", "ISO-8859-1", "UTF-8");
    ASSERT_EQ(write_text(message.out, "na\xEFve"), TextError::none);
    EXPECT_EQ(hex(message.out.contiguous()), number(7) + "6e61c3af766500");
    Reader in = message.reader();
    std::string text;
    read_text(in, text, 5); // characters, of which the wire has six octets
    EXPECT_EQ(text, "na\xEFve");
    EXPECT_TRUE(in.ok());
    Reader bounded = message.reader();
    read_text(bounded, text, 4);
    EXPECT_EQ(bounded.fault(), Fault::bound_exceeded);
}

TEST(Text, OfTheSameSetIsNotLookedAt)
{
    Message message(2);
    ASSERT_EQ(write_text(message.out, "\x80\xFF"), TextError::none);
    EXPECT_EQ(hex(message.out.contiguous()), number(3) + "80ff00");
    EXPECT_EQ(converting_form(message.out), nullptr);
}

TEST(Text, ThatCannotBeConvertedIsRefused)
{
    Message message(2, "UTF-16", "ISO-8859-15", "ISO-8859-1");
    EXPECT_EQ(write_text(message.out, "1 \xA4"), TextError::unconvertible);
    EXPECT_EQ(write_character(message.out, '\xA4'), TextError::unconvertible);
    Message reading(2, "UTF-16", "ISO-8859-1", "UTF-8");
    for (const std::string_view wire : {"00000003e28200", "00000004e282ac00"}) {
        const auto octets = octets_of(wire);
        Reader in = reading.reader(octets, false);
        std::string text;
        read_text(in, text);
        EXPECT_EQ(in.fault(), Fault::unconvertible_text) << wire;
        EXPECT_EQ(text, "");
    }
}

TEST(Text, CharactersAreOneOctetOnBothSides)
{
    Message message(2, "UTF-16", "ISO-8859-15", "Windows-1252");
    ASSERT_EQ(write_character(message.out, '\xA4'), TextError::none);
    EXPECT_EQ(hex(message.out.contiguous()), "80");
    Reader in = message.reader();
    EXPECT_EQ(read_character(in), '\xA4');
    Message utf_8(2, "UTF-16", "ISO-8859-1", "UTF-8");
    EXPECT_EQ(write_character(utf_8.out, '\xE9'), TextError::unconvertible);
    EXPECT_EQ(write_character(utf_8.out, 'e'), TextError::none);
    const auto octets = octets_of("c3");
    Reader cut = utf_8.reader(octets);
    (void)read_character(cut);
    EXPECT_EQ(cut.fault(), Fault::unconvertible_text);
}

TEST(Text, MayBeRefusedAltogether)
{
    Message message(2);
    message.form.characters_refused = TextError::incompatible;
    EXPECT_EQ(write_text(message.out, "a"), TextError::incompatible);
    EXPECT_EQ(write_character(message.out, 'a'), TextError::incompatible);
    const auto octets = octets_of("000000026100");
    Reader in = message.reader(octets, false);
    std::string text;
    read_text(in, text);
    EXPECT_EQ(in.fault(), Fault::characters_refused);
}

} // namespace
} // namespace kairos::cdr
