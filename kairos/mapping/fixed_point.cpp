// SPDX-License-Identifier: Apache-2.0
//
// School arithmetic on digits: exact results first, which then lose what 31 digits do not hold.
#include "kairos/mapping/fixed_point.h"

#include "kairos/mapping/exception.h"
#include "kairos/mapping/string.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <ostream>

namespace CORBA {

/// What sums, products and quotients are computed in, before they are cut to 31 digits.
struct FixedArithmetic {
    static constexpr std::size_t room = 96; // a dividend of 31 digits, moved by up to 62
    std::array<std::uint8_t, room> digits{};
    std::size_t scale = 0;

    static FixedArithmetic of(const Fixed& value, std::size_t scale)
    {
        FixedArithmetic out;
        out.scale = scale;
        std::copy(value.digits_.begin(), value.digits_.end(),
                  out.digits.begin() + static_cast<std::ptrdiff_t>(scale - value.scale_));
        return out;
    }
    [[nodiscard]] std::size_t count() const
    {
        std::size_t count = room;
        while (count != 0 && digits[count - 1] == 0)
            --count;
        return count;
    }
    [[nodiscard]] std::strong_ordering compare(const FixedArithmetic& other) const
    {
        return std::lexicographical_compare_three_way(digits.rbegin(), digits.rend(),
                                                      other.digits.rbegin(), other.digits.rend());
    }
    void add(const FixedArithmetic& other)
    {
        unsigned carry = 0;
        for (std::size_t i = 0; i < room; ++i) {
            const unsigned sum = digits[i] + other.digits[i] + carry;
            digits[i] = static_cast<std::uint8_t>(sum % 10);
            carry = sum / 10;
        }
    }
    /// `other` is not larger.
    void subtract(const FixedArithmetic& other)
    {
        unsigned borrow = 0;
        for (std::size_t i = 0; i < room; ++i) {
            const unsigned difference = 10u + digits[i] - other.digits[i] - borrow;
            digits[i] = static_cast<std::uint8_t>(difference % 10);
            borrow = difference < 10 ? 1 : 0;
        }
    }
    /// With as many digits behind the point as there is room for.
    [[nodiscard]] Fixed result(bool negative) const
    {
        const std::size_t used = count();
        const std::size_t whole = used > scale ? used - scale : 0;
        if (whole > Fixed::kairos_digits_max) kairos::mapping::raise_fixed_overflow();
        const std::size_t kept = std::min<std::size_t>(scale, Fixed::kairos_digits_max - whole);
        Fixed out;
        for (std::size_t i = 0; i < whole + kept; ++i)
            out.digits_[i] = digits[i + scale - kept];
        out.scale_ = static_cast<std::uint8_t>(kept);
        out.negative_ = negative;
        out.cut(out.scale_);
        return out;
    }
};

Fixed Fixed::sum(const Fixed& a, const Fixed& b)
{
    const std::size_t scale = std::max(a.scale_, b.scale_);
    FixedArithmetic left = FixedArithmetic::of(a, scale);
    FixedArithmetic right = FixedArithmetic::of(b, scale);
    if (a.negative_ == b.negative_) {
        left.add(right);
        return left.result(a.negative_);
    }
    if (left.compare(right) >= 0) {
        left.subtract(right);
        return left.result(a.negative_);
    }
    right.subtract(left);
    return right.result(b.negative_);
}

Fixed Fixed::product(const Fixed& a, const Fixed& b)
{
    FixedArithmetic out;
    out.scale = std::size_t{a.scale_} + b.scale_;
    for (std::size_t i = 0; i < a.digits_.size(); ++i) {
        unsigned carry = 0;
        for (std::size_t j = 0; j < b.digits_.size(); ++j) {
            const unsigned sum = out.digits[i + j] + unsigned{a.digits_[i]} * b.digits_[j] + carry;
            out.digits[i + j] = static_cast<std::uint8_t>(sum % 10);
            carry = sum / 10;
        }
        out.digits[i + b.digits_.size()] = static_cast<std::uint8_t>(carry);
    }
    return out.result(a.negative_ != b.negative_);
}

Fixed Fixed::quotient(const Fixed& a, const Fixed& b)
{
    __extension__ typedef unsigned __int128 Number; // 31 digits need 103 bits
    Number divisor = 0;
    for (std::size_t i = b.count(); i-- != 0;)
        divisor = divisor * 10 + b.digits_[i];
    if (divisor == 0) kairos::mapping::raise_fixed_overflow();
    // The quotient's last digit is worth 10^-31: no result keeps more.
    const FixedArithmetic dividend =
        FixedArithmetic::of(a, std::size_t{kairos_digits_max} + b.scale_);
    FixedArithmetic out;
    out.scale = kairos_digits_max;
    Number rest = 0;
    for (std::size_t i = FixedArithmetic::room; i-- != 0;) {
        rest = rest * 10 + dividend.digits[i];
        out.digits[i] = static_cast<std::uint8_t>(rest / divisor);
        rest %= divisor;
    }
    return out.result(a.negative_ != b.negative_);
}

std::strong_ordering Fixed::kairos_compare(const Fixed& a, const Fixed& b) noexcept
{
    if (a.negative_ != b.negative_)
        return a.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
    const std::size_t scale = std::max(a.scale_, b.scale_);
    const auto order = FixedArithmetic::of(a, scale).compare(FixedArithmetic::of(b, scale));
    return a.negative_ ? 0 <=> order : order;
}

Fixed Fixed::round(UShort scale) const
{
    if (scale >= scale_) return *this;
    FixedArithmetic half = FixedArithmetic::of(Fixed(), scale_);
    half.digits[scale_ - scale - 1u] = 5;
    FixedArithmetic rounded = FixedArithmetic::of(*this, scale_);
    rounded.add(half);
    std::fill_n(rounded.digits.begin(), scale_ - scale, std::uint8_t{0});
    return rounded.result(negative_);
}

Fixed Fixed::truncate(UShort scale) const
{
    Fixed truncated = *this;
    if (scale < scale_) truncated.cut(scale);
    return truncated;
}

Fixed Fixed::kairos_from_digits(bool negative, const std::array<std::uint8_t, 31>& digits,
                                UShort scale) noexcept
{
    Fixed out;
    out.digits_ = digits;
    out.scale_ = static_cast<std::uint8_t>(scale);
    out.negative_ = negative;
    out.cut(scale);
    return out;
}

// --- Conversions -------------------------------------------------------------------------------

namespace {

template <typename T>
Fixed from_floating(T value)
{
    const T magnitude = std::fabs(value);
    if (!(magnitude < static_cast<T>(1e31L))) kairos::mapping::raise_fixed_overflow(); // or a NaN
    if (magnitude < static_cast<T>(1e-32L)) return {};
    char text[128];
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr;
    return Fixed(std::string_view(text, static_cast<std::size_t>(end - text)));
}

} // namespace

Fixed::Fixed(Double value) : Fixed(from_floating(value)) {}
Fixed::Fixed(LongDouble value) : Fixed(from_floating(value)) {}

Fixed::operator LongLong() const
{
    constexpr ULongLong limit = ULongLong{1} << 63;
    ULongLong magnitude = 0;
    for (std::size_t i = count(); i-- > scale_;) {
        if (magnitude > (limit - digits_[i]) / 10) kairos::mapping::raise_fixed_overflow();
        magnitude = magnitude * 10 + digits_[i];
    }
    if (magnitude == limit && !negative_) kairos::mapping::raise_fixed_overflow();
    return static_cast<LongLong>(negative_ ? ULongLong{0} - magnitude : magnitude);
}

Fixed::operator LongDouble() const
{
    const std::string text = kairos_text();
    LongDouble value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::string Fixed::kairos_text() const
{
    std::string text = negative_ ? "-" : "";
    const std::size_t used = std::max<std::size_t>(count(), scale_ + 1u);
    for (std::size_t i = used; i-- != 0;) {
        text += static_cast<char>('0' + kairos_digit(static_cast<UShort>(i), scale_));
        if (i == scale_ && i != 0) text += '.';
    }
    return text;
}

char* Fixed::to_string() const { return kairos::mapping::duplicate(kairos_text()); }

std::ostream& operator<<(std::ostream& stream, const Fixed& value)
{
    return stream << value.kairos_text();
}

std::istream& operator>>(std::istream& stream, Fixed& value)
{
    constexpr std::string_view characters = "+-.0123456789dD";
    std::string text;
    stream >> std::ws;
    while (stream.good() && text.size() < 4096) {
        const int next = stream.peek();
        if (next == std::istream::traits_type::eof() ||
            characters.find(static_cast<char>(next)) == std::string_view::npos)
            break;
        text += static_cast<char>(stream.get());
    }
    try {
        value = Fixed(std::string_view(text));
    } catch (const DATA_CONVERSION&) {
        stream.setstate(std::ios_base::failbit);
    }
    return stream;
}

} // namespace CORBA

namespace kairos::mapping {

void raise_not_fixed()
{
    throw CORBA::DATA_CONVERSION(0, CORBA::COMPLETED_NO, "not a fixed-point number");
}
void raise_fixed_overflow()
{
    throw CORBA::DATA_CONVERSION(0, CORBA::COMPLETED_NO,
                                 "a fixed-point number is beyond its type's range");
}

// Half bytes, first digit first, and behind them the sign. Their number is made even by a zero in
// front of an even number of digits.

void encode_fixed(cdr::Writer& out, const CORBA::Fixed& value, CORBA::UShort digits,
                  CORBA::UShort scale)
{
    const CORBA::Fixed fitted = value.kairos_fitted(digits, scale);
    const std::size_t size = fixed_bytes(digits);
    std::byte* place = out.claim(size, 1);
    unsigned low = fitted.kairos_negative() ? 0xD : 0xC;
    CORBA::UShort at = 0;
    for (std::size_t i = size; i-- != 0;) {
        // Beyond the first digit there are zeros.
        const unsigned high = fitted.kairos_digit(at++, scale);
        place[i] = static_cast<std::byte>(high << 4 | low);
        low = fitted.kairos_digit(at++, scale);
    }
}

void decode_fixed(cdr::Reader& in, CORBA::Fixed& value, CORBA::UShort digits, CORBA::UShort scale)
{
    const std::size_t size = fixed_bytes(digits);
    const std::byte* place = in.block(size, 1);
    if (place == nullptr) return;
    const auto half = [&](std::size_t from_the_end) {
        const auto octet = std::to_integer<unsigned>(place[size - 1 - from_the_end / 2]);
        return from_the_end % 2 == 0 ? octet & 0xF : octet >> 4;
    };
    const unsigned sign = half(0);
    std::array<std::uint8_t, CORBA::Fixed::kairos_digits_max> values{};
    bool good = sign == 0xC || sign == 0xD;
    for (std::size_t i = 0; i < digits; ++i) {
        values[i] = static_cast<std::uint8_t>(half(i + 1));
        good = good && values[i] <= 9;
    }
    if (digits % 2 == 0) good = good && half(digits + std::size_t{1}) == 0;
    if (!good) return in.fail(cdr::Fault::invalid_value);
    value = CORBA::Fixed::kairos_from_digits(sign == 0xD, values, scale);
}

} // namespace kairos::mapping
