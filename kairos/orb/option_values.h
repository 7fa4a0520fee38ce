// SPDX-License-Identifier: Apache-2.0
//
// What each -ORB… option makes of its value: a function for each, or for each kind of value. The
// table of options.cpp says which option has which.
#pragma once

#include "kairos/orb/options.h"

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kairos::orb {

/// Sets one option from its value; an empty Result is success. What an error says begins with the
/// name of the option.
using Setter = Result<void> (*)(Options&, std::string_view option, std::string_view value);

/// "<option>: '<value>' is not <expected>".
[[nodiscard]] Error bad_option(std::string_view option, std::string_view value,
                               std::string_view expected);

/// Nothing unless the whole text is a number that a T holds.
template <typename T>
std::optional<T> parse_number(std::string_view text)
{
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// --- Kinds of values: several options are of each ------------------------------------------------

template <auto Member>
Result<void> set_size(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::size_t>(value);
    if (!number) return bad_option(option, value, "a number of zero or more");
    options.*Member = *number;
    return {};
}

template <auto Member>
Result<void> set_count(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::size_t>(value);
    if (!number || *number == 0 || *number > 100'000)
        return bad_option(option, value, "a number of 1 to 100000");
    options.*Member = *number;
    return {};
}

template <auto Member>
Result<void> set_queue(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<int>(value);
    if (!number || *number < 0) return bad_option(option, value, "a number of bytes");
    options.socket.*Member = *number;
    return {};
}

template <auto Member>
Result<void> set_time(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::uint32_t>(value);
    if (!number) return bad_option(option, value, "a number of milliseconds");
    options.call_policies.*Member = std::chrono::milliseconds(*number);
    return {};
}

template <auto Member>
Result<void> set_milliseconds(Options& options, std::string_view option, std::string_view value)
{
    const auto number = parse_number<std::uint32_t>(value);
    if (!number) return bad_option(option, value, "a number of milliseconds");
    options.*Member = std::chrono::milliseconds(*number);
    return {};
}

template <auto Member>
Result<void> set_flag(Options& options, std::string_view option, std::string_view value)
{
    if (value != "0" && value != "1") return bad_option(option, value, "0 or 1");
    options.*Member = value == "1";
    return {};
}

// --- Values of one option each -------------------------------------------------------------------

/// Only looks at it: the file is read before the others are set.
Result<void> set_configuration_file(Options& options, std::string_view option,
                                    std::string_view value);
Result<void> set_orb_id(Options& options, std::string_view option, std::string_view value);
Result<void> add_initial_reference(Options& options, std::string_view option,
                                   std::string_view value);
Result<void> set_default_initial_reference(Options& options, std::string_view option,
                                           std::string_view value);
Result<void> add_listen_endpoints(Options& options, std::string_view option,
                                  std::string_view value);
Result<void> set_publish(Options& options, std::string_view option, std::string_view value);
Result<void> set_publish_as(Options& options, std::string_view option, std::string_view value);
Result<void> set_concurrency(Options& options, std::string_view option, std::string_view value);
Result<void> set_connection(Options& options, std::string_view option, std::string_view value);
Result<void> set_client_connections(Options& options, std::string_view option,
                                    std::string_view value);
Result<void> set_client_idle(Options& options, std::string_view option, std::string_view value);
Result<void> set_lanes(Options& options, std::string_view option, std::string_view value);
Result<void> set_real_time(Options& options, std::string_view option, std::string_view value);
Result<void> set_priority_mapping(Options& options, std::string_view option,
                                  std::string_view value);
Result<void> set_scheduling_policy(Options& options, std::string_view option,
                                   std::string_view value);
Result<void> set_late_calls(Options& options, std::string_view option, std::string_view value);
Result<void> set_dispatching(Options& options, std::string_view option, std::string_view value);
Result<void> set_stack_size(Options& options, std::string_view option, std::string_view value);
Result<void> set_busy_poll(Options& options, std::string_view option, std::string_view value);
Result<void> set_when_queue_full(Options& options, std::string_view option, std::string_view value);
Result<void> set_memory(Options& options, std::string_view option, std::string_view value);
Result<void> set_max_message_size(Options& options, std::string_view option,
                                  std::string_view value);
Result<void> set_demultiplexing(Options& options, std::string_view option, std::string_view value);
Result<void> set_collocation(Options& options, std::string_view option, std::string_view value);
Result<void> set_fragment_size(Options& options, std::string_view option, std::string_view value);
Result<void> set_giop_version(Options& options, std::string_view option, std::string_view value);
Result<void> set_no_delay(Options& options, std::string_view option, std::string_view value);
Result<void> set_spin(Options& options, std::string_view option, std::string_view value);
Result<void> set_room_spin(Options& options, std::string_view option, std::string_view value);
Result<void> set_stream_pause(Options& options, std::string_view option, std::string_view value);
Result<void> set_native_code_set(Options& options, std::string_view option, std::string_view value);
Result<void> set_native_wide_code_set(Options& options, std::string_view option,
                                      std::string_view value);
Result<void> set_quirks(Options& options, std::string_view option, std::string_view value);
Result<void> set_profile_types(Options& options, std::string_view option, std::string_view value);
Result<void> set_debug(Options& options, std::string_view option, std::string_view value);

} // namespace kairos::orb
