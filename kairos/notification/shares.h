// SPDX-License-Identifier: Apache-2.0
//
// Stores of which a service has some while others of its kind have the rest, behind an interface
// without CORBA's calls: they come and go while it runs.
#pragma once

#include "kairos/base/export.h"
#include "kairos/notification/store.h"

#include <memory>
#include <string>
#include <vector>

namespace kairos::notification {

/// What is done with the shares of this process. Called by one thread, one after the other.
class KAIROS_API ShareHolder {
  public:
    ShareHolder() = default;
    ShareHolder(const ShareHolder&) = delete;
    ShareHolder& operator=(const ShareHolder&) = delete;
    virtual ~ShareHolder() = default;

    /// Has the share served from now on; false: it could not be, and the store is closed.
    [[nodiscard]] virtual bool take(unsigned share, std::unique_ptr<Store> store) = 0;
    /// Ends serving it, so that another process takes it; false: it is to stay.
    [[nodiscard]] virtual bool give_back(unsigned share) = 0;
    /// Ends serving it: another process has it.
    virtual void drop(unsigned share) = 0;
};

/// The shares, which are numbered from 1 on. Any thread.
class KAIROS_API Shares {
  public:
    Shares() = default;
    Shares(const Shares&) = delete;
    Shares& operator=(const Shares&) = delete;
    virtual ~Shares() = default;

    /// From 1 to 63.
    [[nodiscard]] virtual unsigned count() const noexcept = 0;
    /// Begins to give some to this process, which others find at `address`, and returns when it has
    /// what it gets at first. To be called once; the holder must live until end() has returned.
    virtual void begin(ShareHolder& holder, const std::string& address) = 0;
    /// The holder is not called from here on.
    virtual void end() noexcept = 0;
    /// The address of the process that has the share; empty where none has, or this one.
    [[nodiscard]] virtual std::string address_of(unsigned share) const = 0;
    /// Reads the objects of a share that are channels, whoever has it.
    [[nodiscard]] virtual StoreStatus channels(unsigned share,
                                               std::vector<StoredObject>& channels) = 0;
};

} // namespace kairos::notification
