// SPDX-License-Identifier: Apache-2.0
//
// Literals, operators and conversions of constant expressions.
#include "idlc/constant.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace kairos::idlc {
namespace {

constexpr WideInteger integer_min = std::numeric_limits<std::int64_t>::min();
constexpr WideInteger integer_max = std::numeric_limits<std::uint64_t>::max();

struct IntegerRange {
    WideInteger least;
    WideInteger greatest;
    bool is_signed;
};

std::optional<IntegerRange> integer_range(TypeKind kind) noexcept
{
    const BasicType& basic = basic_type(kind);
    if (basic.integer == Integer::no) return std::nullopt;
    const bool is_signed = basic.integer == Integer::signed_;
    const WideInteger count = WideInteger{1} << (8 * basic.wire_bytes_min);
    const WideInteger least = is_signed ? -count / 2 : 0;
    return IntegerRange{least, least + count - 1, is_signed};
}

std::string_view describe(const Operand& operand)
{
    struct Namer {
        std::string_view operator()(std::monostate) const { return "nothing"; }
        std::string_view operator()(WideInteger) const { return "an integer"; }
        std::string_view operator()(long double) const { return "a floating-point number"; }
        std::string_view operator()(const Decimal&) const { return "a fixed-point number"; }
        std::string_view operator()(bool) const { return "a boolean"; }
        std::string_view operator()(char) const { return "a character"; }
        std::string_view operator()(char32_t) const { return "a wide character"; }
        std::string_view operator()(const std::string&) const { return "a string"; }
        std::string_view operator()(const std::u32string&) const { return "a wide string"; }
        std::string_view operator()(const Enumerator*) const { return "an enumerator"; }
    };
    return std::visit(Namer(), operand);
}

std::string decimal_text(WideInteger value)
{
    const bool negative = value < 0;
    std::string out;
    do {
        const int digit = static_cast<int>(value % 10);
        out.insert(out.begin(), static_cast<char>('0' + (digit < 0 ? -digit : digit)));
        value /= 10;
    } while (value != 0);
    return negative ? "-" + out : out;
}

int digit_value(char c) noexcept
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

/// Reads up to `most` digits of the base at `text[at]` and moves on.
struct Digits {
    std::uint32_t value = 0;
    std::size_t count = 0;
};
Digits read_digits(std::string_view text, std::size_t& at, int base, std::size_t most) noexcept
{
    Digits out;
    while (out.count < most && at < text.size() && digit_value(text[at]) < base) {
        out.value = out.value * static_cast<std::uint32_t>(base) +
                    static_cast<std::uint32_t>(digit_value(text[at]));
        ++at;
        ++out.count;
    }
    return out;
}

/// One UTF-8 character; a byte that is not UTF-8 stands for itself, as in Latin-1.
char32_t read_utf8(std::string_view text, std::size_t& at) noexcept
{
    const auto lead = static_cast<unsigned char>(text[at++]);
    const std::size_t more = lead >= 0xF0 && lead < 0xF8   ? 3
                             : lead >= 0xE0 && lead < 0xF0 ? 2
                             : lead >= 0xC2 && lead < 0xE0 ? 1
                                                           : 0;
    if (more == 0 || text.size() - at < more) return lead;
    char32_t value = lead & (0x3Fu >> more);
    for (std::size_t i = 0; i < more; ++i) {
        const auto next = static_cast<unsigned char>(text[at + i]);
        if ((next & 0xC0) != 0x80) return lead;
        value = (value << 6) | (next & 0x3Fu);
    }
    at += more;
    return value;
}

char simple_escape(char c) noexcept
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'v':
        return '\v';
    case 'b':
        return '\b';
    case 'r':
        return '\r';
    case 'f':
        return '\f';
    case 'a':
        return '\a';
    case '\\':
    case '?':
    case '\'':
    case '"':
        return c;
    default:
        return '\0';
    }
}

struct Escape {
    char32_t value = 0;
    const char* error = nullptr;
};

