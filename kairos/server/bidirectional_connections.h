// SPDX-License-Identifier: Apache-2.0
//
// How connections become bidirectional (docs/bidirectional.md). Whoever reads one must not be who
// serves its requests: a servant may wait for an answer that comes behind its own request. So all
// of them are read by a server that hands requests over: the ORB's own, if its architecture is one
// of those, else one beside it.
#pragma once

#include "kairos/ior/component.h"
#include "kairos/net/address.h"
#include "kairos/net/socket.h"
#include "kairos/orb/bidirectional.h"
#include "kairos/orb/code_sets.h"
#include "kairos/server/dispatcher.h"

#include <memory>
#include <optional>
#include <vector>

namespace kairos::orb {

/// A connection that another server has accepted, or that the calling half has made, and what was
/// received of it.
struct Adopted {
    net::Socket socket;
    net::Address peer;
    std::vector<std::byte> received;
    std::optional<CodeSetContext> code_sets; ///< what the client announced
    bool is_made = false;                    ///< else it was accepted
};

/// Returns the listen points by which this request offers its connection, where the adapter of its
/// object permits that; nothing if it does not, or the offer is malformed or of a GIOP before 1.2.
[[nodiscard]] std::optional<std::vector<ior::Address>>
offered_listen_points(Orb& orb, const giop::Request& request, const ReplyChannel& from);

/// Returns a copy of the message as one that was never in fragments. It is of GIOP 1.2.
[[nodiscard]] std::vector<std::byte> whole(const giop::Message& message);

/// Makes the dispatcher of requests of bidirectional connections where the ORB's architecture has
/// none: a worker pool; where whoever is in ORB::run serves everything, that is who serves these.
[[nodiscard]] std::unique_ptr<Dispatcher> make_bidirectional_dispatcher(Orb& orb,
                                                                        RequestSource& source);

} // namespace kairos::orb
