// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/serving.h"

#include "kairos/base/log.h"
#include "kairos/ior/component.h"
#include "kairos/ior/profile.h"
#include "kairos/net/host_identity.h"
#include "kairos/orb/failure.h"
#include "kairos/server/bidirectional_connections.h"
#include "kairos/server/handover.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace kairos::orb {

[[gnu::weak]] const Datagrams& datagrams();

Serving::Serving(Orb& orb)
    : orb_(orb), account_(orb.options().memory_max()), bidirectional_(orb), thread_pools_(orb)
{
}

Serving& Serving::of(Orb& orb)
{
    if (ServerSide* const made = orb.server_side()) return static_cast<Serving&>(*made);
    return static_cast<Serving&>(orb.make_server_side(
        [](Orb& of) -> std::unique_ptr<ServerSide> { return std::make_unique<Serving>(of); }));
}

// --- what references say -------------------------------------------------------------------------

/// The addresses that have a profile each, which is `profile`; others become components of that,
/// which is the first.
std::vector<ior::Address> Serving::profile_addresses(ior::IiopProfile& profile) const
{
    std::vector<ior::Address> all = server_->published();
    // Before IIOP 1.2 clients do not look for alternate addresses (CORBA 3.3 part 2, 9.7.3).
    const Options& options = orb_.options();
    if (options.publish_as == PublishAs::alternates && options.giop_version.minor >= 2) {
        for (std::size_t i = 1; i < all.size(); ++i)
            profile.components.push_back(ior::make_alternate_address(all[i]));
        all.resize(std::min<std::size_t>(all.size(), 1));
    }
    // Port 0 leads nowhere: such a profile is reached by what components say only.
    for (const TaggedAddresses& tagged : server_->tagged()) {
        if (!tagged.transport->is_at_profile()) continue;
        for (const auto& [priority, address] : tagged.addresses)
            if (std::ranges::count(all, address.host, &ior::Address::host) == 0)
                all.push_back({address.host, 0});
    }
    if (all.empty() && !server_->tagged().empty())
        all.push_back({server_->tagged().front().addresses.front().address.host, 0});
    if (all.empty()) all.push_back({"localhost", 0});
    return all;
}

ior::Ior Serving::make_ior(std::string_view type_id, Bytes object_key,
                           std::span<const ior::TaggedComponent> more) const
{
    const Options& options = orb_.options();
    ior::Ior ior{.type_id = std::string(type_id), .profiles = {}};
    ior::IiopProfile profile{.version = options.giop_version,
                             .host = {},
                             .port = 0,
                             .object_key = {object_key.begin(), object_key.end()},
                             .components = {}};
    if (options.giop_version.minor >= 1) {
        profile.components.push_back(ior::make_orb_type(ior::orb_type::kairos));
        profile.components.push_back(ior::make_code_sets(orb_.code_sets().offered()));
    }
    if (const auto& by_priority = server_->priority_addresses(); !by_priority.empty())
        profile.components.push_back(ior::make_priority_addresses(by_priority));
    if (options.giop_version.minor >= 1)
        profile.components.insert(profile.components.end(), more.begin(), more.end());
    // Only in the first profile, which is tried first.
    const std::vector<ior::TaggedComponent> later = profile.components;
    if (const auto& local = server_->local_addresses(); !local.empty())
        profile.components.push_back(ior::make_local_addresses({*net::this_host(), local}));
    for (const ior::Address& address : profile_addresses(profile)) {
        profile.host = address.host;
        profile.port = address.port;
        for (const TaggedAddresses& tagged : server_->tagged())
            std::ranges::move(
                tagged.transport->components(address.host, address.port != 0, tagged.addresses),
                std::back_inserter(profile.components));
        ior.profiles.push_back(ior::encode_iiop(profile));
        profile.components = later;
    }
    if (datagrams_) datagrams_->add_profiles(ior);
    return ior;
}