/// `at` stands behind the backslash. CORBA 3.3 part 1, table 7.9.
Escape read_escape(std::string_view text, std::size_t& at, bool wide)
{
    if (at >= text.size()) return {0, "incomplete escape sequence"};
    const char c = text[at];
    if (c >= '0' && c <= '7') {
        const Digits octal = read_digits(text, at, 8, 3);
        if (octal.value > 0xFF) return {0, "octal escape is out of range"};
        return {octal.value, nullptr};
    }
    ++at;
    if (c == 'x') {
        const Digits hex = read_digits(text, at, 16, 2);
        if (hex.count == 0) return {0, "\\x without hexadecimal digits"};
        return {hex.value, nullptr};
    }
    if (c == 'u') {
        if (!wide) return {0, "\\u is for wide characters and wide strings only"};
        const Digits hex = read_digits(text, at, 16, 4);
        if (hex.count == 0) return {0, "\\u without hexadecimal digits"};
        return {hex.value, nullptr};
    }
    const char simple = simple_escape(c);
    if (simple == '\0') return {0, "unknown escape sequence"};
    return {static_cast<char32_t>(simple), nullptr};
}

} // namespace

bool is_integer(TypeKind kind) noexcept { return integer_range(kind).has_value(); }

bool is_floating(TypeKind kind) noexcept
{
    return kind == TypeKind::float_ || kind == TypeKind::double_ || kind == TypeKind::long_double;
}

Operand ConstantArithmetic::fail(Location location, std::string message)
{
    diagnostics_.error(location, std::move(message));
    return {};
}

// --- Literals ----------------------------------------------------------------------------------

Operand ConstantArithmetic::integer(const Token& token)
{
    std::string_view digits = token.text;
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
        base = 16;
        digits.remove_prefix(2);
    } else if (digits.size() > 1 && digits.front() == '0') {
        base = 8;
    }
    if (digits.empty()) return fail(token.location, "hexadecimal number without digits");
    WideInteger value = 0;
    for (const char c : digits) {
        if (digit_value(c) >= base)
            return fail(token.location, std::string("invalid digit '") + c + "' in " +
                                            (base == 8    ? "octal"
                                             : base == 10 ? "decimal"
                                                          : "hexadecimal") +
                                            " number");
        value = value * base + digit_value(c);
        if (value > integer_max)
            return fail(token.location, "integer literal is larger than any integer type");
    }
    return value;
}

Operand ConstantArithmetic::floating(const Token& token)
{
    long double value = 0;
    const char* const end = token.text.data() + token.text.size();
    const auto [stop, failure] = std::from_chars(token.text.data(), end, value);
    if (failure == std::errc::result_out_of_range)
        return fail(token.location, "floating-point literal is out of range");
    if (failure != std::errc{} || stop != end)
        return fail(token.location, "malformed floating-point literal");
    return value;
}

template <typename Text>
bool ConstantArithmetic::decode(const Token& token, bool wide, Text& out)
{
    const std::string_view text = token.text;
    const bool is_text = token.kind == TokenKind::string || token.kind == TokenKind::wide_string;
    for (std::size_t at = 0; at < text.size();) {
        char32_t character = 0;
        const std::size_t begin = at;
        if (text[at] == '\\') {
            ++at;
            const Escape escape = read_escape(text, at, wide);
            if (escape.error != nullptr) {
                Location location = token.location;
                location.column += static_cast<std::uint32_t>(begin + (wide ? 2 : 1));
                location.length = static_cast<std::uint32_t>(at - begin);
                fail(location, escape.error);
                return false;
            }
            character = escape.value;
        } else if (wide) {
            character = read_utf8(text, at);
        } else {
            character = static_cast<unsigned char>(text[at++]);
        }
        if (character == 0 && is_text) {
            fail(token.location, "a string cannot contain the character NUL");
            return false;
        }
        out.push_back(static_cast<typename Text::value_type>(character));
    }
    return true;
}

