// SPDX-License-Identifier: Apache-2.0
//
// The page of `kairos report` in a real browser, as page_browser.py looks at it. Without one the
// tests are skipped; where CI is set they fail.
#include "bench/page.h"
#include "bench/plot.h"
#include "bench/process.h"
#include "bench/report_testing.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace kairos::bench {
namespace {

constexpr std::chrono::seconds patience{100};

std::string missing()
{
    if (find_program("gnuplot").empty()) return "gnuplot is not installed";
    if (find_program("chromium").empty()) return "chromium is not installed";
    return {};
}

/// Everything that a folder of figures may bring: a table that is folded, words that are wider than
/// a telephone, pictures.
std::vector<std::pair<std::string, Report>> shown_reports()
{
    auto reports = tested_reports();
    Report many = reports.front().second;
    many.experiment = many.title = "many";
    const Row row = many.rows.front();
    while (many.rows.size() <= 40)
        many.rows.push_back(row);
    const std::string word(300, 'w');
    many.rows.front().variant = word;
    many.notes.push_back("note-" + word);
    reports.emplace_back("many", many);
    Report wide = reports.front().second;
    wide.title = "title-" + word;
    reports.emplace_back("wide-" + word.substr(0, 60), wide);
    return reports;
}

class PageInBrowser : public testing::Test {
  protected:
    void SetUp() override
    {
        if (const std::string reason = missing(); !reason.empty()) {
            const char* const ci = std::getenv("CI");
            ASSERT_TRUE(ci == nullptr || *ci == 0) << reason; // where it must always run
            GTEST_SKIP() << reason;
        }
        std::string name = std::filesystem::temp_directory_path() / "kairos-page-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
        for (const auto& [report_name, report] : shown_reports()) {
            ASSERT_TRUE(write_json(report, folder_ + "/" + report_name + ".json").ok());
            if (report_name == "many") continue;
            const auto drawn = draw(report, folder_ + "/" + report_name + ".svg");
            ASSERT_TRUE(drawn.ok()) << drawn.error().reason;
        }
        const auto reports = read_reports(folder_);
        ASSERT_TRUE(reports.ok()) << reports.error().reason;
        const auto pictures = read_pictures(folder_);
        ASSERT_TRUE(pictures.ok()) << pictures.error().reason;
        ASSERT_GE(pictures->size(), 4u);
        const auto page = render_page(*reports, *pictures);
        ASSERT_TRUE(page.ok()) << page.error().reason;
        page_ = *page;
    }

    void TearDown() override
    {
        if (!folder_.empty()) std::filesystem::remove_all(folder_);
    }

    /// What the browser's looker finds in a page, which stands in the folder.
    std::string findings_in(const std::string& page)
    {
        EXPECT_TRUE(write_file(folder_ + "/index.html", page).ok());
        const auto remains = run_to_end({.command = {KAIROS_PYTHON, KAIROS_PAGE_BROWSER,
                                                     find_program("chromium"), folder_},
                                         .environment = {},
                                         .cpu = {},
                                         .inherited_descriptor = -1},
                                        patience)
                                 .value();
        EXPECT_EQ(remains.exit_status, remains.output.empty() ? 0 : 1) << remains.errors;
        return remains.output;
    }

    std::string folder_;
    std::string page_;
};

TEST_F(PageInBrowser, ShowsEveryTableAndPictureAndNothingElse)
{
    EXPECT_EQ(findings_in(page_), "");
}

TEST_F(PageInBrowser, IsLookedAtByWhatFindsFaults)
{
    const auto change = [this](const std::string& what, const std::string& into) {
        const std::size_t at = page_.find(what);
        ASSERT_NE(at, std::string::npos) << what;
        page_.replace(at, what.size(), into);
    };
    // In the order of the page: the first picture is the first report's.
    change("<h1>", "<h1 style=\"visibility: hidden\">");
    change("<svg ", "<svg style=\"display: none\" ");
    change("<svg viewBox=", "<svg style=\"opacity: 0\" viewBox=");
    change("<tbody>\n<tr>", "<tbody>\n<tr></tr><tr>");
    change("<section id=\"ttcp\">", "<section id=\"elsewhere\">");
    change("</main>", "<img src=\"a.png\" /><p style=\"width: 600px\">wide</p>"
                      "<script>nosuch();</script></main>");
    const std::string findings = findings_in(page_);
    for (const char* finding :
         {"at 400: is ", "style=\"width: 600px\"", "latency has not one table of 3 rows",
          "ttcp has no heading", "at 1280: picture 0 has no size",
          "at 400: picture 1 cannot be seen", "at 1280: the title cannot be seen",
          "the browser says: \"Loading the image ", "the browser says: \"Executing inline script"})
        EXPECT_NE(findings.find(finding), std::string::npos) << finding << '\n' << findings;
    EXPECT_EQ(findings.find("at 1280: is "), std::string::npos) << findings;
}

} // namespace
} // namespace kairos::bench
