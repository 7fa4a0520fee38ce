// SPDX-License-Identifier: Apache-2.0
//
// What the core knows of oneways in datagrams (diop://), which is a library of its own
// (kairos/datagrams): functions that it asks by a weak reference.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/ior/profile.h"

#include <memory>
#include <string_view>
#include <vector>

namespace kairos::orb {

class Orb;
struct Way;

/// What receives datagrams beside the server of an ORB. Owned by the ORB's serving half.
class DatagramSide {
  public:
    DatagramSide() = default;
    DatagramSide(const DatagramSide&) = delete;
    DatagramSide& operator=(const DatagramSide&) = delete;
    virtual ~DatagramSide() = default;

    /// Adds to a reference to an object of this process the profiles by which datagrams reach it.
    virtual void add_profiles(ior::Ior& reference) const = 0;
    /// Returns whether this way, of a transport without connections, leads here.
    [[nodiscard]] virtual bool is_at(const Way& way) const noexcept = 0;
    /// Begins to serve what comes; to be called once.
    [[nodiscard]] virtual Result<void> start() = 0;
    /// Begins to end: no new requests. Does not wait. Any thread.
    virtual void stop() noexcept = 0;
    /// Waits, after `stop`, until nothing is served any more. Not in an upcall.
    virtual void join() noexcept = 0;
    /// Closes its sockets in a child of the process that serves, which goes on serving.
    virtual void leave_to_parent() noexcept = 0;
};

struct Datagrams {
    /// Returns where the object can be reached, as ior::targets_by_any_way does, and where that is
    /// nowhere, by datagrams.
    std::vector<ior::Target> (*targets)(const ior::Ior& reference);
    /// Opens the sockets of those -ORBListenEndpoints that are for datagrams; `side` is there also
    /// if there are none, for groups that objects are associated with later.
    Result<void> (*open)(Orb& orb, std::unique_ptr<DatagramSide>& side);
    /// Reads the URL of a group of objects, corbaloc:miop:…; returns false for every other text.
    /// Throws BAD_PARAM for one that is malformed.
    bool (*read_url)(std::string_view text, ior::Ior& reference);
};

/// Of kairos/datagrams.
KAIROS_API const Datagrams& datagrams();

} // namespace kairos::orb
