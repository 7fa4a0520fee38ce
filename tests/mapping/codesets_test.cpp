// SPDX-License-Identifier: Apache-2.0
//
// Wide characters and strings in generated code: what the mapping says of their ownership, and
// every role they can play in calls within one ORB and over TCP between two ORBs of this process.
// Leaks are found by AddressSanitizer.
#include "codesets_skel.h"

#include "codesets_servant.h"

#include <kairos/corba/CORBA.h>

#include <gtest/gtest.h>

#include <optional>
#include <sstream>

namespace {

using namespace Codesets;
namespace mapping = kairos::mapping;

// --- The classes of wide strings
// -------------------------------------------------------------------

TEST(WideStrings, HaveFunctionsAsStringsHave)
{
    CORBA::WChar* text = CORBA::wstring_alloc(3);
    EXPECT_EQ(text[0], L'\0');
    CORBA::wstring_free(text);
    text = CORBA::wstring_dup(L"\U0001F600");
    EXPECT_STREQ(text, L"\U0001F600");
    CORBA::wstring_free(text);
    EXPECT_EQ(CORBA::wstring_dup(nullptr), nullptr);
    CORBA::wstring_free(nullptr);
}

TEST(WideStrings, VarAdoptsPointersAndCopiesConstants)
{
    CORBA::WString_var text;
    EXPECT_EQ(text.in(), nullptr);
    text = CORBA::wstring_dup(L"adopted");
    text = static_cast<const CORBA::WChar*>(L"copied");
    CORBA::WString_var other = text;
    other[0] = L'C';
    EXPECT_STREQ(text, L"copied");
    EXPECT_STREQ(other, L"Copied");
    text = std::wstring(L"standard");
    EXPECT_EQ(std::wstring_view(text), L"standard");
    CORBA::WString_var moved = std::move(text);
    EXPECT_EQ(text.in(), nullptr); // NOLINT(bugprone-use-after-move): that is what is asked
    CORBA::WChar* released = moved._retn();
    EXPECT_EQ(moved.in(), nullptr);
    moved = released;
    const auto callee = [](CORBA::WString_out out) {
        out = CORBA::wstring_dup(L"from the callee");
    };
    callee(moved);
    EXPECT_STREQ(moved, L"from the callee");
    std::wostringstream stream;
    stream << moved;
    EXPECT_EQ(stream.str(), L"from the callee");
}

TEST(WideStrings, MembersStartEmpty)
{
    Entry entry;
    EXPECT_STREQ(entry.word, L"");
    EXPECT_STREQ(entry.brief, L"");
    EXPECT_STREQ(entry.word_row[1], L"");
    entry.word = L"a word";
    entry.word_row[0] = entry.word;
    entry.brief = entry.word; // checked when it is sent
    const Entry copy = entry;
    entry.word = CORBA::wstring_dup(L"another");
    EXPECT_STREQ(copy.word, L"a word");
    EXPECT_STREQ(copy.word_row[0], L"a word");
    CORBA::WString_mgr member = copy.word;
    EXPECT_STREQ(member, L"a word");
}

TEST(WideStrings, InSequencesAreManagedThroughTheirElements)
{
    WordList words(2);
    words.length(2);
    EXPECT_STREQ(words[0], L"");
    words[0] = L"copied";
    words[1] = CORBA::wstring_dup(L"adopted");
    words[1] = std::wstring(L"standard");
    const std::wstring_view view = words[1];
    EXPECT_EQ(view, L"standard");
    Entry entry;
    entry.word = L"a member";
    words[0] = entry.word;
    const CORBA::WString_var taken = words[1]._retn();
    EXPECT_STREQ(taken, L"standard");
    EXPECT_STREQ(words[1], L"");
    WordList copy = words;
    copy.length(3);
    EXPECT_STREQ(copy[0], L"a member");
    std::size_t size = 0;
    for (const CORBA::WChar* word : copy)
        size += std::wstring_view(word).size();
    EXPECT_EQ(size, 8u);
    CORBA::WChar** buffer = WordList::allocbuf(1);
    EXPECT_STREQ(buffer[0], L"");
    WordList::freebuf(buffer);
}

TEST(WideStrings, AreConstantsOfGeneratedCode)
{
    static_assert(euro == L'\u20AC');
    EXPECT_STREQ(greeting, L"gr\u00FC\u00DF Gott");
}

TEST(WideStrings, OutOfRangeAreRefusedWhenSent)
{
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    mapping::BoundedWStringMember<5> brief;
    brief = L"12345";
    EXPECT_NO_THROW(mapping::encode(out, brief));
    brief = L"\U0001F600\U0001F600\U0001F600\U0001F600\U0001F600"; // five characters
    EXPECT_NO_THROW(mapping::encode(out, brief));
    brief = L"123456";
    EXPECT_THROW(mapping::encode(out, brief), CORBA::BAD_PARAM);
    const CORBA::WString_var null;
    EXPECT_THROW(mapping::encode_string(out, null.in()), CORBA::BAD_PARAM);
    const wchar_t surrogate = 0xD800;
    try {
        mapping::encode(out, surrogate);
        ADD_FAILURE() << "a lone surrogate was sent";
    } catch (const CORBA::DATA_CONVERSION& exception) {
        EXPECT_EQ(exception.minor(), mapping::omg_minor(1));
        EXPECT_EQ(exception.completed(), CORBA::COMPLETED_NO);
    }
}

TEST(WideStrings, AreDecodedIntoTheArenaOfTheUpcall)
{
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    mapping::encode_string(out, L"a\u20AC");
    mapping::encode_string(out, L"");
    kairos::Arena arena;
    kairos::cdr::Reader in(out.contiguous(), kairos::native_little_endian);
    const wchar_t* text = nullptr;
    mapping::decode_string_view(in, arena, text);
    EXPECT_STREQ(text, L"a\u20AC");
    mapping::decode_string_view(in, arena, text);
    EXPECT_STREQ(text, L"");
    EXPECT_TRUE(in.ok() && in.left() == 0);
    mapping::decode_string_view(in, arena, text);
    EXPECT_STREQ(text, L"");
    EXPECT_FALSE(in.ok());
}

/// Where a string of a message in `wire` begins for a program whose chars are `native`: at what
/// offset of the message, or nowhere in it.
std::optional<std::ptrdiff_t> place_of(const char* wire, const char* native)
{
    namespace cdr = kairos::cdr;
    const cdr::TextForm form{.native = cdr::find_code_set(std::string_view(native)),
                             .characters = cdr::find_code_set(std::string_view(wire))};
    cdr::Environment environment;
    environment.text = &form;
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    mapping::encode_string(out, "plain");
    cdr::Reader in(out.contiguous(), kairos::native_little_endian);
    in.set_environment(&environment);
    kairos::Arena arena;
    const char* text = nullptr;
    mapping::decode_string_view(in, arena, text);
    EXPECT_STREQ(text, "plain");
    const char* begin = kairos::as_text(out.contiguous()).data();
    if (text < begin || text >= begin + out.contiguous().size()) return {};
    return text - begin;
}

TEST(Strings, LieInTheMessageWhereBothSidesHaveOneCodeSet)
{
    EXPECT_EQ(place_of("ISO-8859-1", "ISO-8859-1"), 4);
    EXPECT_EQ(place_of("UTF-8", "UTF-8"), 4);
    EXPECT_EQ(place_of("UTF-8", "ISO-8859-1"), std::nullopt);
    EXPECT_EQ(place_of("ISO-8859-1", "UTF-8"), std::nullopt);
}

// --- Calls
// -----------------------------------------------------------------------------------------

CORBA::ORB_ptr make_orb(const char* id, std::vector<std::string> options)
{
    std::vector<char*> arguments;
    options.insert(options.begin(), "test");
    for (std::string& option : options)
        arguments.push_back(option.data());
    int count = static_cast<int>(arguments.size());
    return CORBA::ORB_init(count, arguments.data(), id);
}

/// The CDR of a value: equal for equal values.
template <typename T>
std::string bytes_of(const T& value)
{
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    mapping::encode(out, value);
    return std::string(kairos::as_text(out.contiguous()));
}

/// The parameter: whether the calls leave the ORB.
class WideCalls : public testing::TestWithParam<bool> {
  protected:
    WideCalls()
        : server_(make_orb("wide server", {"-ORBListenEndpoints", "iiop://127.0.0.1:0"})),
          client_(make_orb("wide client", {})), servant_(new codesets::SpeakerServant(server_.in()))
    {
        const CORBA::Object_var root = server_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(root.in());
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        const Speaker_var local = servant_->_this();
        const CORBA::String_var text = server_->object_to_string(local.in());
        const CORBA::Object_var remote = client_->string_to_object(text);
        speaker_ = Speaker::_narrow(GetParam() ? remote.in() : local.in());
    }
    ~WideCalls() override
    {
        speaker_ = nullptr;
        client_->destroy();
        server_->destroy();
    }