Operand ConstantArithmetic::literal(const Token& token)
{
    switch (token.kind) {
    case TokenKind::integer:
        return integer(token);
    case TokenKind::floating:
        return floating(token);
    case TokenKind::fixed: {
        auto decimal = Decimal::parse(token.text.substr(0, token.text.size() - 1));
        if (!decimal)
            return fail(token.location, "fixed-point literal is malformed or has over 31 digits");
        return *std::move(decimal);
    }
    case TokenKind::string:
        if (std::string text; decode(token, false, text)) return text;
        return {};
    case TokenKind::wide_string:
        if (std::u32string text; decode(token, true, text)) return text;
        return {};
    case TokenKind::character: {
        std::string text;
        if (!decode(token, false, text)) return {};
        if (text.size() == 1) return text.front();
        return fail(token.location, text.empty() ? "empty character literal"
                                                 : "character literal holds several characters");
    }
    case TokenKind::wide_character: {
        std::u32string text;
        if (!decode(token, true, text)) return {};
        if (text.size() == 1) return text.front();
        return fail(token.location, text.empty() ? "empty character literal"
                                                 : "character literal holds several characters");
    }
    default:
        break;
    }
    return fail(token.location, "expected a literal");
}

Operand ConstantArithmetic::concatenate(Operand left, const Token& token)
{
    Operand right = literal(token);
    if (auto* text = std::get_if<std::string>(&left))
        if (const auto* more = std::get_if<std::string>(&right)) return std::move(*text) + *more;
    if (auto* text = std::get_if<std::u32string>(&left))
        if (const auto* more = std::get_if<std::u32string>(&right)) return std::move(*text) + *more;
    if (left.index() == 0 || right.index() == 0) return {};
    return fail(token.location, "cannot concatenate string and wide string literals");
}

// --- Operators ---------------------------------------------------------------------------------

Operand ConstantArithmetic::unary(const Token& op, Operand operand, const Type& wanted)
{
    if (operand.index() == 0) return {};
    if (const auto* value = std::get_if<WideInteger>(&operand)) {
        if (op.is("+")) return operand;
        if (op.is("-")) {
            if (-*value < integer_min) return fail(op.location, "integer overflow in constant");
            return -*value;
        }
        // 7.11.2: the complement within unsigned long or unsigned long long, else -(value + 1).
        const TypeKind kind = resolved(wanted).kind;
        if (kind == TypeKind::unsigned_long_long) return integer_max - (*value & integer_max);
        const auto range = integer_range(kind);
        if (range && !range->is_signed && *value >= 0 &&
            *value <= std::numeric_limits<std::uint32_t>::max())
            return WideInteger{std::numeric_limits<std::uint32_t>::max()} - *value;
        if (-(*value + 1) < integer_min) return fail(op.location, "integer overflow in constant");
        return -(*value + 1);
    }
    if (const auto* value = std::get_if<long double>(&operand); value && !op.is("~"))
        return op.is("-") ? -*value : *value;
    if (const auto* value = std::get_if<Decimal>(&operand); value && !op.is("~"))
        return op.is("-") ? value->negated() : *value;
    return fail(op.location, "operator '" + std::string(op.text) + "' cannot be applied to " +
                                 std::string(describe(operand)));
}

Operand ConstantArithmetic::binary(const Token& op, Operand left, Operand right)
{
    if (left.index() == 0 || right.index() == 0) return {};
    const auto* left_integer = std::get_if<WideInteger>(&left);
    const auto* right_integer = std::get_if<WideInteger>(&right);
    if (left_integer && right_integer) return binary_integer(op, *left_integer, *right_integer);
    const bool arithmetic = op.is("+") || op.is("-") || op.is("*") || op.is("/");
    const auto* left_floating = std::get_if<long double>(&left);
    const auto* right_floating = std::get_if<long double>(&right);
    // An integer literal in a floating-point expression is what people write for 2.0.
    if (arithmetic && (left_floating || left_integer) && (right_floating || right_integer))
        return binary_floating(
            op, left_floating ? *left_floating : static_cast<long double>(*left_integer),
            right_floating ? *right_floating : static_cast<long double>(*right_integer));
    const auto* left_fixed = std::get_if<Decimal>(&left);
    const auto* right_fixed = std::get_if<Decimal>(&right);
    if (arithmetic && left_fixed && right_fixed) return binary_fixed(op, *left_fixed, *right_fixed);
    return fail(op.location, "operator '" + std::string(op.text) + "' cannot be applied to " +
                                 std::string(describe(left)) + " and " +
                                 std::string(describe(right)));
}

