// SPDX-License-Identifier: Apache-2.0
#include "kairos/datagrams/receiver.h"

#include "kairos/base/log.h"
#include "kairos/datagrams/oneway.h"
#include "kairos/datagrams/profiles.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/publish.h"
#include "kairos/orb/way.h"

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

namespace kairos::datagrams {

namespace {

Error cannot_listen(const orb::ListenEndpoint& endpoint, std::string_view why)
{
    return Error{ErrorCode::system,
                 "-ORBListenEndpoints " + endpoint.text + ": " + std::string(why), errno};
}

} // namespace

Receiver::~Receiver()
{
    stop();
    join();
}

Result<void> Receiver::open(const orb::ListenEndpoint& endpoint)
{
    const auto address = endpoint.transport->address(endpoint);
    if (!address) return cannot_listen(endpoint, address.error().reason);
    const net::SocketOptions options = orb_.socket_options(0);
    const int family = address->native_family();
    net::Socket socket(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.is_open()) return cannot_listen(endpoint, std::strerror(errno));
    const int descriptor = socket.descriptor();
    const int only = options.ipv6_only ? 1 : 0; // always set: the system's default differs
    if (family == AF_INET6)
        (void)::setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
    if (options.receive_queue_bytes > 0)
        (void)::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &options.receive_queue_bytes,
                           sizeof options.receive_queue_bytes);
    if (options.observer != nullptr)
        options.observer->on_socket(socket, net::SocketObserver::Kind::listener);
    if (::bind(descriptor, address->native(), address->native_size()) != 0)
        return cannot_listen(endpoint, std::strerror(errno));
    const auto bound = socket.local_address();
    if (!bound) return bound.error();
    auto published =
        orb::published_addresses(orb_.options().publish, *bound, orb::Machine::current());
    if (!published)
        return Error{ErrorCode::invalid_argument, "-ORBPublish: " + published.error().reason};
    for (ior::Address& each : *published)
        published_.push_back(std::move(each));
    if (!orb_.options().access.empty())
        log::info(endpoint.text + ": where a datagram comes from proves nothing: no rule of "
                                  "-ORBAccess for a network lets anybody in there");
    if (orb_.options().tls.check_client == orb::ClientCheck::required)
        log::warning("-ORBTlsVerifyClient required asks nothing of those who send datagrams to " +
                     bound->to_text() + ", which is without TLS");
    log::info("listening for datagrams on " + bound->to_text());
    places_.push_back({endpoint.text, std::move(socket)});
    return {};
}

void Receiver::add_profiles(ior::Ior& reference) const { add_diop_profiles(reference, published_); }

/// No object of this process stands for a group, also where it is alone in it.
bool Receiver::is_at(const orb::Way& way) const noexcept
{
    if (way.transport->tag() == tag_of_way_to_group) return false;
    return std::ranges::count(published_, way.address) != 0;
}

Result<void> Receiver::start()
{
    if (auto started = groups_.start(); !started || places_.empty()) return started;
    auto started = start_thread();
    if (!started) { // nobody is served then
        groups_.stop();
        groups_.join();
    }
    return started;
}

Result<void> Receiver::start_thread()
{
    auto waker = net::Waker::create();
    if (!waker) return waker.error();
    waker_.emplace(std::move(waker).value());
    auto thread = net::Thread::start(orb_.thread_options("kairos-datagrams"), [this] { run(); });
    if (!thread) return thread.error();
    thread_.emplace(std::move(thread).value());
    return {};
}

void Receiver::stop() noexcept
{
    ends_.store(true, std::memory_order_release);
    if (waker_) waker_->wake();
    lanes_.stop();
    groups_.stop();
}

void Receiver::join() noexcept
{
    groups_.join();
    const std::lock_guard joining(join_mutex_);
    if (thread_) thread_->join();
    lanes_.join();
    places_.clear(); // the addresses are given back
}

void Receiver::leave_to_parent() noexcept
{
    lanes_.leave_to_parent();
    for (Place& place : places_)
        place.socket.leave_to_parent();
    groups_.leave_to_parent();
}

// --- the thread ----------------------------------------------------------------------------------

void Receiver::run() noexcept
{
    std::optional<Upcalls> upcalls;
    std::vector<pollfd> polled;
    std::unique_ptr<std::byte[]> room;
    try {
        upcalls.emplace(orb_, *waker_, ends_);
        room = std::make_unique<std::byte[]>(datagram_octets_max + 1);
        polled.push_back({.fd = waker_->descriptor(), .events = POLLIN, .revents = 0});
        for (const Place& place : places_)
            polled.push_back({.fd = place.socket.descriptor(), .events = POLLIN, .revents = 0});
    } catch (const std::bad_alloc&) {
        log::error("out of memory: nothing that comes in datagrams is served");
        return;
    }
    while (!is_ending()) {
        if (::poll(polled.data(), polled.size(), -1) < 0) {
            if (errno == EINTR) continue;
            log::error("nothing that comes in datagrams is served any more: " +
                       std::string(std::strerror(errno)));
            return;
        }
        waker_->clear();
        // One of each: a socket that gets much does not keep the others waiting.
        for (std::size_t i = 0; i < places_.size() && !is_ending(); ++i) {
            if (polled[i + 1].revents == 0) continue;
            try {
                receive(places_[i], {room.get(), datagram_octets_max + 1}, *upcalls);
            } catch (const std::bad_alloc&) {
                drop(places_[i].text, nullptr, "out of memory");
            }
        }
    }
}

void Receiver::receive(Place& place, MutableBytes room, Upcalls& upcalls)
{
    sockaddr_storage native{};
    socklen_t native_size = sizeof native;
    const ssize_t size =
        ::recvfrom(place.socket.descriptor(), room.data(), room.size(), MSG_DONTWAIT,
                   reinterpret_cast<sockaddr*>(&native), &native_size);
    if (size < 0) return; // nothing more, or what the system heard of somebody
    const net::Address from =
        net::Address::from_native(reinterpret_cast<const sockaddr*>(&native), native_size);
    const auto octets = room.first(static_cast<std::size_t>(size));
    if (octets.size() > std::min(orb_.options().message_size_max, datagram_octets_max))
        return drop(place.text, &from, "too large");
    giop::Request request{};
    const std::string_view why = read_oneway(octets, request);
    if (!why.empty()) return drop(place.text, &from, why);
    const LaneThreads::Taken taken = lanes_.take(request, octets);
    if (taken == LaneThreads::Taken::full)
        return drop(place.text, &from, "too many wait for its lane");
    if (taken == LaneThreads::Taken::no) upcalls.serve(request);
}

} // namespace kairos::datagrams
