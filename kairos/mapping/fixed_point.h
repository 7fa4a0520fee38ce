// SPDX-License-Identifier: Apache-2.0
//
// Fixed-point decimals (C++ mapping 1.3, 1.11): CORBA::Fixed is any of them, up to 31 digits, and
// FixedPoint<digits, scale> what IDL's fixed<digits, scale> becomes. Values without heap or locks.
// On the wire they are packed decimal (CORBA 3.3 part 2, 9.3.2.7). Stations 1 and 10 of the walk.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/fixed_layout.h"

#include <array>
#include <compare>
#include <concepts>
#include <iosfwd>
#include <string>
#include <string_view>

namespace kairos::mapping {

/// Throw DATA_CONVERSION.
[[noreturn]] KAIROS_API void raise_not_fixed();
[[noreturn]] KAIROS_API void raise_fixed_overflow();

} // namespace kairos::mapping

namespace CORBA {

/// A decimal number without trailing zeros behind the point, which is how all of them compare:
/// at most 31 digits, those behind the point counted and a zero before it not. Results that need
/// more lose digits at their end; where 31 digits do not hold the integer part, DATA_CONVERSION is
/// thrown (CORBA 3.3 part 1, 7.11.2).
class KAIROS_API Fixed {
  public:
    static constexpr UShort kairos_digits_max = 31;

    constexpr Fixed() noexcept = default; ///< 0
    template <std::integral T>
        requires(!std::same_as<T, bool> && sizeof(T) <= 8)
    constexpr Fixed(T value) noexcept
        : Fixed(value < T{0}, value < T{0} ? ULongLong{0} - static_cast<ULongLong>(value)
                                           : static_cast<ULongLong>(value))
    {
    }
    /// The shortest decimal that is nearest to this binary number and no other.
    Fixed(Double value);
    Fixed(LongDouble value);
    /// "-123.45", "123.45d": a sign, digits with at most one point, and d or D as in IDL, of which
    /// sign and d may be missing. Anything else throws DATA_CONVERSION.
    constexpr Fixed(const char* text) : Fixed(std::string_view(text)) {}
    constexpr explicit Fixed(std::string_view text)
    {
        if (!parse(text)) kairos::mapping::raise_not_fixed();
    }

    /// The value without its digits behind the point. Throws DATA_CONVERSION if it is too large.
    operator LongLong() const;
    operator LongDouble() const;
    /// The value as IDL writes it, without the d. Owned by the caller: CORBA::string_free.
    [[nodiscard]] char* to_string() const;
    [[nodiscard]] std::string kairos_text() const;

    /// The value with at most `scale` digits behind the point: halves are rounded away from zero.
    [[nodiscard]] Fixed round(UShort scale) const;
    /// The value with at most `scale` digits behind the point: the others are cut off.
    [[nodiscard]] Fixed truncate(UShort scale) const;
    /// The least digits and scale that hold the value. `digits` is at least 1 and at least the
    /// scale.
    [[nodiscard]] constexpr UShort fixed_digits() const noexcept
    {
        const UShort digits = count() < scale_ ? scale_ : count();
        return digits == 0 ? UShort{1} : digits;
    }
    [[nodiscard]] constexpr UShort fixed_scale() const noexcept { return scale_; }

    Fixed& operator+=(const Fixed& other) { return *this = sum(*this, other); }
    Fixed& operator-=(const Fixed& other) { return *this = sum(*this, -other); }
    Fixed& operator*=(const Fixed& other) { return *this = product(*this, other); }
    /// Divides by `other`. Throws DATA_CONVERSION if it is zero.
    Fixed& operator/=(const Fixed& other) { return *this = quotient(*this, other); }
    Fixed& operator++() { return *this += Fixed(1); }
    Fixed& operator--() { return *this -= Fixed(1); }
    Fixed operator++(int)
    {
        const Fixed old = *this;
        ++*this;
        return old;
    }
    Fixed operator--(int)
    {
        const Fixed old = *this;
        --*this;
        return old;
    }
    Fixed operator+() const { return *this; }
    Fixed operator-() const
    {
        Fixed negated = *this;
        negated.negative_ = !negative_ && count() != 0;
        return negated;
    }
    [[nodiscard]] constexpr bool operator!() const noexcept { return count() == 0; }

