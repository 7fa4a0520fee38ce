// SPDX-License-Identifier: Apache-2.0
#include "bench/load.h"

#include "bench/arrivals.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kairos::bench {
namespace {

TEST(Load, SurvivesItsForm)
{
    const Load load{.high_calls = 800,
                    .high_hz = 20,
                    .low_clients = 50,
                    .low_hz = 0,
                    .compute_us = 1000,
                    .duration_ms = 0,
                    .request_bytes = 81,
                    .reply_bytes = 25};
    const std::string line = format_load(load);
    EXPECT_EQ(line, "load high_calls=800 high_hz=20 low_clients=50 low_hz=0 compute_us=1000 "
                    "duration_ms=0 request_bytes=81 reply_bytes=25");
    const auto parsed = parse_load(line);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(format_load(*parsed), line);
}

TEST(Load, ThatIsNoneIsRefused)
{
    EXPECT_TRUE(parse_load("load high_calls=1"));
    EXPECT_TRUE(parse_load("load low_clients=4 duration_ms=10"));
    for (const char* line :
         {"", "load", "loadhigh_calls=1", "latency twoway null 0 1 0 0", "load high_calls",
          "load high_calls=", "load high_calls=-1", "load high_calls=1x", "load high_calls=1  ",
          "load high_calls=1 color=3", "load high_calls=10000001", "load high_calls=1 high_hz=0",
          "load low_clients=4", "load high_calls=1 low_clients=5000", "load high_calls=4294967297"})
        EXPECT_FALSE(parse_load(line)) << line;
}

TEST(Load, ClientsNumbersAreNeverTheHighOnes)
{
    for (std::uint32_t client = 0; client < 1000; ++client)
        EXPECT_NE(number_of_client(client), 0);
    EXPECT_EQ(number_of_client(0), 1);
    EXPECT_EQ(cubed(3), 27);
    EXPECT_EQ(cubed(200), 8'000'000 % 256);
}

TEST(Load, ItsAnswerHasEveryFigure)
{
    const LoadFigures figures{.high = {.max_us = 9, .mean_us = 4, .jitter_us = 2.5},
                              .low = {.p50_us = 3},
                              .low_calls_per_s = 1234.5,
                              .realtime = true};
    const std::string answer =
        format_answer(figures, {.high_requests = 7, .stamped = 6, .inversions = 5, .raised = 1});
    for (const char* part :
         {"\"high_mean_us\":4.000", "\"high_jitter_us\":2.500", "\"high_max_us\":9.000",
          "\"low_p50_us\":3.000", "\"low_calls_per_s\":1234.5", "\"client_realtime\":1",
          "\"server_realtime\":1", "\"high_requests\":7", "\"stamped\":6", "\"inversions\":5}"})
        EXPECT_NE(answer.find(part), std::string::npos) << part << " in " << answer;
}

/// A GIOP message with a body that ends with the octet.
std::string giop(char type, std::size_t body, unsigned char last, bool little_endian = true)
{
    std::string message{'G', 'I', 'O', 'P', 1, 2, char{little_endian}, type, 0, 0, 0, 0};
    message[little_endian ? 8 : 11] = static_cast<char>(body);
    message.append(body - 1, 'x');
    message.push_back(static_cast<char>(last));
    return message;
}

std::vector<int> requests_in(const std::string& read)
{
    std::vector<int> numbers;
    for_each_request(reinterpret_cast<const unsigned char*>(read.data()), read.size(),
                     [&](std::uint8_t number) { numbers.push_back(number); });
    return numbers;
}

TEST(Requests, AreFoundInWhatWasRead)
{
    EXPECT_EQ(requests_in(giop(0, 20, 7)), std::vector{7});
    EXPECT_EQ(requests_in(giop(0, 20, 7, false)), std::vector{7});
    EXPECT_EQ(requests_in(giop(0, 1, 255)), std::vector{255});
    const std::vector<int> two{3, 4};
    EXPECT_EQ(requests_in(giop(0, 20, 3) + giop(1, 8, 9) + giop(0, 30, 4)), two);
}

TEST(Requests, InPartsAreNot)
{
    const std::string whole = giop(0, 20, 7);
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_TRUE(requests_in(whole.substr(0, size)).empty()) << size;
    EXPECT_TRUE(requests_in(whole.substr(1)).empty());
    EXPECT_EQ(requests_in(whole + whole.substr(0, 15)), std::vector{7});
    std::string endless = whole;
    endless.replace(8, 4, 4, '\xFF');
    EXPECT_TRUE(requests_in(endless).empty());
}

} // namespace
} // namespace kairos::bench