Operand ConstantArithmetic::binary_integer(const Token& op, WideInteger left, WideInteger right)
{
    WideInteger value = 0;
    if (op.is("|"))
        value = left | right;
    else if (op.is("^"))
        value = left ^ right;
    else if (op.is("&"))
        value = left & right;
    else if (op.is("+"))
        value = left + right;
    else if (op.is("-"))
        value = left - right;
    else if (op.is("<<") || op.is(">>")) {
        if (right < 0 || right > 63)
            return fail(op.location,
                        "shift count " + decimal_text(right) + " is not within 0 to 63");
        // |left| < 2^64 and the count < 64: the product stays within 128 bits.
        value = op.is("<<") ? left * (WideInteger{1} << static_cast<int>(right))
                            : left >> static_cast<int>(right);
    } else if (op.is("*")) {
        if (__builtin_mul_overflow(left, right, &value))
            return fail(op.location, "integer overflow in constant");
    } else {
        if (right == 0) return fail(op.location, "division by zero");
        value = op.is("/") ? left / right : left % right;
    }
    if (value < integer_min || value > integer_max)
        return fail(op.location, "integer overflow in constant");
    return value;
}

Operand ConstantArithmetic::binary_floating(const Token& op, long double left, long double right)
{
    if (op.is("/") && right == 0) return fail(op.location, "division by zero");
    const long double value = op.is("+")   ? left + right
                              : op.is("-") ? left - right
                              : op.is("*") ? left * right
                                           : left / right;
    if (!std::isfinite(value)) return fail(op.location, "floating-point overflow in constant");
    return value;
}

Operand ConstantArithmetic::binary_fixed(const Token& op, const Decimal& left, const Decimal& right)
{
    if (op.is("/") && right.zero()) return fail(op.location, "division by zero");
    auto value = op.is("+")   ? Decimal::add(left, right)
                 : op.is("-") ? Decimal::add(left, right.negated())
                 : op.is("*") ? Decimal::multiply(left, right)
                              : Decimal::divide(left, right);
    if (!value) return fail(op.location, "fixed-point overflow in constant");
    return *std::move(value);
}

// --- Conversion --------------------------------------------------------------------------------

Value ConstantArithmetic::mismatch(const Operand& operand, const Type& wanted, Location location)
{
    if (operand.index() != 0)
        diagnostics_.error(location, "expected a value of type '" + to_string(wanted) + "', not " +
                                         std::string(describe(operand)));
    return {};
}

Value ConstantArithmetic::convert_integer(const Operand& operand, const Type& wanted,
                                          Location location)
{
    const auto* value = std::get_if<WideInteger>(&operand);
    if (value == nullptr) return mismatch(operand, wanted, location);
    const auto range = integer_range(resolved(wanted).kind);
    if (!range || *value < range->least || *value > range->greatest) {
        diagnostics_.error(location, "value " + decimal_text(*value) +
                                         " does not fit into the type '" + to_string(wanted) + "'");
        return {};
    }
    if (range->is_signed) return static_cast<std::int64_t>(*value);
    return static_cast<std::uint64_t>(*value);
}

Value ConstantArithmetic::convert_floating(const Operand& operand, const Type& wanted,
                                           Location location)
{
    long double value = 0;
    if (const auto* number = std::get_if<long double>(&operand))
        value = *number;
    else if (const auto* whole = std::get_if<WideInteger>(&operand))
        value = static_cast<long double>(*whole);
    else
        return mismatch(operand, wanted, location);
    const TypeKind kind = resolved(wanted).kind;
    const long double most = kind == TypeKind::float_    ? std::numeric_limits<float>::max()
                             : kind == TypeKind::double_ ? std::numeric_limits<double>::max()
                                                         : std::numeric_limits<long double>::max();
    if (std::fabs(value) > most) {
        diagnostics_.error(location,
                           "value does not fit into the type '" + to_string(wanted) + "'");
        return {};
    }
    if (kind == TypeKind::float_) return static_cast<long double>(static_cast<float>(value));
    if (kind == TypeKind::double_) return static_cast<long double>(static_cast<double>(value));
    return value;
}

