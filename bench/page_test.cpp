// SPDX-License-Identifier: Apache-2.0
#include "bench/page.h"

#include "bench/report_testing.h"

#include <gtest/gtest.h>

namespace kairos::bench {
namespace {

/// As gnuplot writes them, shortened.
std::string picture_of(const std::string& body)
{
    return "<?xml version=\"1.0\"?>\n<svg\n viewBox=\"0 0 600 400\"\n"
           " xmlns=\"http://www.w3.org/2000/svg\"\n xmlns:xlink=\"http://www.w3.org/1999/xlink\"\n>"
           "<title>Gnuplot</title><desc>Produced by GNUPLOT</desc>" +
           body + "</svg>\n";
}

TEST(InlinePicture, HasNamesOfItsOwn)
{
    const auto element =
        inline_svg({"ttcp-8K", picture_of("<defs><circle id='gpDot'/></defs><g id=\"a\">"
                                          "<use xlink:href='#gpDot'/></g><g fill=\"none\" >\n</g>"
                                          "<g clip-path=\"url(#a)\"><path d='M0,0'/></g>")},
                   "Throughput & more");
    ASSERT_TRUE(element.ok()) << element.error().reason;
    EXPECT_EQ(*element, "<svg viewBox=\"0 0 600 400\" role=\"img\" "
                        "aria-label=\"Throughput &amp; more\"><defs><circle id='ttcp-8K-gpDot'/>"
                        "</defs><g id=\"ttcp-8K-a\"><use href='#ttcp-8K-gpDot'/></g>"
                        "<g clip-path=\"url(#ttcp-8K-a)\"><path d='M0,0'/></g></svg>\n");
}

TEST(InlinePicture, IsRefusedWhenItRunsOrLoadsSomething)
{
    for (const char* body :
         {"<script>1</script>", "<image href='#a'/>", "<a xlink:href='https://a.b/'>x</a>",
          "<use href='other.svg#a'/>", "<g fill=\"url(other.svg#a)\"><path/></g>",
          "<rect onload='f()'/>", "<style>a{}</style>", "<!-- remark -->"})
        EXPECT_FALSE(inline_svg({"a", picture_of(body)}, "A").ok()) << body;
    EXPECT_FALSE(inline_svg({"a", "no picture"}, "A").ok());
    EXPECT_FALSE(inline_svg({"a", "<svg></svg>"}, "A").ok());
    EXPECT_TRUE(inline_svg({"a", picture_of("<text>once upon a = b</text>")}, "A").ok());
}

TEST(Page, HasEveryTableAndPicture)
{
    const auto reports = tested_stored_reports();
    const std::vector<StoredPicture> pictures{
        {"latency", picture_of("<text>free</text>")},
        {"latency-one-cpu", picture_of("<text>same</text>")},
        {"elsewhere", picture_of("<text>other</text>")},
    };
    const auto page = render_page(reports, pictures);
    ASSERT_TRUE(page.ok()) << page.error().reason;
    const auto at = [&page](const std::string& text) {
        EXPECT_NE(page->find(text), std::string::npos) << text;
        return page->find(text);
    };
    EXPECT_LT(at("11 of 11 figures"), at("id=\"latency\""));
    // Each picture in the section of its report, whose name may begin with that of another.
    EXPECT_LT(at("id=\"latency\""), at("<text>free</text>"));
    EXPECT_LT(at("<text>free</text>"), at("id=\"latency-one-cpu\""));
    EXPECT_LT(at("id=\"latency-one-cpu\""), at("<text>same</text>"));
    EXPECT_LT(at("<text>same</text>"), at("id=\"ttcp\""));
    EXPECT_LT(at("id=\"counters\""), at("<text>other</text>"));
    at("<td class=\"number\">2,300.00</td>");
    at("A &lt;note&gt; &amp; more.");
}

TEST(Page, SaysWhatIsMissedAndWhatWasNotMeasured)
{
    auto reports = tested_stored_reports();
    reports[0].report.rows[1].set("ratio_to_raw", 1.5);
    std::erase_if(reports[3].report.rows, [](const Row& row) { return row.side == "both"; });
    const auto page = render_page(reports, {});
    ASSERT_TRUE(page.ok()) << page.error().reason;
    EXPECT_NE(page->find("9 of 11 figures"), std::string::npos);
    EXPECT_NE(page->find("<span class=\"pill missed\">missed</span>"), std::string::npos);
    EXPECT_NE(page->find("<span class=\"pill open\">not measured</span>"), std::string::npos);
    EXPECT_NE(page->find("<li>instructions (null)</li>"), std::string::npos);
    EXPECT_NE(page->find("× raw ≤ 1.10: MISS"), std::string::npos);
}

TEST(Page, OfNothingIsAnError) { EXPECT_FALSE(render_page({}, {}).ok()); }

} // namespace
} // namespace kairos::bench
