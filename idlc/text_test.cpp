// SPDX-License-Identifier: Apache-2.0
#include "idlc/text.h"

#include <gtest/gtest.h>

#include <vector>

namespace kairos::idlc {
namespace {

TEST(Text, PatternsTakeWordsForLetters)
{
    Text text;
    text.put({'N', "count", 'T', "long"}, "$T $N = $N + 1;");
    EXPECT_EQ(text.text(), "long count = count + 1;\n");
}

TEST(Text, PatternsAreIndentedByWhatIsOpen)
{
    Text text;
    text.open("class A {");
    text.put({'N', "f"}, "void $N()\n{\n    return;\n}");
    text.close("};");
    EXPECT_EQ(text.text(), "class A {\n    void f()\n    {\n        return;\n    }\n};\n");
}

TEST(Text, ABraceThatAPatternLeavesOpenIsOpen)
{
    Text text;
    text.put({'N', "A"}, "struct $N {");
    text.line("int x;");
    text.close("};");
    EXPECT_EQ(text.text(), "struct A {\n    int x;\n};\n");
}

TEST(Text, ALineOfNothingButEmptyWordsIsNone)
{
    Text text;
    text.put({'A', "", 'B', "b;"}, "$A\n$B");
    EXPECT_EQ(text.text(), "b;\n");
}

TEST(Text, EmptyLinesAreNeverTwoAndNeitherFirstNorLastInABlock)
{
    Text text;
    text.open("{");
    text.blank();
    text.line("a");
    text.blank();
    text.blank();
    text.line("b");
    text.blank();
    text.close();
    text.blank();
    EXPECT_EQ(text.text(), "{\n    a\n\n    b\n}\n\n");
    EXPECT_EQ(text.finished(), "{\n    a\n\n    b\n}\n");
}

TEST(Text, WhatIsListedHasCommasBetween)
{
    const auto plus = [](int number) { return std::to_string(number + 1); };
    EXPECT_EQ(listed(std::vector<int>{}, plus), "");
    EXPECT_EQ(listed(std::vector<int>{1, 2}, plus), "2, 3");
}

} // namespace
} // namespace kairos::idlc
