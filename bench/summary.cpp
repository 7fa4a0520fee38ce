// SPDX-License-Identifier: Apache-2.0
#include "bench/summary.h"

#include "bench/bars.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <tuple>

namespace kairos::bench {
namespace {

/// Which rows of which experiment.
struct Choice {
    std::string_view experiment;
    std::string_view system = "kairos";
    std::string_view payload = "null";
    bool one_cpu = false;
    std::string_view side = ""; ///< "each": the worse of client and server
    std::string_view direction = "twoway";
};

/// What transfers are compared at, with the system's own socket queues.
constexpr double transferred_bytes = 64 * 1024;

bool chosen(const StoredReport& stored, const Row& row, const Choice& choice)
{
    if (stored.report.experiment != choice.experiment || row.system != choice.system) return false;
    if (row.payload_type != choice.payload || row.direction != choice.direction) return false;
    const bool sockets = row.variant.starts_with("blocking sockets");
    if (!sockets && !row.variant.starts_with("thread-per-connection")) return false;
    if (choice.side == "each" ? row.side == "both" : row.side != choice.side) return false;
    if (choice.experiment == "latency")
        return (row.variant.find("pin=same") != std::string::npos) == choice.one_cpu;
    if (choice.experiment == "ttcp")
        return row.variant.ends_with("queue=default") &&
               row.figure("buffer_bytes") == transferred_bytes;
    return true;
}

/// The figure of the newest report that has it; where several rows have, the largest.
std::optional<double> figure_of(std::span<const StoredReport> reports, const Choice& choice,
                                std::string_view figure)
{
    std::optional<double> found;
    std::string_view date;
    for (const StoredReport& stored : reports) {
        std::optional<double> here;
        for (const Row& row : stored.report.rows)
            if (const auto value = row.figure(figure); value && chosen(stored, row, choice))
                here = std::max(here.value_or(*value), *value);
        if (!here || stored.host.date < date) continue;
        found = here;
        date = stored.host.date;
    }
    return found;
}

/// "4.90 µs beside 4.70 of raw": a figure of ours and the same of another.
std::string beside(std::span<const StoredReport> reports, const Choice& mine, const Choice& other,
                   std::string_view name, std::string_view figure, int decimals,
                   std::string_view unit)
{
    const auto ours = figure_of(reports, mine, figure);
    const auto theirs = figure_of(reports, other, figure);
    if (!theirs) return {};
    if (unit.empty() || !ours)
        return fmt::format("beside {} of {}", grouped(*theirs, decimals), name);
    return fmt::format("{} {} beside {} of {}", grouped(*ours, decimals), unit,
                       grouped(*theirs, decimals), name);
}

void add_null_calls(std::vector<Headline>& headlines, std::span<const StoredReport> reports,
                    bool one_cpu)
{
    const Choice mine{.experiment = "latency", .one_cpu = one_cpu};
    Choice raw = mine;
    raw.system = "raw-tcp";
    Choice omniorb = mine;
    omniorb.system = "omniorb";
    const std::string where = one_cpu ? "null call on one CPU" : "null call";
    headlines.push_back(
        {.title = where + " × raw sockets",
         .bar = {"ratio_to_raw", Bar::Relation::at_most,
                 one_cpu ? bars::null_call_to_raw_on_one_cpu : bars::null_call_to_raw},
         .value = figure_of(reports, mine, "ratio_to_raw"),
         .beside = beside(reports, mine, raw, "raw", "p50_us", 2, "µs")});
    headlines.push_back(
        {.title = where + " × omniORB",
         .bar = {"ratio_to_omniorb", Bar::Relation::below, bars::null_call_to_omniorb},
         .value = figure_of(reports, mine, "ratio_to_omniorb"),
         .beside = beside(reports, mine, omniorb, "omniORB", "p50_us", 2, "µs")});
}

void add_transfers(std::vector<Headline>& headlines, std::span<const StoredReport> reports)
{
    constexpr const char* figure = "throughput_mbyte_s";
    const auto transfer = [](std::string_view system, std::string_view payload) {
        return Choice{
            .experiment = "ttcp", .system = system, .payload = payload, .direction = "oneway"};
    };
    const Choice octets = transfer("kairos", "octet");
    headlines.push_back({.title = "octets, 64 K × raw sockets",
                         .bar = {"ratio_to_raw", Bar::Relation::at_least, bars::octets_to_raw},
                         .value = figure_of(reports, octets, "ratio_to_raw"),
                         .beside = beside(reports, octets, transfer("raw-tcp", "octet"), "raw",
                                          figure, 0, "MB/s")});
    for (const auto& [title, payload, limit] :
         {std::tuple{"structs, 64 K × octets", "BinStruct", bars::structs_to_octets},
          std::tuple{"strings, 64 K × octets", "string32", bars::strings_to_octets}}) {
        const Choice mine = transfer("kairos", payload);
        headlines.push_back({.title = title,
                             .bar = {"ratio_to_octets", Bar::Relation::at_least, limit},
                             .value = figure_of(reports, mine, "ratio_to_octets"),
                             .beside = beside(reports, mine, octets, "octets", figure, 0, "MB/s")});
    }
}

void add_counts(std::vector<Headline>& headlines, std::span<const StoredReport> reports)
{
    struct Count {
        const char* title;
        const char* figure;
        double limit;
        std::string_view side;
        int decimals;
    };
    for (const Count& count :
         {Count{"locks of a call, each side", "locks_per_call", bars::locks, "each", 2},
          Count{"allocations of a call, each side", "allocations_per_call", bars::allocations,
                "each", 2},
          Count{"system calls of a call, each side", "syscalls_per_call", bars::system_calls,
                "each", 2},
          Count{"instructions of a null call", "instructions_per_call", bars::instructions, "both",
                0}}) {
        const Choice mine{.experiment = "counters", .side = count.side};
        Choice omniorb = mine;
        omniorb.system = "omniorb";
        std::optional<double> value = figure_of(reports, mine, count.figure);
        // Arguments must not cost any either, nor system calls.
        if (value && count.side == "each")
            for (const std::string_view payload : {"octet", "BinStruct"}) {
                Choice with_argument = mine;
                with_argument.payload = payload;
                value = std::max(*value,
                                 figure_of(reports, with_argument, count.figure).value_or(*value));
            }
        headlines.push_back({.title = count.title,
                             .bar = {count.figure, Bar::Relation::at_most, count.limit},
                             .decimals = count.decimals,
                             .value = value,
                             .beside = beside(reports, mine, omniorb, "omniORB", count.figure,
                                              count.decimals, "")});
    }
}

std::string cut(const std::string& text, std::size_t width)
{
    if (width_of(text) <= width) return text;
    std::size_t end = 0;
    for (std::size_t seen = 0; end < text.size(); ++end)
        if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && ++seen == width) break;
    return text.substr(0, end) + "…";
}

std::string painted(std::string_view outcome, bool colored)
{
    const std::string text = padded(std::string(outcome), 12);
    if (!colored) return text;
    const char* color = outcome == "reached" ? "32" : outcome == "MISSED" ? "1;31" : "33";
    return fmt::format("\x1b[{}m{}\x1b[0m", color, text);
}

/// Files of one suffix, as the shell would name them.
std::string files_of(std::span<const StoredReport> reports, const std::string& folder,
                     const char* suffixes)
{
    std::string names;
    for (const StoredReport& stored : reports)
        names += (names.empty() ? "" : ",") + stored.name;
    return reports.size() == 1 ? fmt::format("{}/{}{}", folder, names, suffixes)
                               : fmt::format("{}/{{{}}}{}", folder, names, suffixes);
}

/// "1.02" where it is of a ratio, "0" where nothing is.
std::string value_of(const Headline& headline)
{
    return headline.value ? grouped(*headline.value, headline.decimals) : "–";
}

void add_shortfalls(std::string& text, std::span<const StoredReport> reports)
{
    constexpr std::size_t shown_max = 6;
    std::vector<std::string> lines;
    for (const StoredReport& stored : reports) {
        const Verdict verdict = judge(stored.report);
        for (const std::string& figure : verdict.missed)
            lines.push_back(fmt::format("  {}: {}", stored.name, figure));
        for (const std::string& figure : verdict.absent)
            lines.push_back(fmt::format("  {}: not measured: {}", stored.name, figure));
    }
    const std::size_t shown = lines.size() <= shown_max ? lines.size() : shown_max - 1;
    for (std::size_t i = 0; i < shown; ++i)
        text += cut(lines[i], summary_columns_max) + "\n";
    if (shown < lines.size())
        text += fmt::format("  … and {} more, on the page\n", lines.size() - shown);
}

} // namespace

