// SPDX-License-Identifier: Apache-2.0
//
// The objects that tell interceptors of requests, kept from request to request: in the steady state
// nothing is allocated. Used by one thread.
#pragma once

#include "kairos/base/thread_owned.h"
#include "kairos/corba/object.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace kairos::interceptors {

/// Of one class. A request's object may come back in another thread than took it.
template <typename Info>
class SpareInfos {
  public:
    using Pointer = std::shared_ptr<Info>;

    [[nodiscard]] static Pointer take()
    {
        std::vector<Pointer>& spares = ThreadOwned<std::vector<Pointer>>::get();
        if (spares.capacity() == 0) spares.reserve(spares_max);
        if (spares.empty()) return Pointer(new Info, [](Info* info) { CORBA::release(info); });
        Pointer info = std::move(spares.back());
        spares.pop_back();
        return info;
    }
    /// Keeps it for another request, unless the program has kept it.
    static void give_back(Pointer info) noexcept
    {
        info->leave();
        std::vector<Pointer>& spares = ThreadOwned<std::vector<Pointer>>::get();
        if (info->_kairos_is_shared() || spares.size() == spares.capacity()) return;
        spares.push_back(std::move(info));
    }

  private:
    static constexpr std::size_t spares_max = 8;
};

} // namespace kairos::interceptors