    [[nodiscard]] static Fixed kairos_sum(const Fixed& a, const Fixed& b) { return sum(a, b); }
    [[nodiscard]] static Fixed kairos_product(const Fixed& a, const Fixed& b)
    {
        return product(a, b);
    }
    [[nodiscard]] static Fixed kairos_quotient(const Fixed& a, const Fixed& b)
    {
        return quotient(a, b);
    }
    [[nodiscard]] static std::strong_ordering kairos_compare(const Fixed& a,
                                                             const Fixed& b) noexcept;

    /// The value as fixed<digits, scale> holds it: what the scale has no room for is cut off, and
    /// DATA_CONVERSION is thrown if the integer part has more than digits - scale digits.
    [[nodiscard]] constexpr Fixed kairos_fitted(UShort digits, UShort scale) const
    {
        if (!kairos_fits(digits, scale)) kairos::mapping::raise_fixed_overflow();
        Fixed fitted = *this;
        if (scale_ > scale) fitted.cut(scale);
        return fitted;
    }

    /// Whether fixed<digits, scale> has room for the integer part.
    [[nodiscard]] constexpr bool kairos_fits(UShort digits, UShort scale) const noexcept
    {
        return count() - scale_ <= digits - scale;
    }
    [[nodiscard]] bool kairos_negative() const noexcept { return negative_; }
    /// The digit worth 10^(place - scale), 0 where there is none.
    [[nodiscard]] unsigned kairos_digit(UShort place, UShort scale) const noexcept
    {
        const int index = int{place} - int{scale} + int{scale_};
        return index < 0 || index >= kairos_digits_max ? 0
                                                       : digits_[static_cast<std::size_t>(index)];
    }
    /// From digits, the last one worth 10^-scale, first; none above 9; as many as 31.
    [[nodiscard]] static Fixed kairos_from_digits(bool negative,
                                                  const std::array<std::uint8_t, 31>& digits,
                                                  UShort scale) noexcept;

  private:
    friend struct FixedArithmetic;

    constexpr Fixed(bool negative, ULongLong value) noexcept : negative_(negative)
    {
        for (std::size_t i = 0; value != 0; value /= 10)
            digits_[i++] = static_cast<std::uint8_t>(value % 10);
    }

    [[nodiscard]] static Fixed sum(const Fixed& a, const Fixed& b);
    [[nodiscard]] static Fixed product(const Fixed& a, const Fixed& b);
    [[nodiscard]] static Fixed quotient(const Fixed& a, const Fixed& b);

    /// Digits without leading zeros.
    [[nodiscard]] constexpr UShort count() const noexcept
    {
        UShort count = kairos_digits_max;
        while (count != 0 && digits_[count - 1u] == 0)
            --count;
        return count;
    }
    /// To this scale or a smaller one, so that no zeros are at the end behind the point.
    constexpr void cut(UShort scale) noexcept
    {
        UShort dropped = scale_ > scale ? static_cast<UShort>(scale_ - scale) : UShort{0};
        while (dropped < scale_ && digits_[dropped] == 0)
            ++dropped;
        for (std::size_t i = 0; dropped != 0 && i < kairos_digits_max; ++i)
            digits_[i] = i + dropped < kairos_digits_max ? digits_[i + dropped] : std::uint8_t{0};
        scale_ = static_cast<std::uint8_t>(scale_ - dropped);
        if (count() == 0) negative_ = false;
    }
    /// Sets the value from its text. False if that is not a number; throws if it is too large.
    constexpr bool parse(std::string_view text);

