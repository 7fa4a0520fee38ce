// SPDX-License-Identifier: Apache-2.0
#include "kairos/cdr/codeset_conversion.h"

#include "kairos/base/thread_owned.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iconv.h>
#include <string>
#include <vector>

namespace kairos::cdr {
namespace {

// clang-format off
constexpr CodeSet code_sets[] = {
    {code_set::iso_8859_1, "ISO-8859-1", nullptr, Encoding::latin_1, true, false, 0x0011},
    {0x00010002, "ISO-8859-2", "ISO-8859-2", Encoding::by_iconv, true, false, 0x0012},
    {0x00010003, "ISO-8859-3", "ISO-8859-3", Encoding::by_iconv, true, false, 0x0013},
    {0x00010004, "ISO-8859-4", "ISO-8859-4", Encoding::by_iconv, true, false, 0x0014},
    {0x00010005, "ISO-8859-5", "ISO-8859-5", Encoding::by_iconv, true, false, 0x0015},
    {0x00010006, "ISO-8859-6", "ISO-8859-6", Encoding::by_iconv, true, false, 0x0016},
    {0x00010007, "ISO-8859-7", "ISO-8859-7", Encoding::by_iconv, true, false, 0x0017},
    {0x00010008, "ISO-8859-8", "ISO-8859-8", Encoding::by_iconv, true, false, 0x0018},
    {0x00010009, "ISO-8859-9", "ISO-8859-9", Encoding::by_iconv, true, false, 0x0019},
    {0x0001000A, "ISO-8859-10", "ISO-8859-10", Encoding::by_iconv, true, false, 0x001A},
    {0x0001000F, "ISO-8859-15", "ISO-8859-15", Encoding::by_iconv, true, false, 0x001F},
    {0x00010020, "ISO-646", "US-ASCII", Encoding::by_iconv, true, false, 0x0001},
    {0x100204E2, "Windows-1250", "CP1250", Encoding::by_iconv, true, false, 0x1250},
    {0x100204E3, "Windows-1251", "CP1251", Encoding::by_iconv, true, false, 0x1251},
    {0x100204E4, "Windows-1252", "CP1252", Encoding::by_iconv, true, false, 0x1252},
    {code_set::utf_8, "UTF-8", nullptr, Encoding::utf_8, true, true, 0x1000},
    {code_set::utf_16, "UTF-16", nullptr, Encoding::utf_16, false, true, 0x1000},
    {code_set::ucs_2, "UCS-2", nullptr, Encoding::ucs_2, false, true, 0x1000},
    {0x00010101, "UCS-2-level-2", nullptr, Encoding::ucs_2, false, true, 0x1000},
    {0x00010102, "UCS-2-level-3", nullptr, Encoding::ucs_2, false, true, 0x1000},
    {code_set::ucs_4, "UCS-4", nullptr, Encoding::ucs_4, false, true, 0x1000},
    {0x00010104, "UCS-4-level-1", nullptr, Encoding::ucs_4, false, true, 0x1000},
    {0x00010105, "UCS-4-level-2", nullptr, Encoding::ucs_4, false, true, 0x1000},
};
// clang-format on

/// Letters and digits only, in lower case.
std::string folded(std::string_view name)
{
    std::string text;
    for (const char c : name) {
        if (c >= 'A' && c <= 'Z') text += static_cast<char>(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) text += c;
    }
    return text;
}

constexpr auto failure = static_cast<std::size_t>(-1); // of iconv
constexpr const char* unicode_name = native_little_endian ? "UCS-4LE" : "UCS-4BE";

/// The iconv descriptors of one thread, opened when first needed.
class Descriptors {
  public:
    Descriptors() = default;
    Descriptors(const Descriptors&) = delete;
    Descriptors& operator=(const Descriptors&) = delete;
    ~Descriptors()
    {
        for (const Entry& entry : entries_)
            if (entry.descriptor != nullptr) iconv_close(entry.descriptor);
    }

    /// The calling thread's for this conversion; null if iconv does not have it.
    [[nodiscard]] static iconv_t find(const CodeSet& set, bool to_unicode)
    {
        Descriptors& own = ThreadOwned<Descriptors>::get();
        for (const Entry& entry : own.entries_)
            if (entry.set == &set && entry.to_unicode == to_unicode) return entry.descriptor;
        own.entries_.push_back({&set, to_unicode, nullptr});
        const iconv_t opened = to_unicode ? iconv_open(unicode_name, set.iconv_name)
                                          : iconv_open(set.iconv_name, unicode_name);
        const auto failed = reinterpret_cast<iconv_t>(-1); // NOLINT: POSIX says so
        if (opened != failed) own.entries_.back().descriptor = opened;
        return own.entries_.back().descriptor;
    }

  private:
    struct Entry {
        const CodeSet* set;
        bool to_unicode;
        iconv_t descriptor;
    };

    std::vector<Entry> entries_;
};

void* descriptor_of(const CodeSet& set, bool to_unicode)
{
    return set.encoding == Encoding::by_iconv ? Descriptors::find(set, to_unicode) : nullptr;
}

} // namespace

const CodeSet* find_code_set(std::uint32_t id) noexcept
{
    for (const CodeSet& set : code_sets)
        if (set.id == id) return &set;
    return nullptr;
}

const CodeSet* find_code_set(std::string_view name) noexcept
{
    const bool hexadecimal = name.starts_with("0x") || name.starts_with("0X");
    const std::string_view digits = name.substr(hexadecimal ? 2 : 0);
    std::uint32_t id = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), id, hexadecimal ? 16 : 10);
    if (error == std::errc{} && end == digits.data() + digits.size()) return find_code_set(id);
    const std::string wanted = folded(name);
    for (const CodeSet& set : code_sets)
        if (folded(set.name) == wanted) return &set;
    return nullptr;
}

