// SPDX-License-Identifier: Apache-2.0
//
// What a server keeps for its peers: octets of requests received and not served yet, replies that
// were not taken yet. One account an ORB (-ORBMemory), on which every connection has a share. When
// all of them together hold too much, connections are cut off: of the host that holds most, the one
// that has gone on least recently. So nobody gets more than everybody else by having more
// connections, and who goes on outlives who only keeps. Small shares are not counted: a server with
// many idle connections, and calls of ordinary size, never come here. How many connections each
// peer has is counted as well, when they begin and end.
#pragma once

#include "kairos/base/intrusive_list.h"
#include "kairos/giop/connection.h"
#include "kairos/net/address.h"
#include "kairos/net/socket.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace kairos::orb {

class RequestSource;

class Account {
  public:
    /// The share that one connection has. Each part of it is set by one thread at a time.
    class Share;

    /// How many octets of each part of a share are not counted.
    static constexpr std::size_t free_octets = std::size_t{4} << 10;

    /// `key` decides which hosts share a place.
    explicit Account(std::size_t limit, std::uint64_t key = random_key());
    ~Account();
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;

    // --- any thread ---
    /// Notes that a request of so many octets from this source goes to whoever serves it. Returns
    /// false if they have too much already: then it is to be tried again when the source is told
    /// so.
    [[nodiscard]] bool queue(std::size_t octets, RequestSource& source) noexcept;
    /// Notes that a request of so many octets was served, and tells all sources that wait for that:
    /// an ORB has several, one for each lane.
    void unqueue(std::size_t octets) noexcept;
    /// Notes that a source ends, and waits for nothing any more.
    [[gnu::cold]] void forget(const RequestSource& source) noexcept;

    /// Notes that a request of so many octets is kept, in whatever form, until its servant answers
    /// (orb/owed_answer.h). Returns false if those are too many already.
    [[nodiscard, gnu::cold]] bool keep(std::size_t octets) noexcept;
    /// Notes that an answer of so many octets is kept for the thread that sends it.
    [[gnu::cold]] void keep_answer(std::size_t octets) noexcept;
    /// Notes that something of so many octets is kept no more.
    void release(std::size_t octets) noexcept;

    /// Returns whether this peer has less than so many connections that it has made, and may have
    /// one more. A peer is a host, an IPv6 network of 64 bits, or a user of this host
    /// (net::Address::host_number).
    [[nodiscard, gnu::cold]] bool has_place_for(const net::Address& peer,
                                                std::size_t most) noexcept;

    struct Figures {
        std::size_t held = 0;      ///< octets, now
        std::size_t queued = 0;    ///< of these, of requests that were handed over
        std::size_t held_most = 0; ///< at any time
        std::size_t cut_off = 0;   ///< connections
        std::size_t refused = 0;   ///< connections of peers that had too many
        std::size_t late = 0;      ///< how often a peer had too many requests that waited
    };
    [[nodiscard, gnu::cold]] Figures figures() const noexcept;

  private:
    enum class Part : std::uint8_t { received, replies };

    /// Returns what so many octets count as: rounded up, so that not each octet takes the lock.
    [[nodiscard]] static constexpr std::size_t counted(std::size_t octets) noexcept
    {
        constexpr std::size_t step = std::size_t{64} << 10;
        return octets <= free_octets ? 0
               : octets < step       ? align_up(octets, free_octets)
                                     : align_up(octets, step);
    }
    /// Sets a part of a share; returns whether the share's connection may go on.
    [[nodiscard]] bool set(Share& share, Part part, std::size_t octets) noexcept;
    [[nodiscard]] bool has_much_room() const noexcept
    {
        return held_.load(std::memory_order_relaxed) < limit_ / 4;
    }
    [[gnu::cold]] void make_room() noexcept;
    [[gnu::cold]] void add_kept(std::size_t octets) noexcept;
    [[gnu::cold]] void cut_off(Share& share) noexcept;
    void remove(Share& share) noexcept;
    [[nodiscard, gnu::cold]] static std::uint64_t random_key() noexcept;
    /// Which place a peer falls into. Nobody outside can tell who shares one.
    [[nodiscard]] std::size_t place_of(std::uint64_t peer) const noexcept
    {
        return peer * (key_ | 1) >> 56;
    }
    struct Peer;
    struct Host;
    [[nodiscard, gnu::cold]] Peer* find(std::uint64_t number) noexcept;
    [[nodiscard]] Peer* begin(std::uint64_t number);
    void end(Peer* peer) noexcept;

