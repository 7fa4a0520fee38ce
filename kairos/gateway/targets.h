// SPDX-License-Identifier: Apache-2.0
//
// The objects that a gateway calls, as far as they are remembered: by the ids under which clients
// know them. Any thread.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/corba/CORBA.h"
#include "kairos/gateway/interface.h"
#include "kairos/gateway/seal.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace kairos::gateway {

/// One object. Its interface is asked for when the first request needs it.
class Target {
  public:
    Target(CORBA::Object_ptr limited, CORBA::Object_ptr confirmed);

    /// The reference that calls go to, with the gateway's limit of time; `confirms`: whose oneways
    /// return when the target's server has them.
    [[nodiscard]] orb::Reference& reference(bool confirms) const noexcept
    {
        return *(confirms ? confirmed_ : limited_)->_kairos_reference();
    }
    /// Returns the target's interface; null where nobody knows it. Throws what asking for it
    /// throws; then the next one asks again.
    [[nodiscard]] std::shared_ptr<const Interface> interface(Interfaces& interfaces) const;
    /// Returns whether it is the first time that somebody asks.
    [[nodiscard]] bool is_to_be_logged() const noexcept { return !is_logged_.exchange(true); }

  private:
    const CORBA::Object_var limited_;
    const CORBA::Object_var confirmed_;
    mutable std::mutex mutex_; // guards interface_; inside nothing, and nothing is called under it
    mutable std::shared_ptr<const Interface> interface_;
    mutable std::atomic<bool> is_logged_{false}; // any thread
};

class Targets {
  public:
    Targets(CORBA::ORB_ptr orb, const Seal& seal, std::chrono::milliseconds timeout,
            std::size_t targets_max);

    /// Returns the object of an id, as its seal says. Throws OBJECT_NOT_EXIST for what is none.
    [[nodiscard]] std::shared_ptr<const Target> find(Bytes id);

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view id) const noexcept
        {
            return std::hash<std::string_view>()(id);
        }
    };

    [[nodiscard]] std::shared_ptr<const Target> make(Bytes id) const;

    const CORBA::ORB_var orb_;
    const Seal& seal_;
    const std::size_t targets_max_;
    CORBA::PolicyList limit_;
    CORBA::PolicyList confirmation_;
    std::mutex mutex_; // guards by_id_; inside nothing, and nothing is called under it
    std::unordered_map<std::string, std::shared_ptr<const Target>, Hash, std::equal_to<>> by_id_;
};

} // namespace kairos::gateway
