// SPDX-License-Identifier: Apache-2.0
//
// `kairos sched` as its users meet it: files good and bad, tables, JSON, pictures, exit status.
#include "bench/process.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <unistd.h>
#include <vector>

namespace kairos {
namespace {

/// A file of this test process, gone at the end.
class TemporaryFile {
  public:
    explicit TemporaryFile(const std::string& suffix, const std::string& text = "")
        : path_(testing::TempDir() + "sched_test_" + std::to_string(getpid()) + suffix)
    {
        std::ofstream(path_) << text;
    }
    ~TemporaryFile() { std::remove(path_.c_str()); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string text() const
    {
        std::ifstream file(path_);
        return {std::istreambuf_iterator<char>(file), {}};
    }

  private:
    std::string path_;
};

struct Outcome {
    int status = -1;
    std::string out;
    std::string err;
};

Outcome sched(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), {KAIROS_TOOL, "sched"});
    const auto ended =
        bench::run_to_end(
            {.command = arguments, .environment = {}, .cpu = {}, .inherited_descriptor = -1},
            std::chrono::seconds(60))
            .value();
    return {ended.exit_status, ended.output, ended.errors};
}

bool has(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

constexpr const char* late_set =
    "[[operation]]\nname = \"a\"\nperiod = \"50 ms\"\nwcet = \"12 ms\"\n"
    "[[operation]]\nname = \"b\"\nperiod = \"40 ms\"\nwcet = \"10 ms\"\n"
    "[[operation]]\nname = \"c\"\nperiod = \"30 ms\"\nwcet = \"10 ms\"\n";

TEST(Sched, TheExampleIsSchedulable)
{
    const Outcome outcome = sched({KAIROS_EXAMPLES "/scheduling/avionics.toml"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(has(outcome.out, "\nschedulable under rms\n")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "track_filter: 2 ms within sensors, navigation, every 50 ms\n"));
    EXPECT_TRUE(has(outcome.out, "utilisation: 75.00 %, typically 52.50 %\n"));
}

TEST(Sched, TheExampleInIdlSaysTheSame)
{
    const auto figures = [](const char* file) {
        const Outcome outcome = sched({"--json", std::string(KAIROS_EXAMPLES) + file});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        auto result = nlohmann::json::array();
        const auto report = nlohmann::json::parse(outcome.out);
        for (const auto& task : report.at("tasks"))
            result.push_back({task["period_ns"], task["execution_ns"], task["response_ns"],
                              task["slack_ns"], task["os_priority"], task["criticality"]});
        return result;
    };
    EXPECT_EQ(figures("/scheduling/avionics.toml"), figures("/scheduling/avionics.idl"));
}

TEST(Sched, SaysWhoMissesByHowMuch)
{
    const TemporaryFile file(".toml", late_set);
    const Outcome outcome = sched({file.path()});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(has(outcome.out, "MISSES by 2 ms")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "NOT schedulable under rms"));
    EXPECT_TRUE(has(outcome.out, "Liu-Layland bound: 82.33 % of 77.98 %, above"));
}

TEST(Sched, DrawsTheTimeLineForTerminals)
{
    const TemporaryFile file(".toml",
                             "[[operation]]\nname = \"a\"\nperiod = \"4 ms\"\nwcet = \"2 ms\"\n"
                             "[[operation]]\nname = \"b\"\nperiod = \"6 ms\"\nwcet = \"3 ms\"\n");
    const Outcome outcome = sched({file.path(), "--until", "97 ms"});
    EXPECT_TRUE(has(outcome.out, "one column: 1 ms; # runs")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "\na |##  ##  ##  ##")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "\nb |--##--!#--##--##--!#")) << outcome.out;
}

TEST(Sched, PrintsJson)
{
    const TemporaryFile file(".toml", late_set);
    const Outcome outcome = sched({file.path(), "--json"});
    EXPECT_EQ(outcome.status, 1);
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["schedulable"], false);
    EXPECT_EQ(json["hyperperiod_ns"], 600'000'000);
    EXPECT_EQ(json["tasks"][0]["name"], "c");
    EXPECT_EQ(json["tasks"][2]["response_ns"], 52'000'000);
    EXPECT_EQ(json["tasks"][2]["slack_ns"], -2'000'000);
    EXPECT_EQ(json["tasks"][2]["verdict"], "misses");
    EXPECT_EQ(json["tasks"][2]["played"]["worst_response_ns"], 52'000'000);
    EXPECT_EQ(json["time_line"]["slices"][0]["end_ns"], 10'000'000);
}

