// SPDX-License-Identifier: Apache-2.0
//
// What the adapter needs of a servant. The façade's PortableServer::ServantBase and the generated
// skeletons implement it.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/ref_count.h"
#include "kairos/poa/operations.h"

#include <string_view>

namespace kairos::orb {
struct TimedOperations;
}

namespace kairos::poa {

class Servant;
/// Takes a servant whose life ends out of every adapter that has it, as if its objects had been
/// deactivated: nobody calls it, counts it or etherealizes it any more. Any thread.
KAIROS_API void forget(Servant& servant) noexcept;

class KAIROS_API Servant {
  public:
    /// A copy is not active.
    Servant(const Servant&) noexcept {}
    Servant& operator=(const Servant&) noexcept { return *this; }

    /// Decodes the arguments, calls the operation and replies. Throws what the servant throws.
    virtual void _kairos_dispatch(orb::Upcall& upcall) = 0;
    /// Returns whether the servant implements the interface of this repository id.
    [[nodiscard]] virtual bool _kairos_supports(std::string_view repository_id) const = 0;
    /// Returns the repository id of the servant's most derived interface. Asked within a Calling
    /// for the object that the answer is about, as servants without a skeleton have several; what
    /// they say lasts until the thread asks the next.
    [[nodiscard]] virtual const char* _kairos_id() const = 0;

    /// Returns what calls within the process call without a message, for the interface that the
    /// address `interface` (a static of its stub class) stands for; null if the servant's class
    /// does not have it.
    [[nodiscard]] virtual void* _kairos_direct(const void* interface) noexcept
    {
        (void)interface;
        return nullptr;
    }

    /// Returns the operations that `_kairos_dispatch` looks into, for adapters that look by
    /// themselves; without operations if that is not all it does.
    [[nodiscard]] virtual Skeleton _kairos_skeleton() noexcept { return {}; }

    /// Returns what the IDL says of the timing of the servant's operations; null if it says
    /// nothing. Constant data of the servant's class.
    [[nodiscard]] virtual const orb::TimedOperations* _kairos_timed_operations() const noexcept
    {
        return nullptr;
    }

    /// Adds a count of the servant; the adapter owns one while the servant is active. Servants that
    /// are not counted ignore this and _remove_ref (C++ mapping, 5.37.2).
    virtual void _add_ref() = 0;
    /// Takes a count of the servant away; who takes the last may destroy it.
    virtual void _remove_ref() = 0;

    /// Notes that one adapter more knows the servant, as one object or as default servant.
    void _kairos_known() noexcept { known_.add(1); }
    /// Notes that one adapter less knows the servant, as one object or as default servant.
    void _kairos_forgotten() noexcept { known_.subtract(1); }

  protected:
    Servant() = default;
    /// A servant on the stack, or one that its program deletes, may be active still.
    virtual ~Servant()
    {
        if (known_.load_relaxed() != 0) [[unlikely]]
            forget(*this);
    }

  private:
    AtomicWord<std::uint32_t> known_;
};

} // namespace kairos::poa
