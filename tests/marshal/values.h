// SPDX-License-Identifier: Apache-2.0
//
// What the generated part of the property test is written with: a source of random values and a
// reference encoder that knows CDR and nothing else, in either byte order. One thread.
#pragma once

#include "kairos/base/bytes.h"

#include <kairos/corba/CORBA.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace marshal_test {

class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    /// While it lives, sequences are shorter: recursive types come to an end.
    class Deeper {
      public:
        explicit Deeper(Random& random) : random_(random) { ++random_.depth_; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;
        ~Deeper() { --random_.depth_; }

      private:
        Random& random_;
    };

    [[nodiscard]] std::uint32_t below(std::uint32_t limit)
    {
        return static_cast<std::uint32_t>(engine_() % limit);
    }
    template <typename T>
    [[nodiscard]] T number()
    {
        if constexpr (std::same_as<T, bool>) {
            return below(2) != 0;
        } else if constexpr (std::same_as<T, wchar_t>) {
            return wide_character();
        } else if constexpr (std::is_floating_point_v<T>) {
            return static_cast<T>(static_cast<std::int32_t>(engine_())) / 16;
        } else {
            return static_cast<T>(engine_());
        }
    }
    /// Of a sequence with this bound, 0 for none.
    [[nodiscard]] std::uint32_t length(std::uint32_t bound)
    {
        const std::uint32_t most = depth_ < 4 ? 5 - depth_ : 0;
        const std::uint32_t count = below(most + 1);
        return bound != 0 && count > bound ? bound : count;
    }
    [[nodiscard]] std::string text(std::uint32_t bound)
    {
        std::string text(below(bound == 0 ? 40 : bound + 1), '\0');
        for (char& character : text)
            character = static_cast<char>('!' + below(90));
        return text;
    }

    [[nodiscard]] std::wstring wide_text(std::uint32_t bound)
    {
        std::wstring text(below(bound == 0 ? 20 : bound + 1), L'\0');
        for (wchar_t& character : text)
            character = wide_character();
        return text;
    }
    /// Of a fixed type.
    [[nodiscard]] std::string digits(std::uint32_t digits, std::uint32_t scale)
    {
        std::string text = below(2) == 0 ? "-" : "";
        for (std::uint32_t i = 0; i < digits; ++i) {
            if (i == digits - scale) text += i == 0 ? "0." : ".";
            text += static_cast<char>('0' + below(10));
        }
        return text;
    }
    /// Whether values should get no larger.
    [[nodiscard]] bool deep() const { return depth_ >= 4; }

  private:
    /// Of any plane, but no surrogate and none that means a byte order.
    [[nodiscard]] wchar_t wide_character()
    {
        const auto code = static_cast<wchar_t>(1 + below(below(2) == 0 ? 0xD7FF : 0x10FFFE));
        const bool is_special =
            (code >= 0xD800 && code < 0xE000) || code == 0xFEFF || code == 0xFFFE;
        return is_special ? L'!' : code;
    }

    std::mt19937_64 engine_;
    std::uint32_t depth_ = 0;
};

class Plain {
  public:
    Plain(std::size_t start, bool swap) : bytes_(start, std::byte{0}), swap_(swap) {}

    template <typename T>
    void number(T value)
    {
        if constexpr (std::same_as<T, wchar_t>) {
            const std::vector<std::byte> units = utf_16(std::wstring_view(&value, 1));
            number(static_cast<std::uint8_t>(units.size()));
            append(units);
        } else if constexpr (std::same_as<T, long double>) {
            put_bytes(static_cast<__float128>(value), 8);
        } else {
            put_bytes(value, sizeof(T));
        }
    }
    void wide_text(const wchar_t* text)
    {
        const std::vector<std::byte> units = utf_16(text);
        number(static_cast<std::uint32_t>(units.size()));
        append(units);
    }
    /// Packed decimal: a digit each four bits, the sign in the last, a zero in front if need be.
    void fixed(const CORBA::Fixed& value, std::uint32_t digits, std::uint32_t scale)
    {
        const CORBA::String_var owned = value.to_string();
        const std::string text = owned.in();
        const std::size_t point = std::min(text.find('.'), text.size());
        std::string nibbles(text.begin(), text.begin() + static_cast<long>(point));
        const bool is_negative = nibbles.front() == '-';
        if (is_negative) nibbles.erase(0, 1);
        std::string fraction = text.substr(std::min(point + 1, text.size()));
        fraction.resize(scale, '0');
        nibbles += fraction;
        const std::size_t size = digits + (digits % 2 == 0 ? 1 : 0);
        nibbles.erase(0, nibbles.size() - std::min(nibbles.size(), size));
        nibbles.insert(0, size - nibbles.size(), '0');
        nibbles += static_cast<char>('0' + (is_negative ? 0xD : 0xC));
        for (std::size_t i = 0; i < nibbles.size(); i += 2)
            bytes_.push_back(
                static_cast<std::byte>(((nibbles[i] - '0') << 4) | (nibbles[i + 1] - '0')));
    }
    /// What is within is aligned as if it began a message.
    void encapsulation(const Plain& inside)
    {
        number(static_cast<std::uint32_t>(inside.bytes_.size()));
        append(inside.bytes_);
    }
    [[nodiscard]] bool is_swapped() const { return swap_; }
    [[nodiscard]] bool is_little_endian() const { return kairos::native_little_endian != swap_; }
    void text(const char* text)
    {
        const auto size = static_cast<std::uint32_t>(std::strlen(text) + 1);
        number(size);
        for (std::uint32_t i = 0; i < size; ++i)
            bytes_.push_back(static_cast<std::byte>(text[i]));
    }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

