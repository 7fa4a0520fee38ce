// SPDX-License-Identifier: Apache-2.0
//
// The time line of `kairos sched`: characters for terminals, SVG for documents.
#include "kairos/sched/time_text.h"
#include "tools/kairos/names.h"
#include "tools/kairos/sched_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace kairos::tools {
namespace {

using sched::Slice;
using sched::Task;
using sched::Time;
using sched::to_text;

/// A job that is released before the end of the picture, until it ends or the picture does.
struct JobSpan {
    Time release{0};
    Time end{0};
    bool late = false;
};

std::vector<std::vector<JobSpan>> spans_of(const SchedReport& report)
{
    const auto& tasks = report.analysis.tasks;
    std::vector<std::vector<JobSpan>> spans(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i)
        for (Time release{0}; release < report.drawn; release += tasks[i].period)
            spans[i].push_back({.release = release,
                                .end = report.drawn,
                                .late = release + tasks[i].deadline < report.drawn});
    for (const Slice& slice : report.time_line->slices) {
        if (!slice.completes || slice.job >= spans[slice.task].size()) continue;
        JobSpan& span = spans[slice.task][slice.job];
        span.end = std::min(slice.end, report.drawn);
        span.late = slice.end > span.release + tasks[slice.task].deadline;
    }
    return spans;
}

/// How much of each column of the picture a task runs.
std::vector<std::vector<Time>> shares_of(const SchedReport& report, std::size_t columns,
                                         Time column)
{
    std::vector<std::vector<Time>> shares(report.analysis.tasks.size(), std::vector<Time>(columns));
    for (const Slice& slice : report.time_line->slices) {
        if (slice.begin >= report.drawn) break;
        for (auto i = static_cast<std::size_t>(slice.begin / column); i < columns; ++i) {
            const Time begin = static_cast<std::int64_t>(i) * column;
            if (begin >= slice.end) break;
            shares[slice.task][i] +=
                std::min(slice.end, begin + column) - std::max(slice.begin, begin);
        }
    }
    return shares;
}

/// 1, 2 or 5 times a power of ten, so that at most ten fit.
Time tick_of(Time drawn)
{
    for (std::int64_t power = 1;; power *= 10)
        for (const int factor : {1, 2, 5})
            if (drawn / (power * factor) <= Time(10)) return Time(power * factor);
}

/// Of two digits, so that all of the picture fits.
Time column_of(Time drawn, std::int64_t columns)
{
    const std::int64_t least = (drawn.count() + columns - 1) / columns;
    std::int64_t power = 1;
    while (least / power >= 100)
        power *= 10;
    return Time((least + power - 1) / power * power);
}

std::string escaped(std::string_view text)
{
    std::string result;
    for (const char c : shown(text)) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else
            result += c;
    }
    return result;
}

constexpr double label_width = 190;
constexpr double plot_width = 900;
constexpr double row_height = 34;
constexpr double bar_height = 16;
constexpr double top = 56;

class SvgTimeLine {
  public:
    explicit SvgTimeLine(const SchedReport& report)
        : report_(report), tasks_(report.analysis.tasks),
          bottom_(top + row_height * static_cast<double>(tasks_.size()))
    {
    }

    std::string draw()
    {
        open();
        draw_axis();
        const auto spans = spans_of(report_);
        for (std::size_t i = 0; i < tasks_.size(); ++i)
            draw_row(i, spans[i]);
        for (const Slice& slice : report_.time_line->slices)
            if (slice.begin < report_.drawn) draw_slice(slice);
        svg_ += "</svg>\n";
        return std::move(svg_);
    }

  private:
    [[nodiscard]] double x(Time time) const
    {
        return label_width + plot_width * static_cast<double>(time.count()) /
                                 static_cast<double>(report_.drawn.count());
    }
    [[nodiscard]] static double base(std::size_t row)
    {
        return top + row_height * (static_cast<double>(row) + 1) - 6;
    }
    [[nodiscard]] static std::string colour_of(std::size_t task)
    {
        // Hues apart by the golden angle: neighbours differ, however many there are. None is the
        // red of what is late.
        return fmt::format("hsl({:.0f},55%,55%)",
                           40 + std::fmod(170 + 137.5 * static_cast<double>(task), 290));
    }

