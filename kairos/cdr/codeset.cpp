// SPDX-License-Identifier: Apache-2.0
#include "kairos/cdr/codeset.h"

#include <algorithm>
#include <limits>

namespace kairos::cdr {
namespace {

static_assert(sizeof(wchar_t) == sizeof(char32_t), "wchar_t holds Unicode code points");

constexpr std::uint32_t length_max = std::numeric_limits<std::uint32_t>::max();
constexpr char32_t byte_order_mark = 0xFEFF;
constexpr char32_t swapped_byte_order_mark = 0xFFFE;

char32_t point_of(wchar_t character) noexcept { return static_cast<char32_t>(character); }

void put_big_endian(std::byte*& at, std::uint16_t unit) noexcept
{
    if constexpr (native_little_endian) unit = byteswap(unit);
    std::memcpy(at, &unit, sizeof unit);
    at += sizeof unit;
}

template <typename Unit>
Unit load(const std::byte* at, bool big_endian) noexcept
{
    Unit unit;
    std::memcpy(&unit, at, sizeof unit);
    return big_endian == native_little_endian ? byteswap(unit) : unit;
}

std::uint16_t high_surrogate(char32_t point) noexcept
{
    return static_cast<std::uint16_t>(0xD7C0 + (point >> 10));
}
std::uint16_t low_surrogate(char32_t point) noexcept
{
    return static_cast<std::uint16_t>(0xDC00 + (point & 0x3FF));
}

} // namespace

// --- char and string -----------------------------------------------------------------------------

TextError write_converted(Writer& out, const TextForm& form, std::string_view text)
{
    if (form.characters_refused != TextError::none) return form.characters_refused;
    out.write(std::uint32_t{0});
    const std::size_t length_at = out.position() - sizeof(std::uint32_t);
    std::size_t size = 0;
    std::size_t characters = 0;
    const bool converted =
        convert(*form.native, *form.characters, text, characters, [&](std::string_view piece) {
            size += piece.size();
            out.write_bytes(as_bytes(piece));
        });
    if (!converted) return TextError::unconvertible;
    if (size >= length_max) return TextError::too_long;
    out.write(std::uint8_t{0});
    out.patch(length_at, static_cast<std::uint32_t>(size + 1));
    return TextError::none;
}

namespace {

/// One octet in the other code set; nothing if there it is none, or several.
std::optional<char> converted_octet(const CodeSet& from, const CodeSet& to, char character)
{
    char octet = 0;
    std::size_t size = 0;
    std::size_t characters = 0;
    const bool converted =
        convert(from, to, {&character, 1}, characters, [&](std::string_view piece) {
            if (!piece.empty()) octet = piece.front();
            size += piece.size();
        });
    return converted && size == 1 ? std::optional(octet) : std::nullopt;
}

} // namespace

TextError write_converted(Writer& out, const TextForm& form, char character)
{
    if (form.characters_refused != TextError::none) return form.characters_refused;
    const auto octet = converted_octet(*form.native, *form.characters, character);
    if (!octet) return TextError::unconvertible;
    out.write(*octet);
    return TextError::none;
}

std::optional<std::size_t> native_size(Reader& in, const TextForm& form, std::string_view wire,
                                       std::uint32_t bound)
{
    if (form.characters_refused != TextError::none) {
        in.fail(Fault::characters_refused);
        return std::nullopt;
    }
    std::size_t size = 0;
    std::size_t characters = 0;
    if (!convert(*form.characters, *form.native, wire, characters,
                 [&size](std::string_view piece) { size += piece.size(); })) {
        in.fail(Fault::unconvertible_text);
        return std::nullopt;
    }
    if (bound != 0 && characters > bound) {
        in.fail(Fault::bound_exceeded);
        return std::nullopt;
    }
    return size;
}

void to_native(const TextForm& form, std::string_view wire, char* place)
{
    std::size_t characters = 0;
    (void)convert(*form.characters, *form.native, wire, characters, [&](std::string_view piece) {
        piece.copy(place, piece.size());
        place += piece.size();
    });
}

char read_converted(Reader& in, const TextForm& form)
{
    const char wire = in.read<char>();
    if (!in.ok()) return '\0';
    if (form.characters_refused != TextError::none) {
        in.fail(Fault::characters_refused);
        return '\0';
    }
    const auto octet = converted_octet(*form.characters, *form.native, wire);
    if (!octet) in.fail(Fault::unconvertible_text);
    return octet.value_or('\0');
}

// --- Writing wide characters ---------------------------------------------------------------------

namespace {

/// What a message without a form has.
struct WideForm {
    Encoding encoding = Encoding::utf_16;
    std::uint8_t giop_minor = 2;
    TextError refused = TextError::none;

