// SPDX-License-Identifier: Apache-2.0
#include "bench/page.h"

#include "bench/page_style.h"
#include "bench/summary.h"

#include <algorithm>
#include <fmt/format.h>

namespace kairos::bench {
namespace {

/// Longer tables are folded.
constexpr std::size_t open_rows_max = 40;

std::string_view class_of(const Verdict& verdict)
{
    return !verdict.missed.empty() ? "missed" : !verdict.absent.empty() ? "open" : "reached";
}

std::string heading_of(const StoredReport& stored)
{
    return stored.report.title.empty() ? stored.name : stored.report.title;
}

// ---- the summary --------------------------------------------------------------------------------

/// Where the value is, where the limit is, and on which side of it is well.
std::string bullet(const Headline& headline)
{
    const double value = headline.value.value_or(0);
    const double limit = headline.bar.limit;
    const double full = std::max({value * 1.1, limit * 1.3, 1.0});
    const double at = 100 * limit / full;
    const bool upwards = headline.bar.relation == Bar::Relation::at_least;
    return fmt::format("<span class=\"bullet\" aria-hidden=\"true\"><u style=\"left:{:.1f}%;"
                       "width:{:.1f}%\"></u><i style=\"width:{:.1f}%\"></i>"
                       "<b style=\"left:{:.1f}%\"></b></span>",
                       upwards ? at : 0, upwards ? 100 - at : at, 100 * std::max(value, 0.0) / full,
                       std::clamp(at, 0.5, 99.5));
}

std::string item_of(const Headline& headline)
{
    const std::string_view outcome = outcome_of(headline);
    return fmt::format(
        "<li><span class=\"name\">{}{}</span>{}<span class=\"value\">{}</span>"
        "<span class=\"limit\">{}</span><span class=\"pill {}\">{}</span></li>\n",
        html(headline.title),
        headline.beside.empty() ? "" : "<small>" + html(headline.beside) + "</small>",
        bullet(headline), headline.value ? grouped(*headline.value, headline.decimals) : "–",
        html(limit_text(headline.bar)),
        outcome == "reached"  ? "reached"
        : outcome == "MISSED" ? "missed"
                              : "open",
        outcome == "MISSED" ? "missed" : outcome);
}

/// Lengths beside each other, of what one figure of some rows says.
struct Chart {
    std::string title;
    int decimals = 2;
    struct Line {
        std::string label;
        std::string_view system;
        double value = 0;
    };
    std::vector<Line> lines = {};
};

std::string element_of(const Chart& chart)
{
    double most = 0;
    for (const Chart::Line& line : chart.lines)
        most = std::max(most, line.value);
    if (most <= 0) return {};
    std::string text = fmt::format("<div class=\"card chart\"><h3>{}</h3>\n", html(chart.title));
    for (const Chart::Line& line : chart.lines)
        text += fmt::format("<div class=\"{}\"><em>{}</em><s><i style=\"width:{:.1f}%\"></i></s>"
                            "<b>{}</b></div>\n",
                            line.system, html(line.label), 100 * line.value / most,
                            grouped(line.value, chart.decimals));
    return text + "</div>\n";
}

using Chosen = bool (*)(const Row&);

/// A line for each row of the reports of an experiment that is chosen and has the figure.
Chart chart_of(std::span<const StoredReport> reports, std::string_view experiment, Chart chart,
               const std::string& figure, Chosen chosen)
{
    for (const StoredReport& stored : reports)
        for (const Row& row : stored.report.rows) {
            const auto value = row.figure(figure);
            const bool ours =
                row.system != "kairos" || row.variant.starts_with("thread-per-connection");
            if (stored.report.experiment != experiment || !value || !ours || !chosen(row)) continue;
            const bool raw = row.system.starts_with("raw");
            std::string label = raw ? "raw sockets" : row.system == "kairos" ? "Kairos" : "omniORB";
            if (!raw && experiment == "ttcp")
                label += row.payload_type == "octet"       ? ", octets"
                         : row.payload_type == "BinStruct" ? ", structs"
                                                           : ", strings";
            chart.lines.push_back({label,
                                   raw                      ? "raw"
                                   : row.system == "kairos" ? "kairos"
                                                            : "omniorb",
                                   *value});
        }
    return chart;
}

bool compared(const Row& row)
{
    return row.system == "raw-tcp" || row.system == "kairos" || row.system == "omniorb";
}

bool is_null_call(const Row& row)
{
    return compared(row) && row.payload_type == "null" && row.direction == "twoway";
}

std::string charts_of(std::span<const StoredReport> reports)
{
    const auto one_cpu = [](const Row& row) {
        return is_null_call(row) && row.variant.find("pin=same") != std::string::npos;
    };
    const auto two_cpus = [](const Row& row) {
        return is_null_call(row) && row.variant.find("pin=same") == std::string::npos;
    };
    const auto transfers = [](const Row& row) {
        return compared(row) && row.direction == "oneway" &&
               row.figure("buffer_bytes") == 64 * 1024 && row.variant.ends_with("queue=default") &&
               (row.payload_type == "octet" || row.payload_type == "BinStruct" ||
                row.payload_type == "string32");
    };
    const auto both = [](const Row& row) { return is_null_call(row) && row.side == "both"; };
    const std::string charts =
        element_of(
            chart_of(reports, "latency", {.title = "Null call, median µs"}, "p50_us", two_cpus)) +
        element_of(chart_of(reports, "latency", {.title = "Null call on one CPU, median µs"},
                            "p50_us", one_cpu)) +
        element_of(chart_of(reports, "counters",
                            {.title = "Instructions of a null call, both sides", .decimals = 0},
                            "instructions_per_call", both)) +
        element_of(chart_of(reports, "ttcp",
                            {.title = "One way in buffers of 64 K, MB/s", .decimals = 0},
                            "throughput_mbyte_s", transfers));
    return charts.empty() ? charts : "<div class=\"charts\">\n" + charts + "</div>\n";
}

std::string summary_of(std::span<const StoredReport> reports)
{
    const std::vector<Headline> headlines = headlines_of(reports);
    const Verdict verdict = judge(std::span<const Headline>(headlines));
    std::string text =
        fmt::format("<header>\n<p class=\"over\">Kairos {}</p>\n"
                    "<h1>{} of {} figures that matter reach their bars</h1>\n"
                    "<dl class=\"facts\">\n",
                    html(reports.front().host.kairos), verdict.reached, headlines.size());
    for (const auto& [title, value] : circumstances_of(reports))
        text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", title, html(value));
    text += "</dl>\n</header>\n<main>\n<section id=\"summary\">\n<ol class=\"figures card\">\n";
    for (const Headline& headline : headlines)
        text += item_of(headline);
    return text +
           "</ol>\n<p class=\"soft\">The mark is the bar, the tinted side of it is where the "
           "figure has to be. × is a ratio within one run: both sides saw the same machine.</p>\n" +
           charts_of(reports) + "</section>\n";
}

// ---- the experiments ----------------------------------------------------------------------------

std::string contents_of(std::span<const StoredReport> reports)
{
    std::string text = "<section>\n<h2>Experiments</h2>\n<nav><ul>\n";
    for (const StoredReport& stored : reports) {
        const Verdict verdict = judge(stored.report);
        text += fmt::format(
            "<li><a href=\"#{0}\">{1}</a><span class=\"pill {2}\">{3}</span></li>\n",
            html(stored.name), html(heading_of(stored)), class_of(verdict),
            fmt::format("{} of {}", verdict.reached,
                        verdict.reached + verdict.missed.size() + verdict.absent.size()));
    }
    return text + "</ul></nav>\n</section>\n";
}

std::string list_of(const std::string& title, std::string_view css_class,
                    const std::vector<std::string>& figures)
{
    if (figures.empty()) return {};
    std::string text =
        fmt::format("<details{}><summary><span class=\"pill {}\">{} {}</span>"
                    "</summary><ul class=\"short\">\n",
                    figures.size() <= 10 ? " open=\"open\"" : "", css_class, figures.size(), title);
    for (const std::string& figure : figures)
        text += fmt::format("<li>{}</li>\n", html(figure));
    return text + "</ul></details>\n";
}

std::string cell_class(const TextColumn& column, const std::string& cell)
{
    if (column.right) return " class=\"number\"";
    if (column.title != "bar" || cell.empty()) return {};
    return fmt::format(" class=\"{}\"", cell.find("MISS") != std::string::npos ? "missed"
                                        : cell.find("pass") == std::string::npos ||
                                                cell.find("not measured") != std::string::npos
                                            ? "open"
                                            : "reached");
}

std::string table_element(const StoredReport& stored)
{
    const Table table = table_of(stored.report);
    const std::size_t rows = stored.report.rows.size();
    std::string text =
        fmt::format("<details{}><summary>Table, {} row{}</summary>\n",
                    rows <= open_rows_max ? " open=\"open\"" : "", rows, rows == 1 ? "" : "s");
    text += "<div class=\"card scroll\"><table>\n<thead><tr>";
    for (const TextColumn& column : table.columns)
        text += fmt::format("<th{}>{}</th>", column.right ? " class=\"number\"" : "",
                            html(column.title));
    text += "</tr></thead>\n<tbody>\n";
    for (std::size_t row = 0; row < rows; ++row) {
        text += "<tr>";
        for (const TextColumn& column : table.columns)
            text += fmt::format("<td{}>{}</td>", cell_class(column, column.cells[row]),
                                html(column.cells[row]));
        text += "</tr>\n";
    }
    return text + "</tbody>\n</table></div></details>\n";
}

/// A picture is of the report with the longest name that its own begins with.
const StoredReport* owner_of(const StoredPicture& picture, std::span<const StoredReport> reports)
{
    const StoredReport* owner = nullptr;
    for (const StoredReport& stored : reports) {
        const bool own = picture.name == stored.name || picture.name.starts_with(stored.name + "-");
        if (own && (owner == nullptr || owner->name.size() < stored.name.size())) owner = &stored;
    }
    return owner;
}

Result<std::string> pictures_for(const StoredReport* owner, const std::string& title,
                                 std::span<const StoredReport> reports,
                                 std::span<const StoredPicture> pictures)
{
    std::string text;
    for (const StoredPicture& picture : pictures) {
        if (owner_of(picture, reports) != owner) continue;
        const auto element = inline_svg(picture, title);
        if (!element) return element.error();
        text += "<figure class=\"picture card\">" + *element + "</figure>\n";
    }
    return text;
}

Result<std::string> section_of(const StoredReport& stored, std::span<const StoredReport> reports,
                               std::span<const StoredPicture> pictures)
{
    const Verdict verdict = judge(stored.report);
    const auto drawn = pictures_for(&stored, heading_of(stored), reports, pictures);
    if (!drawn) return drawn.error();
    std::string about = fmt::format("<code>{}</code> · {}", html(stored.name),
                                    html(readable_date(stored.host.date)));
    for (const std::string& part : table_of(stored.report).common)
        about += " · " + html(part);
    std::string text =
        fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n<p class=\"soft\">{} · {}</p>\n",
                    html(stored.name), html(heading_of(stored)), about, in_words(verdict));
    text += list_of("missed", "missed", verdict.missed);
    text += list_of("not measured", "open", verdict.absent);
    text += *drawn + table_element(stored);
    for (const std::string& note : stored.report.notes)
        text += fmt::format("<p class=\"note\">{}</p>\n", html(note));
    return text + "</section>\n";
}

} // namespace