bool Serving::has_own_way(const WayList& ways) const
{
    const std::lock_guard lock(mutex_);
    if (!server_) return false;
    return std::ranges::any_of(ways, [&](const Way& way) {
        if (way.transport->local() != nullptr)
            return std::ranges::count(server_->local_addresses(), way.address.host,
                                      &ior::LocalAddress::path) != 0;
        // Ports of datagrams are others than those of connections with the same number.
        if (!way.transport->has_connections()) return datagrams_ && datagrams_->is_at(way);
        return std::ranges::count(server_->published(), way.address) != 0 ||
               std::ranges::count(server_->priority_addresses(), way.address,
                                  &ior::PriorityAddress::address) != 0 ||
               std::ranges::any_of(server_->tagged(), [&](const TaggedAddresses& tagged) {
                   return tagged.transport == way.transport &&
                          std::ranges::count(tagged.addresses, way.address,
                                             &ior::PriorityAddress::address) != 0;
               });
    });
}

// --- before it serves ----------------------------------------------------------------------------

bool Serving::set_accepted_connections(const TcpProperties& properties)
{
    const std::lock_guard lock(mutex_);
    if (serving_ || !server_) return false;
    server_->set_connections(properties, 0);
    accepted_connections_ = properties;
    return true;
}

Result<void> Serving::listen()
{
    const std::lock_guard lock(mutex_);
    if (server_) return {};
    if (&datagrams != nullptr)
        if (auto opened = datagrams().open(orb_, datagrams_); !opened) return opened;
    auto server = Server::open(orb_, for_pools_);
    if (!server) return server.error();
    server_ = std::move(server).value();
    return {};
}

namespace {

/// Returns the names of the architectures whose requests thread pools may serve.
std::string names_for_pools()
{
    std::string names;
    for (const Architecture* each : architectures())
        if (each->hands_over || each->has_lanes)
            names.append(names.empty() ? "" : ", ").append(each->name);
    return names;
}

void add_lanes(std::vector<Priority>& all, std::span<const Priority> some)
{
    all.insert(all.end(), some.begin(), some.end());
    std::ranges::sort(all);
    const auto again = std::ranges::unique(all);
    all.erase(again.begin(), again.end());
}

} // namespace

Result<void> Serving::hand_over(std::span<const Priority> lanes)
{
    const std::lock_guard lock(mutex_);
    if (orb_.options().concurrency->hands_over) return {};
    if (orb_.options().concurrency_given && !orb_.options().concurrency->has_lanes)
        return Error{ErrorCode::invalid_argument,
                     "thread pools contradict -ORBConcurrency: they need " + names_for_pools()};
    ForPools wanted = for_pools_;
    wanted.hands_over = true;
    if (!orb_.options().concurrency_given) add_lanes(wanted.lanes, lanes);
    if (for_pools_.hands_over && (serving_ || wanted.lanes.size() == for_pools_.lanes.size()))
        return {};
    if (serving_)
        return Error{ErrorCode::invalid_argument,
                     "the ORB serves already: make thread pools before a POAManager is activated, "
                     "or choose -ORBConcurrency worker-pool"};
    if (server_) {
        auto server = Server::open_handing_over(orb_, *server_, wanted);
        if (!server) return server.error();
        server_ = std::move(server).value();
        if (accepted_connections_) server_->set_connections(*accepted_connections_, 0);
    }
    for_pools_ = std::move(wanted);
    return {};
}

bool Serving::add_request_filter(std::unique_ptr<RequestFilter> filter)
{
    const std::lock_guard lock(mutex_);
    if (serving_ || !orb_.options().concurrency->has_filters) return false;
    request_filters_.push_back(std::move(filter));
    return true;
}

bool Serving::set_request_dispatcher(std::unique_ptr<RequestDispatcher> dispatcher)
{
    const std::lock_guard lock(mutex_);
    if (serving_ || !orb_.options().concurrency->has_dispatcher) return false;
    request_dispatcher_ = std::move(dispatcher);
    return true;
}