  private:
    template <typename T>
    void put_bytes(T value, std::size_t alignment)
    {
        while (bytes_.size() % alignment != 0)
            bytes_.push_back(std::byte{0});
        std::byte image[sizeof(T)];
        std::memcpy(image, &value, sizeof(T));
        for (std::size_t i = 0; i < sizeof(T); ++i)
            bytes_.push_back(image[swap_ ? sizeof(T) - 1 - i : i]);
    }
    void append(const std::vector<std::byte>& bytes)
    {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    /// As in GIOP 1.2: big-endian, whatever the order of the message is.
    [[nodiscard]] static std::vector<std::byte> utf_16(std::wstring_view text)
    {
        std::vector<std::byte> octets;
        const auto unit = [&octets](std::uint32_t code) {
            octets.push_back(static_cast<std::byte>(code >> 8));
            octets.push_back(static_cast<std::byte>(code));
        };
        for (const wchar_t character : text) {
            const auto code = static_cast<std::uint32_t>(character);
            if (code >= 0x10000) {
                unit(0xD800 + ((code - 0x10000) >> 10));
                unit(0xDC00 + (code & 0x3FF));
            } else {
                unit(code);
            }
        }
        return octets;
    }

    std::vector<std::byte> bytes_;
    bool swap_;
};

// --- Any -----------------------------------------------------------------------------------------

inline void must(bool held)
{
    if (!held) throw std::logic_error("not what was inserted");
}

/// TypeCodes as CORBA 3.3 part 2, 9.3.5.1 has them, read through their interface.
class PlainTypeCode {
  public:
    explicit PlainTypeCode(Plain& out) : out_(out) {}

    void put(CORBA::TypeCode_ptr type) { put(out_, 0, type); }

  private:
    /// `start` is where `out` begins in the outermost TypeCode's message.
    void put(Plain& out, std::size_t start, CORBA::TypeCode_ptr type)
    {
        using enum CORBA::TCKind;
        const CORBA::TCKind kind = type->kind();
        const bool has_id = kind == tk_struct || kind == tk_union || kind == tk_enum ||
                            kind == tk_alias || kind == tk_except;
        if (has_id && put_indirection(out, start, type)) return;
        out.number(static_cast<std::uint32_t>(kind));
        if (has_id) places_[type->id()] = start + out.bytes().size() - 4;
        if (kind == tk_string || kind == tk_wstring) {
            out.number(type->length());
        } else if (kind == tk_fixed) {
            out.number(type->fixed_digits());
            out.number(type->fixed_scale());
        } else if (has_id || kind == tk_sequence || kind == tk_array) {
            // The octets of the size, which is aligned already, come before.
            put_inside(out, start + out.bytes().size() + 4, type);
        }
    }
    bool put_indirection(Plain& out, std::size_t start, CORBA::TypeCode_ptr type)
    {
        const auto place = places_.find(type->id());
        if (place == places_.end()) return false;
        out.number(std::uint32_t{0xFFFFFFFF});
        const std::size_t here = start + out.bytes().size();
        out.number(
            static_cast<std::int32_t>(static_cast<long>(place->second) - static_cast<long>(here)));
        return true;
    }
    void put_inside(Plain& around, std::size_t start, CORBA::TypeCode_ptr type)
    {
        using enum CORBA::TCKind;
        Plain out(0, around.is_swapped());
        out.number(around.is_little_endian());
        const CORBA::TCKind kind = type->kind();
        if (kind == tk_sequence || kind == tk_array) {
            put_part(out, start, type->content_type());
            out.number(type->length());
        } else {
            out.text(type->id());
            out.text(type->name());
            if (kind == tk_alias)
                put_part(out, start, type->content_type());
            else
                put_members(out, start, type);
        }
        around.encapsulation(out);
    }
    void put_members(Plain& out, std::size_t start, CORBA::TypeCode_ptr type)
    {
        using enum CORBA::TCKind;
        const CORBA::TCKind kind = type->kind();
        if (kind == tk_union) {
            put_part(out, start, type->discriminator_type());
            out.number(type->default_index());
        }
        out.number(type->member_count());
        for (CORBA::ULong i = 0; i < type->member_count(); ++i) {
            if (kind == tk_union) put_label(out, type, i);
            out.text(type->member_name(i));
            if (kind != tk_enum) put_part(out, start, type->member_type(i));
        }
    }
    void put_part(Plain& out, std::size_t start, CORBA::TypeCode_ptr part)
    {
        const CORBA::TypeCode_var owner = part;
        put(out, start, part);
    }
    /// In the encoding of the discriminator; that of the default member means nothing.
    static void put_label(Plain& out, CORBA::TypeCode_ptr type, CORBA::ULong member)
    {
        CORBA::TypeCode_var discriminator = type->discriminator_type();
        while (discriminator->kind() == CORBA::tk_alias)
            discriminator = discriminator->content_type();
        const CORBA::LongLong label = type->_kairos_label(member);
        switch (discriminator->kind()) {
        case CORBA::tk_boolean:
        case CORBA::tk_char:
        case CORBA::tk_octet:
            return out.number(static_cast<std::uint8_t>(label));
        case CORBA::tk_wchar:
            return out.number(static_cast<wchar_t>(label));
        case CORBA::tk_short:
        case CORBA::tk_ushort:
            return out.number(static_cast<std::uint16_t>(label));
        case CORBA::tk_longlong:
        case CORBA::tk_ulonglong:
            return out.number(label);
        default:
            return out.number(static_cast<std::uint32_t>(label));
        }
    }