    explicit WideForm(const TextForm* form) noexcept
    {
        if (form == nullptr) return;
        giop_minor = form->giop_minor;
        refused = form->wide_refused;
        if (form->wide != nullptr) encoding = form->wide->encoding;
    }
};

void note_wide_text(const Writer& out) noexcept
{
    if (const Environment* environment = out.environment()) environment->wide_text_written = true;
}

/// Octets of a character, or 0 if the code set lacks it.
std::size_t octets_of(Encoding encoding, char32_t point) noexcept
{
    if (!is_unicode(point)) return 0;
    switch (encoding) {
    case Encoding::utf_16:
        return point < 0x10000 ? 2 : 4;
    case Encoding::ucs_2:
        return point < 0x10000 ? 2 : 0;
    case Encoding::ucs_4:
        return 4;
    case Encoding::utf_8:
        return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    default:
        return 0;
    }
}

/// Writes one character as the octets of GIOP 1.2: most significant first.
void put_octets(std::byte*& at, Encoding encoding, char32_t point) noexcept
{
    if (encoding == Encoding::utf_8) {
        const std::size_t size = octets_of(encoding, point);
        constexpr std::array<unsigned, 5> leads = {0, 0, 0xC0, 0xE0, 0xF0};
        for (std::size_t i = size; i > 1; --i, point >>= 6)
            at[i - 1] = static_cast<std::byte>(0x80 | (point & 0x3F));
        at[0] = static_cast<std::byte>(leads[size] | point);
        at += size;
        return;
    }
    if (encoding == Encoding::ucs_4) {
        put_big_endian(at, static_cast<std::uint16_t>(point >> 16));
        put_big_endian(at, static_cast<std::uint16_t>(point & 0xFFFF));
    } else if (point < 0x10000) {
        put_big_endian(at, static_cast<std::uint16_t>(point));
    } else {
        put_big_endian(at, high_surrogate(point));
        put_big_endian(at, low_surrogate(point));
    }
}

/// Whether text that begins so would be taken for one with a byte order mark, and needs a real one
/// in front (9.3.1.6).
bool needs_mark(Encoding encoding, char32_t first) noexcept
{
    return encoding != Encoding::utf_8 &&
           (first == byte_order_mark || first == swapped_byte_order_mark);
}

TextError write_octets_1_2(Writer& out, Encoding encoding, std::wstring_view text,
                           bool is_single_character)
{
    const bool mark = !text.empty() && needs_mark(encoding, point_of(text.front()));
    std::size_t size = mark ? octets_of(encoding, byte_order_mark) : 0;
    for (const wchar_t character : text) {
        const std::size_t octets = octets_of(encoding, point_of(character));
        if (octets == 0) return TextError::unconvertible;
        size += octets;
    }
    if (size > length_max) return TextError::too_long;
    if (is_single_character) {
        out.write(static_cast<std::uint8_t>(size));
    } else {
        out.write(static_cast<std::uint32_t>(size));
    }
    std::byte* at = out.claim(size, 1);
    if (mark) put_octets(at, encoding, byte_order_mark);
    for (const wchar_t character : text)
        put_octets(at, encoding, point_of(character));
    return TextError::none;
}

/// The form of every peer's first choice, without a question a character.
TextError write_utf_16_1_2(Writer& out, std::wstring_view text)
{
    std::size_t size = 0;
    bool valid = true;
    for (const wchar_t character : text) {
        size += point_of(character) < 0x10000 ? 2 : 4;
        valid &= is_unicode(point_of(character));
    }
    if (!valid) return TextError::unconvertible;
    if (size > length_max) return TextError::too_long;
    out.write(static_cast<std::uint32_t>(size));
    std::byte* at = out.claim(size, 1);
    for (const wchar_t character : text)
        put_octets(at, Encoding::utf_16, point_of(character));
    return TextError::none;
}

/// GIOP 1.1: units of fixed width in the message's byte order.
template <typename Unit>
void write_units(Writer& out, std::wstring_view text, std::size_t units)
{
    std::byte* at = out.claim(units * sizeof(Unit), sizeof(Unit));
    const auto put = [&at](char32_t value) {
        const auto unit = static_cast<Unit>(value);
        std::memcpy(at, &unit, sizeof unit);
        at += sizeof unit;
    };
    for (const wchar_t character : text) {
        const char32_t point = point_of(character);
        if (sizeof(Unit) == 2 && point >= 0x10000) {
            put(high_surrogate(point));
            put(low_surrogate(point));
        } else {
            put(point);
        }
    }
}

TextError write_units_1_1(Writer& out, Encoding encoding, std::wstring_view text, bool is_string)
{
    const std::size_t width = encoding == Encoding::ucs_4 ? 4 : 2;
    std::size_t units = 0;
    for (const wchar_t character : text) {
        const std::size_t octets = octets_of(encoding, point_of(character));
        if (octets == 0) return TextError::unconvertible;
        units += octets / width;
    }
    if (!is_string && units != 1) return TextError::unconvertible; // one wchar is one unit
    if (units >= length_max) return TextError::too_long;
    if (is_string) out.write(static_cast<std::uint32_t>(units + 1));
    if (width == 4) {
        write_units<std::uint32_t>(out, text, units);
        if (is_string) out.write(std::uint32_t{0});
    } else {
        write_units<std::uint16_t>(out, text, units);
        if (is_string) out.write(std::uint16_t{0});
    }
    return TextError::none;
}

} // namespace

TextError write_wide_text(Writer& out, std::wstring_view text)
{
    const WideForm form(text_form(out));
    if (form.refused != TextError::none) return form.refused;
    note_wide_text(out);
    if (form.giop_minor < 2) return write_units_1_1(out, form.encoding, text, true);
    const bool plain = form.encoding == Encoding::utf_16 &&
                       (text.empty() || !needs_mark(form.encoding, point_of(text.front())));
    return plain ? write_utf_16_1_2(out, text) : write_octets_1_2(out, form.encoding, text, false);
}

TextError write_wide_character(Writer& out, wchar_t character)
{
    const WideForm form(text_form(out));
    if (form.refused != TextError::none) return form.refused;
    note_wide_text(out);
    const std::wstring_view text(&character, 1);
    return form.giop_minor < 2 ? write_units_1_1(out, form.encoding, text, false)
                               : write_octets_1_2(out, form.encoding, text, true);
}

// --- Reading wide characters ---------------------------------------------------------------------

namespace {

std::size_t unit_size(Encoding encoding) noexcept
{
    return encoding == Encoding::ucs_4 ? 4 : encoding == Encoding::utf_8 ? 1 : 2;
}

/// Finds out the byte order of the octets of GIOP 1.2: big-endian unless a mark says otherwise.
WireWideText of_octets(Bytes octets, Encoding encoding) noexcept
{
    WireWideText text{.octets = octets, .encoding = encoding};
    const std::size_t unit = unit_size(encoding);
    if (unit > 1 && octets.size() >= unit) {
        const char32_t first = unit == 4 ? load<std::uint32_t>(octets.data(), true)
                                         : load<std::uint16_t>(octets.data(), true);
        const char32_t swapped = unit == 4 ? byteswap(std::uint32_t{byte_order_mark})
                                           : std::uint32_t{swapped_byte_order_mark};
        if (first == byte_order_mark || first == swapped) {
            text.big_endian = first == byte_order_mark;
            text.octets = octets.subspan(unit);
        }
    }
    text.characters_max = text.octets.size() / unit;
    return text;
}

/// One code point from the front of `octets`, or 0xFFFFFFFF.
char32_t take_point(Bytes& octets, const WireWideText& wire) noexcept
{
    constexpr char32_t invalid = 0xFFFFFFFF;
    const std::size_t unit = unit_size(wire.encoding);
    if (octets.size() < unit) return invalid;
    const std::byte* const at = octets.data();
    if (wire.encoding == Encoding::utf_8) {
        std::size_t size = 0;
        const char32_t point = decode_utf_8(as_text(octets), size);
        if (point <= 0x10FFFF) octets = octets.subspan(size);
        return point;
    }
    char32_t point = unit == 4 ? load<std::uint32_t>(at, wire.big_endian)
                               : load<std::uint16_t>(at, wire.big_endian);
    octets = octets.subspan(unit);
    if (is_unicode(point)) return point;
    if (wire.encoding != Encoding::utf_16 || point > 0xDBFF || octets.size() < unit) return invalid;
    const auto low = load<std::uint16_t>(at + unit, wire.big_endian);
    if ((low & 0xFC00) != 0xDC00) return invalid;
    octets = octets.subspan(unit);
    return 0x10000 + ((point & 0x3FF) << 10) + (low & 0x3FF);
}

WireWideText find_wide_text_1_1(Reader& in, Encoding encoding) noexcept
{
    const std::size_t unit = unit_size(encoding);
    const std::uint32_t length = in.read_length(unit); // in units, the terminator among them
    const std::byte* octets = in.block(length * unit, unit);
    if (octets == nullptr) return {};
    WireWideText text{.octets = {octets, length * unit},
                      .characters_max = length,
                      .encoding = encoding,
                      .big_endian = !in.little_endian()};
    const bool terminated =
        length != 0 &&
        std::all_of(text.octets.end() - static_cast<std::ptrdiff_t>(unit), text.octets.end(),
                    [](std::byte b) { return b == std::byte{0}; });
    if (!terminated) {
        in.fail(Fault::string_not_terminated);
        return {};
    }
    text.octets = text.octets.first(text.octets.size() - unit);
    return text;
}

} // namespace

WireWideText find_wide_text(Reader& in) noexcept
{
    const WideForm form(text_form(in));
    if (form.refused != TextError::none) {
        in.fail(Fault::wide_text_refused);
        return {};
    }
    if (form.giop_minor < 2) return find_wide_text_1_1(in, form.encoding);
    return of_octets(in.read_octets(), form.encoding);
}

std::size_t decode_wide_text(Reader& in, const WireWideText& wire, wchar_t* place,
                             std::uint32_t bound) noexcept
{
    wchar_t* const begin = place;
    Bytes octets = wire.octets;
    if (wire.encoding == Encoding::utf_16) {
        // Nearly all text has neither surrogates nor an end within a unit.
        for (; octets.size() >= 2; octets = octets.subspan(2)) {
            const auto unit = load<std::uint16_t>(octets.data(), wire.big_endian);
            if (!is_unicode(unit)) break;
            *place++ = static_cast<wchar_t>(unit);
        }
    }
    while (!octets.empty()) {
        const char32_t point = take_point(octets, wire);
        if (point > 0x10FFFF) {
            in.fail(Fault::unconvertible_text);
            return 0;
        }
        *place++ = static_cast<wchar_t>(point);
    }
    const auto count = static_cast<std::size_t>(place - begin);
    if (bound != 0 && count > bound) {
        in.fail(Fault::bound_exceeded);
        return 0;
    }
    return count;
}

wchar_t read_wide_character(Reader& in) noexcept
{
    const WideForm form(text_form(in));
    if (form.refused != TextError::none) {
        in.fail(Fault::wide_text_refused);
        return L'\0';
    }
    WireWideText wire;
    if (form.giop_minor < 2) {
        const std::size_t unit = unit_size(form.encoding);
        const std::byte* octets = in.block(unit, unit);
        if (octets == nullptr) return L'\0';
        wire = {.octets = {octets, unit},
                .characters_max = 1,
                .encoding = form.encoding,
                .big_endian = !in.little_endian()};
    } else {
        const std::size_t size = in.read<std::uint8_t>();
        const std::byte* octets = in.block(size, 1);
        if (octets == nullptr) return L'\0';
        wire = of_octets({octets, size}, form.encoding);
    }
    Bytes octets = wire.octets;
    const char32_t point = take_point(octets, wire);
    if (!in.ok() || point > 0x10FFFF || !octets.empty()) {
        in.fail(Fault::unconvertible_text);
        return L'\0';
    }
    return static_cast<wchar_t>(point);
}

} // namespace kairos::cdr
