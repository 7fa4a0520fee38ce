// SPDX-License-Identifier: Apache-2.0
//
// Connections that carry requests in both directions (bidirectional GIOP, CORBA 3.3 part 2, 9.8;
// docs/bidirectional.md): the door between the half of an ORB that reads them, kairos/server, and
// the one that calls over them, kairos/client. It does not matter here which end made the
// connection, but for the numbers of requests.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/giop/client_session.h"
#include "kairos/ior/component.h"
#include "kairos/net/address.h"
#include "kairos/net/socket.h"
#include "kairos/orb/way.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace kairos::cdr {
class Writer;
} // namespace kairos::cdr

namespace kairos::orb {

class Orb;

/// Which end of a connection this is: who has made it numbers its requests even, the other odd
/// (CORBA 3.3 part 2, 9.8).
enum class End : std::uint8_t { maker, accepter };

/// What a bidirectional link writes to: a connection of the serving half.
class BidirectionalOutput {
  public:
    /// Sends a message, or keeps what the peer does not take at once; never waits. Returns `ok`,
    /// `no_room` with nothing done if the peer is too far behind, or `not_executed` if nothing can
    /// be sent any more. Any thread.
    [[nodiscard]] virtual giop::Outcome send_message(Bytes header,
                                                     const cdr::Writer* body) noexcept = 0;

  protected:
    ~BidirectionalOutput() = default;
};

/// One request over a bidirectional connection and the wait for what answers it. Set up by the
/// thread that waits, then the link's until its `exchange` returns.
struct BidirectionalCall : giop::PendingRequest {
    using PendingRequest::PendingRequest;

    Bytes header;                      ///< or the whole message…
    const cdr::Writer* body = nullptr; ///< …if there is no body
    Deadline answer_by;

    /// Takes the answer over from `connection`, which has just handed it out. Called by the thread
    /// that reads, under the lock of the link. Throws std::bad_alloc.
    virtual void take(const giop::Message& message, giop::Connection& connection) = 0;
    virtual ~BidirectionalCall() = default;

  private:
    friend class BidirectionalLink;
    std::optional<giop::Outcome> outcome; // guarded by the link
    net::Socket* signal = nullptr;        // an eventfd that wakes who waits
};

/// The calling end of one bidirectional connection: numbers of requests, and who waits for which
/// answer. Shared by count between the connection that is read, who has claimed it, and calls. Any
/// thread.
class KAIROS_API BidirectionalLink final : public RefCounted {
  public:
    /// Makes the link of one end. `output` may be used until end() has returned.
    BidirectionalLink(Orb& orb, End end, BidirectionalOutput& output) noexcept
        : orb_(orb), end_(end), next_id_(end == End::maker ? 0 : 1), output_(&output)
    {
    }

    [[nodiscard]] End own_end() const noexcept { return end_; }
    /// Returns the number of the next request.
    [[nodiscard]] std::uint32_t next_request_id() noexcept
    {
        return next_id_.fetch_add(2, std::memory_order_relaxed);
    }
    /// Returns whether the connection can carry no more calls.
    [[nodiscard]] bool has_ended() const noexcept { return ended_.load(std::memory_order_acquire); }

    // --- service contexts that go out once ---
    /// Returns whether a request with the contexts of the connection was sent.
    [[nodiscard]] bool contexts_sent() const noexcept { return contexts_sent_.load(); }
    void note_contexts_sent() noexcept { contexts_sent_.store(true); }

    /// Sends the call's message and waits for its answer, if it has one. A thread that serves a
    /// request goes on serving meanwhile (serving_thread.h). Afterwards the link knows nothing of
    /// the call.
    [[nodiscard]] giop::Outcome exchange(BidirectionalCall& call);