TEST(Sched, DrawsSvg)
{
    const TemporaryFile file(".toml", std::string(late_set) +
                                          "[[operation]]\nname = \"<&\\u0007>\"\n"
                                          "period = \"1 s\"\nwcet = \"1 ms\"\n");
    const TemporaryFile picture(".svg");
    EXPECT_EQ(sched({file.path(), "--svg", picture.path()}).status, 1);
    const std::string svg = picture.text();
    EXPECT_TRUE(svg.starts_with("<svg ")) << svg.substr(0, 80);
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
    EXPECT_TRUE(has(svg, "<title>a, job 1: 20 ms to 30 ms</title>"));
    EXPECT_TRUE(has(svg, "&lt;&amp;\\x07&gt;"));
    EXPECT_TRUE(has(svg, "fill=\"#c00\"")); // what is late
    EXPECT_EQ(sched({file.path(), "--svg", "/nowhere/at/all.svg"}).status, 2);
}

TEST(Sched, OtherPoliciesAndPriorities)
{
    const TemporaryFile file(".toml",
                             "policy = \"edf\"\npriorities = \"10-20\"\n" + std::string(late_set));
    const Outcome edf = sched({file.path()});
    EXPECT_EQ(edf.status, 0) << edf.out << edf.err;
    EXPECT_TRUE(has(edf.out, "schedulable under edf"));
    EXPECT_TRUE(has(edf.out, "worst seen"));
    EXPECT_EQ(sched({file.path(), "--policy", "llf"}).status, 0);
    EXPECT_EQ(sched({file.path(), "--policy", "rms"}).status, 1);
    const Outcome shared = sched({file.path(), "--policy", "rms", "--priorities", "1-2"});
    EXPECT_TRUE(has(shared.out, "priority 1 is shared, for there are too few: b, a")) << shared.out;
}

TEST(Sched, BadFilesAreNamedByLineAndColumn)
{
    const TemporaryFile file(".toml", "polici = \"rms\"\n"              // 1
                                      "policy = \"fifo\"\n"             // 2
                                      "priorities = \"9-1\"\n"          // 3
                                      "[[operation]]\n"                 // 4
                                      "name = \"a\"\n"                  // 5
                                      "period = 50\n"                   // 6
                                      "wcet = \"12 parsec\"\n"          // 7
                                      "critical = true\n"               // 8
                                      "calls = [\"b\", 5, {count=2}]\n" // 9
                                      "[[operation]]\n"                 // 10
                                      "wcet = \"1 ms\"\n"               // 11
                                      "[[operation]]\n"                 // 12
                                      "name = \"a\"\n"                  // 13
                                      "threads = 0\n");                 // 14
    const Outcome outcome = sched({file.path()});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    const std::pair<const char*, const char*> expected[] = {
        {"1:1", "unknown key 'polici'"},
        {"2:10", "expected \"rms, dms, edf, muf or llf\""},
        {"3:14", "expected \"lowest-highest\", such as \"1-99\""},
        {"6:10", "expected a time as a string, such as \"50 ms\""},
        {"7:8", "'12 parsec' is no time: write a number and ns, us, ms, s, min or h"},
        {"8:1", "unknown key 'critical' of an operation"},
        {"9:10", "there is no operation 'b' to call"},
        {"9:15", "a call is a name, or a table with operation = \"name\""},
        {"9:18", "a call needs an operation = \"name\""},
        {"10:1", "an operation needs a name = \"…\""},
        {"13:8", "'a' is there already"},
        {"14:11", "expected a number of 1 to 10000"},
    };
    for (const auto& [place, what] : expected)
        EXPECT_TRUE(has(outcome.err, file.path() + ':' + place + ": error: " + what + '\n'))
            << place << "\n"
            << outcome.err;
}

TEST(Sched, WhatTheAnalysisRefusesHasAPlaceToo)
{
    const TemporaryFile cycle(".toml", "[[operation]]\nname = \"a\"\nperiod = \"1 ms\"\n"
                                       "wcet = \"1 us\"\ncalls = [\"b\"]\n"
                                       "[[operation]]\nname = \"b\"\ncalls = [\"a\"]\n");
    const Outcome outcome = sched({cycle.path()});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err,
              cycle.path() + ":2:8: error: operations call each other in a cycle: a -> b -> a\n");
    const TemporaryFile syntax(".toml", "[[operation]\n");
    EXPECT_TRUE(has(sched({syntax.path()}).err, syntax.path() + ":1:"));
    const TemporaryFile empty(".toml", "");
    EXPECT_TRUE(has(sched({empty.path()}).err, "there are no operations"));
    EXPECT_EQ(sched({"/nowhere/at/all.toml"}).status, 2);
}

