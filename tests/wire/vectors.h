// SPDX-License-Identifier: Apache-2.0
//
// Loads golden vectors: tests/wire/*.hex. A vector begins with "[name version byte-order source]";
// then come hex octets, each line with what they are behind a semicolon; '#' begins a comment.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kairos::test {

struct Vector {
    std::string title; ///< the line in brackets
    std::string name;  ///< its first word
    int minor = 0;     ///< of GIOP 1.x
    bool little_endian = false;
    std::string source; ///< the ORB that it was captured from; empty if written by hand
    std::vector<std::byte> bytes;
};

/// All vectors of one file, e.g. "request.hex". Anything that is not in the format throws.
std::vector<Vector> load_vectors(const std::string& file);

} // namespace kairos::test
