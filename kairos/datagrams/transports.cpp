// SPDX-License-Identifier: Apache-2.0
//
// diop://: GIOP requests without an answer in UDP datagrams, as TAO's DIOP. What references say of
// it is a profile with TAO's tag, whose body is that of an IIOP profile.
#include "kairos/datagrams/channel.h"
#include "kairos/datagrams/datagrams.h"
#include "kairos/datagrams/profiles.h"
#include "kairos/datagrams/receiver.h"
#include "kairos/mapping/exception.h"
#include "kairos/net/resolver.h"
#include "kairos/orb/datagrams.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/transport.h"
#include "kairos/orb/ways.h"

#include <algorithm>
#include <cstring>
#include <sys/socket.h>

namespace kairos::datagrams {
namespace {

Error system_failed(std::string what, int error)
{
    return Error{ErrorCode::unreachable, std::move(what) + ": " + std::strerror(error), error};
}

Result<net::Socket> connect_to(const net::Address& address, const net::SocketOptions& options)
{
    net::Socket socket(::socket(address.native_family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return system_failed("no socket for datagrams", errno);
    if (options.send_queue_bytes > 0)
        (void)::setsockopt(socket.descriptor(), SOL_SOCKET, SO_SNDBUF, &options.send_queue_bytes,
                           sizeof options.send_queue_bytes);
    if (options.observer != nullptr)
        options.observer->on_socket(socket, net::SocketObserver::Kind::connecting);
    if (::connect(socket.descriptor(), address.native(), address.native_size()) != 0)
        return system_failed("no way to " + address.to_text(), errno);
    socket.set_channel(std::make_unique<Channel>(socket.descriptor()));
    return socket;
}

class Diop final : public orb::Transport {
  public:
    constexpr Diop() noexcept : Transport("diop", "[host][:port]", tag_of_way, -1) {}

    [[nodiscard]] bool has_connections() const noexcept override { return false; }
    [[nodiscard]] Result<void> parse(std::string_view text,
                                     orb::ListenEndpoint& endpoint) const override
    {
        return orb::parse_internet_endpoint(text, endpoint);
    }
    [[nodiscard]] Result<net::Address> address(const orb::ListenEndpoint& endpoint) const override
    {
        return orb::internet_address(endpoint);
    }
    void read(const ior::TaggedComponent& component, const ior::Target& target,
              orb::Ways& ways) const override
    {
        // Of a profile that has an address of its own, somebody else has made it.
        if (target.address.port != 0) return;
        if (const auto port = port_of_way(component))
            ways.add({this, {target.address.host, *port}});
    }
    [[nodiscard]] std::string describe(const ior::Address& address) const override
    {
        return "diop://" + ior::to_string(address);
    }
    [[nodiscard]] Result<net::Socket> connect(const ior::Address& address,
                                              const net::SocketOptions& options,
                                              Deadline deadline) const override
    {
        Refusal::raise_if_any(describe(address));
        const auto addresses = net::resolve(address.host, address.port, deadline);
        if (!addresses) return addresses.error();
        Result<net::Socket> socket = connect_to(addresses->front(), options);
        for (std::size_t i = 1; i < addresses->size() && !socket; ++i)
            socket = connect_to((*addresses)[i], options);
        return socket;
    }
};

constinit const Diop the_diop;

// Before the program's first ORB, which cannot be made before the program begins.
[[maybe_unused]] const bool diop_is_added = orb::add_transport(the_diop).ok();

Result<void> open(orb::Orb& orb, std::unique_ptr<orb::DatagramSide>& side)
{
    const auto& endpoints = orb.options().listen_endpoints;
    const auto is_of_datagrams = [](const orb::ListenEndpoint& each) {
        return each.transport == &the_diop;
    };
    if (std::ranges::none_of(endpoints, is_of_datagrams)) return {};
    if (std::ranges::all_of(endpoints, is_of_datagrams))
        return Error{ErrorCode::invalid_argument,
                     "-ORBListenEndpoints " + endpoints.front().text +
                         ": datagrams carry no answers: another endpoint is needed beside it, such "
                         "as iiop://"};
    side.reset(); // of an attempt that failed later
    auto receiver = std::make_unique<Receiver>(orb);
    for (const orb::ListenEndpoint& endpoint : endpoints)
        if (is_of_datagrams(endpoint))
            if (auto opened = receiver->open(endpoint); !opened) return opened;
    side = std::move(receiver);
    return {};
}

constexpr orb::Datagrams the_functions{.targets = &targets, .open = &open};

} // namespace

CORBA::Object_ptr oneways(CORBA::Object_ptr object)
{
    if (CORBA::is_nil(object)) return CORBA::Object::_nil();
    const corba::ReferencePtr& reference = object->_kairos_reference();
    if (!reference)
        throw CORBA::INV_OBJREF(0, CORBA::COMPLETED_NO, "a local object has no ways to it");
    ior::Ior there = only_datagrams(reference->ior());
    if (there.is_nil())
        throw CORBA::INV_OBJREF(0, CORBA::COMPLETED_NO,
                                "the reference has no profile of datagrams: its server needs an "
                                "endpoint diop://");
    return corba::StubFactory::make<CORBA::Object>(
        reference->orb().make_reference(std::move(there)));
}

} // namespace kairos::datagrams

namespace kairos::orb {

const Datagrams& datagrams() { return kairos::datagrams::the_functions; }

} // namespace kairos::orb