TEST(Sched, BadIdlIsReportedAsTheCompilerDoes)
{
    const TemporaryFile wrong(".idl", "interface I {\n    @period(days=1) void a();\n};\n");
    const Outcome refused = sched({wrong.path()});
    EXPECT_EQ(refused.status, 2);
    EXPECT_TRUE(has(refused.err, wrong.path() + ":2:5: error: expected period(unit=number)"))
        << refused.err;
    const TemporaryFile idle("2.idl", "interface I {\n    @wcet(us=1) void a();\n};\n");
    const Outcome never = sched({idle.path()});
    EXPECT_EQ(never.status, 2);
    EXPECT_EQ(never.err,
              idle.path() + ":2:22: error: 'I::a' never runs: it has no period and no caller\n");
    const TemporaryFile plain("3.idl", "interface I { void a(); };\n");
    EXPECT_TRUE(has(sched({plain.path()}).err, "there are no operations with timing"));
}

/// Each dot would be a table in a table, as deep as the stack is.
TEST(Sched, FilesThatNestTooDeepAreRefused)
{
    std::string dots;
    for (int i = 0; i < 200'000; ++i)
        dots += ".a";
    const TemporaryFile deep(".toml", "# x" + dots + "\nx" + dots + " = 1\n");
    const Outcome outcome = sched({deep.path()});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err, deep.path() + ":2:1: error: too many dotted keys\n");
}

TEST(Sched, DotsOfStringsAndCommentsNestNothing)
{
    std::string dots;
    for (int i = 0; i < 1000; ++i)
        dots += '.';
    const std::string times = "\nperiod = '''4 ms'''\nwcet = \"\"\"1 ms\"\"\"\n";
    const TemporaryFile flat(
        ".toml", "# '\"" + dots + "\n[[operation]] # " + dots + "\nname = \"\\\"" + dots + "\"" +
                     times + "[[operation]]\nname = '" + dots + "'" + times +
                     "[[operation]]\nname = \"\"\"\"" + dots + "\"\"\"\"\"" + times);
    const Outcome outcome = sched({flat.path()});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST(Sched, FilesWithoutEndAreNotReadToTheEnd)
{
    const Outcome outcome = sched({"/dev/zero"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err, "/dev/zero: error: is larger than 16 MiB\n");
}

/// Tasks that never get the processor have nothing but releases to draw.
TEST(Sched, PicturesOfManyReleasesAreRefused)
{
    const TemporaryFile file(".toml",
                             "policy = \"dms\"\n"
                             "[[operation]]\nname = \"a\"\nperiod = \"1 s\"\nwcet = \"1 s\"\n"
                             "deadline = \"1 ns\"\n"
                             "[[operation]]\nname = \"b\"\nperiod = \"10 us\"\nwcet = \"1 us\"\n");
    const TemporaryFile picture(".svg");
    const Outcome drawn = sched({file.path(), "--svg", picture.path()});
    EXPECT_EQ(drawn.status, 2);
    EXPECT_TRUE(has(drawn.err, "draw less with --until")) << drawn.err;
}

TEST(Sched, WrongArgumentsAreStatusTwo)
{
    const TemporaryFile file(".toml", late_set);
    EXPECT_EQ(sched({}).status, 2);
    EXPECT_EQ(sched({file.path(), "--policy", "fifo"}).status, 2);
    EXPECT_EQ(sched({file.path(), "--priorities", "many"}).status, 2);
    EXPECT_EQ(sched({file.path(), "--priorities", "9-1"}).status, 2);
    EXPECT_EQ(sched({file.path(), "--until", "soon"}).status, 2);
    EXPECT_EQ(sched({file.path(), "--until", "0 ms"}).status, 2);
    EXPECT_EQ(sched({file.path(), "--time", "lucky"}).status, 2);
}

// Periods without a common multiple in range, and a picture that would be too large.
TEST(Sched, LongTimeLinesAreCutOrRefused)
{
    const TemporaryFile file(
        ".toml", "[[operation]]\nname = \"a\"\nperiod = \"999999937 ns\"\nwcet = \"1 ns\"\n"
                 "[[operation]]\nname = \"b\"\nperiod = \"1000003 ns\"\nwcet = \"1 ns\"\n"
                 "[[operation]]\nname = \"c\"\nperiod = \"10007 ns\"\nwcet = \"1 ns\"\n");
    const TemporaryFile picture(".svg");
    const Outcome outcome = sched({file.path()});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(has(outcome.out, "hyperperiod: more than 366 days"));
    const Outcome drawn = sched({file.path(), "--svg", picture.path()});
    EXPECT_EQ(drawn.status, 2);
    EXPECT_TRUE(has(drawn.err, "draw less with --until")) << drawn.err;
    const Outcome longer = sched({file.path(), "--until", "100 s"});
    EXPECT_EQ(longer.status, 0);
    EXPECT_TRUE(has(longer.out, "no time line: there are more than 1000000 jobs in 100 s"));
}

} // namespace
} // namespace kairos
