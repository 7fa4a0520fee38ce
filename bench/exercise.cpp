// SPDX-License-Identifier: Apache-2.0
#include "bench/exercise.h"

#include <array>
#include <charconv>
#include <utility>

namespace kairos::bench {
namespace {

constexpr std::array<std::pair<Direction, std::string_view>, 2> directions{
    {{Direction::twoway, "twoway"}, {Direction::oneway, "oneway"}}};

constexpr std::array<std::pair<Payload, std::string_view>, 9> payloads{{
    {Payload::none, "null"},
    {Payload::octet, "octet"},
    {Payload::character, "char"},
    {Payload::int16, "short"},
    {Payload::int32, "long"},
    {Payload::float64, "double"},
    {Payload::bin_struct, "BinStruct"},
    {Payload::text, "string"},
    {Payload::strings, "string32"},
}};

constexpr std::array<std::pair<Verb, std::string_view>, 5> verbs{{
    {Verb::latency, "latency"},
    {Verb::ttcp, "ttcp"},
    {Verb::call, "call"},
    {Verb::bytes, "bytes"},
    {Verb::quit, "quit"},
}};

template <typename Table, typename Value>
std::string_view find_name(const Table& table, Value value)
{
    for (const auto& [candidate, name] : table)
        if (candidate == value) return name;
    return "?";
}

template <typename Value, typename Table>
std::optional<Value> find_value(const Table& table, std::string_view name)
{
    for (const auto& [value, candidate] : table)
        if (candidate == name) return value;
    return std::nullopt;
}

std::string_view take_word(std::string_view& rest)
{
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return word;
}

bool take_number(std::string_view& rest, std::uint32_t limit, std::uint32_t& number)
{
    const std::string_view word = take_word(rest);
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
    return failure == std::errc{} && end == word.data() + word.size() && number <= limit;
}

} // namespace

std::string_view name_of(Direction direction) { return find_name(directions, direction); }
std::string_view name_of(Payload payload) { return find_name(payloads, payload); }

std::optional<Direction> direction_named(std::string_view name)
{
    return find_value<Direction>(directions, name);
}

std::optional<Payload> payload_named(std::string_view name)
{
    return find_value<Payload>(payloads, name);
}

std::uint32_t unit_bytes(Payload payload)
{
    switch (payload) {
    case Payload::none:
        return 0;
    case Payload::octet:
    case Payload::character:
    case Payload::text:
        return 1;
    case Payload::int16:
        return 2;
    case Payload::int32:
        return 4;
    case Payload::float64:
        return 8;
    case Payload::bin_struct:
        return 24;
    case Payload::strings:
        return 32;
    }
    return 0;
}

std::uint64_t payload_bytes(const Exercise& exercise)
{
    return std::uint64_t{exercise.units} * unit_bytes(exercise.payload);
}

std::string format_order(const Order& order)
{
    std::string line{find_name(verbs, order.verb)};
    if (order.verb == Verb::quit) return line;
    const Exercise& exercise = order.exercise;
    line.append(" ").append(name_of(exercise.direction));
    line.append(" ").append(name_of(exercise.payload));
    for (const std::uint32_t number :
         {exercise.units, exercise.calls, exercise.request_bytes, exercise.reply_bytes})
        line.append(" ").append(std::to_string(number));
    return line;
}

std::optional<Order> parse_order(std::string_view line)
{
    const auto verb = find_value<Verb>(verbs, take_word(line));
    if (!verb) return std::nullopt;
    if (*verb == Verb::quit) return line.empty() ? std::optional(Order{}) : std::nullopt;
    const auto direction = direction_named(take_word(line));
    const auto payload = payload_named(take_word(line));
    if (!direction || !payload) return std::nullopt;
    Exercise exercise{.direction = *direction, .payload = *payload};
    if (!take_number(line, units_max, exercise.units) ||
        !take_number(line, calls_max, exercise.calls) ||
        !take_number(line, message_bytes_max, exercise.request_bytes) ||
        !take_number(line, message_bytes_max, exercise.reply_bytes) || !line.empty())
        return std::nullopt;
    return Order{.verb = *verb, .exercise = exercise};
}

} // namespace kairos::bench
