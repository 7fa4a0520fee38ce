// SPDX-License-Identifier: Apache-2.0
//
// The reactor-per-priority architecture, the one for real time: each priority has listeners, a
// reactor, buffers and a thread of its own, or a pool of them, or a thread for each connection in
// place of the reactor, and shares nothing with the others.
// A request is read, served and answered by a thread of its priority; nothing is queued, no lock is
// taken. References say which address is for which priority, and clients connect there.
#include "kairos/orb/orb.h"
#include "kairos/orb/real_time.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/architectures.h"
#include "kairos/server/handover.h"
#include "kairos/server/in_place_server.h"
#include "kairos/server/listening.h"
#include "kairos/server/thread_pool.h"

#include <algorithm>
#include <atomic>

namespace kairos::orb {
namespace {

/// A reactor and the thread that turns it.
class ReactorThread final : public InPlaceServer {
  public:
    ReactorThread(Orb& orb, std::vector<Listener> listeners, ThreadSettings thread)
        : InPlaceServer(orb, std::move(listeners)), wanted_(std::move(thread))
    {
    }
    ~ReactorThread() override
    {
        if (!loop_) return;
        stop();
        join();
    }

    Result<void> start() override
    {
        loop_->start();
        auto thread = net::Thread::start(wanted_.options, [this] {
            ThreadStorage::await_current().priority = wanted_.priority;
            loop_->run();
            end_loop();
        });
        if (!thread) return thread.error();
        thread_ = std::move(thread).value();
        return {};
    }
    bool run() override { return false; }
    bool work_pending() override { return false; }
    void perform_work() override {}
    void join() noexcept override
    {
        const std::lock_guard joining(join_mutex_);
        thread_.join();
        loop_->bind_to_this_thread();
        loop_->close_all();
    }

  private:
    const ThreadSettings wanted_;
    std::mutex join_mutex_; // guards that one thread ends the server
    net::Thread thread_;
};

class ReactorPerPriority final : public Server {
  public:
    /// `lanes` are what the servers are for; their listeners are the servers'.
    ReactorPerPriority(std::vector<std::unique_ptr<Server>> servers,
                       std::vector<PriorityLane> lanes, std::vector<TaggedAddresses> tagged,
                       std::vector<ior::PriorityAddress> addresses,
                       std::vector<ior::LocalAddress> local_addresses, bool has_queues)
        : Server(*servers.front(), std::move(tagged), std::move(addresses),
                 std::move(local_addresses)),
          servers_(std::move(servers)), lanes_(std::move(lanes)), has_queues_(has_queues)
    {
        for (const PriorityLane& lane : lanes_)
            priorities_.push_back(lane.priority);
    }
    ~ReactorPerPriority() override
    {
        stop();
        join();
    }

    [[nodiscard]] std::span<const Priority> lanes() const noexcept override { return priorities_; }
    std::vector<PriorityLane> take_lanes() override
    {
        for (std::size_t i = 0; i < servers_.size(); ++i)
            lanes_[i].listeners = std::move(servers_[i]->take_lanes().front().listeners);
        return std::move(lanes_);
    }
    void set_connections(const TcpProperties& properties, Priority) override
    {
        for (std::size_t i = 0; i < servers_.size(); ++i)
            servers_[i]->set_connections(properties, priorities_[i]);
    }
    /// Only now is it known that nobody has made a thread pool.
    Result<void> start() override
    {
        if (!has_queues_ && orb_.options().dispatching != Dispatching::fifo)
            return Error{ErrorCode::invalid_argument,
                         "-ORBDispatching contradicts -ORBConcurrency reactor-per-priority without "
                         "thread pools: its threads have no queue"};
        for (const auto& server : servers_)
            if (auto started = server->start(); !started) return started;
        return {};
    }
    bool run() override { return false; }
    bool work_pending() override { return false; }
    void perform_work() override {}
    void resume() noexcept override
    {
        for (const auto& server : servers_)
            server->resume();
    }
    void stop() noexcept override
    {
        for (const auto& server : servers_)
            server->stop();
    }
    void join() noexcept override
    {
        for (const auto& server : servers_)
            server->join();
    }
    void leave_to_parent() noexcept override
    {
        for (const auto& server : servers_)
            server->leave_to_parent();
    }