std::optional<bool> Headline::reached() const
{
    Row row;
    if (value) row.set(bar.figure, *value);
    return bench::reached(row, bar);
}

std::string readable_date(const std::string& date)
{
    return date.size() < 16 ? date : date.substr(0, 10) + " " + date.substr(11, 5) + " UTC";
}

std::vector<Headline> headlines_of(std::span<const StoredReport> reports)
{
    std::vector<Headline> headlines;
    add_null_calls(headlines, reports, false);
    add_null_calls(headlines, reports, true);
    add_transfers(headlines, reports);
    add_counts(headlines, reports);
    return headlines;
}

std::string_view outcome_of(const Headline& headline)
{
    const auto outcome = headline.reached();
    return !outcome ? "not measured" : *outcome ? "reached" : "MISSED";
}

Verdict judge(std::span<const Headline> headlines)
{
    Verdict verdict;
    for (const Headline& headline : headlines) {
        const auto outcome = headline.reached();
        const std::string text = fmt::format("{} {}, bar {}", headline.title, value_of(headline),
                                             limit_text(headline.bar));
        if (!outcome)
            verdict.absent.push_back(
                fmt::format("{}, bar {}", headline.title, limit_text(headline.bar)));
        else if (*outcome)
            ++verdict.reached;
        else
            verdict.missed.push_back(text);
    }
    return verdict;
}