Value ConstantArithmetic::convert_fixed(const Operand& operand, const Type& wanted,
                                        Location location)
{
    const auto* decimal = std::get_if<Decimal>(&operand);
    if (decimal == nullptr) return mismatch(operand, wanted, location);
    const Type& type = resolved(wanted);
    if (type.digits == 0) return decimal->value();
    if (decimal->integer_digits() >
        std::size_t{type.digits} - static_cast<std::size_t>(type.scale)) {
        diagnostics_.error(location, "value " + decimal->value().text +
                                         " does not fit into the type '" + to_string(wanted) + "'");
        return {};
    }
    return decimal->truncated(static_cast<std::size_t>(type.scale)).value();
}

Value ConstantArithmetic::convert(const Operand& operand, const Type& wanted, Location location)
{
    if (operand.index() == 0) return {};
    const Type& type = resolved(wanted);
    if (is_integer(type.kind)) return convert_integer(operand, wanted, location);
    if (is_floating(type.kind)) return convert_floating(operand, wanted, location);
    switch (type.kind) {
    case TypeKind::boolean:
        if (const auto* value = std::get_if<bool>(&operand)) return *value;
        break;
    case TypeKind::char_:
        if (const auto* value = std::get_if<char>(&operand)) return *value;
        break;
    case TypeKind::wchar:
        if (const auto* value = std::get_if<char32_t>(&operand)) return *value;
        break;
    case TypeKind::fixed:
        return convert_fixed(operand, wanted, location);
    case TypeKind::string:
    case TypeKind::wstring: {
        const auto* narrow = std::get_if<std::string>(&operand);
        const auto* wide = std::get_if<std::u32string>(&operand);
        if ((type.kind == TypeKind::string) != (narrow != nullptr) ||
            (type.kind == TypeKind::wstring) != (wide != nullptr))
            break;
        const std::size_t length = narrow != nullptr ? narrow->size() : wide->size();
        if (type.bound != 0 && length > type.bound) {
            diagnostics_.error(location, "string of " + std::to_string(length) +
                                             " characters does not fit into the type '" +
                                             to_string(wanted) + "'");
            return {};
        }
        return narrow != nullptr ? Value(*narrow) : Value(*wide);
    }
    case TypeKind::declared:
        if (const auto* value = std::get_if<const Enumerator*>(&operand);
            value != nullptr && (*value)->type == type.declaration)
            return *value;
        if (const auto* value = std::get_if<const Enumerator*>(&operand)) {
            diagnostics_.error(location, "enumerator '" + (*value)->name + "' is not one of '" +
                                             to_string(wanted) + "'");
            return {};
        }
        break;
    default:
        break;
    }
    return mismatch(operand, wanted, location);
}

Operand ConstantArithmetic::operand(const Value& value)
{
    struct Converter {
        Operand operator()(std::monostate) const { return {}; }
        Operand operator()(std::int64_t number) const { return WideInteger{number}; }
        Operand operator()(std::uint64_t number) const { return WideInteger{number}; }
        Operand operator()(const FixedValue& fixed) const { return Decimal::from(fixed); }
        Operand operator()(bool v) const { return v; }
        Operand operator()(char v) const { return v; }
        Operand operator()(char32_t v) const { return v; }
        Operand operator()(long double v) const { return v; }
        Operand operator()(const std::string& v) const { return v; }
        Operand operator()(const std::u32string& v) const { return v; }
        Operand operator()(const Enumerator* v) const { return v; }
    };
    return std::visit(Converter(), value);
}

} // namespace kairos::idlc
