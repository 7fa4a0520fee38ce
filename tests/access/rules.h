// SPDX-License-Identifier: Apache-2.0
//
// Files of rules that a test writes, and replaces while a server heeds them.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <vector>

namespace kairos::access_testing {

class RulesFile {
  public:
    explicit RulesFile(const std::string& rules)
    {
        std::string pattern = std::filesystem::temp_directory_path() / "kairos-access-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
        folder_ = pattern;
        replace(rules);
    }
    ~RulesFile()
    {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    RulesFile(const RulesFile&) = delete;
    RulesFile& operator=(const RulesFile&) = delete;

    [[nodiscard]] std::string path() const { return folder_ + "/rules.toml"; }
    /// Replaces the file, as an administrator should: at once.
    void replace(const std::string& rules) const
    {
        const std::string next = path() + ".new";
        std::ofstream file(next, std::ios::trunc);
        if (!(file << rules).flush()) throw std::runtime_error("no file written");
        file.close();
        std::filesystem::rename(next, path());
    }
    /// Options with which an ORB heeds it.
    [[nodiscard]] std::vector<std::string> options() const
    {
        return {"-ORBAccess", path(), "-ORBDebug", "2"};
    }

  private:
    std::string folder_;
};

} // namespace kairos::access_testing
