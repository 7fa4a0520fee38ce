// SPDX-License-Identifier: Apache-2.0
//
// What runs of an instrumented application measured (kairos/types/profile.h writes it,
// docs/marshalling.md describes the files): read for --profile, several files as one.
#pragma once

#include "idlc/diagnostics.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::idlc {

/// What was measured of a type or of an operation, in all of its functions together.
struct Measured {
    std::uint64_t calls = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t self_ns = 0; ///< without what was measured within

    /// Sums that do not fit stay at the largest number.
    void add(const Measured& other) noexcept;
};

class Profile {
  public:
    /// Of a type by its repository id, of an operation by its name on the wire, a blank and the
    /// repository id of its interface.
    using Entries = std::map<std::string, Measured, std::less<>>;

    /// Adds what the text of a file says; diagnostics call it by `file`.
    void read(std::string_view text, std::uint32_t file, Diagnostics& diagnostics);

    [[nodiscard]] const Entries& types() const noexcept { return types_; }
    [[nodiscard]] const Entries& operations() const noexcept { return operations_; }

  private:
    Entries types_;
    Entries operations_;
};

/// Files read from disk, with what there is to say about them.
class ProfileFiles {
  public:
    ProfileFiles() = default;
    ProfileFiles(const ProfileFiles&) = delete;
    ProfileFiles& operator=(const ProfileFiles&) = delete;

    /// True where there was no error.
    [[nodiscard]] bool read(const std::vector<std::string>& paths);
    [[nodiscard]] const Profile& profile() const noexcept { return profile_; }
    [[nodiscard]] const Diagnostics& diagnostics() const noexcept { return diagnostics_; }

  private:
    std::vector<SourceFile> files_;
    SourceTexts texts_;
    Diagnostics diagnostics_{files_, texts_};
    Profile profile_;
};

} // namespace kairos::idlc
