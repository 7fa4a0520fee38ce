// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/orb.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/ior/component.h"
#include "kairos/ior/profile.h"
#include "kairos/net/host_identity.h"
#include "kairos/net/spin.h"
#include "kairos/orb/call_observer.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/forks.h"
#include "kairos/orb/owed_answer.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/orb/upcall_observer.h"

#include <algorithm>
#include <random>
#include <span>

namespace kairos::orb {

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

Orb::Orb(Options options, std::unique_ptr<ClientSide> (*make_client)(Orb& orb))
    : options_(std::move(options)), incarnation_(random_number()),
      code_sets_(*options_.native_code_set, *options_.native_wide_code_set), transports_(options_),
      client_side_(make_client(*this))
{
    set_priority_mapping(mapping_of(options_));
    if (!options_.call_policies.is_empty()) set_call_policies({});
    if (options_.closes_idle_connections) note_call_policies();
    const net::SpinRule& spin = options_.socket.spin;
    if (spin.most.count() != 0 && !spin.learns && !net::may_spin())
        log::warning("-ORBSpin: the process may use one processor only, where nobody spins");
    watch_forks(*this);
}

/// What waits for threads that are a parent's is not ended.
Orb::~Orb()
{
    forget_forks(*this);
    if (is_inherited()) start_over();
    client_side_->stop();
    if (!is_served_by_parent()) return;
    (void)owned_server_side_.release();
    (void)noting_adapter_.release();
    (void)owned_adapter_.release();
}

ServerSide& Orb::make_server_side(std::unique_ptr<ServerSide> (*make)(Orb& orb))
{
    const std::lock_guard lock(mutex_);
    if (!owned_server_side_) {
        owned_server_side_ = make(*this);
        server_side_.store(owned_server_side_.get(), std::memory_order_release);
    }
    return *owned_server_side_;
}

void Orb::lock_for_fork() noexcept
{
    mutex_.lock();
    code_sets_.mutex().lock();
    client_side_->lock_for_fork();
    if (owned_server_side_) owned_server_side_->lock_for_fork();
    OwedAnswer::lock_for_fork(*this);
    main_thread_.lock_for_fork();
}

void Orb::unlock_after_fork() noexcept
{
    main_thread_.unlock_after_fork();
    OwedAnswer::unlock_after_fork(*this);
    if (owned_server_side_) owned_server_side_->unlock_after_fork();
    client_side_->unlock_after_fork();
    code_sets_.mutex().unlock();
    mutex_.unlock();
}

void Orb::start_over() noexcept
{
    static constinit std::mutex one_thread; // guards that one thread starts over; outside mutex_
    const std::lock_guard lock(one_thread);
    if (!is_inherited()) return;
    main_thread_.start_over();
    client_side_->start_over();
    if (ServerSide* const server = server_side(); server != nullptr && server->leave_to_parent())
        is_served_by_parent_ = true;
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
    if (const ServerSide* const server = server_side(); server != nullptr && server->listens())
        return false;
    const std::lock_guard lock(mutex_);
    hooks_ = std::move(hooks);
    return true;
}

bool Orb::add_observer(std::unique_ptr<CallObserver> observer)
{
    if (adapter() != nullptr) return false;
    call_observers_.push_back(std::move(observer));
    state_.fetch_or(has_call_observers, std::memory_order_release); // so that calls look for it
    return true;
}

bool Orb::add_observer(std::unique_ptr<UpcallObserver> observer)
{
    if (adapter() != nullptr) return false;
    upcall_observers_.push_back(std::move(observer));
    return true;
}

bool Orb::observes_upcalls() const noexcept
{
    return std::ranges::any_of(upcall_observers_, [](const auto& observer) {
        return observer->hears() == UpcallObserver::Hears::everything;
    });
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

EndpointUse Orb::endpoint(const WayList& ways, const Agreement& agreement)
{
    const std::lock_guard lock(mutex_);
    const bool announces = agreement.context.has_value();
    IntrusivePtr<Endpoint>& known = endpoints_[{ways, agreement.form, announces}];
    if (!known)
        known = make_intrusive<Endpoint>(*client_side_, ways,
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

bool Orb::has_own_way(const WayList& ways) const
{
    const ServerSide* const server = server_side();
    return server != nullptr && server->has_own_way(ways);
}

void Orb::resume_held_requests() noexcept
{
    assert_not_held(mutex_);
    if (is_inherited()) start_over();
    if (ServerSide* const server = own_server()) server->resume();
}

void Orb::run()
{
    assert_not_held(mutex_);
    const net::NotCancelled while_serving;
    const MainThread::Serving serving(main_thread_);
    if (is_inherited()) start_over();
    if (ServerSide* const server = own_server();
        !is_shut_down() && server != nullptr && server->run())
        return;
    main_thread_.serve_until_closed();
}

bool Orb::work_pending()
{
    if (is_inherited()) start_over();
    ServerSide* const server = own_server();
    return !is_shut_down() &&
           (main_thread_.pending() || (server != nullptr && server->work_pending()));
}

void Orb::perform_work()
{
    assert_not_held(mutex_);
    if (is_inherited()) start_over();
    const MainThread::Serving serving(main_thread_);
    if (!is_shut_down()) main_thread_.serve_pending();
    if (ServerSide* const server = own_server(); !is_shut_down() && server != nullptr)
        server->perform_work();
}

Result<int> Orb::descriptor()
{
    if (is_inherited()) start_over();
    ServerSide* const server = own_server();
    return server != nullptr && server->listens() ? server->descriptor()
                                                  : main_thread_.descriptor();
}

void Orb::shutdown(bool wait_for_completion)
{
    assert_not_held(mutex_);
    if (is_inherited()) start_over();
    // Whoever starts serving looks at this under a lock that `stop` takes.
    state_.fetch_or(shut_down, std::memory_order_release);
    main_thread_.close();
    if (ServerSide* const server = own_server()) server->stop();
    if (wait_for_completion) wait_for_end();
}

void Orb::wait_for_end() noexcept
{
    assert_not_held(mutex_);
    if (ServerSide* const server = own_server()) server->join();
}

void Orb::destroy()
{
    shutdown(true);
    client_side_->end();
    const std::lock_guard lock(mutex_);
    endpoints_.clear();
}

} // namespace kairos::orb