    /// A value passed by value, and its result.
    template <typename T>
    void expect_turned(T (Speaker::*call)(T, T&, T&), T one, T two)
    {
        T b = two;
        T c{};
        EXPECT_EQ((speaker_->*call)(one, b, c), one);
        EXPECT_EQ(b, one);
        EXPECT_EQ(c, two);
    }
    /// Values of variable length.
    template <typename T, typename Out>
    void expect_turned(T* (Speaker::*call)(const T&, T&, Out), const T& one, const T& two)
    {
        T b = two;
        typename T::_var_type c;
        const typename T::_var_type result = (speaker_->*call)(one, b, c);
        EXPECT_EQ(bytes_of(result.in()), bytes_of(one));
        EXPECT_EQ(bytes_of(b), bytes_of(one));
        EXPECT_EQ(bytes_of(c.in()), bytes_of(two));
    }
    void expect_turned(CORBA::WChar* (Speaker::*call)(const CORBA::WChar*, CORBA::WChar*&,
                                                      CORBA::WString_out),
                       const wchar_t* one, const wchar_t* two)
    {
        CORBA::WString_var b = CORBA::wstring_dup(two);
        CORBA::WString_var c;
        const CORBA::WString_var result = (speaker_->*call)(one, b.inout(), c);
        EXPECT_STREQ(result, one);
        EXPECT_STREQ(b, one);
        EXPECT_STREQ(c, two);
    }

