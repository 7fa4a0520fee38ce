// SPDX-License-Identifier: Apache-2.0
//
// The kairos tool as a process, for tests of its commands: its exit status and what it printed.
#pragma once

#include "bench/process.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace kairos::tools {

/// For what must happen: a test that waits so long has failed.
constexpr std::chrono::seconds outcome_patience{60};

inline bench::ChildProcess start_tool(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), KAIROS_TOOL);
    return bench::ChildProcess::start({.command = std::move(arguments),
                                       .environment = {},
                                       .cpu = {},
                                       .inherited_descriptor = -1})
        .value();
}

/// Runs to its end: "0 " and what was printed, on standard output and then on standard error.
inline std::string outcome_of(std::vector<std::string> arguments)
{
    bench::ChildProcess process = start_tool(std::move(arguments));
    std::string output;
    while (const auto line = process.read_line(outcome_patience))
        output += *line + "\n";
    const auto remains = process.finish(outcome_patience);
    return std::to_string(remains.exit_status) + " " + output + remains.errors;
}

/// A folder of its own, gone at the end.
class ToolFolder {
  public:
    ToolFolder()
    {
        std::string path = std::filesystem::temp_directory_path() / "kairos_tool_XXXXXX";
        if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = path;
    }
    ToolFolder(const ToolFolder&) = delete;
    ToolFolder& operator=(const ToolFolder&) = delete;
    ~ToolFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] std::string file(const char* name) const { return path_ / name; }

  private:
    std::filesystem::path path_;
};

/// Serves as long as it lives; `reference` is the first line that it printed.
class ServingTool {
  public:
    explicit ServingTool(std::vector<std::string> arguments)
        : process_(start_tool(std::move(arguments))),
          reference(process_.read_line(outcome_patience).value())
    {
    }
    ServingTool(const ServingTool&) = delete;
    ServingTool& operator=(const ServingTool&) = delete;
    ~ServingTool() { (void)end(); }

    /// Returns its exit status.
    int end()
    {
        if (has_ended_) return 0;
        has_ended_ = true;
        ::kill(process_.pid(), SIGTERM);
        return process_.finish(outcome_patience).exit_status;
    }

  private:
    bench::ChildProcess process_;
    bool has_ended_ = false;

  public:
    const std::string reference;
};

} // namespace kairos::tools
