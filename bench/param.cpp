// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench param`: Param_Test of the paper on the IIOP engine, section IV-D. Calls a second
// for each way of marshalling; the marshalling alone, by role, as its table XIII; and the heap
// allocations of a call beside those that the C++ mapping obliges the application to own.
#include "bench/call_counts.h"
#include "bench/experiment.h"
#include "bench/statistics.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kairos::bench {
namespace {

using Figures = RunningSystem::Figures;

/// What one system answered for one operation, round by round.
struct ParamSamples {
    std::vector<Figures> rounds;

    [[nodiscard]] double median_of(const std::string& figure) const
    {
        std::vector<double> values;
        for (const Figures& round : rounds)
            values.push_back(round.at(figure));
        return median(std::move(values));
    }
    /// How fast this is against `other`: the times of a round against each other, then the median.
    [[nodiscard]] double speed_against(const ParamSamples& other, const std::string& time) const
    {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < std::min(rounds.size(), other.rounds.size()); ++i)
            if (rounds[i].at(time) > 0)
                ratios.push_back(other.rounds[i].at(time) / rounds[i].at(time));
        return median(std::move(ratios));
    }
};

/// By operation, then by contestant.
using AllSamples = std::vector<std::vector<ParamSamples>>;

Row row_for(const System& system, const ParamOptions& options, Payload payload)
{
    Row row = absent_row(system, options, {});
    row.payload_type = name_of(payload);
    row.payload_bytes = unit_bytes(payload);
    return row;
}

bool has_sequences(Payload payload)
{
    return payload == Payload::strseq || payload == Payload::var_struct ||
           payload == Payload::nested_struct || payload == Payload::struct_seq;
}

const ParamSamples* samples_of(const std::vector<System>& systems,
                               const std::vector<ParamSamples>& samples, const std::string& option)
{
    for (std::size_t i = 0; i < systems.size(); ++i)
        if (systems[i].option == option) return &samples[i];
    return nullptr;
}

void set_ratios(Row& row, const std::vector<System>& systems,
                const std::vector<ParamSamples>& samples, std::size_t mine, const std::string& time)
{
    for (const auto& [option, figure] :
         {std::pair{"kairos", "ratio_to_compiled"}, std::pair{"omniorb", "ratio_to_omniorb"}}) {
        const ParamSamples* other = samples_of(systems, samples, option);
        if (other != nullptr && other != &samples[mine] && systems[mine].name == "kairos")
            row.set(figure, samples[mine].speed_against(*other, time));
    }
}

// --- Calls ---------------------------------------------------------------------------------------

void add_call_rows(Report& report, const ParamOptions& options, const std::vector<System>& systems,
                   const AllSamples& samples)
{
    const auto payloads = param_payloads();
    for (std::size_t row = 0; row < payloads.size(); ++row)
        for (std::size_t i = 0; i < systems.size(); ++i) {
            const System& system = systems[i];
            Row call = row_for(system, options, payloads[row]);
            call.direction = "twoway";
            call.set("calls_per_s", 1e6 / samples[row][i].median_of("mean_us"));
            call.set("p50_us", samples[row][i].median_of("p50_us"));
            set_ratios(call, systems, samples[row], i, "mean_us");
            if (system.option == "kairos-interpretive")
                call.bars = {{"ratio_to_compiled", Bar::Relation::at_least, 0.95}};
            report.rows.push_back(std::move(call));
        }
}

Result<void> measure_calls(Report& report, const ParamOptions& options, std::vector<Row>& absent)
{
    Report start_report;
    auto started = start_contestants(options, 0, start_report);
    if (!started) return started.error();
    absent = std::move(start_report.rows);
    const auto payloads = param_payloads();
    AllSamples samples(payloads.size(), std::vector<ParamSamples>(started->size()));
    for (unsigned round = 0; round < options.rounds; ++round)
        for (std::size_t row = 0; row < payloads.size(); ++row) {
            options.progress(0.7 * round / options.rounds,
                             fmt::format("calls, round {} of {}", round + 1, options.rounds));
            const Exercise exercise{.payload = payloads[row], .units = 1, .calls = options.calls};
            for (std::size_t i = 0; i < started->size(); ++i) {
                auto figures = (*started)[i].running.order(Verb::latency, exercise);
                if (!figures) return figures.error();
                samples[row][i].rounds.push_back(std::move(*figures));
            }
        }
    std::vector<System> systems;
    for (const Contestant& contestant : *started)
        systems.push_back(contestant.system);
    add_call_rows(report, options, systems, samples);
    for (Contestant& contestant : *started)
        if (auto ended = contestant.running.finish(); !ended) return ended.error();
    return {};
}

// --- Marshalling alone ---------------------------------------------------------------------------

struct ParamMarshaller {
    System system;
    RunningProgram running;
};

struct Role {
    const char* side;
    const char* direction;
    const char* figure;
};
constexpr std::array<Role, 5> roles{{
    {"client", "marshal", "client_marshal_ns"},
    {"client", "demarshal", "client_demarshal_ns"},
    {"server", "marshal", "server_marshal_ns"},
    {"server", "demarshal", "server_demarshal_ns"},
    {"both", "marshal", "all_ns"},
}};

