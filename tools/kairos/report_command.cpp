// SPDX-License-Identifier: Apache-2.0
//
// `kairos report FOLDER`: what the experiments have left there, on one screen and on one page.
#include "bench/page.h"
#include "bench/summary.h"
#include "kairos/base/shown.h"
#include "tools/kairos/commands.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <unistd.h>

namespace kairos::tools {
namespace {

struct ReportArguments {
    std::string folder = "out";
    bool check = false;
};

int report_failed(const Error& error)
{
    fmt::print(stderr, "kairos report: {}\n", shown(error.reason));
    return 1;
}

/// Names what a figure that matters lacks; what experiments lack the summary has said.
int check(std::span<const bench::StoredReport> reports)
{
    const std::vector<bench::Headline> headlines = bench::headlines_of(reports);
    const bench::Verdict verdict = bench::judge(std::span<const bench::Headline>(headlines));
    for (const std::string& figure : verdict.missed)
        fmt::print(stderr, "missed: {}\n", figure);
    for (const std::string& figure : verdict.absent)
        fmt::print(stderr, "not measured: {}\n", figure);
    const bench::Verdict all = bench::judge(reports);
    if (!all.good()) fmt::print(stderr, "{}\n", bench::in_words(all));
    return verdict.good() && all.good() ? 0 : 1;
}

int run(const ReportArguments& arguments)
{
    const auto reports = bench::read_reports(arguments.folder);
    if (!reports) return report_failed(reports.error());
    const auto pictures = bench::read_pictures(arguments.folder);
    if (!pictures) return report_failed(pictures.error());
    const auto page = bench::render_page(*reports, *pictures);
    if (!page) return report_failed(page.error());
    if (auto written = bench::write_file(arguments.folder + "/index.html", *page); !written)
        return report_failed(written.error());
    const bool colored = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
    fmt::print("{}", bench::render_summary(*reports, arguments.folder, colored));
    return arguments.check ? check(*reports) : 0;
}

} // namespace

void add_report_command(CLI::App& app, int& status)
{
    auto arguments = std::make_shared<ReportArguments>();
    CLI::App* report = app.add_subcommand(
        "report", "Say what experiments found, on one screen and as a page, index.html");
    report
        ->add_option("folder", arguments->folder,
                     "Where kairos bench --into has left its files; index.html is written there")
        ->capture_default_str();
    report->add_flag(
        "--check", arguments->check,
        "Exit with 1 when a bar is missed or a figure that one needs was not measured");
    report->callback([arguments, &status] { status = run(*arguments); });
}

} // namespace kairos::tools
