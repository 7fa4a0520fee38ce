// SPDX-License-Identifier: Apache-2.0
//
// The kinds of values that -ORB… options have. A kind is a type with three functions:
//   set   puts a value into Options, or says what is wrong with it;
//   show  says what Options has, as users write it;
//   form  is what stands for the value in documentation, such as "ms" or "block|refuse".
// Most kinds name the member of Options (or of the SocketOptions, CallPolicies or TlsOptions in it)
// that they are for. option_list.h says which option has which.
#pragma once

#include "kairos/orb/options.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace kairos::orb {

/// Returns the error "<option>: '<value>' is not <expected>".
[[nodiscard]] Error bad_option(std::string_view option, std::string_view value,
                               std::string_view expected);

/// Returns the number that the text is; nothing unless the whole text is a number that a T holds.
template <typename T>
std::optional<T> parse_number(std::string_view text)
{
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// Returns the member of `options`, wherever in Options it is.
template <typename Whole, typename Of, typename T>
auto& part_of(Whole& options, T Of::*member)
{
    if constexpr (std::is_same_v<Of, net::SocketOptions>)
        return options.socket.*member;
    else if constexpr (std::is_same_v<Of, net::SpinRule>)
        return options.socket.spin.*member;
    else if constexpr (std::is_same_v<Of, CallPolicies>)
        return options.call_policies.*member;
    else if constexpr (std::is_same_v<Of, TlsOptions>)
        return options.tls.*member;
    else
        return options.*member;
}

// --- Numbers -------------------------------------------------------------------------------------

inline constexpr auto most_64 = std::numeric_limits<std::uint64_t>::max();
inline constexpr auto most_32 = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t most_int = std::numeric_limits<int>::max();

/// Which numbers an option takes.
struct Range {
    std::string_view form;     ///< the unit, or "n"
    std::string_view expected; ///< for messages: "… is not a number of milliseconds"
    std::uint64_t least = 0;
    std::uint64_t most = most_64;
    bool or_zero = false;             ///< 0 means something of its own
    std::chrono::nanoseconds unit{0}; ///< of times
};

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

inline constexpr Range any_number{"n", "a number of zero or more"};
inline constexpr Range any_size{"bytes", "a number of zero or more"};
inline constexpr Range count{"n", "a number of 1 to 100000", 1, 100'000};
inline constexpr Range milliseconds{"ms", "a number of milliseconds", 0, most_32, false, 1ms};
inline constexpr Range spin_time{
    "µs", "a number of microseconds, at most 1000000", 0, 1'000'000, false, 1us};
inline constexpr Range brief_time{"µs", "a number of microseconds, at most 1000", 0, 1000, false,
                                  1us};
inline constexpr Range poll_time{"µs", "a number of microseconds", 0, 1'000'000};
inline constexpr Range queue_size{"bytes", "a number of bytes", 0, most_int};
inline constexpr Range message_size{"bytes", "a size of 64 to 4294967295 bytes", 64, most_32};
inline constexpr Range fragment_size{"bytes", "0 or a size of at least 256 bytes", 256, most_32,
                                     true};
inline constexpr Range memory_size{"bytes", "a number of bytes, at least 1048576",
                                   std::uint64_t{1} << 20};
inline constexpr Range loan_size{"bytes", "a number of bytes, at most 1073741824", 0,
                                 std::uint64_t{1} << 30};
inline constexpr Range stack_size{"bytes", "0 or a size of 64 KiB to 1 GiB, in bytes",
                                  limits::stack_least, limits::stack_most, true};
inline constexpr Range debug_level{"0…3", "a level of 0 to 3", 0, 3};

/// Sets `number`, unless the value is none of the range.
[[nodiscard]] Result<void> read_number(std::uint64_t& number, const Range& range,
                                       std::string_view option, std::string_view value);

/// Times in Options: what was not said is zero.
template <typename T>
struct Time {
    static T of(std::chrono::nanoseconds time) { return std::chrono::duration_cast<T>(time); }
    static std::chrono::nanoseconds in(T time) { return time; }
};
template <typename T>
struct Time<std::optional<T>> {
    static T of(std::chrono::nanoseconds time) { return time; }
    static std::chrono::nanoseconds in(std::optional<T> time) { return time.value_or(T{}); }
};

/// A number, or a time as a number of the range's unit.
template <auto Member, const Range& Of>
struct Number {
    static constexpr const Range& range = Of;

    static Result<void> set(Options& options, std::string_view option, std::string_view value)
    {
        std::uint64_t number = 0;
        auto read = read_number(number, range, option, value);
        if (!read) return read;
        auto& member = part_of(options, Member);
        using Value = std::remove_reference_t<decltype(member)>;
        if constexpr (std::is_integral_v<Value>)
            member = static_cast<Value>(number);
        else
            member = Time<Value>::of(range.unit * static_cast<std::int64_t>(number));
        return read;
    }
    static std::string show(const Options& options)
    {
        const auto& member = part_of(options, Member);
        using Value = std::remove_cvref_t<decltype(member)>;
        if constexpr (std::is_integral_v<Value>)
            return std::to_string(member);
        else
            return std::to_string(Time<Value>::in(member) / range.unit);
    }
    static std::string form() { return std::string(range.form); }
};

/// -ORBSpin: a number, or "auto".
struct SpinTime {
    using Fixed = Number<&net::SpinRule::most, spin_time>;
    static constexpr std::string_view learned = "auto";

    static Result<void> set(Options& options, std::string_view option, std::string_view value)
    {
        options.socket.spin.learns = value == learned;
        if (!options.socket.spin.learns) return Fixed::set(options, option, value);
        options.socket.spin.most = spin_learned_most;
        return {};
    }
    static std::string show(const Options& options)
    {
        return options.socket.spin.learns ? std::string(learned) : Fixed::show(options);
    }
    static std::string form() { return Fixed::form() + "|auto"; }
};

// --- Named values --------------------------------------------------------------------------------

template <typename T>
struct Named {
    std::string_view name;
    T meaning;
};

inline constexpr Named<bool> no_or_yes[] = {{"0", false}, {"1", true}};
inline constexpr Named<bool> wanted_or_required[] = {{"wanted", false}, {"required", true}};
inline constexpr Named<PublishAs> publish_as_names[] = {{"alternates", PublishAs::alternates},
                                                        {"profiles", PublishAs::profiles}};
inline constexpr Named<WhenQueueFull> when_queue_full_names[] = {{"block", WhenQueueFull::block},
                                                                 {"refuse", WhenQueueFull::refuse}};
inline constexpr Named<WhenLate> when_late_names[] = {{"results", WhenLate::results},
                                                      {"timeout", WhenLate::timeout}};
inline constexpr Named<BidirectionalPeers> bidirectional_names[] = {
    {"own", BidirectionalPeers::own}, {"any", BidirectionalPeers::any}};
inline constexpr Named<InitialMapping> mapping_names[] = {{"linear", InitialMapping::linear},
                                                          {"direct", InitialMapping::direct}};
inline constexpr Named<net::SchedulingPolicy> scheduling_policy_names[] = {
    {"fifo", net::SchedulingPolicy::fifo}, {"rr", net::SchedulingPolicy::round_robin}};
inline constexpr Named<Dispatching> dispatching_names[] = {{"fifo", Dispatching::fifo},
                                                           {"rms", Dispatching::rms},
                                                           {"edf", Dispatching::edf},
                                                           {"llf", Dispatching::llf},
                                                           {"muf", Dispatching::muf}};
inline constexpr Named<Demultiplexing> demultiplexing_names[] = {
    {"linear", Demultiplexing::linear},
    {"hash", Demultiplexing::hash},
    {"active", Demultiplexing::active},
    {"delayered", Demultiplexing::delayered}};
inline constexpr Named<Collocation> collocation_names[] = {
    {"direct", Collocation::direct},
    {"through-poa", Collocation::through_poa},
    {"no", Collocation::no}};
inline constexpr Named<ior::IiopVersion> giop_version_names[] = {
    {"1.0", {1, 0}}, {"1.1", {1, 1}}, {"1.2", {1, 2}}};
inline constexpr Named<Protection> protection_names[] = {{"preferred", Protection::preferred},
                                                         {"required", Protection::required},
                                                         {"never", Protection::never}};
inline constexpr Named<ServerCheck> server_check_names[] = {
    {"name", ServerCheck::name}, {"chain", ServerCheck::chain}, {"no", ServerCheck::no}};
inline constexpr Named<ClientCheck> client_check_names[] = {{"no", ClientCheck::no},
                                                            {"optional", ClientCheck::optional},
                                                            {"required", ClientCheck::required}};
/// The default says nothing, so that calls remain plain ones.
inline constexpr Named<std::optional<ConnectionArchitecture>> connection_names[] = {
    {"non-multiplexed", std::nullopt},
    {"leader-followers", ConnectionArchitecture::leader_followers},
    {"active", ConnectionArchitecture::active}};

/// Puts a name behind others in `list`: "a, b" and "c" become "a, b or c" if it is the last one.
void add_alternative(std::string& list, std::string_view name, bool is_last);
/// Sets `index` to that of the name that the value is, unless it is none.
[[nodiscard]] Result<void> choose(std::size_t& index, std::span<const std::string_view> names,
                                  std::string_view option, std::string_view value);

/// One of several values that have names.
template <auto Member, const auto& Names>
struct Choice {
    static constexpr auto names = [] {
        std::array<std::string_view, std::size(Names)> names_only;
        for (std::size_t i = 0; i < std::size(Names); ++i)
            names_only[i] = Names[i].name;
        return names_only;
    }();

    static Result<void> set(Options& options, std::string_view option, std::string_view value)
    {
        std::size_t index = 0;
        auto chosen = choose(index, names, option, value);
        if (chosen) part_of(options, Member) = Names[index].meaning;
        return chosen;
    }
    static std::string show(const Options& options)
    {
        for (const auto& each : Names)
            if (part_of(options, Member) == each.meaning) return std::string(each.name);
        return {};
    }
    static std::string form()
    {
        std::string list;
        for (const std::string_view name : names)
            list.append(list.empty() ? "" : "|").append(name);
        return list;
    }
};

template <auto Member>
using Flag = Choice<Member, no_or_yes>;

// --- Kinds of one option each --------------------------------------------------------------------

/// Checks that the value is the name of a file, that is, not empty.
Result<void> check_file_name(std::string_view option, std::string_view value);
/// Sets `name` to the value, if that is the name of a file. Inline, each option would have a copy.
[[gnu::noinline]] Result<void> set_file_name(std::string& name, std::string_view option,
                                             std::string_view value);

/// The option -ORBConfigFile, whose value is only looked at here: the file is read before the other
/// options are set.
struct ConfigurationFile {
    static Result<void> set(Options&, std::string_view option, std::string_view value)
    {
        return check_file_name(option, value);
    }
    static std::string show(const Options&) { return {}; }
    static std::string form() { return "FILE"; }
};

/// The name of a file.
template <auto Member>
struct FileName {
    static Result<void> set(Options& options, std::string_view option, std::string_view value)
    {
        return set_file_name(part_of(options, Member), option, value);
    }
    static std::string show(const Options& options) { return part_of(options, Member); }
    static std::string form() { return "FILE"; }
};

/// The option -ORBTlsTrust.
struct TlsTrust : FileName<&TlsOptions::trust> {
    static std::string form() { return "FILE|FOLDER|system"; }
};

/// The option -ORBMulticast, which whoever sends to groups understands.
struct Multicast : FileName<&Options::multicast> {
    static std::string form() { return "item[,item…]"; }
};

struct ProfileTypes {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
    static std::string show(const Options& options) { return options.profile_types; }
    static std::string form() { return "FILE"; }
};

struct OrbId {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
    static std::string show(const Options& options) { return options.orb_id; }
    static std::string form() { return "name"; }
};

struct ServerId {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
    static std::string show(const Options& options) { return options.server_id; }
    static std::string form() { return "name"; }
};

/// The option -ORBInitRef: each time that it is given adds one initial reference.
struct InitialReferences {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
    static std::string show(const Options& options);
    static std::string form() { return "name=url"; }
};

struct DefaultInitialReference {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
    static std::string show(const Options& options) { return options.default_initial_reference; }
    static std::string form() { return "url"; }
};

/// The option -ORBListenEndpoints: each time that it is given adds endpoints.
struct ListenEndpoints {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
    static std::string show(const Options& options);
    static std::string form() { return "url[;url…]|none"; }
};

struct Publish {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
    static std::string show(const Options& options);
    static std::string form() { return "item[,item…]"; }
};

struct Concurrency {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
    static std::string show(const Options& options);
    static std::string form();
};

struct Lanes {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
    static std::string show(const Options& options);
    static std::string form() { return "priority[:threads|:each][@cpu],…"; }
};

struct NativeCodeSet {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
    static std::string show(const Options& options);
    static std::string form() { return "name|number"; }
};

struct NativeWideCodeSet {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
    static std::string show(const Options& options);
    static std::string form() { return "name|number"; }
};

struct QuirkNames {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
    static std::string show(const Options& options) { return names_of(options.quirks); }
    static std::string form() { return "name,…"; }
};

// --- Kinds that say more than their number -------------------------------------------------------

struct ClientConnections : Number<&Options::client_connections_max, count> {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
};

struct ClientIdle : Number<&Options::client_idle, milliseconds> {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
};

struct DebugLevel : Number<&Options::log_level, debug_level> {
    static Result<void> set(Options& options, std::string_view option, std::string_view value);
};

/// The option -ORBMemory; shows what there is room for when the option does not say it.
struct Memory : Number<&Options::memory, memory_size> {
    static std::string show(const Options& options);
};

} // namespace kairos::orb
