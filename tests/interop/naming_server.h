// SPDX-License-Identifier: Apache-2.0
//
// Naming services as processes of a test, each with a folder of its own, on a port that the kernel
// chooses; and the command-line tools that talk to them.
#pragma once

#include "bench/process.h"

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <utility>
#include <vector>

namespace interop {

using Command = std::vector<std::string>;
using Remains = kairos::bench::ChildProcess::Remains;

inline constexpr std::chrono::seconds patience{60};

inline kairos::bench::ProcessOptions process_options(Command command)
{
    return {
        .command = std::move(command), .environment = {}, .cpu = {}, .inherited_descriptor = -1};
}

/// Gone, with what is in it, at the end.
class TemporaryFolder {
  public:
    TemporaryFolder()
    {
        std::string path = std::filesystem::temp_directory_path() / "kairos_naming_XXXXXX";
        if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = path;
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// A naming service that is ready. Killed at the end.
class NamingServer {
  public:
    /// Reads lines until one has an IOR, which is its root context's.
    explicit NamingServer(Command command)
        : process_(kairos::bench::ChildProcess::start(process_options(std::move(command))).value())
    {
        for (;;) {
            const std::string line = process_.read_line(patience).value();
            const std::size_t begin = line.rfind("IOR:");
            if (begin == std::string::npos) continue;
            reference = line.substr(begin);
            return;
        }
    }
    std::string reference;

  private:
    kairos::bench::ChildProcess process_;
};

} // namespace interop