    // --- for who reads the connection ---
    /// Hands an answer to who waits for it. Returns what is wrong with a message that is none;
    /// `none` also where nobody waits.
    [[nodiscard]] cdr::Fault deliver(const giop::Message& message, giop::Connection& connection);
    /// Ends the link: calls that wait end with this outcome, and `output` is used no more.
    void end(giop::Outcome outcome) noexcept;

  private:
    ~BidirectionalLink() override;

    using Lock = std::unique_lock<std::mutex>;
    void finish(BidirectionalCall& call, giop::Outcome outcome) noexcept;
    void await(BidirectionalCall& call, Lock& lock);
    void give_up(BidirectionalCall& call) noexcept;

    Orb& orb_;
    const End end_;
    std::atomic<std::uint32_t> next_id_;
    std::atomic<bool> ended_{false};
    std::atomic<bool> contexts_sent_{false};
    // guards what follows; outside those of connections that send, and not held while waiting
    std::mutex mutex_;
    BidirectionalOutput* output_; // null after the end
    giop::PendingRequests calls_; // BidirectionalCalls
    std::vector<std::unique_ptr<net::Socket>> spare_signals_;
};
using BidirectionalLinkPtr = IntrusivePtr<BidirectionalLink>;

/// What one ORB knows of its bidirectional connections. Any thread.
class KAIROS_API Bidirectional {
  public:
    explicit Bidirectional(Orb& orb) noexcept : orb_(orb) {}
    Bidirectional(const Bidirectional&) = delete;
    Bidirectional& operator=(const Bidirectional&) = delete;

    // --- which object adapters there are ---
    /// Notes that there is an object adapter with BiDirPolicy::BOTH: calls may offer connections.
    void note_adapter() noexcept { has_adapter_.store(true, std::memory_order_release); }
    [[nodiscard]] bool has_adapter() const noexcept
    {
        return has_adapter_.load(std::memory_order_acquire);
    }

    // --- listen points that peers have said ---
    /// Has calls to these addresses go over `link`, which a peer at `peer` has made: as far as they
    /// are the peer's own, or -ORBBidirectional any is given, and while there is room. The log says
    /// which are refused. Returns how many the link has that way.
    std::size_t claim(std::span<const ior::Address> points, const BidirectionalLinkPtr& link,
                      const net::Address& peer);
    /// Forgets what was claimed for this link.
    void forget(const BidirectionalLink& link) noexcept;
    /// Returns the link over which calls to one of these ways go; null if none was claimed, or it
    /// has ended.
    [[nodiscard]] BidirectionalLinkPtr find(const WayList& ways) noexcept;
    /// Returns whether anything was ever claimed.
    [[nodiscard]] bool has_claims() const noexcept
    {
        return has_claims_.load(std::memory_order_acquire);
    }

  private:
    struct Claim {
        BidirectionalLinkPtr link;
        std::uint64_t host; // net::Address::host_number of the peer
    };

    Orb& orb_;
    std::atomic<bool> has_adapter_{false};
    std::atomic<bool> has_claims_{false};
    std::mutex mutex_; // guards what follows
    std::map<ior::Address, Claim> claims_;
    std::map<const BidirectionalLink*, std::size_t> counts_; // of those that each link has
};

/// What the own addresses of a peer are whose connection comes from some address. Looked up once.
class KAIROS_API OwnAddresses {
  public:
    explicit OwnAddresses(const net::Address& peer);
    /// Returns whether a listen point is the peer's own: it has the address of its connection in
    /// numbers; or the peer is on this host, as one that comes by a Unix socket, and it has any
    /// address of this host's interfaces; or it is of the domain .invalid (listen_points.h), and
    /// whose it is only its owner knows. Names are not looked up: a stranger's may lead anywhere.
    [[nodiscard]] bool has(const ior::Address& point) const;

  private:
    [[nodiscard]] bool is_here(const net::Address& address) const noexcept;

    net::Address peer_;
    std::vector<net::Address> of_this_host_;
    bool peer_is_here_;
};

} // namespace kairos::orb
