// SPDX-License-Identifier: Apache-2.0
#include "kairos/datagrams/receiver.h"

#include "kairos/base/log.h"
#include "kairos/datagrams/datagrams.h"
#include "kairos/datagrams/oneway.h"
#include "kairos/datagrams/profiles.h"
#include "kairos/orb/code_sets.h"
#include "kairos/orb/dispatch.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/publish.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/orb/way.h"

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

namespace kairos::datagrams {

namespace {

// Of all ORBs. Any thread.
std::atomic<std::uint64_t> requests_served{0};
std::atomic<std::uint64_t> datagrams_dropped{0};

/// The way of an answer that nobody waits for. Who has sent the request is somebody in the network,
/// and nobody knows who: what a datagram says of that proves nothing.
class Sender final : public orb::ReplyChannel {
  public:
    void send(Bytes, const cdr::Writer&) noexcept override {}
    [[nodiscard]] const net::Address* peer_address() const noexcept override { return &nowhere_; }

  private:
    const net::Address nowhere_ = net::Address::from_native(nullptr, 0);
};

Error cannot_listen(const orb::ListenEndpoint& endpoint, std::string_view why)
{
    return Error{ErrorCode::system,
                 "-ORBListenEndpoints " + endpoint.text + ": " + std::string(why), errno};
}

} // namespace

Figures figures() noexcept
{
    return {.requests = requests_served.load(), .dropped = datagrams_dropped.load()};
}

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

bool Receiver::is_at(const orb::Way& way) const noexcept
{
    return std::ranges::count(published_, way.address) != 0;
}

Result<void> Receiver::start()
{
    if (places_.empty()) return {};
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
}

void Receiver::join() noexcept
{
    const std::lock_guard joining(join_mutex_);
    if (thread_) thread_->join();
    places_.clear(); // the addresses are given back
}

void Receiver::leave_to_parent() noexcept
{
    for (Place& place : places_)
        place.socket.leave_to_parent();
}

// --- the thread ----------------------------------------------------------------------------------

void Receiver::run() noexcept
{
    orb::ThreadStorage& storage = orb::ThreadStorage::await_current();
    std::unique_ptr<orb::UpcallMemory> memory;
    std::vector<pollfd> polled;
    std::unique_ptr<std::byte[]> room;
    try {
        memory = storage.upcall_memory.take();
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
                receive(places_[i], {room.get(), datagram_octets_max + 1}, *memory);
            } catch (const std::bad_alloc&) {
                drop(places_[i], nullptr, "out of memory");
            }
        }
    }
}

void Receiver::receive(Place& place, MutableBytes room, orb::UpcallMemory& memory)
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
        return drop(place, &from, "too large");
    giop::Request request{};
    const std::string_view why = read_oneway(octets, request);
    if (!why.empty()) return drop(place, &from, why);
    serve(request, memory);
}

/// While the adapter holds requests, what comes after this one waits in the socket.
void Receiver::serve(const giop::Request& request, orb::UpcallMemory& memory)
{
    Sender sender;
    // Nothing that was agreed on lasts from one datagram to the next.
    std::optional<orb::CodeSetContext> announced;
    if (request.version.minor != 0)
        request.contexts.for_each([&](std::uint32_t id, Bytes data) {
            if (id == orb::code_sets_context_id) announced = orb::decode_code_set_context(data);
        });
    const cdr::TextForm*& usual = usual_texts_[request.version.minor];
    if (usual == nullptr) usual = orb_.code_sets().form_of(request.version.minor, std::nullopt);
    const cdr::TextForm* const text =
        announced ? orb_.code_sets().form_of(request.version.minor, announced) : usual;
    while (orb::dispatch(orb_, request, text, sender, memory) == orb::Served::held) {
        if (!sender.hold.tell(*waker_)) throw std::bad_alloc();
        while (!is_ending() && !sender.hold.may_go_on()) {
            pollfd polled{.fd = waker_->descriptor(), .events = POLLIN, .revents = 0};
            (void)::poll(&polled, 1, -1);
            waker_->clear();
        }
        if (is_ending()) return;
    }
    requests_served.fetch_add(1);
}

void Receiver::drop(const Place& place, const net::Address* from, std::string_view why) noexcept
{
    datagrams_dropped.fetch_add(1);
    log::Line line;
    line << "a datagram to " << place.text;
    try {
        if (from != nullptr) line << " from " << from->to_text();
    } catch (const std::bad_alloc&) { // then it is not said
    }
    log::write_limited(log::Level::warning, from != nullptr ? from->host_number() : 0,
                       line << " was dropped: " << why);
}

} // namespace kairos::datagrams
