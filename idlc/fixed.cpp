// SPDX-License-Identifier: Apache-2.0
//
// School arithmetic on digit strings: constants are few and short.
#include "idlc/fixed.h"

#include <algorithm>

namespace kairos::idlc {
namespace {

constexpr std::size_t working_digits_max = 62;

std::string without_leading_zeros(std::string digits)
{
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

int compare(const std::string& left, const std::string& right)
{
    if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
    return left.compare(right);
}

std::string add_digits(std::string left, std::string right)
{
    const std::size_t size = std::max(left.size(), right.size()) + 1;
    left.insert(0, size - left.size(), '0');
    right.insert(0, size - right.size(), '0');
    int carry = 0;
    for (std::size_t i = size; i-- > 0;) {
        const int sum = (left[i] - '0') + (right[i] - '0') + carry;
        left[i] = static_cast<char>('0' + sum % 10);
        carry = sum / 10;
    }
    return without_leading_zeros(std::move(left));
}

/// `left` must not be smaller.
std::string subtract_digits(std::string left, std::string right)
{
    right.insert(0, left.size() - right.size(), '0');
    int borrow = 0;
    for (std::size_t i = left.size(); i-- > 0;) {
        int difference = left[i] - right[i] - borrow;
        borrow = difference < 0 ? 1 : 0;
        difference += borrow * 10;
        left[i] = static_cast<char>('0' + difference);
    }
    return without_leading_zeros(std::move(left));
}

} // namespace

std::optional<Decimal> Decimal::parse(std::string_view text)
{
    Decimal out;
    bool point = false;
    for (const char c : text) {
        if (c == '.') {
            if (point) return std::nullopt;
            point = true;
        } else if (c >= '0' && c <= '9') {
            out.digits_ += c;
            out.scale_ += point ? 1 : 0;
        } else {
            return std::nullopt;
        }
    }
    if (out.digits_.empty()) return std::nullopt;
    while (out.scale_ > 0 && !out.digits_.empty() && out.digits_.back() == '0') {
        out.digits_.pop_back();
        --out.scale_;
    }
    out.digits_ = without_leading_zeros(std::move(out.digits_));
    if (out.digits_.size() > digits_max || out.scale_ > digits_max) return std::nullopt;
    return out;
}

Decimal Decimal::from(const FixedValue& value)
{
    std::string_view text = value.text;
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    Decimal out = parse(text).value_or(Decimal());
    out.negative_ = negative && !out.zero();
    return out;
}

FixedValue Decimal::value() const
{
    std::string digits = digits_;
    if (digits.size() <= scale_) digits.insert(0, scale_ + 1 - digits.size(), '0');
    FixedValue out;
    out.scale = static_cast<std::int16_t>(scale_);
    out.digits =
        static_cast<std::uint16_t>(std::max<std::size_t>({digits_.size(), scale_, std::size_t{1}}));
    out.text = negative_ ? "-" : "";
    out.text += digits.substr(0, digits.size() - scale_);
    if (scale_ > 0) out.text += '.' + digits.substr(digits.size() - scale_);
    return out;
}

Decimal Decimal::negated() const
{
    Decimal out = *this;
    out.negative_ = !negative_ && !zero();
    return out;
}

std::size_t Decimal::integer_digits() const noexcept
{
    return digits_.size() > scale_ ? digits_.size() - scale_ : 0;
}

Decimal Decimal::truncated(std::size_t scale) const
{
    Decimal out = *this;
    while (out.scale_ > scale) {
        if (!out.digits_.empty()) out.digits_.pop_back();
        --out.scale_;
    }
    while (out.scale_ > 0 && !out.digits_.empty() && out.digits_.back() == '0') {
        out.digits_.pop_back();
        --out.scale_;
    }
    if (out.digits_.empty()) {
        out.scale_ = 0;
        out.negative_ = false;
    }
    return out;
}

std::optional<Decimal> Decimal::normalized() const
{
    const std::size_t whole = integer_digits();
    if (whole > digits_max) return std::nullopt;
    return truncated(digits_max - whole);
}

std::optional<Decimal> Decimal::add(const Decimal& left, const Decimal& right)
{
    Decimal out;
    out.scale_ = std::max(left.scale_, right.scale_);
    const std::string a =
        left.zero() ? "" : left.digits_ + std::string(out.scale_ - left.scale_, '0');
    const std::string b =
        right.zero() ? "" : right.digits_ + std::string(out.scale_ - right.scale_, '0');
    if (left.negative_ == right.negative_) {
        out.negative_ = left.negative_;
        out.digits_ = add_digits(a, b);
    } else if (compare(a, b) >= 0) {
        out.negative_ = left.negative_;
        out.digits_ = subtract_digits(a, b);
    } else {
        out.negative_ = right.negative_;
        out.digits_ = subtract_digits(b, a);
    }
    return out.normalized();
}

std::optional<Decimal> Decimal::multiply(const Decimal& left, const Decimal& right)
{
    std::string product(left.digits_.size() + right.digits_.size(), '0');
    for (std::size_t i = left.digits_.size(); i-- > 0;) {
        int carry = 0;
        for (std::size_t j = right.digits_.size(); j-- > 0;) {
            const int sum = (product[i + j + 1] - '0') +
                            (left.digits_[i] - '0') * (right.digits_[j] - '0') + carry;
            product[i + j + 1] = static_cast<char>('0' + sum % 10);
            carry = sum / 10;
        }
        product[i] = static_cast<char>(product[i] + carry);
    }
    Decimal out;
    out.negative_ = left.negative_ != right.negative_;
    out.digits_ = without_leading_zeros(std::move(product));
    out.scale_ = left.scale_ + right.scale_;
    return out.normalized();
}

std::optional<Decimal> Decimal::divide(const Decimal& left, const Decimal& right)
{
    // Long division of left·10^shift by right, with as many digits as the result may keep.
    const std::size_t shift = working_digits_max + right.scale_;
    const std::string dividend = left.zero() ? "" : left.digits_ + std::string(shift, '0');
    std::string quotient;
    std::string rest;
    for (const char digit : dividend) {
        rest += digit;
        rest = without_leading_zeros(std::move(rest));
        char count = '0';
        while (compare(rest, right.digits_) >= 0) {
            rest = subtract_digits(rest, right.digits_);
            ++count;
        }
        quotient += count;
    }
    Decimal out;
    out.negative_ = left.negative_ != right.negative_;
    out.digits_ = without_leading_zeros(std::move(quotient));
    out.scale_ = left.scale_ + shift - right.scale_;
    return out.normalized();
}

} // namespace kairos::idlc
