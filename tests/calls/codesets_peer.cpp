// SPDX-License-Identifier: Apache-2.0
//
// Client or server of codesets.idl. Plain mapping code, for any ORB whose wchar_t is Unicode.
//
//     codesets_peer serve                                prints its reference, ends with its input
//     codesets_peer call REFERENCE OWN OTHERS [WAY]    prints a line a check; 0 if all held
//
// OWN and OTHERS are the native code sets of client and server, ISO-8859-1 or UTF-8. WAY is "units"
// if one of them has UTF-16 in its wchar_t: then a character beyond its plane is two there;
// "narrow" leaves out wide text.
#ifdef PEER_OMNIORB
#include "codesets.hh"
#else
#include "codesets_skel.h"

#include <kairos/corba/CORBA.h>
#endif

#include "codesets_servant.h"

#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace Codesets;

void require(bool condition, const std::string& what)
{
    if (!condition) throw std::runtime_error(what);
}

/// "naïve café" in a code set.
std::string sample(std::string_view set)
{
    return set == "UTF-8" ? "na\xC3\xAFve caf\xC3\xA9" : "na\xEFve caf\xE9";
}

std::string as_string(const Octets& octets)
{
    std::string text;
    for (CORBA::ULong i = 0; i < octets.length(); ++i)
        text += static_cast<char>(octets[i]);
    return text;
}

Octets as_octets(std::string_view text)
{
    Octets octets;
    octets.length(static_cast<CORBA::ULong>(text.size()));
    for (CORBA::ULong i = 0; i < octets.length(); ++i)
        octets[i] = static_cast<CORBA::Octet>(text[i]);
    return octets;
}

class Checks {
  public:
    Checks(Speaker_ptr speaker, std::string own, std::string others, bool units)
        : speaker_(Speaker::_duplicate(speaker)), own_(std::move(own)), others_(std::move(others)),
          units_(units)
    {
    }

    int run()
    {
        check("strings", [this] { strings(); });
        check("chars", [this] { chars(); });
        check("blocks of chars", [this] { blocks(); });
        return failed_ ? 1 : 0;
    }
    int run_wide()
    {
        check("wide strings", [this] { wide_strings(); });
        check("wide characters", [this] { wide_characters(); });
        check("beyond the first plane", [this] { beyond_the_first_plane(); });
        check("constructed types", [this] { constructed(); });
        check("exceptions", [this] { exceptions(); });
        return failed_ ? 1 : 0;
    }

  private:
    template <typename Check>
    void check(const char* name, Check run)
    {
        try {
            run();
            std::cout << "ok " << name << std::endl;
        } catch (const CORBA::SystemException& exception) {
            failed_ = true;
            std::cout << "FAILED " << name << ": " << exception._name() << ' ' << std::hex
                      << exception.minor() << std::dec << std::endl;
        } catch (const std::runtime_error& error) {
            failed_ = true;
            std::cout << "FAILED " << name << ": " << error.what() << std::endl;
        }
    }

