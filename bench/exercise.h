// SPDX-License-Identifier: Apache-2.0
//
// One measurement as the orchestrating process orders it from a client program, and its form as one
// line of text: "verb direction payload units calls request_bytes reply_bytes". Shared by the
// orchestrator and every peer program, so that all of them run exactly the same exercise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kairos::bench {

enum class Direction { twoway, oneway };

/// `text` is one IDL string; `strings` a sequence of strings of 31 characters and a NUL. From
/// `ubstring` on: what Param_Test (param.idl) passes beside a short, always one unit.
enum class Payload {
    none,
    octet,
    character,
    int16,
    int32,
    float64,
    bin_struct,
    text,
    strings,
    ubstring,
    fixed_struct,
    strseq,
    var_struct,
    nested_struct,
    struct_seq,
};

enum class Verb {
    latency, ///< time every call
    ttcp,    ///< time all of them, until the receiver has acknowledged having everything
    call,    ///< make the calls and time nothing, for the counters
    bytes,   ///< how many bytes one such call puts on the wire, each way
    marshal, ///< how fast sequences of the payload are encoded and decoded, without any call
    demux,   ///< how long it takes to find objects and operations, without any call (demux_peer.h)
    roles,   ///< how long each side of a Param_Test call marshals, without any call
    quit,
};

struct Exercise {
    Direction direction = Direction::twoway;
    Payload payload = Payload::none;
    std::uint32_t units = 0;
    std::uint32_t calls = 0;
    std::uint32_t request_bytes = 0; ///< what raw sockets send for one call
    std::uint32_t reply_bytes = 0;   ///< what they answer; 0 for oneway
};

struct Order {
    Verb verb = Verb::quit;
    Exercise exercise;
};

/// Bounds on what an order may ask for; a peer program refuses more.
inline constexpr std::uint32_t units_max = 1u << 22;
inline constexpr std::uint32_t message_bytes_max = 1u << 27;
inline constexpr std::uint32_t calls_max = 100'000'000;

[[nodiscard]] std::string_view name_of(Direction direction);
[[nodiscard]] std::string_view name_of(Payload payload);
[[nodiscard]] std::optional<Direction> direction_named(std::string_view name);
[[nodiscard]] std::optional<Payload> payload_named(std::string_view name);

/// Param_Test's operations by the type of their parameters, in the order of the IDL.
[[nodiscard]] std::span<const Payload> param_payloads();

/// The size of one unit as user data: a BinStruct is 24 bytes, a string with its NUL 32; a
/// parameter of Param_Test what its CDR takes.
[[nodiscard]] std::uint32_t unit_bytes(Payload payload);
[[nodiscard]] std::uint64_t payload_bytes(const Exercise& exercise);

[[nodiscard]] std::string format_order(const Order& order);
[[nodiscard]] std::optional<Order> parse_order(std::string_view line);

} // namespace kairos::bench
