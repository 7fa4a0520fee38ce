// SPDX-License-Identifier: Apache-2.0
#include "bench/load.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace kairos::bench {
namespace {

constexpr std::string_view verb = "load";

struct Member {
    std::string_view name;
    std::uint32_t Load::*value;
    std::uint32_t max;
};

constexpr std::array<Member, 8> members{{
    {"high_calls", &Load::high_calls, 10'000'000},
    {"high_hz", &Load::high_hz, 1'000'000},
    {"low_clients", &Load::low_clients, 4096},
    {"low_hz", &Load::low_hz, 100'000},
    {"compute_us", &Load::compute_us, 1'000'000},
    {"duration_ms", &Load::duration_ms, 600'000},
    {"request_bytes", &Load::request_bytes, 4096},
    {"reply_bytes", &Load::reply_bytes, 4096},
}};

bool set_member(Load& load, std::string_view name, std::string_view text)
{
    for (const Member& member : members) {
        if (member.name != name) continue;
        std::uint32_t& value = load.*member.value;
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
        return failure == std::errc{} && end == text.data() + text.size() && value <= member.max;
    }
    return false;
}

std::string format_summary(const char* who, const LatencySummary& summary)
{
    char text[256];
    std::snprintf(text, sizeof text,
                  "\"%s_mean_us\":%.3f,\"%s_jitter_us\":%.3f,\"%s_max_us\":%.3f,"
                  "\"%s_p50_us\":%.3f,\"%s_p99_us\":%.3f,",
                  who, summary.mean_us, who, summary.jitter_us, who, summary.max_us, who,
                  summary.p50_us, who, summary.p99_us);
    return text;
}

} // namespace

std::string format_load(const Load& load)
{
    std::string line(verb);
    for (const Member& member : members)
        line.append(" ").append(member.name).append("=").append(std::to_string(load.*member.value));
    return line;
}

std::optional<Load> parse_load(std::string_view line)
{
    if (!line.starts_with(verb)) return std::nullopt;
    line.remove_prefix(verb.size());
    Load load;
    while (!line.empty()) {
        if (line.front() != ' ') return std::nullopt;
        line.remove_prefix(1);
        const std::string_view word = line.substr(0, line.find(' '));
        line.remove_prefix(word.size());
        const std::size_t equals = word.find('=');
        if (equals == std::string_view::npos ||
            !set_member(load, word.substr(0, equals), word.substr(equals + 1)))
            return std::nullopt;
    }
    const bool ends = load.high_calls > 0 ? load.high_hz > 0 : load.duration_ms > 0;
    return ends ? std::optional(load) : std::nullopt;
}

std::string format_answer(const LoadFigures& figures, const Findings& findings)
{
    char rest[256];
    std::snprintf(rest, sizeof rest,
                  "\"low_calls_per_s\":%.1f,\"client_realtime\":%d,\"server_realtime\":%u,"
                  "\"high_requests\":%llu,\"stamped\":%llu,\"inversions\":%llu}",
                  figures.low_calls_per_s, figures.realtime ? 1 : 0, findings.raised,
                  static_cast<unsigned long long>(findings.high_requests),
                  static_cast<unsigned long long>(findings.stamped),
                  static_cast<unsigned long long>(findings.inversions));
    return "{" + format_summary("high", figures.high) + format_summary("low", figures.low) + rest;
}

} // namespace kairos::bench
