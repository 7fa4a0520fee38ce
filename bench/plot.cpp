// SPDX-License-Identifier: Apache-2.0
#include "bench/plot.h"

#include "bench/exercise.h"
#include "bench/experiment.h"
#include "bench/process.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace kairos::bench {
namespace {

/// A distinguishable hue for each system, the same in all pictures.
const char* color_of(const std::string& system)
{
    if (system == "kairos") return "#0b5fa5";
    if (system == "kairos reactor" || system == "kairos interpretive") return "#4aa3df";
    if (system == "omniorb") return "#d1495b";
    if (system == "raw-tcp") return "#222222";
    if (system == "raw-unix") return "#9a9a9a";
    return "#e0a030";
}

constexpr const char* series_colors[] = {"#0b5fa5", "#d1495b", "#2a9d54", "#8e5ea2",
                                         "#e08e0b", "#17a2a2", "#7a5230", "#b8337a"};

/// Architectures of one system are drawn apart.
std::string label_of(const Row& row)
{
    for (const char* variant : {"reactor", "interpretive"})
        if (row.variant.starts_with(variant)) return row.system + " " + variant;
    return row.system;
}

/// How rows are told apart in a picture: by what name, in which colour.
struct Labels {
    std::function<std::string(const Row&)> name = label_of;
    std::function<std::string(const std::string& label, std::size_t place)> color =
        [](const std::string& label, std::size_t) { return std::string(color_of(label)); };
};

/// Each architecture of ours by its own name.
Labels architecture_labels()
{
    return {.name =
                [](const Row& row) {
                    const std::string own = row.variant.substr(0, row.variant.find(", pin="));
                    if (row.system == "kairos") return own;
                    return row.system == "omniorb" ? "omniorb, " + own : row.system;
                },
            .color = [](const std::string& label, std::size_t place) -> std::string {
                if (label == "raw-tcp") return "#222222";
                if (label == "raw-tcp real-time") return "#9a9a9a";
                return series_colors[place % std::size(series_colors)];
            }};
}

using Selection = std::function<bool(const Row&)>;

/// The different labels of the selected rows, in the order of the report.
std::vector<std::string> distinct(const Report& report, const Selection& selected,
                                  const std::function<std::string(const Row&)>& label)
{
    std::vector<std::string> labels;
    for (const Row& row : report.rows) {
        if (!row.status.empty() || !selected(row)) continue;
        const std::string text = label(row);
        if (std::find(labels.begin(), labels.end(), text) == labels.end()) labels.push_back(text);
    }
    return labels;
}

std::string heading(const Report& report, const std::string& title, int width, int height)
{
    std::string script = fmt::format("set terminal svg size {},{} dynamic background rgb 'white' "
                                     "font 'DejaVu Sans,12' linewidth 1.4\n"
                                     "set encoding utf8\n"
                                     "set grid lc rgb '#dddddd'\nset border lc rgb '#555555'\n"
                                     "set tics nomirror\n",
                                     width, height);
    const auto pinned = std::find_if(report.rows.begin(), report.rows.end(), [](const Row& row) {
        return row.variant.find("pin=") != std::string::npos;
    });
    std::string placed;
    if (pinned != report.rows.end()) {
        placed = pinned->variant.substr(pinned->variant.find("pin=") + 4);
        placed = " (processes placed: " + placed.substr(0, placed.find(',')) + ")";
    }
    return script + fmt::format("title_text = '{}{}'\n", title, placed);
}

/// A data block of x and y, and the plot clause that draws it as a line.
struct Lines {
    std::string data;
    std::string clauses;
    int blocks = 0;

    void add(const Report& report, const Selection& selected, const std::string& x,
             const std::string& y, const std::string& title, const std::string& style)
    {
        std::string points;
        for (const Row& row : report.rows) {
            if (!row.status.empty() || !selected(row)) continue;
            const auto at = row.figure(x);
            const auto value = row.figure(y);
            if (at && value) points += fmt::format("{} {}\n", *at, *value);
        }
        if (points.empty()) return;
        data += fmt::format("$block{} << END\n{}END\n", ++blocks, points);
        clauses += fmt::format("{}$block{} using 1:2 with linespoints {} title '{}'",
                               clauses.empty() ? "" : ", \\\n    ", blocks, style, title);
    }