std::string html(std::string_view text)
{
    std::string escaped;
    for (const char c : text) {
        if (c == '&')
            escaped += "&amp;";
        else if (c == '<')
            escaped += "&lt;";
        else if (c == '>')
            escaped += "&gt;";
        else if (c == '"')
            escaped += "&quot;";
        else
            escaped += c;
    }
    return escaped;
}

Result<std::string> render_page(std::span<const StoredReport> reports,
                                std::span<const StoredPicture> pictures)
{
    if (reports.empty())
        return Error{ErrorCode::invalid_argument, "a page of no report would be empty"};
    std::string page =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
        "<title>Kairos, measured</title>\n<style>";
    page += page_style;
    page += "</style>\n</head>\n<body>\n" + summary_of(reports) + contents_of(reports);
    for (const StoredReport& stored : reports) {
        const auto section = section_of(stored, reports, pictures);
        if (!section) return section.error();
        page += *section;
    }
    const auto others = pictures_for(nullptr, "Picture", reports, pictures);
    if (!others) return others.error();
    if (!others->empty()) page += "<section>\n<h2>Other pictures</h2>\n" + *others + "</section>\n";
    return page +
           "</main>\n<footer class=\"soft\">Made by <code>kairos report</code> of what "
           "<code>kairos bench</code> has left in the folder of this page: each experiment’s "
           "figures are there as JSON, its table as text, its pictures as SVG.</footer>\n"
           "</body>\n</html>\n";
}

} // namespace kairos::bench
