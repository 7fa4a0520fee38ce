// SPDX-License-Identifier: Apache-2.0
//
// Answers that are kept: what makes a question another one, and when an answer counts no more.
#include "kairos/nameserver/answers.h"

#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace kairos::nameserver {
namespace {

Answers::Question question(std::string_view name, ContextId context = 7)
{
    return {.context = context, .text = nullptr, .swapped = false, .name = as_bytes(name)};
}

/// "" for an answer that is not known.
std::string answer_to(const Answers& answers, const Answers::Question& asked, std::uint64_t changes)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    if (!answers.write(asked, changes, out)) return "";
    return std::string(as_text(out.contiguous()));
}

} // namespace

TEST(Answers, CountUntilTheStoreChanges)
{
    Answers answers(100);
    EXPECT_EQ(answer_to(answers, question("name"), 4), "");
    answers.keep(question("name"), 4, as_bytes("answer"));
    EXPECT_EQ(answer_to(answers, question("name"), 4), "answer");
    EXPECT_EQ(answer_to(answers, question("name"), 5), "");
    EXPECT_EQ(answer_to(answers, question("name"), 6), "");
    answers.keep(question("name"), 6, as_bytes("another"));
    EXPECT_EQ(answer_to(answers, question("name"), 6), "another");
}

TEST(Answers, OfAStoreThatIsChangingAreNotKept)
{
    Answers answers(100);
    answers.keep(question("name"), 5, as_bytes("answer"));
    EXPECT_EQ(answer_to(answers, question("name"), 5), "");
    EXPECT_EQ(answer_to(answers, question("name"), 6), "");
}

TEST(Answers, AreOfOneQuestionOnly)
{
    Answers answers(1);
    answers.keep(question("name"), 0, as_bytes("answer"));
    EXPECT_EQ(answer_to(answers, question("nam"), 0), "");
    EXPECT_EQ(answer_to(answers, question("namf"), 0), "");
    EXPECT_EQ(answer_to(answers, question("name", 8), 0), "");
    Answers::Question other = question("name");
    other.swapped = true;
    EXPECT_EQ(answer_to(answers, other, 0), "");
    const cdr::TextForm form;
    other = question("name");
    other.text = &form;
    EXPECT_EQ(answer_to(answers, other, 0), "");
    EXPECT_EQ(answer_to(answers, question("name"), 0), "answer");
}

TEST(Answers, TakeBoundedMemory)
{
    Answers answers(32);
    int known = 0;
    for (int i = 0; i < 1000; ++i)
        answers.keep(question(std::to_string(i)), 0, as_bytes("answer"));
    for (int i = 0; i < 1000; ++i)
        known += answer_to(answers, question(std::to_string(i)), 0).empty() ? 0 : 1;
    EXPECT_GT(known, 16); // each of so many has a place of its own, more or less
    EXPECT_LE(known, 32);
    const std::string large(100'000, 'x');
    answers.keep(question(large), 0, as_bytes("answer"));
    EXPECT_EQ(answer_to(answers, question(large), 0), "");
    answers.keep(question("large"), 0, as_bytes(large));
    EXPECT_EQ(answer_to(answers, question("large"), 0), "");

    Answers none(0);
    none.keep(question("name"), 0, as_bytes("answer"));
    EXPECT_EQ(answer_to(none, question("name"), 0), "");
}

TEST(Answers, AQuestionBeginsWhereTheNameDoes)
{
    const Bytes body = as_bytes("??????name");
    const auto asked = Answers::question_of(7, cdr::Reader(body, native_little_endian, 5));
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->context, 7u);
    EXPECT_FALSE(asked->swapped);
    EXPECT_EQ(as_text(asked->name), "me");
    EXPECT_TRUE(Answers::question_of(7, cdr::Reader(body, !native_little_endian))->swapped);
    EXPECT_FALSE(Answers::question_of(7, cdr::Reader(body, native_little_endian, body.size())));
    // In parts its octets depend on where they were cut.
    const std::uint32_t part = 8;
    EXPECT_FALSE(Answers::question_of(7, cdr::Reader(body, native_little_endian, 0, {&part, 1})));
}

} // namespace kairos::nameserver
