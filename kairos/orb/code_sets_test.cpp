// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/code_sets.h"

#include "kairos/orb/options.h"

#include <gtest/gtest.h>

namespace kairos::orb {
namespace {

using namespace cdr::code_set;
using cdr::TextError;
using Ids = std::vector<std::uint32_t>;

constexpr std::uint32_t iso_8859_15 = 0x0001000F;
constexpr std::uint32_t iso_8859_5 = 0x00010005;

const cdr::CodeSet& set_of(std::uint32_t id) { return *cdr::find_code_set(id); }

std::vector<ior::TaggedComponent> components(const ior::CodeSets& sets)
{
    return {ior::make_orb_type(1), ior::make_code_sets(sets)};
}

/// What a client chooses.
std::uint32_t chosen(std::uint32_t native, const Ids& conversions,
                     const ior::CodeSetComponent& server)
{
    return choose_code_set(native, conversions, server, utf_8);
}

TEST(CodeSetNegotiation, FollowsTheAlgorithmOfTheSpecification) // trap 10
{
    EXPECT_EQ(chosen(iso_8859_1, {utf_8}, {iso_8859_1, {}}), iso_8859_1);
    // The client converts, else the server, else both.
    EXPECT_EQ(chosen(iso_8859_1, {utf_8}, {utf_8, {iso_8859_1}}), utf_8);
    EXPECT_EQ(chosen(iso_8859_1, {}, {utf_8, {iso_8859_1}}), iso_8859_1);
    EXPECT_EQ(chosen(iso_8859_1, {utf_8, iso_8859_5}, {iso_8859_15, {iso_8859_5, utf_8}}),
              iso_8859_5); // what the server prefers
    // Both fall back if their characters have anything to do with each other.
    EXPECT_EQ(chosen(iso_8859_1, {}, {utf_8, {}}), utf_8);
    EXPECT_EQ(chosen(iso_8859_1, {utf_8}, {iso_8859_5, {}}), 0u);
    EXPECT_EQ(chosen(iso_8859_1, {utf_8}, {0x12345678, {0x12345679}}), 0u);
    EXPECT_EQ(chosen(iso_8859_1, {utf_8}, {0, {utf_8}}), utf_8);
}

TEST(CodeSetNegotiation, OfEqualPeersIsThePlainForm)
{
    CodeSets sets(set_of(iso_8859_1), set_of(utf_16));
    EXPECT_EQ(sets.offered(), (ior::CodeSets{{iso_8859_1, {utf_8}}, {utf_16, {ucs_4, ucs_2}}}));
    const Agreement agreement = sets.agree(2, components(sets.offered()));
    EXPECT_EQ(agreement.form, nullptr);
    EXPECT_EQ(agreement.context, (CodeSetContext{iso_8859_1, utf_16}));
    EXPECT_EQ(sets.form_of(2, agreement.context), nullptr);
    CodeSets utf(set_of(utf_8), set_of(utf_16));
    EXPECT_EQ(utf.agree(2, components(utf.offered())).form, nullptr);
    EXPECT_EQ(utf.form_of(2, CodeSetContext{utf_8, utf_16}), nullptr);
}

TEST(CodeSetNegotiation, KeepsOneObjectAForm)
{
    CodeSets client(set_of(utf_8), set_of(utf_16));
    CodeSets server(set_of(iso_8859_1), set_of(utf_16));
    const Agreement agreement = client.agree(2, components(server.offered()));
    ASSERT_NE(agreement.form, nullptr);
    EXPECT_EQ(agreement.form, client.agree(2, components(server.offered())).form);
    EXPECT_NE(agreement.form, client.agree(1, components(server.offered())).form);
    EXPECT_TRUE(agreement.form->converts_characters());
    EXPECT_EQ(agreement.form->characters->id, iso_8859_1);
    EXPECT_EQ(agreement.context, (CodeSetContext{iso_8859_1, utf_16}));
    EXPECT_EQ(server.form_of(2, agreement.context), nullptr);
}

TEST(CodeSetNegotiation, WithAServerThatSaysNothing) // trap 10
{
    CodeSets sets(set_of(utf_8), set_of(utf_16));
    for (const std::uint8_t minor : {std::uint8_t{1}, std::uint8_t{2}}) {
        const Agreement agreement = sets.agree(minor, {});
        EXPECT_EQ(agreement.context, std::nullopt);
        ASSERT_NE(agreement.form, nullptr);
        EXPECT_EQ(agreement.form->characters->id, iso_8859_1);
        EXPECT_EQ(agreement.form->wide_refused, TextError::wide_not_offered);
    }
    const std::vector<ior::TaggedComponent> malformed = {{ior::tag_code_sets, {}}};
    EXPECT_EQ(sets.agree(2, malformed).context, std::nullopt);
}

TEST(CodeSetNegotiation, IsNotOfGiop10) // trap 10
{
    CodeSets sets(set_of(iso_8859_1), set_of(utf_16));
    const Agreement agreement = sets.agree(0, components(sets.offered()));
    EXPECT_EQ(agreement.context, std::nullopt);
    ASSERT_NE(agreement.form, nullptr);
    EXPECT_EQ(agreement.form->wide_refused, TextError::wide_in_giop_1_0);
    EXPECT_FALSE(agreement.form->converts_characters());
    EXPECT_EQ(sets.form_of(0, CodeSetContext{utf_8, utf_16})->wide_refused,
              TextError::wide_in_giop_1_0);
}

TEST(CodeSetNegotiation, MayFindNothingInCommon)
{
    CodeSets sets(set_of(iso_8859_1), set_of(utf_16));
    const Agreement agreement = sets.agree(2, components({{iso_8859_5, {}}, {0x00030001, {}}}));
    ASSERT_NE(agreement.form, nullptr);
    EXPECT_EQ(agreement.form->characters_refused, TextError::incompatible);
    EXPECT_EQ(agreement.form->wide_refused, TextError::incompatible);
    EXPECT_EQ(agreement.context, (CodeSetContext{0, 0}));
    const Agreement narrow = sets.agree(2, components({{iso_8859_1, {}}, {0, {}}}));
    EXPECT_EQ(narrow.form->wide_refused, TextError::wide_not_offered);
    EXPECT_EQ(narrow.form->characters_refused, TextError::none);
}

TEST(CodeSetNegotiation, AsAServerHoldsTheClientToItsWord)
{
    CodeSets sets(set_of(utf_8), set_of(utf_16));
    const cdr::TextForm* silent = sets.form_of(2, std::nullopt);
    EXPECT_EQ(silent->characters->id, iso_8859_1);
    EXPECT_EQ(silent->wide_refused, TextError::wide_not_negotiated);
    EXPECT_TRUE(silent->is_server);
    const cdr::TextForm* unknown = sets.form_of(2, CodeSetContext{0x12345678, 0x12345679});
    EXPECT_EQ(unknown->characters_refused, TextError::not_supported);
    EXPECT_EQ(unknown->wide_refused, TextError::not_supported);
    EXPECT_EQ(sets.form_of(1, CodeSetContext{utf_8, utf_8})->wide_refused,
              TextError::not_supported); // not of fixed width
    EXPECT_EQ(sets.form_of(2, CodeSetContext{utf_16, utf_16})->characters_refused,
              TextError::not_supported); // not of octets
}

TEST(CodeSetNegotiation, KnowsWhichTextMeansTheSame)
{
    CodeSets sets(set_of(iso_8859_1), set_of(utf_16));
    const cdr::TextForm* utf = sets.form_of(2, CodeSetContext{utf_8, utf_16});
    const cdr::TextForm* older = sets.form_of(1, CodeSetContext{iso_8859_1, utf_16});
    EXPECT_TRUE(sets.same_wide_text(nullptr, utf));
    EXPECT_FALSE(sets.same_characters(nullptr, utf));
    EXPECT_FALSE(sets.same_wide_text(nullptr, older));
    EXPECT_TRUE(sets.same_characters(nullptr, older));
}

TEST(CodeSetContext, ComesBack)
{
    const auto bytes = encode_contexts({utf_8, utf_16});
    cdr::Reader reader(bytes, native_little_endian);
    EXPECT_EQ(reader.read<std::uint32_t>(), 1u);
    EXPECT_EQ(reader.read<std::uint32_t>(), code_sets_context_id);
    const Bytes data = reader.read_octets();
    EXPECT_EQ(reader.left(), 0u);
    EXPECT_EQ(decode_code_set_context(data), (CodeSetContext{utf_8, utf_16}));
    for (std::size_t size = 0; size < data.size(); ++size)
        EXPECT_EQ(decode_code_set_context(data.first(size)), std::nullopt) << size;
}

TEST(CodeSetOptions, TakeNamesAndNumbers)
{
    std::vector<std::string> arguments = {"-ORBNativeCharCodeSet", "utf-8",
                                          "-ORBNativeWCharCodeSet=0x00010106"};
    const auto options = parse_options(arguments);
    ASSERT_TRUE(options);
    EXPECT_EQ(options->native_code_set->id, utf_8);
    EXPECT_EQ(options->native_wide_code_set->id, ucs_4);
    for (const char* bad : {"UTF-16", "Klingon", "0x12345678"}) {
        std::vector<std::string> wrong = {"-ORBnativeCharCodeSet", bad};
        EXPECT_FALSE(parse_options(wrong)) << bad;
    }
    for (const char* bad : {"UTF-8", "ISO-8859-1", ""}) {
        std::vector<std::string> wrong = {"-ORBNativeWCharCodeSet", bad};
        EXPECT_FALSE(parse_options(wrong)) << bad;
    }
}

} // namespace
} // namespace kairos::orb
