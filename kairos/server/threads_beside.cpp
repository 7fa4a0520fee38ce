// SPDX-License-Identifier: Apache-2.0
//
// Transports that prefer threads (transport.h), as shared memory, beside the others: each of their
// connections has one, which waits in it, whatever architecture serves the sockets in place. A
// reactor that waits in memory has to be woken at a socket, which takes longer.
#include "kairos/orb/orb.h"
#include "kairos/server/architectures.h"

#include <utility>

namespace kairos::orb {
namespace {

std::vector<ior::LocalAddress> joined(std::vector<ior::LocalAddress> first,
                                      const std::vector<ior::LocalAddress>& second)
{
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

class ThreadsBeside final : public Server {
  public:
    ThreadsBeside(std::unique_ptr<Server> sockets, std::unique_ptr<Server> threads)
        : Server(*sockets, sockets->tagged(), sockets->priority_addresses(),
                 joined(threads->local_addresses(), sockets->local_addresses())),
          sockets_(std::move(sockets)), threads_(std::move(threads))
    {
    }
    ~ThreadsBeside() override
    {
        stop();
        join();
    }

    std::vector<PriorityLane> take_lanes() override
    {
        std::vector<PriorityLane> lanes = sockets_->take_lanes();
        std::vector<PriorityLane> beside = threads_->take_lanes();
        for (Listener& listener : beside.front().listeners)
            lanes.front().listeners.push_back(std::move(listener));
        return lanes;
    }
    void set_connections(const TcpProperties& properties, Priority priority) override
    {
        sockets_->set_connections(properties, priority); // the others are none of TCP
    }
    Result<void> start() override
    {
        if (auto started = sockets_->start(); !started) return started;
        return threads_->start();
    }
    bool run() override { return sockets_->run(); }
    bool work_pending() override { return sockets_->work_pending(); }
    void perform_work() override { sockets_->perform_work(); }
    Result<int> descriptor() override { return sockets_->descriptor(); }
    void resume() noexcept override
    {
        sockets_->resume();
        threads_->resume();
    }
    void stop() noexcept override
    {
        sockets_->stop();
        threads_->stop();
    }
    void join() noexcept override
    {
        sockets_->join();
        threads_->join();
    }

    void leave_to_parent() noexcept override
    {
        sockets_->leave_to_parent();
        threads_->leave_to_parent();
    }

  private:
    const std::unique_ptr<Server> sockets_;
    const std::unique_ptr<Server> threads_;
};

} // namespace

std::unique_ptr<Server> make_threads_beside(Orb& orb, std::unique_ptr<Server> other,
                                            std::vector<Listener> listeners, ThreadSettings threads)
{
    return std::make_unique<ThreadsBeside>(
        std::move(other),
        make_thread_per_connection(orb, std::move(listeners), std::move(threads)));
}

} // namespace kairos::orb
