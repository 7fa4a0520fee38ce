// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench ttcp`: bulk transfer of user data, from the first send until the receiver has
// acknowledged having everything. Sockets move the buffer alone; ORBs move it as typed arguments.
#include "bench/experiment.h"

#include "bench/statistics.h"

#include <algorithm>
#include <fmt/format.h>

namespace kairos::bench {
namespace {

/// One point of one system: what it does and what came out, round by round.
struct Point {
    std::size_t contestant = 0;
    Exercise exercise;
    std::uint32_t buffer = 0;
    std::vector<double> throughput; ///< MB/s, by round
};

std::uint32_t calls_for(const Exercise& exercise, const TtcpOptions& options)
{
    const std::uint64_t bytes = std::max<std::uint64_t>(payload_bytes(exercise), 1);
    const std::uint64_t wanted = (options.megabytes * 1'048'576 + bytes - 1) / bytes;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, 1, options.calls_max));
}

Exercise exercise_for(Payload payload, Direction direction, std::uint32_t buffer,
                      const TtcpOptions& options)
{
    Exercise exercise{.direction = direction, .payload = payload};
    exercise.units = std::max(buffer / unit_bytes(payload), 1u);
    exercise.calls = calls_for(exercise, options);
    return exercise;
}

/// Sockets send the buffer and, in a twoway transfer, answer with as much as an ORB's empty reply.
Exercise for_sockets(Exercise exercise)
{
    exercise.request_bytes = static_cast<std::uint32_t>(payload_bytes(exercise));
    exercise.reply_bytes =
        exercise.direction == Direction::oneway ? 0 : with_estimated_bytes(exercise).reply_bytes;
    return exercise;
}

std::vector<Point> points_of(const TtcpOptions& options, const std::vector<Contestant>& contestants)
{
    std::vector<Point> points;
    for (const Direction direction : options.directions)
        for (const std::uint32_t buffer : options.buffers)
            for (std::size_t i = 0; i < contestants.size(); ++i) {
                if (!contestants[i].system.orb) {
                    const Exercise octets =
                        exercise_for(Payload::octet, direction, buffer, options);
                    points.push_back({i, for_sockets(octets), buffer, {}});
                    continue;
                }
                for (const Payload payload : options.payloads)
                    points.push_back(
                        {i, exercise_for(payload, direction, buffer, options), buffer, {}});
            }
    return points;
}

/// The point of a system, direction and buffer that another is compared with.
const Point* find_point(const std::vector<Point>& points, std::size_t contestant, Payload payload,
                        const Point& like)
{
    for (const Point& point : points)
        if (point.contestant == contestant && point.exercise.payload == payload &&
            point.buffer == like.buffer && point.exercise.direction == like.exercise.direction)
            return &point;
    return nullptr;
}

double median_ratio(const Point& mine, const Point& other)
{
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(mine.throughput.size(), other.throughput.size()); ++i)
        if (other.throughput[i] > 0) ratios.push_back(mine.throughput[i] / other.throughput[i]);
    return median(std::move(ratios));
}

void set_bars(Row& row, const System& system, const Point& point)
{
    if (system.name != "kairos") return;
    constexpr std::uint32_t from = 8 * 1024;
    const Payload payload = point.exercise.payload;
    if (payload == Payload::octet && point.buffer >= from &&
        point.exercise.direction == Direction::oneway)
        row.bars.push_back({"ratio_to_raw", Bar::Relation::at_least, 0.95});
    if (payload == Payload::bin_struct && point.buffer >= from)
        row.bars.push_back({"ratio_to_octets", Bar::Relation::at_least, 0.80});
    if (payload == Payload::strings && point.buffer == 64 * 1024)
        row.bars.push_back({"ratio_to_octets", Bar::Relation::at_least, 0.30});
}

