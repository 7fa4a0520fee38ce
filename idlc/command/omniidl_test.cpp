// SPDX-License-Identifier: Apache-2.0
#include "idlc/command/omniidl.h"

#include <gtest/gtest.h>

namespace kairos::idlc {
namespace {

using Strings = std::vector<std::string>;

TEST(Omniidl, IsTheNameThatTheProgramIsCalledBy)
{
    EXPECT_TRUE(is_omniidl("omniidl"));
    EXPECT_TRUE(is_omniidl("/opt/kairos/libexec/omniidl"));
    EXPECT_FALSE(is_omniidl("/opt/omniidl/kairos-idl"));
}

TEST(Omniidl, BuildsOfOthersGoOn)
{
    const auto made =
        from_omniidl({"-I../idl", "-I", "more", "-DA=1", "-bcxx", "-Wba", "-nf", "-Wbh=.h,s=SK.cpp",
                      "-Wbd=DynSK.cpp", "-Wbkeep_inc_path", "-p", "/usr/lib/omniidl", "-Cout",
                      "-Wbtp", "-Wbshortcut", "-Wbami", "tango.idl"});
    EXPECT_EQ(made.refusal, "");
    EXPECT_EQ(made.arguments, (Strings{"--style",
                                       "omniorb",
                                       "--include",
                                       "omniORB4/CORBA.h",
                                       "-I",
                                       "../idl",
                                       "-I",
                                       "more",
                                       "-D",
                                       "A=1",
                                       "--header-suffix",
                                       ".h",
                                       "--source-suffix",
                                       "SK.cpp",
                                       "--skel-source-suffix",
                                       "DynSK.cpp",
                                       "-o",
                                       "out",
                                       "--ami",
                                       "tango.idl"}));
}

TEST(Omniidl, WithoutAnyThereIsNone)
{
    EXPECT_EQ(
        from_omniidl({"-b", "cxx", "a.idl"}).arguments,
        (Strings{"--style", "omniorb", "--include", "omniORB4/CORBA.h", "a.idl", "--no-any"}));
    EXPECT_EQ(from_omniidl({"-V"}).arguments, Strings{"--version"});
}

TEST(Omniidl, WhatWouldBeSomethingElseIsRefused)
{
    for (const char* wrong : {"-bpython", "-WbBOA", "-Wbexample", "-Wbtf", "-WbF", "-Wbx=1",
                              "-Wpfoo", "-Ycpp", "-d", "-I"}) {
        const auto made = from_omniidl({"-bcxx", wrong});
        EXPECT_NE(made.refusal.find(wrong[1] == 'W' ? std::string(wrong, 4) : wrong),
                  std::string::npos)
            << wrong << ": " << made.refusal;
        EXPECT_TRUE(made.arguments.empty());
    }
    EXPECT_NE(from_omniidl({"a.idl"}).refusal, "");
}

} // namespace
} // namespace kairos::idlc