Figures with_sum(Figures figures)
{
    double sum = 0;
    for (const auto& [name, value] : figures)
        sum += value;
    figures["all_ns"] = sum;
    return figures;
}

void add_marshal_rows(Report& report, const ParamOptions& options,
                      const std::vector<System>& systems, const AllSamples& samples)
{
    const auto payloads = param_payloads();
    for (std::size_t row = 0; row < payloads.size(); ++row)
        for (const Role& role : roles)
            for (std::size_t i = 0; i < systems.size(); ++i) {
                Row alone = row_for(systems[i], options, payloads[row]);
                alone.variant = systems[i].architecture;
                alone.direction = role.direction;
                alone.side = role.side;
                alone.set("marshal_ns", samples[row][i].median_of(role.figure));
                set_ratios(alone, systems, samples[row], i, role.figure);
                // Judged over all roles: one alone may take but a few nanoseconds.
                const bool judged = std::string_view(role.side) == "both" &&
                                    systems[i].option == "kairos-interpretive";
                if (judged && payloads[row] == Payload::fixed_struct)
                    alone.bars = {{"ratio_to_compiled", Bar::Relation::at_least, 0.75}};
                if (judged && has_sequences(payloads[row]))
                    alone.bars = {{"ratio_to_compiled", Bar::Relation::at_least, 1.0}};
                report.rows.push_back(std::move(alone));
            }
}

/// So many that they take about the wanted time; asked of the first program.
Result<std::uint32_t> times_for(ParamMarshaller& marshaller, Payload payload, double wanted_ms)
{
    auto figures =
        marshaller.running.order(Verb::roles, {.payload = payload, .units = 1, .calls = 200});
    if (!figures) return figures.error();
    const double longest_ns =
        std::max_element(figures->begin(), figures->end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
        })->second;
    return static_cast<std::uint32_t>(
        std::clamp(wanted_ms * 1e6 / std::max(longest_ns, 1.0), 50.0, 200'000.0));
}

/// Those of the chosen systems that can be asked without calls.
std::vector<System> marshalling_systems(const ParamOptions& options)
{
    std::vector<System> systems;
    for (const System& system : marshal_systems()) {
        const bool chosen =
            std::any_of(options.systems.begin(), options.systems.end(),
                        [&](const System& candidate) { return candidate.option == system.option; });
        if (chosen && installed(system, options.program_directory)) systems.push_back(system);
    }
    return systems;
}

Result<std::vector<ParamMarshaller>> start_marshallers(const std::vector<System>& systems,
                                                       const ParamOptions& options)
{
    std::vector<ParamMarshaller> marshallers;
    for (const System& system : systems) {
        auto running = RunningProgram::start(system, options.program_directory);
        if (!running) return running.error();
        marshallers.push_back({system, std::move(*running)});
    }
    return marshallers;
}

/// One round of every operation. `times`: of each, found in the first round. Every other round goes
/// the other way about: whoever comes second finds the machine awake.
Result<void> marshal_once(std::vector<ParamMarshaller>& marshallers, const ParamOptions& options,
                          unsigned round, std::vector<std::uint32_t>& times, AllSamples& samples)
{
    const auto payloads = param_payloads();
    for (std::size_t row = 0; row < payloads.size(); ++row) {
        if (times.size() == row) {
            const auto found = times_for(marshallers[0], payloads[row], options.marshal_ms);
            if (!found) return found.error();
            times.push_back(*found);
        }
        const Exercise exercise{.payload = payloads[row], .units = 1, .calls = times[row]};
        for (std::size_t turn = 0; turn < marshallers.size(); ++turn) {
            const std::size_t i = round % 2 == 0 ? turn : marshallers.size() - 1 - turn;
            auto figures = marshallers[i].running.order(Verb::roles, exercise);
            if (!figures) return figures.error();
            samples[row][i].rounds.push_back(with_sum(std::move(*figures)));
        }
    }
    return {};
}

/// Every round in new programs: where code and data happen to lie makes one of two equal programs
/// faster by a few per cent for as long as it runs, and it takes many of them to see which is
/// equal.
Result<void> measure_marshalling(Report& report, const ParamOptions& options)
{
    const unsigned rounds = 4 * options.rounds;
    const std::vector<System> systems = marshalling_systems(options);
    if (systems.empty()) return {};
    AllSamples samples(param_payloads().size(), std::vector<ParamSamples>(systems.size()));
    std::vector<std::uint32_t> times;
    for (unsigned round = 0; round < rounds; ++round) {
        options.progress(0.7 + 0.2 * round / rounds, "marshalling alone");
        auto marshallers = start_marshallers(systems, options);
        if (!marshallers) return marshallers.error();
        if (auto done = marshal_once(*marshallers, options, round, times, samples); !done)
            return done.error();
        for (ParamMarshaller& marshaller : *marshallers)
            if (auto ended = marshaller.running.finish(); !ended) return ended.error();
    }
    add_marshal_rows(report, options, systems, samples);
    return {};
}

// --- Heap ----------------------------------------------------------------------------------------

/// The allocations that a value of the type consists of, beside the value itself: every string is
/// one (CORBA::string_alloc), and so is every sequence's buffer (allocbuf).
struct Content {
    int strings = 0;
    int buffers = 0;
};

Content content_of(Payload payload)
{
    constexpr int elements = 9;
    constexpr Content strseq{elements, 1};
    constexpr Content var_struct{2 + strseq.strings, strseq.buffers};
    switch (payload) {
    case Payload::ubstring:
        return {1, 0};
    case Payload::strseq:
        return strseq;
    case Payload::var_struct:
    case Payload::nested_struct:
        return var_struct;
    case Payload::struct_seq:
        return {elements * var_struct.strings, 1 + elements * var_struct.buffers};
    default:
        return {};
    }
}

/// What the mapping obliges somebody to own, by its rules of parameter passing (C++ mapping 1.3,
/// 5.22): a result or out of variable length is an object of the heap, an inout is replaced in
/// place, where its buffers have the room already; an `in` obliges to nothing. The servant's own
/// copies are the server's part, too.
Sides<int> obliged(Payload payload)
{
    const Content content = content_of(payload);
    const int all = content.strings + content.buffers;
    const bool object = has_sequences(payload); // a string is its own object
    const int returned = all + (object ? 1 : 0);
    const int inout_arrives = all;
    const int inout_replaced = content.strings;
    return {.client = returned + inout_replaced + returned,
            .server = inout_arrives + inout_replaced + returned + returned};
}

Result<void> count_heap(Report& report, const ParamOptions& options)
{
    std::vector<Exercise> exercises;
    for (const Payload payload : param_payloads())
        exercises.push_back({.payload = payload, .units = 1});
    for (const System& system : options.systems) {
        if (!installed(system, options.program_directory)) continue;
        options.progress(0.95, "counting the heap of " + system.option);
        auto counted =
            count_calls(system, options, options.counted_calls, exercises, CountingMethod::preload);
        if (!counted) return counted.error();
        for (std::size_t i = 0; i < exercises.size(); ++i) {
            const Sides<int> duty = obliged(exercises[i].payload);
            const Sides<Counts>& counts = (*counted)[i];
            for (const auto& [side, count, owed] :
                 {std::tuple{"client", counts.client.allocations, duty.client},
                  std::tuple{"server", counts.server.allocations, duty.server}}) {
                Row row = row_for(system, options, exercises[i].payload);
                row.direction = "twoway";
                row.side = side;
                const double per_call = static_cast<double>(count) / options.counted_calls;
                row.set("allocations_per_call", per_call);
                row.set("allocations_obliged", owed);
                row.set("allocations_beyond", per_call - owed);
                if (system.name == "kairos")
                    row.bars = {{"allocations_beyond", Bar::Relation::at_most, 0}};
                report.rows.push_back(std::move(row));
            }
        }
    }
    return {};
}

} // namespace