    const CORBA::ORB_var server_;
    const CORBA::ORB_var client_;
    const PortableServer::Servant_var<codesets::SpeakerServant> servant_;
    Speaker_var speaker_;
};
INSTANTIATE_TEST_SUITE_P(Distance, WideCalls, testing::Bool(),
                         [](const auto& suite) { return suite.param ? "remote" : "collocated"; });

constexpr const wchar_t* word = L"h\u00E9llo \u20AC \U0001F600";

TEST_P(WideCalls, WithCharactersAndStrings)
{
    expect_turned<CORBA::WChar>(&Speaker::a_letter, L'\U0001F600', L'\xFEFF');
    expect_turned(&Speaker::a_word, word, L"");
    expect_turned(&Speaker::a_short, L"12345",
                  L"\U0001F600\U0001F600\U0001F600\U0001F600\U0001F600");
    std::wstring large(100'000, L'\u20AC');
    expect_turned(&Speaker::a_word, large.c_str(), word);
    CORBA::WString_var b = CORBA::wstring_dup(L"");
    CORBA::WString_var c;
    EXPECT_THROW(CORBA::WString_var(speaker_->a_short(L"123456", b.inout(), c)), CORBA::BAD_PARAM);
}

TEST_P(WideCalls, WithAttributes)
{
    speaker_->word(word);
    EXPECT_STREQ(CORBA::WString_var(speaker_->word()), word);
    speaker_->letter(L'\u20AC');
    EXPECT_EQ(speaker_->letter(), L'\u20AC');
    speaker_->whisper(L"whispered");
    EXPECT_STREQ(CORBA::WString_var(speaker_->word()), L"whispered");
}

TEST_P(WideCalls, WithArrays)
{
    const Letters one = {L'a', L'\u20AC', L'\U0001F600'};
    Letters b = {L'x', L'y', L'z'};
    Letters c = {};
    const Letters_var letters = speaker_->some_letters(one, b, c);
    EXPECT_EQ(letters[2], L'\U0001F600');
    EXPECT_EQ(b[1], L'\u20AC');
    EXPECT_EQ(c[0], L'x');
    Words words;
    words[0] = word;
    Words other;
    other[1] = L"other";
    Words_var out;
    const Words_var result = speaker_->some_words(words, other, out.out());
    EXPECT_STREQ(result[0], word);
    EXPECT_STREQ(other[0], word);
    EXPECT_STREQ(out[1], L"other");
    const Glyphs glyphs = {{L'\U0001F600', 1}, {L'b', -1}};
    Glyphs more = {{L'c', 2}, {L'd', 3}};
    Glyphs third = {};
    const Glyphs_var drawn = speaker_->some_glyphs(glyphs, more, third);
    EXPECT_EQ(drawn[0].letter, L'\U0001F600');
    EXPECT_EQ(more[1].width, -1);
    EXPECT_EQ(third[1].letter, L'd');
}

TEST_P(WideCalls, WithSequences)
{
    const LetterList letters = {L'a', L'\u20AC', L'\U0001F600'};
    expect_turned(&Speaker::a_list, letters, LetterList());
    const FewLetters few = {L'\u20AC', L'b', L'c', L'd'};
    expect_turned(&Speaker::a_few, few, FewLetters());
    const WordList words = {word, L"", L"second"};
    expect_turned(&Speaker::a_word_list, words, WordList());
    const FewWords few_words = {L"12345", L"", L"1"};
    expect_turned(&Speaker::few_words, few_words, FewWords());
    GlyphList glyphs(2);
    glyphs.length(2);
    glyphs[0] = {L'\U0001F600', 7};
    glyphs[1] = {L'b', -7};
    expect_turned(&Speaker::a_glyph_list, glyphs, GlyphList());
}

TEST_P(WideCalls, WithStructs)
{
    Glyph b = {L'b', 2};
    Glyph c = {};
    const Glyph result = speaker_->a_glyph({L'\U0001F600', 1}, b, c);
    EXPECT_EQ(result.letter, L'\U0001F600');
    EXPECT_EQ(b.width, 1);
    EXPECT_EQ(c.letter, L'b');
    Entry entry;
    entry.word = word;
    entry.brief = L"12345";
    entry.text = "text";
    entry.letter_row[0] = entry.letter_row[1] = entry.letter_row[2] = L'\u20AC';
    entry.word_row[1] = L"second";
    entry.list.length(1);
    entry.list[0] = L'l';
    entry.word_list.length(2);
    entry.word_list[1] = word;
    entry.more.length(1);
    entry.more[0] = L"more";
    entry.pair[0] = entry.pair[1] = L'p';
    entry.drawn = {L'd', 4};
    entry.noted = {'f', 5, {'1', '2', '3'}};
    Entry empty{};
    empty.drawn = {L'x', 0};
    expect_turned(&Speaker::an_entry, entry, empty);
    Entries entries(2);
    entries.length(2);
    entries[0] = entry;
    entries[1] = empty;
    expect_turned(&Speaker::the_entries, entries, Entries());
}

TEST_P(WideCalls, WithUnions)
{
    Either either;
    either.word(word);
    EXPECT_EQ(either._d(), L'\u20AC');
    Either letter;
    letter.letter(L'\U0001F600');
    Either text;
    text.text("text");
    text._d(L'\U0001F600');
    expect_turned(&Speaker::an_either, either, letter);
    expect_turned(&Speaker::an_either, text, either);
    either.brief(CORBA::wstring_dup(L"brief"));
    EXPECT_STREQ(either.brief(), L"brief");
}

TEST_P(WideCalls, ThatRaiseExceptionsWithText)
{
    try {
        speaker_->speak(word);
        ADD_FAILURE() << "no exception";
    } catch (const Unspeakable& exception) {
        EXPECT_STREQ(exception.word, word);
        EXPECT_EQ(exception.letter, L'h');
        EXPECT_STREQ(exception.text, "never");
    }
}

} // namespace