    [[nodiscard]] std::string panel() const
    {
        return clauses.empty() ? std::string{} : data + "plot " + clauses + "\n";
    }
};

/// One vertical axis for several panels, so that they can be compared; with room for a legend.
std::string logarithmic_range(const Report& report, const Selection& selected,
                              const std::string& figure)
{
    double least = 0;
    double most = 0;
    for (const Row& row : report.rows) {
        const auto value = row.figure(figure);
        if (!value || !selected(row) || *value <= 0) continue;
        least = least == 0 ? *value : std::min(least, *value);
        most = std::max(most, *value);
    }
    if (most == 0) return {};
    std::string tics;
    for (double decade = 0.01; decade < most * 10; decade *= 10)
        for (const double step : {1, 2, 5})
            tics += fmt::format("{}{:g}", tics.empty() ? "" : ", ", decade * step);
    return fmt::format("set logscale y\nset yrange [{:g}:{:g}]\nset ytics ({})\n", least / 1.5,
                       most * 2.5, tics);
}

/// p50 and p99 of the two null calls as grouped boxes.
std::string null_panel(const Report& report)
{
    std::string data = "$null << END\n";
    std::string places;
    int place = 0;
    for (const char* direction : {"twoway", "oneway"})
        for (const Row& row : report.rows) {
            if (!row.status.empty() || row.payload_type != "null" || row.direction != direction)
                continue;
            data += fmt::format("{} {} {} {}\n", place, row.figure("p50_us").value_or(0),
                                row.figure("p99_us").value_or(0),
                                std::string(color_of(label_of(row))).replace(0, 1, "0x"));
            places += fmt::format("{}'{} {}' {}", places.empty() ? "" : ", ", label_of(row),
                                  direction, place);
            ++place;
        }
    if (place == 0) return {};
    return data + "END\n" +
           fmt::format("set title 'Null call: p50 (bar) and p99 (mark)'\n"
                       "unset logscale\nset xtics rotate by -35 scale 0 font ',9' ({})\n"
                       "set xrange [-0.7:{}]\nset yrange [0:*]\nset format x '%g'\n"
                       "unset xlabel\nset ylabel 'µs'\nunset key\n"
                       "plot $null using 1:2:(0.7):4 with boxes fill solid 0.75 lc rgb variable, "
                       "$null using 1:3 with points pt 2 lc rgb '#222222'\n",
                       places, place - 0.3);
}

Picture latency_picture(const Report& report, const std::string& path)
{
    const Selection sequences = [](const Row& row) { return row.payload_type != "null"; };
    const auto payloads =
        distinct(report, sequences, [](const Row& row) { return row.payload_type; });
    constexpr std::size_t panels_per_line = 3; // null calls' and one of each payload
    const std::size_t lines_of_panels = payloads.size() / panels_per_line + 1;
    std::string script =
        heading(report, "Latency of a call", 1200, static_cast<int>(lines_of_panels) * 390 + 20);
    script += fmt::format("set output '{}'\n", path);
    script += fmt::format("set multiplot layout {},{} title title_text font ',15'\n",
                          lines_of_panels, panels_per_line);
    script += null_panel(report);
    script += "set xtics norotate scale 1 font ',11' autofreq\nset xrange [0.9:1150]\n"
              "set key top left Left reverse maxrows 3 samplen 2 font ',9'\nset logscale x 2\n"
              "set xlabel 'units'\nset ylabel 'p50, µs'\n" +
              logarithmic_range(report, sequences, "p50_us");
    for (const std::string& payload : payloads) {
        Lines lines;
        const Selection of_payload = [&](const Row& row) { return row.payload_type == payload; };
        for (const std::string& system : distinct(report, of_payload, label_of))
            lines.add(
                report, [&](const Row& row) { return of_payload(row) && label_of(row) == system; },
                "units", "p50_us", system,
                fmt::format("lc rgb '{}' lw 1.6 pt 7 ps 0.4", color_of(system)));
        script += fmt::format("set title 'twoway, sequence of {}'\n", payload) + lines.panel();
    }
    return {path, script + "unset multiplot\n"};
}

/// What the lines of a ttcp panel are called: the payload for ORBs, the system for sockets.
std::string series_of(const Row& row)
{
    const bool sockets = row.variant.starts_with("blocking sockets");
    return sockets ? row.system : row.payload_type;
}

bool is_buffer(const Row& row) { return row.figure("buffer_bytes").value_or(0) >= 1024; }

std::string ttcp_panel(const Report& report, const std::string& queue, const std::string& direction,
                       const std::string& system)
{
    Lines lines;
    const Selection here = [&](const Row& row) {
        if (!is_buffer(row)) return false;
        const bool sockets = row.variant.starts_with("blocking sockets");
        return row.direction == direction && row.variant.ends_with("queue=" + queue) &&
               (sockets || label_of(row) == system);
    };
    std::size_t color = 0;
    for (const std::string& series : distinct(report, here, series_of)) {
        const bool raw = series == "raw-tcp" || series == "wrapper" || series == "raw-unix";
        const std::string style =
            raw ? fmt::format("lc rgb '{}' lw 1.8 dt 2 pt 6 ps 0.4",
                              series == "raw-tcp" ? "#222222" : "#9a9a9a")
                : fmt::format("lc rgb '{}' lw 1.6 pt 7 ps 0.4",
                              series_colors[color++ % std::size(series_colors)]);
        lines.add(
            report, [&](const Row& row) { return here(row) && series_of(row) == series; },
            "buffer_bytes", "throughput_mbyte_s", series, style);
    }
    return fmt::format("set title '{}, {}'\n", system, direction) + lines.panel();
}

Picture ttcp_picture(const Report& report, const std::string& queue, const std::string& path)
{
    const Selection orb = [](const Row& row) {
        return !row.variant.starts_with("blocking sockets");
    };
    auto systems = distinct(report, orb, label_of);
    if (systems.empty()) systems = {"sockets"};
    const auto directions = distinct(
        report, [](const Row&) { return true; }, [](const Row& row) { return row.direction; });
    const int columns = static_cast<int>(systems.size());
    const int rows = static_cast<int>(directions.size());
    std::string script = heading(report, "Throughput of user data, socket queues: " + queue,
                                 std::max(760, 620 * columns), 420 * rows + 40);
    script += fmt::format("set output '{}'\nset multiplot layout {},{} title title_text "
                          "font ',15'\n",
                          path, rows, columns);
    // One byte a call is far from everything else; it is in the table.
    const Selection drawn = [&](const Row& row) {
        return row.variant.ends_with("queue=" + queue) && is_buffer(row);
    };
    script += logarithmic_range(report, drawn, "throughput_mbyte_s");
    script += "set key outside right center samplen 2\nset logscale x 2\n"
              "set xrange [900:150000]\nset xlabel 'buffer, bytes'\nset ylabel 'MB/s'\n"
              "set xtics ('1K' 1024, '2K' 2048, '4K' 4096, '8K' 8192, '16K' 16384, '32K' 32768, "
              "'64K' 65536, '128K' 131072)\n";
    for (const std::string& direction : directions)
        for (const std::string& system : systems)
            script += ttcp_panel(report, queue, direction, system);
    return {path, script + "unset multiplot\n"};
}

Picture counters_picture(const Report& report, const std::string& path)
{
    std::string script = heading(report, "What a call costs", 1200, 560);
    script += fmt::format("set output '{}'\nset multiplot layout 1,3 title title_text font ',15'\n"
                          "set style fill solid 0.8\nset boxwidth 0.8\nset key top left\n"
                          "set xtics rotate by -40 scale 0 font ',9'\nset yrange [0:*]\n",
                          path);
    struct Panel {
        const char* figure;
        const char* title;
    };
    for (const Panel& panel : {Panel{"instructions_per_call", "user-space instructions"},
                               Panel{"allocations_per_call", "heap allocations"},
                               Panel{"locks_per_call", "lock operations"}}) {
        std::string data;
        const auto groups = distinct(
            report,
            [&panel](const Row& row) { return row.side == "client" && row.figure(panel.figure); },
            [](const Row& row) { return label_of(row) + " " + row.payload_type; });
        for (const std::string& group : groups) {
            data += '"' + group + '"';
            for (const char* side : {"client", "server"})
                for (const Row& row : report.rows)
                    if (row.side == side && label_of(row) + " " + row.payload_type == group)
                        data += fmt::format(" {}", row.figure(panel.figure).value_or(0));
            data += "\n";
        }
        if (data.empty()) continue;
        script += fmt::format("$counts << END\n{}END\nset title '{} per call'\n"
                              "set style data histograms\nset style histogram rowstacked\n"
                              "plot $counts using 2:xtic(1) lc rgb '#0b5fa5' title 'client', "
                              "$counts using 3 lc rgb '#e08e0b' title 'server'\n",
                              data, panel.title);
    }
    return {path, script + "unset multiplot\n"};
}

/// Boxes of a figure side by side: a group for each payload, a box in it for each system.
std::string clustered_panel(const Report& report, const Selection& selected,
                            const std::string& figure, const std::string& title,
                            const std::string& unit,
                            std::string Row::*category = &Row::payload_type,
                            const Labels& labels = {})
{
    const auto categories =
        distinct(report, selected, [=](const Row& row) { return row.*category; });
    const auto systems = distinct(report, selected, labels.name);
    if (categories.empty()) return {};
    std::string data;
    for (const std::string& name : categories) {
        data += '"' + name + '"';
        for (const std::string& system : systems) {
            std::string value = "NaN";
            for (const Row& row : report.rows)
                if (selected(row) && row.*category == name && labels.name(row) == system)
                    if (const auto found = row.figure(figure)) value = fmt::format("{:g}", *found);
            data += " " + value;
        }
        data += "\n";
    }
    std::string clauses;
    for (std::size_t i = 0; i < systems.size(); ++i)
        clauses +=
            fmt::format("{}$boxes using {}{} lc rgb '{}' title '{}'", clauses.empty() ? "" : ", ",
                        i + 2, i == 0 ? ":xtic(1)" : "", labels.color(systems[i], i), systems[i]);
    return fmt::format("$boxes << END\n{}END\nset title '{}'\nset ylabel '{}'\nplot {}\n", data,
                       title, unit, clauses);
}

/// The settings that boxes side by side want.
std::string clustered_boxes()
{
    return "set style fill solid 0.8\nset style data histograms\n"
           "set style histogram clustered gap 1\nset boxwidth 0.9\nset key top right\n"
           "set xtics rotate by -35 scale 0 font ',9' noenhanced\n";
}

Picture param_picture(const Report& report, const std::string& path)
{
    std::string script = heading(report, "Calls of Param-Test", 1200, 460);
    script += fmt::format("set output '{}'\nset multiplot layout 1,2 title title_text font ',15'\n",
                          path) +
              clustered_boxes() + "set yrange [0:*]\n";
    script += clustered_panel(
        report, [](const Row& row) { return row.figure("calls_per_s").has_value(); }, "calls_per_s",
        "Calls over loopback", "calls a second");
    const Selection alone = [](const Row& row) {
        return row.side == "both" && row.figure("marshal_ns").has_value();
    };
    script += "set key top left\n" + logarithmic_range(report, alone, "marshal_ns");
    script +=
        clustered_panel(report, alone, "marshal_ns", "Marshalling alone, all roles", "ns a call");
    return {path, script + "unset multiplot\n"};
}

Picture footprint_picture(const Report& report, const std::string& path)
{
    std::string script = heading(report, "What IDL adds to a program", 1300, 460);
    script += fmt::format("set output '{}'\nset multiplot layout 1,3 title title_text font ',15'\n",
                          path) +
              clustered_boxes() + "set yrange [0:*]\n";
    for (const auto& [side, title] :
         {std::pair{"stub", "Stubs with tables and marshalling, -O2"},
          std::pair{"skeleton", "Skeletons with tables and marshalling, -O2"},
          std::pair{"service", "Services of the OMG, -O2"}}) {
        const Selection here = [side = std::string(side)](const Row& row) {
            const bool any = row.variant.ends_with(", with Any");
            return row.side == side && row.variant.find("-O2") != std::string::npos &&
                   any == (side == "service") && row.payload_type != "all operations";
        };
        script += clustered_panel(report, here, "total_bytes", title, "bytes");
    }
    return {path, script + "unset multiplot\n"};
}

Picture marshal_picture(const Report& report, const std::string& path)
{
    std::string script = heading(report, "Marshalling sequences beside memcpy", 1300, 800);
    script += fmt::format("set output '{}'\nset multiplot layout 2,3 title title_text font ',15'\n",
                          path);
    const Selection all = [](const Row&) { return true; };
    script += logarithmic_range(report, all, "decode_mbyte_s");
    // Of the lines, those of another byte order are the lowest.
    script += "set yrange [300:600000]\nset key bottom right samplen 2 font ',9'\n"
              "set logscale x 2\nset xlabel 'bytes'\nset ylabel 'MB/s'\n"
              "set xtics ('1K' 1024, '4K' 4096, '16K' 16384, '64K' 65536)\n";
    struct Series {
        const char* figure;
        const char* title;
        const char* dash;
    };
    for (const std::string& payload :
         distinct(report, all, [](const Row& row) { return row.payload_type; })) {
        Lines lines;
        for (const std::string& system : distinct(report, all, label_of)) {
            const Selection here = [&](const Row& row) {
                return row.payload_type == payload && label_of(row) == system;
            };
            if (lines.blocks == 0)
                lines.add(report, here, "bytes", "memcpy_mbyte_s", "memcpy",
                          "lc rgb '#222222' lw 1.6 pt 6 ps 0.4");
            for (const Series& series :
                 {Series{"encode_mbyte_s", "encode", "1"}, Series{"decode_mbyte_s", "decode", "2"},
                  Series{"swapped_mbyte_s", "decode swapped", "3"}})
                lines.add(report, here, "bytes", series.figure, system + ", " + series.title,
                          fmt::format("lc rgb '{}' dt {} lw 1.6 pt 7 ps 0.3", color_of(system),
                                      series.dash));
        }
        script += fmt::format("set title 'sequence of {}'\n", payload) + lines.panel();
    }
    return {path, script + "unset multiplot\n"};
}

/// "objects hash, operations perfect" → "hash, perfect"
std::string pair_of(const Row& row)
{
    std::string pair = row.variant;
    for (const std::string_view part : {"calls, ", "objects ", "operations "})
        if (const std::size_t at = pair.find(part); at != std::string::npos)
            pair.erase(at, part.size());
    return row.system == "omniorb" ? row.system : pair.substr(0, pair.find(", pin="));
}

/// A panel for each of the paper's patterns, a line for each pair of strategies.
struct DemuxPicture {
    const char* title;
    const char* figure;
    const char* unit;
    bool logarithmic;             ///< both axes
    std::size_t pairs_of_objects; ///< how many pairs in a row have the same strategy for objects

