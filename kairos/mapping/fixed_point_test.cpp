// SPDX-License-Identifier: Apache-2.0
//
// CORBA::Fixed: its rules one by one, then random arithmetic against whole numbers of this file's
// own, and fixed<digits, scale> on the wire.
#include "kairos/base/tries_testing.h"
#include "kairos/mapping/fixed_point.h"

#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/mapping/exception.h"
#include "kairos/mapping/marshal.h"
#include "kairos/mapping/string.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using CORBA::DATA_CONVERSION;
using CORBA::Fixed;
using kairos::mapping::FixedPoint;
namespace cdr = kairos::cdr;

const std::string nines(31, '9');

std::string text(const Fixed& value)
{
    const CORBA::String_var owned = value.to_string();
    return owned.in();
}

// --- Construction and conversion ---------------------------------------------------------------

TEST(Fixed, FromTextAndBack)
{
    EXPECT_EQ(text("123.45"), "123.45");
    EXPECT_EQ(text("123.45d"), "123.45");
    EXPECT_EQ(text("-123.45D"), "-123.45");
    EXPECT_EQ(text("+7"), "7");
    EXPECT_EQ(text(".5"), "0.5");
    EXPECT_EQ(text("5."), "5");
    EXPECT_EQ(text("000123.4500"), "123.45");
    EXPECT_EQ(text("-0.00"), "0");
    EXPECT_EQ(text("3000"), "3000");
    EXPECT_EQ(text(nines.c_str()), nines);
    EXPECT_EQ(text(("0." + nines).c_str()), "0." + nines);
    EXPECT_EQ(text("0.00000000000000000000000000000015"), "0.0000000000000000000000000000001");
    static_assert(Fixed("1.5").operator!() == false);
}

TEST(Fixed, RefusesWhatIsNoNumber)
{
    for (const char* wrong : {"", "d", "-", ".", "1e5", "1.2.3", " 1", "1 ", "--1", "0x1", "1dd"})
        EXPECT_THROW((void)Fixed(wrong), DATA_CONVERSION) << wrong;
    EXPECT_THROW((void)Fixed((nines + "0").c_str()), DATA_CONVERSION);
}

TEST(Fixed, DigitsAndScaleAreTheLeastThatHoldIt)
{
    const auto expect = [](const char* value, int digits, int scale) {
        EXPECT_EQ(Fixed(value).fixed_digits(), digits) << value;
        EXPECT_EQ(Fixed(value).fixed_scale(), scale) << value;
    };
    expect("0", 1, 0);
    expect("0123.450", 5, 2);
    expect("3000.00", 4, 0);
    expect("0.05", 2, 2);
    expect("-1.5", 2, 1);
}

TEST(Fixed, FromAndToNumbers)
{
    EXPECT_EQ(text(CORBA::Long{-5}), "-5");
    EXPECT_EQ(text(CORBA::ULong{4294967295}), "4294967295");
    EXPECT_EQ(text(std::numeric_limits<CORBA::LongLong>::min()), "-9223372036854775808");
    EXPECT_EQ(text(std::numeric_limits<CORBA::ULongLong>::max()), "18446744073709551615");
    EXPECT_EQ(text(0.1), "0.1"); // not 0.1000000000000000055511151231257
    EXPECT_EQ(text(-2.5e3), "-2500");
    EXPECT_EQ(text(0.25L), "0.25");
    EXPECT_EQ(text(1e-40), "0");
    EXPECT_EQ(text(1e30), "1000000000000000019884624838656");
    for (const double wrong : {1e31, -1e40, std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()})
        EXPECT_THROW((void)Fixed(wrong), DATA_CONVERSION) << wrong;

    EXPECT_EQ(static_cast<CORBA::LongLong>(Fixed("-12.99")), -12);
    EXPECT_EQ(static_cast<CORBA::LongLong>(Fixed("-9223372036854775808.5")),
              std::numeric_limits<CORBA::LongLong>::min());
    EXPECT_EQ(static_cast<CORBA::LongLong>(Fixed("9223372036854775807")),
              std::numeric_limits<CORBA::LongLong>::max());
    EXPECT_THROW((void)static_cast<CORBA::LongLong>(Fixed("9223372036854775808")), DATA_CONVERSION);
    EXPECT_THROW((void)static_cast<CORBA::LongLong>(Fixed("-9223372036854775809")),
                 DATA_CONVERSION);
    EXPECT_EQ(static_cast<CORBA::LongDouble>(Fixed("-0.125")), -0.125L);
}