    std::array<std::uint8_t, 31> digits_{}; ///< the last one first; 0 beyond the first
    std::uint8_t scale_ = 0;                ///< how many of them are behind the point
    bool negative_ = false;
};

constexpr bool Fixed::parse(std::string_view text)
{
    if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
        negative_ = text.front() == '-';
        text.remove_prefix(1);
    }
    if (!text.empty() && (text.back() == 'd' || text.back() == 'D')) text.remove_suffix(1);
    const std::size_t found = text.find('.');
    const std::size_t point = found < text.size() ? found : text.size();
    const std::string_view whole = text.substr(0, point);
    const std::string_view fraction = point < text.size() ? text.substr(point + 1) : "";
    if (whole.empty() && fraction.empty()) return false;
    for (const std::string_view part : {whole, fraction})
        for (const char character : part)
            if (character < '0' || character > '9') return false;
    const std::size_t zeros = whole.find_first_not_of('0');
    const std::string_view significant =
        zeros < whole.size() ? whole.substr(zeros) : std::string_view();
    if (significant.size() > kairos_digits_max) kairos::mapping::raise_fixed_overflow();
    const std::string_view kept = fraction.substr(0, kairos_digits_max - significant.size());
    std::size_t place = significant.size() + kept.size();
    for (const std::string_view part : {significant, kept})
        for (const char digit : part)
            digits_[--place] = static_cast<std::uint8_t>(digit - '0');
    scale_ = static_cast<std::uint8_t>(kept.size());
    cut(scale_);
    return true;
}

KAIROS_API std::ostream& operator<<(std::ostream& stream, const Fixed& value);
/// Reads what Fixed(const char*) takes; anything else is a failure of the stream.
KAIROS_API std::istream& operator>>(std::istream& stream, Fixed& value);

} // namespace CORBA

namespace kairos::mapping {

template <typename T>
concept FixedNumber = std::derived_from<T, CORBA::Fixed>;
/// What a fixed-point number can be combined with. Numbers are named here, because for them the
/// conversions of Fixed to numbers would be as good.
template <typename T>
concept FixedOperand = FixedNumber<T> || (std::is_arithmetic_v<T> && !std::same_as<T, bool>);

[[nodiscard]] constexpr const CORBA::Fixed& as_fixed(const CORBA::Fixed& value) { return value; }
template <typename T>
    requires std::is_arithmetic_v<T>
[[nodiscard]] constexpr CORBA::Fixed as_fixed(T value)
{
    return CORBA::Fixed(value);
}

} // namespace kairos::mapping

namespace CORBA {

template <kairos::mapping::FixedOperand A, kairos::mapping::FixedOperand B>
    requires(kairos::mapping::FixedNumber<A> || kairos::mapping::FixedNumber<B>)
[[nodiscard]] Fixed operator+(const A& a, const B& b)
{
    return Fixed::kairos_sum(kairos::mapping::as_fixed(a), kairos::mapping::as_fixed(b));
}
template <kairos::mapping::FixedOperand A, kairos::mapping::FixedOperand B>
    requires(kairos::mapping::FixedNumber<A> || kairos::mapping::FixedNumber<B>)
[[nodiscard]] Fixed operator-(const A& a, const B& b)
{
    return Fixed::kairos_sum(kairos::mapping::as_fixed(a), -Fixed(kairos::mapping::as_fixed(b)));
}
template <kairos::mapping::FixedOperand A, kairos::mapping::FixedOperand B>
    requires(kairos::mapping::FixedNumber<A> || kairos::mapping::FixedNumber<B>)
[[nodiscard]] Fixed operator*(const A& a, const B& b)
{
    return Fixed::kairos_product(kairos::mapping::as_fixed(a), kairos::mapping::as_fixed(b));
}
template <kairos::mapping::FixedOperand A, kairos::mapping::FixedOperand B>
    requires(kairos::mapping::FixedNumber<A> || kairos::mapping::FixedNumber<B>)
[[nodiscard]] Fixed operator/(const A& a, const B& b)
{
    return Fixed::kairos_quotient(kairos::mapping::as_fixed(a), kairos::mapping::as_fixed(b));
}
template <kairos::mapping::FixedOperand A, kairos::mapping::FixedOperand B>
    requires(kairos::mapping::FixedNumber<A> || kairos::mapping::FixedNumber<B>)
[[nodiscard]] bool operator==(const A& a, const B& b)
{
    return Fixed::kairos_compare(kairos::mapping::as_fixed(a), kairos::mapping::as_fixed(b)) == 0;
}
template <kairos::mapping::FixedOperand A, kairos::mapping::FixedOperand B>
    requires(kairos::mapping::FixedNumber<A> || kairos::mapping::FixedNumber<B>)
[[nodiscard]] std::strong_ordering operator<=>(const A& a, const B& b)
{
    return Fixed::kairos_compare(kairos::mapping::as_fixed(a), kairos::mapping::as_fixed(b));
}

} // namespace CORBA

