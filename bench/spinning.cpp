// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench spinning`: what a null call takes, and what it takes of processors, by what a
// thread does that waits (-ORBSpin): on a machine with nothing else to do, and beside threads that
// never stop. Calls of blocking sockets beside them.
#include "bench/experiment.h"
#include "bench/process.h"
#include "bench/statistics.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <map>
#include <stop_token>
#include <thread>

namespace kairos::bench {
namespace {

/// Threads that want a processor each, for as long as this lives.
class BusyThreads {
  public:
    explicit BusyThreads(std::uint32_t count)
    {
        for (std::uint32_t i = 0; i < count; ++i)
            threads_.emplace_back([](const std::stop_token& stop) {
                std::atomic<unsigned> turns{0}; // this thread's alone: so that there is something
                while (!stop.stop_requested())
                    turns.fetch_add(1, std::memory_order_relaxed);
            });
    }

  private:
    std::vector<std::jthread> threads_;
};

/// One system's figures of all rounds, by how many threads were busy beside it.
using FiguresByLoad = std::map<std::uint32_t, std::vector<RunningSystem::Figures>>;

Row row_of(const System& system, std::uint32_t busy,
           const std::vector<RunningSystem::Figures>& mine,
           const std::vector<RunningSystem::Figures>* raw, const SpinningOptions& options,
           bool have_an_idle_processor)
{
    using enum Bar::Relation;
    Row row;
    row.system = system.name;
    row.variant = variant_of(system, options.pinning);
    row.direction = "twoway";
    row.payload_type = "null";
    row.set("busy", busy);
    for (const char* figure : {"p50_us", "mean_us", "cpu_us"})
        row.set(figure, median(values_of(mine, figure)));
    if (raw == nullptr) return row;
    row.set("ratio_to_raw", median_ratio(mine, *raw, "p50_us"));
    if (system.option == "auto" && busy == 0 && have_an_idle_processor)
        row.bars = {{"ratio_to_raw", at_most, 0.25}};
    return row;
}

} // namespace

Result<Report> run_spinning(const SpinningOptions& options)
{
    Report report{.experiment = "spinning", .rows = {}, .notes = {}, .needs = {}};
    auto started = start_contestants(options, 0, report);
    if (!started) return started.error();
    std::vector<Contestant>& contestants = *started;
    std::vector<Row> absent;
    absent.swap(report.rows);

    Exercise null{.direction = Direction::twoway, .calls = options.calls};
    const auto complete = with_message_bytes(null, contestants);
    if (!complete) return complete.error();
    null = *complete;

    const bool has_several_processors = usable_cpus().size() > 1;
    std::vector<FiguresByLoad> rounds(contestants.size());
    for (unsigned round = 0; round < options.rounds; ++round)
        for (std::size_t load = 0; load < options.busy.size(); ++load) {
            const double done =
                round + static_cast<double>(load) / static_cast<double>(options.busy.size());
            options.progress(done / options.rounds,
                             fmt::format("round {} of {}", round + 1, options.rounds));
            const BusyThreads beside(options.busy[load]);
            for (std::size_t i = 0; i < contestants.size(); ++i) {
                if (options.pinning == Pinning::free) contestants[i].running.put_apart();
                auto figures = time_calls(contestants[i].running, null);
                if (!figures) return figures.error();
                rounds[i][options.busy[load]].push_back(std::move(*figures));
            }
        }
    const auto raw = std::ranges::find(contestants, "raw", [](const Contestant& each) {
        return std::string_view(each.system.option);
    });
    const auto raw_at = static_cast<std::size_t>(raw - contestants.begin());
    for (std::size_t i = 0; i < contestants.size(); ++i)
        for (const auto& [busy, mine] : rounds[i])
            report.rows.push_back(
                row_of(contestants[i].system, busy, mine,
                       raw == contestants.end() ? nullptr : &rounds[raw_at].at(busy), options,
                       options.pinning == Pinning::free && has_several_processors));
    report.rows.insert(report.rows.end(), absent.begin(), absent.end());
    for (Contestant& contestant : contestants)
        if (auto ended = contestant.running.finish(); !ended) return ended.error();
    report.notes.push_back(fmt::format(
        "Medians of {} interleaved rounds of {} null calls; both processes begin on processors of "
        "their own, and may go where they like (pin=free). Busy: threads beside them that never "
        "stop. CPU: what both sides take of processors, for each call. × raw: p50 against blocking "
        "sockets with as many busy threads, within a round.",
        options.rounds, options.calls));
    return report;
}

std::vector<Column> spinning_columns()
{
    return {{"busy", "busy", 0},
            {"p50_us", "p50 µs", 2},
            {"mean_us", "mean µs", 2},
            {"cpu_us", "CPU µs", 2},
            {"ratio_to_raw", "× raw", 2}};
}

} // namespace kairos::bench
