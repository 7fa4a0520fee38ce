// SPDX-License-Identifier: Apache-2.0
#include "bench/exercise.h"

#include <gtest/gtest.h>

namespace kairos::bench {
namespace {

TEST(Order, SurvivesItsForm)
{
    const Order order{.verb = Verb::ttcp,
                      .exercise = {.direction = Direction::oneway,
                                   .payload = Payload::bin_struct,
                                   .units = 42,
                                   .calls = 1000,
                                   .request_bytes = 1008,
                                   .reply_bytes = 24}};
    const std::string line = format_order(order);
    EXPECT_EQ(line, "ttcp oneway BinStruct 42 1000 1008 24");
    const auto parsed = parse_order(line);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(format_order(*parsed), line);
}

TEST(Order, EveryPayloadHasANameOfItsOwn)
{
    for (const Payload payload :
         {Payload::none, Payload::octet, Payload::character, Payload::int16, Payload::int32,
          Payload::float64, Payload::bin_struct, Payload::text, Payload::strings})
        EXPECT_EQ(payload_named(name_of(payload)), payload);
    EXPECT_FALSE(payload_named("float"));
}

TEST(Order, RefusesWhatIsNoOrder)
{
    for (const char* line :
         {"", "latency", "latency twoway octet 1 1 1", "latency twoway octet 1 1 1 1 1",
          "latency sideways octet 1 1 1 1", "latency twoway octet -1 1 1 1",
          "latency twoway octet 1x 1 1 1", "latency twoway octet 99999999999 1 1 1",
          "latency twoway octet 4194305 1 1 1", "quit now", "latency  twoway octet 1 1 1 1"})
        EXPECT_FALSE(parse_order(line)) << line;
    EXPECT_TRUE(parse_order("quit"));
}

TEST(Exercise, CountsUserDataNotEncoding)
{
    EXPECT_EQ(payload_bytes({.payload = Payload::bin_struct, .units = 1024}), 24'576u);
    EXPECT_EQ(payload_bytes({.payload = Payload::strings, .units = 32}), 1024u);
    EXPECT_EQ(payload_bytes({.payload = Payload::none, .units = 0}), 0u);
}

} // namespace
} // namespace kairos::bench