    Plain& out_;
    std::map<std::string, std::size_t> places_;
};

inline void put_type(Plain& out, CORBA::TypeCode_ptr type)
{
    const CORBA::TypeCode_var owner = type;
    PlainTypeCode(out).put(type);
}

/// Whether the Any's type has this id.
inline bool is_type(const CORBA::Any& any, std::string_view id)
{
    const CORBA::TypeCode_var type = any.type();
    switch (type->kind()) {
    case CORBA::tk_struct:
    case CORBA::tk_union:
    case CORBA::tk_enum:
    case CORBA::tk_alias:
    case CORBA::tk_except:
        return type->id() == id;
    default:
        return false;
    }
}

/// As the type that the alias names.
inline void insert_fixed(CORBA::Any& any, CORBA::TypeCode_ptr alias, const CORBA::Fixed& value,
                         CORBA::UShort digits, CORBA::UShort scale)
{
    any <<= CORBA::Any::from_fixed(value, digits, static_cast<CORBA::Short>(scale));
    any.type(alias);
}
inline void put_fixed(Plain& out, const CORBA::Any& any, CORBA::UShort digits, CORBA::UShort scale)
{
    CORBA::Fixed value;
    must(any >>= CORBA::Any::to_fixed(value, digits, static_cast<CORBA::Short>(scale)));
    out.fixed(value, digits, scale);
}

/// Any of a type that IDL need not declare, or empty.
inline void fill_plain(Random& random, CORBA::Any& any)
{
    switch (random.below(8)) {
    case 0:
        any <<= random.number<CORBA::LongLong>();
        break;
    case 1:
        any <<= CORBA::Any::from_boolean(random.number<CORBA::Boolean>());
        break;
    case 2:
        any <<= CORBA::Any::from_wchar(random.number<CORBA::WChar>());
        break;
    case 3:
        any <<= random.text(0).c_str();
        break;
    case 4:
        any <<= random.wide_text(0).c_str();
        break;
    case 5:
        any <<= random.number<CORBA::LongDouble>();
        break;
    case 6:
        any <<= CORBA::Any::from_string(random.text(9).data(), 9);
        break;
    default:
        any = CORBA::Any();
    }
}

template <typename T>
void put_number(Plain& out, const CORBA::Any& any)
{
    T value{};
    must(any >>= value);
    out.number(value);
}

inline void put_plain(Plain& out, const CORBA::Any& any)
{
    const CORBA::TypeCode_var type = any.type();
    CORBA::Boolean boolean{};
    CORBA::WChar character{};
    const char* text = nullptr;
    const CORBA::WChar* wide_text = nullptr;
    switch (type->kind()) {
    case CORBA::tk_null:
        return;
    case CORBA::tk_longlong:
        return put_number<CORBA::LongLong>(out, any);
    case CORBA::tk_longdouble:
        return put_number<CORBA::LongDouble>(out, any);
    case CORBA::tk_boolean:
        must(any >>= CORBA::Any::to_boolean(boolean));
        return out.number(boolean);
    case CORBA::tk_wchar:
        must(any >>= CORBA::Any::to_wchar(character));
        return out.number(character);
    case CORBA::tk_string:
        must(any >>= CORBA::Any::to_string(text, type->length()));
        return out.text(text);
    case CORBA::tk_wstring:
        must(any >>= wide_text);
        return out.wide_text(wide_text);
    default:
        must(false);
    }
}

} // namespace marshal_test
