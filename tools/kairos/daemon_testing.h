// SPDX-License-Identifier: Apache-2.0
//
// The tool as a process, for tests of its commands: one that prints a reference and serves until it
// is told to end, and one that ends by itself.
#pragma once

#include "bench/process.h"
#include "kairos/ior/profile.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace kairos::tools {

inline constexpr std::chrono::seconds start_patience{60};

inline bench::ChildProcess start(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), KAIROS_TOOL);
    return bench::ChildProcess::start({.command = std::move(arguments),
                                       .environment = {},
                                       .cpu = {},
                                       .inherited_descriptor = -1})
        .value();
}

/// Runs until its end, and returns what it wrote to standard error.
inline std::string complaint_of(std::vector<std::string> arguments)
{
    bench::ChildProcess process = start(std::move(arguments));
    const auto remains = process.finish(start_patience);
    EXPECT_EQ(1, remains.exit_status);
    return remains.errors;
}

struct Daemon {
    explicit Daemon(std::vector<std::string> arguments)
        : process(start(std::move(arguments))), reference(process.read_line(start_patience).value())
    {
    }
    /// One that runs, and has said its reference.
    Daemon(bench::ChildProcess running, std::string said)
        : process(std::move(running)), reference(std::move(said))
    {
    }
    std::string next_line() { return process.read_line(start_patience).value(); }
    /// Its exit status, and what it wrote to standard error.
    std::string end()
    {
        ::kill(process.pid(), SIGTERM);
        const auto remains = process.finish(start_patience);
        return std::to_string(remains.exit_status) + remains.errors;
    }
    bench::ChildProcess process;
    std::string reference;
};

inline std::string port_in(const std::string& reference)
{
    const auto ior = ior::from_string(reference);
    return std::to_string(ior::decode_iiop(ior->profiles[0].data)->port);
}

} // namespace kairos::tools
