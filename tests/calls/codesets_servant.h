// SPDX-License-Identifier: Apache-2.0
//
// The servant of codesets.idl, for Kairos and for other ORBs of the classic mapping: it echoes, and
// it says what it has in its memory.
#pragma once

#include <string>
#include <utility>

namespace codesets {

template <typename T>
T turn(const T& a, T& b, T& c)
{
    c = b;
    b = a;
    return a;
}
template <typename T, typename Out>
T* turn_variable(const T& a, T& b, Out& c)
{
    c = new T(b);
    b = a;
    return new T(a);
}

class SpeakerServant : public POA_Codesets::Speaker {
  public:
    explicit SpeakerServant(CORBA::ORB_ptr orb) : orb_(CORBA::ORB::_duplicate(orb)) {}

    CORBA::WChar* word() override { return CORBA::wstring_dup(word_); }
    void word(const CORBA::WChar* word) override { word_ = word; }
    CORBA::WChar letter() override { return letter_; }
    void letter(CORBA::WChar letter) override { letter_ = letter; }
    char* text() override { return CORBA::string_dup(text_); }
    void text(const char* text) override { text_ = text; }

    CORBA::WChar a_letter(CORBA::WChar a, CORBA::WChar& b, CORBA::WChar& c) override
    {
        return turn(a, b, c);
    }
    CORBA::WChar* a_word(const CORBA::WChar* a, CORBA::WChar*& b, CORBA::WString_out c) override
    {
        c = b; // takes over the inout string
        b = CORBA::wstring_dup(a);
        return CORBA::wstring_dup(a);
    }
    CORBA::WChar* a_short(const CORBA::WChar* a, CORBA::WChar*& b, CORBA::WString_out c) override
    {
        return a_word(a, b, c);
    }
    Codesets::Letters_slice* some_letters(const Codesets::Letters a, Codesets::Letters b,
                                          Codesets::Letters_out c) override
    {
        Codesets::Letters_copy(c, b);
        Codesets::Letters_copy(b, a);
        return Codesets::Letters_dup(a);
    }
    Codesets::Words_slice* some_words(const Codesets::Words a, Codesets::Words b,
                                      Codesets::Words_out c) override
    {
        c = Codesets::Words_dup(b);
        Codesets::Words_copy(b, a);
        return Codesets::Words_dup(a);
    }
    Codesets::LetterList* a_list(const Codesets::LetterList& a, Codesets::LetterList& b,
                                 Codesets::LetterList_out c) override
    {
        return turn_variable(a, b, c);
    }
    Codesets::FewLetters* a_few(const Codesets::FewLetters& a, Codesets::FewLetters& b,
                                Codesets::FewLetters_out c) override
    {
        return turn_variable(a, b, c);
    }
    Codesets::WordList* a_word_list(const Codesets::WordList& a, Codesets::WordList& b,
                                    Codesets::WordList_out c) override
    {
        return turn_variable(a, b, c);
    }
    Codesets::FewWords* few_words(const Codesets::FewWords& a, Codesets::FewWords& b,
                                  Codesets::FewWords_out c) override
    {
        return turn_variable(a, b, c);
    }
    Codesets::Glyph a_glyph(const Codesets::Glyph& a, Codesets::Glyph& b,
                            Codesets::Glyph& c) override
    {
        return turn(a, b, c);
    }
    Codesets::Glyphs_slice* some_glyphs(const Codesets::Glyphs a, Codesets::Glyphs b,
                                        Codesets::Glyphs_out c) override
    {
        Codesets::Glyphs_copy(c, b);
        Codesets::Glyphs_copy(b, a);
        return Codesets::Glyphs_dup(a);
    }
    Codesets::GlyphList* a_glyph_list(const Codesets::GlyphList& a, Codesets::GlyphList& b,
                                      Codesets::GlyphList_out c) override
    {
        return turn_variable(a, b, c);
    }
    Codesets::Entry* an_entry(const Codesets::Entry& a, Codesets::Entry& b,
                              Codesets::Entry_out c) override
    {
        return turn_variable(a, b, c);
    }
#ifndef PEER_OMNIORB
    Codesets::Either* an_either(const Codesets::Either& a, Codesets::Either& b,
                                Codesets::Either_out c) override
    {
        return turn_variable(a, b, c);
    }
#endif
    Codesets::Entries* the_entries(const Codesets::Entries& a, Codesets::Entries& b,
                                   Codesets::Entries_out c) override
    {
        return turn_variable(a, b, c);
    }

