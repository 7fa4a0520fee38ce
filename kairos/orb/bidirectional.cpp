// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/bidirectional.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/giop/control.h"
#include "kairos/giop/locate.h"
#include "kairos/giop/reply.h"
#include "kairos/orb/listen_points.h"
#include "kairos/orb/main_thread.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/orb/transport.h"

#include <algorithm>
#include <new>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace kairos::orb {

// --- BidirectionalLink ---------------------------------------------------------------------------

BidirectionalLink::~BidirectionalLink() = default;

namespace {

void wake(const net::Socket& signal) noexcept
{
    const std::uint64_t one = 1;
    (void)!::write(signal.descriptor(), &one, sizeof one); // cannot fail: it is taken back
}

void clear(const net::Socket& signal) noexcept
{
    std::uint64_t count = 0;
    (void)!::read(signal.descriptor(), &count, sizeof count);
}

std::unique_ptr<net::Socket> make_signal()
{
    const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor < 0) return nullptr;
    return std::make_unique<net::Socket>(descriptor);
}

} // namespace

giop::Outcome BidirectionalLink::exchange(BidirectionalCall& call)
{
    Lock lock(mutex_);
    if (output_ == nullptr) return giop::Outcome::not_executed;
    std::unique_ptr<net::Socket> signal;
    if (call.answer) {
        if (!spare_signals_.empty()) {
            signal = std::move(spare_signals_.back());
            spare_signals_.pop_back();
        } else {
            signal = make_signal();
        }
        if (!signal) return giop::Outcome::no_memory;
        if (!calls_.add(call)) return giop::Outcome::not_executed;
        call.signal = signal.get();
        call.sent = giop::Sent::wholly; // what the peer does not take at once is kept
    }
    const giop::Outcome sent = output_->send_message(call.header, call.body);
    if (!call.answer || sent != giop::Outcome::ok) {
        calls_.remove(call);
        return sent;
    }
    await(call, lock);
    clear(*signal);
    try {
        spare_signals_.push_back(std::move(signal));
    } catch (const std::bad_alloc&) { // the next one is made anew
    }
    return *call.outcome;
}

/// Whoever serves requests goes on serving them; where only the program's thread in ORB::run does,
/// and none is there, this is that thread until the answer has come.
void BidirectionalLink::await(BidirectionalCall& call, Lock& lock)
{
    assert_held(mutex_);
    ServingThread* const serving = ThreadStorage::current().serving_thread;
    const Awaited signal{.socket = *call.signal};
    while (!call.outcome) {
        if (call.answer_by.has_passed()) return give_up(call);
        lock.unlock();
        if (serving != nullptr) {
            serving->wait(signal, call.answer_by);
        } else if (orb_.options().concurrency->is_served_by_run) {
            const int descriptor = signal.socket.descriptor();
            if (orb_.main_thread().serve_until_ready(descriptor, call.answer_by))
                orb_.resume_held_requests(); // perhaps a thread is in ORB::run by now
        } else {
            (void)wait_either(signal, nullptr, call.answer_by);
        }
        lock.lock();
        if (!call.outcome) clear(*call.signal);
    }
}

/// Tells the peer that nobody waits any more.
void BidirectionalLink::give_up(BidirectionalCall& call) noexcept
{
    assert_held(mutex_);
    finish(call, giop::Outcome::late);
    if (output_ == nullptr || call.answer != giop::MessageType::reply) return;
    const giop::Version version{std::to_integer<std::uint8_t>(call.header[4]),
                                std::to_integer<std::uint8_t>(call.header[5])};
    (void)output_->send_message(Bytes(giop::cancel_request(version, call.request_id)), nullptr);
}

void BidirectionalLink::finish(BidirectionalCall& call, giop::Outcome outcome) noexcept
{
    assert_held(mutex_);
    calls_.remove(call);
    call.outcome = outcome;
}

