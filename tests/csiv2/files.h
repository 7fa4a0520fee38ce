// SPDX-License-Identifier: Apache-2.0
//
// Files of -ORBCsi that a test writes: users, passwords, settings.
#pragma once

#include "kairos/csiv2/users.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <vector>

namespace kairos::csiv2_testing {

/// A folder with a file of users, "alice", "bob@plant" and "gateway", whose passwords are theirs
/// and "-secret"; and files of settings.
class CsiFiles {
  public:
    CsiFiles()
    {
        std::string pattern = std::filesystem::temp_directory_path() / "kairos-csi-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
        folder_ = pattern + "/";
        std::string users;
        for (const std::string name : {"alice", "bob@plant", "gateway"}) {
            users += name + ":" + csiv2::hashed(name + "-secret", 1).value() + "\n";
            write(name + ".password", name + "-secret\n");
        }
        write("users", users);
        write("mallory.password", "guess");
    }
    ~CsiFiles()
    {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    CsiFiles(const CsiFiles&) = delete;
    CsiFiles& operator=(const CsiFiles&) = delete;

    /// Options with which an ORB has these settings.
    [[nodiscard]] std::vector<std::string> options(const std::string& settings)
    {
        const std::string name = "csi-" + std::to_string(++count_) + ".toml";
        write(name, settings);
        return {"-ORBCsi", folder_ + name};
    }
    /// The settings of a client that is this user, with `more` lines.
    [[nodiscard]] std::vector<std::string> is(const std::string& user, const std::string& more = "")
    {
        return options("[client]\nuser = \"" + user + "\"\npassword_file = \"" + user +
                       ".password\"\n" + more);
    }

  private:
    void write(const std::string& name, const std::string& text) const
    {
        std::ofstream file(folder_ + name, std::ios::trunc);
        if (!(file << text).flush()) throw std::runtime_error("no file written");
    }

    std::string folder_;
    int count_ = 0;
};

} // namespace kairos::csiv2_testing
