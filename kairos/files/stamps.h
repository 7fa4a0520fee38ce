// SPDX-License-Identifier: Apache-2.0
//
// What the system says of files from which one can tell, without reading them, that they are not
// those of before: replaced, written to, made or removed.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kairos::files {

class Stamps {
  public:
    /// Of no file at all.
    Stamps() = default;
    /// Looks at these files; at a folder's, with all that is in it. What is not there has a stamp
    /// as well.
    explicit Stamps(std::span<const std::string> paths);

    /// Returns whether a file was changed so shortly before that one that is changed once more may
    /// have the same stamp, for the system's clock goes on in steps: within stamp_step.
    [[nodiscard]] bool are_fresh() const;

    friend bool operator==(const Stamps&, const Stamps&) = default;

  private:
    /// Of one file. A file that is replaced by another has another number; one that is written to,
    /// another time.
    struct Stamp {
        std::uint64_t device = 0;
        std::uint64_t number = 0;
        std::int64_t size = 0;
        std::int64_t modified_ns = 0;
        std::int64_t changed_ns = 0;
        int error = 0; // errno, if it cannot be looked at
        friend auto operator<=>(const Stamp&, const Stamp&) = default;
    };
    [[nodiscard]] static Stamp stamp_of(const std::string& path, bool& is_folder);

    std::vector<Stamp> stamps_;
};

} // namespace kairos::files