cdr::Fault BidirectionalLink::deliver(const giop::Message& message, giop::Connection& connection)
{
    giop::Answer answer{.message = message};
    const auto parsed = [&](auto&& found) {
        const cdr::Fault fault = giop::parse(message, found);
        answer.request_id = found.request_id;
        return fault;
    };
    const cdr::Fault fault = message.type == giop::MessageType::reply ? parsed(giop::Reply())
                                                                      : parsed(giop::LocateReply());
    if (fault != cdr::Fault::none) return fault;
    const Lock lock(mutex_);
    auto* const call = static_cast<BidirectionalCall*>(calls_.claim(answer));
    if (call == nullptr) return cdr::Fault::none; // given up, or made up
    giop::Outcome outcome = giop::Outcome::ok;
    try {
        call->take(message, connection);
    } catch (const std::bad_alloc&) {
        outcome = giop::Outcome::no_memory;
    }
    finish(*call, outcome);
    wake(*call->signal);
    return cdr::Fault::none;
}

void BidirectionalLink::end(giop::Outcome outcome) noexcept
{
    const Lock lock(mutex_);
    ended_ = true;
    output_ = nullptr;
    calls_.take_all([&](giop::PendingRequest& request) {
        auto& call = static_cast<BidirectionalCall&>(request);
        call.outcome = outcome;
        wake(*call.signal);
    });
}

// --- Bidirectional -------------------------------------------------------------------------------

std::size_t Bidirectional::claim(std::span<const ior::Address> points,
                                 const BidirectionalLinkPtr& link, const net::Address& peer)
{
    const bool any = orb_.options().bidirectional == BidirectionalPeers::any;
    const auto refuse = [&](const ior::Address& point, std::string_view why) {
        log::write_limited(log::Level::warning, peer.host_number(),
                           log::Line() << "listen point " << point.host << " port " << point.port
                                       << " refused, said by " << peer << ": " << why);
    };
    std::optional<OwnAddresses> own;
    std::size_t claimed = 0;
    for (const ior::Address& point : points) {
        if (has_claims()) { // most clients say the same again and again
            const std::lock_guard lock(mutex_);
            const auto known = claims_.find(point);
            if (known != claims_.end() && known->second.link == link) {
                ++claimed;
                continue;
            }
        }
        if (!any && !own) own.emplace(peer);
        if (!any && !own->has(point)) {
            refuse(point, "it is not the peer's own address");
            continue;
        }
        const std::lock_guard lock(mutex_);
        const auto known = claims_.find(point);
        const bool is_new = known == claims_.end();
        if (!is_new && !known->second.link->has_ended() &&
            known->second.host != peer.host_number()) {
            refuse(point, "it is another host's");
            continue;
        }
        std::size_t& count = counts_[link.get()];
        if (count >= listen_points_max || (is_new && claims_.size() >= listen_points_in_all_max)) {
            refuse(point, "there are too many");
            break;
        }
        if (!is_new) --counts_[known->second.link.get()];
        claims_.insert_or_assign(point, Claim{.link = link, .host = peer.host_number()});
        ++count;
        ++claimed;
    }
    if (claimed != 0 && !has_claims_.exchange(true))
        orb_.note_call_policies(); // calls look for links from here on
    return claimed;
}

void Bidirectional::forget(const BidirectionalLink& link) noexcept
{
    const std::lock_guard lock(mutex_);
    if (counts_.erase(&link) == 0) return;
    std::erase_if(claims_, [&](const auto& each) { return each.second.link.get() == &link; });
}

BidirectionalLinkPtr Bidirectional::find(const WayList& ways) noexcept
{
    const std::lock_guard lock(mutex_);
    for (const Way& way : ways) {
        if (way.transport->tag() != Transport::no_tag) continue;
        const auto claimed = claims_.find(way.address);
        if (claimed != claims_.end() && !claimed->second.link->has_ended())
            return claimed->second.link;
    }
    return {};
}

OwnAddresses::OwnAddresses(const net::Address& peer) : peer_(peer.unmapped().with_port(0))
{
    if (const auto interfaces = net::interface_addresses())
        for (const net::InterfaceAddress& each : *interfaces)
            of_this_host_.push_back(each.address.with_port(0));
    peer_is_here_ = !peer_.is_ip() || is_here(peer_);
}

bool OwnAddresses::is_here(const net::Address& address) const noexcept
{
    return address.is_loopback() ||
           std::ranges::find(of_this_host_, address) != of_this_host_.end();
}

bool OwnAddresses::has(const ior::Address& point) const
{
    if (is_unreachable(point.host)) return true;
    const auto parsed = net::Address::parse(point.host, 0);
    if (!parsed) return false;
    const net::Address address = parsed->unmapped();
    return (peer_.is_ip() && address == peer_) || (peer_is_here_ && is_here(address));
}

} // namespace kairos::orb
