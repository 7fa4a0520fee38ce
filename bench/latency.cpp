// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench latency`: null calls and 1 … 1024 units of each type, every call timed, beside a
// ping-pong of the same bytes over raw sockets, TCP's and those of the host.
#include "bench/bars.h"
#include "bench/experiment.h"
#include "bench/statistics.h"

#include <algorithm>
#include <fmt/format.h>

namespace kairos::bench {
namespace {

/// One row's figures of all rounds, of one system.
using Samples = std::vector<RunningSystem::Figures>;

/// What shared memory has blocks for beside its ring.
constexpr std::uint32_t large_octets = 1u << 20;

std::vector<Exercise> timed_exercises(const LatencyOptions& options)
{
    std::vector<Exercise> exercises;
    if (!options.by_datagrams)
        exercises.push_back({.direction = Direction::twoway, .calls = options.calls});
    exercises.push_back({.direction = Direction::oneway, .calls = options.calls});
    for (const Payload payload : options.payloads)
        for (const std::uint32_t units : options.units)
            exercises.push_back(
                {.direction = options.by_datagrams ? Direction::oneway : Direction::twoway,
                 .payload = payload,
                 .units = units,
                 .calls = options.calls});
    if (options.within_host)
        exercises.push_back({.direction = Direction::twoway,
                             .payload = Payload::octet,
                             .units = large_octets,
                             .calls = options.calls});
    return exercises;
}

/// What one system's times are held against another's for.
struct Comparison {
    std::string_view system; ///< its option; "" is every one
    std::string_view figure;
    std::string_view base;
};
constexpr Comparison comparisons[] = {
    {"", "ratio_to_raw", "raw"},
    {"kairos-unix", "ratio_to_raw_unix", "unix"},
    {"kairos-memory", "ratio_to_raw_ring", "ring"},
    {"kairos-spin", "ratio_to_raw_ring", "spin"},
    {"kairos-memory", "ratio_to_unix", "kairos-unix"},
    {"kairos-spin", "ratio_to_unix", "kairos-unix"},
};

void set_latency_bars(Row& row, const System& system, Pinning pinning)
{
    using enum Bar::Relation;
    if (row.figure("units") == large_octets && row.figure("mbyte_s") && pinning != Pinning::same) {
        if (system.option == "kairos-memory" || system.option == "kairos-loan")
            row.bars = {{"mbyte_s", at_least, 10'000}};
        if (system.option == "kairos-loan-spin") row.bars = {{"mbyte_s", at_least, 30'000}};
    }
    if (system.by_datagrams && system.orb && row.payload_type == "null")
        row.bars = {{"ratio_to_raw", at_most, bars::null_oneway_by_datagram_to_raw}};
    if (row.payload_type != "null" || row.direction != "twoway") return;
    if (system.option == "kairos-unix") row.bars = {{"ratio_to_raw_unix", at_most, 1.10}};
    if (system.option == "kairos-memory") row.bars = {{"ratio_to_unix", at_most, 0.8}};
    // On one processor nobody spins.
    if (system.option == "kairos-spin" && pinning != Pinning::same)
        row.bars = {{"ratio_to_raw_ring", at_most, 3.0}};
    if (system.option != "kairos") return;
    row.bars = {
        {"ratio_to_raw", at_most,
         pinning == Pinning::same ? bars::null_call_to_raw_on_one_cpu : bars::null_call_to_raw},
        {"ratio_to_omniorb", below, bars::null_call_to_omniorb}};
}

std::vector<Need> needs_of(const LatencyOptions& options)
{
    if (options.by_datagrams) return {{"ratio_to_raw", "null"}};
    if (!options.within_host) return {{"ratio_to_raw", "null"}, {"ratio_to_omniorb", "null"}};
    std::vector<Need> needs{{"ratio_to_raw_unix", "null"}, {"ratio_to_unix", "null"}};
    if (options.pinning != Pinning::same) needs.push_back({"ratio_to_raw_ring", "null"});
    return needs;
}

bool is_spinning(const System& system) { return system.option.ends_with("spin"); }

Row make_row(const Exercise& exercise, const System& system, const Samples& samples,
             const LatencyOptions& options)
{
    Row row;
    row.system = system.name;
    row.variant = variant_of(system, options.pinning);
    row.direction = name_of(exercise.direction);
    row.payload_type = name_of(exercise.payload);
    row.payload_bytes = payload_bytes(exercise);
    row.set("units", exercise.units);
    for (const char* figure : {"p50_us", "p99_us", "p999_us"})
        row.set(figure, median(values_of(samples, figure)));
    const auto maxima = values_of(samples, "max_us");
    row.set("max_us", *std::max_element(maxima.begin(), maxima.end()));
    row.set("mean_us", median(values_of(samples, "mean_us")));
    row.set("cpu_us", median(values_of(samples, "cpu_us")));
    if (options.within_host && exercise.payload != Payload::none && row.figure("p50_us") > 0.0)
        row.set("mbyte_s",
                static_cast<double>(payload_bytes(exercise)) / row.figure("p50_us").value());
    return row;
}

const Samples* samples_of(const std::vector<Contestant>& contestants,
                          const std::vector<Samples>& samples, const std::string& option)
{
    for (std::size_t i = 0; i < contestants.size(); ++i)
        if (contestants[i].system.option == option) return &samples[i];
    return nullptr;
}

void add_rows(Report& report, const Exercise& exercise, const std::vector<Contestant>& contestants,
              const std::vector<Samples>& samples, const LatencyOptions& options)
{
    const Samples* omniorb = samples_of(contestants, samples, "omniorb");
    for (std::size_t i = 0; i < contestants.size(); ++i) {
        const System& system = contestants[i].system;
        Row row = make_row(exercise, system, samples[i], options);
        for (const Comparison& with : comparisons) {
            const Samples* base = samples_of(contestants, samples, std::string(with.base));
            if (base != nullptr && (with.system.empty() || with.system == system.option))
                row.set(std::string(with.figure), median_ratio(samples[i], *base, "p50_us"));
        }
        if (omniorb != nullptr && system.orb && omniorb != &samples[i])
            row.set("ratio_to_omniorb", median_ratio(samples[i], *omniorb, "p50_us"));
        row.set("request_bytes", exercise.request_bytes);
        row.set("reply_bytes", exercise.reply_bytes);
        set_latency_bars(row, system, options.pinning);
        report.rows.push_back(std::move(row));
    }
}

} // namespace

Result<Report> run_latency(const LatencyOptions& options)
{
    Report report{.experiment = "latency", .rows = {}, .notes = {}, .needs = needs_of(options)};
    std::vector<Row> absent;
    auto started = start_contestants(options, 0, report);
    if (!started) return started.error();
    std::vector<Contestant>& contestants = *started;
    absent.swap(report.rows);

    std::vector<Exercise> exercises = timed_exercises(options);
    for (Exercise& exercise : exercises) {
        const auto complete = with_message_bytes(exercise, contestants);
        if (!complete) return complete.error();
        exercise = *complete;
    }

    std::vector<std::vector<Samples>> samples(exercises.size(),
                                              std::vector<Samples>(contestants.size()));
    for (unsigned round = 0; round < options.rounds; ++round) {
        for (std::size_t row = 0; row < exercises.size(); ++row) {
            const double done =
                round + static_cast<double>(row) / static_cast<double>(exercises.size());
            options.progress(done / options.rounds,
                             fmt::format("round {} of {}", round + 1, options.rounds));
            for (std::size_t i = 0; i < contestants.size(); ++i) {
                // Who spins on one processor waits for the end of that.
                if (options.pinning == Pinning::free && is_spinning(contestants[i].system))
                    contestants[i].running.put_apart();
                auto figures = time_calls(contestants[i].running, exercises[row]);
                if (!figures) return figures.error();
                samples[row][i].push_back(std::move(*figures));
            }
        }
    }
    for (std::size_t row = 0; row < exercises.size(); ++row)
        add_rows(report, exercises[row], contestants, samples[row], options);
    report.rows.insert(report.rows.end(), absent.begin(), absent.end());
    for (Contestant& contestant : contestants)
        if (auto ended = contestant.running.finish(); !ended) return ended.error();
    report.notes.push_back(fmt::format(
        "Medians of {} interleaved rounds of {} calls each (max: the highest of all). × raw: p50 "
        "against raw-tcp moving the same bytes, within a round; the other ratios likewise. CPU: "
        "what both sides take of processors, for each call.",
        options.rounds, options.calls));
    return report;
}

std::vector<Column> latency_columns()
{
    return {{"units", "units", 0},
            {"p50_us", "p50 µs", 2},
            {"p99_us", "p99 µs", 2},
            {"p999_us", "p99.9 µs", 2},
            {"max_us", "max µs", 1},
            {"mean_us", "mean µs", 2},
            {"cpu_us", "CPU µs", 2},
            {"ratio_to_raw", "× raw", 2},
            {"ratio_to_omniorb", "× omniORB", 2}};
}

std::vector<Column> local_latency_columns()
{
    return {{"units", "units", 0},
            {"p50_us", "p50 µs", 2},
            {"p99_us", "p99 µs", 2},
            {"max_us", "max µs", 1},
            {"mean_us", "mean µs", 2},
            {"cpu_us", "CPU µs", 2},
            {"mbyte_s", "MB/s", 0},
            {"ratio_to_raw_unix", "× raw Unix", 2},
            {"ratio_to_raw_ring", "× raw ring", 2},
            {"ratio_to_unix", "× Unix socket", 2}};
}

} // namespace kairos::bench
