// SPDX-License-Identifier: Apache-2.0
//
// Files with references as they arrive: by mail, from editors, from other systems; and what is said
// of files that hold none.
#include "kairos/ior/reference_file.h"

#include "kairos/ior/sample_references_testing.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using namespace kairos;

const std::string ior_text(ior::sample::omniorb_little_endian);

std::string url_in(std::string_view text)
{
    const auto url = ior::url_in(text, "it");
    return url ? *url : url.error().reason;
}

std::string wrapped(const std::string& text, std::size_t width, const std::string& end)
{
    std::string lines;
    for (std::size_t at = 0; at < text.size(); at += width)
        lines += text.substr(at, width) + end;
    return lines;
}

TEST(ReferenceFile, IsReadHoweverItCame)
{
    for (const std::string& text :
         {ior_text, ior_text + "\n", ior_text + "\r\n", "\n\n  \t" + ior_text + " \n\n",
          "\xef\xbb\xbf" + ior_text, "\xef\xbb\xbf\r\n" + ior_text + "\r\n",
          wrapped(ior_text, 70, "\n"), wrapped(ior_text, 70, "\r\n"), wrapped(ior_text, 70, "\r"),
          wrapped(ior_text, 5, "\n"), wrapped(ior_text, 64, "\n\t ")})
        EXPECT_EQ(url_in(text), ior_text) << text;
    EXPECT_EQ(url_in("ior:00 \n 01\n"), "ior:0001");
    EXPECT_EQ(url_in("\xef\xbb\xbf corbaloc::host/a%20key\r\n"), "corbaloc::host/a%20key");
    EXPECT_EQ(url_in("CORBANAME::host#a name\n"), "CORBANAME::host#a name");
    EXPECT_EQ(url_in("file:///x\n"), "file:///x");
}

TEST(ReferenceFile, WithSomethingElseIsToldSo)
{
    EXPECT_EQ(url_in(""), "it is empty");
    EXPECT_EQ(url_in(" \r\n\xef"), "it holds no IOR:, corbaloc:, corbaname: or file: URL, but "
                                   "'\\xef'");
    EXPECT_EQ(url_in("\xef\xbb\xbf \r\n"), "it is empty");
    EXPECT_EQ(url_in("text before IOR:00"),
              "it holds no IOR:, corbaloc:, corbaname: or file: URL, but 'text before IOR:00'");
    EXPECT_EQ(url_in("\x1b[2J\x01"),
              "it holds no IOR:, corbaloc:, corbaname: or file: URL, but '\\x1b[2J\\x01'");
    EXPECT_EQ(url_in(std::string(41, 'x')),
              "it holds no IOR:, corbaloc:, corbaname: or file: URL, but '" + std::string(40, 'x') +
                  "…'");
    EXPECT_EQ(url_in(ior_text + "\n" + ior_text), "it holds more than a reference");
    EXPECT_EQ(url_in("corbaloc::a/b\ncorbaloc::c/d"), "it holds more than a reference");
    EXPECT_EQ(url_in("\xff\xfeI\0O\0"), "it is text in UTF-16: a reference is ASCII");
}

TEST(ReferenceFile, FoldersAndFilesThatAreNotThereAreNamed)
{
    const std::string folder = testing::TempDir() + "kairos_folder_" + std::to_string(getpid());
    std::filesystem::create_directory(folder);
    const auto of_folder = ior::url_in_file(folder);
    ASSERT_FALSE(of_folder);
    EXPECT_EQ(of_folder.error().reason, "file " + folder + " is a folder");
    const std::string path = folder + "/file";
    const auto missing = ior::url_in_file(path);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::not_found);
    EXPECT_EQ(missing.error().reason, "cannot read file " + path + ": No such file or directory");
    std::ofstream(path) << ior_text;
    EXPECT_EQ(*ior::url_in_file(path), ior_text);
    std::ofstream(path) << std::string(std::size_t{1} << 21, ' ');
    EXPECT_EQ(ior::url_in_file(path).error().reason,
              "file " + path + " is too long to hold a reference");
    std::filesystem::remove_all(folder);
}

} // namespace
