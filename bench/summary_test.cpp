// SPDX-License-Identifier: Apache-2.0
#include "bench/summary.h"

#include "bench/report_testing.h"

#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

namespace kairos::bench {
namespace {

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

void expect_one_screen(const std::string& text)
{
    const auto lines = lines_of(text);
    EXPECT_LE(lines.size(), summary_lines_max) << text;
    for (const std::string& line : lines)
        EXPECT_LE(width_of(line), summary_columns_max) << line;
}

std::size_t count_of(const std::string& text, const std::string& word)
{
    std::size_t count = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        ++count;
    return count;
}

Row& row_with(StoredReport& stored, const std::string& figure)
{
    return *std::ranges::find_if(stored.report.rows, [&](const Row& row) {
        return std::ranges::find(row.bars, figure, &Bar::figure) != row.bars.end();
    });
}

TEST(Summary, SaysOfEachFigureThatItIsReached)
{
    const auto reports = tested_stored_reports();
    const std::string text = render_summary(reports, "out", false);
    expect_one_screen(text);
    for (const char* title :
         {"null call × raw sockets", "null call × omniORB", "null call on one CPU × raw sockets",
          "null call on one CPU × omniORB", "octets", "structs", "strings", "locks", "allocations",
          "system calls", "instructions"})
        EXPECT_NE(text.find(title), std::string::npos) << title << '\n' << text;
    EXPECT_NE(text.find("11 of 11 reached. All experiments: 26 bars reached.\n"), std::string::npos)
        << text;
    EXPECT_NE(text.find("21.00 µs beside 20.00 of raw"), std::string::npos) << text;
    EXPECT_NE(text.find("2,300 MB/s beside 2,550 of octets"), std::string::npos) << text;
    EXPECT_NE(text.find("out/{latency,latency-one-cpu,ttcp,counters}.txt"), std::string::npos);
    EXPECT_EQ(count_of(text, "MISSED") + count_of(text, "not measured"), 0u) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_NE(render_summary(reports, "out", true).find("\x1b[32mreached"), std::string::npos);
}

TEST(Summary, AFigureThatIsMissedSaysSo)
{
    auto reports = tested_stored_reports();
    row_with(reports[1], "ratio_to_raw").set("ratio_to_raw", 1.2);
    const std::string text = render_summary(reports, "out", false);
    expect_one_screen(text);
    EXPECT_EQ(count_of(text, "MISSED"), 1u) << text;
    EXPECT_NE(text.find("10 of 11 reached. All experiments: 25 bars reached, 1 missed."),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("  latency-one-cpu: × raw 1.20, bar ≤ 1.10: kairos, "), std::string::npos)
        << text;
}

TEST(Summary, TheWorseSideAndArgumentCounts)
{
    auto reports = tested_stored_reports();
    reports[3].report.rows[3].set("locks_per_call", 2); // octet, server
    const auto headlines = headlines_of(reports);
    const auto locks = std::ranges::find(headlines, "locks of a call, each side", &Headline::title);
    ASSERT_NE(locks, headlines.end());
    EXPECT_EQ(locks->value, 2.0);
    EXPECT_EQ(locks->reached(), false);
}

TEST(Summary, WhatIsNotThereIsNotReached)
{
    auto reports = tested_stored_reports();
    reports.erase(reports.begin() + 1);
    auto& figures = row_with(reports[0], "ratio_to_omniorb").figures;
    std::erase_if(figures, [](const auto& figure) { return figure.first == "ratio_to_omniorb"; });
    const std::string text = render_summary(reports, "out", false);
    expect_one_screen(text);
    EXPECT_EQ(outcome_of(headlines_of(reports)[1]), "not measured");
    EXPECT_EQ(judge(std::span<const Headline>(headlines_of(reports))).absent.size(), 3u);
    EXPECT_NE(text.find("8 of 11 reached."), std::string::npos) << text;
    EXPECT_NE(text.find("latency: not measured: × omniORB, bar < 1: kairos, "), std::string::npos)
        << text;
}

TEST(Summary, OfNothingHasEveryFigure)
{
    const std::vector<Headline> headlines = headlines_of({});
    EXPECT_EQ(headlines.size(), 11u);
    const Verdict verdict = judge(std::span<const Headline>(headlines));
    EXPECT_EQ(verdict.absent.size(), headlines.size());
    EXPECT_FALSE(verdict.good());
}

TEST(Summary, StaysOneScreenWhateverIsMissed)
{
    auto reports = tested_stored_reports();
    for (StoredReport& stored : reports) {
        stored.host.cpu = std::string(200, 'x');
        for (int i = 0; i < 100; ++i) {
            Row row = tested_row("kairos", std::string(150, 'v'), "twoway", "µµµµ");
            row.bars = {{"absent", Bar::Relation::at_most, 1}};
            stored.report.rows.push_back(row);
        }
    }
    const std::string text = render_summary(reports, "out", false);
    expect_one_screen(text);
    EXPECT_NE(text.find("400 not measured"), std::string::npos) << text;
    EXPECT_NE(text.find("… and 395 more, on the page"), std::string::npos) << text;
}

TEST(Summary, SaysWhichReportsAreOfAnotherBuild)
{
    auto reports = tested_stored_reports();
    EXPECT_EQ(render_summary(reports, "out", false).find("another build"), std::string::npos);
    for (StoredReport& stored : reports)
        stored.host.date = "2026-11-27T10:00:00Z";
    reports[2].host.build = "Debug";
    reports[2].host.date = "2026-11-20T10:00:00Z";
    const std::string text = render_summary(reports, "out", false);
    expect_one_screen(text);
    EXPECT_NE(text.find("of another build: ttcp\n"), std::string::npos) << text;
    EXPECT_NE(text.find("2026-11-20 10:00 UTC to 2026-11-27 10:00 UTC"), std::string::npos) << text;
}

TEST(Summary, TheNewerOfTwoReportsCounts)
{
    auto reports = tested_stored_reports();
    reports.push_back(reports[0]);
    reports.back().name = "latency-again";
    row_with(reports.back(), "ratio_to_raw").set("ratio_to_raw", 1.01);
    reports[0].host.date = "2026-11-27T10:00:01Z";
    reports.back().host.date = "2026-11-27T10:00:00Z";
    EXPECT_EQ(headlines_of(reports)[0].value, 1.05);
    reports.back().host.date = "2026-11-27T10:00:02Z";
    EXPECT_EQ(headlines_of(reports)[0].value, 1.01);
}

TEST(StoredReport, IsReadAsItWasWritten)
{
    const std::string path =
        testing::TempDir() + "stored_report_" + std::to_string(getpid()) + ".json";
    for (auto& [name, report] : tested_reports()) {
        report.rows[0].system_calls["recvfrom"] = 1;
        report.rows[0].status = "not installed";
        ASSERT_TRUE(write_json(report, path).ok());
        const auto stored = read_report(path);
        ASSERT_TRUE(stored.ok()) << stored.error().reason;
        EXPECT_EQ(stored->report.experiment, report.experiment);
        EXPECT_EQ(stored->report.title, report.title);
        EXPECT_EQ(stored->report.notes, report.notes);
        EXPECT_EQ(render_table(stored->report), render_table(report));
        EXPECT_EQ(in_words(judge(stored->report)), in_words(judge(report)));
        EXPECT_EQ(stored->report.rows[0].system_calls, report.rows[0].system_calls);
        EXPECT_TRUE(stored->host.same_place(this_host()));
        report.needs.push_back({"no such figure"});
        ASSERT_TRUE(write_json(report, path).ok());
        EXPECT_EQ(judge(read_report(path)->report).absent, judge(report).absent);
    }
    std::remove(path.c_str());
}

TEST(StoredReport, WithoutColumnsShowsEveryFigure)
{
    const std::string path =
        testing::TempDir() + "old_report_" + std::to_string(getpid()) + ".json";
    ASSERT_TRUE(write_file(path, R"([{"experiment": "latency"},
        {"system": "kairos", "a_us": 1.5, "b_us": 2, "bars": [
            {"figure": "b_us", "relation": "below", "limit": 2, "reached": true}]}])")
                    .ok());
    const auto stored = read_report(path);
    std::remove(path.c_str());
    ASSERT_TRUE(stored.ok()) << stored.error().reason;
    ASSERT_EQ(stored->report.columns.size(), 2u);
    EXPECT_EQ(stored->report.columns[1].title, "b_us");
    EXPECT_EQ(judge(stored->report).missed.size(), 1u); // what the file says of it counts nothing
}

TEST(StoredReport, ThatIsNoneIsAnErrorWithItsName)
{
    const std::string path = testing::TempDir() + "no_report_" + std::to_string(getpid()) + ".json";
    for (const char* text : {"", "{}", "[]", "[1]", R"([{"host": "x"}])", R"([{"experiment": 1}])",
                             R"([{"experiment": "x"}, 5])",
                             R"([{"experiment": "x"}, {"bars": [{"limit": "much"}]}])"}) {
        ASSERT_TRUE(write_file(path, text).ok());
        const auto stored = read_report(path);
        ASSERT_FALSE(stored.ok()) << text;
        EXPECT_NE(stored.error().reason.find(path), std::string::npos) << stored.error().reason;
    }
    std::remove(path.c_str());
    EXPECT_FALSE(read_report(path).ok());
    EXPECT_FALSE(read_reports("/no/such/folder").ok());
}

} // namespace
} // namespace kairos::bench