void add_rows(Report& report, const std::vector<Point>& points,
              const std::vector<Contestant>& contestants, std::uint32_t queue,
              const TtcpOptions& options)
{
    std::size_t raw = contestants.size();
    for (std::size_t i = 0; i < contestants.size(); ++i)
        if (contestants[i].system.option == "raw") raw = i;
    for (const Point& point : points) {
        const System& system = contestants[point.contestant].system;
        const Exercise& exercise = point.exercise;
        Row row;
        row.system = system.name;
        row.variant = variant_of(system, options.pinning, size_name(queue));
        row.direction = name_of(exercise.direction);
        row.payload_type = name_of(exercise.payload);
        row.payload_bytes = payload_bytes(exercise);
        row.set("buffer_bytes", point.buffer);
        row.set("socket_queue_bytes", queue);
        row.set("throughput_mbyte_s", median(point.throughput));
        row.set("transferred_mbyte",
                static_cast<double>(row.payload_bytes) * exercise.calls / 1'000'000);
        if (const Point* other = find_point(points, raw, Payload::octet, point))
            row.set("ratio_to_raw", median_ratio(point, *other));
        const Point* octets = find_point(points, point.contestant, Payload::octet, point);
        if (system.orb && octets != nullptr && octets != &point)
            row.set("ratio_to_octets", median_ratio(point, *octets));
        set_bars(row, system, point);
        report.rows.push_back(std::move(row));
    }
}

Result<void> run_queue(Report& report, std::size_t queue_index, const TtcpOptions& options,
                       std::vector<Row>& absent)
{
    const std::uint32_t queue = options.queues[queue_index];
    Report start_report;
    auto started = start_contestants(options, queue, start_report);
    if (!started) return started.error();
    absent = std::move(start_report.rows);
    std::vector<Contestant>& contestants = *started;
    std::vector<Point> points = points_of(options, contestants);
    for (unsigned round = 0; round < options.rounds; ++round)
        for (std::size_t i = 0; i < points.size(); ++i) {
            Point& point = points[i];
            const double part =
                (round + static_cast<double>(i) / static_cast<double>(points.size()));
            options.progress((static_cast<double>(queue_index) + part / options.rounds) /
                                 static_cast<double>(options.queues.size()),
                             fmt::format("queue {}, round {} of {}, {} {} {}", size_name(queue),
                                         round + 1, options.rounds,
                                         contestants[point.contestant].system.name,
                                         name_of(point.exercise.payload), size_name(point.buffer)));
            auto figures = contestants[point.contestant].running.order(Verb::ttcp, point.exercise);
            if (!figures) return figures.error();
            const double bytes = static_cast<double>(payload_bytes(point.exercise)) *
                                 static_cast<double>(point.exercise.calls);
            point.throughput.push_back(bytes / 1'000'000 / figures->at("seconds"));
        }
    add_rows(report, points, contestants, queue, options);
    for (Contestant& contestant : contestants)
        if (auto ended = contestant.running.finish(); !ended) return ended.error();
    return {};
}

} // namespace

Result<Report> run_ttcp(const TtcpOptions& options)
{
    Report report{.experiment = "ttcp", .rows = {}, .notes = {}};
    std::vector<Row> absent;
    for (std::size_t i = 0; i < options.queues.size(); ++i)
        if (auto run = run_queue(report, i, options, absent); !run) return run.error();
    report.rows.insert(report.rows.end(), absent.begin(), absent.end());
    report.notes.push_back(fmt::format(
        "User data, MB = 1,000,000 bytes; medians of {} interleaved rounds of {} MB or {} calls a "
        "point. × raw: against raw-tcp with the same buffer; × octets: against the same system's "
        "sequence of octet.",
        options.rounds, options.megabytes, options.calls_max));
    return report;
}

std::vector<Column> ttcp_columns()
{
    return {{"buffer_bytes", "buffer", 0},
            {"throughput_mbyte_s", "MB/s", 2},
            {"transferred_mbyte", "MB moved", 1},
            {"ratio_to_raw", "× raw", 2},
            {"ratio_to_octets", "× octets", 2}};
}

} // namespace kairos::bench
