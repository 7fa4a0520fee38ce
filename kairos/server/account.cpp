// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/account.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/server/dispatcher.h"

#include <algorithm>
#include <malloc.h>
#include <sys/random.h>
#include <utility>

namespace kairos::orb {

/// One that has connections.
struct Account::Peer {
    std::uint64_t number; // net::Address::host_number
    std::size_t connections = 0;
    std::atomic<std::size_t> waiting{0}; // requests; any thread
    std::atomic<bool> source_waits{false};
    ListLinks<Peer> links{};
};

/// Its shares in the order in which they went on: the one that has not for the longest time first.
struct Account::Host {
    std::size_t held = 0;
    IntrusiveList<Share, &Share::links_> shares;
    IntrusiveList<Peer, &Peer::links> peers;
};

/// While the system has none to give yet it is an address, which differs as well.
std::uint64_t Account::random_key() noexcept
{
    std::uint64_t key = 0;
    if (::getrandom(&key, sizeof key, GRND_NONBLOCK) != sizeof key)
        key = reinterpret_cast<std::uintptr_t>(&key);
    return key;
}

Account::Account(std::size_t limit, std::uint64_t key)
    : limit_(limit), key_(key), hosts_(std::make_unique<std::array<Host, hosts_max>>())
{
}

Account::~Account() = default;

/// Must hold peers_mutex_. There are no more than connections.
Account::Peer* Account::find(std::uint64_t number) noexcept
{
    assert_held(peers_mutex_);
    Peer* peer = (*hosts_)[place_of(number)].peers.front();
    while (peer != nullptr && peer->number != number)
        peer = peer->links.next;
    return peer;
}

Account::Peer* Account::begin(std::uint64_t number)
{
    const std::lock_guard lock(peers_mutex_);
    Peer* peer = find(number);
    if (peer == nullptr) {
        peer = new Peer{.number = number};
        (*hosts_)[place_of(number)].peers.push_back(*peer);
    }
    ++peer->connections;
    return peer;
}

void Account::end(Peer* peer) noexcept
{
    if (peer == nullptr) return;
    const std::lock_guard lock(peers_mutex_);
    if (--peer->connections != 0) return;
    (*hosts_)[place_of(peer->number)].peers.remove(*peer);
    delete peer;
}

bool Account::has_place_for(const net::Address& peer, std::size_t most) noexcept
{
    {
        const std::lock_guard lock(peers_mutex_);
        const Peer* const found = find(peer.host_number());
        if (found == nullptr || found->connections < most) return true;
    }
    refused_.fetch_add(1, std::memory_order_relaxed);
    return false;
}

bool Account::Share::begin_waiting(std::size_t most, const net::Address& peer) noexcept
{
    if (peer_ == nullptr) return true;
    const auto begins = [&] {
        if (peer_->waiting.fetch_add(1) < most) return true;
        peer_->waiting.fetch_sub(1);
        return false;
    };
    if (begins()) return true;
    // Whoever ends to wait from here on sees this; who has before has made room.
    const bool is_first = !peer_->source_waits.exchange(true);
    if (begins()) return true;
    if (!is_first) return false;
    account_.late_.fetch_add(1, std::memory_order_relaxed);
    log::write_limited(log::Level::warning, peer.host_number(),
                       log::Line() << "requests of " << peer
                                   << " are left waiting: -ORBMaxPeerRequests reached");
    return false;
}

bool Account::Share::end_waiting() noexcept
{
    if (peer_ == nullptr) return false;
    peer_->waiting.fetch_sub(1);
    return peer_->source_waits.exchange(false);
}

bool Account::set(Share& share, Part part, std::size_t octets) noexcept
{
    const std::lock_guard lock(mutex_);
    std::size_t& own = share.parts_[static_cast<std::size_t>(part)];
    const std::size_t before = std::exchange(own, octets);
    if (share.was_cut_off()) return false;
    Host& host = (*hosts_)[share.host_];
    share.held_ += octets - before;
    host.held += octets - before;
    held_.store(held_.load(std::memory_order_relaxed) + octets - before, std::memory_order_relaxed);
    host.shares.remove(share);
    if (share.held_ != 0) host.shares.push_back(share);
    if (octets > before) make_room();
    return !share.was_cut_off();
}

bool Account::queue(std::size_t octets, RequestSource& source) noexcept
{
    octets = counted(octets);
    if (octets == 0) return true;
    const std::lock_guard lock(mutex_);
    if (queued_ != 0 && queued_ + octets > limit_ / 2) {
        if (!std::exchange(source.waiting.waits, true))
            source.waiting.next = std::exchange(waiting_, &source);
        return false;
    }
    queued_ += octets;
    held_.store(held_.load(std::memory_order_relaxed) + octets, std::memory_order_relaxed);
    make_room();
    return true;
}

/// Not the source of what was served only: those that wait may be other lanes', of which nothing is
/// queued, so nobody else would ever tell them.
void Account::unqueue(std::size_t octets) noexcept
{
    octets = counted(octets);
    if (octets == 0) return;
    const std::lock_guard lock(mutex_);
    queued_ -= octets;
    held_.store(held_.load(std::memory_order_relaxed) - octets, std::memory_order_relaxed);
    while (waiting_ != nullptr) {
        RequestSource& told = *std::exchange(waiting_, waiting_->waiting.next);
        told.waiting.waits = false;
        told.on_space();
    }
}

void Account::forget(const RequestSource& source) noexcept
{
    const std::lock_guard lock(mutex_);
    if (!source.waiting.waits) return;
    RequestSource** at = &waiting_;
    while (*at != &source)
        at = &(*at)->waiting.next;
    *at = source.waiting.next;
}

bool Account::keep(std::size_t octets) noexcept
{
    octets = counted(octets);
    if (octets == 0) return true;
    const std::lock_guard lock(mutex_);
    if (kept_ != 0 && kept_ + octets > limit_ / 4) return false;
    add_kept(octets);
    return true;
}

void Account::keep_answer(std::size_t octets) noexcept
{
    octets = counted(octets);
    if (octets == 0) return;
    const std::lock_guard lock(mutex_);
    add_kept(octets);
}

/// Must hold mutex_.
void Account::add_kept(std::size_t octets) noexcept
{
    assert_held(mutex_);
    kept_ += octets;
    held_.store(held_.load(std::memory_order_relaxed) + octets, std::memory_order_relaxed);
    make_room();
}

void Account::release(std::size_t octets) noexcept
{
    octets = counted(octets);
    if (octets == 0) return;
    const std::lock_guard lock(mutex_);
    kept_ -= octets;
    held_.store(held_.load(std::memory_order_relaxed) - octets, std::memory_order_relaxed);
}

/// Must hold mutex_. What is queued is served sooner or later; the rest depends on peers.
void Account::make_room() noexcept
{
    assert_held(mutex_);
    while (held_.load(std::memory_order_relaxed) > limit_) {
        Host& most = *std::ranges::max_element(*hosts_, {}, &Host::held);
        if (most.shares.empty()) break;
        cut_off(*most.shares.front());
    }
    held_most_ = std::max(held_most_, held_.load(std::memory_order_relaxed));
    held_most_lately_ = std::max(held_most_lately_, held_.load(std::memory_order_relaxed));
}

namespace {

/// What was freed because it was too much, the C library would keep for each of its arenas.
void give_back_to_system() noexcept
{
#ifdef __GLIBC__
    (void)::malloc_trim(0);
#endif
}

} // namespace

/// Must hold mutex_. From here on it counts for nothing: whoever serves the connection finds it
/// ended, and gives back what it holds. A peer that only sends is told CloseConnection.
void Account::cut_off(Share& share) noexcept
{
    assert_held(mutex_);
    Host& host = (*hosts_)[share.host_];
    host.shares.remove(share);
    host.held -= share.held_;
    held_.store(held_.load(std::memory_order_relaxed) - share.held_, std::memory_order_relaxed);
    share.to_be_freed_ = std::exchange(share.held_, 0);
    share.was_cut_off_.store(true, std::memory_order_relaxed);
    ++cut_off_;
    if (share.parts_[static_cast<std::size_t>(Part::replies)] == 0)
        share.socket_.shutdown_read();
    else
        share.socket_.shutdown_both();
}

void Account::remove(Share& share) noexcept
{
    end(share.peer_);
    if (share.parts_ == decltype(share.parts_){}) return; // it was never here, or is not any more
    bool is_much = false;
    {
        const std::lock_guard lock(mutex_);
        Host& host = (*hosts_)[share.host_];
        host.shares.remove(share);
        host.held -= share.held_;
        held_.store(held_.load(std::memory_order_relaxed) - share.held_, std::memory_order_relaxed);
        freed_ += share.to_be_freed_;
        // Also when most of much is not needed any more.
        const std::size_t held = held_.load(std::memory_order_relaxed);
        is_much = freed_ > limit_ / 16 ||
                  (held_most_lately_ > limit_ / 4 && held < held_most_lately_ / 4);
        if (is_much) {
            freed_ = 0;
            held_most_lately_ = held;
        }
    }
    if (is_much) give_back_to_system();
}

Account::Figures Account::figures() const noexcept
{
    const std::lock_guard lock(mutex_);
    return {.held = held_.load(std::memory_order_relaxed),
            .queued = queued_,
            .held_most = held_most_,
            .cut_off = cut_off_,
            .refused = refused_.load(std::memory_order_relaxed),
            .late = late_.load(std::memory_order_relaxed)};
}

} // namespace kairos::orb
