// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/sched_report.h"

#include "kairos/sched/time_text.h"
#include "tools/kairos/names.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace kairos::tools {
namespace {

using sched::Analysis;
using sched::OperationIndex;
using sched::Policy;
using sched::Task;
using sched::Time;
using sched::to_text;
using sched::Verdict;

using Cells = std::vector<std::string>;

/// Columns on a terminal: code points, not bytes.
std::size_t width_of(std::string_view text)
{
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// The first column is flush left, all others flush right, but for the last.
std::string aligned(const std::vector<Cells>& rows)
{
    std::vector<std::size_t> widths(rows.front().size());
    for (const Cells& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], width_of(row[i]));
    std::string text;
    for (const Cells& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string space(widths[i] - width_of(row[i]), ' ');
            const bool left = i == 0 || i + 1 == row.size();
            line += (i == 0 ? "" : "  ") + (left ? row[i] + space : space + row[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

std::string verdict_text(const SchedReport& report, std::size_t task)
{
    const Verdict verdict = shown_verdict(report, task);
    const auto response = shown_response(report, task);
    const Time deadline = report.analysis.tasks[task].deadline;
    switch (verdict) {
    case Verdict::meets:
        return "meets its deadline";
    case Verdict::misses:
        return response && *response > deadline ? "MISSES by " + to_text(*response - deadline)
                                                : "MISSES";
    case Verdict::unbounded:
        return "MISSES, later and later";
    case Verdict::undecided:
        return "not guaranteed";
    }
    return "";
}

Cells row_of(const SchedReport& report, std::size_t i)
{
    const Task& task = report.analysis.tasks[i];
    const auto response = shown_response(report, i);
    const bool is_partial = shown_verdict(report, i) == Verdict::unbounded;
    return {shown(task.name),
            to_text(task.period),
            to_text(task.execution),
            std::string(name_of(task.criticality)),
            fmt::format("{}.{}", task.priority.level, task.priority.sub),
            std::to_string(task.priority.os_priority),
            response ? (is_partial ? ">= " : "") + to_text(*response) : "-",
            to_text(task.deadline),
            response && !is_partial ? to_text(task.deadline - *response) : "-",
            verdict_text(report, i)};
}

/// Operations that run within their callers.
std::string render_called(const SchedReport& report)
{
    std::string text;
    const auto& operations = report.analysis.operations;
    for (OperationIndex i = 0; i < operations.size(); ++i) {
        if (!operations[i].releases.empty()) continue;
        std::string callers;
        for (const OperationIndex caller : operations[i].callers)
            callers += (callers.empty() ? "" : ", ") + shown((*report.set)[caller].name);
        text +=
            fmt::format("{}: {} within {}, every {}\n", shown((*report.set)[i].name),
                        to_text(operations[i].execution), callers, to_text(operations[i].period));
    }
    return text;
}

std::string render_collapses(const Analysis& analysis)
{
    std::string text;
    for (const sched::Collapse& collapse : analysis.collapses) {
        std::string names;
        for (const std::size_t task : collapse.tasks)
            names += (names.empty() ? "" : ", ") + shown(analysis.tasks[task].name);
        text += fmt::format("priority {} is shared, for there are too few: {}; none of these "
                            "preempts another\n",
                            collapse.os_priority, names);
    }
    return text;
}

std::string render_bounds(const Analysis& analysis)
{
    if (!analysis.bounds_apply) return "";
    const auto outcome = [](bool within) {
        return within ? "within, which is enough" : "above, which proves nothing";
    };
    return fmt::format("Liu-Layland bound: {:.2f} % of {:.2f} %, {}\n"
                       "hyperbolic bound: {:.4f} of 2, {}\n",
                       analysis.utilisation * 100, analysis.liu_layland * 100,
                       outcome(analysis.utilisation <= analysis.liu_layland), analysis.hyperbolic,
                       outcome(analysis.hyperbolic <= 2));
}

std::string render_summary(const SchedReport& report)
{
    const Analysis& analysis = report.analysis;
    std::string text = fmt::format("utilisation: {:.2f} %", analysis.utilisation * 100);
    if (report.typical_utilisation)
        text += fmt::format(", typically {:.2f} %", *report.typical_utilisation * 100);
    text += '\n' + render_bounds(analysis);
    text += "hyperperiod: " +
            (analysis.hyperperiod ? to_text(*analysis.hyperperiod) : "more than 366 days") + '\n';
    for (const std::string& note : analysis.notes)
        text += note + '\n';
    if (!report.no_time_line.empty()) text += "no time line: " + report.no_time_line + '\n';
    return text + (analysis.schedulable ? "schedulable" : "NOT schedulable") + " under " +
           std::string(name_of(analysis.policy)) + '\n';
}

nlohmann::ordered_json json_of(const std::optional<Time>& time)
{
    return time ? nlohmann::ordered_json(time->count()) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json json_of_task(const SchedReport& report, std::size_t i)
{
    const Task& task = report.analysis.tasks[i];
    const auto response = shown_response(report, i);
    nlohmann::ordered_json json{
        {"name", task.name},
        {"operation", (*report.set)[task.operation].name},
        {"period_ns", task.period.count()},
        {"execution_ns", task.execution.count()},
        {"deadline_ns", task.deadline.count()},
        {"blocking_ns", task.blocking.count()},
        {"criticality", name_of(task.criticality)},
        {"importance", name_of(task.importance)},
        {"level", task.priority.level},
        {"sub_priority", task.priority.sub},
        {"os_priority", task.priority.os_priority},
        {"response_ns", json_of(response)},
        {"response_is_proven", report.analysis.responses[i].worst.has_value()},
        {"verdict", name_of(shown_verdict(report, i))}};
    json["slack_ns"] = response ? nlohmann::ordered_json((task.deadline - *response).count())
                                : nlohmann::ordered_json(nullptr);
    if (!report.time_line) return json;
    const sched::TaskRecord& record = report.time_line->tasks[i];
    json["played"] = {{"jobs", record.jobs},
                      {"misses", record.misses},
                      {"worst_response_ns", record.worst_response.count()},
                      {"worst_lateness_ns", record.worst_lateness.count()},
                      {"preemptions", record.preemptions}};
    return json;
}

nlohmann::ordered_json json_of_slices(const SchedReport& report)
{
    constexpr std::size_t slices_max = 200'000; // a reader has them all in its memory
    Time until = report.drawn;
    auto slices = nlohmann::ordered_json::array();
    for (const sched::Slice& slice : report.time_line->slices) {
        if (slices.size() == slices_max) until = std::min(until, slice.begin);
        if (slice.begin >= until) break;
        slices.push_back({{"task", report.analysis.tasks[slice.task].name},
                          {"job", slice.job},
                          {"begin_ns", slice.begin.count()},
                          {"end_ns", slice.end.count()}});
    }
    return {{"end_ns", report.time_line->end.count()},
            {"idle_ns", report.time_line->idle.count()},
            {"slices_until_ns", until.count()},
            {"slices", std::move(slices)}};
}

} // namespace

std::optional<Time> shown_response(const SchedReport& report, std::size_t task)
{
    const sched::Response& response = report.analysis.responses[task];
    if (response.worst || response.verdict == Verdict::unbounded) return response.worst;
    if (!report.time_line) return std::nullopt;
    const sched::TaskRecord& record = report.time_line->tasks[task];
    if (record.misses == 0)
        return record.completed > 0 ? std::optional(record.worst_response) : std::nullopt;
    // A job that never ended is late by so much at least.
    return std::max(record.worst_response,
                    report.analysis.tasks[task].deadline + record.worst_lateness);
}

Verdict shown_verdict(const SchedReport& report, std::size_t task)
{
    const Verdict verdict = report.analysis.responses[task].verdict;
    const bool missed = report.time_line && report.time_line->tasks[task].misses > 0;
    return verdict == Verdict::undecided && missed ? Verdict::misses : verdict;
}

std::string render_table(const SchedReport& report)
{
    const Analysis& analysis = report.analysis;
    // What no analysis bounds was only seen.
    const bool seen = !is_static(analysis.policy);
    std::vector<Cells> rows{{"operation", "period", "wcet", "criticality", "priority", "os",
                             seen ? "worst seen" : "response", "deadline", "slack", ""}};
    for (std::size_t i = 0; i < analysis.tasks.size(); ++i)
        rows.push_back(row_of(report, i));
    return report.title + "\n\n" + aligned(rows) + '\n' + render_called(report) +
           render_collapses(analysis) + render_summary(report);
}

nlohmann::ordered_json to_json(const SchedReport& report)
{
    const Analysis& analysis = report.analysis;
    nlohmann::ordered_json json{
        {"policy", name_of(analysis.policy)},
        {"schedulable", analysis.schedulable},
        {"utilisation", analysis.utilisation},
        {"hyperperiod_ns", json_of(analysis.hyperperiod)},
        {"bounds_apply", analysis.bounds_apply},
        {"liu_layland_bound", analysis.liu_layland},
        {"hyperbolic_product", analysis.hyperbolic},
        {"priorities",
         {{"lowest", report.priorities.lowest}, {"highest", report.priorities.highest}}},
    };
    if (report.typical_utilisation) json["typical_utilisation"] = *report.typical_utilisation;
    json["tasks"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < analysis.tasks.size(); ++i)
        json["tasks"].push_back(json_of_task(report, i));
    json["shared_priorities"] = nlohmann::ordered_json::array();
    for (const sched::Collapse& collapse : analysis.collapses) {
        auto names = nlohmann::ordered_json::array();
        for (const std::size_t task : collapse.tasks)
            names.push_back(analysis.tasks[task].name);
        json["shared_priorities"].push_back(
            {{"os_priority", collapse.os_priority}, {"tasks", std::move(names)}});
    }
    json["notes"] = analysis.notes;
    if (report.time_line) json["time_line"] = json_of_slices(report);
    return json;
}

} // namespace kairos::tools
