// SPDX-License-Identifier: Apache-2.0
//
// What the tests with other ORBs share: their programs as servers, and as clients whose lines say
// which check held.
#pragma once

#include "process.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace interop {

using Arguments = std::vector<std::string>;

inline Arguments operator+(Arguments left, const Arguments& right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

/// A server program of any ORB. Its end is checked where the test does not do it.
class Peer {
  public:
    explicit Peer(Arguments arguments, int references = 1) : process_(std::move(arguments))
    {
        for (int i = 0; i < references; ++i)
            reference.push_back(process_.read_line());
    }
    ~Peer()
    {
        if (ended_) return;
        EXPECT_EQ(process_.stop(), 0) << "the server's exit status";
    }
    [[nodiscard]] int stop()
    {
        ended_ = true;
        return process_.stop();
    }

    std::vector<std::string> reference;

  private:
    calls::Process process_;
    bool ended_ = false;
};

/// Counts the checks that held, by the lines of a client until the one that is `end`.
inline void expect_lines(calls::Process& client, int expected, const std::string& end)
{
    int held = 0;
    for (std::string line = client.read_line(); line != end; line = client.read_line()) {
        if (line.starts_with("ok "))
            ++held;
        else
            ADD_FAILURE() << line;
        if (line.empty()) break; // it ended before
    }
    EXPECT_EQ(held, expected);
}

/// Runs a client program and counts the checks that it says held.
inline void expect_checks(Arguments client, int expected)
{
    calls::Process process(std::move(client));
    expect_lines(process, expected, "");
    EXPECT_EQ(process.wait(), 0) << "the client's exit status";
}

} // namespace interop
