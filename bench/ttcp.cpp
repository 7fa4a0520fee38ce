// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench ttcp`: bulk transfer of user data, from the first send until the receiver has
// acknowledged having everything. Sockets move the buffer alone; ORBs move it as typed arguments.
#include "bench/bars.h"
#include "bench/experiment.h"
#include "bench/statistics.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <optional>

namespace kairos::bench {
namespace {

/// Where systems and types are compared: points in the same place take turns.
struct Place {
    std::uint32_t queue = 0;
    Direction direction = Direction::oneway;
    std::uint32_t buffer = 0;
};

/// Whether bars are judged there. Where queues hold a segment or two, the two sides wait for each
/// other several times a message, and sockets themselves differ by a third from one connection to
/// the next; and what small buffers carry is latency's business.
bool queue_has_bars(std::uint32_t queue) { return queue == 0 || queue >= 64 * 1024; }
bool has_bars(const Place& place)
{
    return queue_has_bars(place.queue) && place.buffer >= 8 * 1024;
}

/// What a point of a place gets. Where a bar is judged noise decides about a verdict, elsewhere a
/// figure is wanted: a third of the data, which is still the papers' 64 MB, over two connections.
struct Effort {
    unsigned rounds = 1;
    unsigned connections = 1;
    std::uint64_t megabytes = 1;
};

Effort effort_of(const Place& place, const TtcpOptions& options)
{
    if (has_bars(place))
        return {options.rounds, std::clamp(options.connections, 1u, options.rounds),
                options.megabytes};
    const unsigned rounds = std::max(options.rounds / 3, 1u);
    return {rounds, std::min(2u, rounds), std::max<std::uint64_t>(options.megabytes / 3, 1)};
}

/// One point of one system: what it does and what came out, round by round. Its programs, and so
/// its connection, are its own, for TCP remembers: once messages of several sizes have gone over a
/// connection with small queues, a segment may not fit the window any more, and the sender waits
/// 200 ms at a time for its probe timer. That meets plain sockets as it meets ORBs, but whichever
/// sends more types over one connection meets it first. And it has several, one after the other,
/// because connections differ for as long as they live.
struct Point {
    System system;
    Exercise exercise;
    std::optional<RunningSystem> running;
    std::vector<double> throughput; ///< MB/s, by round
};

/// Of one round. Rounds are short and many, because what disturbs a machine lasts longer than one:
/// it meets either both of two systems that are compared or few rounds.
std::uint32_t calls_for(const Exercise& exercise, const Effort& effort, std::uint32_t calls_max)
{
    const std::uint64_t bytes = std::max<std::uint64_t>(payload_bytes(exercise), 1);
    const std::uint64_t wanted =
        std::min<std::uint64_t>((effort.megabytes * 1'048'576 + bytes - 1) / bytes, calls_max);
    return static_cast<std::uint32_t>(
        std::max<std::uint64_t>((wanted + effort.rounds - 1) / effort.rounds, 1));
}

Exercise exercise_for(Payload payload, const Place& place, const TtcpOptions& options)
{
    Exercise exercise{.direction = place.direction, .payload = payload};
    exercise.units = std::max(place.buffer / unit_bytes(payload), 1u);
    exercise.calls = calls_for(exercise, effort_of(place, options), options.calls_max);
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

/// Sockets move octets; an ORB moves every type that is asked for.
std::vector<Exercise> transfers_of(const System& system, const Place& place,
                                   const TtcpOptions& options)
{
    if (!system.orb) return {for_sockets(exercise_for(Payload::octet, place, options))};
    std::vector<Exercise> exercises;
    for (const Payload payload : options.payloads)
        exercises.push_back(exercise_for(payload, place, options));
    return exercises;
}

std::vector<Point> points_of(const std::vector<System>& systems, const Place& place,
                             const TtcpOptions& options)
{
    std::vector<Point> points;
    for (const System& system : systems)
        for (const Exercise& exercise : transfers_of(system, place, options))
            points.push_back({system, exercise, std::nullopt, {}});
    return points;
}

/// Gives every point programs and a connection of its own, new ones.
Result<void> start(std::vector<Point>& points, const Place& place, const TtcpOptions& options)
{
    for (Point& point : points) {
        auto running =
            RunningSystem::start(point.system, {.program_directory = options.program_directory,
                                                .pinning = options.pinning,
                                                .queue_bytes = place.queue,
                                                .server = {},
                                                .client = {}});
        if (!running) return running.error();
        point.running.emplace(std::move(*running));
    }
    return {};
}

/// The point of the same place that another is compared with.
const Point* find_point(const std::vector<Point>& points, const std::string& system,
                        Payload payload)
{
    for (const Point& point : points)
        if (point.system.option == system && point.exercise.payload == payload) return &point;
    return nullptr;
}

double median_ratio(const Point& mine, const Point& other)
{
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(mine.throughput.size(), other.throughput.size()); ++i)
        if (other.throughput[i] > 0) ratios.push_back(mine.throughput[i] / other.throughput[i]);
    return median(std::move(ratios));
}

void set_dynamic_bars(Row& row, const Point& point, const Place& place)
{
    if (place.direction != Direction::twoway || place.buffer != 128 * 1024) return;
    const bool structs = point.exercise.payload == Payload::bin_struct;
    if (point.system.option == "dsi" && structs)
        row.bars.push_back({"ratio_to_stubs", Bar::Relation::at_least, bars::dsi_structs});
    if (point.system.option == "dii-reused" && structs)
        row.bars.push_back({"ratio_to_stubs", Bar::Relation::at_least, bars::dii_structs});
    if (point.system.option == "dii-reused" && point.exercise.payload == Payload::octet)
        row.bars.push_back({"ratio_to_stubs", Bar::Relation::at_least, bars::dii_octets});
}

void set_ttcp_bars(Row& row, const Point& point, const Place& place)
{
    if (point.system.name != "kairos" || !has_bars(place)) return;
    const Payload payload = point.exercise.payload;
    if (row.figure("ratio_to_stubs")) return set_dynamic_bars(row, point, place);
    if (payload == Payload::octet && point.exercise.direction == Direction::oneway)
        row.bars.push_back(
            {"ratio_to_raw", Bar::Relation::at_least,
             point.system.by_datagrams ? bars::datagrams_to_raw : bars::octets_to_raw});
    if (payload == Payload::bin_struct)
        row.bars.push_back({"ratio_to_octets", Bar::Relation::at_least, bars::structs_to_octets});
    if (payload == Payload::strings && place.buffer == 64 * 1024)
        row.bars.push_back({"ratio_to_octets", Bar::Relation::at_least, bars::strings_to_octets});
}

void add_rows(Report& report, const std::vector<Point>& points, const Place& place,
              const TtcpOptions& options)
{
    for (const Point& point : points) {
        const Exercise& exercise = point.exercise;
        Row row;
        row.system = point.system.name;
        row.variant = variant_of(point.system, options.pinning, size_name(place.queue));
        row.direction = name_of(exercise.direction);
        row.payload_type = name_of(exercise.payload);
        row.payload_bytes = payload_bytes(exercise);
        row.set("buffer_bytes", place.buffer);
        row.set("socket_queue_bytes", place.queue);
        row.set("throughput_mbyte_s", median(point.throughput));
        row.set("transferred_mbyte", static_cast<double>(row.payload_bytes) * exercise.calls *
                                         effort_of(place, options).rounds / 1'000'000);
        if (const Point* raw = find_point(points, "raw", Payload::octet))
            row.set("ratio_to_raw", median_ratio(point, *raw));
        const Point* octets = find_point(points, point.system.option, Payload::octet);
        if (point.system.orb && octets != nullptr && octets != &point)
            row.set("ratio_to_octets", median_ratio(point, *octets));
        const bool dynamic = std::ranges::find(invocation_systems(), point.system.option,
                                               &System::option) != invocation_systems().end();
        const Point* stubs = find_point(points, "kairos", exercise.payload);
        if (dynamic && stubs != nullptr) row.set("ratio_to_stubs", median_ratio(point, *stubs));
        set_ttcp_bars(row, point, place);
        report.rows.push_back(std::move(row));
    }
}

std::vector<Place> places_of(const TtcpOptions& options)
{
    std::vector<Place> places;
    for (const std::uint32_t queue : options.queues)
        for (const Direction direction : options.directions)
            for (const std::uint32_t buffer : options.buffers)
                places.push_back({queue, direction, buffer});
    return places;
}

/// How much of the experiment is over, and what share of it one place is.
struct Part {
    double done = 0;
    double share = 1;
};

/// Untimed rounds of every point: at least one, and until `time` is over.
Result<void> warm_up(std::vector<Point>& points, std::chrono::milliseconds time)
{
    const auto end = std::chrono::steady_clock::now() + time;
    do
        for (Point& point : points)
            if (auto figures = point.running->order(Verb::ttcp, point.exercise); !figures)
                return figures.error();
    while (std::chrono::steady_clock::now() < end);
    return {};
}

/// The rounds from `first` on until `last`, over the connections that `points` have now.
Result<void> run_rounds(std::vector<Point>& points, const Place& place, const TtcpOptions& options,
                        Part part, unsigned first, unsigned last)
{
    const unsigned rounds = effort_of(place, options).rounds;
    const auto turns = static_cast<double>(points.size() * rounds);
    auto turn = static_cast<double>(points.size() * first);
    for (unsigned round = first; round < last; ++round)
        for (Point& point : points) {
            options.progress(part.done + part.share * turn++ / turns,
                             fmt::format("queue {}, {} {}, round {} of {}, {} {}",
                                         size_name(place.queue), name_of(place.direction),
                                         size_name(place.buffer), round + 1, rounds,
                                         point.system.name, name_of(point.exercise.payload)));
            auto figures = point.running->order(Verb::ttcp, point.exercise);
            if (!figures) return figures.error();
            const double bytes = static_cast<double>(payload_bytes(point.exercise)) *
                                 static_cast<double>(point.exercise.calls);
            point.throughput.push_back(bytes / 1'000'000 / figures->at("seconds"));
        }
    return {};
}

Result<void> run_place(Report& report, const std::vector<System>& systems, const Place& place,
                       const TtcpOptions& options, Part part)
{
    std::vector<Point> points = points_of(systems, place, options);
    const Effort effort = effort_of(place, options);
    for (unsigned i = 0; i < effort.connections; ++i) {
        if (auto started = start(points, place, options); !started) return started.error();
        if (auto warm = warm_up(points, options.warm_up); !warm) return warm.error();
        const unsigned first = effort.rounds * i / effort.connections;
        const unsigned last = effort.rounds * (i + 1) / effort.connections;
        if (auto run = run_rounds(points, place, options, part, first, last); !run)
            return run.error();
        for (Point& point : points)
            if (auto ended = point.running->finish(); !ended) return ended.error();
    }
    add_rows(report, points, place, options);
    return {};
}

void add_notes(Report& report, const TtcpOptions& options)
{
    report.notes.push_back(fmt::format(
        "User data, MB = 1,000,000 bytes; medians of {} interleaved rounds over {} connections, {} "
        "MB or {} calls a point in all; where no bar is judged, a third of that over 2. × raw: "
        "against raw-tcp with the same buffer; × octets: "
        "against the same system's sequence of octet; both are medians of the ratios of a round. "
        "TCP's congestion control is Reno for every system. × stubs: Kairos without stubs or "
        "skeletons against Kairos with both.",
        options.rounds, options.connections, options.megabytes, options.calls_max));
    if (!std::ranges::all_of(options.queues, queue_has_bars))
        report.notes.push_back("Socket queues under 64K have no bars. They hold a segment or two, "
                               "so both sides wait for each other several times a message; and "
                               "sockets themselves differ by a third between connections.");
    const bool small = std::ranges::any_of(options.buffers, [&](std::uint64_t buffer) {
        return buffer * options.calls_max < options.megabytes * 1'048'576;
    });
    if (small)
        report.notes.push_back(fmt::format(
            "A point is {} calls at most. So small buffers move less than {} MB, and one of 1 "
            "octet no more than {} units.",
            options.calls_max, options.megabytes, options.calls_max));
}

} // namespace

Result<Report> run_ttcp(const TtcpOptions& options)
{
    Report report{.experiment = "ttcp",
                  .rows = {},
                  .notes = {},
                  .needs = {{"ratio_to_raw", "octet"},
                            {"ratio_to_octets", "BinStruct"},
                            {"ratio_to_octets", "string32"}}};
    Report absent;
    const auto systems = installed_systems(options, absent);
    if (!systems) return systems.error();
    const std::vector<Place> places = places_of(options);
    const double share = 1.0 / static_cast<double>(places.size());
    for (std::size_t i = 0; i < places.size(); ++i)
        if (auto run = run_place(report, *systems, places[i], options,
                                 {static_cast<double>(i) * share, share});
            !run)
            return run.error();
    report.rows.insert(report.rows.end(), absent.rows.begin(), absent.rows.end());
    add_notes(report, options);
    return report;
}

std::vector<Column> ttcp_columns()
{
    return {{"buffer_bytes", "buffer", 0},        {"throughput_mbyte_s", "MB/s", 2},
            {"transferred_mbyte", "MB moved", 1}, {"ratio_to_raw", "× raw", 2},
            {"ratio_to_octets", "× octets", 2},   {"ratio_to_stubs", "× stubs", 2}};
}

} // namespace kairos::bench