    void strings()
    {
        const std::string text = sample(own_);
        const Octets_var octets = speaker_->octets_of(text.c_str());
        require(as_string(octets.in()) == sample(others_), "what the server has");
        const CORBA::String_var back = speaker_->text_of(as_octets(sample(others_)));
        require(back.in() == text, "what comes back");
        speaker_->text(text.c_str());
        require(CORBA::String_var(speaker_->text()).in() == text, "an attribute");
        CORBA::String_var b = CORBA::string_dup("");
        CORBA::String_var c;
        const CORBA::String_var result = speaker_->a_text(text.c_str(), b.inout(), c.out());
        require(result.in() == text && b.in() == text && c.in()[0] == '\0', "parameters");
        const std::string large(20'000, 'x');
        const CORBA::String_var copy = speaker_->a_text((large + text).c_str(), b.inout(), c.out());
        require(copy.in() == large + text, "a large string");
        TextList texts;
        texts.length(2);
        texts[1] = CORBA::string_dup(text.c_str());
        TextList second;
        TextList_var third;
        TextList_var list = speaker_->a_text_list(texts, second, third.out());
        require(std::string(list[1u]) == text && second.length() == 2, "a sequence");
    }

    void chars()
    {
        CORBA::Char b = 'b';
        CORBA::Char c = 'c';
        require(speaker_->a_char('a', b, c) == 'a' && b == 'a' && c == 'b', "ASCII");
        const bool single = own_ == "ISO-8859-1" && others_ == own_;
        try {
            const CORBA::Char accented = '\xE9';
            const bool came_back = speaker_->a_char(accented, b, c) == accented;
            require(came_back && (single || own_ == others_), "a letter with an accent");
        } catch (const CORBA::DATA_CONVERSION&) {
            require(!single, "the sets are the same, yet it was refused");
        }
    }

    void blocks()
    {
        MarksList marks;
        marks.length(3);
        for (CORBA::ULong i = 0; i < 3; ++i) {
            marks[i].first = static_cast<char>('a' + i);
            marks[i].number = static_cast<CORBA::Long>(i);
            marks[i].others[0] = marks[i].others[1] = marks[i].others[2] = 'x';
        }
        MarksList b;
        MarksList_var c;
        MarksList_var result = speaker_->a_marks_list(marks, b, c.out());
        require(result->length() == 3 && result[2u].first == 'c' && result[2u].number == 2,
                "structs");
        CharList chars;
        chars.length(4);
        for (CORBA::ULong i = 0; i < 4; ++i)
            chars[i] = static_cast<char>('0' + i);
        CharList b_chars;
        CharList_var c_chars;
        CharList_var list = speaker_->a_char_list(chars, b_chars, c_chars.out());
        require(list->length() == 4 && list[3u] == '3' && b_chars[0] == '0', "a sequence");
        const CharArray array = {'w', 'x', 'y', 'z'};
        CharArray b_array = {'1', '2', '3', '4'};
        CharArray c_array = {0, 0, 0, 0};
        const CharArray_var back = speaker_->a_char_array(array, b_array, c_array);
        require(back[3] == 'z' && b_array[0] == 'w' && c_array[3] == '4', "an array");
    }

    void expect_points(const std::vector<CORBA::WChar>& word,
                       const std::vector<CORBA::ULong>& there)
    {
        const std::wstring text(word.begin(), word.end());
        Points_var points = speaker_->points_of(text.c_str());
        require(points->length() == there.size(), "their number");
        Points sent;
        sent.length(points->length());
        for (CORBA::ULong i = 0; i < points->length(); ++i) {
            require(points[i] == there[i], "what the server has");
            sent[i] = there[i];
        }
        const CORBA::WString_var back = speaker_->word_of(sent);
        require(back.in() == text, "what comes back");
        CORBA::WString_var b = CORBA::wstring_dup(L"b");
        CORBA::WString_var c;
        const CORBA::WString_var result = speaker_->a_word(text.c_str(), b.inout(), c.out());
        require(result.in() == text && b.in() == text && c.in()[0] == L'b', "parameters");
    }

    void wide_strings()
    {
        expect_points({L'h', L'\u00E9', L'\u20AC', L'\uD7FF', L'\uE000', L'\uFFFD'},
                      {'h', 0xE9, 0x20AC, 0xD7FF, 0xE000, 0xFFFD});
        expect_points({}, {});
        const std::wstring large(30'000, L'\u20AC');
        speaker_->word(large.c_str());
        require(CORBA::WString_var(speaker_->word()).in() == large, "a large string");
    }

    void wide_characters()
    {
        CORBA::WChar b = L'b';
        CORBA::WChar c = L'c';
        require(speaker_->a_letter(euro, b, c) == euro && b == euro && c == L'b', "parameters");
        LetterList letters;
        letters.length(2);
        letters[0] = L'l';
        letters[1] = euro;
        LetterList second;
        LetterList_var third;
        LetterList_var list = speaker_->a_list(letters, second, third.out());
        require(list->length() == 2 && list[1u] == euro && second[0] == L'l', "a sequence");
    }

    void beyond_the_first_plane()
    {
#ifdef PEER_OMNIORB // whose wchar_t has units of UTF-16
        expect_points({0xD83D, 0xDE00}, {0x1F600});
#else
        if (units_) {
            expect_points({0x1F600}, {0xD83D, 0xDE00});
        } else {
            expect_points({0x1F600}, {0x1F600});
        }
#endif
    }

    void constructed()
    {
        Entry entry;
        entry.word = CORBA::wstring_dup(L"\u20AC uro");
        entry.brief = CORBA::wstring_dup(L"brief");
        entry.text = CORBA::string_dup(sample(own_).c_str());
        entry.letter_row[0] = entry.letter_row[1] = entry.letter_row[2] = euro;
        entry.word_row[1] = CORBA::wstring_dup(greeting);
        entry.word_list.length(1);
        entry.word_list[0] = CORBA::wstring_dup(greeting);
        entry.pair[0] = entry.pair[1] = L'p';
        entry.drawn.letter = L'd';
        entry.drawn.width = 7;
        entry.noted.first = 'f';
        entry.noted.number = 8;
        entry.noted.others[0] = entry.noted.others[1] = entry.noted.others[2] = 'o';
        Entry b = entry;
        Entry_var c;
        const Entry_var result = speaker_->an_entry(entry, b, c.out());
        require(std::wstring(result->word) == std::wstring(entry.word), "a wide string");
        require(sample(own_) == std::string(result->text), "a string");
        require(std::wstring(result->word_row[1]) == greeting, "an array");
        require(result->drawn.width == 7 && result->noted.number == 8, "what follows text");
#ifndef PEER_OMNIORB
        if (units_) return; // the other ORB has no such unions
        Either either;
        either.word(CORBA::wstring_dup(greeting));
        Either other = either;
        Either_var third;
        const Either_var back = speaker_->an_either(either, other, third.out());
        require(back->_d() == euro && std::wstring(back->word()) == greeting, "a union");
#endif
    }

    void exceptions()
    {
        try {
            speaker_->speak(greeting);
            require(false, "no exception");
        } catch (const Unspeakable& exception) {
            require(std::wstring(exception.word) == greeting, "its wide string");
            require(exception.letter == L'g' && std::string(exception.text) == "never", "the rest");
        }
    }

    const Speaker_var speaker_;
    const std::string own_;
    const std::string others_;
    [[maybe_unused]] const bool units_;
    bool failed_ = false;
};

int call(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    const CORBA::Object_var object = orb->string_to_object(arguments[0].c_str());
    const Speaker_var speaker = Speaker::_narrow(object.in());
    const std::string_view other = arguments.size() > 3 ? std::string_view(arguments[3]) : "";
    Checks checks(speaker.in(), arguments[1], arguments[2], other == "units");
    const int status = checks.run();
    return other == "narrow" ? status : checks.run_wide();
}

int serve(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
    PortableServer::Servant_var<codesets::SpeakerServant> servant =
        new codesets::SpeakerServant(orb);
    const Speaker_var speaker = servant->_this();
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    const CORBA::String_var reference = orb->object_to_string(speaker.in());
    std::cout << reference.in() << std::endl;
    std::thread input([orb] {
        char octet;
        while (read(STDIN_FILENO, &octet, 1) > 0) {
        }
        orb->shutdown(false);
    });
    try {
        orb->run();
    } catch (const CORBA::BAD_INV_ORDER&) { // the input ended before it came to that
    }
    input.join();
    return 0;
}

} // namespace

int main(int argc, char** argv)
try {
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    int status = 2;
    if (argc == 2 && arguments[0] == "serve") status = serve(orb.in());
    if (argc >= 5 && arguments[0] == "call")
        status = call(orb.in(), {arguments.begin() + 1, arguments.end()});
    if (status == 2)
        std::cerr << "usage: codesets_peer serve | call REFERENCE OWN OTHERS [units|narrow]\n";
    orb->destroy();
    return status;
} catch (const CORBA::Exception& exception) {
    std::cerr << "codesets_peer: " << exception._name() << '\n';
    return 1;
}