    char* a_text(const char* a, char*& b, CORBA::String_out c) override
    {
        c = b;
        b = CORBA::string_dup(a);
        return CORBA::string_dup(a);
    }
    CORBA::Char a_char(CORBA::Char a, CORBA::Char& b, CORBA::Char& c) override
    {
        return turn(a, b, c);
    }
    char* a_short_text(const char* a, char*& b, CORBA::String_out c) override
    {
        return a_text(a, b, c);
    }
    Codesets::TextList* a_text_list(const Codesets::TextList& a, Codesets::TextList& b,
                                    Codesets::TextList_out c) override
    {
        return turn_variable(a, b, c);
    }
    Codesets::CharList* a_char_list(const Codesets::CharList& a, Codesets::CharList& b,
                                    Codesets::CharList_out c) override
    {
        return turn_variable(a, b, c);
    }
    Codesets::CharArray_slice* a_char_array(const Codesets::CharArray a, Codesets::CharArray b,
                                            Codesets::CharArray_out c) override
    {
        Codesets::CharArray_copy(c, b);
        Codesets::CharArray_copy(b, a);
        return Codesets::CharArray_dup(a);
    }
    Codesets::MarksList* a_marks_list(const Codesets::MarksList& a, Codesets::MarksList& b,
                                      Codesets::MarksList_out c) override
    {
        return turn_variable(a, b, c);
    }

    void speak(const CORBA::WChar* word) override
    {
        throw Codesets::Unspeakable(word, word[0], "never");
    }
    void whisper(const CORBA::WChar* word) override { word_ = word; }

    Codesets::Octets* octets_of(const char* text) override
    {
        Codesets::Octets_var octets = new Codesets::Octets;
        octets->length(static_cast<CORBA::ULong>(std::char_traits<char>::length(text)));
        for (CORBA::ULong i = 0; i < octets->length(); ++i)
            octets[i] = static_cast<CORBA::Octet>(text[i]);
        return octets._retn();
    }
    char* text_of(const Codesets::Octets& octets) override
    {
        CORBA::String_var text = CORBA::string_alloc(octets.length());
        for (CORBA::ULong i = 0; i < octets.length(); ++i)
            text.inout()[i] = static_cast<char>(octets[i]);
        text.inout()[octets.length()] = '\0';
        return text._retn();
    }
    Codesets::Points* points_of(const CORBA::WChar* word) override
    {
        Codesets::Points_var points = new Codesets::Points;
        points->length(static_cast<CORBA::ULong>(std::char_traits<wchar_t>::length(word)));
        for (CORBA::ULong i = 0; i < points->length(); ++i)
            points[i] = static_cast<CORBA::ULong>(word[i]);
        return points._retn();
    }
    CORBA::WChar* word_of(const Codesets::Points& points) override
    {
        CORBA::WString_var word = CORBA::wstring_alloc(points.length());
        for (CORBA::ULong i = 0; i < points.length(); ++i)
            word.inout()[i] = static_cast<CORBA::WChar>(points[i]);
        word.inout()[points.length()] = L'\0';
        return word._retn();
    }
    CORBA::Long sum(CORBA::Long a, CORBA::Long b) override { return a + b; }
    void end() override { orb_->shutdown(false); }

  private:
    const CORBA::ORB_var orb_;
    CORBA::WString_var word_ = CORBA::wstring_dup(L"");
    CORBA::WChar letter_ = L'x';
    CORBA::String_var text_ = CORBA::string_dup("");
};

} // namespace codesets
