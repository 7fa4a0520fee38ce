// SPDX-License-Identifier: Apache-2.0
//
// What the adapter needs of servant managers and adapter activators (CORBA 3.3 part 1, 15.3.5 to
// 15.3.7). The façade implements these with what the program registered. Called without locks but
// those that the specification demands; they may throw CORBA exceptions and orb::LocationForward.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/poa/servant.h"

#include <memory>
#include <mutex>
#include <string_view>

namespace kairos::poa {

class Adapter;

class ServantActivator : public RefCounted {
  public:
    /// Returns a servant for the object of this id, with a count for the adapter; or null, which is
    /// an error.
    [[nodiscard]] virtual Servant* incarnate(Bytes id, Adapter& adapter) = 0;
    /// Takes the servant over with the adapter's count of it, when its object is gone.
    virtual void etherealize(Bytes id, Adapter& adapter, Servant& servant, bool cleanup_in_progress,
                             bool remaining_activations) noexcept = 0;
    /// Returns the lock under which all adapters to which the program gave this activator call it,
    /// one at a time.
    [[nodiscard]] virtual std::recursive_mutex& serial() noexcept = 0;
};

class ServantLocator : public RefCounted {
  public:
    /// Returns a servant for one request, which the locator keeps; or null, which is an error. A
    /// NUL follows the operation's name.
    [[nodiscard]] virtual Servant* preinvoke(Bytes id, Adapter& adapter, std::string_view operation,
                                             void*& cookie) = 0;
    virtual void postinvoke(Bytes id, Adapter& adapter, std::string_view operation, void* cookie,
                            Servant& servant) = 0;
};

class AdapterActivator : public RefCounted {
  public:
    /// Is asked for the child of this name; returns whether it made that.
    [[nodiscard]] virtual bool unknown_adapter(Adapter& parent, std::string_view name) = 0;
};

} // namespace kairos::poa
