// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench marshal`: the papers' throughput ladder without a network: sequences of each unit
// type through each engine, encoded and decoded, beside memcpy of the same bytes in the same run.
#include "bench/experiment.h"
#include "bench/statistics.h"

#include <algorithm>
#include <fmt/format.h>

namespace kairos::bench {
namespace {

using Figures = RunningSystem::Figures;

struct Marshaller {
    System system;
    RunningProgram running;
};

/// One row: what it does, and the answers of each program by round.
struct Point {
    Exercise exercise;
    std::vector<std::vector<Figures>> rounds; ///< by marshaller
};

Exercise exercise_for(Payload payload, std::uint32_t buffer, double megabytes)
{
    Exercise exercise{.payload = payload};
    exercise.units = std::max(buffer / unit_bytes(payload), 1u);
    exercise.calls = static_cast<std::uint32_t>(
        std::clamp(megabytes * 1e6 / static_cast<double>(payload_bytes(exercise)), 20.0, 1e6));
    return exercise;
}

double median_of(const std::vector<Figures>& rounds, const std::string& figure)
{
    std::vector<double> values;
    for (const Figures& round : rounds)
        values.push_back(round.at(figure));
    return median(std::move(values));
}

double median_ratio(const std::vector<Figures>& rounds, const std::string& figure,
                    const std::string& against)
{
    std::vector<double> ratios;
    for (const Figures& round : rounds)
        if (round.at(against) > 0) ratios.push_back(round.at(figure) / round.at(against));
    return median(std::move(ratios));
}

Row make_row(const Point& point, const System& system, const std::vector<Figures>& rounds)
{
    Row row;
    row.system = system.name;
    row.variant = system.architecture;
    row.payload_type = name_of(point.exercise.payload);
    row.payload_bytes = payload_bytes(point.exercise);
    row.set("bytes", static_cast<double>(row.payload_bytes)); // what pictures are drawn over
    for (const char* figure :
         {"memcpy_mbyte_s", "memcpy_in_mbyte_s", "encode_mbyte_s", "decode_mbyte_s"})
        row.set(figure, median_of(rounds, figure));
    row.set("encode_to_memcpy", median_ratio(rounds, "encode_mbyte_s", "memcpy_mbyte_s"));
    row.set("decode_to_memcpy", median_ratio(rounds, "decode_mbyte_s", "memcpy_in_mbyte_s"));
    row.set("swapped_mbyte_s", median_of(rounds, "swapped_mbyte_s"));
    row.set("swapped_to_native", median_ratio(rounds, "swapped_mbyte_s", "decode_mbyte_s"));
    row.set("gather_mbyte_s", median_of(rounds, "gather_mbyte_s"));
    row.set("view_mbyte_s", median_of(rounds, "view_mbyte_s"));
    // Below, what a message costs once is most of the time, and a copy takes a few nanoseconds.
    constexpr std::uint64_t judged_from = 8000;
    if (row.payload_bytes < judged_from) return row;
    const double bar = point.exercise.payload == Payload::bin_struct ? 0.5 : 0.8;
    row.bars = {{"encode_to_memcpy", Bar::Relation::at_least, bar},
                {"decode_to_memcpy", Bar::Relation::at_least, bar},
                {"swapped_to_native", Bar::Relation::at_least, 0.5}};
    return row;
}

Result<std::vector<Marshaller>> start_all(const MarshalOptions& options, Report& report)
{
    std::vector<Marshaller> marshallers;
    for (const System& system : options.systems) {
        if (!installed(system, options.program_directory)) {
            Row row = absent_row(system, options, "not installed");
            row.variant = system.architecture;
            report.rows.push_back(std::move(row));
            continue;
        }
        auto running = RunningProgram::start(system, options.program_directory);
        if (!running) return running.error();
        marshallers.push_back({system, std::move(*running)});
    }
    if (marshallers.empty())
        return Error{ErrorCode::not_found, fmt::format("no measured program found in {}",
                                                       options.program_directory.string())};
    return marshallers;
}

} // namespace

Result<Report> run_marshal(const MarshalOptions& options)
{
    Report report{.experiment = "marshal",
                  .rows = {},
                  .notes = {},
                  .needs = {{"encode_to_memcpy"}, {"decode_to_memcpy"}, {"swapped_to_native"}}};
    auto started = start_all(options, report);
    if (!started) return started.error();
    std::vector<Row> absent;
    absent.swap(report.rows);

    std::vector<Point> points;
    for (const Payload payload : options.payloads)
        for (const std::uint32_t buffer : options.buffers)
            points.push_back({exercise_for(payload, buffer, options.megabytes),
                              std::vector<std::vector<Figures>>(started->size())});
    for (unsigned round = 0; round < options.rounds; ++round)
        for (std::size_t at = 0; at < points.size(); ++at) {
            const double part = static_cast<double>(at) / static_cast<double>(points.size());
            options.progress((round + part) / options.rounds,
                             fmt::format("round {} of {}", round + 1, options.rounds));
            for (std::size_t i = 0; i < started->size(); ++i) {
                auto figures = (*started)[i].running.order(Verb::marshal, points[at].exercise);
                if (!figures) return figures.error();
                points[at].rounds[i].push_back(std::move(*figures));
            }
        }
    for (const Point& point : points)
        for (std::size_t i = 0; i < started->size(); ++i)
            report.rows.push_back(make_row(point, (*started)[i].system, point.rounds[i]));
    report.rows.insert(report.rows.end(), absent.begin(), absent.end());
    for (Marshaller& marshaller : *started)
        if (auto ended = marshaller.running.finish(); !ended) return ended.error();
    report.notes.push_back(fmt::format(
        "MB = 1,000,000 bytes of elements, in caches; medians of {} interleaved rounds of {} MB a "
        "point; ratios are taken within a round and judged from 8 K on.",
        options.rounds, options.megabytes));
    report.notes.push_back(
        "Encode: into one contiguous buffer, everything copied; in place: large sequences are left "
        "where they are and gathered by the kernel, as calls do. Decode: into a sequence that owns "
        "its elements and keeps its buffer; view: as a skeleton hands `in` to a servant; swapped: "
        "owned, from a sender of the other byte order (nothing is ever sent swapped).");
    return report;
}

std::vector<Column> marshal_columns()
{
    return {{"memcpy_mbyte_s", "memcpy MB/s", 0},
            {"encode_mbyte_s", "encode MB/s", 0},
            {"encode_to_memcpy", "encode × memcpy", 2},
            {"decode_mbyte_s", "decode MB/s", 0},
            {"decode_to_memcpy", "decode × memcpy", 2},
            {"swapped_mbyte_s", "swapped MB/s", 0},
            {"swapped_to_native", "swapped × native", 2},
            {"gather_mbyte_s", "in place MB/s", 0},
            {"view_mbyte_s", "view MB/s", 0}};
}

} // namespace kairos::bench