Result<Report> run_param(const ParamOptions& options)
{
    Report report{.experiment = "param",
                  .rows = {},
                  .notes = {},
                  .needs = {{"ratio_to_compiled"}, {"allocations_beyond"}}};
    std::vector<Row> absent;
    if (auto done = measure_calls(report, options, absent); !done) return done.error();
    if (auto done = measure_marshalling(report, options); !done) return done.error();
    if (options.counted_calls > 0)
        if (auto done = count_heap(report, options); !done) return done.error();
    report.rows.insert(report.rows.end(), absent.begin(), absent.end());
    report.notes.push_back(fmt::format(
        "Bytes: the CDR of one parameter; a call sends two and is answered with three. Medians of "
        "{} interleaved rounds of {} calls, of marshalling alone four times as many; ratios are "
        "speeds, taken within a round: above 1 is "
        "faster.",
        options.rounds, options.calls));
    report.notes.push_back(
        "Marshalling alone: in one process, a new one each round, without messages' headers and "
        "without calls; both: all four roles of a call together.");
    report.notes.push_back(
        "Obliged allocations: each string one, each sequence's buffer one, each result or out of "
        "variable length one more for itself. Client: result, out, the strings of the inout it "
        "gets back. Server: the inout that arrives; and what its servant copies: result, out, the "
        "strings of the inout. Beyond: what is counted less that.");
    return report;
}

std::vector<Column> param_columns()
{
    return {{"calls_per_s", "calls/s", 0},         {"p50_us", "p50 µs", 2},
            {"marshal_ns", "marshalling ns", 1},   {"ratio_to_compiled", "× compiled", 2},
            {"ratio_to_omniorb", "× omniORB", 2},  {"allocations_per_call", "allocations", 2},
            {"allocations_obliged", "obliged", 0}, {"allocations_beyond", "beyond", 2}};
}

} // namespace kairos::bench