TEST(Fixed, RoundsHalvesAwayFromZeroAndTruncatesTowardsIt)
{
    const auto expect = [](const char* value, CORBA::UShort scale, const char* rounded,
                           const char* truncated) {
        EXPECT_EQ(text(Fixed(value).round(scale)), rounded) << value;
        EXPECT_EQ(text(Fixed(value).truncate(scale)), truncated) << value;
    };
    expect("0.1", 0, "0", "0");
    expect("0.05", 1, "0.1", "0");
    expect("-0.005", 2, "-0.01", "0");
    expect("1.45", 1, "1.5", "1.4");
    expect("1.4499", 1, "1.4", "1.4");
    expect("-9.99", 1, "-10", "-9.9");
    expect("1.05", 4, "1.05", "1.05"); // nothing to lose
    expect("999999999999999999999999999999.9", 0, "1000000000000000000000000000000",
           "999999999999999999999999999999");
}

TEST(Fixed, Streams)
{
    std::ostringstream out;
    out << Fixed("-1.50") << ' ' << FixedPoint<5, 2>("7.25");
    EXPECT_EQ(out.str(), "-1.5 7.25");
    std::istringstream in(" 12.5d -3 word");
    Fixed value;
    in >> value;
    EXPECT_EQ(value, Fixed("12.5"));
    in >> value;
    EXPECT_EQ(value, Fixed(-3));
    in >> value;
    EXPECT_TRUE(in.fail());
    EXPECT_EQ(value, Fixed(-3));
    std::istringstream typed("1.239 10");
    FixedPoint<3, 2> small;
    typed >> small;
    EXPECT_EQ(text(small), "1.23");
    typed >> small;
    EXPECT_TRUE(typed.fail());
    EXPECT_EQ(text(small), "1.23");
}

// --- Arithmetic --------------------------------------------------------------------------------

TEST(Fixed, Arithmetic)
{
    EXPECT_EQ(text(Fixed("0.1") + Fixed("0.2")), "0.3");
    EXPECT_EQ(text(Fixed("1") - Fixed("1.01")), "-0.01");
    EXPECT_EQ(text(Fixed("-1.5") * Fixed("0.2")), "-0.3");
    EXPECT_EQ(text(Fixed(1) / Fixed(3)), "0." + std::string(31, '3'));
    EXPECT_EQ(text(Fixed(-200) / Fixed(3)), "-66." + std::string(29, '6'));
    EXPECT_EQ(text(-Fixed("1.5")), "-1.5");
    EXPECT_EQ(text(-Fixed(0)), "0");
    EXPECT_EQ(text(+Fixed("1.5")), "1.5");
    Fixed value("9.5");
    EXPECT_EQ(text(value++), "9.5");
    EXPECT_EQ(text(++value), "11.5");
    EXPECT_EQ(text(value--), "11.5");
    EXPECT_EQ(text(--value), "9.5");
    value += Fixed("0.5");
    value *= Fixed(2);
    value -= Fixed(4);
    value /= Fixed(8);
    EXPECT_EQ(text(value), "2");
    EXPECT_TRUE(!Fixed("0.0"));
    EXPECT_FALSE(!value);
}

TEST(Fixed, CombinesWithNumbers)
{
    const Fixed value("2.5");
    EXPECT_EQ(value + 1, Fixed("3.5"));
    EXPECT_EQ(1 - value, Fixed("-1.5"));
    EXPECT_EQ(value * 2L, Fixed(5));
    EXPECT_EQ(value / 0.5, Fixed(5));
    EXPECT_TRUE(value == 2.5);
    EXPECT_TRUE(value < 3 && 2 < value && value != 2 && value >= 2.5L);
    const FixedPoint<3, 1> typed = value;
    EXPECT_TRUE(typed == value && typed + 1 == Fixed("3.5"));
}

TEST(Fixed, Compares)
{
    EXPECT_EQ(Fixed("1.50"), Fixed("1.5"));
    EXPECT_LT(Fixed("-2"), Fixed("-1.5"));
    EXPECT_GT(Fixed("0.1"), Fixed("0.09"));
    EXPECT_GE(Fixed("-0"), Fixed("0"));
    EXPECT_NE(Fixed(1), Fixed(-1));
}

