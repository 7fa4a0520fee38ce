// SPDX-License-Identifier: Apache-2.0
//
// The `kairos` tool as its users meet it: arguments, exit status, files, and that it leaves no
// process behind.
#include "bench/plot.h"
#include "bench/process.h"
#include "bench/report_testing.h"
#include "bench/systems.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace kairos {
namespace {

constexpr std::chrono::seconds patience{60};

bench::ProcessOptions tool(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), KAIROS_TOOL);
    return {.command = arguments, .environment = {}, .cpu = {}, .inherited_descriptor = -1};
}

bench::ChildProcess::Remains run(std::vector<std::string> arguments)
{
    return bench::run_to_end(tool(std::move(arguments)), patience).value();
}

/// A file name of this test process, gone at the end.
class TemporaryFile {
  public:
    explicit TemporaryFile(const std::string& suffix)
        : path_(testing::TempDir() + "kairos_test_" + std::to_string(getpid()) + suffix)
    {
    }
    ~TemporaryFile() { std::remove(path_.c_str()); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] nlohmann::json json() const
    {
        return nlohmann::json::parse(std::ifstream(path_), nullptr, false);
    }

  private:
    std::string path_;
};

std::string text_of(const std::string& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder of this test process, gone at the end with all that is in it.
class TemporaryFolder {
  public:
    TemporaryFolder() : path_(testing::TempDir() + "kairos_test_" + std::to_string(getpid()))
    {
        std::filesystem::create_directory(path_);
    }
    ~TemporaryFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

TEST(Kairos, WrongArgumentsAreStatusTwoAndSayWhy)
{
    const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
        {{}, "subcommand"},
        {{"dance"}, "subcommand"},
        {{"bench"}, "subcommand"},
        {{"bench", "latency", "--peers", "raw,orbix"}, "orbix"},
        {{"bench", "latency", "--pin", "up"}, "--pin"},
        {{"bench", "latency", "--calls", "0"}, "--calls"},
        {{"bench", "latency", "--types", "float"}, "float"},
        {{"bench", "ttcp", "--buffers", "8KB"}, "8KB"},
        {{"bench", "ttcp", "--buffers", "default"}, "--buffers"},
        {{"bench", "ttcp", "--queue", "-1"}, "-1"},
        {{"bench", "ttcp", "--directions", "both"}, "both"},
        {{"bench", "ttcp", "--peers", "unix"}, "TCP"},
        {{"bench", "param", "--peers", "raw"}, "kairos-interpretive"},
        {{"bench", "marshal", "--types", "string"}, "BinStruct"},
        {{"bench", "priority", "--peers", "orbix"}, "raw-realtime"},
        {{"bench", "priority", "--low", "251"}, "--low"},
        {{"bench", "concurrency", "--threads", "0"}, "--threads"},
        {{"bench", "whitebox", "--peers", "worker-pool+passive"}, "worker-pool+active"},
        {{"bench", "latency", "--peers", "worker-pool+active"}, "kairos-reactor"},
        {{"bench", "latency", "--into", "a", "--json", "b"}, "--json"},
        {{"bench", "ttcp", "--into", "a", "--buffers", "8KB"}, "8KB"},
        {{"report", "one", "two"}, "two"},
    };
    for (const auto& [arguments, complaint] : wrong) {
        const auto remains = run(arguments);
        EXPECT_EQ(remains.exit_status, 2) << complaint;
        EXPECT_NE(remains.errors.find(complaint), std::string::npos) << remains.errors;
        EXPECT_EQ(remains.output, "");
    }
}

TEST(Options, AreAllPrintedWithWhatTheyMean)
{
    const auto remains = run({"options"});
    EXPECT_EQ(remains.exit_status, 0);
    for (const char* const part :
         {"Where a server listens, and what it publishes\n", "\nLooking at what happens\n",
          "  -ORBQueueFull block|refuse\n      What becomes of a request", "Default: block.",
          "  -ORBEndpoint\n      The same as -ORBListenEndpoints.\n"})
        EXPECT_NE(remains.output.find(part), std::string::npos) << part;
    EXPECT_EQ(remains.output.find('`'), std::string::npos);
}

TEST(Options, OneIsAskedForByItsName)
{
    for (const char* const name : {"-ORBThreads", "ORBThreads", "threads"}) {
        const auto remains = run({"options", name});
        EXPECT_EQ(remains.exit_status, 0) << remains.errors;
        EXPECT_EQ(
            remains.output,
            "-ORBThreads n\n"
            "    How many threads serve at the same time, for each pool; where threads belong\n"
            "    to requests or objects, how many there may be.\n"
            "    Value:      a number of 1 to 100000\n"
            "    Default:    8\n"
            "    Only with:  -ORBConcurrency leader-followers, worker-pool, "
            "thread-per-request, thread-per-object or filter-chain\n"
            "    More:       docs/architectures.md\n");
    }
    const auto spelled = run({"options", "-ORBEndpoint"});
    EXPECT_TRUE(spelled.output.starts_with("-ORBListenEndpoints url[;url…]|none\n"))
        << spelled.output;
    EXPECT_NE(spelled.output.find("Also named: -ORBEndpoint\n"), std::string::npos);
    const auto unknown = run({"options", "-ORBNoSuchThing"});
    EXPECT_EQ(unknown.exit_status, 2);
    EXPECT_EQ(unknown.errors, "kairos options: the ORB has no option ORBNoSuchThing\n");
    EXPECT_EQ(run({"options", "-ORBThreads", "--markdown"}).exit_status, 2);
}

TEST(Kairos, HelpAndVersionAreSuccess)
{
    EXPECT_EQ(run({"--help"}).exit_status, 0);
    const auto remains = run({"--version"});
    EXPECT_EQ(remains.exit_status, 0);
    EXPECT_EQ(remains.output, KAIROS_VERSION "\n");
}

TEST(Kairos, BenchSaysWhichPairsThereAre)
{
    for (const char* experiment : {"priority", "concurrency", "whitebox"}) {
        const auto remains = run({"bench", experiment, "--help"});
        EXPECT_EQ(remains.exit_status, 0);
        for (const char* name : {"SERVER+CLIENT", "all-pairs", "thread-per-object", "active"})
            EXPECT_NE(remains.output.find(name), std::string::npos) << remains.output;
    }
}

TEST(Kairos, AMissingFolderOfProgramsIsStatusOne)
{
    const auto remains = run({"bench", "latency", "--programs", "/no/such/folder"});
    EXPECT_EQ(remains.exit_status, 1);
    EXPECT_NE(remains.errors.find("/no/such/folder"), std::string::npos);
}

TEST(Kairos, BenchLatencyWritesTableAndJson)
{
    const TemporaryFile file(".json");
    const auto remains = run({"bench", "latency", "--quick", "--calls", "20", "--peers", "raw,unix",
                              "--json", file.path()});
    ASSERT_EQ(remains.exit_status, 0) << remains.errors;
    EXPECT_NE(remains.output.find("p50 µs"), std::string::npos);
    const auto json = file.json();
    // The host, two null rows and five types with two unit counts, two systems each.
    ASSERT_EQ(json.size(), 1u + (2 + 5 * 2) * 2);
    EXPECT_TRUE(json[0].contains("kernel"));
    for (std::size_t i = 1; i < json.size(); ++i) {
        EXPECT_EQ(json[i]["experiment"], "latency");
        EXPECT_EQ(json[i]["system"], i % 2 == 1 ? "raw-tcp" : "raw-unix");
        EXPECT_GT(json[i]["p50_us"].get<double>(), 0);
    }
}

TEST(Kairos, BenchLatencyOnOneCpu)
{
    const TemporaryFile file(".json");
    const auto remains = run({"bench", "latency", "--quick", "--calls", "20", "--peers", "raw",
                              "--pin", "same", "--json", file.path()});
    ASSERT_EQ(remains.exit_status, 0) << remains.errors;
    const auto json = file.json();
    ASSERT_EQ(json.size(), 1u + (2 + 5 * 2));
    for (std::size_t i = 1; i < json.size(); ++i) {
        EXPECT_EQ(json[i]["variant"], "blocking sockets, pin=same");
        EXPECT_GT(json[i]["p50_us"].get<double>(), 0);
    }
}

TEST(Kairos, BenchLocalWritesTableAndJson)
{
    const TemporaryFile file(".json");
    const auto remains = run({"bench", "local", "--quick", "--calls", "20", "--rounds", "1",
                              "--units", "1", "--types", "octet", "--peers",
                              "unix,ring,kairos-unix,kairos-memory", "--json", file.path()});
    ASSERT_EQ(remains.exit_status, 0) << remains.errors;
    EXPECT_NE(remains.output.find("× Unix socket"), std::string::npos);
    const auto json = file.json();
    ASSERT_EQ(json.size(), 1u + 4 * 4);
    for (std::size_t i = 1; i < json.size(); ++i)
        EXPECT_GT(json[i]["p50_us"].get<double>(), 0);
    EXPECT_TRUE(json[4].contains("ratio_to_unix"));
}

TEST(Kairos, BenchTtcpWritesTableAndJson)
{
    const TemporaryFile file(".json");
    const auto remains =
        run({"bench", "ttcp", "--quick", "--megabytes", "1", "--peers", "raw,wrapper", "--queue",
             "64K,default", "--pin", "free", "--json", file.path()});
    ASSERT_EQ(remains.exit_status, 0) << remains.errors;
    const auto json = file.json();
    ASSERT_EQ(json.size(), 1u + 2 * 2 * 3 * 2); // queues, directions, buffers, systems
    EXPECT_EQ(json[1]["variant"], "blocking sockets, pin=free, queue=64K");
    EXPECT_EQ(json[1]["socket_queue_bytes"], 65536.0);
    for (std::size_t i = 1; i < json.size(); ++i)
        EXPECT_GT(json[i]["throughput_mbyte_s"].get<double>(), 0);
}

/// A short run in which Kairos takes no part.
const std::vector<std::string> sockets_only{"bench",   "latency",  "--quick", "--calls", "5",
                                            "--peers", "raw",      "--types", "octet",   "--units",
                                            "1",       "--rounds", "1"};

TEST(Kairos, BenchSaysWhatABarNeedsAndFailsForItWhenAsked)
{
    std::vector<std::string> arguments = sockets_only;
    const auto lenient = run(arguments);
    EXPECT_EQ(lenient.exit_status, 0) << lenient.errors;
    arguments.emplace_back("--check");
    const auto strict = run(arguments);
    EXPECT_EQ(strict.exit_status, 1) << strict.errors;
    for (const auto& remains : {lenient, strict}) {
        EXPECT_NE(remains.output.find("not measured: × raw (null)\n"), std::string::npos)
            << remains.output;
        EXPECT_NE(remains.output.find("not measured: × omniORB (null)\n"), std::string::npos)
            << remains.output;
        EXPECT_NE(remains.output.find("0 bars reached, 2 not measured\n"), std::string::npos)
            << remains.output;
    }
}

TEST(Kairos, BenchNamesTheFigureThatPeersWereNotAskedFor)
{
    const auto remains = run({"bench", "latency", "--quick", "--calls", "5", "--types", "octet",
                              "--units", "1", "--rounds", "1", "--peers", "kairos", "--check"});
    EXPECT_EQ(remains.exit_status, 1) << remains.errors;
    EXPECT_NE(remains.output.find("× raw ≤ 1.10: not measured; × omniORB < 1: not measured"),
              std::string::npos)
        << remains.output;
    EXPECT_NE(remains.output.find("not measured: × raw, bar ≤ 1.10: kairos, "
                                  "thread-per-connection, pin=free, twoway, null\n"),
              std::string::npos)
        << remains.output;
    EXPECT_NE(remains.output.find("0 bars reached, 2 not measured\n"), std::string::npos)
        << remains.output;
}

TEST(Kairos, BenchIntoFilesSaysOneLine)
{
    if (bench::find_program("gnuplot").empty()) GTEST_SKIP() << "no gnuplot";
    const TemporaryFolder folder;
    std::vector<std::string> arguments = sockets_only;
    arguments.insert(arguments.end(), {"--into", folder.file("new/quick")});
    const auto remains = run(arguments);
    ASSERT_EQ(remains.exit_status, 0) << remains.errors;
    EXPECT_TRUE(remains.output.starts_with("quick            How long a call takes  "))
        << remains.output;
    EXPECT_NE(remains.output.find(" .......... "), std::string::npos) << remains.output;
    EXPECT_TRUE(remains.output.ends_with(" s\n")) << remains.output;
    EXPECT_EQ(std::count(remains.output.begin(), remains.output.end(), '\n'), 1) << remains.output;
    EXPECT_NE(text_of(folder.file("new/quick.txt")).find("p50 µs"), std::string::npos);
    EXPECT_NE(text_of(folder.file("new/quick.json")).find("\"needs\""), std::string::npos);
    EXPECT_NE(text_of(folder.file("new/quick.svg")).find("<svg"), std::string::npos);
}

/// What the checker of pages finds in them; empty when nothing.
std::string findings_in(std::vector<std::string> pages)
{
    pages.insert(pages.begin(), {KAIROS_PYTHON, KAIROS_PAGE_CHECK});
    const auto remains =
        bench::run_to_end(
            {.command = pages, .environment = {}, .cpu = {}, .inherited_descriptor = -1}, patience)
            .value();
    EXPECT_EQ(remains.exit_status, remains.output.empty() ? 0 : 1) << remains.errors;
    return remains.output + remains.errors;
}

TEST(Report, IsOneScreenAndAPageThatStandsAlone)
{
    const TemporaryFolder folder;
    for (const auto& [name, report] : bench::tested_reports()) {
        ASSERT_TRUE(bench::write_json(report, folder.file(name + ".json")).ok());
        if (bench::find_program("gnuplot").empty()) continue;
        const auto pictures = bench::draw(report, folder.file(name + ".svg"));
        ASSERT_TRUE(pictures.ok()) << pictures.error().reason;
    }
    const auto remains = run({"report", folder.path(), "--check"});
    EXPECT_EQ(remains.exit_status, 0) << remains.errors;
    EXPECT_EQ(remains.errors, "");
    EXPECT_LE(std::count(remains.output.begin(), remains.output.end(), '\n'), 40);
    EXPECT_NE(remains.output.find("11 of 11 reached."), std::string::npos) << remains.output;
    EXPECT_NE(remains.output.find("/index.html"), std::string::npos) << remains.output;
    EXPECT_EQ(findings_in({folder.file("index.html")}), "");
    const std::string page = text_of(folder.file("index.html"));
    EXPECT_NE(page.find("11 of 11 figures"), std::string::npos);
    if (bench::find_program("gnuplot").empty()) return;
    std::size_t drawn = 0;
    for (std::size_t at = page.find("<svg "); at != std::string::npos;
         at = page.find("<svg ", at + 1))
        ++drawn;
    EXPECT_EQ(drawn, 4u);
}

TEST(Report, IsCheckedByWhatFindsFaults)
{
    const TemporaryFolder folder;
    const std::vector<std::string> bodies{
        "<p>",
        "</p>",
        "<a href=\"other.html\">x</a>",
        "<img src=\"a.png\" />",
        "<p id=\"a\"></p><p id=\"a\"></p>",
        "<a href=\"#none\">x</a>",
        "<script>1</script>",
        "<p>http://example.org</p>",
        "<p style=\"background: url(a.png)\"></p>",
        "<p onclick=\"f()\"></p>",
        "<p>&nosuch;</p>",
    };
    std::vector<std::string> pages;
    for (const std::string& body : bodies) {
        pages.push_back(folder.file(std::to_string(pages.size()) + ".html"));
        const std::string page = "<!DOCTYPE html><html>" + body + "</html>";
        ASSERT_TRUE(bench::write_file(pages.back(), page).ok());
    }
    const std::string findings = findings_in(pages);
    for (std::size_t i = 0; i < pages.size(); ++i)
        EXPECT_NE(findings.find(pages[i] + ": "), std::string::npos) << bodies[i];
}

TEST(Report, FailsForWhatIsMissedOrNotMeasuredWhenAsked)
{
    const TemporaryFolder folder;
    const auto reports = bench::tested_reports();
    const auto write = [&folder](const bench::Report& report, const std::string& name) {
        ASSERT_TRUE(bench::write_json(report, folder.file(name + ".json")).ok());
    };
    for (const auto& [name, report] : reports)
        if (name != "latency-one-cpu") write(report, name);
    EXPECT_EQ(run({"report", folder.path()}).exit_status, 0);
    const auto absent = run({"report", folder.path(), "--check"});
    EXPECT_EQ(absent.exit_status, 1);
    EXPECT_NE(absent.errors.find("not measured: null call on one CPU × omniORB, bar < 1\n"),
              std::string::npos)
        << absent.errors;

    bench::Report slow = reports[1].second;
    slow.rows[1].set("ratio_to_raw", 1.3);
    write(slow, "latency-one-cpu");
    EXPECT_EQ(run({"report", folder.path()}).exit_status, 0);
    const auto missed = run({"report", folder.path(), "--check"});
    EXPECT_EQ(missed.exit_status, 1);
    EXPECT_NE(missed.errors.find("missed: null call on one CPU × raw sockets 1.30, bar ≤ 1.08\n"),
              std::string::npos)
        << missed.errors;
}

TEST(Report, OfAFolderWithoutReportsIsStatusOne)
{
    const TemporaryFolder folder;
    const auto empty = run({"report", folder.path()});
    EXPECT_EQ(empty.exit_status, 1);
    EXPECT_NE(empty.errors.find(folder.path()), std::string::npos) << empty.errors;
    ASSERT_TRUE(bench::write_file(folder.file("a.json"), "{").ok());
    const auto broken = run({"report", folder.path()});
    EXPECT_EQ(broken.exit_status, 1);
    EXPECT_NE(broken.errors.find("a.json"), std::string::npos) << broken.errors;
    EXPECT_FALSE(std::filesystem::exists(folder.file("index.html")));
}

TEST(Kairos, BenchDrawsAPictureOrNamesWhatIsMissing)
{
    const TemporaryFile file(".svg");
    const auto remains = run({"bench", "latency", "--quick", "--calls", "5", "--peers", "raw",
                              "--types", "octet", "--plot", file.path()});
    if (bench::find_program("gnuplot").empty()) {
        EXPECT_EQ(remains.exit_status, 1);
        EXPECT_NE(remains.errors.find("gnuplot-nox"), std::string::npos);
        return;
    }
    ASSERT_EQ(remains.exit_status, 0) << remains.errors;
    std::ifstream picture(file.path());
    const std::string svg((std::istreambuf_iterator<char>(picture)), {});
    EXPECT_NE(svg.find("<svg"), std::string::npos);
    EXPECT_NE(svg.find("sequence of octet"), std::string::npos);
}

#ifdef KAIROS_COUNTING
TEST(Kairos, BenchCountersWritesTableAndJson)
{
    const TemporaryFile file(".json");
    const auto remains = run({"bench", "counters", "--calls", "20", "--no-instructions", "--peers",
                              "raw", "--json", file.path()});
    ASSERT_EQ(remains.exit_status, 0) << remains.errors;
    EXPECT_NE(remains.output.find("system calls"), std::string::npos);
    const auto json = file.json();
    ASSERT_EQ(json.size(), 1u + 4 * 2); // a client and a server of each call
    for (std::size_t i = 1; i < json.size(); ++i) {
        EXPECT_EQ(json[i]["experiment"], "counters");
        EXPECT_EQ(json[i]["side"], i % 2 == 1 ? "client" : "server");
        EXPECT_EQ(json[i]["allocations_per_call"], 0.0);
        EXPECT_EQ(json[i]["syscalls_per_call"], 2.0);
        EXPECT_FALSE(json[i].contains("instructions_per_call"));
    }
}

TEST(Kairos, BenchCheckSucceedsWhenEveryBarIsReached)
{
    const auto remains = run(
        {"bench", "whitebox", "--calls", "2000", "--peers", "thread-per-connection", "--check"});
    EXPECT_EQ(remains.exit_status, 0) << remains.output << remains.errors;
    EXPECT_NE(remains.output.find("6 bars reached\n"), std::string::npos) << remains.output;
}

/// What `kairos count` says in the first column of figures, or -1.
double counted(const std::string& said, const std::string& what)
{
    const std::size_t at = said.find("\n  " + what + "  ");
    return at == std::string::npos ? -1 : std::stod(said.substr(at + 3 + what.size()));
}

/// What a server of ours that was called 1,000 times says on standard error.
std::string errors_of_counted_server(std::vector<std::string> wrapper,
                                     const std::vector<std::string>& options)
{
    bench::System system = bench::select_systems("kairos").value().front();
    system.server_arguments.insert(system.server_arguments.end(), options.begin(), options.end());
    auto running = bench::RunningSystem::start(
        system, {.program_directory = std::filesystem::path(KAIROS_TOOL).parent_path(),
                 .pinning = bench::Pinning::free,
                 .queue_bytes = 0,
                 .server = {.wrapper = std::move(wrapper)},
                 .client = {}});
    if (!running) return running.error().reason;
    if (auto done = running->order(bench::Verb::call, {.calls = 1000}); !done)
        return done.error().reason;
    const auto remains = running->finish();
    return remains ? remains->server.errors : remains.error().reason;
}

TEST(Count, SaysWhatRequestsCost)
{
    const std::string said = errors_of_counted_server({KAIROS_TOOL, "count", "--"}, {});
    EXPECT_GE(counted(said, "requests served"), 1000) << said;
    EXPECT_LT(counted(said, "requests served"), 1100) << said;
    EXPECT_GT(counted(said, "allocations"), 0) << said; // of the start
    EXPECT_LT(counted(said, "allocations"), 1000) << said;
    EXPECT_GE(counted(said, "voluntary switches"), 1) << said;
    EXPECT_EQ(counted(said, "system calls"), -1) << said;
}

TEST(Count, SaysWhichSystemCalls)
{
    const std::string said =
        errors_of_counted_server({KAIROS_TOOL, "count", "--system-calls", "--"}, {});
    EXPECT_GE(counted(said, "requests served"), 1000) << said;
    EXPECT_GE(counted(said, "  recvfrom"), 1000) << said;
    EXPECT_GE(counted(said, "  sendto"), 1000) << said;
    EXPECT_GE(counted(said, "system calls"), 2000) << said;
    EXPECT_EQ(counted(said, "voluntary switches"), -1) << said;
}

TEST(Count, TheOrbSaysItItself)
{
    const std::string alone = errors_of_counted_server({}, {"-ORBCounters", "1"});
    EXPECT_NE(alone.find("requests served; per request: "), std::string::npos) << alone;
    EXPECT_NE(alone.find("counters: 10"), std::string::npos) << alone;
    EXPECT_EQ(alone.find("allocations"), std::string::npos) << alone;
    const std::string within =
        errors_of_counted_server({KAIROS_TOOL, "count", "--"}, {"-ORBCounters", "1"});
    EXPECT_NE(within.find(" condition actions"), std::string::npos) << within;
    const std::string traced = errors_of_counted_server(
        {KAIROS_TOOL, "count", "--system-calls", "--"}, {"-ORBCounters", "1"});
    EXPECT_NE(traced.find(" futexes"), std::string::npos) << traced;
    EXPECT_EQ(errors_of_counted_server({}, {}), "");
}

TEST(Count, EndsAsTheProgramDoes)
{
    EXPECT_EQ(run({"count", "--", "/bin/sh", "-c", "exit 7"}).exit_status, 7);
    EXPECT_EQ(run({"count", "--", "/bin/sh", "-c", "kill -TERM $$"}).exit_status, 128 + SIGTERM);
    const auto missing = run({"count", "--", "/no/such/program"});
    EXPECT_EQ(missing.exit_status, 127);
    EXPECT_NE(missing.errors.find("/no/such/program"), std::string::npos);
    EXPECT_EQ(run({"count"}).exit_status, 2);
}
#endif

TEST(Kairos, KilledInTheMiddleItLeavesNoProcess)
{
    // Orphans become children of this process, so that their end can be waited for.
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    auto kairos = bench::ChildProcess::start(
        tool({"bench", "latency", "--peers", "raw", "--rounds", "1000000"}));
    ASSERT_TRUE(kairos.ok());
    const std::string children = "/proc/" + std::to_string(kairos->pid()) + "/task/" +
                                 std::to_string(kairos->pid()) + "/children";
    std::vector<pid_t> started;
    while (started.size() < 2) {
        started.clear();
        std::ifstream list(children);
        ASSERT_TRUE(list.is_open());
        for (pid_t child = 0; list >> child;)
            started.push_back(child);
    }
    ASSERT_EQ(kill(kairos->pid(), SIGKILL), 0);
    kairos->finish(patience);
    for (const pid_t child : started)
        EXPECT_EQ(waitpid(child, nullptr, 0), child); // returns when it has ended
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

} // namespace
} // namespace kairos