Verdict judge(std::span<const StoredReport> reports)
{
    Verdict all;
    for (const StoredReport& stored : reports) {
        Verdict verdict = judge(stored.report);
        all.reached += verdict.reached;
        std::ranges::move(verdict.missed, std::back_inserter(all.missed));
        std::ranges::move(verdict.absent, std::back_inserter(all.absent));
    }
    return all;
}

std::vector<std::pair<std::string, std::string>>
circumstances_of(std::span<const StoredReport> reports)
{
    if (reports.empty()) return {};
    const auto by_date = [](const StoredReport& a, const StoredReport& b) {
        return a.host.date < b.host.date;
    };
    const auto [first, last] = std::ranges::minmax_element(reports, by_date);
    const Host& host = last->host;
    std::vector<std::pair<std::string, std::string>> all{
        {"machine", fmt::format("{}, {} CPU{} ({})", host.cpu, host.cpus, host.cpus == 1 ? "" : "s",
                                host.machine)},
        {"system", host.kernel},
        {"compiler", host.compiler},
        {"build", host.build}};
    std::string others;
    for (const StoredReport& stored : reports)
        if (!stored.host.same_place(host)) others += (others.empty() ? "" : ", ") + stored.name;
    if (!others.empty()) all.emplace_back("but", "elsewhere or of another build: " + others);
    all.emplace_back("measured",
                     first->host.date.substr(0, 10) == host.date.substr(0, 10)
                         ? readable_date(host.date)
                         : readable_date(first->host.date) + " to " + readable_date(host.date));
    return all;
}

std::string render_summary(std::span<const StoredReport> reports, const std::string& folder,
                           bool colored)
{
    std::string text =
        fmt::format("Kairos {}, measured\n\n", reports.empty() ? "" : reports.front().host.kairos);
    for (const auto& [title, value] : circumstances_of(reports))
        text += cut(padded(title, 10) + value, summary_columns_max) + "\n";

    const std::vector<Headline> headlines = headlines_of(reports);
    constexpr std::size_t title_width = 34;
    constexpr std::size_t value_width = 6;
    constexpr std::size_t bar_width = 8;
    text += "\n" + padded("what matters", title_width) + padded("Kairos", value_width, true) +
            "  bar\n";
    for (const Headline& headline : headlines) {
        std::string line = padded(headline.title, title_width) +
                           padded(value_of(headline), value_width, true) + "  " +
                           padded(limit_text(headline.bar), bar_width) + " " +
                           painted(outcome_of(headline), colored) + " " + headline.beside;
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    text += fmt::format("\n{} of {} reached. All experiments: {}.\n",
                        judge(std::span<const Headline>(headlines)).reached, headlines.size(),
                        in_words(judge(reports)));
    add_shortfalls(text, reports);

    std::error_code failure;
    const std::string page =
        "file://" + std::filesystem::canonical(folder, failure).string() + "/index.html";
    text += fmt::format(
        "\nThe page with every table and picture: {}\n",
        !failure && width_of(page) <= summary_columns_max - 39 ? page : folder + "/index.html");
    text += cut("Tables: " + files_of(reports, folder, ".txt"), summary_columns_max) + "\n";
    text += cut("Figures and pictures: the same with .json and .svg", summary_columns_max) + "\n";
    return text;
}

} // namespace kairos::bench
