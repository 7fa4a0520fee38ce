// SPDX-License-Identifier: Apache-2.0
//
// What the file of -ORBCsi says, which is TOML (docs/csiv2.md). Everything that is wrong with it is
// found at once. Constant.
#pragma once

#include "kairos/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::csiv2 {

namespace limits {
inline constexpr std::size_t file_max = std::size_t{1} << 20;
inline constexpr std::size_t trusts_max = 1000;
} // namespace limits

/// Returns whether a pattern, in which `*` stands for any characters, matches all of a text.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text) noexcept;
/// Returns whether a pattern matches a user's name: user and scope each for itself, so that one
/// without "@" is of those without a scope.
[[nodiscard]] bool matches_name(std::string_view pattern, std::string_view name) noexcept;

/// Returns whether a pattern matches a name of a certificate: `*` stands for any characters but
/// those that parts of names end with (",", "+", "/", "\"), and "**" for any name.
[[nodiscard]] bool matches_subject(std::string_view pattern, std::string_view name) noexcept;

/// Who is believed to speak for whom.
struct Trust {
    std::vector<std::string> users;        ///< whose password was right
    std::vector<std::string> certificates; ///< subjects and alternative names
    std::vector<std::string> names;        ///< patterns of whom they speak for
    std::vector<std::string> subjects;     ///< likewise, by a name of X.509's or a certificate
    bool anonymous = false;                ///< for somebody who is not named, too
};

struct ServerSettings {
    std::string users;           ///< a file; "": passwords are an Authenticator's, or not taken
    std::string target;          ///< what the server is called by clients that say a password
    bool is_required = false;    ///< a request that does not say who calls is refused
    bool is_unprotected = false; ///< passwords are taken in the clear as well
    std::vector<Trust> trusts;
};

struct ClientSettings {
    std::string user; ///< "": calls are nobody's
    std::string password;
    std::vector<std::string> hosts; ///< patterns of those that the password is for; none: any
    bool is_unprotected = false;    ///< the password is sent in the clear, too
};

struct Settings {
    std::optional<ServerSettings> server;
    ClientSettings client;
};

/// Reads the text of a file; names of files in it count from `folder`, which ends with "/" or is
/// empty. Nothing, and what is wrong with it, a line each, where something is.
[[nodiscard]] std::optional<Settings> parse_settings(std::string_view text,
                                                     const std::string& folder,
                                                     std::vector<std::string>& problems);
/// Reads a file, and what its `password_file` has. The error names the file, and its first problem.
[[nodiscard]] Result<Settings> read_settings(const std::string& file);
/// Returns what is in a file, of this size at most; nothing if it cannot be read, or has more.
[[nodiscard]] std::optional<std::string> contents_of(const std::string& file, std::size_t max);

} // namespace kairos::csiv2