bool is_convertible(const CodeSet& set)
{
    return set.encoding != Encoding::by_iconv ||
           (Descriptors::find(set, true) != nullptr && Descriptors::find(set, false) != nullptr);
}

char32_t decode_utf_8(std::string_view text, std::size_t& size) noexcept
{
    constexpr char32_t invalid = 0xFFFFFFFF;
    const auto octet = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = octet(0);
    size = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : 4;
    if (lead < 0x80) return lead;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return invalid;
    char32_t point = lead & (0x7Fu >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((octet(i) & 0xC0u) != 0x80) return invalid;
        point = point << 6 | (octet(i) & 0x3Fu);
    }
    constexpr std::array<char32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
    return point >= least[size] && is_unicode(point) ? point : invalid;
}

// --- To Unicode ----------------------------------------------------------------------------------

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the points are written before being read
TextDecoder::TextDecoder(const CodeSet& set, std::string_view text)
    : set_(set), descriptor_(descriptor_of(set, true)), rest_(text)
{
}

std::span<const char32_t> TextDecoder::next()
{
    if (!ok_ || rest_.empty()) return {};
    std::size_t count = 0;
    switch (set_.encoding) {
    case Encoding::latin_1:
        count = next_latin_1();
        break;
    case Encoding::utf_8:
        count = next_utf_8();
        break;
    case Encoding::by_iconv:
        count = next_by_iconv();
        break;
    default: // sets of wide characters only
        ok_ = false;
    }
    return {points_.data(), count};
}

std::size_t TextDecoder::next_latin_1() noexcept
{
    const std::size_t count = std::min(rest_.size(), points_.size());
    for (std::size_t i = 0; i < count; ++i)
        points_[i] = static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(count);
    return count;
}

std::size_t TextDecoder::next_utf_8() noexcept
{
    std::size_t count = 0;
    while (count < points_.size() && !rest_.empty()) {
        std::size_t size = 0;
        const char32_t point = decode_utf_8(rest_, size);
        if (point > 0x10FFFF) {
            ok_ = false;
            break;
        }
        points_[count++] = point;
        rest_.remove_prefix(size);
    }
    return count;
}

std::size_t TextDecoder::next_by_iconv() noexcept
{
    if (descriptor_ == nullptr) {
        ok_ = false;
        return 0;
    }
    char* in = const_cast<char*>(rest_.data()); // iconv does not write there
    std::size_t in_left = rest_.size();
    char* out = reinterpret_cast<char*>(points_.data());
    std::size_t out_left = sizeof points_;
    const std::size_t result = iconv(descriptor_, &in, &in_left, &out, &out_left);
    if (result != 0 && (result != failure || errno != E2BIG)) ok_ = false;
    rest_.remove_prefix(rest_.size() - in_left);
    return (sizeof points_ - out_left) / sizeof(char32_t);
}

// --- From Unicode --------------------------------------------------------------------------------

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the octets are written before being read
TextEncoder::TextEncoder(const CodeSet& set) : set_(set), descriptor_(descriptor_of(set, false)) {}

std::string_view TextEncoder::encode(std::span<const char32_t> points)
{
    if (!ok_) return {};
    std::size_t size = 0;
    switch (set_.encoding) {
    case Encoding::latin_1:
        size = encode_latin_1(points);
        break;
    case Encoding::utf_8:
        size = encode_utf_8(points);
        break;
    case Encoding::by_iconv:
        size = encode_by_iconv(points);
        break;
    default: // sets of wide characters only
        ok_ = false;
    }
    return {octets_.data(), size};
}

std::size_t TextEncoder::encode_latin_1(std::span<const char32_t> points) noexcept
{
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (points[i] > 0xFF) {
            ok_ = false;
            return i;
        }
        octets_[i] = static_cast<char>(points[i]);
    }
    return points.size();
}

std::size_t TextEncoder::encode_utf_8(std::span<const char32_t> points) noexcept
{
    char* at = octets_.data();
    const auto put = [&at](char32_t octet) { *at++ = static_cast<char>(octet); };
    for (const char32_t point : points) {
        if (!is_unicode(point)) {
            ok_ = false;
            break;
        }
        if (point < 0x80) {
            put(point);
        } else if (point < 0x800) {
            put(0xC0 | point >> 6);
            put(0x80 | (point & 0x3F));
        } else if (point < 0x10000) {
            put(0xE0 | point >> 12);
            put(0x80 | (point >> 6 & 0x3F));
            put(0x80 | (point & 0x3F));
        } else {
            put(0xF0 | point >> 18);
            put(0x80 | (point >> 12 & 0x3F));
            put(0x80 | (point >> 6 & 0x3F));
            put(0x80 | (point & 0x3F));
        }
    }
    return static_cast<std::size_t>(at - octets_.data());
}

std::size_t TextEncoder::encode_by_iconv(std::span<const char32_t> points) noexcept
{
    if (descriptor_ == nullptr) {
        ok_ = false;
        return 0;
    }
    char* in = reinterpret_cast<char*>(const_cast<char32_t*>(points.data())); // as above
    std::size_t in_left = points.size_bytes();
    char* out = octets_.data();
    std::size_t out_left = octets_.size();
    // Anything but zero is an error, or a character that was replaced by a similar one.
    if (iconv(descriptor_, &in, &in_left, &out, &out_left) != 0) ok_ = false;
    return octets_.size() - out_left;
}

} // namespace kairos::cdr
