// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/orb.h"

#include "kairos/base/log.h"
#include "kairos/ior/component.h"
#include "kairos/ior/profile.h"
#include "kairos/net/host_identity.h"
#include "kairos/net/spin.h"
#include "kairos/orb/account.h"
#include "kairos/orb/backlogs.h"
#include "kairos/orb/connection_cache.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/forks.h"
#include "kairos/orb/lane.h"
#include "kairos/orb/server.h"
#include "kairos/orb/shared_connections.h"
#include "kairos/orb/thread_pools.h"

#include <algorithm>
#include <random>
#include <span>

namespace kairos::orb {

// --- ClientConnections ---------------------------------------------------------------------------

void ClientConnections::add(ClientConnection& connection)
{
    const std::lock_guard lock(mutex_);
    connections_.insert(&connection);
    if (interrupted_) connection.interrupt();
}

void ClientConnections::remove(ClientConnection& connection) noexcept
{
    const std::lock_guard lock(mutex_);
    connections_.erase(&connection);
}

void ClientConnections::interrupt_all() noexcept
{
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    for (ClientConnection* connection : connections_)
        connection->interrupt();
}

void ClientConnections::close_idle(std::chrono::nanoseconds before) noexcept
{
    const std::lock_guard lock(mutex_);
    for (ClientConnection* connection : connections_)
        (void)connection->close_if_idle(before);
}

bool ClientConnections::close_least_recently_used() noexcept
{
    const std::lock_guard lock(mutex_);
    for (;;) {
        ClientConnection* oldest = nullptr;
        std::chrono::nanoseconds oldest_since{};
        for (ClientConnection* connection : connections_) {
            const auto since = connection->idle_since();
            if (!since || (oldest != nullptr && *since >= oldest_since)) continue;
            oldest = connection;
            oldest_since = *since;
        }
        if (oldest == nullptr) return false;
        if (oldest->close_if_idle(ClientConnection::now())) return true;
        // Somebody was faster, and uses it.
    }
}

void ClientConnections::start_over() noexcept
{
    const std::lock_guard lock(mutex_);
    for (ClientConnection* connection : connections_)
        connection->leave_to_parent();
}

bool ClientConnections::close_left(std::chrono::nanoseconds before) noexcept
{
    const std::lock_guard lock(mutex_);
    bool others = false;
    for (ClientConnection* connection : connections_) {
        const Endpoint& endpoint = connection->endpoint();
        if (endpoint.is_used()) continue;
        const bool due = endpoint.is_left() && endpoint.unused_since(before);
        if (!due || !connection->close_left()) others = true;
    }
    return others;
}

std::size_t ClientConnections::count() const noexcept
{
    const std::lock_guard lock(mutex_);
    return connections_.size();
}

// --- Orb -----------------------------------------------------------------------------------------

namespace {

std::uint64_t random_number()
{
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
}

std::unique_ptr<const PriorityMapping> mapping_of(const Options& options)
{
    if (options.priority_mapping == InitialMapping::direct)
        return std::make_unique<DirectPriorityMapping>();
    return std::make_unique<LinearPriorityMapping>();
}

} // namespace

Orb::Orb(Options options)
    : options_(std::move(options)), incarnation_(random_number()),
      code_sets_(*options_.native_code_set, *options_.native_wide_code_set),
      connection_cache_(std::make_unique<ConnectionCache>(*this)),
      account_(std::make_unique<Account>(options_.memory_max())),
      backlogs_(std::make_unique<Backlogs>(*this)),
      shared_connections_(std::make_unique<SharedConnections>(*this)),
      thread_pools_(std::make_unique<ThreadPools>(*this))
{
    set_priority_mapping(mapping_of(options_));
    if (!options_.call_policies.is_empty()) set_call_policies({});
    if (options_.closes_idle_connections) note_call_policies();
    if (options_.socket.spin.count() != 0 && !net::may_spin())
        log::warning("-ORBSpin: the process may use one processor only, where nobody spins");
    watch_forks(*this);
}

/// Its thread looks after what follows it. What waits for threads that are a parent's is not ended.
Orb::~Orb()
{
    forget_forks(*this);
    if (is_inherited()) start_over();
    connection_cache_->stop();
    if (!is_served_by_parent()) return;
    (void)server_.release();
    (void)thread_pools_.release();
    (void)owned_adapter_.release();
}

void Orb::lock_for_fork() noexcept
{
    mutex_.lock();
    code_sets_.mutex().lock();
    shared_connections_->mutex().lock();
    client_connections_.mutex().lock();
    backlogs_->mutex().lock();
    connection_cache_->mutex().lock();
}

void Orb::unlock_after_fork() noexcept
{
    connection_cache_->mutex().unlock();
    backlogs_->mutex().unlock();
    client_connections_.mutex().unlock();
    shared_connections_->mutex().unlock();
    code_sets_.mutex().unlock();
    mutex_.unlock();
}

void Orb::start_over() noexcept
{
    static constinit std::mutex one_thread; // guards that one thread starts over; outside mutex_
    const std::lock_guard lock(one_thread);
    if (!is_inherited()) return;
    client_connections_.start_over();
    (void)Lane::current().drop_connections(*this);
    shared_connections_->start_over();
    backlogs_->start_over();
    connection_cache_->start_over();
    {
        const std::lock_guard server_lock(mutex_);
        if (serving_) {
            server_->leave_to_parent();
            is_served_by_parent_ = true;
        }
    }
    state_.fetch_and(static_cast<std::uint8_t>(~inherited), std::memory_order_release);
}

void Orb::set_priority_mapping(std::unique_ptr<const PriorityMapping> mapping)
{
    const std::lock_guard lock(mutex_);
    priority_mappings_.push_back(std::move(mapping));
    priority_mapping_.store(priority_mappings_.back().get(), std::memory_order_release);
}

bool Orb::set_hooks(std::unique_ptr<Hooks> hooks)
{
    const std::lock_guard lock(mutex_);
    if (server_) return false;
    hooks_ = std::move(hooks);
    return true;
}

net::ThreadOptions Orb::thread_options(std::string name) const
{
    return {.name = std::move(name),
            .stack_bytes = options_.stack_bytes,
            .cpu = {},
            .scheduling = {},
            .observer = hooks_.get()};
}

net::SocketOptions Orb::socket_options(Priority priority) const
{
    net::SocketOptions options = options_.socket;
    options.observer = hooks_.get();
    if (options_.network_priority) {
        const NetworkPriority network = network_priority_of(priority);
        options.dscp = network.dscp;
        options.priority = network.queue;
    }
    return options;
}

ReferencePtr Orb::make_reference(ior::Ior ior)
{
    return make_intrusive<Reference>(IntrusivePtr<Orb>(this), std::move(ior));
}

EndpointUse Orb::endpoint(const ior::Address& address, const std::vector<LocalWay>& local,
                          const Agreement& agreement)
{
    const std::lock_guard lock(mutex_);
    const bool announces = agreement.context.has_value();
    IntrusivePtr<Endpoint>& known =
        endpoints_[{address.host, address.port, local, agreement.form, announces}];
    if (!known)
        known = make_intrusive<Endpoint>(*connection_cache_, address.host, address.port, local,
                                         announces ? encode_contexts(*agreement.context)
                                                   : std::vector<std::byte>());
    return EndpointUse(known);
}

void Orb::retire_unused_endpoints(std::chrono::nanoseconds before) noexcept
{
    const std::lock_guard lock(mutex_);
    std::erase_if(endpoints_, [&](const auto& entry) {
        if (!entry.second->unused_since(before)) return false;
        entry.second->retire();
        return true;
    });
}

ior::Ior Orb::make_ior(std::string_view type_id, Bytes object_key,
                       std::span<const ior::TaggedComponent> more) const
{
    ior::Ior ior{.type_id = std::string(type_id), .profiles = {}};
    ior::IiopProfile profile{.version = options_.giop_version,
                             .host = {},
                             .port = 0,
                             .object_key = {object_key.begin(), object_key.end()},
                             .components = {}};
    if (options_.giop_version.minor >= 1) {
        profile.components.push_back(ior::make_orb_type(ior::orb_type::kairos));
        profile.components.push_back(ior::make_code_sets(code_sets_.offered()));
    }
    if (const auto& by_priority = server_->priority_addresses(); !by_priority.empty())
        profile.components.push_back(ior::make_priority_addresses(by_priority));
    if (options_.giop_version.minor >= 1)
        profile.components.insert(profile.components.end(), more.begin(), more.end());
    // Only in the first profile, which is tried first.
    const std::vector<ior::TaggedComponent> later = profile.components;
    if (const auto& local = server_->local_addresses(); !local.empty())
        profile.components.push_back(ior::make_local_addresses({*net::this_host(), local}));
    // Port 0 leads nowhere: such a server is reached within the host only.
    static const std::vector<ior::Address>& within_host = // never destroyed
        *new std::vector<ior::Address>{{"localhost", 0}};
    std::span<const ior::Address> addresses =
        server_->published().empty() ? within_host : server_->published();
    // Before IIOP 1.2 clients do not look for alternate addresses (CORBA 3.3 part 2, 9.7.3).
    if (options_.publish_as == PublishAs::alternates && options_.giop_version.minor >= 2) {
        for (const ior::Address& address : addresses.subspan(1))
            profile.components.push_back(ior::make_alternate_address(address));
        addresses = addresses.first(1);
    }
    for (const ior::Address& address : addresses) {
        profile.host = address.host;
        profile.port = address.port;
        ior.profiles.push_back(ior::encode_iiop(profile));
        profile.components = later;
    }
    return ior;
}

void Orb::set_call_policies(const CallPolicies& policies) noexcept
{
    call_policies_.store(options_.call_policies.overridden_by(policies));
    note_call_policies();
}

BindingPolicies Orb::binding_policies() const
{
    const std::lock_guard lock(mutex_);
    return binding_policies_;
}

void Orb::set_binding_policies(BindingPolicies policies)
{
    const std::lock_guard lock(mutex_);
    binding_policies_ = std::move(policies);
}

bool Orb::set_accepted_connections(const TcpProperties& properties)
{
    const std::lock_guard lock(mutex_);
    if (serving_ || !server_) return false;
    server_->set_connections(properties, 0);
    accepted_connections_ = properties;
    return true;
}

bool Orb::is_own_address(const ior::Address& address, const std::vector<LocalWay>& local) const
{
    const std::lock_guard lock(mutex_);
    if (!server_) return false;
    return std::ranges::count(server_->published(), address) != 0 ||
           std::ranges::count(server_->priority_addresses(), address,
                              &ior::PriorityAddress::address) != 0 ||
           std::ranges::any_of(local, [&](const LocalWay& way) {
               return std::ranges::count(server_->local_addresses(), way.address.host_text(),
                                         &ior::LocalAddress::path) != 0;
           });
}

Result<void> Orb::listen()
{
    const std::lock_guard lock(mutex_);
    if (server_) return {};
    auto server = Server::open(*this, for_pools_);
    if (!server) return server.error();
    server_ = std::move(server).value();
    return {};
}

namespace {

/// Of the architectures whose requests thread pools may serve.
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

Result<void> Orb::hand_over(std::span<const Priority> lanes)
{
    const std::lock_guard lock(mutex_);
    for (const ListenEndpoint& endpoint : options_.listen_endpoints)
        if (endpoint.transport->needs_threads())
            return Error{ErrorCode::invalid_argument,
                         "thread pools contradict -ORBListenEndpoints " + endpoint.text +
                             ": its connections have threads of their own"};
    if (options_.concurrency->hands_over) return {};
    if (options_.concurrency_given && !options_.concurrency->has_lanes)
        return Error{ErrorCode::invalid_argument,
                     "thread pools contradict -ORBConcurrency: they need " + names_for_pools()};
    ForPools wanted = for_pools_;
    wanted.hands_over = true;
    if (!options_.concurrency_given) add_lanes(wanted.lanes, lanes);
    if (for_pools_.hands_over && (serving_ || wanted.lanes.size() == for_pools_.lanes.size()))
        return {};
    if (serving_)
        return Error{ErrorCode::invalid_argument,
                     "the ORB serves already: make thread pools before a POAManager is activated, "
                     "or choose -ORBConcurrency worker-pool"};
    if (server_) {
        auto server = Server::open_handing_over(*this, *server_, wanted);
        if (!server) return server.error();
        server_ = std::move(server).value();
        if (accepted_connections_) server_->set_connections(*accepted_connections_, 0);
    }
    for_pools_ = std::move(wanted);
    return {};
}

bool Orb::add_request_filter(std::unique_ptr<RequestFilter> filter)
{
    const std::lock_guard lock(mutex_);
    if (serving_ || !options_.concurrency->has_filters) return false;
    request_filters_.push_back(std::move(filter));
    return true;
}

bool Orb::set_request_dispatcher(std::unique_ptr<RequestDispatcher> dispatcher)
{
    const std::lock_guard lock(mutex_);
    if (serving_ || !options_.concurrency->has_dispatcher) return false;
    request_dispatcher_ = std::move(dispatcher);
    return true;
}

void Orb::start_serving()
{
    Result<void> started;
    {
        const std::lock_guard lock(mutex_);
        if (serving_ || !server_ || is_shut_down()) return;
        serving_ = true;
        started = server_->start();
    }
    if (started) return;
    // Without the lock: what has started already may be serving somebody who asks us something.
    log::error("cannot serve: " + started.error().reason);
    server_->stop();
    server_->join();
    raise<CORBA::NO_RESOURCES>(0, CORBA::COMPLETED_NO, "cannot serve: " + started.error().reason);
}

void Orb::resume_held_requests() noexcept
{
    if (is_inherited()) start_over();
    if (is_served_by_parent()) return;
    if (server_) server_->resume();
    thread_pools_->resume();
}

void Orb::run()
{
    const net::NotCancelled while_serving;
    const MainThread::Serving serving(main_thread_);
    if (is_inherited()) start_over();
    if (Server* const server = own_server(); !is_shut_down() && server != nullptr && server->run())
        return;
    main_thread_.serve_until_closed();
}

bool Orb::work_pending()
{
    if (is_inherited()) start_over();
    Server* const server = own_server();
    return !is_shut_down() &&
           (main_thread_.pending() || (server != nullptr && server->work_pending()));
}

void Orb::perform_work()
{
    const MainThread::Serving serving(main_thread_);
    if (!is_shut_down()) main_thread_.serve_pending();
    if (is_inherited()) start_over();
    if (Server* const server = own_server(); !is_shut_down() && server != nullptr)
        server->perform_work();
}

Result<int> Orb::descriptor()
{
    if (is_inherited()) start_over();
    Server* const server = own_server();
    return server != nullptr ? server->descriptor() : main_thread_.descriptor();
}

void Orb::shutdown(bool wait_for_completion)
{
    if (is_inherited()) start_over();
    {
        const std::lock_guard lock(mutex_);
        state_.fetch_or(shut_down, std::memory_order_release);
    }
    main_thread_.close();
    if (is_served_by_parent()) return;
    if (server_) server_->stop();
    if (wait_for_completion) wait_for_end();
}

void Orb::wait_for_end() noexcept
{
    if (is_served_by_parent()) return;
    if (server_) server_->join();
    thread_pools_->end();
}

void Orb::destroy()
{
    shutdown(true);
    client_connections_.interrupt_all();
    shared_connections_->end_all();
    backlogs_->stop();
    connection_cache_->stop();
    Lane::current().drop_connections_of_the_dead();
    const std::lock_guard lock(mutex_);
    endpoints_.clear();
}

} // namespace kairos::orb
