// SPDX-License-Identifier: Apache-2.0
//
// Users and their passwords, as a file has them: lines "NAME:HASH", where a hash is one of crypt(5)
// that is good enough for new passwords. Empty lines and those that begin with "#" are left out.
#pragma once

#include "kairos/base/result.h"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::csiv2 {

namespace limits {
inline constexpr std::size_t users_file_max = std::size_t{16} << 20;
/// As libcrypt has it; no password is longer here.
inline constexpr std::size_t password_max = 511;
} // namespace limits

class Users {
  public:
    Users(Users&&) = default;
    Users& operator=(Users&&) = default;
    Users(const Users&) = delete;
    Users& operator=(const Users&) = delete;

    /// Reads the text of a file. Nothing, and what is wrong with it, a line each, where something
    /// is. Hashes are never part of what is said.
    [[nodiscard]] static std::optional<Users> parse(std::string_view text,
                                                    std::vector<std::string>& problems);
    /// Reads a file. The error names the file, and its first problem.
    [[nodiscard]] static Result<Users> read(const std::string& file);

    /// Returns whether the password is this user's. Where there is no such user it takes as long as
    /// for one of those there are, for the same name always the same one.
    [[nodiscard]] bool is_right(std::string_view user, const std::string& password) const;
    [[nodiscard]] bool has(std::string_view user) const { return hashes_.contains(user); }
    [[nodiscard]] std::size_t size() const noexcept { return hashes_.size(); }

  private:
    Users();

    /// Returns whose hash is computed for a user whom there is not.
    [[nodiscard]] const std::string& hash_for_nobody(std::string_view user) const;

    std::map<std::string, std::string, std::less<>> hashes_;
    std::vector<const std::string*> all_; // of hashes_, which keep their places
    std::array<unsigned char, 16> key_{}; // by which nobody knows which of them is whose
};

/// Returns a password as a file of users has it, by yescrypt; an error where the system has no
/// random numbers, or the password is none: empty, too long, or with an octet NUL. The higher
/// `cost` is, from 1 to 11, the longer it takes; 0: what libcrypt thinks right.
[[nodiscard]] Result<std::string> hashed(const std::string& password, unsigned cost = 0);

} // namespace kairos::csiv2