  private:
    const std::vector<std::unique_ptr<Server>> servers_; // the lowest priority first
    std::vector<PriorityLane> lanes_;                    // of these, without listeners
    std::vector<Priority> priorities_;                   // of these
    const bool has_queues_;
};

/// A thread that reads, and a pool that serves what no other threads are to serve.
Result<std::unique_ptr<Server>> open_reader(Orb& orb, std::vector<Listener> listeners,
                                            const ThreadSettings& threads)
{
    ThreadSettings reader = threads;
    reader.options.name += "-read";
    auto server = std::make_unique<HandoverServer>(orb, std::move(listeners), std::move(reader));
    auto pool = std::make_unique<ThreadPool>(
        orb, Workers{.threads = std::max<std::size_t>(threads.count, 1),
                     .queued_max = orb.options().requests_queued_max,
                     .dispatching = orb.options().dispatching,
                     .thread = threads.options,
                     .priority = threads.priority});
    if (const auto opened = server->open(std::move(pool)); !opened) return opened.error();
    return std::unique_ptr<Server>(std::move(server));
}

/// Who reads serves.
Result<std::unique_ptr<Server>> open_in_place(Orb& orb, std::vector<Listener> listeners,
                                              const ThreadSettings& threads)
{
    if (threads.count == 0) return make_thread_per_connection(orb, std::move(listeners), threads);
    if (threads.count > 1) return make_leader_followers(orb, std::move(listeners), threads);
    auto server = std::make_unique<ReactorThread>(orb, std::move(listeners), threads);
    if (const auto opened = server->open(); !opened) return opened.error();
    return std::unique_ptr<Server>(std::move(server));
}

/// The first that is scheduled in real time. Where the mapping knows none, the highest.
Priority least_real_time(const PriorityMapping& mapping)
{
    Priority priority = 0;
    for (int native = 1; native <= native_priority_max; ++native)
        if (mapping.to_corba(native, priority) && priority > 0) return priority;
    return priority_max;
}

/// Unless the options say it: one for ordinary threads and one for all that are scheduled in real
/// time, for a client's goes to the highest lane that is not above it.
std::vector<LaneOption> lanes_of(const Orb& orb)
{
    if (!orb.options().lanes.empty()) return orb.options().lanes;
    return {{.priority = 0}, {.priority = least_real_time(orb.priority_mapping())}};
}

Result<std::unique_ptr<Server>> open_lanes(Orb& orb)
{
    std::vector<PriorityLane> lanes;
    for (const LaneOption& option : lanes_of(orb)) {
        auto listeners = open_listeners(orb, {.priority = option.priority,
                                              .lane = lanes.size(),
                                              .connections_have_threads = option.threads == 0});
        if (!listeners) return listeners.error();
        lanes.push_back(
            {option.priority, option.threads, option.cpu, std::move(listeners).value()});
    }
    return make_reactor_per_priority(orb, std::move(lanes));
}

} // namespace

Result<std::unique_ptr<Server>> make_reactor_per_priority(Orb& orb, std::vector<PriorityLane> lanes,
                                                          bool hands_over)
{
    std::vector<std::unique_ptr<Server>> servers;
    std::vector<ior::PriorityAddress> addresses;
    std::vector<ior::LocalAddress> local_addresses;
    std::vector<TaggedAddresses> all_tagged;
    for (PriorityLane& lane : lanes) {
        const auto scheduling = lane_scheduling(orb, lane.priority);
        if (!scheduling) return scheduling.error();
        ThreadSettings threads{.count = lane.threads,
                               .options =
                                   orb.thread_options("kairos-" + std::to_string(lane.priority)),
                               .priority = lane.priority};
        threads.options.cpu = lane.cpu;
        threads.options.scheduling = *scheduling;
        std::vector<Listener> beside;
        if (!hands_over) beside = take_preferring_threads(lane.listeners);
        auto opened = hands_over ? open_reader(orb, std::move(lane.listeners), threads)
                                 : open_in_place(orb, std::move(lane.listeners), threads);
        if (!opened) return opened;
        std::unique_ptr<Server> server = std::move(opened).value();
        if (!beside.empty())
            server = make_threads_beside(orb, std::move(server), std::move(beside), threads);
        servers.push_back(std::move(server));
        for (const ior::Address& address : servers.back()->published())
            addresses.push_back({lane.priority, address});
        for (const TaggedAddresses& tagged : servers.back()->tagged())
            for (const ior::PriorityAddress& each : tagged.addresses)
                add_tagged(all_tagged, *tagged.transport, {lane.priority, each.address});
        for (ior::LocalAddress local : servers.back()->local_addresses()) {
            local.priority = lane.priority;
            local_addresses.push_back(std::move(local));
        }
    }
    return std::unique_ptr<Server>(std::make_unique<ReactorPerPriority>(
        std::move(servers), std::move(lanes), std::move(all_tagged), std::move(addresses),
        std::move(local_addresses), hands_over));
}

constinit const Opening opening::reactor_per_priority{architecture::reactor_per_priority,
                                                      open_lanes};

} // namespace kairos::orb