    const std::size_t limit_;
    const std::uint64_t key_;
    std::atomic<std::size_t> refused_{0};
    std::atomic<std::size_t> late_{0};
    std::mutex peers_mutex_; // guards Host::peers and what they have
    // guards what follows, and the shares; sockets are shut down under it, and sources told; inside
    // those of whoever sends
    mutable std::mutex mutex_;
    std::atomic<std::size_t> held_{0};
    std::size_t held_most_ = 0;
    std::size_t queued_ = 0; // of these
    std::size_t kept_ = 0;   // of these, for answers that are owed
    std::size_t cut_off_ = 0;
    std::size_t freed_ = 0; // by connections that were cut off, and not yet given to the system
    std::size_t held_most_lately_ = 0; // since that
    RequestSource* waiting_ = nullptr; // a list of the sources that wait for octets
    /// How many places there are for hosts; what those that fall into one place hold is one's.
    static constexpr std::size_t hosts_max = 256;
    const std::unique_ptr<std::array<Host, hosts_max>> hosts_;
};

class Account::Share final : public giop::MemoryKeeper {
  public:
    /// Makes the share of the connection at `socket`, which is shut down when it is cut off.
    /// Throws std::bad_alloc.
    Share(Account& account, net::Socket& socket, const net::Address& peer)
        : account_(account), socket_(socket), host_(account.place_of(peer.host_number())),
          peer_(account.begin(peer.host_number()))
    {
    }
    ~Share() { account_.remove(*this); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    /// Sets how many received octets the connection holds; called by who reads, as they grow and
    /// go. Returns false if the connection was cut off.
    [[nodiscard]] bool hold(std::size_t octets) noexcept override
    {
        return hold(Part::received, octets);
    }
    /// Returns whether memory that is not in use may stay for the next message: there is plenty.
    [[nodiscard]] bool may_keep() const noexcept override { return account_.has_much_room(); }
    /// Sets how many octets of replies the connection holds; called by who sends. Returns false if
    /// the connection was cut off.
    [[nodiscard]] bool hold_replies(std::size_t octets) noexcept
    {
        return hold(Part::replies, octets);
    }
    /// Notes that a request waits for a thread, if less than so many of the peer's do. Else it is
    /// to be tried again when the source of some request of the peer is told so, and the log says
    /// so of `peer`. Any thread.
    [[nodiscard, gnu::cold]] bool begin_waiting(std::size_t most,
                                                const net::Address& peer) noexcept;
    /// Returns what requests of the peer wait for that may not begin to wait.
    [[nodiscard]] const void* peer() const noexcept { return peer_; }
    /// Notes that a request waits no more; returns whether somebody waits for that. Any thread.
    [[nodiscard, gnu::cold]] bool end_waiting() noexcept;
    /// Notes that the connection is none that the peer has made.
    void is_ours() noexcept { account_.end(std::exchange(peer_, nullptr)); }
    /// Returns whether the connection was cut off. Any thread.
    [[nodiscard]] bool was_cut_off() const noexcept
    {
        return was_cut_off_.load(std::memory_order_relaxed);
    }

  private:
    friend class Account;

    [[nodiscard]] bool hold(Part part, std::size_t octets) noexcept
    {
        const std::size_t wanted = counted(octets);
        if (wanted == parts_[static_cast<std::size_t>(part)]) [[likely]]
            return !was_cut_off();
        return account_.set(*this, part, wanted);
    }

    Account& account_;
    net::Socket& socket_;
    const std::size_t host_;
    Peer* peer_; // null for one that is ours
    // Written under the account's lock, each by the thread that sets it.
    std::array<std::size_t, 2> parts_{};
    std::size_t held_ = 0; // guarded by the account, as what follows
    std::size_t to_be_freed_ = 0;
    ListLinks<Share> links_;
    std::atomic<bool> was_cut_off_{false};
};

} // namespace kairos::orb
