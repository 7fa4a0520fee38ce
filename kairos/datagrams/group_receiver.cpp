// SPDX-License-Identifier: Apache-2.0
#include "kairos/datagrams/group_receiver.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/datagrams/oneway.h"
#include "kairos/orb/orb.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <new>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

#ifndef SO_BINDTOIFINDEX // which Linux has since 5.0
#define SO_BINDTOIFINDEX 62
#endif
#ifndef IPV6_MULTICAST_ALL // not in the C library's header, which Linux has since 4.20
#define IPV6_MULTICAST_ALL 29
#endif

namespace kairos::datagrams {

namespace {

using Clock = std::chrono::steady_clock;

Error cannot_join(const std::string& place, std::string_view why)
{
    return Error{ErrorCode::system, "cannot join " + place + ": " + std::string(why), errno};
}

template <typename T>
bool set(const net::Socket& socket, int level, int name, const T& value) noexcept
{
    return ::setsockopt(socket.descriptor(), level, name, &value, sizeof value) == 0;
}

/// Binds the socket to the group's address, so that it gets what was sent to that and nothing else,
/// and joins there, at this interface only. Returns false, with errno, if that cannot be.
bool bind_and_join(const net::Socket& socket, const net::Address& group, unsigned interface)
{
    const int none = 0;
    const int yes = 1; // others on this host are in the same group
    if (!set(socket, SOL_SOCKET, SO_REUSEADDR, yes)) return false;
    if (group.native_family() == AF_INET) {
        sockaddr_in native{};
        std::memcpy(&native, group.native(), sizeof native);
        ip_mreqn membership{};
        membership.imr_multiaddr = native.sin_addr;
        membership.imr_ifindex = static_cast<int>(interface);
        return set(socket, IPPROTO_IP, IP_MULTICAST_ALL, none) &&
               ::bind(socket.descriptor(), group.native(), group.native_size()) == 0 &&
               set(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, membership);
    }
    sockaddr_in6 native{};
    std::memcpy(&native, group.native(), sizeof native);
    ipv6_mreq membership{};
    membership.ipv6mr_multiaddr = native.sin6_addr;
    membership.ipv6mr_interface = native.sin6_scope_id;
    (void)set(socket, IPPROTO_IPV6, IPV6_MULTICAST_ALL, none); // the address says the same
    // Else it hears, over IPv6, also what comes by interfaces where others on this host joined.
    const int only = static_cast<int>(native.sin6_scope_id);
    if (only != 0 && !set(socket, SOL_SOCKET, SO_BINDTOIFINDEX, only)) return false;
    return set(socket, IPPROTO_IPV6, IPV6_V6ONLY, yes) &&
           ::bind(socket.descriptor(), reinterpret_cast<const sockaddr*>(&native), sizeof native) ==
               0 &&
           set(socket, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, membership);
}

template <typename T>
void append(std::string& text, const T& value)
{
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Tells senders to a place, and places, apart.
std::string sender_of(std::uint64_t place, const net::Address& from)
{
    std::string text;
    append(text, place);
    if (from.native_family() == AF_INET) {
        sockaddr_in native{};
        std::memcpy(&native, from.native(), sizeof native);
        append(text, native.sin_port);
        append(text, native.sin_addr);
    } else {
        sockaddr_in6 native{};
        std::memcpy(&native, from.native(), sizeof native);
        append(text, native.sin6_port);
        append(text, native.sin6_addr);
        append(text, native.sin6_scope_id);
    }
    return text;
}

AssemblyLimits limits_of(const orb::Options& options)
{
    AssemblyLimits limits;
    limits.message_octets = std::min(limits.message_octets, options.message_size_max);
    return limits;
}

int milliseconds_until(std::optional<Assembly::Time> when, Assembly::Time now)
{
    if (!when) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*when - now);
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

} // namespace

GroupReceiver::~GroupReceiver()
{
    stop();
    join();
}

// --- who is in which group -----------------------------------------------------------------------

/// Where the group is joined: the same for all ways to write that.
Result<net::Address> GroupReceiver::where(const GroupProfile& group) const
{
    const std::string text = "miop://" + ior::to_string(group.address);
    const auto address = multicast_address(group.address);
    if (!address) return Error{ErrorCode::invalid_argument, text + " is no multicast address"};
    const auto settings = multicast_settings(orb_.options().multicast);
    if (!settings) return settings.error();
    const auto interface = interface_index(*settings);
    if (!interface) return interface.error();
    return by_interface(*address, *interface);
}

Result<GroupReceiver::PlacePtr> GroupReceiver::open(const net::Address& where,
                                                    const GroupProfile& group) const
{
    const std::string text = "miop://" + ior::to_string(group.address);
    const auto settings = multicast_settings(orb_.options().multicast);
    if (!settings) return settings.error();
    const auto interface = interface_index(*settings);
    if (!interface) return interface.error();
    const net::SocketOptions options = orb_.socket_options(0);
    net::Socket socket(
        ::socket(where.native_family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.is_open()) return cannot_join(text, std::strerror(errno));
    if (options.receive_queue_bytes > 0)
        (void)set(socket, SOL_SOCKET, SO_RCVBUF, options.receive_queue_bytes);
    if (options.observer != nullptr)
        options.observer->on_socket(socket, net::SocketObserver::Kind::listener);
    if (!bind_and_join(socket, where, *interface)) {
        const std::string why = std::strerror(errno);
        return cannot_join(text, settings->interface.empty()
                                     ? why + "; -ORBMulticast interface=NAME says where"
                                     : why + " (interface " + settings->interface + ")");
    }
    if (!orb_.options().access.empty())
        log::info(text + ": where a packet comes from proves nothing: no rule of -ORBAccess for a "
                         "network lets anybody in there");
    if (orb_.options().tls.check_client == orb::ClientCheck::required)
        log::warning("-ORBTlsVerifyClient required asks nothing of those who send packets to " +
                     text + ", which is without TLS");
    log::info("listening for messages to groups at " + text);
    return std::make_shared<Place>(Place{
        .where = where, .number = 0, .text = text, .socket = std::move(socket), .groups = {}});
}

GroupReceiver::PlacePtr GroupReceiver::find_place(const net::Address& where) const
{
    assert_held(mutex_);
    const auto at = std::ranges::find(places_, where,
                                      [](const PlacePtr& each) -> auto& { return each->where; });
    return at == places_.end() ? nullptr : *at;
}

GroupReceiver::Group* GroupReceiver::find_group(Place& place, const GroupName& name)
{
    const auto at = std::ranges::find(place.groups, name, &Group::name);
    return at == place.groups.end() ? nullptr : &*at;
}

Result<void> GroupReceiver::add(const GroupProfile& group, GroupMember member)
{
    if (is_left_.load()) return Error{ErrorCode::closed, "the parent of this process serves"};
    const auto at = where(group);
    if (!at) return at.error();
    PlacePtr opened;
    std::unique_lock lock(mutex_);
    PlacePtr place = find_place(*at);
    if (!place) {
        lock.unlock(); // whoever observes sockets is the program's
        auto made = open(*at, group);
        if (!made) return made.error();
        opened = std::move(made).value();
        lock.lock();
        place = find_place(*at);
    }
    if (is_ending()) return Error{ErrorCode::closed, "the ORB is shut down"};
    if (!place) {
        if (is_started_ && !thread_)
            if (auto started = start_thread(); !started) return started;
        place = std::move(opened);
        place->number = places_changed_.load() + 1;
        places_.push_back(place);
        places_changed_.fetch_add(1);
        wake();
    }
    Group* of = find_group(*place, group.name);
    if (of == nullptr) of = &place->groups.emplace_back(Group{group.name, {}, {}});
    const auto is_it = [&](const GroupMember& each) {
        return each.adapter == member.adapter && each.id == member.id;
    };
    if (std::ranges::any_of(of->members, is_it)) return {};
    of->members.push_back(std::move(member));
    auto keys = std::make_shared<Keys>();
    for (const GroupMember& each : of->members)
        keys->push_back(each.key);
    of->keys = std::move(keys);
    return {};
}

bool GroupReceiver::remove(const GroupProfile& group, Bytes adapter, Bytes id)
{
    const auto at = where(group);
    if (is_left_.load() || !at) return false;
    const std::lock_guard lock(mutex_);
    const PlacePtr place = find_place(*at);
    Group* const of = place ? find_group(*place, group.name) : nullptr;
    if (of == nullptr) return false;
    const auto removed = std::erase_if(of->members, [&](const GroupMember& each) {
        return std::ranges::equal(each.adapter, adapter) && std::ranges::equal(each.id, id);
    });
    if (removed == 0) return false;
    auto keys = std::make_shared<Keys>();
    for (const GroupMember& each : of->members)
        keys->push_back(each.key);
    of->keys = std::move(keys);
    std::erase_if(place->groups, [](const Group& each) { return each.members.empty(); });
    if (place->groups.empty()) { // the thread closes the socket
        std::erase(places_, place);
        places_changed_.fetch_add(1);
        wake();
    }
    return true;
}

std::vector<ior::OctetVector> GroupReceiver::ids(const GroupProfile& group, Bytes adapter) const
{
    std::vector<ior::OctetVector> ids;
    const auto at = where(group);
    if (is_left_.load() || !at) return ids;
    const std::lock_guard lock(mutex_);
    const PlacePtr place = find_place(*at);
    const Group* const of = place ? find_group(*place, group.name) : nullptr;
    if (of == nullptr) return ids;
    for (const GroupMember& each : of->members)
        if (std::ranges::equal(each.adapter, adapter)) ids.push_back(each.id);
    return ids;
}

std::shared_ptr<const GroupReceiver::Keys> GroupReceiver::keys_of(Place& place,
                                                                  const GroupName& name) const
{
    const std::lock_guard lock(mutex_);
    const Group* const of = find_group(place, name);
    return of == nullptr ? nullptr : of->keys;
}

// --- life ----------------------------------------------------------------------------------------

Result<void> GroupReceiver::start()
{
    const std::lock_guard lock(mutex_);
    is_started_ = true;
    return places_.empty() ? Result<void>() : start_thread();
}

Result<void> GroupReceiver::start_thread()
{
    assert_held(mutex_);
    auto waker = net::Waker::create();
    if (!waker) return waker.error();
    waker_.emplace(std::move(waker).value());
    auto thread = net::Thread::start(orb_.thread_options("kairos-groups"), [this] { run(); });
    if (!thread) return thread.error();
    thread_.emplace(std::move(thread).value());
    return {};
}

void GroupReceiver::wake() noexcept
{
    assert_held(mutex_);
    if (waker_) waker_->wake();
}

void GroupReceiver::stop() noexcept
{
    if (is_left_.load()) return;
    const std::lock_guard lock(mutex_);
    ends_.store(true, std::memory_order_release);
    wake();
    lanes_.stop();
}

void GroupReceiver::join() noexcept
{
    if (is_left_.load()) return;
    const std::lock_guard joining(join_mutex_);
    if (thread_) thread_->join();
    lanes_.join();
    const std::lock_guard lock(mutex_);
    places_.clear(); // the groups are left
}

/// In a child there is nobody who would unlock what another thread had locked.
void GroupReceiver::leave_to_parent() noexcept
{
    is_left_.store(true);
    lanes_.leave_to_parent();
    if (!mutex_.try_lock()) return;
    for (const PlacePtr& each : places_)
        each->socket.leave_to_parent();
    mutex_.unlock();
}

// --- the thread ----------------------------------------------------------------------------------

void GroupReceiver::run() noexcept
{
    constexpr std::size_t room_size = datagram_octets_max + 1;
    std::vector<PlacePtr> places;
    std::vector<pollfd> polled;
    std::uint64_t seen = ~std::uint64_t{0}; // so it looks first
    std::optional<Upcalls> upcalls;
    std::unique_ptr<std::byte[]> room;
    Assembly assembly(limits_of(orb_.options()));
    try {
        upcalls.emplace(orb_, *waker_, ends_);
        room = std::make_unique<std::byte[]>(room_size);
    } catch (const std::bad_alloc&) {
        log::error("out of memory: nothing that comes to groups is served");
        return;
    }
    while (!is_ending()) {
        try {
            if (const std::uint64_t changed = places_changed_.load(); changed != seen) {
                const std::lock_guard lock(mutex_);
                const std::uint64_t is_now = places_changed_.load();
                auto others = places_;
                polled.reserve(others.size() + 1); // from here on there is room
                polled.clear();
                polled.push_back({.fd = waker_->descriptor(), .events = POLLIN, .revents = 0});
                for (const PlacePtr& each : others)
                    polled.push_back(
                        {.fd = each->socket.descriptor(), .events = POLLIN, .revents = 0});
                places.swap(others);
                seen = is_now;
            }
            if (::poll(polled.data(), polled.size(),
                       milliseconds_until(assembly.next_expiry(), now())) < 0 &&
                errno != EINTR) {
                log::error("nothing that comes to groups is served any more: " +
                           std::string(std::strerror(errno)));
                return;
            }
            waker_->clear();
            assembly.expire(now());
            // One packet of each: a group that gets many does not keep the others waiting.
            for (std::size_t i = 0; i < places.size() && !is_ending(); ++i)
                if (polled[i + 1].revents != 0)
                    receive(*places[i], {room.get(), room_size}, assembly, *upcalls);
            if (const std::size_t lost = assembly.take_given_up(); lost != 0)
                for (std::size_t i = 0; i < lost; ++i)
                    drop("a group", nullptr, "others of its message did not come in time");
        } catch (const std::bad_alloc&) {
            drop("a group", nullptr, "out of memory");
        }
    }
}

/// By a clock that stands still while servants are called: packets that lie in the sockets' queues
/// meanwhile have come in time.
Assembly::Time GroupReceiver::now() const noexcept { return Clock::now() - in_servants_; }

void GroupReceiver::receive(Place& place, MutableBytes room, Assembly& assembly, Upcalls& upcalls)
{
    sockaddr_storage native{};
    socklen_t native_size = sizeof native;
    const ssize_t size =
        ::recvfrom(place.socket.descriptor(), room.data(), room.size(), MSG_DONTWAIT,
                   reinterpret_cast<sockaddr*>(&native), &native_size);
    if (size < 0) return;
    const net::Address from =
        net::Address::from_native(reinterpret_cast<const sockaddr*>(&native), native_size);
    Packet packet;
    const std::string_view why = read_packet(room.first(static_cast<std::size_t>(size)), packet);
    if (!why.empty()) return drop(place.text, &from, why);
    const Assembly::Taken taken =
        assembly.take(sender_of(place.number, from), packet_host(from), packet, now());
    using What = Assembly::Taken::What;
    if (taken.what == What::repeated) return count_repeated();
    if (taken.what == What::dropped) return drop(place.text, &from, taken.why);
    if (taken.what == What::message) serve(place, from, taken.message, upcalls);
}

void GroupReceiver::serve(Place& place, const net::Address& from, MutableBytes message,
                          Upcalls& upcalls)
{
    giop::Request request{};
    if (message.size() > orb_.options().message_size_max)
        return drop(place.text, &from, "too large");
    if (const auto why = read_oneway(message, request); !why.empty())
        return drop(place.text, &from, why);
    if (request.target.disposition != giop::AddressingDisposition::profile ||
        request.target.profile_tag != tag_uipmc)
        return drop(place.text, &from, "its target is no group");
    const auto group = read_group_name(request.target.profile_data);
    if (!group) return drop(place.text, &from, "its target is malformed");
    const auto keys = keys_of(place, *group);
    if (!keys) return drop(place.text, &from, "nobody here is in its group");
    // What is read may be changed where it lies: all but the last object get a copy.
    for (std::size_t i = 0; i < keys->size() && !is_ending(); ++i) {
        MutableBytes octets = message;
        if (i + 1 != keys->size()) {
            copy_.assign(message.begin(), message.end());
            octets = copy_;
        }
        giop::Request each{};
        if (!read_oneway(octets, each).empty()) return; // it was, so it is
        each.target = {.disposition = giop::AddressingDisposition::key,
                       .key = (*keys)[i],
                       .profile_tag = 0,
                       .profile_data = {},
                       .selected_index = 0,
                       .ior = {}};
        const LaneThreads::Taken taken = lanes_.take(each, octets, i != 0);
        if (taken == LaneThreads::Taken::full)
            drop(place.text, &from, "too many wait for its lane");
        if (taken != LaneThreads::Taken::no) continue;
        const Clock::time_point since = Clock::now();
        upcalls.serve(each);
        in_servants_ += Clock::now() - since;
    }
    if (copy_.capacity() > datagram_octets_max) copy_ = {}; // not kept after a large one
}

} // namespace kairos::datagrams
