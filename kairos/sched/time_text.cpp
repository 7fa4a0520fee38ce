// SPDX-License-Identifier: Apache-2.0
#include "kairos/sched/time_text.h"

#include <array>
#include <cstdint>
#include <utility>

namespace kairos::sched {
namespace {

constexpr std::array<std::pair<std::string_view, std::int64_t>, 7> units{{
    {"ns", 1},
    {"us", 1'000},
    {"µs", 1'000},
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"min", 60'000'000'000},
    {"h", 3'600'000'000'000},
}};

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

Error malformed(std::string_view text, std::string_view why)
{
    return {.code = ErrorCode::invalid_argument,
            .reason = "'" + std::string(text) + "' " + std::string(why)};
}

/// A decimal number as a whole one of 10^-9. Nine digits on either side of the point, or ten before
/// it, are more than any time needs.
struct Decimal {
    std::int64_t whole = 0;
    std::int64_t billionths = 0;
    std::string_view unit;
};

std::optional<Decimal> parse_decimal(std::string_view text)
{
    Decimal decimal;
    std::size_t i = 0;
    for (; i < text.size() && is_digit(text[i]); ++i) {
        if (i == 18) return std::nullopt;
        decimal.whole = decimal.whole * 10 + (text[i] - '0');
    }
    if (i == 0) return std::nullopt;
    if (i < text.size() && text[i] == '.') {
        const std::size_t point = i++;
        std::int64_t weight = 100'000'000;
        for (; i < text.size() && is_digit(text[i]); ++i) {
            if (weight == 0) return std::nullopt;
            decimal.billionths += weight * (text[i] - '0');
            weight /= 10;
        }
        if (i == point + 1) return std::nullopt;
    }
    while (i < text.size() && text[i] == ' ')
        ++i;
    decimal.unit = text.substr(i);
    return decimal;
}

} // namespace

std::optional<Time> unit_named(std::string_view unit) noexcept
{
    for (const auto& [name, count] : units)
        if (name == unit) return Time(count);
    return std::nullopt;
}

Result<Time> parse_time(std::string_view text)
{
    const auto decimal = parse_decimal(text);
    const auto unit = decimal ? unit_named(decimal->unit) : std::nullopt;
    if (!unit) return malformed(text, "is no time: write a number and ns, us, ms, s, min or h");
    __extension__ using Wide = __int128;
    constexpr Wide billion = 1'000'000'000;
    const Wide billionths = (Wide{decimal->whole} * billion + decimal->billionths) * unit->count();
    if (billionths % billion != 0) return malformed(text, "is not a whole number of nanoseconds");
    if (billionths / billion > time_max.count()) return malformed(text, "is more than 366 days");
    return Time(static_cast<std::int64_t>(billionths / billion));
}

std::optional<Time> period_of_rate(std::int64_t hertz) noexcept
{
    constexpr std::int64_t second = 1'000'000'000;
    if (hertz <= 0 || second % hertz != 0) return std::nullopt;
    return Time(second / hertz);
}

Result<Time> parse_period(std::string_view text)
{
    const auto decimal = parse_decimal(text);
    if (decimal && decimal->unit == "Hz") {
        const auto period =
            decimal->billionths == 0 ? period_of_rate(decimal->whole) : std::nullopt;
        if (!period) return malformed(text, "has no period of whole nanoseconds: write the period");
        return *period;
    }
    auto period = parse_time(text);
    if (period && *period == Time(0)) return malformed(text, "is no period");
    return period;
}

std::string to_text(Time time)
{
    constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> shown{
        {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}}};
    const bool negative = time < Time(0);
    const auto magnitude = negative ? 0 - static_cast<std::uint64_t>(time.count())
                                    : static_cast<std::uint64_t>(time.count());
    for (const auto& [unit, count] : shown) {
        const auto size = static_cast<std::uint64_t>(count);
        if (magnitude < size) continue;
        std::string text = (negative ? "-" : "") + std::to_string(magnitude / size);
        if (const std::uint64_t rest = magnitude % size; rest != 0) {
            std::string digits = std::to_string(size + rest).substr(1);
            digits.erase(digits.find_last_not_of('0') + 1);
            text += '.' + digits;
        }
        return text + ' ' + std::string(unit);
    }
    return "0";
}

} // namespace kairos::sched