    [[nodiscard]] Picture draw(const Report& report, const std::string& path) const
    {
        const Selection points = [this](const Row& row) {
            return row.figure("servants").has_value() && row.figure(figure).has_value() &&
                   row.figure("operations") == 100.0;
        };
        std::string script =
            heading(report, title, 1400, 900) +
            fmt::format("set output '{}'\nset multiplot layout 2,2 title title_text font ',15'\n",
                        path) +
            (logarithmic ? logarithmic_range(report, points, figure) + "set logscale x\n"
                         : std::string("set yrange [0:*]\n")) +
            fmt::format("set xlabel 'servants'\n"
                        "set ylabel '{}'\nset key outside right center samplen 3 font ',10' "
                        "title 'objects, operations'\n",
                        unit);
        for (const std::string& pattern :
             distinct(report, points, [](const Row& row) { return row.direction; }))
            script += fmt::format("set title '{}, 100 operations'\n", pattern) +
                      panel(report, [&](const Row& row) {
                          return points(row) && row.direction == pattern;
                      });
        return {path, script + "unset multiplot\n"};
    }

    /// Strategies of objects are told apart by colours, those of operations by dashes.
    [[nodiscard]] std::string panel(const Report& report, const Selection& here) const
    {
        Lines lines;
        std::size_t series = 0;
        for (const std::string& pair : distinct(report, here, pair_of)) {
            lines.add(
                report, [&](const Row& row) { return here(row) && pair_of(row) == pair; },
                "servants", figure, pair,
                fmt::format("lc rgb '{}' dt {} lw 1.6 pt 7 ps 0.3",
                            series_colors[series / pairs_of_objects % std::size(series_colors)],
                            pairs_of_objects - series % pairs_of_objects));
            ++series;
        }
        return lines.panel();
    }
};

/// How much of what rows name as their direction is done a second.
Picture rates_picture(const Report& report, const std::string& path, const std::string& title,
                      const std::string& figure, const std::string& unit)
{
    const Selection all = [](const Row&) { return true; };
    return {path, heading(report, title, 700, 460) + fmt::format("set output '{}'\n", path) +
                      clustered_boxes() + "set yrange [0:*]\nset key outside right center\n" +
                      clustered_panel(report, all, figure, title, unit, &Row::direction)};
}

/// A line for each system, against a number of clients.
std::string client_lines(const Report& report, const Selection& here, const std::string& x,
                         const std::string& figure, const std::string& title)
{
    const Labels labels = architecture_labels();
    Lines lines;
    std::size_t place = 0;
    for (const std::string& system : distinct(report, here, labels.name))
        lines.add(
            report, [&](const Row& row) { return here(row) && labels.name(row) == system; }, x,
            figure, system,
            fmt::format("lc rgb '{}' lw 1.6 pt 7 ps 0.4", labels.color(system, place++)));
    return fmt::format("set title '{}'\n", title) + lines.panel();
}

/// Paper 003's figures 16 and 17, and the same for low clients that flood.
Picture priority_picture(const Report& report, const std::string& path)
{
    std::string script =
        heading(report, "A client of high priority among others", 1300, 900) +
        fmt::format("set output '{}'\nset multiplot layout 2,2 title title_text font ',15'\n",
                    path);
    const Selection high = [](const Row& row) { return row.side == "high"; };
    const Selection flooding = [&](const Row& row) {
        return high(row) && row.direction.find("flooding") != std::string::npos;
    };
    const Selection periodic = [&](const Row& row) { return high(row) && !flooding(row); };
    script +=
        "set key outside right center font ',8' samplen 2\nset xlabel 'clients of low priority'\n"
        "set ylabel 'µs'\nset yrange [0:*]\nset xrange [0:*]\n";
    script += client_lines(report, periodic, "low_clients", "mean_us", "Mean, others at a rate");
    script +=
        client_lines(report, periodic, "low_clients", "jitter_us", "Jitter, others at a rate");
    script += "unset xlabel\nset xrange [*:*]\n" + clustered_boxes() +
              "set key outside right center font ',8'\n";
    for (const auto& [figure, title] : {std::pair{"mean_us", "Mean, others flooding"},
                                        std::pair{"jitter_us", "Jitter, others flooding"}})
        script += logarithmic_range(report, flooding, figure) +
                  clustered_panel(report, flooding, figure, title, "µs", &Row::direction,
                                  architecture_labels());
    return {path, script + "unset multiplot\n"};
}

/// Paper 003's figures 18 to 23.
Picture whitebox_picture(const Report& report, const std::string& path)
{
    std::string script =
        heading(report, "What a null call costs, by architecture", 1300, 800) +
        fmt::format("set output '{}'\nset multiplot layout 2,3 title title_text font ',15'\n",
                    path) +
        clustered_boxes() + "set key outside right center font ',8'\nset yrange [0:*]\n";
    const Selection all = [](const Row&) { return true; };
    for (const auto& [figure, title] :
         {std::pair{"locks_per_call", "Locks"}, std::pair{"futexes_per_call", "Futexes"},
          std::pair{"allocations_per_call", "Allocations"},
          std::pair{"syscalls_per_call", "System calls"},
          std::pair{"voluntary_switches_per_call", "Voluntary context switches"},
          std::pair{"involuntary_switches_per_call", "Involuntary context switches"}})
        script += clustered_panel(report, all, figure, title, "per call", &Row::side,
                                  architecture_labels());
    return {path, script + "unset multiplot\n"};
}

Picture concurrency_picture(const Report& report, const std::string& path)
{
    const Selection calling = [](const Row& row) {
        return row.figure("threads").has_value() && !row.figure("idle_connections");
    };
    const Selection idle = [](const Row& row) { return row.figure("kib_per_idle").has_value(); };
    std::string script =
        heading(report, "Calls of many clients", 1300, 480) +
        fmt::format("set output '{}'\nset multiplot layout 1,2 title title_text font ',15'\n"
                    "set key bottom right font ',8' samplen 2\nset logscale x\n"
                    "set xlabel 'client threads'\nset ylabel 'calls a second'\n"
                    "set yrange [0:*]\n",
                    path) +
        client_lines(report, calling, "threads", "calls_per_s", "Twoway calls of all threads") +
        "unset xlabel\nunset logscale\n" + clustered_boxes() +
        clustered_panel(report, idle, "kib_per_idle", "Resident memory of the server", "KiB",
                        &Row::direction, architecture_labels());
    return {path, script + "unset multiplot\n"};
}

/// What each system reaches of raw sockets, in a panel for each thing that it does.
Picture modern_picture(const Report& report, const std::string& path)
{
    const auto name = [](const Row& row) {
        if (row.variant.starts_with("shared memory")) return row.variant;
        if (row.variant.ends_with("polling")) return row.system + " polling";
        return row.variant.starts_with("a stream") ? row.system + " stream" : row.system;
    };
    std::string script =
        heading(report, "Kairos beside the systems of today: 1 is raw TCP sockets", 1300, 860) +
        fmt::format("set output '{}'\nset multiplot layout 2,3 title title_text font ',15'\n"
                    "set xtics rotate by -40 scale 0 font ',9' noenhanced\nset yrange [0:*]\n"
                    "unset key\nset ylabel '× raw'\n",
                    path);
    for (const auto& [figure, title] :
         {std::pair{"null_one_cpu_to_raw", "Null call on one CPU: time, less is better"},
          std::pair{"null_to_raw", "Null call on all CPUs: time, less is better"},
          std::pair{"threads_to_raw", "Null calls a second of many threads, more is better"},
          std::pair{"structs_64k_to_raw", "64 K of structs: MB/s, more is better"},
          std::pair{"octets_64k_to_raw", "64 K of octets: MB/s, more is better"},
          std::pair{"octets_1m_to_raw", "1 MB of octets: MB/s, more is better"}}) {
        std::string data;
        std::string places;
        int place = 0;
        for (const Row& row : report.rows) {
            const auto value = row.figure(figure);
            if (!value) continue;
            data += fmt::format("{} {} {}\n", place, *value,
                                std::string(color_of(row.system)).replace(0, 1, "0x"));
            places += fmt::format("{}'{}' {}", places.empty() ? "" : ", ", name(row), place++);
        }
        if (place == 0) continue;
        script += fmt::format("$modern << END\n{}END\nset title '{}'\nset xtics ({})\n"
                              "set xrange [-0.7:{}]\n"
                              "plot $modern using 1:2:(0.7):3 with boxes fill solid 0.75 "
                              "lc rgb variable, 1 with lines lc rgb '#222222' dt 2\n",
                              data, title, places, place - 0.3);
    }
    return {path, script + "unset multiplot\n"};
}

/// What a null call takes of time and of processors: a colour for each way of waiting, a point for
/// each number of busy threads.
Picture spinning_picture(const Report& report, const std::string& path)
{
    const auto way = [](const Row& row) {
        return row.system == "raw-tcp" ? "blocking sockets"
                                       : row.variant.substr(0, row.variant.find(", pin="));
    };
    std::string data;
    std::string clauses;
    std::size_t place = 0;
    for (const std::string& each : distinct(
             report, [](const Row&) { return true; }, way)) {
        data += fmt::format("$way{} << END\n", place);
        for (const Row& row : report.rows)
            if (row.status.empty() && way(row) == each)
                data +=
                    fmt::format("{} {} \"{:g} busy\"\n", row.figure("cpu_us").value_or(0),
                                row.figure("p50_us").value_or(0), row.figure("busy").value_or(0));
        data += "END\n";
        clauses += fmt::format("{0}$way{1} using 1:2 with points lc rgb '{2}' pt 7 "
                               "ps 0.7 title '{3}', $way{1} using 1:2:3 with labels offset 0.7,0.6 "
                               "left font ',8' tc rgb '{2}' notitle",
                               clauses.empty() ? "" : ", \\\n    ", place,
                               each == "blocking sockets" ? "#222222" : series_colors[place], each);
        ++place;
    }
    return {path, heading(report, "A null call: time, and processor time of both sides", 760, 520) +
                      fmt::format("set output '{}'\nset title title_text\n"
                                  "set xlabel 'processor time, µs a call'\n"
                                  "set ylabel 'p50, µs'\nset xrange [0:*]\nset yrange [0:*]\n"
                                  "set offsets graph 0, graph 0.1, graph 0.08, 0\n"
                                  "set key top left Left reverse samplen 2\n",
                                  path) +
                      data + "plot " + clauses + "\n"};
}

std::string with_suffix(const std::string& path, const std::string& suffix)
{
    const std::size_t dot = path.rfind(".svg");
    if (dot == std::string::npos) return path + "-" + suffix;
    return path.substr(0, dot) + "-" + suffix + path.substr(dot);
}

} // namespace

