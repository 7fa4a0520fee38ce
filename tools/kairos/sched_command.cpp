// SPDX-License-Identifier: Apache-2.0
//
// `kairos sched FILE`: whether a set of operations meets its deadlines, and how it runs.
#include "bench/report.h"
#include "kairos/base/shown.h"
#include "kairos/sched/bounds.h"
#include "kairos/sched/time_text.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/sched_input.h"
#include "tools/kairos/sched_report.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

namespace kairos::tools {
namespace {

using sched::ExecutionTime;
using sched::Time;

constexpr int exit_schedulable = 0;
constexpr int exit_not_schedulable = 1;
constexpr int exit_wrong = 2; ///< the arguments, or the file
constexpr std::size_t terminal_width = 100;
/// A picture with more would be no picture.
constexpr std::size_t drawn_slices_max = 20'000;
constexpr std::int64_t drawn_jobs_max = 20'000;

struct SchedArguments {
    std::string file;
    std::vector<std::string> include_directories;
    std::string policy;
    std::string priorities;
    std::string until;
    std::string quantum;
    std::string svg;
    ExecutionTime time = ExecutionTime::worst_case;
    bool json = false;
};

/// What is wrong with the arguments or the file; the text goes to the user as it is.
struct Wrong {
    std::string text;
};

template <typename T>
T required(Result<T> result, const std::string& what)
{
    if (!result) throw Wrong{"kairos sched: " + what + ": " + result.error().reason + '\n'};
    return std::move(result).value();
}

SchedInput read(const SchedArguments& arguments)
{
    std::string errors;
    auto input = read_sched_input(arguments.file, arguments.include_directories, errors);
    if (!input) throw Wrong{errors};
    fmt::print(stderr, "{}", shown_lines(errors)); // warnings
    if (input->set.size() == 0)
        throw Wrong{arguments.file + ": error: there are no operations with timing\n"};
    return std::move(*input);
}

sched::AnalysisOptions options_of(const SchedArguments& arguments, const SchedInput& input)
{
    sched::AnalysisOptions options{.time = arguments.time};
    options.policy = input.policy.value_or(options.policy);
    if (!arguments.policy.empty()) options.policy = *sched::policy_named(arguments.policy);
    options.range = input.priorities.value_or(options.range);
    if (!arguments.priorities.empty()) {
        const auto range = parse_priorities(arguments.priorities);
        if (!range)
            throw Wrong{"kairos sched: --priorities: expected LOWEST-HIGHEST, such as 1-99\n"};
        options.range = *range;
    }
    return options;
}

sched::Analysis analyse(const SchedInput& input, const sched::AnalysisOptions& options,
                        const std::string& file)
{
    sched::OperationIndex culprit = input.set.size();
    auto analysis = sched::analyse(input.set, options, &culprit);
    if (analysis) return std::move(analysis).value();
    const std::string& place = culprit < input.set.size() ? input.places[culprit] : file;
    throw Wrong{place + ": error: " + analysis.error().reason + '\n'};
}

std::optional<double> typical_utilisation(const SchedInput& input)
{
    const bool known = std::ranges::any_of(
        input.set, [](const sched::RtInfo& info) { return info.typical_time > Time(0); });
    if (!known) return std::nullopt;
    const auto propagated = sched::propagate(input.set, ExecutionTime::typical);
    if (!propagated) return std::nullopt;
    const auto tasks = sched::make_tasks(input.set, *propagated);
    return tasks ? std::optional(sched::utilisation(*tasks)) : std::nullopt;
}

/// From when all are released until the least frequent has run, or as long as was asked for.
Time end_of_picture(const SchedArguments& arguments, const sched::Analysis& analysis)
{
    if (!arguments.until.empty()) return required(sched::parse_period(arguments.until), "--until");
    Time end{0};
    for (std::size_t i = 0; i < analysis.tasks.size(); ++i) {
        const sched::Task& task = analysis.tasks[i];
        const Time ends = analysis.responses[i].worst.value_or(task.deadline);
        end = std::max({end, task.period, std::min(ends, 2 * task.period)});
    }
    return end;
}

void play(const SchedArguments& arguments, SchedReport& report)
{
    const auto& tasks = report.analysis.tasks;
    const Time quantum = arguments.quantum.empty()
                             ? Time(0)
                             : required(sched::parse_period(arguments.quantum), "--quantum");
    report.drawn = end_of_picture(arguments, report.analysis);
    const sched::Policy policy = report.analysis.policy;
    // To the end of the hyperperiod, after which everything repeats; else what is drawn.
    const Time end = std::max(report.drawn, report.analysis.hyperperiod.value_or(Time(0)));
    auto line = sched::play(tasks, policy, end, quantum);
    if (!line) line = sched::play(tasks, policy, report.drawn, quantum);
    if (line)
        report.time_line = std::move(line).value();
    else
        report.no_time_line = line.error().reason + "; --until draws a part";
}

void draw(const SchedArguments& arguments, const SchedReport& report)
{
    if (arguments.svg.empty()) return;
    const auto refuse = [](const std::string& reason) {
        throw Wrong{"kairos sched: --svg: " + reason + '\n'};
    };
    if (!report.time_line) refuse(report.no_time_line);
    const auto drawn =
        std::ranges::lower_bound(report.time_line->slices, report.drawn, {}, &sched::Slice::begin) -
        report.time_line->slices.begin();
    std::int64_t jobs = 0; // of few enough for a time line
    for (const sched::Task& task : report.analysis.tasks)
        jobs += report.drawn / task.period + 1;
    if (static_cast<std::size_t>(drawn) > drawn_slices_max || jobs > drawn_jobs_max)
        refuse("too much happens in " + sched::to_text(report.drawn) +
               " for one picture; draw less with --until");
    const auto written = bench::write_file(arguments.svg, render_svg(report));
    if (!written) refuse(written.error().reason);
}

int run(const SchedArguments& arguments)
{
    const SchedInput input = read(arguments);
    const sched::AnalysisOptions options = options_of(arguments, input);
    SchedReport report{.title = arguments.file,
                       .set = &input.set,
                       .analysis = analyse(input, options, arguments.file),
                       .priorities = options.range,
                       .typical_utilisation = typical_utilisation(input),
                       .time_line = {},
                       .no_time_line = {}};
    play(arguments, report);
    draw(arguments, report);
    if (arguments.json) {
        fmt::print("{}\n",
                   to_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    } else {
        fmt::print("{}", shown_lines(render_table(report)));
        if (report.time_line)
            fmt::print("\n{}", shown_lines(render_time_line(report, terminal_width)));
    }
    return report.analysis.schedulable ? exit_schedulable : exit_not_schedulable;
}

} // namespace

void add_sched_command(CLI::App& app, int& status)
{
    auto arguments = std::make_shared<SchedArguments>();
    auto* sched = app.add_subcommand(
        "sched", "Say whether a set of operations meets its deadlines, and draw how it runs");
    sched
        ->add_option("file", arguments->file,
                     "The operations: a TOML file, or IDL (.idl) with timing annotations")
        ->required()
        ->type_name("FILE");
    sched->add_option("-I", arguments->include_directories, "Search files included by IDL in DIR")
        ->type_name("DIR")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    sched->add_option("--policy", arguments->policy, "How they are ordered; else as the file says")
        ->check(CLI::IsMember({"rms", "dms", "edf", "muf", "llf"}));
    sched->add_option("--priorities", arguments->priorities,
                      "Those of the operating system, LOWEST-HIGHEST (1-99)");
    const std::map<std::string, ExecutionTime> times{{"worst", ExecutionTime::worst_case},
                                                     {"typical", ExecutionTime::typical},
                                                     {"cached", ExecutionTime::cached}};
    sched->add_option("--time", arguments->time, "Which execution time: worst, typical or cached")
        ->transform(CLI::Transformer(times).description("{worst,typical,cached}"))
        ->type_name("KIND");
    sched->add_option("--until", arguments->until,
                      "Draw the time line until then, such as \"200 ms\" (the longest period)");
    sched->add_option("--quantum", arguments->quantum,
                      "How often LLF and MUF compare laxities while nothing else happens");
    sched->add_option("--svg", arguments->svg, "Draw the time line into FILE")->type_name("FILE");
    sched->add_flag("--json", arguments->json, "Print JSON, times in nanoseconds");
    sched->callback([arguments, &status] {
        try {
            status = run(*arguments);
        } catch (const Wrong& wrong) {
            fmt::print(stderr, "{}", shown_lines(wrong.text));
            status = exit_wrong;
        }
    });
}

} // namespace kairos::tools
