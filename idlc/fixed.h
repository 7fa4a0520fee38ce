// SPDX-License-Identifier: Apache-2.0
//
// Decimal arithmetic for fixed-point constants, exact to CORBA's rules: operands of up to 31
// digits, results computed to 62 and truncated to 31. CORBA 3.3 part 1, 7.11.2.
#pragma once

#include "idlc/model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kairos::idlc {

class Decimal {
  public:
    static constexpr std::size_t digits_max = 31;

    /// Digits with at most one point, without the trailing d. None where malformed or where more
    /// than 31 significant digits are left without leading and trailing zeros.
    [[nodiscard]] static std::optional<Decimal> parse(std::string_view text);
    /// What Decimal::value() made.
    [[nodiscard]] static Decimal from(const FixedValue& value);

    [[nodiscard]] FixedValue value() const;
    [[nodiscard]] bool zero() const noexcept { return digits_.empty(); }
    [[nodiscard]] Decimal negated() const;
    /// With at most `scale` digits after the point; the rest is cut off.
    [[nodiscard]] Decimal truncated(std::size_t scale) const;
    /// Digits before the point.
    [[nodiscard]] std::size_t integer_digits() const noexcept;
    [[nodiscard]] std::size_t scale() const noexcept { return scale_; }

    // None where the integer part needs more than 31 digits.
    [[nodiscard]] static std::optional<Decimal> add(const Decimal& left, const Decimal& right);
    [[nodiscard]] static std::optional<Decimal> multiply(const Decimal& left, const Decimal& right);
    /// The divisor must not be zero.
    [[nodiscard]] static std::optional<Decimal> divide(const Decimal& left, const Decimal& right);

  private:
    [[nodiscard]] std::optional<Decimal> normalized() const;

    bool negative_ = false;
    std::string digits_; ///< most significant first, no leading zeros; empty is zero
    std::size_t scale_ =
        0; ///< how many of the digits stand after the point; may exceed their count
};

} // namespace kairos::idlc
