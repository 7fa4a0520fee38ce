// SPDX-License-Identifier: Apache-2.0
//
// Objects that a server has under object keys of the program's choice, as people write them in
// corbaloc URLs: who asks for one is sent to its reference by a LOCATION_FORWARD. The core of
// IORTable (kairos/corba/ior_table.h). Asked only for keys that no adapter has made. Any thread.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/ior/ior.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace kairos::poa {

/// Knows of keys that are not in the table. Called by any thread.
class ForwardLocator : public RefCounted {
  public:
    /// Returns the reference of this key; nothing if the locator does not know it either. What it
    /// throws is for the caller.
    [[nodiscard]] virtual std::optional<ior::Ior> locate(std::string_view key) = 0;
};

class ForwardTable {
  public:
    /// Binds a key to a reference; returns false, and changes nothing, if the key is bound.
    [[nodiscard]] bool bind(std::string key, const ior::Ior& target);
    /// Binds a key to a reference, in place of the one it may be bound to.
    void rebind(std::string key, ior::Ior target);
    /// Unbinds a key; returns false if it is not bound.
    [[nodiscard]] bool unbind(std::string_view key);
    /// Sets who is asked for keys that are not in the table; null for nobody.
    void set_locator(IntrusivePtr<ForwardLocator> locator);
    void clear();

    /// Returns the reference that whoever asks for this key is to go to; nothing if nobody knows.
    [[nodiscard]] std::optional<ior::Ior> find(Bytes key) const;

  private:
    mutable std::mutex mutex_; // guards what follows; not held while calling out
    std::map<std::string, ior::Ior, std::less<>> targets_;
    IntrusivePtr<ForwardLocator> locator_;
};

} // namespace kairos::poa