TEST(Fixed, ResultsBeyond31DigitsLoseTheLastOnes)
{
    const Fixed most(nines.c_str());
    EXPECT_THROW((void)(most + Fixed(1)), DATA_CONVERSION);
    EXPECT_THROW((void)(most * Fixed(10)), DATA_CONVERSION);
    EXPECT_THROW((void)(most / Fixed("0.1")), DATA_CONVERSION);
    EXPECT_THROW((void)(Fixed(1) / Fixed(0)), DATA_CONVERSION);
    EXPECT_EQ(text(most + Fixed("0.5")), nines);
    EXPECT_EQ(text(Fixed("0.0000000000000000000000000000001") * Fixed("0.1")), "0");
    EXPECT_EQ(text(Fixed("1000000000000000000000000000000") + Fixed("0.9")),
              "1000000000000000000000000000000");
}

// --- Against whole numbers of any size ---------------------------------------------------------

/// Binary, so that it has nothing in common with the decimal digits it checks.
class Natural {
  public:
    static constexpr std::size_t bits = 320; // a dividend has up to 93 digits
    explicit Natural(std::uint32_t value = 0) { limbs_[0] = value; }
    static Natural parse(const std::string& digits)
    {
        Natural out;
        for (const char digit : digits) {
            out.multiply_small(10);
            out = out + Natural(static_cast<std::uint32_t>(digit - '0'));
        }
        return out;
    }
    Natural operator+(const Natural& other) const
    {
        Natural out;
        std::uint64_t carry = 0;
        for (std::size_t i = 0; i < limbs_.size(); ++i) {
            carry += std::uint64_t{limbs_[i]} + other.limbs_[i];
            out.limbs_[i] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        return out;
    }
    Natural operator-(const Natural& other) const // modulo 2^bits
    {
        Natural complement;
        for (std::size_t i = 0; i < limbs_.size(); ++i)
            complement.limbs_[i] = ~other.limbs_[i];
        return *this + complement + Natural(1);
    }
    Natural operator*(const Natural& other) const
    {
        Natural out;
        for (std::size_t bit = bits; bit-- != 0;) {
            out = out + out;
            if (other.bit(bit)) out = out + *this;
        }
        return out;
    }
    /// Shift and subtract. Returns the quotient, leaves the rest.
    Natural divide(const Natural& divisor)
    {
        Natural quotient;
        Natural rest;
        for (std::size_t bit = bits; bit-- != 0;) {
            rest = rest + rest;
            if (this->bit(bit)) rest = rest + Natural(1);
            quotient = quotient + quotient;
            if (rest.less(divisor)) continue;
            rest = rest - divisor;
            quotient = quotient + Natural(1);
        }
        *this = rest;
        return quotient;
    }
    [[nodiscard]] bool less(const Natural& other) const
    {
        return std::lexicographical_compare(limbs_.rbegin(), limbs_.rend(), other.limbs_.rbegin(),
                                            other.limbs_.rend());
    }
    [[nodiscard]] std::string digits() const
    {
        std::string text;
        Natural rest = *this;
        while (Natural(0).less(rest)) {
            const std::uint32_t digit = rest.divide_small(10);
            text.insert(text.begin(), static_cast<char>('0' + digit));
        }
        return text;
    }
    static Natural power_of_ten(std::size_t exponent)
    {
        return parse("1" + std::string(exponent, '0'));
    }

  private:
    [[nodiscard]] bool bit(std::size_t index) const
    {
        return (limbs_[index / 32] >> (index % 32) & 1) != 0;
    }
    void multiply_small(std::uint32_t factor)
    {
        std::uint64_t carry = 0;
        for (std::uint32_t& limb : limbs_) {
            carry += std::uint64_t{limb} * factor;
            limb = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
    }
    /// Leaves the quotient, returns the rest.
    std::uint32_t divide_small(std::uint32_t divisor)
    {
        std::uint64_t rest = 0;
        for (std::size_t i = limbs_.size(); i-- != 0;) {
            rest = rest << 32 | limbs_[i];
            limbs_[i] = static_cast<std::uint32_t>(rest / divisor);
            rest %= divisor;
        }
        return static_cast<std::uint32_t>(rest);
    }
    std::array<std::uint32_t, bits / 32> limbs_{};
};

/// A decimal: ± digits / 10^scale.
struct Decimal {
    bool negative = false;
    std::string digits;
    std::size_t scale = 0;

    [[nodiscard]] std::string text() const
    {
        std::string padded = digits;
        if (padded.size() <= scale) padded.insert(0, scale + 1 - padded.size(), '0');
        const std::string point = scale == 0 ? "" : ".";
        return (negative ? "-" : "") + padded.substr(0, padded.size() - scale) + point +
               padded.substr(padded.size() - scale);
    }
    [[nodiscard]] Natural magnitude(std::size_t at_scale) const
    {
        return Natural::parse(digits + std::string(at_scale - scale, '0'));
    }
};

/// What the specification makes of an exact result: empty where it overflows.
std::string cut(bool negative, const Natural& magnitude, std::size_t scale)
{
    std::string digits = magnitude.digits();
    if (digits.size() < scale + 1) digits.insert(0, scale + 1 - digits.size(), '0');
    std::string whole = digits.substr(0, digits.size() - scale);
    std::string fraction = digits.substr(digits.size() - scale);
    if (whole == "0") whole.clear();
    if (whole.size() > 31) return "";
    fraction = fraction.substr(0, 31 - whole.size());
    while (!fraction.empty() && fraction.back() == '0')
        fraction.pop_back();
    if (whole.empty() && fraction.empty()) return "0";
    return (negative ? "-" : "") + (whole.empty() ? "0" : whole) +
           (fraction.empty() ? "" : "." + fraction);
}

class Random {
  public:
    Decimal decimal()
    {
        Decimal out;
        const std::size_t size = 1 + engine_() % 31;
        const auto shape = engine_() % 4; // random digits, nines, one digit and zeros, few zeros
        for (std::size_t i = 0; i < size; ++i) {
            const auto digit = static_cast<char>('0' + engine_() % 10);
            out.digits += shape == 1 ? '9' : shape == 2 && i != 0 ? '0' : digit;
        }
        out.scale = engine_() % (size + 1);
        out.negative = engine_() % 2 == 0;
        return out;
    }

  private:
    std::mt19937 engine_{20'261'122};
};

template <typename Operation>
void expect_result(const std::string& expected, const Operation& operation, const std::string& what)
{
    if (expected.empty()) {
        EXPECT_THROW((void)operation(), DATA_CONVERSION) << what;
    } else {
        EXPECT_EQ(text(operation()), expected) << what;
    }
}

TEST(Fixed, RandomArithmeticAgainstWholeNumbers)
{
    Random random;
    for (int round = 0; round < kairos::tries(300); ++round) {
        const Decimal a = random.decimal();
        const Decimal b = random.decimal();
        const Fixed x(a.text().c_str());
        const Fixed y(b.text().c_str());
        const std::string what = a.text() + " and " + b.text();
        const std::size_t scale = std::max(a.scale, b.scale);
        const Natural m = a.magnitude(scale);
        const Natural n = b.magnitude(scale);
        for (const bool subtract : {false, true}) {
            std::string expected;
            if ((a.negative == b.negative) != subtract) {
                expected = cut(a.negative, m + n, scale);
            } else if (m.less(n)) {
                expected = cut(b.negative != subtract, n - m, scale);
            } else {
                expected = cut(a.negative, m - n, scale);
            }
            expect_result(
                expected, [&] { return subtract ? x - y : x + y; }, what);
        }
        const Natural product = a.magnitude(a.scale) * b.magnitude(b.scale);
        const bool negative = a.negative != b.negative;
        expect_result(
            cut(negative, product, a.scale + b.scale), [&] { return x * y; }, what);
        std::string quotient;
        if (!!y) {
            Natural dividend = a.magnitude(a.scale) * Natural::power_of_ten(31 + b.scale);
            const Natural divisor = b.magnitude(b.scale) * Natural::power_of_ten(a.scale);
            quotient = cut(negative, dividend.divide(divisor), 31);
        }
        expect_result(
            quotient, [&] { return x / y; }, what);
        const bool equal = !m.less(n) && !n.less(m) && (a.negative == b.negative || !x);
        EXPECT_EQ(x == y, equal) << what;
        const bool less = a.negative != b.negative ? a.negative && !equal
                          : a.negative             ? n.less(m)
                                                   : m.less(n);
        EXPECT_EQ(x < y, less) << what;
    }
}

// --- FixedPoint and the wire -------------------------------------------------------------------

TEST(FixedPoint, KeepsToItsDigitsAndScale)
{
    FixedPoint<5, 2> value = "123.456";
    EXPECT_EQ(text(value), "123.45");
    value = Fixed("-0.999");
    EXPECT_EQ(text(value), "-0.99");
    EXPECT_THROW(value = Fixed(1000), DATA_CONVERSION);
    EXPECT_EQ(text(value), "-0.99");
    value = 7;
    value += Fixed("0.005");
    EXPECT_EQ(text(value), "7");
    value /= Fixed(3);
    EXPECT_EQ(text(value), "2.33");
    EXPECT_EQ(text(value++), "2.33");
    EXPECT_EQ(text(--value), "2.33");
    value = 999;
    EXPECT_THROW(++value, DATA_CONVERSION);
    EXPECT_THROW((value *= Fixed(2)), DATA_CONVERSION);
    static_assert(std::is_trivially_copyable_v<FixedPoint<5, 2>>);
}

std::vector<std::uint8_t> encoded(const Fixed& value, CORBA::UShort digits, CORBA::UShort scale)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    kairos::mapping::encode_fixed(out, value, digits, scale);
    const auto* begin = reinterpret_cast<const std::uint8_t*>(out.contiguous().data());
    return {begin, begin + out.contiguous().size()};
}

/// "refused", or the value that the octets are.
std::string decoded(const std::vector<std::uint8_t>& octets, CORBA::UShort digits,
                    CORBA::UShort scale)
{
    cdr::Reader in(std::as_bytes(std::span(octets)), kairos::native_little_endian);
    Fixed value("31.31");
    kairos::mapping::decode_fixed(in, value, digits, scale);
    if (!in.ok()) return "refused";
    EXPECT_EQ(in.left(), 0u);
    return text(value);
}

TEST(Trap17_Fixed, OddAndEvenDigitsAndBothSignsOnTheWire)
{
    using Octets = std::vector<std::uint8_t>;
    const auto expect = [](const char* value, CORBA::UShort digits, CORBA::UShort scale,
                           const Octets& octets) {
        EXPECT_EQ(encoded(value, digits, scale), octets) << value;
        EXPECT_EQ(decoded(octets, digits, scale), text(value));
    };
    expect("123.45", 5, 2, {0x12, 0x34, 0x5C});
    expect("-123.45", 5, 2, {0x12, 0x34, 0x5D});
    expect("12.34", 4, 2, {0x01, 0x23, 0x4C});
    expect("-12.34", 4, 2, {0x01, 0x23, 0x4D});
    expect("0", 4, 2, {0x00, 0x00, 0x0C});
    expect("7", 1, 0, {0x7C});
    expect("-1", 3, 2, {0x10, 0x0D});
    expect("0.5", 6, 3, {0x00, 0x00, 0x50, 0x0C});
    expect("-0.99", 2, 2, {0x09, 0x9D});
    Octets most(15, 0x99);
    most.push_back(0x9C);
    expect(nines.c_str(), 31, 0, most);
}

TEST(Trap17_Fixed, EveryDigitsAndScaleComeBack)
{
    Random random;
    for (CORBA::UShort digits = 1; digits <= 31; ++digits)
        for (CORBA::UShort scale = 0; scale <= digits; ++scale)
            for (int round = 0; round < 5; ++round) {
                Decimal value = random.decimal();
                value.digits.resize(digits, '7');
                value.scale = scale;
                const Fixed sent(value.text().c_str());
                const auto octets = encoded(sent, digits, scale);
                EXPECT_EQ(octets.size(), digits / 2u + 1u);
                EXPECT_EQ(decoded(octets, digits, scale), text(sent));
            }
}

TEST(Trap17_Fixed, ScaleIsCutAndOverflowRefusedOnEncoding)
{
    EXPECT_EQ(encoded("1.239", 3, 2), (std::vector<std::uint8_t>{0x12, 0x3C}));
    EXPECT_EQ(encoded("-0.001", 3, 2), (std::vector<std::uint8_t>{0x00, 0x0C}));
    EXPECT_THROW((void)encoded("10", 3, 2), DATA_CONVERSION);
}

TEST(Trap17_Fixed, InvalidHalfBytesAreRefused)
{
    EXPECT_EQ(decoded({0x1A, 0x3C}, 3, 1), "refused");
    EXPECT_EQ(decoded({0xF1, 0x3C}, 3, 1), "refused");
    for (unsigned sign = 0; sign < 16; ++sign) {
        const auto last = static_cast<std::uint8_t>(0x30 | sign);
        EXPECT_EQ(decoded({0x12, last}, 3, 1) == "refused", sign != 0xC && sign != 0xD) << sign;
    }
    EXPECT_EQ(decoded({0x11, 0x3C}, 2, 1), "refused"); // a third digit in two
    EXPECT_EQ(decoded({0x12}, 3, 1), "refused");
    EXPECT_EQ(decoded({0x00, 0x0D}, 3, 1), "0"); // minus nothing
}

} // namespace