// --- life ----------------------------------------------------------------------------------------

bool Serving::listens() const noexcept
{
    const std::lock_guard lock(mutex_);
    return server_ != nullptr;
}

void Serving::start()
{
    Result<void> started;
    {
        const std::lock_guard lock(mutex_);
        if (serving_ || !server_ || orb_.is_shut_down()) return;
        serving_ = true;
        started = server_->start();
        if (started && datagrams_) started = datagrams_->start();
    }
    if (started) return;
    // Without the lock: what has started already may be serving somebody who asks us something.
    log::error("cannot serve: " + started.error().reason);
    server_->stop();
    server_->join();
    raise<CORBA::NO_RESOURCES>(0, CORBA::COMPLETED_NO, "cannot serve: " + started.error().reason);
}

bool Serving::run() { return server_ && server_->run(); }

bool Serving::work_pending() { return server_ && server_->work_pending(); }

void Serving::perform_work()
{
    if (server_) server_->perform_work();
}

Result<int> Serving::descriptor() { return server_->descriptor(); }

void Serving::resume() noexcept
{
    if (server_) server_->resume();
    if (Server* const beside = this->beside()) beside->resume();
    thread_pools_.resume();
}

void Serving::stop() noexcept
{
    {
        const std::lock_guard lock(mutex_); // who is about to start has started, or will not
        stopped_ = true;
    }
    if (server_) server_->stop();
    if (Server* const beside = this->beside()) beside->stop();
    if (datagrams_) datagrams_->stop();
}

void Serving::join() noexcept
{
    if (server_) server_->join();
    if (Server* const beside = this->beside()) beside->join();
    if (datagrams_) datagrams_->join();
    thread_pools_.end();
}

// --- requests in both directions -----------------------------------------------------------------

Server* Serving::beside() const noexcept
{
    const std::lock_guard lock(mutex_);
    return beside_.get();
}

Result<HandoverServer*> Serving::who_adopts()
{
    const std::lock_guard lock(mutex_);
    if (!serving_ || stopped_)
        return Error{ErrorCode::unreachable, "the ORB does not serve, so nobody may call it back"};
    if (HandoverServer* const own = server_->handover()) return own;
    if (!beside_) {
        auto made = make_handover(orb_, {}, make_bidirectional_dispatcher);
        if (!made) return made.error();
        if (auto started = (*made)->start(); !started) return started.error();
        beside_ = std::move(made).value();
    }
    return beside_->handover();
}

Result<BidirectionalLinkPtr> Serving::adopt(Adopted adopted)
{
    auto by = who_adopts();
    if (!by) return by.error();
    return (*by)->adopt(std::move(adopted));
}

Result<IntrusivePtr<BidirectionalLink>> Serving::take_over(net::Socket socket)
{
    auto peer = socket.peer_address();
    if (!peer) return peer.error();
    return adopt({.socket = std::move(socket),
                  .peer = *peer,
                  .received = {},
                  .code_sets = {},
                  .is_made = true});
}

std::vector<ior::Address> Serving::listen_points() const
{
    const std::lock_guard lock(mutex_);
    return serving_ ? server_->published() : std::vector<ior::Address>();
}

void Serving::announce_figures() const
{
    const auto kept = account_.figures();
    if (kept.held_most == 0 && kept.refused == 0 && kept.late == 0) return;
    log::Line line;
    line << "kept for peers: at most " << kept.held_most
         << " octets; connections cut off for that: " << kept.cut_off
         << "; refused: " << kept.refused
         << "; times that a peer had too many requests: " << kept.late;
    log::announce(line.text());
}

bool Serving::leave_to_parent() noexcept
{
    const std::lock_guard lock(mutex_);
    if (serving_) server_->leave_to_parent();
    if (beside_) beside_->leave_to_parent();
    if (serving_ && datagrams_) datagrams_->leave_to_parent();
    return serving_;
}

} // namespace kairos::orb
