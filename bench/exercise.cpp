// SPDX-License-Identifier: Apache-2.0
#include "bench/exercise.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

namespace kairos::bench {
namespace {

constexpr std::array<std::pair<Direction, std::string_view>, 2> directions{
    {{Direction::twoway, "twoway"}, {Direction::oneway, "oneway"}}};

constexpr std::array<std::pair<Payload, std::string_view>, 15> payloads{{
    {Payload::none, "null"},
    {Payload::octet, "octet"},
    {Payload::character, "char"},
    {Payload::int16, "short"},
    {Payload::int32, "long"},
    {Payload::float64, "double"},
    {Payload::bin_struct, "BinStruct"},
    {Payload::text, "string"},
    {Payload::strings, "string32"},
    {Payload::ubstring, "ubstring"},
    {Payload::fixed_struct, "fixed_struct"},
    {Payload::strseq, "strseq"},
    {Payload::var_struct, "var_struct"},
    {Payload::nested_struct, "nested_struct"},
    {Payload::struct_seq, "struct_seq"},
}};

constexpr std::array<Payload, 7> param_test{
    Payload::int16,      Payload::ubstring,      Payload::fixed_struct, Payload::strseq,
    Payload::var_struct, Payload::nested_struct, Payload::struct_seq};

constexpr std::array<std::pair<Verb, std::string_view>, 8> verbs{{
    {Verb::latency, "latency"},
    {Verb::ttcp, "ttcp"},
    {Verb::call, "call"},
    {Verb::bytes, "bytes"},
    {Verb::marshal, "marshal"},
    {Verb::demux, "demux"},
    {Verb::roles, "roles"},
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

std::span<const Payload> param_payloads() { return param_test; }

std::uint32_t unit_bytes(Payload payload)
{
    // 128 characters and 9 elements (param.idl); each string but a sequence's last is padded.
    constexpr std::uint32_t string = 4 + 129;
    constexpr std::uint32_t padded_string = string + 3;
    constexpr std::uint32_t strseq = 4 + 8 * padded_string + string;
    constexpr std::uint32_t var_struct = 2 * padded_string + strseq;
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
    case Payload::fixed_struct:
        return 32;
    case Payload::ubstring:
        return string;
    case Payload::strseq:
        return strseq;
    case Payload::var_struct:
    case Payload::nested_struct:
        return var_struct;
    case Payload::struct_seq:
        return 4 + 8 * (var_struct + 3) + var_struct;
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
