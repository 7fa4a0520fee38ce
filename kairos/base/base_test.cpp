// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/bytes.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/base/operation_hash.h"
#include "kairos/base/result.h"

#include <gtest/gtest.h>

namespace kairos {
namespace {

TEST(Bytes, SwapReversesEverySize)
{
    EXPECT_EQ(byteswap(std::uint8_t{0x12}), 0x12);
    EXPECT_EQ(byteswap(std::uint16_t{0x1234}), 0x3412);
    EXPECT_EQ(byteswap(std::uint32_t{0x12345678}), 0x78563412u);
    EXPECT_EQ(byteswap(std::uint64_t{0x0102030405060708}), 0x0807060504030201u);
    EXPECT_EQ(byteswap(byteswap(3.25)), 3.25);
}

TEST(Bytes, PaddingReachesTheNextMultiple)
{
    EXPECT_EQ(padding(0, 8), 0u);
    EXPECT_EQ(padding(1, 8), 7u);
    EXPECT_EQ(padding(8, 4), 0u);
    EXPECT_EQ(align_up(13, 4), 16u);
}

struct Counted : RefCounted {
    explicit Counted(int& deaths) : deaths_(deaths) {}
    ~Counted() override { ++deaths_; }
    int& deaths_;
};

TEST(IntrusivePtr, LastOwnerDeletes)
{
    int deaths = 0;
    {
        auto first = make_intrusive<Counted>(deaths);
        IntrusivePtr<Counted> second = first;
        first = {};
        EXPECT_EQ(deaths, 0);
    }
    EXPECT_EQ(deaths, 1);
}

TEST(OperationHash, NamesThatDifferAnywhereHaveDifferentDigests)
{
    EXPECT_NE(operation_digest("abcdefgh1abcdefgh"), operation_digest("abcdefgh2abcdefgh"));
    EXPECT_NE(operation_digest("a"), operation_digest("b"));
    EXPECT_NE(operation_digest(""), operation_digest("a"));
    EXPECT_LT(operation_slot(operation_digest("ping"), 0x9E3779B97F4A7C15u, 3), 8u);
}

TEST(Result, HoldsValueOrError)
{
    Result<int> value = 3;
    EXPECT_TRUE(value.ok());
    EXPECT_EQ(*value, 3);
    Result<int> error = Error{ErrorCode::not_found, "no such thing"};
    EXPECT_FALSE(error.ok());
    EXPECT_EQ(error.error().reason, "no such thing");
}

} // namespace
} // namespace kairos