std::vector<Picture> pictures_of(const Report& report, const std::string& path)
{
    if (report.experiment == "latency") return {latency_picture(report, path)};
    if (report.experiment == "counters") return {counters_picture(report, path)};
    if (report.experiment == "param") return {param_picture(report, path)};
    if (report.experiment == "footprint") return {footprint_picture(report, path)};
    if (report.experiment == "marshal") return {marshal_picture(report, path)};
    if (report.experiment == "demux") // the paper's figures 31 and 32, and its figures 6 to 10
        return {DemuxPicture{"Demultiplexing alone", "step_ns", "ns", true, 3}.draw(report, path),
                DemuxPicture{"Calls by number of objects", "p50_us", "p50, µs", false, 1}.draw(
                    report, with_suffix(path, "calls"))};
    if (report.experiment == "priority") return {priority_picture(report, path)};
    if (report.experiment == "concurrency") return {concurrency_picture(report, path)};
    if (report.experiment == "whitebox") return {whitebox_picture(report, path)};
    if (report.experiment == "spinning") return {spinning_picture(report, path)};
    if (report.experiment == "modern") return {modern_picture(report, path)};
    if (report.experiment == "naming")
        return {rates_picture(report, path, "Resolving a name", "calls_per_s", "calls a second")};
    if (report.experiment == "tls")
        return {
            rates_picture(report, path, "Connecting", "connections_per_s", "connections a second")};
    const auto queues = distinct(
        report, [](const Row&) { return true; },
        [](const Row& row) {
            const std::size_t at = row.variant.find("queue=");
            return at == std::string::npos ? std::string{} : row.variant.substr(at + 6);
        });
    std::vector<Picture> pictures;
    for (const std::string& queue : queues)
        pictures.push_back(
            ttcp_picture(report, queue, queues.size() == 1 ? path : with_suffix(path, queue)));
    return pictures;
}

Result<std::vector<std::string>> draw(const Report& report, const std::string& path)
{
    const std::string gnuplot = find_program("gnuplot");
    if (gnuplot.empty())
        return Error{ErrorCode::not_found,
                     "--plot needs gnuplot, which is not installed (Debian: gnuplot-nox)"};
    if (path.find('\'') != std::string::npos)
        return Error{ErrorCode::invalid_argument, "--plot: no quotes in a file's name, please"};
    std::vector<std::string> written;
    for (const Picture& picture : pictures_of(report, path)) {
        auto process = ChildProcess::start(
            {.command = {gnuplot, "-"}, .environment = {}, .cpu = {}, .inherited_descriptor = -1});
        if (!process) return process.error();
        if (auto sent = process->write_line(picture.script); !sent) return sent.error();
        const auto remains = process->finish(std::chrono::seconds(60));
        if (remains.exit_status != 0)
            return Error{ErrorCode::system, "gnuplot failed: " + remains.errors};
        written.push_back(picture.path);
    }
    return written;
}

} // namespace kairos::bench
