// SPDX-License-Identifier: Apache-2.0
//
// diop://: GIOP requests without an answer in UDP datagrams, as TAO's DIOP. What references say of
// it is a profile with TAO's tag, whose body is that of an IIOP profile.
#include "kairos/corba/orb_types.h"
#include "kairos/datagrams/channel.h"
#include "kairos/datagrams/datagrams.h"
#include "kairos/datagrams/group_channel.h"
#include "kairos/datagrams/profiles.h"
#include "kairos/datagrams/receiver.h"
#include "kairos/mapping/exception.h"
#include "kairos/net/resolver.h"
#include "kairos/orb/architecture.h"
#include "kairos/orb/datagrams.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/transport.h"
#include "kairos/orb/ways.h"

#include <algorithm>
#include <string>

namespace kairos::datagrams {
namespace {

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
        if (Refusals::take(address))
            return Error{ErrorCode::unreachable, "nobody takes datagrams at " + describe(address)};
        auto addresses = net::resolve(address.host, address.port, deadline);
        if (!addresses) return addresses.error();
        return Channel::connect(address, std::move(addresses).value(), options);
    }
};

/// The way to a group. Nobody listens at an endpoint of it: objects are put into groups, and the
/// ORB joins these.
class Miop : public orb::Transport {
  public:
    constexpr Miop() noexcept : Transport("miop", "address:port", tag_of_way_to_group, -1) {}

    [[nodiscard]] Result<std::shared_ptr<const Transport>>
    of_orb(const orb::Options& options) const override;
    [[nodiscard]] bool has_connections() const noexcept override { return false; }
    [[nodiscard]] Result<void> parse(std::string_view, orb::ListenEndpoint&) const override
    {
        return Error{ErrorCode::invalid_argument,
                     "groups are joined when an object is put into one, by PortableGroup::GOA"};
    }
    [[nodiscard]] Result<net::Address> address(const orb::ListenEndpoint&) const override
    {
        return Error{ErrorCode::invalid_argument, "groups are no endpoints"};
    }
    void read(const ior::TaggedComponent& component, const ior::Target& target,
              orb::Ways& ways) const override
    {
        if (target.address.port != 0) return;
        if (const auto port = port_of_way(component))
            ways.add({this, {target.address.host, *port}});
    }
    [[nodiscard]] std::string describe(const ior::Address& address) const override
    {
        return "miop://" + ior::to_string(address);
    }
    [[nodiscard]] Result<net::Socket>
    connect(const ior::Address& address, const net::SocketOptions& options, Deadline) const override
    {
        return GroupChannel::connect(address, options, settings());
    }

  protected:
    ~Miop() = default;

    [[nodiscard]] virtual MulticastSettings settings() const { return {}; }
};

class MiopOfProcess final : public Miop {};

/// With the settings of one ORB.
class MiopOfOrb final : public Miop {
  public:
    explicit MiopOfOrb(MulticastSettings settings) : settings_(std::move(settings)) {}
    ~MiopOfOrb() = default;

  private:
    [[nodiscard]] MulticastSettings settings() const override { return settings_; }

    const MulticastSettings settings_;
};

Result<std::shared_ptr<const orb::Transport>> Miop::of_orb(const orb::Options& options) const
{
    if (options.multicast.empty()) return std::shared_ptr<const orb::Transport>();
    auto settings = multicast_settings(options.multicast);
    if (!settings) return settings.error();
    if (const auto interface = interface_index(*settings); !interface) return interface.error();
    return std::shared_ptr<const orb::Transport>(
        std::make_shared<const MiopOfOrb>(std::move(settings).value()));
}

constinit const Diop the_diop;
constinit const MiopOfProcess the_miop;

// Before the program's first ORB, which cannot be made before the program begins.
[[maybe_unused]] const bool are_added =
    orb::add_transport(the_diop).ok() && orb::add_transport(the_miop).ok();

} // namespace

std::string contradiction(const orb::Options& options)
{
    const orb::Architecture& by = *options.concurrency;
    const bool is_one_thread =
        by.has_lanes && options.lanes.size() == 1 && options.lanes.front().threads == 1;
    std::string_view why;
    if (by.is_served_by_run || is_one_thread || by.name == "thread-per-object")
        why = "promises that servants need no locks, and a thread beside it serves datagrams";
    else if (by.has_filters || by.has_dispatcher)
        why = "says who may be served, and by whom, and datagrams would be served past that";
    if (why.empty()) return {};
    return "-ORBConcurrency " + std::string(by.name) + ' ' + std::string(why) +
           ": choose another architecture, such as thread-per-connection or worker-pool, or an ORB "
           "of its own for datagrams";
}

namespace {

Result<void> open(orb::Orb& orb, std::unique_ptr<orb::DatagramSide>& side)
{
    const auto& endpoints = orb.options().listen_endpoints;
    const auto is_of_datagrams = [](const orb::ListenEndpoint& each) {
        return each.transport == &the_diop;
    };
    const auto first = std::ranges::find_if(endpoints, is_of_datagrams);
    if (!endpoints.empty() && std::ranges::all_of(endpoints, is_of_datagrams))
        return Error{ErrorCode::invalid_argument,
                     "-ORBListenEndpoints " + first->text +
                         ": datagrams carry no answers: another endpoint is needed beside it, such "
                         "as iiop://"};
    if (const std::string why = contradiction(orb.options());
        first != endpoints.end() && !why.empty())
        return Error{ErrorCode::invalid_argument, first->text + ": " + why};
    side.reset(); // of an attempt that failed later
    auto receiver = std::make_unique<Receiver>(orb);
    for (const orb::ListenEndpoint& endpoint : endpoints)
        if (is_of_datagrams(endpoint))
            if (auto opened = receiver->open(endpoint); !opened) return opened;
    side = std::move(receiver);
    return {};
}

bool read_url(std::string_view text, ior::Ior& reference)
{
    auto parsed = parse_group_url(text);
    if (!parsed) return false;
    if (!*parsed)
        throw CORBA::BAD_PARAM(mapping::omg_minor(9), CORBA::COMPLETED_NO, parsed->error().reason);
    reference = std::move(*parsed).value();
    return true;
}

constexpr orb::Datagrams the_functions{.targets = &targets, .open = &open, .read_url = &read_url};

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
                                "endpoint diop://, or it is to be of a group");
    CORBA::Object_var made =
        corba::StubFactory::make<CORBA::Object>(reference->orb().make_reference(std::move(there)));
    const CORBA::PolicyList_var policies = object->_get_policy_overrides(CORBA::PolicyTypeSeq());
    if (policies->length() == 0) return made._retn();
    return made->_set_policy_overrides(policies, CORBA::SET_OVERRIDE);
}

} // namespace kairos::datagrams

namespace kairos::orb {

const Datagrams& datagrams() { return kairos::datagrams::the_functions; }

} // namespace kairos::orb
