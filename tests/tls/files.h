// SPDX-License-Identifier: Apache-2.0
//
// Files of certificates that a test replaces while somebody uses them.
#pragma once

#include "tests/tls/certificates.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <stdlib.h>
#include <string>

namespace kairos::tls_testing {

/// A folder with files of the test's own, of a server and of a client: copies of those of
/// Certificates at first.
class Files {
  public:
    Files()
    {
        std::string pattern = std::filesystem::temp_directory_path() / "kairos-tls-own-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
        folder_ = pattern;
        for (const char* name : {"server.pem", "server-key.pem", "client.pem", "client-key.pem"})
            replace(name, name);
        replace("clients-ca.pem", "ca.pem");
        replace("servers-ca.pem", "ca.pem");
    }
    ~Files()
    {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;

    [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
    /// Replaces a file by one of Certificates, as an administrator should: at once.
    void replace(const std::string& name, const std::string& by) const
    {
        replace_by_text(name, text_of(by));
    }
    void replace_by_text(const std::string& name, const std::string& text) const
    {
        write(name + ".new", text);
        std::filesystem::rename(path(name + ".new"), path(name));
    }
    /// Writes into a file where it is.
    void write(const std::string& name, const std::string& text) const
    {
        std::ofstream file(path(name), std::ios::trunc);
        if (!(file << text).flush()) throw std::runtime_error("no file written");
        using std::filesystem::perms;
        std::filesystem::permissions(path(name), perms::owner_read | perms::owner_write);
    }
    [[nodiscard]] static std::string text_of(const std::string& certificates)
    {
        std::ifstream file(Certificates::get().path(certificates));
        return {std::istreambuf_iterator<char>(file), {}};
    }

    [[nodiscard]] std::string own_text_of(const std::string& name) const
    {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }

  private:
    std::string folder_;
};

} // namespace kairos::tls_testing
