// SPDX-License-Identifier: Apache-2.0
//
// How Store::list fills a portion from rows that come in order, the same in every database.
#pragma once

#include "kairos/nameserver/store.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace kairos::nameserver {

class Portioning {
  public:
    Portioning(const PortionBounds& bounds, Portion& portion) : bounds_(bounds), portion_(portion)
    {
        portion_ = {};
    }
    /// Adds a row. False: the portion is full, and this row is the first behind it.
    [[nodiscard]] bool take(std::string_view id, std::string_view kind, std::size_t reference_size,
                            bool is_context)
    {
        const std::size_t size = id.size() + kind.size() + reference_size;
        const bool has_room = portion_.bindings.empty() || size <= bounds_.octets - octets_;
        if (portion_.bindings.size() == bounds_.count || !has_room) {
            portion_.more = true;
            return false;
        }
        octets_ += std::min(size, bounds_.octets - octets_);
        portion_.bindings.push_back({{std::string(id), std::string(kind)}, is_context});
        return true;
    }

  private:
    const PortionBounds bounds_;
    Portion& portion_;
    std::size_t octets_ = 0; // of the rows taken
};

} // namespace kairos::nameserver
