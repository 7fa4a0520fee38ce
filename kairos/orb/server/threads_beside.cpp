// SPDX-License-Identifier: Apache-2.0
//
// Shared memory beside sockets: each of its connections has a thread of its own, which waits in its
// ring, whatever architecture serves the sockets. A reactor cannot wait in memory.
#include "kairos/orb/orb.h"
#include "kairos/orb/server/architectures.h"

#include <utility>

namespace kairos::orb {
namespace {

std::vector<ior::LocalAddress> joined(std::vector<ior::LocalAddress> first,
                                      const std::vector<ior::LocalAddress>& second)
{
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

class MemoryServer final : public Server {
  public:
    MemoryServer(Orb& orb, std::unique_ptr<Server> sockets, std::unique_ptr<Server> memory)
        : Server(orb, sockets->published(), sockets->priority_addresses(),
                 joined(memory->local_addresses(), sockets->local_addresses())),
          sockets_(std::move(sockets)), memory_(std::move(memory))
    {
    }
    ~MemoryServer() override
    {
        stop();
        join();
    }

    Result<void> start() override
    {
        if (auto started = sockets_->start(); !started) return started;
        return memory_->start();
    }
    bool run() override { return sockets_->run(); }
    bool work_pending() override { return sockets_->work_pending(); }
    void perform_work() override { sockets_->perform_work(); }
    Result<int> descriptor() override { return sockets_->descriptor(); }
    void resume() noexcept override
    {
        sockets_->resume();
        memory_->resume();
    }
    void stop() noexcept override
    {
        sockets_->stop();
        memory_->stop();
    }
    void join() noexcept override
    {
        sockets_->join();
        memory_->join();
    }

  private:
    const std::unique_ptr<Server> sockets_;
    const std::unique_ptr<Server> memory_;
};

} // namespace

std::unique_ptr<Server> make_memory_server(Orb& orb, std::unique_ptr<Server> sockets,
                                           std::vector<Listener> listeners)
{
    return std::make_unique<MemoryServer>(
        orb, std::move(sockets),
        make_thread_per_connection(orb, std::move(listeners),
                                   {.options = orb.thread_options("kairos-serve")}));
}

} // namespace kairos::orb
