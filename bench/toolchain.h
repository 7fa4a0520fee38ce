// SPDX-License-Identifier: Apache-2.0
//
// The compilers that the footprint experiment runs, and a folder of its own to run them in. Where
// our own files are is told by paths.txt beside the measured programs: lines of "name path", the
// paths relative to that file, so that an install tree may be moved.
#pragma once

#include "kairos/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kairos::bench {

struct Toolchain {
    std::string cxx; ///< g++, or what CXX says
    std::filesystem::path kairos_idl;
    std::string omniidl;             ///< empty: omniORB is not installed
    std::filesystem::path include;   ///< of Kairos' headers
    std::filesystem::path generated; ///< of those that the build writes
    std::filesystem::path idl;       ///< the folder of param.idl
    std::filesystem::path hello;     ///< the folder of the example
    std::filesystem::path libraries; ///< where libkairos.a and .so are, and the others
};

[[nodiscard]] Result<Toolchain> find_toolchain(const std::filesystem::path& program_directory);

/// An empty folder that is removed with everything in it.
class WorkFolder {
  public:
    static Result<WorkFolder> create();
    WorkFolder(WorkFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
    WorkFolder& operator=(WorkFolder&&) = delete;
    ~WorkFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    explicit WorkFolder(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
};

/// Runs a compiler; its first complaint is the reason of the error.
[[nodiscard]] Result<void> run_tool(const std::vector<std::string>& command);

} // namespace kairos::bench
