// SPDX-License-Identifier: Apache-2.0
#include "bench/report.h"

#include "bench/plot.h"
#include "bench/stored_report.h"

#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace kairos::bench {
namespace {

Row row_of(const std::string& system, const std::string& payload, double p50_us)
{
    Row row;
    row.system = system;
    row.variant =
        system == "raw-tcp" ? "blocking sockets, pin=same" : "thread-per-connection, pin=same";
    row.direction = "twoway";
    row.payload_type = payload;
    row.payload_bytes = payload == "null" ? 0 : 1234;
    row.set("units", 1);
    row.set("p50_us", p50_us);
    return row;
}

const std::vector<Column> columns{{"p50_us", "p50 µs", 2}, {"absent", "absent", 2}};

TEST(Report, JsonIsTheHostAndThenOneObjectPerRow)
{
    Report report{.experiment = "latency", .rows = {row_of("raw-tcp", "null", 6.25)}, .notes = {}};
    report.rows.push_back(row_of("kairos", "octet", 7));
    report.rows[1].side = "client";
    report.rows[1].system_calls["recvfrom"] = 1;
    report.rows[1].bars = {{"p50_us", Bar::Relation::at_most, 6.5}};
    const auto json = to_json(report);
    ASSERT_EQ(json.size(), 3u);
    for (const char* key : {"host", "kernel", "compiler", "date", "cpus", "experiment"})
        EXPECT_TRUE(json[0].contains(key)) << key;
    EXPECT_EQ(json[1].dump(), R"({"experiment":"latency","system":"raw-tcp",)"
                              R"("variant":"blocking sockets, pin=same","direction":"twoway",)"
                              R"("payload_type":"null","payload_bytes":0,"units":1.0,)"
                              R"("p50_us":6.25})");
    EXPECT_EQ(json[2]["side"], "client");
    EXPECT_EQ(json[2]["syscalls_by_name"]["recvfrom"], 1.0);
    EXPECT_EQ(json[2]["bars"][0]["reached"], false);
}

TEST(Report, JsonSaysThatAFigureOfABarIsAbsent)
{
    Report report{.experiment = "latency", .rows = {row_of("kairos", "null", 6.25)}, .notes = {}};
    report.rows[0].bars = {{"ratio_to_raw", Bar::Relation::at_most, 1.1}};
    const auto bar = to_json(report)[1]["bars"][0];
    EXPECT_EQ(bar["figure"], "ratio_to_raw");
    EXPECT_TRUE(bar["reached"].is_null());
}

TEST(Report, AbsentSystemsSayWhy)
{
    Row row;
    row.system = "omniorb";
    row.status = "not installed";
    const Report report{.experiment = "latency", .rows = {row}, .notes = {}, .columns = columns};
    EXPECT_EQ(to_json(report)[1]["status"], "not installed");
    EXPECT_NE(render_table(report).find("not installed"), std::string::npos);
}

TEST(Bar, ComparesTheFigureAsItIsShown)
{
    Row row = row_of("kairos", "null", 0);
    const auto outcome = [&](double value, Bar::Relation relation, double limit) {
        row.set("ratio", value);
        return reached(row, {"ratio", relation, limit}).value();
    };
    EXPECT_TRUE(outcome(1.104, Bar::Relation::at_most, 1.10));
    EXPECT_FALSE(outcome(1.106, Bar::Relation::at_most, 1.10));
    EXPECT_TRUE(outcome(0.95, Bar::Relation::at_least, 0.95));
    EXPECT_FALSE(outcome(0.94, Bar::Relation::at_least, 0.95));
    EXPECT_FALSE(outcome(1.0, Bar::Relation::below, 1.0));
    EXPECT_TRUE(outcome(0.99, Bar::Relation::below, 1.0));
    EXPECT_TRUE(outcome(0.001, Bar::Relation::at_most, 0)); // one call's tail in a thousand
    EXPECT_FALSE(reached(row, {"no such figure", Bar::Relation::at_most, 1}));
}

TEST(Bar, OfNoNumberIsNotReached)
{
    Row row = row_of("kairos", "null", std::numeric_limits<double>::quiet_NaN());
    EXPECT_FALSE(reached(row, {"p50_us", Bar::Relation::at_most, 1}));
    EXPECT_FALSE(reached(row, {"p50_us", Bar::Relation::at_least, 1}));
}

TEST(Verdict, TellsMissedFromNotMeasured)
{
    Report report{.experiment = "latency", .rows = {row_of("kairos", "null", 6.25)}, .notes = {}};
    report.columns = {{"p50_us", "p50 µs", 2}, {"ratio_to_raw", "× raw", 2}};
    report.rows[0].bars = {{"p50_us", Bar::Relation::at_most, 7}};
    EXPECT_TRUE(judge(report).good());
    EXPECT_EQ(in_words(judge(report)), "1 bar reached");

    report.rows[0].bars.push_back({"p50_us", Bar::Relation::below, 6.25});
    report.rows[0].bars.push_back({"ratio_to_raw", Bar::Relation::at_most, 1.1});
    const Verdict verdict = judge(report);
    EXPECT_FALSE(verdict.good());
    EXPECT_EQ(verdict.reached, 1u);
    ASSERT_EQ(verdict.missed.size(), 1u);
    EXPECT_EQ(verdict.missed[0], "p50 µs 6.25, bar < 6.25: "
                                 "kairos, thread-per-connection, pin=same, twoway, null");
    ASSERT_EQ(verdict.absent.size(), 1u);
    EXPECT_EQ(verdict.absent[0], "× raw, bar ≤ 1.10: "
                                 "kairos, thread-per-connection, pin=same, twoway, null");
    EXPECT_EQ(in_words(verdict), "1 bar reached, 1 missed, 1 not measured");
}

TEST(Verdict, NamesWhatWasNotAskedFor)
{
    Report report{.experiment = "ttcp", .rows = {row_of("kairos", "octet", 5)}, .notes = {}};
    report.needs = {{"p50_us", "octet"}, {"p50_us", "null"}, {"p50_us"}, {"ratio_to_raw"}};
    report.rows[0].bars = {{"p50_us", Bar::Relation::at_most, 7}};
    EXPECT_EQ(judge(report).absent, (std::vector<std::string>{"p50_us (null)", "ratio_to_raw"}));
    report.rows.clear();
    EXPECT_EQ(judge(report).absent.size(), 4u);
}

TEST(Verdict, OfAProgramThatIsMissingIsNoneOfOurs)
{
    Report report{.experiment = "latency", .rows = {}, .notes = {}};
    for (const char* system : {"kairos", "omniorb"}) {
        Row row;
        row.system = system;
        row.status = "not installed";
        report.rows.push_back(row);
    }
    EXPECT_EQ(judge(report).absent, std::vector<std::string>{"kairos: not installed"});
}

TEST(Table, SaysThatAFigureOfABarWasNotMeasured)
{
    Report report{.experiment = "latency", .rows = {row_of("kairos", "null", 6.25)}, .notes = {}};
    report.columns = {{"ratio_to_raw", "× raw", 2}};
    report.rows[0].bars = {{"ratio_to_raw", Bar::Relation::at_most, 1.1}};
    EXPECT_NE(render_table(report).find("× raw ≤ 1.10: not measured"), std::string::npos)
        << render_table(report);
}

TEST(Table, AlignsColumnsAndSaysWhatIsCommonOnce)
{
    Report report{.experiment = "latency", .rows = {row_of("raw-tcp", "null", 6.25)}, .notes = {}};
    report.rows.push_back(row_of("kairos", "octet", 1234.5));
    report.rows[1].bars = {{"p50_us", Bar::Relation::at_most, 7}};
    report.columns = columns;
    report.notes = {"A note."};
    EXPECT_EQ(
        render_table(report),
        "latency, pin=same\n"
        "\n"
        "system   variant                direction  payload  bytes    p50 µs  bar\n"
        "-------  ---------------------  ---------  -------  -----  --------  ----------------"
        "\n"
        "raw-tcp  blocking sockets       twoway     null                6.25\n"
        "kairos   thread-per-connection  twoway     octet    1,234  1,234.50  p50 µs ≤ 7: MISS"
        "\n"
        "A note.\n");
}

TEST(Table, NothingHasNoSign)
{
    Report report{.experiment = "x", .rows = {row_of("kairos", "null", -0.004)}, .notes = {}};
    report.columns = columns;
    EXPECT_EQ(render_table(report).find("-0.00"), std::string::npos);
}

TEST(File, ThatCannotBeWrittenIsAnErrorWithItsName)
{
    const auto written = write_file("/proc/no/such/file", "text");
    ASSERT_FALSE(written.ok());
    EXPECT_NE(written.error().reason.find("/proc/no/such/file"), std::string::npos);
}

TEST(Picture, LatencyDrawsEverySystemInThePanelOfEachType)
{
    Report report{.experiment = "latency", .rows = {}, .notes = {}};
    for (const char* payload : {"null", "octet", "double"})
        for (const char* system : {"raw-tcp", "kairos"})
            report.rows.push_back(row_of(system, payload, 12.5));
    const auto pictures = pictures_of(report, "a.svg");
    ASSERT_EQ(pictures.size(), 1u);
    EXPECT_EQ(pictures[0].path, "a.svg");
    const std::string& script = pictures[0].script;
    EXPECT_NE(script.find("set output 'a.svg'"), std::string::npos);
    EXPECT_NE(script.find("placed: same"), std::string::npos);
    for (const char* title : {"sequence of octet", "sequence of double", "title 'kairos'"})
        EXPECT_NE(script.find(title), std::string::npos) << title;
    EXPECT_NE(script.find("1 12.5\n"), std::string::npos);
}

TEST(Picture, TtcpDrawsOnePictureForEachSocketQueue)
{
    Report report{.experiment = "ttcp", .rows = {}, .notes = {}};
    for (const char* queue : {"8K", "default"}) {
        Row row = row_of("kairos", "octet", 0);
        row.variant += std::string(", queue=") + queue;
        row.set("buffer_bytes", 8192);
        row.set("throughput_mbyte_s", 2500);
        report.rows.push_back(row);
    }
    const auto pictures = pictures_of(report, "dir.svg/t.svg");
    ASSERT_EQ(pictures.size(), 2u);
    EXPECT_EQ(pictures[0].path, "dir.svg/t-8K.svg");
    EXPECT_EQ(pictures[1].path, "dir.svg/t-default.svg");
    EXPECT_NE(pictures[0].script.find("8192 2500\n"), std::string::npos);
}

} // namespace
} // namespace kairos::bench