namespace kairos::mapping {

/// IDL's fixed<digits, scale>: a Fixed that keeps to them. What is assigned to it is cut off behind
/// `scale` digits and must not have more than digits - scale before the point (DATA_CONVERSION).
template <CORBA::UShort digits, CORBA::UShort scale>
class KAIROS_API FixedPoint : public CORBA::Fixed {
    static_assert(digits >= 1 && digits <= kairos_digits_max && scale <= digits);

  public:
    constexpr FixedPoint() noexcept = default;
    template <FixedOperand T>
        requires(!std::same_as<T, FixedPoint>)
    constexpr FixedPoint(const T& value) : Fixed(as_fixed(value).kairos_fitted(digits, scale))
    {
    }
    constexpr FixedPoint(const char* text) : Fixed(Fixed(text).kairos_fitted(digits, scale)) {}

    FixedPoint& operator+=(const Fixed& other) { return *this = FixedPoint(*this + other); }
    FixedPoint& operator-=(const Fixed& other) { return *this = FixedPoint(*this - other); }
    FixedPoint& operator*=(const Fixed& other) { return *this = FixedPoint(*this * other); }
    FixedPoint& operator/=(const Fixed& other) { return *this = FixedPoint(*this / other); }
    FixedPoint& operator++() { return *this += Fixed(1); }
    FixedPoint& operator--() { return *this -= Fixed(1); }
    FixedPoint operator++(int)
    {
        const FixedPoint old = *this;
        ++*this;
        return old;
    }
    FixedPoint operator--(int)
    {
        const FixedPoint old = *this;
        --*this;
        return old;
    }
};

/// A number that the type has no room for is a failure of the stream, too.
template <typename Stream, CORBA::UShort digits, CORBA::UShort scale>
    requires std::derived_from<Stream, std::istream>
Stream& operator>>(Stream& stream, FixedPoint<digits, scale>& value)
{
    CORBA::Fixed number;
    if (!(stream >> number)) return stream;
    if (number.kairos_fits(digits, scale)) {
        value = number;
    } else {
        stream.setstate(Stream::failbit);
    }
    return stream;
}

/// Bytes of a fixed<digits, scale>: two digits each, and half of one for the sign.
[[nodiscard]] constexpr std::size_t fixed_bytes(CORBA::UShort digits) { return digits / 2u + 1u; }

/// Writes the value as a fixed<digits, scale>. Throws DATA_CONVERSION where FixedPoint<digits,
/// scale> would.
KAIROS_API void encode_fixed(cdr::Writer& out, const CORBA::Fixed& value, CORBA::UShort digits,
                             CORBA::UShort scale);
/// Reads a fixed<digits, scale>. Half bytes that are no digits, and signs other than C (plus) and D
/// (minus), are refused.
KAIROS_API void decode_fixed(cdr::Reader& in, CORBA::Fixed& value, CORBA::UShort digits,
                             CORBA::UShort scale);

template <CORBA::UShort digits, CORBA::UShort scale>
struct KAIROS_API Marshal<FixedPoint<digits, scale>> {
    using T = FixedPoint<digits, scale>;
    static constexpr std::size_t wire_bytes_min = fixed_bytes(digits);

    static void encode(cdr::Writer& out, const T& value)
    {
        encode_fixed(out, value, digits, scale);
    }
    static void decode(cdr::Reader& in, T& value) { decode_fixed(in, value, digits, scale); }
};

} // namespace kairos::mapping
