// SPDX-License-Identifier: Apache-2.0
#include "idlc/command/tao_command_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kairos::idlc {
namespace {

using Words = std::vector<std::string>;

/// What every command line begins with.
Words with(const Words& more)
{
    Words all{"--style", "tao", "--include", "kairos/compat/tao/tao.h"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

TEST(TaoIdl, IsKnownByItsName)
{
    EXPECT_TRUE(is_tao_idl("tao_idl"));
    EXPECT_TRUE(is_tao_idl("/opt/tao/bin/tao_idl"));
    EXPECT_FALSE(is_tao_idl("/usr/bin/kairos-idl"));
    EXPECT_FALSE(is_tao_idl("/opt/tao_idl/kairos-idl"));
}

TEST(TaoIdl, OptionsBecomeOurs)
{
    const auto translated =
        translate_tao_idl({"-Wb,pre_include=ace/pre.h",
                           "-Wb,export_macro=X_Export,export_include=X_Export.h",
                           "-Sa",
                           "-St",
                           "-GC",
                           "-Gsp",
                           "-Gd",
                           "-I",
                           "dir",
                           "-Iother",
                           "-DX=1",
                           "-hc",
                           "Stub.h",
                           "-H",
                           "dynamic_hash",
                           "-o",
                           "out",
                           "-g",
                           "/usr/bin/gperf",
                           "x.idl"});
    EXPECT_EQ(translated.error, "");
    EXPECT_EQ(translated.arguments,
              with({"--ami", "--smart-proxies", "-I", "dir", "-Iother", "-DX=1", "--header-suffix",
                    "Stub.h", "--operation-demux", "hash", "-o", "out", "x.idl", "--no-any",
                    "--export-macro", "X_Export", "--export-include", "X_Export.h"}));
    EXPECT_EQ(translated.ignored, (Words{"-Wb,pre_include=ace/pre.h", "-Gd", "-g /usr/bin/gperf"}));
}

TEST(TaoIdl, AnyGoesOnlyWithItsTypeCodes)
{
    EXPECT_EQ(translate_tao_idl({"-Sa", "x.idl"}).arguments, with({"x.idl"}));
    EXPECT_EQ(translate_tao_idl({"-St", "x.idl"}).ignored, Words{"-St"});
    EXPECT_EQ(translate_tao_idl({"-Wp,-DA,-DB=2"}).arguments, with({"-DA", "-DB=2"}));
}

TEST(TaoIdl, SkeletonsMayHaveTheirOwnHeaderOfExports)
{
    EXPECT_EQ(translate_tao_idl({"-Wb,stub_export_macro=A,stub_export_include=a.h",
                                 "-Wb,skel_export_macro=B,skel_export_include=b.h"})
                  .arguments,
              with({"--export-macro", "A", "--export-include", "a.h", "--include", "b.h"}));
    EXPECT_EQ(translate_tao_idl({"-Wb,skel_export_macro=B,skel_export_include=b.h"}).arguments,
              with({"--export-macro", "B", "--export-include", "b.h"}));
}

TEST(TaoIdl, WhatCannotBeHadIsRefusedByName)
{
    for (const Words& arguments :
         {Words{"-GI"}, Words{"-Gunheard"}, Words{"-oS", "dir"}, Words{"-H", "magic"},
          Words{"-Wb,safe_include=x.h"}, Words{"-o"}, Words{"-Gxhst"}, Words{"-Gxhsk"}})
        EXPECT_NE(translate_tao_idl(arguments).error.find(arguments.front().substr(0, 3)),
                  std::string::npos)
            << arguments.front();
    EXPECT_EQ(translate_tao_idl({"-Gxhcn", "x.idl"}).ignored, Words{"-Gxhcn"});
}

} // namespace
} // namespace kairos::idlc
