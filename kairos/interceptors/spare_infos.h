// SPDX-License-Identifier: Apache-2.0
//
// The objects that tell interceptors of requests, kept from request to request: in the steady state
// nothing is allocated. Used by one thread.
#pragma once

#include "kairos/base/thread_owned.h"
#include "kairos/corba/object.h"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

namespace kairos::interceptors {

/// Of one class. A request's object may come back in another thread than took it.
template <typename Info>
class SpareInfos {
  public:
    using Pointer = std::shared_ptr<Info>;

    [[nodiscard]] static Pointer take()
    {
        Kept& kept = ThreadOwned<Kept>::get();
        if (kept.count == 0) [[unlikely]]
            return make();
        return std::move(kept.spares[--kept.count]);
    }
    /// Keeps it for another request, unless the program has kept it.
    static void give_back(Pointer&& info) noexcept
    {
        info->leave();
        Kept& kept = ThreadOwned<Kept>::get();
        if (info->_kairos_is_shared() || kept.count == kept.spares.size()) [[unlikely]]
            return info.reset();
        kept.spares[kept.count++] = std::move(info);
    }

  private:
    struct Kept {
        std::array<Pointer, 8> spares;
        std::size_t count = 0;
    };

    [[nodiscard, gnu::cold, gnu::noinline]] static Pointer make()
    {
        return Pointer(new Info, [](Info* info) { CORBA::release(info); });
    }
};

} // namespace kairos::interceptors