    void open()
    {
        const double width = label_width + plot_width + 30;
        svg_ +=
            fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
                        "width=\"{:.0f}\" height=\"{:.0f}\" font-family=\"sans-serif\" "
                        "font-size=\"12\">\n",
                        width, bottom_ + 60, width, bottom_ + 60);
        svg_ += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
        text(label_width, 22, "start", report_.title, "font-size=\"15\"");
        text(label_width, 40, "start",
             "bar: runs; line: has to wait; upward mark: release; downward mark: deadline; red: "
             "late",
             "fill=\"#555\"");
    }

    void draw_axis()
    {
        const Time tick = tick_of(report_.drawn);
        for (Time time{0}; time <= report_.drawn; time += tick) {
            line(x(time), top, x(time), bottom_ + 4, "#ddd");
            text(x(time), bottom_ + 20, "middle", to_text(time), "");
        }
        text(label_width + plot_width / 2, bottom_ + 44, "middle",
             "time from the moment at which all are released together", "fill=\"#555\"");
    }

    void draw_row(std::size_t row, const std::vector<JobSpan>& spans)
    {
        const Task& task = tasks_[row];
        text(label_width - 8, base(row) - 4, "end", task.name, "");
        line(label_width, base(row), label_width + plot_width, base(row), "#999");
        for (const JobSpan& span : spans) {
            const char* colour = span.late ? "#c00" : "#777";
            line(x(span.release), base(row) - bar_height / 2, x(span.end),
                 base(row) - bar_height / 2, colour);
            line(x(span.release), base(row), x(span.release), base(row) - bar_height - 6, "#000");
            if (const Time deadline = span.release + task.deadline; deadline <= report_.drawn)
                line(x(deadline), base(row) - 2, x(deadline), base(row) + 6,
                     span.late ? "#c00" : "#06c");
        }
    }

    void draw_slice(const Slice& slice)
    {
        const Task& task = tasks_[slice.task];
        const Time deadline = static_cast<std::int64_t>(slice.job) * task.period + task.deadline;
        const Time end = std::min(slice.end, report_.drawn);
        bar(slice, slice.begin, std::min(end, std::max(deadline, slice.begin)),
            colour_of(slice.task));
        bar(slice, std::max(deadline, slice.begin), end, "#c00");
    }

    void bar(const Slice& slice, Time begin, Time end, const std::string& colour)
    {
        if (end <= begin) return;
        svg_ += fmt::format("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.0f}\" "
                            "fill=\"{}\" stroke=\"#333\" stroke-width=\"0.4\"><title>{}, job {}: "
                            "{} to {}</title></rect>\n",
                            x(begin), base(slice.task) - bar_height, x(end) - x(begin), bar_height,
                            colour, escaped(tasks_[slice.task].name), slice.job + 1,
                            to_text(slice.begin), to_text(slice.end));
    }

    void line(double x1, double y1, double x2, double y2, const char* colour)
    {
        svg_ += fmt::format("<line x1=\"{:.2f}\" y1=\"{:.1f}\" x2=\"{:.2f}\" y2=\"{:.1f}\" "
                            "stroke=\"{}\"/>\n",
                            x1, y1, x2, y2, colour);
    }

    void text(double at_x, double at_y, const char* anchor, const std::string& what,
              const char* more)
    {
        svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" {}>{}</text>\n",
                            at_x, at_y, anchor, more, escaped(what));
    }

    const SchedReport& report_;
    const std::vector<Task>& tasks_;
    const double bottom_;
    std::string svg_;
};

} // namespace

std::string render_svg(const SchedReport& report) { return SvgTimeLine(report).draw(); }

std::string render_time_line(const SchedReport& report, std::size_t width)
{
    const auto& tasks = report.analysis.tasks;
    std::size_t label = 0;
    for (const Task& task : tasks)
        label = std::max(label, std::min<std::size_t>(shown(task.name).size(), 24));
    const std::size_t columns = std::max<std::size_t>(width, label + 22) - label - 2;
    const Time column = column_of(report.drawn, static_cast<std::int64_t>(columns));
    const auto shares = shares_of(report, columns, column);
    const auto spans = spans_of(report);
    std::string text = fmt::format("one column: {}; # runs, + runs a part of it, - waits, ! late\n",
                                   to_text(column));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        std::string line(columns, ' ');
        for (const JobSpan& span : spans[i])
            for (auto at = static_cast<std::size_t>(span.release / column);
                 at < columns && static_cast<std::int64_t>(at) * column < span.end; ++at) {
                const Time begin = static_cast<std::int64_t>(at) * column;
                const bool late = begin + column > span.release + tasks[i].deadline && span.late;
                if (line[at] != '!') line[at] = late ? '!' : '-';
            }
        for (std::size_t at = 0; at < columns; ++at)
            if (line[at] != '!' && shares[i][at] > Time(0))
                line[at] = 2 * shares[i][at] >= column ? '#' : '+';
        line.erase(line.find_last_not_of(' ') + 1);
        text += fmt::format("{:{}} |{}\n", shown(tasks[i].name).substr(0, label), label, line);
    }
    return text;
}

} // namespace kairos::tools
