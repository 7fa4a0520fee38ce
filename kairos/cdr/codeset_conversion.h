// SPDX-License-Identifier: Apache-2.0
//
// Code sets as the OSF registry numbers them (CORBA 3.3 part 2, 7.10.5), and text of one turned
// into Unicode and back, a chunk at a time. Unicode's own forms and ISO 8859-1 are done here, all
// others by the C library's iconv, whose descriptors a thread opens once. Nothing is shared between
// threads.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace kairos::cdr {

namespace code_set {
inline constexpr std::uint32_t iso_8859_1 = 0x00010001;
inline constexpr std::uint32_t ucs_2 = 0x00010100;
inline constexpr std::uint32_t ucs_4 = 0x00010106;
inline constexpr std::uint32_t utf_16 = 0x00010109;
inline constexpr std::uint32_t utf_8 = 0x05010001;
} // namespace code_set

/// How the bytes of a code set are turned into Unicode.
enum class Encoding : std::uint8_t { latin_1, utf_8, utf_16, ucs_2, ucs_4, by_iconv };

/// A code set that text can be converted from and to. There is one object for each. None has
/// states: iconv knows where it is from the octets alone.
struct KAIROS_API CodeSet {
    std::uint32_t id;
    std::string_view name;  ///< the usual one: "ISO-8859-1"
    const char* iconv_name; ///< the C library's, if `encoding` is by_iconv
    Encoding encoding;
    bool carries_characters; ///< usable for char and string
    bool carries_wide;       ///< usable for wchar and wstring
    /// The registry's character set: sets with the same one hold the same characters.
    std::uint16_t character_set;
};

/// The code set of this id in the OSF registry; null for one that is not supported.
[[nodiscard]] KAIROS_API const CodeSet* find_code_set(std::uint32_t id) noexcept;
/// The code set of this name, in which case and punctuation do not matter, or number ("0x05010001",
/// "65537"); null for one that is not supported.
[[nodiscard]] KAIROS_API const CodeSet* find_code_set(std::string_view name) noexcept;
/// Whether this machine can convert the code set: iconv's tables may not be installed.
[[nodiscard]] KAIROS_API bool is_convertible(const CodeSet& set);

/// A Unicode scalar value: no surrogate, nothing beyond U+10FFFF.
[[nodiscard]] constexpr bool is_unicode(char32_t point) noexcept
{
    return point < 0xD800 || (point > 0xDFFF && point <= 0x10FFFF);
}

/// The code point that UTF-8 text begins with, or 0xFFFFFFFF if it is not valid or not in its
/// shortest form; `size` becomes its length. `text` is not empty.
[[nodiscard]] KAIROS_API char32_t decode_utf_8(std::string_view text, std::size_t& size) noexcept;

/// Turns text of a set that carries characters into code points.
class KAIROS_API TextDecoder {
  public:
    /// `text` is borrowed.
    TextDecoder(const CodeSet& set, std::string_view text);

    /// The next code points; none at the end, or when the text is not valid in its code set.
    /// Valid until the next call.
    [[nodiscard]] std::span<const char32_t> next();
    [[nodiscard]] bool ok() const noexcept { return ok_; }

  private:
    [[nodiscard]] std::size_t next_latin_1() noexcept;
    [[nodiscard]] std::size_t next_utf_8() noexcept;
    [[nodiscard]] std::size_t next_by_iconv() noexcept;

    const CodeSet& set_;
    void* descriptor_; // an iconv_t of this thread, or null
    std::string_view rest_;
    bool ok_ = true;
    std::array<char32_t, 128> points_;
};

/// Turns code points into text of a set that carries characters.
class KAIROS_API TextEncoder {
  public:
    explicit TextEncoder(const CodeSet& set);

    /// The text of these code points, at most as many as a TextDecoder gives at once. Nothing is
    /// told of the rest once a character could not be converted. Valid until the next call.
    [[nodiscard]] std::string_view encode(std::span<const char32_t> points);
    [[nodiscard]] bool ok() const noexcept { return ok_; }

  private:
    [[nodiscard]] std::size_t encode_latin_1(std::span<const char32_t> points) noexcept;
    [[nodiscard]] std::size_t encode_utf_8(std::span<const char32_t> points) noexcept;
    [[nodiscard]] std::size_t encode_by_iconv(std::span<const char32_t> points) noexcept;

    const CodeSet& set_;
    void* descriptor_; // an iconv_t of this thread, or null
    bool ok_ = true;
    std::array<char, 512> octets_; // of 128 characters: four each at most
};

/// Gives the text in code set `to`, piece by piece, to `sink(std::string_view)`. False if it is not
/// valid in `from` or has a character that `to` lacks; pieces before that have been given.
/// `characters` becomes the number of code points seen.
template <typename Sink>
[[nodiscard]] bool convert(const CodeSet& from, const CodeSet& to, std::string_view text,
                           std::size_t& characters, Sink&& sink)
{
    TextDecoder decoder(from, text);
    TextEncoder encoder(to);
    characters = 0;
    for (;;) {
        const std::span<const char32_t> points = decoder.next();
        if (points.empty()) break;
        characters += points.size();
        const std::string_view piece = encoder.encode(points);
        if (!encoder.ok()) return false;
        sink(piece);
    }
    return decoder.ok();
}

} // namespace kairos::cdr
