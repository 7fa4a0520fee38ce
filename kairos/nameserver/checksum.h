// SPDX-License-Identifier: Apache-2.0
//
// What tells a row of the store that was written from one that was damaged, or made by somebody
// else.
#pragma once

#include "kairos/nameserver/store.h"

#include <cstdint>
#include <string_view>

namespace kairos::nameserver {

/// FNV-1a over everything that a row says, so that a row is what was written or is refused.
class Checksum {
  public:
    Checksum& add(std::uint64_t number)
    {
        for (int shift = 0; shift < 64; shift += 8)
            add_octet(static_cast<unsigned char>(number >> shift));
        return *this;
    }
    Checksum& add(std::string_view text)
    {
        add(text.size());
        for (const char c : text)
            add_octet(static_cast<unsigned char>(c));
        return *this;
    }
    std::int64_t value() const { return static_cast<std::int64_t>(hash_); }

  private:
    void add_octet(unsigned char octet) { hash_ = (hash_ ^ octet) * 0x100000001b3u; }
    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

inline std::int64_t checksum_of(ContextId context, std::string_view id, std::string_view kind,
                                std::int64_t type, std::int64_t target, std::string_view reference)
{
    return Checksum()
        .add(context)
        .add(id)
        .add(kind)
        .add(static_cast<std::uint64_t>(type))
        .add(static_cast<std::uint64_t>(target))
        .add(reference)
        .value();
}

} // namespace kairos::nameserver
